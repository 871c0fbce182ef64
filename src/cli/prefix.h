/* prefix.h - command lines that precede another program's, like those of env and nice.
 *
 * Options end at the first word of that program, which may have options of its own. */
#ifndef CLI_PREFIX_H
#define CLI_PREFIX_H

#include "base/base.h"

struct command;
struct opt;

enum { PREFIX_GO_ON = -1 };

/* Sets an option. False: error[] is set. */
typedef bool prefix_setter(void *line, const struct opt *row, const char *arg, char error[512]);

/* Reads the options of c and passes each to `set`. *ret is set to the other program's words, within
 * argv; NULL if there are none. Returns PREFIX_GO_ON; or the exit status if help was printed or the
 * line is invalid, which was reported. */
int prefix_parse(const struct command *c, int argc, char **argv, prefix_setter *set, void *line,
		 char ***ret);

/* Reports an invalid command line. Returns the exit status. */
int prefix_wrong(const struct command *c, const char *why);

#endif

/* record_against.h - kin record --against BEFORE -- AFTER runs kin compare. Options before
 * "--against" are kin record's, those after it kin compare's. */
#ifndef CLI_RECORD_AGAINST_H
#define CLI_RECORD_AGAINST_H

#include "base/vec.h"
#include "options/opt.h"

struct record_against {
	VEC(char *) words;   /* options so far, translated to kin compare's; owned */
	const char *refused; /* name of an option that kin compare lacks; NULL: none */
};

/* Notes an option of kin record. */
void record_against_note(struct record_against *a, const struct opt *row, const char *arg);
/* The arguments of kin compare; [0] is its name in messages. `events`: all -e, joined; NULL: none.
 * `words`: the words after "--against"; NULL: none. Returns NULL if an option was refused, which
 * was reported. Free the result before `a`. */
char **record_against_words(struct record_against *a, const char *events, char **words, int *argc);
void record_against_done(struct record_against *a);

#endif

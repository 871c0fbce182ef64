/* help.h - the command tables as text: --help, man pages, completion. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

struct command;

void help_overview(FILE *out); /* of kin: all commands */

/* On standard output, which is closed: the exit status says whether all could be written. */
int help_show(const struct command *c); /* NULL: of kin */
int help_show_version(void);

#endif

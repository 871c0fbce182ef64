/* help.h - the command tables as text: --help, man pages, completion. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

struct command;

void help_overview(FILE *out); /* overview of all commands */

/* Each prints to standard output and closes it; the exit status says whether that worked. */
int help_show(const struct command *c); /* NULL: kin's own help */
int help_show_all(
	const struct command *c); /* the whole description, all options; NULL: all commands */
int help_show_options(void);      /* the options that commands share */
int help_show_version(void);

#endif

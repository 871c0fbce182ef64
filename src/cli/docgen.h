/* docgen.h - writes man pages and shell completions from the command tables. Part of the build, not
 * of kin. */
#ifndef CLI_DOCGEN_H
#define CLI_DOCGEN_H

#include <stdio.h>

#include "base/arena.h"
#include "cli/command.h"

/* The command's options, including gprof's; allocated in the arena where needed. */
const struct opt_group *const *docgen_options(const struct command *c, struct arena *a);

void man_overview(FILE *out);                         /* kin(1) */
void man_command(const struct command *c, FILE *out); /* kin-flat(1) ... */
void complete_bash(FILE *out);
void complete_zsh(FILE *out);
void complete_fish(FILE *out);

#endif

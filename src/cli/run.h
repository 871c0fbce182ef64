/* run.h - what every command that reports does: open, report, render. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/settings.h"

struct kin_error;
struct kin_profile;

/* Opens the data that s names and says what is wrong or odd about it. Returns the exit status that
 * this calls for; *ret is NULL if nothing could be read. */
int open_profile(const struct settings *s, struct kin_profile **ret);

/* An error if the output would replace the data, or any profile or program. */
MUST_CHECK struct kin_error *output_check(const struct settings *s);

/* On the terminal, to go about in (cmd_browse.c). Returns the exit status. */
int browse_profile(struct kin_profile *profile, const struct settings *s);

/* The whole command. Returns the exit status. */
int run_report(const struct settings *s, const char *report);

#endif

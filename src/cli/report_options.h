/* report_options.h - the command line of kin report: perf report's options, and some more. */
#ifndef CLI_REPORT_OPTIONS_H
#define CLI_REPORT_OPTIONS_H

#include "cli/settings.h"
#include "options/opt.h"

extern const struct opt_group *const report_options[];
/* What else perf report 6.1 knows, with what to do instead. */

/* As struct command has them: the defaults, which files say, too; and each option. */
bool report_options_begin(struct settings *s, char error[512]);
bool report_options_set(struct settings *s, int id, const char *arg, char error[512]);

#endif

/* report_options.h - the command line of kin report: perf report's options, and more. */
#ifndef CLI_REPORT_OPTIONS_H
#define CLI_REPORT_OPTIONS_H

#include "cli/settings.h"
#include "options/opt.h"

extern const struct opt_group *const report_options[];
/* Those about rows, and about samples (without the letter of --dsos), for commands with others
 * beside them; report_options_set() sets them. */
extern const struct opt_group report_row_options, report_sample_options;

/* Whether nothing was given that a first page (kin_hists_opts.overview) has no place for. */
bool report_options_overview(const struct settings *s);
/* An option that was given and has a meaning for samples only: "--sort"; NULL: none. */
const char *report_options_of_samples(const struct settings *s);
/* For struct command: sets the defaults, including those from files; sets an option. */
bool report_options_begin(struct settings *s, char error[512]);
bool report_options_set(struct settings *s, int id, const char *arg, char error[512]);

#endif

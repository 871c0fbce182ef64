/* report_options.h - the command line of kin report: perf report's options, and more. */
#ifndef CLI_REPORT_OPTIONS_H
#define CLI_REPORT_OPTIONS_H

#include "cli/settings.h"
#include "options/opt.h"

extern const struct opt_group *const report_options[];
/* Options about rows, and options about samples (without the letter of --dsos), for commands that
 * have others besides; set by report_options_set(). */
extern const struct opt_group report_row_options, report_sample_options;

/* Whether all given options can be applied to a first page (kin_hists_opts.overview). */
bool report_options_overview(const struct settings *s);
/* For struct command: narrow() has such a first page lead with own code, unless the user chose. */
void report_options_lead(const struct settings *s, struct kin_open_opts *o);
/* The name of a given option that only makes sense for samples: "--sort"; NULL: none. */
const char *report_options_of_samples(const struct settings *s);
/* For struct command: begin() sets the defaults, including those from files; set() sets an
 * option. */
bool report_options_begin(struct settings *s, char error[512]);
bool report_options_set(struct settings *s, int id, const char *arg, char error[512]);

#endif

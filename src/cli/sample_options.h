/* sample_options.h - options that kin report and kin script share: selection of samples, parts of
 * stacks, headers.
 *
 * Rows with the same text in both commands are here; others stay with the commands. */
#ifndef CLI_SAMPLE_OPTIONS_H
#define CLI_SAMPLE_OPTIONS_H

#include "cli/settings.h"

enum { /* ids of options */
       SAMPLES_MAX_STACK = OPT_OWN + 1000,
       SAMPLES_HEADER,
       SAMPLES_HEADER_ONLY,
       SAMPLES_SHOW_INFO,
};

/* Rows of an option table; `of`: the member of struct settings that has their fields. */
/* clang-format off */
#define SAMPLES_SYMBOLS_ROW(of) \
	{ OPT_FIELD, 'S', "symbols", "NAMES", "only samples taken in these functions", \
	  OPT_SETS(struct settings, of.symbols) }
#define SAMPLES_PLACE_ROWS(of) \
	{ OPT_FIELD, 0, "pid", "NUMBERS", "only samples of these processes", \
	  OPT_SETS(struct settings, of.pids) }, \
	{ OPT_FIELD, 0, "tid", "NUMBERS", "only samples of these threads", \
	  OPT_SETS(struct settings, of.tids) }, \
	{ OPT_FIELD, 'C', "cpu", "NUMBERS", "only samples on these CPUs: 0-3,8", \
	  OPT_SETS(struct settings, of.cpus) }, \
	{ OPT_FIELD, 0, "time", "SPAN", \
	  "only samples in this interval: START,STOP in seconds, 10%-20%, 10%/2 (the second " \
	  "tenth), or between markers: NAME,NAME", \
	  OPT_SETS(struct settings, of.times) }
#define SAMPLES_INLINE_ROWS(of) \
	{ OPT_FIELD, 0, "inline", NULL, "show inlined functions as frames (the default)", \
	  OPT_SETS(struct settings, of.inlines) }, \
	{ OPT_FIELD, 0, "no-inline", NULL, \
	  "attribute inlined code to the function it was inlined into", \
	  OPT_CLEARS(struct settings, of.inlines) }
#define SAMPLES_NANOSECONDS_ROW(of) \
	{ OPT_FIELD, 0, "ns", NULL, "print times with nine decimals, not six", \
	  OPT_SETS(struct settings, of.nanoseconds) }
#define SAMPLES_HEADER_ROWS \
	{ SAMPLES_HEADER, 0, "header", NULL, \
	  "print the header of a perf.data first; kin info describes data of all formats" }, \
	{ SAMPLES_HEADER_ONLY, 0, "header-only", NULL, "print the header and exit" }, \
	{ SAMPLES_SHOW_INFO, 'I', "show-info", NULL, \
	  "include CPU, cache and memory details in the header" }
/* clang-format on */

/* Sets one of the options above, except for --max-stack; ignores others. */
void sample_options_set(struct settings *s, int id);
/* --max-stack N; *none: 0 was given. False: error[] is set. */
MUST_CHECK bool sample_options_set_max(const char *arg, unsigned *max_stack, bool *none,
				       char error[512]);

/* An error if there is no such function, or if one of a list of functions (--symbols) does not
 * exist. A function without samples is no error. */
struct kin_error *sample_options_check_function(struct kin_profile *profile, const char *name);
struct kin_error *sample_options_check_functions(struct kin_profile *profile, const char *list);

#endif

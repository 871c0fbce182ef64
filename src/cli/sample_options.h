/* sample_options.h - options that kin report and kin script share: selection of samples, parts of
 * stacks, headers.
 *
 * Rows with the same text in both commands are here; others stay with the commands. */
#ifndef CLI_SAMPLE_OPTIONS_H
#define CLI_SAMPLE_OPTIONS_H

#include "cli/settings.h"

enum { /* ids of options */
       SAMPLES_COMMS = OPT_OWN + 1000,
       SAMPLES_SYMBOLS,
       SAMPLES_OBJECTS,
       SAMPLES_PID,
       SAMPLES_TID,
       SAMPLES_CPU,
       SAMPLES_TIME,
       SAMPLES_MAX_STACK,
       SAMPLES_INLINE,
       SAMPLES_NO_INLINE,
       SAMPLES_NANOSECONDS,
       SAMPLES_HEADER,
       SAMPLES_HEADER_ONLY,
       SAMPLES_SHOW_INFO,
};

/* Rows of an option table. */
/* clang-format off */
#define SAMPLES_SYMBOLS_ROW \
	{ SAMPLES_SYMBOLS, 'S', "symbols", "NAMES", "only samples taken in these functions" }
#define SAMPLES_PLACE_ROWS \
	{ SAMPLES_PID, 0, "pid", "NUMBERS", "only samples of these processes" }, \
	{ SAMPLES_TID, 0, "tid", "NUMBERS", "only samples of these threads" }, \
	{ SAMPLES_CPU, 'C', "cpu", "NUMBERS", "only samples on these CPUs: 0-3,8" }, \
	{ SAMPLES_TIME, 0, "time", "SPAN", \
	  "only samples in this interval: START,STOP in seconds, 10%-20%, 10%/2 (the second " \
	  "tenth), or between markers: NAME,NAME" }
#define SAMPLES_INLINE_ROWS \
	{ SAMPLES_INLINE, 0, "inline", NULL, "show inlined functions as frames (the default)" }, \
	{ SAMPLES_NO_INLINE, 0, "no-inline", NULL, \
	  "attribute inlined code to the function it was inlined into" }
#define SAMPLES_NANOSECONDS_ROW \
	{ SAMPLES_NANOSECONDS, 0, "ns", NULL, "print times with nine decimals, not six" }
#define SAMPLES_HEADER_ROWS \
	{ SAMPLES_HEADER, 0, "header", NULL, \
	  "print the header of a perf.data first; kin info describes data of all formats" }, \
	{ SAMPLES_HEADER_ONLY, 0, "header-only", NULL, "print the header and exit" }, \
	{ SAMPLES_SHOW_INFO, 'I', "show-info", NULL, \
	  "include CPU, cache and memory details in the header" }
/* clang-format on */

/* Pointers to the command's own variables. */
struct sample_fields {
	const char **comms, **symbols, **objects, **pids, **tids, **cpus, **times;
	unsigned *max_stack;
	bool *no_stacks, *inlines, *nanoseconds;
};

/* Sets one of the options above; ignores others. False: error[] is set. */
MUST_CHECK bool sample_options_set(struct settings *s, const struct sample_fields *f, int id,
				   const char *arg, char error[512]);

/* An error if there is no such function, or if one of a list of functions (--symbols) does not
 * exist. A function without samples is no error. */
struct kin_error *sample_options_check_function(struct kin_profile *profile, const char *name);
struct kin_error *sample_options_check_functions(struct kin_profile *profile, const char *list);

#endif

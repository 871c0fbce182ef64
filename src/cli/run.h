/* run.h - the steps of every reporting command: open, report, render. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <sys/types.h>

#include "cli/settings.h"

struct kin_error;
struct kin_open_opts;
struct kin_profile;
struct kin_table;

/* Uses a profile; `status`: the exit status if that succeeds. */
typedef struct kin_error *profile_user(struct kin_profile *profile, const struct settings *s,
				       int status);

/* The widest mode of the file that is written of data with the mode `data`. An HTML page is made to
 * be shown: the umask decides. */
mode_t run_output_mode(const struct settings *s, mode_t data);

/* Runs a whole command: opens the data that s names, prints its problems, and calls `use` with what
 * could be read. Nothing is read if the output would replace the data, or any profile or program.
 * Returns the exit status. */
int run_profile(const struct settings *s, profile_user *use);

/* For a command's `narrow`: its reports need neither times nor processors of samples. */
void run_by_function(const struct settings *s, struct kin_open_opts *o);

/* For a command's `narrow`: its reports show executions of lines. */
void run_with_counters(const struct settings *s, struct kin_open_opts *o);

/* Remarks of each kind printed so far: where kin_profile_remark() looks on. SIZE_MAX: print none.
 */
struct told {
	size_t warnings, doubts, origins, hints;
};

/* The first step of run_profile(): returns the exit status for the data; *ret, to be freed, is NULL
 * if nothing could be read. */
int run_open(const struct settings *s, struct kin_profile **ret, struct told *told);
bool run_is_input(const struct settings *s, const char *path); /* whether it is one of the files to
								  read */
bool run_is_text(const struct settings *s); /* whether the output is meant for people */
/* The text for progress_begin() while data is read. */
const char *run_reading(const struct settings *s);
/* Opens the same data again, restricted to a thread or an object (as in kin_open_opts; NULL: as in
 * s), without messages. */
MUST_CHECK struct kin_error *run_open_part(const struct settings *s, const char *thread,
					   const char *object, struct kin_profile **ret);
/* Prints new messages: problems with programs and libraries are known only when the last table was
 * freed. Returns the exit status for them. */
int run_tell(const struct settings *s, const struct kin_profile *profile, struct told *told);
/* Prints remarks of a kind, "kin report: label: text", from *from on. Returns whether there were
 * any. */
bool run_say(const struct settings *s, const struct kin_profile *profile, enum kin_remark kind,
	     const char *label, size_t *from);
/* The number of lines that the hints take on standard error. They are known after the first report,
 * when functions have names. */
size_t run_hint_lines(const struct settings *s, const struct kin_profile *profile);
/* Prints the notes that all tables of the profile have, for output without notes. */
void run_tell_notes(const struct settings *s, const struct kin_profile *profile);
bool run_has_notes(const char *format);
/* Renders a table by the settings. `status`: the exit status if that succeeds. */
MUST_CHECK struct kin_error *run_render(const struct settings *s, struct kin_table *table,
					int status);

/* Makes and renders a report: a whole command. Returns the exit status. */
int run_report(const struct settings *s, const char *report);
/* Runs the report with the command's name. */
int run_named(const struct settings *s);

/* Prints the header information of perf.data files (enum kin_about): of all named data, or of the
 * last recording here. */
MUST_CHECK struct kin_error *run_print_about(const struct settings *s, unsigned what, FILE *out);
/* Whether the options combine text output (header information, numbers of records) with a format
 * that is no text; prints an error then. */
bool run_refuses_format(const struct settings *s);
/* A whole command that only prints header information; returns its exit status. */
int run_about(const struct settings *s, unsigned what);

/* Browses the profile on the terminal (cmd_browse.c). */
MUST_CHECK struct kin_error *browse_profile(struct kin_profile *profile, const struct settings *s,
					    int status);

#endif

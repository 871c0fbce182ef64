/* run.h - what every command that reports does: open, report, render. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/settings.h"

struct kin_error;
struct kin_open_opts;
struct kin_profile;
struct kin_table;

/* What a command makes of a profile; `status` is what it will exit with if that goes well. */
typedef struct kin_error *profile_user(struct kin_profile *profile, const struct settings *s,
				       int status);

/* The whole command: opens the data that s names, says what is wrong or odd about it, and has `use`
 * make something of what could be read. Nothing is read if the output would replace the data, or
 * any profile or program. Returns the exit status. */
int run_profile(const struct settings *s, profile_user *use);

/* As a command's `narrow`: of samples it looks at no times and no processors. */
void run_by_function(const struct settings *s, struct kin_open_opts *o);

/* How much was said of the data so far. */
struct told {
	size_t warnings, doubts, hints;
	bool origin;
};

/* The first step of that: returns the exit status that the data calls for; *ret is NULL if nothing
 * could be read. To be freed. */
int run_open(const struct settings *s, struct kin_profile **ret, struct told *told);
/* The same data again, of a thread or of what ran in an object alone (as kin_open_opts has them;
 * NULL: as s says), without a word. */
MUST_CHECK struct kin_error *run_open_part(const struct settings *s, const char *thread,
					   const char *object, struct kin_profile **ret);
/* Says what is new since: what is wrong with programs and libraries is known only when they have
 * been looked at, which is when the last table was freed. Returns the exit status that calls for.
 */
int run_tell(const struct settings *s, const struct kin_profile *profile, struct told *told);
/* Says what all tables of the profile have in their notes, for output that has none; and whether
 * tables in this format (NULL: text) have them. */
void run_tell_notes(const struct settings *s, const struct kin_profile *profile);
bool run_has_notes(const char *format);
/* The last step, as s says. `status`: what the command will exit with if that goes well. */
MUST_CHECK struct kin_error *run_render(const struct settings *s, struct kin_table *table,
					int status);

/* The same for a report that is rendered as s says. Returns the exit status. */
int run_report(const struct settings *s, const char *report);
/* The report that has the command's name. */
int run_named(const struct settings *s);

/* Prints what a perf.data says of itself (enum kin_about): of all data that is named, or of the
 * last recording here. */
MUST_CHECK struct kin_error *run_print_about(const struct settings *s, unsigned what, FILE *out);
/* The same as all that a command does; its exit status. */
int run_about(const struct settings *s, unsigned what);

/* On the terminal, to go about in (cmd_browse.c). */
MUST_CHECK struct kin_error *browse_profile(struct kin_profile *profile, const struct settings *s,
					    int status);

#endif

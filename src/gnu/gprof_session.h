/* gprof_session.h - a run of gprof in one of its dialects.
 *
 * It opens a profile like all reports, with the dialect's rules, and prints one report after the
 * other. Errors are printed on stderr and set `status`.
 *
 *	struct gprof_session s = { .whoami = argv[0] };
 *	... session_open_program(), session_load_data(), which has session_load_names() called
 *	if (session_succeeded(&s, session_analyse(&s, opts)))
 *		session_succeeded(&s, session_print(&s, &flat_report, ...));
 *	session_done(&s);
 *	return session_close_output(s.compat, s.status); */
#ifndef GNU_GPROF_SESSION_H
#define GNU_GPROF_SESSION_H

#include "api/api_private.h"
#include "table/render.h"

struct gprof_session {
	const char *whoami;     /* argv[0] */
	bool gnu;               /* output by the rules of GNU gprof 2.40 */
	bool compat;            /* with gnu: its messages and exit status, too */
	bool is_silent;         /* errors set the status alone, and the data is not checked */
	struct kin_error *kept; /* the first of them */
	struct kin_profile *profile;
	/* The input of all reports: its names and, once analysed, the graph. */
	struct view *view;
	struct selection selection; /* everything, once names are loaded; filled by the caller */
	size_t n_said;              /* remarks of the profile of which warnings were printed */
	bool has_output;            /* the next part starts on a new page */
	int status;                 /* 1 after any error */
};

void session_done(struct gprof_session *s); /* keeps status and has_output */

/* The profile's data; NULL: nothing was read. */
static inline struct profile *session_data(const struct gprof_session *s)
{
	return s->profile->data;
}

/* ---- messages ---- */

/* Prints and consumes err, which must not be NULL. Does not change the status. */
void session_complain(const struct gprof_session *s, struct kin_error *err);
/* True if there was no error; otherwise prints and consumes it. */
bool session_succeeded(struct gprof_session *s, struct kin_error *err);
/* Prints "gprof: ..." on stderr, escaped for a terminal. */
void session_say(const char *fmt, ...) PRINTF(1, 2);
void session_note(const char *text, void *unused); /* "gprof: text" */
void session_warn(const char *text);               /* "gprof: warning: text" */
/* Warns that an option for apportioned times has no effect on times from stacks. */
void session_warn_of_stacks(char option);
/* Warns if data with stacks has histograms, too. */
void session_warn_of_histograms(const struct gprof_session *s);

/* ---- the program and its data ---- */

MUST_CHECK struct kin_error *session_open_program(struct gprof_session *s, const char *path);
/* Loads names of functions, or of lines if opts say so. Sets opts' rules from s->gnu. */
MUST_CHECK struct kin_error *session_load_names(struct gprof_session *s, struct symbols_opts opts);

/* Reads the data files, prints errors in them, and before that calls check(arg), if not NULL, to
 * print oddities. The readable part of damaged data is used, except with `gnu`. Sets opts'
 * rules. */
struct session_files {
	const char *const *paths;
	size_t n;
	struct input_opts opts;
	bool foreign_symbols; /* not the program's own symbols: do not check whether data and
				 program match */
	/* Loads names. Called when the objects of the data are known; for GNU before that, because
	 * a program without symbols is then an error already. */
	struct kin_error *(*name)(void *arg);
	void (*check)(void *arg);
	void *arg;
};
bool session_load_data(struct gprof_session *s, const struct session_files *f);
/* Prints oddities; session_load_data() does so unless is_silent. `complete`: all could be read. */
void session_check_data(struct gprof_session *s, const struct session_files *f, bool complete);

/* An error if gmon.sum cannot hold the data. */
MUST_CHECK struct kin_error *session_fits_sum(const struct gprof_session *s, const char *sum);
/* An error if there is a sum and not all data could be read: the new sum would lack data, perhaps
 * of the old one. */
MUST_CHECK struct kin_error *session_may_replace(const struct gprof_session *s, const char *sum);

/* Whether the data had records of that kind, even if none of them counted. */
bool session_has_histogram(const struct gprof_session *s);
bool session_has_arcs(const struct gprof_session *s);

/* Sets opts' rules and selection. `consumes`: as in profile_rules. */
MUST_CHECK struct kin_error *session_analyse(struct gprof_session *s, struct callgraph_opts opts,
					     bool consumes);

/* ---- output ---- */

/* Prints a form feed, unless this is the first part. */
void session_new_page(struct gprof_session *s);

MUST_CHECK struct kin_error *session_print(struct gprof_session *s, const struct report *report,
					   const struct report_opts *opts,
					   const struct renderer *renderer,
					   const struct render_opts *look);
/* Consumes the table. */
MUST_CHECK struct kin_error *session_render(struct kin_table *t, const struct renderer *renderer,
					    const struct render_opts *look, FILE *out);
/* Prints new warnings of the profile: much is read only while a report is made. */
void session_say_warnings(struct gprof_session *s);

/* The exit status: `status`, or 1 if stdout could not be written (which GNU ignores). */
int session_close_output(bool compat, int status);

#endif

/* gprof_session.h - a run of gprof in one of its dialects.
 *
 * It opens a profile as all reports do, with the dialect's rules, and prints one report after the
 * other. What goes wrong is said on stderr and ends up in `status`.
 *
 *	struct gprof_session s = { .whoami = argv[0] };
 *	... session_open_program(), session_load_data(), which has session_load_names() called
 *	if (session_succeeded(&s, session_analyse(&s, opts)))
 *		session_succeeded(&s, session_print(&s, &flat_report, ...));
 *	session_done(&s);
 *	return session_close_output(s.compat, s.status);
 */
#ifndef GNU_GPROF_SESSION_H
#define GNU_GPROF_SESSION_H

#include "api/api_private.h"
#include "table/render.h"

struct gprof_session {
	const char *whoami; /* argv[0] */
	bool compat;        /* GNU gprof 2.40 in everything, its messages included */
	struct kin_profile *profile;
	/* What all reports are made of: its names, and once that is analysed, the graph. */
	struct view *view;
	struct selection selection; /* of everything, once names are loaded; to be filled */
	size_t n_said;              /* of the profile's warnings */
	bool has_output;            /* the next part starts on a new page */
	int status;                 /* 1 once anything went wrong */
};

void session_done(struct gprof_session *s); /* leaves status and has_output as they are */

/* What was measured; NULL: nothing was read. */
static inline struct profile *session_data(const struct gprof_session *s)
{
	return s->profile->data;
}

/* ---- messages ---- */

/* Says it; consumes err, which is not NULL. Does not change the status. */
void session_complain(const struct gprof_session *s, struct kin_error *err);
/* True if there was no error; says and consumes it if there was. */
bool session_succeeded(struct gprof_session *s, struct kin_error *err);
/* "gprof: ..." on stderr, escaped so that a terminal does not obey the names in it. */
void session_say(const char *fmt, ...) PRINTF(1, 2);
void session_note(const char *text, void *unused); /* "gprof: text" */
void session_warn(const char *text, void *unused); /* "gprof: warning: text" */
/* An option that shares times out by calls does nothing where stacks say them. */
void session_warn_of_stacks(char option);

/* ---- the program and its data ---- */

MUST_CHECK struct kin_error *session_open_program(struct gprof_session *s, const char *path);
/* Names of functions, or of lines if opts say so. opts' rules are set from s->compat. */
MUST_CHECK struct kin_error *session_load_names(struct gprof_session *s, struct symbols_opts opts);

/* Reads the data files, says what is wrong with them, and calls check(arg), if it is not NULL, to
 * say what is odd before that. What could be read of damaged data counts, if it is anything; with
 * `compat` it does not. opts' rules are set here. */
struct session_files {
	const char *const *paths;
	size_t n;
	struct input_opts opts;
	bool foreign_symbols; /* not the program's: do not check whether data and program fit */
	/* Loads names: once it is known what the data is of; for GNU before, as a program without
	 * symbols ends it there. */
	struct kin_error *(*name)(void *arg);
	void (*check)(void *arg);
	void *arg;
};
bool session_load_data(struct gprof_session *s, const struct session_files *f);

/* gmon.sum has no room for it: an error. */
MUST_CHECK struct kin_error *session_fits_sum(const struct gprof_session *s, const char *sum);
/* An error if there is a sum and not all data could be read: what would replace it lacks something,
 * perhaps of that very file. */
MUST_CHECK struct kin_error *session_may_replace(const struct gprof_session *s, const char *sum);

/* The kinds of data that there were, even if no record of them counted. */
bool session_has_histogram(const struct gprof_session *s);
bool session_has_arcs(const struct gprof_session *s);

/* opts' rules and selection are set here. `consumes`: as in profile_rules. */
MUST_CHECK struct kin_error *session_analyse(struct gprof_session *s, struct callgraph_opts opts,
					     bool consumes);

/* ---- output ---- */

/* A form feed, unless this is the first part. */
void session_new_page(struct gprof_session *s);

MUST_CHECK struct kin_error *session_print(struct gprof_session *s, const struct report *report,
					   const struct report_opts *opts,
					   const struct renderer *renderer,
					   const struct render_opts *look);
/* Consumes the table. */
MUST_CHECK struct kin_error *session_render(struct kin_table *t, const struct renderer *renderer,
					    const struct render_opts *look, FILE *out);
/* Warnings of the profile that have not been said yet: much is read only while a report is made. */
void session_say_warnings(struct gprof_session *s);

/* The exit status: `status`, or 1 if stdout could not be written (which GNU does not notice). */
int session_close_output(bool compat, int status);

#endif

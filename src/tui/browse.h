/* browse.h - the interactive browser: functions by time, with their callers and callees.
 *
 * The profile may change: then `next` is called regularly for a newer one. */
#ifndef TUI_BROWSE_H
#define TUI_BROWSE_H

#include "kin/kin.h"

struct browse_measured { /* of a changing profile */
	double cores;    /* that the event kept busy; 0: it does not count CPU time */
	double seen;     /* the part of the CPU time that has samples, 0..1; negative: not known */
	double seconds;  /* from the beginning of the recording to the profile */
};
#define BROWSE_ENOUGH 1.0 /* seconds; with less it says that it is measuring */

struct browse_opts {
	const char *title;                  /* for the first line: "kin top" */
	const struct kin_hists_opts *hists; /* as in page_opts */
	const char *const *source_dirs;     /* NULL-terminated, searched for sources; NULL: none */
	/* Returns a newer profile, to be freed, or NULL if there will be none; *note, if set then,
	 * is shown. Called every `delay_ms`. NULL: the profile does not change. */
	struct kin_profile *(*next)(void *arg, const char **note);
	double keep; /* the factor for old weights in each newer profile, 0..1 */
	/* Makes the profile of a single thread, by its number, or of a single object, by its name;
	 * to be freed. Both NULL: of everything. `own`: with the code of others folded into own
	 * code. The member is NULL if the profile has no parts. */
	struct kin_error *(*part)(void *arg, bool own, const char *thread, const char *object,
				  struct kin_profile **ret);
	/* About the current profile, and an event of it (NULL: the first). The member is NULL if
	 * the profile does not change. */
	struct browse_measured (*measured)(void *arg, const char *event);
	/* Makes the current profile anew, and has `next` make such ones: with the code of others
	 * folded into own code, or without. NULL: there is no own code. The member is NULL if the
	 * profile does not change. */
	struct kin_profile *(*choose_own)(void *arg, bool own);
	/* Makes the current profile by instruction, for source and assembly; to be freed. The
	 * member is NULL if the profile itself has instructions. */
	struct kin_profile *(*code)(void *arg);
	void *arg;
	/* The comparison of an older profile with this one. Its table is the first page, from which
	 * the user reaches the functions of both profiles. NULL: no comparison. Both borrowed. */
	struct kin_table *changes;
	struct kin_profile *before;
	unsigned delay_ms;
	bool full_names;  /* as in kin_render_opts */
	size_t refreshes; /* end after this many; 0: when the user quits */
	int status;       /* exit status of the process if it ends during background work */
};

/* Runs until the user quits or a signal arrives, which is raised at the end. `profile` is borrowed.
 * An error: there is no terminal, or nothing to show. */
struct kin_error *browse(struct kin_profile *profile, const struct browse_opts *opts)
	__attribute__((warn_unused_result));

#endif

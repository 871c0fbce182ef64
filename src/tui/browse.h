/* browse.h - a profile on the terminal: functions by time, and from each to its callers and
 * callees.
 *
 * The profile may be one that changes: then `next` is asked for a newer one now and then. */
#ifndef TUI_BROWSE_H
#define TUI_BROWSE_H

#include "kin/kin.h"

struct browse_opts {
	const char *title;                  /* of the first line: "kin top" */
	const struct kin_hists_opts *hists; /* as page_opts has it */
	bool by_own;                        /* order at first */
	const char *const *source_dirs;     /* NULL-terminated, searched for sources; NULL: none */
	/* A newer profile, which is to be freed, or NULL if there will be no more; *note, if set
	 * then, is shown. Asked for each `delay_ms`. NULL: there is never one. */
	struct kin_profile *(*next)(void *arg, const char **note);
	double keep; /* what of its weights each newer profile still has, 0..1 */
	/* The samples of one thread, by its number, or those in one object, by its name, alone; to
	 * be freed; NULL, NULL: all. NULL: there are no parts. */
	struct kin_error *(*part)(void *arg, const char *thread, const char *object,
				  struct kin_profile **ret);
	/* How many cores an event kept busy (NULL: the first one); 0: it is not CPU time. NULL: not
	 * known of any. */
	double (*cores)(void *arg, const char *event);
	/* The profile as it is now by instruction, for source and assembly; to be freed. NULL: the
	 * profile has that itself. */
	struct kin_profile *(*code)(void *arg);
	void *arg;
	/* What a comparison of the profile with an older one found: it is the first page, and from
	 * there it goes to the functions of either. NULL: there is no comparison. Both borrowed. */
	struct kin_table *changes;
	struct kin_profile *before;
	unsigned delay_ms;
	size_t refreshes; /* end after so many; 0: when the user says so */
	int status;       /* exit status of the process if it ends while something goes on */
};

/* Until the user quits, or a signal comes, which is delivered at the end. `profile` is borrowed. An
 * error: there is no terminal, or nothing to be shown. */
struct kin_error *browse(struct kin_profile *profile, const struct browse_opts *opts)
	__attribute__((warn_unused_result));

#endif

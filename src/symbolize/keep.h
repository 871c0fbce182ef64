/* keep.h - names of all that a profile was hit in, for the recording to keep (names/kept.h). */
#ifndef SYMBOLIZE_KEEP_H
#define SYMBOLIZE_KEEP_H

#include "kin/kin.h"
#include "profile/profile.h"

struct debuginfod;

struct keep_opts {
	const char *debug_dir;         /* NULL: /usr/lib/debug */
	const char *symfs;             /* paths of objects are below this folder; NULL: / */
	struct debuginfod *debuginfod; /* as in object_opts */
	/* Code and lines of whole functions, and of the source files that were hit all lines: what
	 * annotated reports show. */
	bool whole;
	/* Asked first where they are below a root of their own, else where the path leads to no
	 * such file. */
	const struct kin_program_file *files;
	size_t n_files;
};

/* What of the profile's objects is at hand, and what the profile itself keeps of those that are
 * not. To be freed with kept_free(). Files that are gone, or other ones now, are left out; *trouble
 * is the first reason why something that is there could not be read, or NULL. */
struct kept *names_keep(const struct profile *p, const struct keep_opts *opts,
			struct kin_error **trouble);

#endif

/* keep.h - collects the names of all sampled code of a profile, for the recording to keep
 * (names/kept.h). */
#ifndef SYMBOLIZE_KEEP_H
#define SYMBOLIZE_KEEP_H

#include "kin/kin.h"
#include "profile/profile.h"

struct debuginfod;

struct keep_opts {
	const char *debug_dir;         /* NULL: /usr/lib/debug */
	const char *symfs;             /* root folder of objects' paths; NULL: / */
	struct debuginfod *debuginfod; /* as in object_opts */
	/* Include code and lines of whole functions, and all lines of their source files: annotated
	 * reports show them. */
	bool whole;
	/* Asked first where they are below a root of their own, else where the path leads to no
	 * such file. */
	const struct kin_program_file *files;
	size_t n_files;
};

/* The names from the objects that are available; for others, those that the profile already keeps.
 * To be freed with kept_free(). Files that are gone or were replaced are left out. *trouble is the
 * first reason why an existing file could not be read, or NULL. */
struct kept *names_keep(const struct profile *p, const struct keep_opts *opts,
			struct kin_error **trouble);

#endif

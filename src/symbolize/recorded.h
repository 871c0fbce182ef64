/* recorded.h - the objects of a profile as they were when it was recorded.
 *
 * The file that ran, where it is at hand; else what the recording itself keeps of it. Names of
 * another build would be wrong ones. */
#ifndef SYMBOLIZE_RECORDED_H
#define SYMBOLIZE_RECORDED_H

#include "object/object.h"
#include "profile/profile.h"

struct recorded_opts {
	const char *debug_dir;         /* NULL: /usr/lib/debug */
	const char *symfs;             /* paths of objects are below this folder; NULL: / */
	struct debuginfod *debuginfod; /* as in object_opts */
};

/* *instead, to be freed, is NULL if *ret is the file that ran; else it says why that is not at
 * hand, and *ret is what the recording keeps. *ret NULL: there is nothing that could have names
 * (code made at run time, the vdso of another kernel). Error: nothing is known of what should be a
 * file. */
MUST_CHECK struct kin_error *recorded_object(const struct profile *p, objid id,
					     const struct recorded_opts *opts,
					     struct object_file **ret, struct kin_error **instead);

#endif

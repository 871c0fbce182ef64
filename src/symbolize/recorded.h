/* recorded.h - opens the objects of a profile as they were when it was recorded.
 *
 * An object is the file that ran, if that is available; otherwise the names that the recording
 * keeps. Names of another build would be wrong. */
#ifndef SYMBOLIZE_RECORDED_H
#define SYMBOLIZE_RECORDED_H

#include "object/object.h"
#include "profile/profile.h"

struct recorded_opts {
	const char *debug_dir;         /* NULL: /usr/lib/debug */
	const char *symfs;             /* root folder of objects' paths; NULL: / */
	struct debuginfod *debuginfod; /* as in object_opts */
};

/* *instead, to be freed, is NULL if *ret is the file that ran; otherwise it says why that is not
 * available, and *ret has the names in the recording. *ret NULL: the object cannot have names (JIT
 * code, the vdso of another kernel). Error: the object is a file, but nothing is known of it. */
MUST_CHECK struct kin_error *recorded_object(const struct profile *p, objid id,
					     const struct recorded_opts *opts,
					     struct object_file **ret, struct kin_error **instead);

/* What the recording keeps of an object; NULL: nothing. */
const struct kept_object *recorded_kept(const struct profile *p, objid id);

/* Whether the data named addresses that it made up (a store, callgrind): no file has code there. */
bool recorded_is_made_up(const struct profile *p, objid id);

#endif

/* callgrind.h - the format of callgrind.out (Valgrind's manual, "Callgrind Format Specification").
 */
#ifndef FORMATS_CALLGRIND_CALLGRIND_H
#define FORMATS_CALLGRIND_CALLGRIND_H

#include "formats/formats.h"

/* The caller of functions that are outermost in some stacks and called by others elsewhere. */
#define CALLGRIND_ROOT "[root]"
#define CALLGRIND_NS   "nanoseconds" /* long name of events that are times */
#define CALLGRIND_NONE "???"         /* an unknown file or object */

bool callgrind_recognise(struct bytes head, const struct input_opts *o);
MUST_CHECK struct kin_error *callgrind_read(struct bytes all, const struct input_opts *o,
					    struct profile_builder *into, struct source *source);
MUST_CHECK struct kin_error *callgrind_write(struct kin_profile *profile,
					     const struct kin_export_opts *opts, FILE *out);

#endif

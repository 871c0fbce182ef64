/* callgrind.h - the format of callgrind.out (Valgrind's manual, "Callgrind Format Specification").
 */
#ifndef FORMATS_CALLGRIND_CALLGRIND_H
#define FORMATS_CALLGRIND_CALLGRIND_H

#include "formats/formats.h"

/* The caller of functions that are called by nobody in some stacks, and by somebody in others. */
#define CALLGRIND_ROOT "[root]"
#define CALLGRIND_NONE "???" /* a file or object that is not known */

MUST_CHECK struct kin_error *callgrind_write(struct kin_profile *profile,
					     const struct kin_export_opts *opts, FILE *out);

#endif

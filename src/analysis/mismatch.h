/* mismatch.h - checks whether the data belongs to the program. gmon.out does not name it, so this
 * is inferred from properties that a mismatch breaks: the profiled range, the places where mcount
 * is called, and whether the sampled addresses belong to functions. */
#ifndef ANALYSIS_MISMATCH_H
#define ANALYSIS_MISMATCH_H

#include "base/remarks.h"
#include "profile/profile.h"
#include "symbolize/symbols.h"

/* Adds a warning, which is a doubt, too, for each sign that p was not written by this build of this
 * program. Returns whether at least a part of it certainly was not. */
bool mismatch_check(const struct profile *p, struct object_file *o, const struct symbols *s,
		    struct remarks *to);

#endif

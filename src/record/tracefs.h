/* tracefs.h - the kernel's trace points, from tracefs. */
#ifndef RECORD_TRACEFS_H
#define RECORD_TRACEFS_H

#include "base/vec.h"

struct kin_error;

struct tracepoint {
	char name[200]; /* "sched:sched_switch" */
	uint64_t id;
};
struct tracepoints {
	VEC(struct tracepoint) at;
};

/* Trace points that match "group:name"; both may contain * and ?. An error if there are none:
 * tracefs is not mounted, not permitted, or has no such trace point. */
struct kin_error *tracefs_find(const char *pattern, size_t n, struct tracepoints *ret)
	__attribute__((warn_unused_result));

/* Whether trace points exist but only other users may read them. */
bool tracefs_is_closed(void);

/* The kernel's description of its fields, to be freed; NULL if it cannot be read. */
char *tracefs_format(const char *name);
/* The constant texts that fields may point to, with their addresses; likewise. */
char *tracefs_strings(void);

#endif

/* tracefs.h - the kernel's trace points, as its file system for tracing has them. */
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

/* Those that "group:name" stands for; both may have * and ?. An error if there is none: what is not
 * mounted, not permitted, or not there. */
struct kin_error *tracefs_find(const char *pattern, size_t n, struct tracepoints *ret)
	__attribute__((warn_unused_result));

/* Whether they are there, for others alone. */
bool tracefs_is_closed(void);

/* The kernel's description of its fields, to be freed; NULL if it cannot be read. */
char *tracefs_format(const char *name);

#endif

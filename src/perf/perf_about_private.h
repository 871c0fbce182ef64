/* perf_about_private.h - declarations shared by perf_about*.c. */
#ifndef PERF_PERF_ABOUT_PRIVATE_H
#define PERF_PERF_ABOUT_PRIVATE_H

#include "base/vec.h"
#include "formats/perfdata/perf.h"
#include "perf/perf_about.h"

struct perf_about {
	struct perf_watcher watcher; /* first member: see about_of() */
	unsigned what;
	FILE *out;
	uint64_t n_records, by_type[256];
	VEC(uint64_t) samples; /* [event]: number of samples */
	uint32_t seen;         /* mask of features seen, without those above 31 */
};

/* The perf_about that a file is read for. */
static inline struct perf_about *about_of(const struct perf *p)
{
	return (struct perf_about *)p->watcher;
}

/* perf_about_header.c */
void about_feature(struct perf *p, unsigned feature, struct bytes data);
void about_missing(struct perf_about *a);

#endif

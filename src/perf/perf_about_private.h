/* perf_about_private.h - declarations shared by perf_about*.c. */
#ifndef PERF_PERF_ABOUT_PRIVATE_H
#define PERF_PERF_ABOUT_PRIVATE_H

#include "base/arena.h"
#include "base/map64.h"
#include "base/vec.h"
#include "formats/perfdata/perf.h"
#include "perf/perf_about.h"

struct about_map {
	uint64_t start, end, offset, inode;
	uint32_t prot, flags;
	const char *path;
};

struct about_task {
	uint32_t pid, tid, parent; /* parent: NONE if not known */
	const char *comm;
	VEC(struct about_map) maps; /* for processes: by address */
};

struct perf_about {
	struct perf_watcher watcher; /* first member: see about_of() */
	unsigned what;
	FILE *out;
	uint64_t n_records, by_type[256];
	VEC(uint64_t) samples; /* [event]: number of samples */
	uint32_t seen;         /* mask of features seen, without those above 31 */
	VEC(struct about_task) tasks;
	struct map64 task_ids; /* by tid */
	size_t n_maps;         /* number of mappings ever made */
};

/* The perf_about that a file is read for. */
static inline struct perf_about *about_of(const struct perf *p)
{
	return (struct perf_about *)p->watcher;
}

/* perf_about_header.c */
void about_feature(struct perf *p, unsigned feature, struct bytes data);
void about_missing(struct perf_about *a);
/* perf_about_tasks.c */
void about_task_record(struct perf *p, const struct perf_record *r);
void about_tasks_print(struct perf_about *a);
void about_tasks_done(struct perf_about *a);

#endif

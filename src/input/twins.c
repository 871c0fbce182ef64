/* twins.c - reads from files' headers which run they belong to. */
#include "input/twins.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "base/map64.h"
#include "kin/format.h"

struct run {
	bool is_gmon;
	uint64_t start_time_ns; /* 0: not known */
	uint32_t pid;
};

static struct run run_of(const char *path)
{
	struct kinf_header h;
	size_t n = file_head(path, &h, sizeof(h));
	const char *gmon = (const char *)&h;
	struct run r = { .is_gmon = n >= KINF_GMON_HEADER && !memcmp(gmon, "gmon", 4) };

	if (r.is_gmon) {
		memcpy(&r.start_time_ns, gmon + KINF_GMON_RUN, sizeof(r.start_time_ns));
		memcpy(&r.pid, gmon + KINF_GMON_RUN + sizeof(r.start_time_ns), sizeof(r.pid));
	} else if (n == sizeof(h) && h.magic == KINF_MAGIC && h.writer == KINF_BY_RUNTIME) {
		r.start_time_ns = h.start_time_ns;
		r.pid = h.pid;
	}
	return r;
}

size_t *twins_find(char *const *paths, size_t n)
{
	size_t *twins = xalloc((n + 1) * sizeof(*twins));
	struct run *runs = n > 1 ? xalloc(n * sizeof(*runs)) : NULL;
	struct map64 recorded = { 0 }; /* start -> index */

	for (size_t i = 0; runs && i < n; i++) {
		runs[i] = run_of(paths[i]);
		if (runs[i].start_time_ns && !runs[i].is_gmon)
			*map64_at(&recorded, runs[i].start_time_ns) = (uint32_t)i;
	}
	for (size_t i = 0; i < n; i++) {
		bool is_of_run = runs && runs[i].is_gmon && runs[i].start_time_ns;
		uint32_t twin = is_of_run ? map64_get(&recorded, runs[i].start_time_ns) : NONE;
		twins[i] = twin != NONE && runs[twin].pid == runs[i].pid ? twin : n;
	}
	map64_free(&recorded);
	free(runs);
	return twins;
}

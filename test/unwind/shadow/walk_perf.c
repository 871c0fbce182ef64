/* walk_perf.c - the walker of the perf.data reader. */
#include <string.h>

#include "formats/perfdata/perf.h"
#include "samples.h"
#include "walks.h"

static struct perf p;
static struct perf_space space;

static void maps(pid_t pid, const struct code_maps *now)
{
	if (!p.into) {
		p.into = profile_builder_new();
		p.strings = strtab_new();
		strcpy(p.machine_name, "x86_64");
		perf_stacks_init(&p);
		perf_space_init(&p, &p.kernel);
		perf_space_init(&p, &p.guest_kernel);
	}
	perf_space_init(&p, &space);
	for (size_t i = 0; i < now->n; i++) {
		const struct code_map *m = &now->at[i];
		const char *path = *m->path ? m->path : "//anon";
		struct perf_map map = {
			m->start,  m->end,
			m->offset, perf_object_add(&p, path, "", (uint32_t)pid, PERF_MAP_CODE),
			0,         false
		};
		perf_space_map(&p, &space, map);
	}
}

static void walk(const struct point *at, struct walked *ret)
{
	uint64_t values[SAMPLE_REGISTERS], pcs[1024];
	struct perf_sample s = sample_of(at, values);
	struct perf_attr a = { .layout.regs_user = s.user.mask };
	struct unwind_walk w;

	ret->n = perf_dwarf_walk(&p, &space, &a, &s, pcs, 1024, &w);
	for (size_t i = 0; i < ret->n; i++)
		ret->at[i] = (struct walk_frame){ pcs[i], i >= w.certain };
	ret->complete = w.end == UNWIND_COMPLETE;
}

static void done(void) {}

const struct walker_kind walker_perf = { "perf.data", maps, walk, done };

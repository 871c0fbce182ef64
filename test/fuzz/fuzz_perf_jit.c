/* Names of JIT code for a perf.data: by the first byte, from a jitdump file or a
 * /tmp/perf-PID.map. The resulting pieces are in order and do not overlap, and their call-frame
 * information can be looked up at both ends of each piece. */
#include <stdio.h>
#include <unistd.h>

#include "base/strtab.h"
#include "formats/perfdata/perf.h"
#include "fuzz.h"

static void check(const struct perf_made *made)
{
	struct unwind_row row;
	for (size_t i = 0; i < made->n_names; i++) {
		const struct perf_name *name = &made->names[i];
		if (name->start >= name->end || !name->name || name->frames > made->n_frames ||
		    (i && name[-1].end > name->start) || perf_made_at(made, name->start) != name)
			abort();
		if (!name->frames)
			continue;
		const struct perf_made_frames *f = &made->frames[name->frames - 1];
		made_frames_row(&machine_x86_64, &f->said, f->code, f->size, name->start, &row);
		made_frames_row(&machine_x86_64, &f->said, f->code, f->size, name->end - 1, &row);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	if (!size)
		return 0;
	bool is_dump = data[0] == 'd';
	snprintf(path, sizeof(path), "/tmp/kin-fuzz-%d.%s", (int)getpid(),
		 is_dump ? "dump" : "map");
	FILE *f = fopen(path, "wb");
	if (!f)
		return 0;
	fwrite(data + 1, 1, size - 1, f);
	fclose(f);

	struct perf *p = xalloc(sizeof(*p));
	p->into = profile_builder_new();
	p->strings = strtab_new();
	struct perf_made made = perf_jit_read(p, is_dump ? NULL : path, is_dump ? path : NULL);
	check(&made);
	perf_made_free(&made);
	unlink(path);
	profile_builder_free(p->into);
	strtab_free(p->strings);
	arena_release(&p->arena);
	free(p);
	return 0;
}

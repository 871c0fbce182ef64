/* Names of code made at run time, as perf.data's programs leave them: by the first byte, a jitdump
 * file or a /tmp/perf-PID.map. What comes of it is in order and does not overlap. */
#include <stdio.h>
#include <unistd.h>

#include "base/strtab.h"
#include "formats/perfdata/perf.h"
#include "fuzz.h"

static void check(const struct perf_name *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (names[i].start >= names[i].end || !names[i].name ||
		    (i && names[i - 1].end > names[i].start))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	size_t n;
	if (!size)
		return 0;
	snprintf(path, sizeof(path), "/tmp/kin-fuzz-%d.%s", (int)getpid(),
		 data[0] == 'd' ? "dump" : "map");
	FILE *f = fopen(path, "wb");
	if (!f)
		return 0;
	fwrite(data + 1, 1, size - 1, f);
	fclose(f);

	struct perf *p = xalloc(sizeof(*p));
	p->into = profile_builder_new();
	p->strings = strtab_new();
	struct perf_name *names = perf_jit_read(p, path, &n);
	check(names, n);
	free(names);
	unlink(path);
	profile_builder_free(p->into);
	strtab_free(p->strings);
	arena_release(&p->arena);
	free(p);
	return 0;
}

/* Files that a recorded process maps or leaves in /tmp: by the first byte, a map of JIT code, a
 * jitdump file, or an ELF file. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/jit.h"
#include "record/modules.h"

static void ask_names(const char *dump)
{
	struct jit *j = jit_new();
	pid_t pid = getpid();
	if (dump)
		jit_add_dump(j, pid, dump, 1);
	for (uint64_t addr = 0; addr < 0x3000; addr += 0x80)
		jit_find(j, pid, addr, addr);
	jit_update(j);
	jit_find(j, pid, 0x1000, 5);
	jit_end(j, pid, 0x1000);
	jit_find(j, pid, 0x1000, 5);
	jit_find(j, pid, 0x1000, 0x1001);
	jit_forget(j, UINT64_MAX);
	jit_free(j);
}

static void map_file(const char *path)
{
	struct modules *m = modules_new(0);
	struct module_key key = { .path = path, .pid = getpid(), .start = 0x1000, .end = 0x9000 };
	struct module *module = modules_find(m, &key);
	for (uint64_t offset = 0; offset < 0x5000; offset += 0x1000)
		module_offset(module, 0x1000 - module_bias(module, 0x1000, offset));
	for (uint64_t addr = 0; addr < 0x3000; addr += 0x10) {
		const struct unwind_table *t = module_table(module, addr);
		if (t)
			unwind_table_find(t, addr);
	}
	modules_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	if (!size)
		return 0;
	bool map = data[0] == 'm';
	setenv("HOME", "none", 1); /* nothing is cached */
	setenv("XDG_CACHE_HOME", "none", 1);
	snprintf(path, sizeof(path), map ? "/tmp/perf-%d.map" : "/tmp/kin-fuzz-%d", (int)getpid());
	FILE *f = fopen(path, "wb");
	if (!f)
		return 0;
	fwrite(data + 1, 1, size - 1, f);
	fclose(f);
	if (data[0] == 'e')
		map_file(path);
	else
		ask_names(map ? NULL : path);
	unlink(path);
	return 0;
}

/* vdso.c - the code that the kernel maps into every process, out of our own memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/err.h"
#include "object/private.h"

enum { SIZE_MAX_VDSO = 1 << 20 };

/* The bytes from `start` to the end of the mapping that they are in; 0 if there is none. */
static size_t mapped_from(uintptr_t start)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long low, high;
	char *line = NULL;
	size_t room = 0, size = 0;

	while (maps && !size && getline(&line, &room, maps) > 0)
		if (sscanf(line, "%lx-%lx", &low, &high) == 2 && low <= start && start < high)
			size = high - start;
	free(line);
	if (maps)
		fclose(maps);
	return size;
}

static struct elf_file *own_vdso(void)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	size_t size = start ? mapped_from(start) : 0;

	if (!size || size > SIZE_MAX_VDSO)
		return NULL;
	uint8_t *copy = xrealloc(NULL, size, 1);
	memcpy(copy, (const void *)start, size);
	return elf_file_from_memory("[vdso]", copy, size);
}

struct kin_error *object_open_vdso(const struct object_opts *opts, struct object_file **ret)
{
	struct elf_file *file = own_vdso();
	struct object_file *o;

	if (!file)
		return err_new(KIN_ERROR_UNSUPPORTED, "[vdso]: this process has none");
	struct kin_error *err = object_of_file(file, "[vdso]", opts, &o);
	if (err)
		return err;
	if (!o->build_id || !opts->build_id || strcmp(o->build_id, opts->build_id) != 0) {
		object_free(o);
		return err_new(KIN_ERROR_MISMATCH, "[vdso]: not that of this kernel");
	}
	*ret = o;
	return NULL;
}

/* vdso.c - the code that the kernel maps into every process, out of our own memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/err.h"
#include "object/object_private.h"

enum { SIZE_MAX_VDSO = 1 << 20 };

/* The bytes from `start` to the end of the mapping that they are in; 0 if there is none. */
static struct kin_error *mapped_from(uintptr_t start, size_t *ret)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long low, high;
	char *line = NULL;
	size_t room = 0;

	if (!maps)
		return err_os(errno, "/proc/self/maps");
	errno = 0;
	for (*ret = 0; !*ret && getline(&line, &room, maps) > 0;)
		if (sscanf(line, "%lx-%lx", &low, &high) == 2 && low <= start && start < high)
			*ret = high - start;
	struct kin_error *err = !*ret && errno ? err_os(errno, "/proc/self/maps") : NULL;
	free(line);
	fclose(maps);
	return err;
}

struct kin_error *elf_file_vdso(struct elf_file **ret)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	size_t size = 0;
	struct kin_error *err = start ? mapped_from(start, &size) : NULL;

	if (err)
		return err;
	if (!size || size > SIZE_MAX_VDSO)
		return err_new(KIN_ERROR_UNSUPPORTED, "[vdso]: this process has none");
	uint8_t *copy = xrealloc(NULL, size, 1);
	memcpy(copy, (const void *)start, size);
	*ret = elf_file_from_memory("[vdso]", copy, size);
	return *ret ? NULL : err_new(KIN_ERROR_UNSUPPORTED, "[vdso]: not an ELF file");
}

struct kin_error *object_open_vdso(const struct object_opts *opts, struct object_file **ret)
{
	struct elf_file *file;
	struct object_file *o = NULL;
	struct kin_error *err = elf_file_vdso(&file);

	if (!err)
		err = object_of_file(file, "[vdso]", opts, &o);
	if (!err && (!o->build_id || !opts->build_id || strcmp(o->build_id, opts->build_id) != 0))
		err = err_new(KIN_ERROR_MISMATCH, "[vdso]: not that of this kernel");
	if (!err) {
		*ret = o;
		return NULL;
	}
	object_free(o);
	struct object_file *copy = object_open_cached("[vdso]", opts, "vdso");
	if (!copy)
		return err;
	kin_error_free(err);
	*ret = copy;
	return NULL;
}

/* segments.c - how a file is laid out in memory. */
#include <stdlib.h>

#include "base/vec.h"
#include "object/private.h"

struct kin_error *object_segments(const char *path, struct object_segment **ret, size_t *n)
{
	VEC(struct object_segment) v = { 0 };
	struct elf_file *f;
	size_t n_headers = 0;
	struct kin_error *err = elf_file_open(path, &f);

	if (err)
		return err;
	if (elf_getphdrnum(f->elf, &n_headers) < 0)
		n_headers = 0;
	for (size_t i = 0; i < n_headers && i <= INT32_MAX; i++) {
		GElf_Phdr h;
		if (!gelf_getphdr(f->elf, (int)i, &h))
			break;
		if (h.p_type == PT_LOAD && h.p_filesz)
			vec_push(&v, ((struct object_segment){ h.p_offset, h.p_vaddr, h.p_filesz,
							       (h.p_flags & PF_X) != 0 }));
	}
	elf_file_free(f);
	*ret = v.at;
	*n = v.n;
	return NULL;
}

bool object_segment_address(const struct object_segment *at, size_t n, uint64_t offset,
			    uint64_t *ret)
{
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		if (offset < at[i].offset || offset - at[i].offset >= at[i].size)
			continue;
		if (!found || at[i].is_code)
			*ret = at[i].addr + (offset - at[i].offset);
		found = true;
		if (at[i].is_code)
			break;
	}
	return found;
}

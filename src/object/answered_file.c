/* answered_file.c - the cache file of an object: its key, how it is found, read and replaced, and
 * the limit on the size of all such files. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/folder.h"
#include "object/answered.h"
#include "object/object_private.h"

enum { LARGEST = 32 << 20, ALL = 56 << 20 };

/* ---- the key ---- */

struct kins_code {
	uintptr_t addr;
	uint8_t *id; /* [ANSWERED_ID] */
};

static void take_id(uint8_t *ret, uintptr_t notes, size_t size)
{
	struct bytes b = bytes_of(NULL, (const uint8_t *)notes, size);
	const uint8_t *id = elf_notes_build_id(&b, &size);
	if (!id)
		return;
	ret[0] = (uint8_t)min_u64(size, ANSWERED_ID - 1);
	memcpy(ret + 1, id, ret[0]);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *own)
{
	const struct kins_code *o = own;
	bool is_own = false;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		is_own |=
			h->p_type == PT_LOAD && o->addr - info->dlpi_addr - h->p_vaddr < h->p_memsz;
	}
	for (int i = 0; is_own && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		if (h->p_type == PT_NOTE && !o->id[0])
			take_id(o->id, info->dlpi_addr + h->p_vaddr, h->p_memsz);
	}
	return is_own;
}

/* The build id of this code: another build of kin may give other answers. */
static bool find_own_id(uint8_t *id)
{
	struct kins_code own = { (uintptr_t)find_own_id, id };
	dl_iterate_phdr(look_at, &own);
	return id[0] != 0;
}

static bool describe_file(const struct elf_file *f, struct answered_key *key, size_t i)
{
	struct stat st;
	if (!f)
		return true;
	if (f->image.fd < 0 || fstat(f->image.fd, &st) < 0)
		return false;
	key->files[i].size = (uint64_t)st.st_size;
	key->files[i].modified_ns = clock_ns_of(st.st_mtim);
	return true;
}

/* False if answers may change although the files do not. */
static bool describe(struct object_file *o, struct answered_key *ret)
{
	size_t n = o->build_id ? strlen(o->build_id) : 0;
	memset(ret, 0, sizeof(*ret));
	if (n < 8 || n >= sizeof(ret->build_id) || o->no_debug_files || !find_own_id(ret->kin))
		return false;
	memcpy(ret->build_id, o->build_id, n);
	object_dwarf(o);
	return describe_file(o->main, ret, 0) && describe_file(object_debug_file(o), ret, 1) &&
	       describe_file(o->alt, ret, 2);
}

/* ---- reading ---- */

static struct answered *load(const char *path, const struct answered_key *key)
{
	struct file f = { 0 };
	struct stat st;
	if (stat(path, &st) < 0)
		return NULL;
	struct kin_error *err = file_read(path, &(struct file_opts){ .max = LARGEST }, &f);
	if (err) {
		kin_error_free(err);
		return NULL;
	}
	struct answered *a = answered_read(&f, key);
	if (a)
		utimensat(AT_FDCWD, path, NULL, 0); /* recently used */
	return a;
}

struct answered *object_answered(struct object_file *o)
{
	struct answered_key key;
	if (o->sought_answered)
		return o->answered;
	o->sought_answered = true;
	/* Servers may have tomorrow what they do not have today. */
	if (!o->remembers || o->kept || o->debuginfod)
		return NULL;
	char *folder = folder_cache("names");
	if (folder && describe(o, &key)) {
		o->answered_path = arena_printf(&o->arena, "%s/%s", folder, o->build_id);
		o->answered = load(o->answered_path, &key);
		if (!o->answered)
			o->answered = xalloc(sizeof(*o->answered));
	}
	free(folder);
	return o->answered;
}

/* ---- writing ---- */

void object_remember(struct object_file *o)
{
	struct answered_key key;
	size_t size;
	if (!o->answered || !o->answered->changed)
		return;
	o->answered->changed = false;
	struct kin_error *trouble = object_trouble(o);
	uint8_t *data =
		!trouble && describe(o, &key) ? answered_write(o->answered, &key, &size) : NULL;
	kin_error_free(trouble);
	if (data)
		folder_keep(o->answered_path, data, size, ALL);
	free(data);
}

/* unwind_table_file.c - tables kept in files: a header, the points, the rules. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/folder.h"
#include "unwind/unwind_table_private.h"

enum { VERSION = 12, ID_MAX = 128, FILE_MAX = 512 << 20, CACHE_MAX = 96 << 20 };

/* In this machine's byte order, as only it reads the file again. */
struct table_header {
	char magic[8];
	uint64_t checksum;         /* of all that follows it */
	uint32_t version, machine; /* e_machine */
	uint64_t base, size;
	uint64_t n_points, n_rules;
	uint64_t is_followed; /* 0, 1 */
};

static const char magic[8] = "KINUNW\r\n";

static uint64_t checksum(const void *data, size_t size)
{
	const size_t begin = offsetof(struct table_header, version);
	return folder_checksum((const uint8_t *)data + begin, size - begin);
}

/* ---- names ---- */

char *unwind_cache_folder(void) { return folder_cache("unwind"); }

void unwind_cache_trim(void)
{
	char *folder = unwind_cache_folder();
	if (folder)
		folder_trim(folder, CACHE_MAX);
	free(folder);
}

/* It becomes part of a file name. */
static struct kin_error *check_id(const char *id)
{
	size_t n = strlen(id);
	if (n >= 2 && n <= ID_MAX && strspn(id, "0123456789abcdef") == n)
		return NULL;
	return err_new(KIN_ERROR_UNSUPPORTED, "no build-id to name a file by");
}

/* ---- loading ---- */

static bool sound_row(const struct unwind_row *row)
{
	const uint8_t places[] = { row->ra, row->fp, row->bx };
	const int16_t offsets[] = { row->ra_offset, row->fp_offset, row->bx_offset };
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (places[i] > UNWIND_UNKNOWN ||
		    (places[i] == UNWIND_IN_REG &&
		     (offsets[i] < 0 || offsets[i] >= UNWIND_DWARF + MACHINE_REGISTERS)))
			return false;
	return row->cfa <= UNWIND_CFA_PLT && row->reg < UNWIND_DWARF + MACHINE_REGISTERS &&
	       !row->unused;
}

static bool sound_points(const struct table_header *h, const struct unwind_point *p)
{
	for (size_t i = 0; i < h->n_points; i++)
		if (p[i].rule >= h->n_rules || p[i].at > h->size ||
		    (i ? p[i].at <= p[i - 1].at : p[i].at != 0))
			return false;
	return true;
}

/* NULL: none whose stacks can be walked. */
static const struct machine *machine_of(const struct table_header *h)
{
	const struct machine *m = machine_find(h->machine);
	return m && m->n_registers ? m : NULL;
}

static bool sound(const struct table_header *h, const struct unwind_point *points,
		  const struct unwind_row *rules)
{
	if (!machine_of(h))
		return false;
	if (!sound_points(h, points))
		return false;
	for (size_t i = 0; i < h->n_rules; i++)
		if (!sound_row(&rules[i]))
			return false;
	return rules[0].cfa == UNWIND_CFA_NONE;
}

static bool read_header(const struct file *f, struct table_header *h)
{
	if (f->size < sizeof(*h))
		return false;
	memcpy(h, f->data, sizeof(*h));
	if (memcmp(h->magic, magic, sizeof(magic)) != 0 || h->version != VERSION ||
	    h->checksum != checksum(f->data, f->size))
		return false;
	size_t left = f->size - sizeof(*h);
	return h->n_points && h->n_rules && h->size <= UINT32_MAX && h->is_followed <= 1 &&
	       h->n_points <= left / sizeof(struct unwind_point) &&
	       h->n_rules <= left / sizeof(struct unwind_row) &&
	       h->n_points * sizeof(struct unwind_point) + h->n_rules * sizeof(struct unwind_row) ==
		       left;
}

static void *duplicate(const void *p, size_t n, size_t size)
{
	return memcpy(xrealloc(NULL, n, size), p, n * size);
}

static struct unwind_table *read_table(const struct file *f)
{
	struct table_header h;
	if (!read_header(f, &h))
		return NULL;
	/* The file's memory is aligned as malloc's is, and all sizes are multiples of 8. */
	const struct unwind_point *points = (const void *)(f->data + sizeof(h));
	const struct unwind_row *rules = (const void *)(points + h.n_points);
	if (!sound(&h, points, rules))
		return NULL;
	struct unwind_table *t = xalloc(sizeof(*t));
	t->machine = machine_of(&h);
	t->base = h.base;
	t->size = h.size;
	t->n_points = h.n_points;
	t->points = duplicate(points, h.n_points, sizeof(*points));
	t->n_rules = h.n_rules;
	t->is_followed = h.is_followed;
	t->rules = duplicate(rules, h.n_rules, sizeof(*rules));
	unwind_table_index(t);
	return t;
}

struct kin_error *unwind_table_load(const char *folder, const char *id, struct unwind_table **ret)
{
	struct file f;
	struct kin_error *err = check_id(id);
	if (err)
		return err;
	char *path = xprintf("%s/%s", folder, id);
	if (access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		*ret = NULL;
		goto out;
	}
	if ((err = file_read(path, &(struct file_opts){ .max = FILE_MAX }, &f)))
		goto out;
	struct unwind_table *t = read_table(&f);
	file_free(&f);
	if (t) {
		*ret = t;
		folder_used(path);
	} else
		err = err_new(KIN_ERROR_FORMAT, "%s: damaged, or of another version", path);
out:
	free(path);
	return err;
}

/* ---- saving ---- */

struct kin_error *unwind_table_save(const struct unwind_table *t, const char *folder,
				    const char *id)
{
	struct kin_error *err = check_id(id);
	if (err)
		return err;
	struct table_header h = {
		.version = VERSION,
		.machine = t->machine->elf,
		.base = t->base,
		.size = t->size,
		.n_points = t->n_points,
		.n_rules = t->n_rules,
		.is_followed = t->is_followed,
	};
	memcpy(h.magic, magic, sizeof(magic));
	size_t points = t->n_points * sizeof(*t->points), rules = t->n_rules * sizeof(*t->rules);
	size_t size = sizeof(h) + points + rules;
	uint8_t *file = xrealloc(NULL, 1, size);
	memcpy(file, &h, sizeof(h));
	memcpy(file + sizeof(h), t->points, points);
	memcpy(file + sizeof(h) + points, t->rules, rules);
	h.checksum = checksum(file, size);
	memcpy(file, &h, sizeof(h));
	char *path = xprintf("%s/%s", folder, id);
	err = folder_put(path, file, size);
	free(path);
	free(file);
	return err;
}

/* lines_split.c - finds the other half of units that were compiled with -gsplit-dwarf.
 *
 * Such a unit has its lines in the object, and its entries in a file that it names ("x.dwo"). That
 * is looked for below the folder of the compilation, else beside the object. dwp packs these files
 * into one, PROGRAM.dwp, beside the program or its debug file, with an index by the units' ids.
 * Both halves must have the same id. Only one is open at a time, as a program has thousands. */
#include <stdlib.h>
#include <string.h>

#include "object/lines_private.h"

enum { COLUMNS = 16 }; /* kinds of sections in an index */

/* ---- packages ---- */

/* Numbers of the kinds of sections in an index; both versions have the same for the needed ones. */
static const struct {
	uint32_t id;
	enum dwarf_part part;
} columns[] = {
	{ 1, PART_INFO },        { 3, PART_ABBREV },   { 4, PART_LINE },
	{ 6, PART_STR_OFFSETS }, { 8, PART_RNGLISTS }, /* in version 2: macros */
};

struct package_index {
	uint32_t n_columns, n_units, n_slots;
	struct bytes hashes, rows, ids, offsets, sizes;
};

static bool read_index(struct elf_file *f, struct package_index *ret)
{
	const struct elf_section *s = elf_file_section(f, ".debug_cu_index");
	size_t n;
	const uint8_t *data = s && elf_file_decompress(f, s) ? elf_file_contents(f, s, &n) : NULL;
	if (!data)
		return false;
	struct bytes b = bytes_of(f->path, data, n);
	b.swap = f->image.swap;
	struct bytes short_version = b;
	uint32_t version = bytes_u32(&b);
	if (version != 2 && bytes_u16(&short_version) != 5)
		return false;
	ret->n_columns = bytes_u32(&b);
	ret->n_units = bytes_u32(&b);
	ret->n_slots = bytes_u32(&b);
	if (b.failed || ret->n_columns > COLUMNS || !ret->n_slots ||
	    ret->n_slots & (ret->n_slots - 1))
		return false;
	ret->hashes = bytes_take(&b, (uint64_t)ret->n_slots * 8);
	ret->rows = bytes_take(&b, (uint64_t)ret->n_slots * 4);
	ret->ids = bytes_take(&b, ret->n_columns * 4);
	ret->offsets = bytes_take(&b, (uint64_t)ret->n_units * ret->n_columns * 4);
	ret->sizes = bytes_take(&b, (uint64_t)ret->n_units * ret->n_columns * 4);
	return !b.failed;
}

static uint64_t element(struct bytes b, uint64_t i, unsigned size)
{
	bytes_skip(&b, i * size);
	return bytes_word(&b, size);
}

/* The row of a unit; NONE if there is none. */
static uint32_t row_of(const struct package_index *x, uint64_t id)
{
	uint64_t mask = x->n_slots - 1, at = id & mask, step = (id >> 32 & mask) | 1;
	for (uint32_t i = 0; i < x->n_slots; i++, at = (at + step) & mask) {
		uint32_t row = (uint32_t)element(x->rows, at, 4);
		if (!row)
			return NONE;
		if (element(x->hashes, at, 8) == id)
			return row <= x->n_units ? row - 1 : NONE;
	}
	return NONE;
}

static bool find_parts(struct elf_file *package, uint64_t id, struct dwarf_parts *ret)
{
	struct package_index x;
	uint32_t row = read_index(package, &x) ? row_of(&x, id) : NONE;
	*ret = (struct dwarf_parts){ 0 };
	if (row == NONE)
		return false;
	for (uint32_t c = 0; c < x.n_columns; c++)
		for (size_t k = 0; k < ARRAY_LEN(columns); k++) {
			uint64_t at = (uint64_t)row * x.n_columns + c;
			if (element(x.ids, c, 4) != columns[k].id)
				continue;
			ret->of[columns[k].part].offset = element(x.offsets, at, 4);
			ret->of[columns[k].part].size = element(x.sizes, at, 4);
		}
	return true;
}

static struct elf_file *open_package(struct object_lines *l, const char *path)
{
	char *name = xprintf("%s.dwp", path), *real = realpath(path, NULL);
	struct elf_file *f = object_split_file(l->object, name);
	free(name);
	if (!f && real && strcmp(real, path) != 0) {
		name = xprintf("%s.dwp", real);
		f = object_split_file(l->object, name);
		free(name);
	}
	free(real);
	return f;
}

static struct elf_file *package_of(struct object_lines *l)
{
	struct split_units *s = &l->split;
	if (!s->sought_package) {
		s->sought_package = true;
		s->package = open_package(l, l->object->main->path);
		if (!s->package && l->object->dwarf != l->object->main)
			s->package = open_package(l, l->object->dwarf->path);
	}
	return s->package;
}

/* ---- single files ---- */

static struct elf_file *open_below(struct object_lines *l, const char *folder, size_t n,
				   const char *name)
{
	char *path = xprintf("%.*s%s%s", (int)n, folder, n ? "/" : "", name);
	struct elf_file *f = object_split_file(l->object, path);
	free(path);
	return f;
}

static struct elf_file *open_file(struct object_lines *l, const struct dwarf_unit *u)
{
	const char *name = u->split_name, *base = strrchr(name, '/');
	const char *own = l->object->main->path, *slash = strrchr(own, '/');
	size_t n = slash ? (size_t)(slash - own) : 0;
	struct elf_file *f = NULL;
	if (*name == '/' || !u->comp_dir)
		f = open_below(l, "", 0, name);
	else
		f = open_below(l, u->comp_dir, strlen(u->comp_dir), name);
	if (!f && *name != '/')
		f = open_below(l, slash ? own : ".", slash ? n : 1, name);
	if (!f && base)
		f = open_below(l, slash ? own : ".", slash ? n : 1, base + 1);
	return f;
}

/* ---- the current unit ---- */

static void close_unit(struct split_units *s)
{
	dwarf_scopes_free(s->scopes);
	dwarf_info_free(s->info);
	elf_file_free(s->file);
	s->scopes = NULL;
	s->info = NULL;
	s->file = NULL;
	s->skeleton = NULL;
}

void split_units_done(struct split_units *s)
{
	close_unit(s);
	elf_file_free(s->package);
}

static void open_unit(struct object_lines *l, const struct dwarf_unit *u)
{
	struct split_units *s = &l->split;
	struct object_file *o = l->object;
	struct elf_file *package = package_of(l);
	struct dwarf_parts parts;
	if (package && find_parts(package, u->split_id, &parts))
		s->info = dwarf_info_new_split(package, &parts, &l->info->file, u, &s->unit);
	if (!s->info && (s->file = open_file(l, u)))
		s->info = dwarf_info_new_split(s->file, NULL, &l->info->file, u, &s->unit);
	if (!s->info && !o->missing)
		o->missing = arena_printf(&o->arena, "%s", u->split_name);
}

struct unit_entries object_entries(struct object_lines *l, const struct dwarf_unit *u)
{
	struct unit_entries own = { l->info, u, &l->scopes, false };
	struct split_units *s = &l->split;
	if (!u->split_name || !u->split_id)
		return own;
	if (s->skeleton != u) {
		close_unit(s);
		s->skeleton = u;
		if (s->bytes_left)
			open_unit(l, u);
		uint64_t size = s->info ? s->info->file.info.size : 0;
		s->bytes_left -= size < s->bytes_left ? size : s->bytes_left;
		/* Only now is it known how much an honest request may cost. */
		l->work_left += size;
	}
	return s->info ? (struct unit_entries){ s->info, s->unit, &s->scopes, true } : own;
}

const char *unit_entries_name(struct object_lines *l, const struct unit_entries *e,
			      const struct dwarf_function *f)
{
	if (!*e->scopes)
		*e->scopes = dwarf_scopes_new(e->info, &l->work_left);
	const char *name = dwarf_scopes_name(*e->scopes, e->unit, f);
	return name && e->is_split ? strtab_get(l->paths, strtab_add(l->paths, name)) : name;
}

/* dwarf_info.c - finds the sections, and reads the header and top entry of each unit. */
#include "object/dwarf_info.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "object/dwarf_abbrev.h"
#include "object/object_private.h"

/* ---- sections ---- */

/* Sections are identified by name alone. */
static void take_section(struct dwarf_file *f, const struct elf_section *s, struct section *ret)
{
	size_t n;
	if (ret->data || !elf_file_decompress(f->elf, s))
		return;
	const uint8_t *data = ret == &f->info ? elf_file_unread_contents(f->elf, s, &n)
					      : elf_file_contents(f->elf, s, &n);
	if (!data)
		return;
	*ret = (struct section){ data, n };
	if (ret == &f->info)
		f->info_section = s;
}

static void find_sections(struct elf_file *elf, struct dwarf_file *f)
{
	const struct {
		const char *name;
		struct section *to;
	} wanted[] = {
		{ "info", &f->info },
		{ "abbrev", &f->abbrev },
		{ "line", &f->line },
		{ "str", &f->str },
		{ "line_str", &f->line_str },
		{ "ranges", &f->ranges },
		{ "rnglists", &f->rnglists },
		{ "addr", &f->addr },
		{ "str_offsets", &f->str_offsets },
	};
	const char *ending = f->is_split ? ".dwo" : "";
	for (size_t i = 1; i < elf->n_sections; i++) {
		const char *name = elf->sections[i].name;
		if (!strncmp(name, ".debug_", 7))
			name += 7;
		else if (!strncmp(name, ".zdebug_", 8))
			name += 8;
		else
			continue;
		for (size_t k = 0; k < ARRAY_LEN(wanted); k++) {
			size_t n = strlen(wanted[k].name);
			if (!strncmp(name, wanted[k].name, n) && !strcmp(name + n, ending))
				take_section(f, &elf->sections[i], wanted[k].to);
		}
	}
}

static void read_part(const struct dwarf_file *f, uint64_t from, uint64_t to)
{
	if (f->info_section)
		elf_file_read_part(f->elf, f->info_section, from, to);
}

void dwarf_unit_read(const struct dwarf_file *f, const struct dwarf_unit *u)
{
	struct dwarf_unit *own = &f->units.at[u - f->units.at];
	if (!own->is_read)
		read_part(f, u->offset, u->end);
	own->is_read = true;
}

/* ---- units ---- */

enum { UNIT_START = 1024 }; /* bytes: the header and the first entry, nearly always */

/* Leaves *c at the end of the unit. False if what follows cannot be units. */
static bool read_header(const struct dwarf_file *f, struct bytes *c, struct dwarf_unit *u)
{
	*u = (struct dwarf_unit){ .offset = (uint64_t)(c->pos - f->info.data), .offset_size = 4 };
	uint64_t length = bytes_u32(c);
	if (length == UINT32_MAX) {
		u->offset_size = 8;
		length = bytes_u64(c);
	}
	if (c->failed || length > bytes_left(c))
		return false;
	const uint8_t *start = c->pos;
	u->end = (uint64_t)(start - f->info.data) + length;

	u->version = (uint8_t)bytes_u16(c);
	u->type = DW_UT_compile;
	if (u->version >= 5) {
		u->type = bytes_u8(c);
		u->address_size = bytes_u8(c);
		u->abbrev = bytes_word(c, u->offset_size);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			u->split_id = bytes_u64(c);
		if (u->type == DW_UT_type || u->type == DW_UT_split_type) {
			bytes_u64(c);
			bytes_word(c, u->offset_size);
		}
	} else {
		u->abbrev = bytes_word(c, u->offset_size);
		u->address_size = bytes_u8(c);
	}
	u->entries = (uint64_t)(c->pos - f->info.data);
	bool good = !c->failed && u->version >= 2 && u->version <= 5 && u->entries <= u->end &&
		    (u->address_size == 2 || u->address_size == 4 || u->address_size == 8);
	u->damaged = !good;
	if (!good)
		u->entries = u->end;
	if (!c->failed) {
		c->pos = start;
		bytes_skip(c, length);
	}
	return true;
}

struct top_entry {
	struct dwarf_value name, comp_dir, producer, split_name, low, high, ranges;
};

static void take_attribute(struct dwarf_unit *u, struct top_entry *top, uint32_t name,
			   const struct dwarf_value *v)
{
	switch (name) {
	case DW_AT_name:
		top->name = *v;
		break;
	case DW_AT_comp_dir:
		top->comp_dir = *v;
		break;
	case DW_AT_producer:
		top->producer = *v;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		top->split_name = *v;
		break;
	case DW_AT_GNU_dwo_id:
		u->split_id = v->number;
		break;
	case DW_AT_GNU_ranges_base:
		u->old_ranges_base = v->number;
		break;
	case DW_AT_low_pc:
		top->low = *v;
		break;
	case DW_AT_high_pc:
		top->high = *v;
		break;
	case DW_AT_ranges:
		top->ranges = *v;
		break;
	case DW_AT_language:
		u->language = (uint16_t)v->number;
		break;
	case DW_AT_stmt_list:
		u->has_lines = v->kind == VALUE_NUMBER;
		u->lines = v->number;
		break;
	case DW_AT_str_offsets_base:
		u->str_offsets_base = v->number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = v->number;
		break;
	case DW_AT_rnglists_base:
		u->ranges_base = v->number;
		break;
	}
}

struct top_reader {
	struct abbrevs abbrevs; /* of the top entry only */
};

/* Reads the attributes of the top entry; false if they go beyond `end`. */
static bool read_attributes(struct dwarf_info *d, const struct dwarf_file *f, struct dwarf_unit *u,
			    uint64_t end, struct abbrevs *t, struct top_entry *ret)
{
	struct section unit = { f->info.data, end };
	struct bytes c = section_at(unit, u->entries, f->swap);
	uint64_t code = bytes_uleb(&c);
	struct top_entry top = { 0 };

	if (!c.failed && code && abbrevs_read_one(d, f, u, code, t)) {
		const struct abbrev *a = &t->at.at[0];
		u->tag = (uint16_t)a->tag;
		for (uint32_t i = 0; i < a->n_attributes && !c.failed; i++) {
			const struct attribute *at = &t->attributes.at[a->attributes + i];
			struct dwarf_value v =
				dwarf_value_read(d, f, u, &c, at->form, at->implicit);
			if (!c.failed)
				take_attribute(u, &top, at->name, &v);
		}
	}
	*ret = top;
	return !c.failed;
}

static void read_top_entry(struct dwarf_info *d, const struct dwarf_file *f, struct dwarf_unit *u,
			   struct top_reader *r)
{
	uint64_t start_end = u->offset + UNIT_START;
	if (f->is_split) {
		bool is_old = u->version < 5;
		u->low = f->low;
		u->addr_base = f->addr_base;
		u->str_offsets_base = is_old ? 0 : f->str_offsets_base;
		u->ranges_base = f->rnglists_base;
	}
	const struct dwarf_unit before = *u;
	struct top_entry top;

	if (start_end > u->end)
		start_end = u->end;
	if (!read_attributes(d, f, u, start_end, &r->abbrevs, &top) && start_end < u->end) {
		read_part(f, u->offset, u->end);
		*u = before;
		read_attributes(d, f, u, u->end, &r->abbrevs, &top);
	}

	/* Only now the bases of indices are known. */
	u->name = dwarf_value_string(f, u, &top.name);
	u->comp_dir = dwarf_value_string(f, u, &top.comp_dir);
	u->producer = dwarf_value_string(f, u, &top.producer);
	u->split_name = f->is_split ? NULL : dwarf_value_string(f, u, &top.split_name);
	dwarf_value_address(f, u, &top.low, &u->low);
	d->indexed_ranges = false;
	u->first_range = (uint32_t)d->ranges.n;
	d->ranges_left = d->top_ranges_left;
	dwarf_ranges_read(d, f, u, &top.low, &top.high, &top.ranges, &d->ranges);
	u->indexed_ranges = d->indexed_ranges;
	u->n_ranges = (uint32_t)(d->ranges.n - u->first_range);
	d->top_ranges_left = d->ranges_left;
}

static void read_units(struct dwarf_info *d, struct dwarf_file *f)
{
	struct bytes c = section_at(f->info, 0, f->swap);
	struct dwarf_unit u;
	struct top_reader r = { 0 };
	d->top_ranges_left = f->info.size / 8 + (f->ranges.size + f->rnglists.size) / 2 + 64;
	while (bytes_left(&c)) {
		uint64_t at = (uint64_t)(c.pos - f->info.data);
		read_part(f, at, at + UNIT_START);
		if (!read_header(f, &c, &u))
			break;
		read_top_entry(d, f, &u, &r);
		vec_push(&f->units, u);
	}
	abbrevs_done(&r.abbrevs);
}

const struct dwarf_unit *dwarf_unit_at(const struct dwarf_file *f, uint64_t offset)
{
	size_t low = COUNT_WHILE(f->units.n, i, f->units.at[i].end <= offset);
	return low < f->units.n && f->units.at[low].entries <= offset ? &f->units.at[low] : NULL;
}

/* ---- opening ---- */

static void open_file(struct dwarf_file *f, struct elf_file *elf)
{
	f->swap = elf->image.swap;
	f->elf = elf;
	find_sections(elf, f);
}

struct dwarf_info *dwarf_info_new(struct elf_file *file, struct elf_file *alt)
{
	struct dwarf_info *d = xalloc(sizeof(*d));
	open_file(&d->file, file);
	if (alt)
		open_file(&d->alt, alt);
	if (!d->file.info.size) {
		dwarf_info_free(d);
		return NULL;
	}
	read_units(d, &d->alt);
	d->ranges.n = 0;
	read_units(d, &d->file);
	return d;
}

void dwarf_info_free(struct dwarf_info *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_tables; i++)
		abbrevs_done(&d->tables[i]);
	free(d->tables);
	vec_free(&d->file.units);
	vec_free(&d->alt.units);
	vec_free(&d->ranges);
	map64_free(&d->names);
	vec_free(&d->named);
	free(d);
}

/* ---- split units ---- */

/* A unit's part of a section; the whole section without `parts`. */
static struct section part_of(struct section s, const struct dwarf_parts *parts,
			      enum dwarf_part part)
{
	if (!parts)
		return s;
	uint64_t offset = parts->of[part].offset, size = parts->of[part].size;
	if (!s.data || offset > s.size || size > s.size - offset)
		return (struct section){ 0 };
	return (struct section){ s.data + offset, size };
}

/* Reads all of the unit's part of .debug_info; no other part of the section is read later. */
static void take_part(struct dwarf_file *f, const struct dwarf_parts *parts)
{
	if (parts)
		read_part(f, parts->of[PART_INFO].offset,
			  parts->of[PART_INFO].offset + parts->of[PART_INFO].size);
	else
		read_part(f, 0, f->info.size);
	f->info_section = NULL;
	f->info = part_of(f->info, parts, PART_INFO);
	f->abbrev = part_of(f->abbrev, parts, PART_ABBREV);
	f->line = part_of(f->line, parts, PART_LINE);
	f->str_offsets = part_of(f->str_offsets, parts, PART_STR_OFFSETS);
	f->rnglists = part_of(f->rnglists, parts, PART_RNGLISTS);
}

/* Where the elements of a table in section s begin: behind the length, of 4 or 12 bytes, and
 * `behind_length` more bytes. */
static uint64_t header_size(const struct dwarf_file *f, struct section s, uint64_t behind_length)
{
	struct bytes b = section_at(s, 0, f->swap);
	return (bytes_u32(&b) == UINT32_MAX ? 12 : 4) + behind_length;
}

/* The files in which entries are declared are numbered by a line table without rows in the split
 * file (gcc), or by the skeleton's line table (clang). */
static void take_files(struct dwarf_file *f, const struct dwarf_file *first, struct dwarf_unit *u,
		       const struct dwarf_unit *skeleton)
{
	if (u->has_lines)
		return;
	u->has_lines = f->line.size || skeleton->has_lines;
	if (f->line.size)
		return;
	f->line = first->line;
	f->line_str = first->line_str;
	u->lines = skeleton->lines;
}

struct dwarf_info *dwarf_info_new_split(struct elf_file *file, const struct dwarf_parts *parts,
					const struct dwarf_file *first,
					const struct dwarf_unit *skeleton,
					const struct dwarf_unit **unit)
{
	struct dwarf_info *d = xalloc(sizeof(*d));
	struct dwarf_file *f = &d->file;
	f->is_split = true;
	f->low = skeleton->low;
	f->addr_base = skeleton->addr_base;
	f->old_ranges_base = skeleton->old_ranges_base;
	open_file(f, file);
	take_part(f, parts);
	f->str_offsets_base = header_size(f, f->str_offsets, 4);
	f->rnglists_base = header_size(f, f->rnglists, 8);
	f->addr = first->addr;
	f->ranges = first->ranges;
	read_units(d, f);
	for (size_t i = 0; i < f->units.n; i++) {
		const struct dwarf_unit *u = &f->units.at[i];
		if (u->tag == DW_TAG_compile_unit && u->split_id == skeleton->split_id) {
			take_files(f, first, &f->units.at[i], skeleton);
			*unit = u;
			return d;
		}
	}
	dwarf_info_free(d);
	return NULL;
}

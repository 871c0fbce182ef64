/* dwarf_function.c - functions of a unit: their ranges and names, read from .debug_info. */
#include <dwarf.h>
#include <stdlib.h>

#include "object/dwarf_abbrev.h"

enum {
	MAX_HOPS = 32,       /* from an entry to what it refers to, to what that refers to ... */
	MAX_NAMES = 1 << 20, /* remembered at a time */
};

/* ---- entries ---- */

void dwarf_entry_read(struct dwarf_info *d, const struct dwarf_file *f, const struct dwarf_unit *u,
		      const struct abbrevs *t, const struct abbrev *a, struct bytes *c,
		      struct dwarf_entry *ret)
{
	*ret = (struct dwarf_entry){ .tag = a->tag };
	for (uint32_t i = 0; i < a->n_attributes && !c->failed; i++) {
		const struct attribute *at = &t->attributes.at[a->attributes + i];
		struct dwarf_value v = dwarf_value_read(d, f, u, c, at->form, at->implicit);
		switch (at->name) {
		case DW_AT_name:
			ret->name = v;
			break;
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			ret->linkage_name = v;
			break;
		case DW_AT_abstract_origin:
		case DW_AT_specification:
			ret->origin = v;
			break;
		case DW_AT_low_pc:
			ret->low = v;
			break;
		case DW_AT_high_pc:
			ret->high = v;
			break;
		case DW_AT_ranges:
			ret->ranges = v;
			break;
		case DW_AT_decl_file:
			ret->decl_file = v.number;
			break;
		case DW_AT_decl_line:
			ret->decl_line = v.number;
			break;
		case DW_AT_decl_column:
			ret->decl_column = v.number;
			break;
		}
	}
}

struct dwarf_function dwarf_entry_function(const struct dwarf_file *f, const struct dwarf_unit *u,
					   const struct dwarf_entry *e)
{
	return (struct dwarf_function){
		.name = dwarf_value_string(f, u, &e->name),
		.linkage_name = dwarf_value_string(f, u, &e->linkage_name),
		.has_origin = e->origin.kind == VALUE_ENTRY,
		.origin_alt = e->origin.alt,
		.origin = e->origin.number,
	};
}

/* How many ranges (for dwarf_info.ranges_left) the functions of a unit may have: more than its size
 * and that of all lists can account for are made by referring to the same ones again and again. */
static size_t ranges_justified(const struct dwarf_file *f, const struct dwarf_unit *u)
{
	size_t size = u->end - u->offset, lists = f->ranges.size + f->rnglists.size;
	size_t by_unit = size * 8 + 4096, by_lists = size / 8 + lists / 2 + 64;
	return by_unit < by_lists ? by_unit : by_lists;
}

/* References to the entry before are not followed: the reading would not end. */
bool abbrevs_skip_entry(const struct dwarf_unit *u, const struct abbrevs *t, const struct abbrev *a,
			struct bytes *c)
{
	const uint8_t *fields = c->pos;
	abbrevs_skip(t, a, c);
	if (!a->sibling || c->failed)
		return false;
	struct bytes at = *c;
	at.pos = fields + (a->sibling - 1);
	uint64_t next = u->offset + bytes_u32(&at), unit_size = u->end - u->offset;
	size_t entry_end = unit_size - bytes_left(c);
	if (at.failed || next - u->offset < entry_end || next > u->end)
		return false;
	bytes_skip(c, next - u->offset - entry_end);
	return true;
}

void dwarf_functions_read(struct dwarf_info *d, const struct dwarf_unit *u, bool no_indexed_ranges,
			  struct dwarf_functions *ret)
{
	const struct dwarf_file *f = &d->file;
	const struct abbrevs *t = abbrevs_of(d, f, u);
	struct bytes c = section_at((struct section){ f->info.data, u->end }, u->entries, f->swap);
	uint32_t depth = 0;
	dwarf_info_read_entries(f);

	ret->at.n = ret->ranges.n = 0;
	ret->indexed_ranges = d->indexed_ranges = false;
	if (!t)
		return;
	d->ranges_left = ranges_justified(f, u);
	while (bytes_left(&c)) {
		uint64_t offset = (uint64_t)(c.pos - f->info.data), code = bytes_uleb(&c);
		if (!code) {
			depth -= depth > 0;
			continue;
		}
		const struct abbrev *a = abbrevs_find(t, code);
		if (!a || c.failed)
			return;
		if (a->has_code) {
			struct dwarf_entry e;
			dwarf_entry_read(d, f, u, t, a, &c, &e);
			if (c.failed)
				return;
			if (no_indexed_ranges && e.ranges.kind == VALUE_RANGES_INDEX)
				e.ranges.kind = VALUE_NONE;
			size_t first = ret->ranges.n;
			dwarf_ranges_read(d, f, u, &e.low, &e.high, &e.ranges, &ret->ranges);
			ret->indexed_ranges |= d->indexed_ranges;
			if (ret->ranges.n > first) {
				struct dwarf_function function = dwarf_entry_function(f, u, &e);
				function.offset = offset;
				function.is_inlined = a->tag == DW_TAG_inlined_subroutine;
				function.depth = depth;
				function.first_range = (uint32_t)first;
				function.n_ranges = (uint32_t)(ret->ranges.n - first);
				vec_push(&ret->at, function);
			}
		} else if (abbrevs_skip_entry(u, t, a, &c)) {
			continue;
		}
		depth += a->children;
	}
}

void dwarf_functions_free(struct dwarf_functions *f)
{
	vec_free(&f->at);
	vec_free(&f->ranges);
}

/* ---- names ---- */

/* As far as BFD knows them. */
bool dwarf_is_unmangled(uint16_t language)
{
	static const uint16_t unmangled[] = {
		DW_LANG_C89,       DW_LANG_C,        DW_LANG_Cobol74,       DW_LANG_Cobol85,
		DW_LANG_Fortran77, DW_LANG_Pascal83, DW_LANG_C99,           DW_LANG_PLI,
		DW_LANG_UPC,       DW_LANG_C11,      DW_LANG_Mips_Assembler
	};
	for (size_t i = 0; i < ARRAY_LEN(unmangled); i++)
		if (language == unmangled[i])
			return true;
	return false;
}

const struct dwarf_unit *dwarf_function_at(struct dwarf_info *d, bool alt, uint64_t offset,
					   struct dwarf_function *ret)
{
	const struct dwarf_file *f = alt ? &d->alt : &d->file;
	const struct dwarf_unit *u = dwarf_unit_at(f, offset);
	const struct abbrevs *t = u ? abbrevs_of(d, f, u) : NULL;
	if (!t)
		return NULL;
	dwarf_info_read_entries(f);
	struct bytes c = section_at((struct section){ f->info.data, u->end }, offset, f->swap);
	const struct abbrev *a = abbrevs_find(t, bytes_uleb(&c));
	struct dwarf_entry e;
	if (!a || c.failed)
		return NULL;
	dwarf_entry_read(d, f, u, t, a, &c, &e);
	if (c.failed)
		return NULL;
	*ret = dwarf_entry_function(f, u, &e);
	return u;
}

static struct dwarf_name find_name(struct dwarf_info *d, const struct dwarf_unit *u,
				   struct dwarf_function f)
{
	struct dwarf_name ret = { 0 };
	for (int hops = 0;; hops++) {
		if (f.linkage_name)
			return (struct dwarf_name){ f.linkage_name, true };
		if (f.name && !ret.name)
			ret = (struct dwarf_name){ f.name, dwarf_is_unmangled(u->language) };
		if (!f.has_origin || hops == MAX_HOPS ||
		    !(u = dwarf_function_at(d, f.origin_alt, f.origin, &f)))
			return ret;
	}
}

const char *dwarf_function_name(struct dwarf_info *d, const struct dwarf_unit *u,
				const struct dwarf_function *f, bool *linkage)
{
	if (f->linkage_name || !f->has_origin) {
		*linkage = f->linkage_name || dwarf_is_unmangled(u->language);
		return f->linkage_name ? f->linkage_name : f->name;
	}
	/* Inlined functions refer to few others, many times. */
	if (d->named.n >= MAX_NAMES) {
		map64_free(&d->names);
		d->named.n = 0;
	}
	uint32_t *at = f->name ? NULL : map64_at(&d->names, f->origin << 1 | f->origin_alt);
	if (at && *at != NONE) {
		*linkage = d->named.at[*at].linkage;
		return d->named.at[*at].name;
	}
	struct dwarf_name name = find_name(d, u, *f);
	if (at) {
		*at = (uint32_t)d->named.n;
		vec_push(&d->named, name);
	}
	*linkage = name.linkage;
	return name.name;
}

#include <dwarf.h>
#include <stdlib.h>

#include "object/dwarf_abbrev.h"

enum {
	MAX_HOPS = 32,       /* from an entry to what it refers to, to what that refers to ... */
	MAX_NAMES = 1 << 20, /* remembered at a time */
};

/* ---- entries ---- */

struct function_entry {
	struct dwarf_value name, linkage_name, origin, low, high, ranges;
};

static void read_function(struct dwarf_info *d, const struct dwarf_file *f,
			  const struct dwarf_unit *u, const struct abbrevs *t,
			  const struct abbrev *a, struct cursor *c, struct function_entry *ret)
{
	*ret = (struct function_entry){ 0 };
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
		}
	}
}

static struct dwarf_function names_of(const struct dwarf_file *f, const struct dwarf_unit *u,
				      const struct function_entry *e)
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

/* Moves past an entry without interest, and what is below it if that is known to have none either:
 * true if so. References to the entry before are not followed: the reading would not end. */
static bool skip_entry(const struct dwarf_unit *u, const struct abbrevs *t, const struct abbrev *a,
		       struct cursor *c)
{
	const uint8_t *fields = c->pos;
	abbrevs_skip(t, a, c);
	if (!a->sibling || c->failed)
		return false;
	struct cursor at = *c;
	at.pos = fields + (a->sibling - 1);
	uint64_t next = u->offset + cursor_u32(&at), unit_size = u->end - u->offset;
	size_t entry_end = unit_size - cursor_left(c);
	if (at.failed || next - u->offset < entry_end || next > u->end)
		return false;
	cursor_skip(c, next - u->offset - entry_end);
	return true;
}

void dwarf_functions_read(struct dwarf_info *d, const struct dwarf_unit *u, bool no_indexed_ranges,
			  struct dwarf_functions *ret)
{
	const struct dwarf_file *f = &d->file;
	const struct abbrevs *t = abbrevs_of(d, f, u);
	struct cursor c = cursor_at((struct section){ f->info.data, u->end }, u->entries, f->swap);
	uint32_t depth = 0;
	dwarf_info_read_entries(f);

	ret->at.n = ret->ranges.n = 0;
	ret->indexed_ranges = d->indexed_ranges = false;
	if (!t)
		return;
	d->ranges_left = ranges_justified(f, u);
	while (cursor_left(&c)) {
		uint64_t code = cursor_uleb(&c);
		if (!code) {
			depth -= depth > 0;
			continue;
		}
		const struct abbrev *a = abbrevs_find(t, code);
		if (!a || c.failed)
			return;
		if (a->has_code) {
			struct function_entry e;
			read_function(d, f, u, t, a, &c, &e);
			if (c.failed)
				return;
			if (no_indexed_ranges && e.ranges.kind == VALUE_RANGES_INDEX)
				e.ranges.kind = VALUE_NONE;
			size_t first = ret->ranges.n;
			dwarf_ranges_read(d, f, u, &e.low, &e.high, &e.ranges, &ret->ranges);
			ret->indexed_ranges |= d->indexed_ranges;
			if (ret->ranges.n > first) {
				struct dwarf_function function = names_of(f, u, &e);
				function.is_inlined = a->tag == DW_TAG_inlined_subroutine;
				function.depth = depth;
				function.first_range = (uint32_t)first;
				function.n_ranges = (uint32_t)(ret->ranges.n - first);
				vec_push(&ret->at, function);
			}
		} else if (skip_entry(u, t, a, &c)) {
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

/* Languages whose names the linker sees as they are, as far as BFD knows them. */
static bool is_unmangled(uint16_t language)
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

/* The entry at an offset, as a function. */
static const struct dwarf_unit *read_referred(struct dwarf_info *d, bool alt, uint64_t offset,
					      struct dwarf_function *ret)
{
	const struct dwarf_file *f = alt ? &d->alt : &d->file;
	const struct dwarf_unit *u = dwarf_unit_at(f, offset);
	const struct abbrevs *t = u ? abbrevs_of(d, f, u) : NULL;
	if (!t)
		return NULL;
	dwarf_info_read_entries(f);
	struct cursor c = cursor_at((struct section){ f->info.data, u->end }, offset, f->swap);
	const struct abbrev *a = abbrevs_find(t, cursor_uleb(&c));
	struct function_entry e;
	if (!a || c.failed)
		return NULL;
	read_function(d, f, u, t, a, &c, &e);
	if (c.failed)
		return NULL;
	*ret = names_of(f, u, &e);
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
			ret = (struct dwarf_name){ f.name, is_unmangled(u->language) };
		if (!f.has_origin || hops == MAX_HOPS ||
		    !(u = read_referred(d, f.origin_alt, f.origin, &f)))
			return ret;
	}
}

const char *dwarf_function_name(struct dwarf_info *d, const struct dwarf_unit *u,
				const struct dwarf_function *f, bool *linkage)
{
	if (f->linkage_name || !f->has_origin) {
		*linkage = f->linkage_name || is_unmangled(u->language);
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

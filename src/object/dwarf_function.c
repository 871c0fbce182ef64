/* dwarf_function.c - functions of a unit: their ranges and names, read from .debug_info. */
#include <dwarf.h>
#include <stdlib.h>

#include "base/search.h"
#include "object/dwarf_abbrev.h"

enum {
	MAX_HOPS = 32,       /* references followed from one entry */
	MAX_NAMES = 1 << 20, /* names remembered at a time */
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
		case DW_AT_sibling:
			ret->sibling = v;
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
		case DW_AT_call_file:
			ret->call_file = v.number;
			break;
		case DW_AT_call_line:
			ret->call_line = v.number;
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
		.call_file = (uint32_t)e->call_file,
		.call_line = (uint32_t)e->call_line,
	};
}

/* How many ranges (for dwarf_info.ranges_left) the functions of a unit may have. A unit with more
 * than its size and the size of all lists account for refers to the same lists again and again. */
static size_t ranges_justified(const struct dwarf_file *f, const struct dwarf_unit *u)
{
	size_t size = u->end - u->offset, lists = f->ranges.size + f->rnglists.size;
	size_t by_unit = size * 8 + 4096, by_lists = size / 8 + lists / 2 + 64;
	return by_unit < by_lists ? by_unit : by_lists;
}

/* Moves *c, which is in unit u, forward to the entry at `next`. False if `next` lies before *c or
 * outside the unit: if references went backwards, the reading would not end. */
static bool skip_to(const struct dwarf_unit *u, uint64_t next, struct bytes *c)
{
	uint64_t at = u->end - bytes_left(c);
	if (next < at || next > u->end)
		return false;
	bytes_skip(c, next - at);
	return true;
}

bool abbrevs_skip_entry(const struct dwarf_unit *u, const struct abbrevs *t, const struct abbrev *a,
			struct bytes *c)
{
	const uint8_t *fields = c->pos;
	abbrevs_skip(t, a, c);
	if (!a->sibling || c->failed)
		return false;
	struct bytes at = *c;
	at.pos = fields + (a->sibling - 1);
	uint64_t next = u->offset + bytes_u32(&at);
	return !at.failed && skip_to(u, next, c);
}

/* ---- the functions of a unit ---- */

struct function_reader {
	struct dwarf_info *d;
	const struct dwarf_unit *u;
	bool no_indexed_ranges;
	const struct address_ranges *in; /* NULL: everywhere */
	bool *is_found;      /* [in->n]: a function was read that contains the range's start */
	bool has_skipped;    /* the children of some function were skipped */
	uint32_t skipped_in; /* depth of the function whose children are being skipped; UINT32_MAX:
				none are */
	struct dwarf_functions *ret;
};

size_t ranges_first(const struct address_ranges *r, uint64_t addr)
{
	return COUNT_WHILE(r->n, i, r->at[i].high <= addr);
}

bool ranges_meet(const struct address_ranges *r, uint64_t low, uint64_t high)
{
	size_t i = ranges_first(r, low);
	return i < r->n && r->at[i].low < high;
}

/* Marks the requested ranges that begin in [low, high) as found. */
static void mark_found(struct function_reader *r, uint64_t low, uint64_t high)
{
	const struct address_ranges *in = r->in;
	for (size_t i = ranges_first(in, low); i < in->n && in->at[i].low < high; i++)
		r->is_found[i] |= low <= in->at[i].low;
}

/* Whether the function has requested code, which is then marked as found unless inlined. */
static bool find_asked(struct function_reader *r, const struct dwarf_function *f)
{
	bool ret = !r->in;
	for (uint32_t k = 0; r->in && k < f->n_ranges; k++) {
		struct address_range at = r->ret->ranges.at[f->first_range + k];
		ret |= ranges_meet(r->in, at.low, at.high);
		if (!f->is_inlined)
			mark_found(r, at.low, at.high);
	}
	return ret;
}

/* Whether all requested ranges of the unit were found. A missing one may be in a function that is
 * declared inside another one, as in Fortran and OpenMP. */
static bool all_found(const struct function_reader *r)
{
	const struct address_ranges *in = r->in;
	for (uint32_t k = 0; k < r->u->n_ranges; k++) {
		struct address_range at = r->d->ranges.at[r->u->first_range + k];
		for (size_t i = ranges_first(in, at.low); i < in->n && in->at[i].low < at.high; i++)
			if (!r->is_found[i])
				return false;
	}
	return r->u->n_ranges;
}

/* Appends a function with code, at `depth`, to the list. The children of a function without
 * requested code are skipped; true if *c is behind them already. */
static bool read_function(struct function_reader *r, const struct abbrevs *t,
			  const struct abbrev *a, uint64_t offset, uint32_t depth, struct bytes *c)
{
	const struct dwarf_file *f = &r->d->file;
	struct dwarf_functions *ret = r->ret;
	struct dwarf_entry e;
	size_t first = ret->ranges.n;

	dwarf_entry_read(r->d, f, r->u, t, a, c, &e);
	if (c->failed)
		return false;
	if (r->no_indexed_ranges && e.ranges.kind == VALUE_RANGES_INDEX)
		e.ranges.kind = VALUE_NONE;
	dwarf_ranges_read(r->d, f, r->u, &e.low, &e.high, &e.ranges, &ret->ranges);
	ret->indexed_ranges |= r->d->indexed_ranges;
	if (ret->ranges.n == first)
		return false;
	struct dwarf_function function = dwarf_entry_function(f, r->u, &e);
	function.offset = offset;
	function.is_inlined = a->tag == DW_TAG_inlined_subroutine;
	function.depth = depth;
	function.first_range = (uint32_t)first;
	function.n_ranges = (uint32_t)(ret->ranges.n - first);
	vec_push(&ret->at, function);
	if (find_asked(r, &function) || !a->children)
		return false;
	r->has_skipped = true;
	if (e.sibling.kind == VALUE_ENTRY && !e.sibling.alt && skip_to(r->u, e.sibling.number, c))
		return true;
	r->skipped_in = depth;
	return false;
}

static void read_functions(struct function_reader *r)
{
	const struct dwarf_unit *u = r->u;
	const struct dwarf_file *f = &r->d->file;
	const struct abbrevs *t = abbrevs_of(r->d, f, u);
	struct bytes c = section_at((struct section){ f->info.data, u->end }, u->entries, f->swap);
	uint32_t depth = 0;
	dwarf_unit_read(f, u);

	r->ret->at.n = r->ret->ranges.n = 0;
	r->ret->indexed_ranges = r->d->indexed_ranges = false;
	r->skipped_in = UINT32_MAX;
	if (!t)
		return;
	r->d->ranges_left = ranges_justified(f, u);
	while (bytes_left(&c)) {
		uint64_t offset = (uint64_t)(c.pos - f->info.data), code = bytes_uleb(&c);
		if (!code) {
			depth -= depth > 0;
			if (depth <= r->skipped_in)
				r->skipped_in = UINT32_MAX;
			continue;
		}
		const struct abbrev *a = abbrevs_find(t, code);
		if (!a || c.failed)
			return;
		bool is_behind = a->has_code && depth <= r->skipped_in
					 ? read_function(r, t, a, offset, depth, &c)
					 : abbrevs_skip_entry(u, t, a, &c);
		depth += a->children && !is_behind;
	}
}

void dwarf_functions_read(struct dwarf_info *d, const struct dwarf_unit *u,
			  const struct address_ranges *in, bool no_indexed_ranges,
			  struct dwarf_functions *ret)
{
	struct function_reader r = {
		.d = d, .u = u, .no_indexed_ranges = no_indexed_ranges, .in = in, .ret = ret
	};
	if (in)
		r.is_found = xalloc((in->n + 1) * sizeof(*r.is_found));
	read_functions(&r);
	if (r.has_skipped && !all_found(&r)) {
		r.in = NULL;
		read_functions(&r);
	}
	free(r.is_found);
}

void dwarf_functions_free(struct dwarf_functions *f)
{
	vec_free(&f->at);
	vec_free(&f->ranges);
}

/* ---- names ---- */

/* The languages that BFD counts as unmangled. */
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
	dwarf_unit_read(f, u);
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
	/* Inlined functions refer to few others, many times: remember those names. */
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

/* dwarf_abbrev.c - reads abbreviation tables, and sums up which of their entries can be skipped. */
#include "object/dwarf_abbrev.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"

enum {
	TABLES = 1024,   /* tables kept, by a hash of their offset */
	KEPT = 64 << 20, /* bytes of .debug_abbrev that all kept tables together may cover */
	READ_AGAIN = 64, /* how often all of .debug_abbrev may be read, before it is hostile */
	SKIP_UNKNOWN = UINT8_MAX,
};

/* ---- forms ---- */

static struct skip form_skip(const struct abbrevs *t, uint64_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return (struct skip){ SKIP_FIXED, 0 };
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return (struct skip){ SKIP_FIXED, 1 };
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return (struct skip){ SKIP_FIXED, 2 };
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return (struct skip){ SKIP_FIXED, 3 };
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return (struct skip){ SKIP_FIXED, 4 };
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return (struct skip){ SKIP_FIXED, 8 };
	case DW_FORM_data16:
		return (struct skip){ SKIP_FIXED, 16 };
	case DW_FORM_addr:
		return (struct skip){ SKIP_FIXED, t->address_size };
	case DW_FORM_ref_addr:
		return (struct skip){ SKIP_FIXED, t->reference_size };
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return (struct skip){ SKIP_FIXED, t->offset_size };
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return (struct skip){ SKIP_LEB, 0 };
	case DW_FORM_string:
		return (struct skip){ SKIP_STRING, 0 };
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return (struct skip){ SKIP_BLOCK, 0 };
	case DW_FORM_block1:
		return (struct skip){ SKIP_BLOCK1, 0 };
	case DW_FORM_block2:
		return (struct skip){ SKIP_BLOCK2, 0 };
	case DW_FORM_block4:
		return (struct skip){ SKIP_BLOCK4, 0 };
	}
	return (struct skip){ SKIP_INDIRECT, form == DW_FORM_indirect ? 0 : SKIP_UNKNOWN };
}

void abbrevs_skip_indirect(struct bytes *c, const struct abbrevs *t)
{
	/* The form itself stands in front of the value; a chain of indirections ends with the
	 * bytes. */
	struct abbrev one = { .n_skips = 1 };
	struct skip skip;
	do
		skip = form_skip(t, bytes_uleb(c));
	while (skip.kind == SKIP_INDIRECT && skip.size != SKIP_UNKNOWN && !c->failed);
	if (skip.kind == SKIP_INDIRECT) {
		bytes_fail(c);
		return;
	}
	struct abbrevs single = { .skips = { .at = &skip, .n = 1 } };
	abbrevs_skip(&single, &one, c);
}

/* ---- tables ---- */

static void add_skip(struct abbrevs *t, struct abbrev *a, struct skip s)
{
	if (s.kind == SKIP_FIXED) {
		struct skip *last = a->n_skips ? &t->skips.at[t->skips.n - 1] : NULL;
		if (!s.size)
			return;
		if (last && last->kind == SKIP_FIXED && last->size < UINT32_MAX - s.size) {
			last->size += s.size;
			return;
		}
	}
	vec_push(&t->skips, s);
	a->n_skips++;
}

static bool is_function(uint32_t tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_entry_point;
}

/* Declarations have only parameters, and these types have no functions. */
static bool holds_no_code(const struct abbrev *a, bool declared)
{
	switch (a->tag) {
	case DW_TAG_subprogram:
		return declared && !a->has_code;
	case DW_TAG_enumeration_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_array_type:
		return true;
	}
	return false;
}

/* Properties of an abbreviation that are computed before its entries are met. */
static void sum_up(const struct abbrevs *t, struct abbrev *a)
{
	bool low = false, high = false, ranges = false, declared = false, fixed = true;
	uint32_t before = 0; /* bytes of the fields so far */
	uint32_t sibling = 0;

	for (uint32_t i = 0; i < a->n_attributes; i++) {
		const struct attribute *at = &t->attributes.at[a->attributes + i];
		struct skip s = form_skip(t, at->form);
		low |= at->name == DW_AT_low_pc;
		high |= at->name == DW_AT_high_pc;
		ranges |= at->name == DW_AT_ranges;
		declared |= at->name == DW_AT_declaration && at->form == DW_FORM_flag_present;
		if (at->name == DW_AT_sibling && at->form == DW_FORM_ref4 && fixed)
			sibling = 1 + before;
		fixed &= s.kind == SKIP_FIXED && before <= UINT32_MAX - 1 - s.size;
		before += fixed ? s.size : 0;
	}
	a->has_code = is_function(a->tag) && (ranges || (low && high));
	a->is_fixed = fixed;
	a->fixed_size = fixed ? before : 0;
	a->sibling = a->children && holds_no_code(a, declared) ? sibling : 0;
}

/* Reads an abbreviation, whose code has been read, and appends it to *t. False if it is damaged. */
static bool read_body(struct abbrevs *t, struct bytes *c, uint64_t code)
{
	struct abbrev a = { .code = code,
			    .attributes = (uint32_t)t->attributes.n,
			    .skips = (uint32_t)t->skips.n };
	a.tag = (uint32_t)bytes_uleb(c);
	a.children = bytes_u8(c);
	for (;;) {
		struct attribute attribute = { 0 };
		attribute.name = (uint32_t)bytes_uleb(c);
		attribute.form = (uint32_t)bytes_uleb(c);
		if (attribute.form == DW_FORM_implicit_const)
			attribute.implicit = bytes_sleb(c);
		if (c->failed)
			return false;
		if (!attribute.name && !attribute.form)
			break;
		struct skip s = form_skip(t, attribute.form);
		if (s.kind == SKIP_INDIRECT && s.size == SKIP_UNKNOWN)
			return false;
		vec_push(&t->attributes, attribute);
		a.n_attributes++;
		add_skip(t, &a, s);
	}
	sum_up(t, &a);
	vec_push(&t->at, a);
	return true;
}

/* False at the end of the table. */
static bool read_abbrev(struct abbrevs *t, struct bytes *c)
{
	uint64_t code = bytes_uleb(c);
	return code && !c->failed && read_body(t, c, code);
}

void abbrevs_done(struct abbrevs *t)
{
	vec_free(&t->at);
	vec_free(&t->attributes);
	vec_free(&t->skips);
}

static struct abbrevs table_for(const struct dwarf_file *f, const struct dwarf_unit *u)
{
	return (struct abbrevs){
		.file = f,
		.offset = u->abbrev,
		.address_size = u->address_size,
		.offset_size = u->offset_size,
		.reference_size = u->version <= 2 ? u->address_size : u->offset_size,
	};
}

static bool same_sizes(const struct abbrevs *a, const struct abbrevs *b)
{
	return a->address_size == b->address_size && a->offset_size == b->offset_size &&
	       a->reference_size == b->reference_size;
}

static bool same_table(const struct abbrevs *a, const struct abbrevs *b)
{
	return a->file == b->file && a->offset == b->offset && same_sizes(a, b);
}

/* Many small units may point to one large table: reading it for each would take for ever. */
static bool may_read(struct dwarf_info *d, const struct dwarf_file *f, size_t bytes)
{
	d->abbrev_bytes_read += bytes;
	return d->abbrev_bytes_read / READ_AGAIN <= f->abbrev.size + KEPT;
}

/* Marks the known one-byte forms that have no value in the abbreviation table. */
static void find_plain_forms(bool *plain)
{
	static const struct abbrevs any;
	for (uint8_t form = 0; form < 0x80; form++) {
		struct skip s = form_skip(&any, form);
		bool known = s.kind != SKIP_INDIRECT || s.size != SKIP_UNKNOWN;
		plain[form] = known && form != DW_FORM_implicit_const;
	}
}

/* Moves past pairs of a one-byte name and a plain form: nearly all pairs are such. */
static void skip_plain(const bool *plain, struct bytes *c)
{
	const uint8_t *p = c->pos;
	while (c->end - p >= 2 && p[0] < 0x80 && plain[p[1]])
		p += 2;
	c->pos = p;
}

/* Moves past an abbreviation whose code has been read; false where read_body() returns false. */
static bool skip_abbrev(const bool *plain, const struct abbrevs *t, struct bytes *c)
{
	bytes_uleb(c); /* tag */
	bytes_u8(c);   /* children */
	for (;;) {
		skip_plain(plain, c);
		uint32_t name = (uint32_t)bytes_uleb(c);
		uint32_t form = (uint32_t)bytes_uleb(c);
		if (form == DW_FORM_implicit_const)
			bytes_sleb(c);
		if (c->failed)
			return false;
		if (!name && !form)
			return true;
		struct skip s = form_skip(t, form);
		if (s.kind == SKIP_INDIRECT && s.size == SKIP_UNKNOWN)
			return false;
	}
}

/* Whether the next abbreviation, behind its code, equals the one in *t but for the code. */
static bool is_same_body(const struct abbrevs *t, const struct abbrevs *want, const struct bytes *c)
{
	return t->at.n && same_sizes(t, want) && bytes_left(c) >= t->bytes &&
	       !memcmp(c->pos, t->body, t->bytes);
}

/* Reads the abbreviation at *c, behind its code. Most units begin like the one before. */
static bool read_single(struct abbrevs *t, const struct abbrevs *want, struct bytes *c,
			uint64_t code)
{
	if (is_same_body(t, want, c)) {
		t->at.at[0].code = code;
		bytes_skip(c, t->bytes);
		return true;
	}
	abbrevs_done(t);
	*t = *want;
	t->body = c->pos;
	bool found = read_body(t, c, code);
	t->bytes = (size_t)(c->pos - t->body);
	return found;
}

/* Dozens of abbreviations may stand before the wanted one, as in the debug files of Debian. */
bool abbrevs_read_one(struct dwarf_info *d, const struct dwarf_file *f, const struct dwarf_unit *u,
		      uint64_t code, struct abbrevs *t)
{
	struct bytes c = section_at(f->abbrev, u->abbrev, f->swap);
	const struct abbrevs want = table_for(f, u);
	const uint8_t *start = c.pos;
	bool found = false;
	if (!d->plain_forms[DW_FORM_addr])
		find_plain_forms(d->plain_forms);
	for (;;) {
		uint64_t here = bytes_uleb(&c);
		if (here == code)
			found = read_single(t, &want, &c, code);
		if (!here || here == code || !skip_abbrev(d->plain_forms, &want, &c))
			break;
	}
	return may_read(d, f, (size_t)(c.pos - start)) && found;
}

static int by_code(const void *a, const void *b)
{
	const struct abbrev *l = a, *r = b;
	if (l->code != r->code)
		return l->code < r->code ? -1 : 1;
	return ORDER(l->attributes, r->attributes);
}

const struct abbrev *abbrevs_find_sparse(const struct abbrevs *t, uint64_t code)
{
	size_t low = COUNT_WHILE(t->at.n, i, t->at.at[i].code < code);
	return low < t->at.n && t->at.at[low].code == code ? &t->at.at[low] : NULL;
}

static void read_table(struct abbrevs *t, struct bytes c)
{
	const uint8_t *start = c.pos;
	while (read_abbrev(t, &c))
		;
	t->bytes = (size_t)(c.pos - start);
	t->dense = true;
	for (size_t i = 0; i < t->at.n && t->dense; i++)
		t->dense = t->at.at[i].code == i + 1;
	if (!t->dense)
		qsort(t->at.at, t->at.n, sizeof(*t->at.at), by_code);
}

static void drop_all(struct dwarf_info *d)
{
	for (size_t i = 0; i < d->n_tables; i++) {
		abbrevs_done(&d->tables[i]);
		d->tables[i] = (struct abbrevs){ 0 };
	}
	d->table_bytes = 0;
}

const struct abbrevs *abbrevs_of(struct dwarf_info *d, const struct dwarf_file *f,
				 const struct dwarf_unit *u)
{
	if (!d->tables) {
		d->tables = xalloc(TABLES * sizeof(*d->tables));
		d->n_tables = TABLES;
	}
	struct abbrevs want = table_for(f, u);
	struct abbrevs *t = &d->tables[(u->abbrev * 0x9e3779b97f4a7c15u) >> 32 & (TABLES - 1)];
	if (same_table(t, &want))
		return t;

	if (!may_read(d, f, 0))
		return NULL;
	if (d->table_bytes > KEPT)
		drop_all(d);
	d->table_bytes -= t->bytes;
	abbrevs_done(t);
	*t = want;
	read_table(t, section_at(f->abbrev, u->abbrev, f->swap));
	d->table_bytes += t->bytes;
	may_read(d, f, t->bytes);
	return t;
}

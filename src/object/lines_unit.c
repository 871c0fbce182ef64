/* lines_unit.c - the lines of one unit.
 *
 * A sequence of the line table counts only if it starts in code: what the linker dropped starts at
 * 0 or -1. The function at an address is the innermost one. A function without a linkage name (a
 * static one of C++) is named by its symbol, if it has one. The rest of a row behind the end of a
 * function is padding, and belongs to that function. For rules other than these see struct
 * unit_rules. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "object/dwarf_abbrev.h"
#include "object/lines_private.h"

const struct unit_rules unit_rules = { .left_out = UNIT_NO_CODE, .repeated = UNIT_CODE_REPEATED };

struct unit_reader {
	struct object_lines *l;
	const struct dwarf_unit *unit;
	struct unit_entries entries;
	const struct unit_rules *rules;
	const struct address_ranges *in; /* the requested ranges; NULL: all */
	struct run_list *out;
	size_t first; /* index of the unit's first run in out */
	/* Indices in `in` and in l->pieces: the first that ends after what was emitted, as rows are
	 * by address. */
	size_t asked, piece;
};

/* ---- code ---- */

/* The executable section that holds addr; NULL if none does. */
static const struct code_range *code_at(const struct object_file *o, uint64_t addr)
{
	size_t i = elf_file_code_after(o->main, addr);
	return i < o->main->n_code && o->main->code[i].low <= addr ? &o->main->code[i] : NULL;
}

static void drop_dead(const struct object_file *o, struct line_table *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->sequences.n; i++)
		if (code_at(o, t->sequences.at[i].low))
			t->sequences.at[n++] = t->sequences.at[i];
	t->sequences.n = n;
}

/* ---- functions ---- */

static void find_pieces(struct unit_reader *r)
{
	const struct dwarf_functions *f = &r->l->functions;
	struct intervals *v = &r->l->pieces;
	v->n = 0;
	for (size_t i = 0; i < f->at.n; i++) {
		const struct dwarf_function *function = &f->at.at[i];
		for (uint32_t k = 0; k < function->n_ranges; k++) {
			struct address_range a = f->ranges.at[function->first_range + k];
			if (r->in && !ranges_meet(r->in, a.low, a.high))
				continue;
			uint64_t rank = r->rules->shortest_wins ? UINT64_MAX - (a.high - a.low)
								: function->depth;
			vec_push(v, ((struct interval){ a.low, a.high, rank, (uint32_t)i,
							(uint32_t)i }));
		}
	}
	intervals_flatten(v);
}

static const char *elf_name(struct object_lines *l, uint64_t addr, uint64_t *start, uint64_t *until)
{
	const struct code_range *code = code_at(l->object, addr);
	*until = UINT64_MAX;
	if (!code)
		return NULL;
	if (!l->elf)
		l->elf = elf_functions_new(l->object);
	return elf_functions_find(l->elf, code->section, addr, start, until);
}

/* The name of the i-th function; the first call decides, by its addr. */
static const char *function_name(struct unit_reader *r, uint32_t i, uint64_t addr)
{
	struct unit_name *n = &r->l->names.at[i];
	const struct dwarf_function *f = &r->l->functions.at.at[i];
	bool linkage;
	if (n->known)
		return n->name;
	n->known = true;
	n->name = dwarf_function_name(r->entries.info, r->entries.unit, f, &linkage);
	if (n->name && r->entries.is_split)
		n->name = strtab_get(r->l->paths, strtab_add(r->l->paths, n->name));
	if (n->name && !linkage && f->is_inlined && !r->rules->named_where_asked)
		return n->name = unit_entries_name(r->l, &r->entries, f);
	if (!linkage && (r->rules->named_where_asked || !f->is_inlined)) {
		uint64_t start, until, low = r->l->functions.ranges.at[f->first_range].low;
		const char *name =
			elf_name(r->l, r->rules->named_where_asked ? addr : low, &start, &until);
		if (name && start == low)
			n->name = name;
	}
	return n->name;
}

/* ---- runs ---- */

static void emit(struct unit_reader *r, uint64_t addr, uint64_t end, const struct srcloc *at)
{
	struct run_list *out = r->out;
	struct line_run *last = out->n > r->first ? &out->at[out->n - 1] : NULL;
	static const struct srcloc unusable;
	if (r->rules->all_or_nothing && (!at->function || !at->file || !at->line))
		at = &unusable;
	if (last && last->end == addr && run_same(&last->at, at))
		last->end = end;
	else
		vec_push(out, ((struct line_run){ addr, end, *at }));
}

/* A run outside of DWARF's functions; at.function is the function before it in the same row. */
static void emit_nameless(struct unit_reader *r, uint64_t addr, uint64_t end, struct srcloc at)
{
	if (!r->rules->named_by_symbols) {
		emit(r, addr, end, &at);
		return;
	}
	for (uint64_t start, until; addr < end; addr = until) {
		at.function = elf_name(r->l, addr, &start, &until);
		if (until > end)
			until = end;
		emit(r, addr, until, &at);
	}
}

/* The runs of [addr, end), which has one line: one for each function in it. */
static void emit_line(struct unit_reader *r, uint64_t addr, uint64_t end, struct srcloc at)
{
	const struct intervals *v = &r->l->pieces;
	while (r->piece < v->n && v->at[r->piece].high <= addr)
		r->piece++;
	for (size_t i = r->piece; addr < end; i++) {
		if (i == v->n || v->at[i].low >= end) {
			emit_nameless(r, addr, end, at);
			return;
		}
		const struct interval *p = &v->at[i];
		uint64_t until = p->high < end ? p->high : end;
		if (p->low > addr) {
			emit_nameless(r, addr, p->low, at);
			addr = p->low;
		}
		at.function = function_name(r, p->value, addr);
		if (at.function)
			emit(r, addr, until, &at);
		else
			emit_nameless(r, addr, until, at);
		addr = until;
	}
}

/* Runs for code with a function but without rows. */
static void emit_gap(struct unit_reader *r, uint64_t low, uint64_t high)
{
	const struct intervals *v = &r->l->pieces;
	static const struct srcloc unusable;
	for (size_t i = r->piece; r->rules->all_or_nothing && i < v->n && v->at[i].low < high;
	     i++) {
		uint64_t from = v->at[i].low > low ? v->at[i].low : low;
		uint64_t to = v->at[i].high < high ? v->at[i].high : high;
		if (from < to)
			emit(r, from, to, &unusable);
	}
}

const char *unit_path(struct object_lines *l, struct line_table *t, uint32_t file)
{
	uint32_t i = line_table_file(t, file);
	if (i == NONE)
		return NULL;
	struct line_file *f = &t->files.at[i];
	if (f->path == NONE) {
		char *path = line_table_path(t, i);
		f->path = strtab_add(l->paths, path);
		free(path);
	}
	return strtab_get(l->paths, f->path);
}

static const char *path_of(struct unit_reader *r, uint32_t file)
{
	const char *path = unit_path(r->l, &r->l->table, file);
	return path ? path : r->rules->unknown_file;
}

/* The requested parts of a row, [low, high). */
static void emit_row(struct unit_reader *r, uint64_t low, uint64_t high, const struct line_row *row)
{
	const struct address_range all = { low, high };
	const struct address_range *in = r->in ? r->in->at : &all;
	size_t n = r->in ? r->in->n : 1;
	while (r->in && r->asked < n && in[r->asked].high <= low)
		r->asked++;
	for (size_t i = r->asked; i < n && in[i].low < high; i++)
		emit_line(r, in[i].low > low ? in[i].low : low,
			  in[i].high < high ? in[i].high : high,
			  (struct srcloc){ .file = path_of(r, row->file), .line = row->line });
}

static void emit_sequence(struct unit_reader *r, const struct line_sequence *s)
{
	const struct line_row *rows = &r->l->table.rows.at[s->first_row];
	for (uint32_t i = 0; i < s->n_rows; i++) {
		uint64_t low = rows[i].addr, high = i + 1 < s->n_rows ? rows[i + 1].addr : s->high;
		if (low < s->low)
			low = s->low;
		if (low < high)
			emit_row(r, low, high, &rows[i]);
	}
}

/* ---- the unit ---- */

static int by_low(const void *a, const void *b)
{
	const struct address_range *l = a, *r = b;
	if (l->low != r->low)
		return l->low < r->low ? -1 : 1;
	return ORDER(l->high, r->high);
}

/* Of a line table shared by several units, a unit has only the rows in its own code. */
static void clip(struct unit_reader *r)
{
	struct run_list *out = r->out, kept = { 0 };
	const struct dwarf_unit *u = r->unit;
	size_t n = u->n_ranges, k = 0;
	struct address_range *own = xrealloc(NULL, n, sizeof(*own));
	memcpy(own, r->l->info->ranges.at + u->first_range, n * sizeof(*own));
	qsort(own, n, sizeof(*own), by_low);
	for (size_t i = r->first; i < out->n; i++) {
		struct line_run run = out->at[i];
		while (k < n && own[k].high <= run.addr)
			k++;
		for (size_t j = k; j < n && own[j].low < run.end; j++) {
			struct line_run part = run;
			if (own[j].low > part.addr)
				part.addr = own[j].low;
			if (own[j].high < part.end)
				part.end = own[j].high;
			if (part.addr < part.end)
				vec_push(&kept, part);
			if (own[j].high >= run.end)
				break;
			run.addr = own[j].high > run.addr ? own[j].high : run.addr;
		}
	}
	out->n = r->first;
	for (size_t i = 0; i < kept.n; i++)
		vec_push(out, kept.at[i]);
	vec_free(&kept);
	free(own);
}

static bool may_decode(struct object_lines *l, uint64_t bytes)
{
	bool may = bytes <= l->work_left;
	l->work_left = may ? l->work_left - bytes : 0;
	return may;
}

static bool read_functions(struct unit_reader *r)
{
	struct object_lines *l = r->l;
	r->entries = r->rules->no_split ? (struct unit_entries){ l->info, r->unit, NULL, false }
					: object_entries(l, r->unit);
	dwarf_functions_read(r->entries.info, r->entries.unit, r->entries.is_split ? NULL : r->in,
			     r->rules->no_indexed_ranges, &l->functions);
	if (!may_decode(l, l->functions.ranges.n * sizeof(struct address_range)))
		return false;
	if (r->rules->no_indexed_ranges && l->functions.indexed_ranges)
		return false;
	l->names.n = 0;
	vec_reserve(&l->names, l->functions.at.n);
	if (l->functions.at.n)
		memset(l->names.at, 0, l->functions.at.n * sizeof(*l->names.at));
	find_pieces(r);
	return true;
}

static void add_sequences(const struct line_table *t, struct address_ranges *ret)
{
	for (size_t i = 0; i < t->sequences.n; i++) {
		const struct line_sequence *s = &t->sequences.at[i];
		vec_push(ret, ((struct address_range){ s->low, s->high }));
	}
}

static void add_functions(const struct dwarf_functions *f, struct address_ranges *ret)
{
	vec_reserve(ret, f->ranges.n);
	for (size_t i = 0; i < f->ranges.n; i++)
		vec_push(ret, f->ranges.at[i]);
}

size_t line_units_count(const struct object_lines *l) { return l->info->file.units.n; }

struct line_unit line_unit_at(const struct object_lines *l, size_t unit)
{
	const struct dwarf_unit *u = &l->info->file.units.at[unit];
	return (struct line_unit){ .flags = l->units[unit],
				   .has_lines = u->has_lines,
				   .table = u->lines,
				   .ranges = l->info->ranges.at + u->first_range,
				   .n_ranges = u->n_ranges };
}

uint64_t line_units_bytes(const struct object_lines *l)
{
	return (uint64_t)l->info->file.info.size + l->info->file.line.size;
}

bool unit_is_repeated(const struct object_lines *l, size_t unit, const struct unit_rules *rules)
{
	return (l->units[unit] & rules->repeated) && !l->info->file.units.at[unit].n_ranges;
}

void unit_sequences(struct object_lines *l, size_t unit, const struct unit_rules *rules,
		    struct address_ranges *ret)
{
	const struct dwarf_unit *u = &l->info->file.units.at[unit];
	if (u->has_lines && line_table_read(l->info, u, rules->from_first, &l->table) &&
	    may_decode(l, l->table.bytes))
		add_sequences(&l->table, ret);
}

static void emit_all(struct unit_reader *r)
{
	const struct line_table *t = &r->l->table;
	uint64_t covered = 0;
	for (size_t i = 0; i < t->sequences.n; i++) {
		emit_gap(r, covered, t->sequences.at[i].low);
		emit_sequence(r, &t->sequences.at[i]);
		covered = t->sequences.at[i].high;
	}
	emit_gap(r, covered, UINT64_MAX);
}

/* Reads the unit's line table, by address and without dead code; false if nothing is left. */
static bool read_table(struct object_lines *l, size_t unit, const struct unit_rules *rules,
		       struct line_table *ret, struct address_ranges *claims)
{
	const struct dwarf_unit *u = &l->info->file.units.at[unit];
	uint8_t flags = l->units[unit];

	if (!u->has_lines || (flags & rules->left_out))
		return false;
	if (unit_is_repeated(l, unit, rules))
		return false;
	if (!may_decode(l, u->end - u->offset))
		return false;
	if (!line_table_read(l->info, u, rules->from_first, ret) || !may_decode(l, ret->bytes))
		return false;
	if (!rules->dead_code)
		drop_dead(l->object, ret);
	if (claims && (u->lines || !(flags & UNIT_REPEATED))) /* a table at offset 0 counts once */
		add_sequences(ret, claims);
	line_table_sort(ret);
	return ret->sequences.n;
}

bool unit_table(struct object_lines *l, size_t unit, struct line_table *ret)
{
	return read_table(l, unit, &unit_rules, ret, NULL);
}

bool unit_is_clipped(const struct object_lines *l, size_t unit)
{
	return l->units[unit] & (UNIT_CODE_SHARED | UNIT_CODE_REPEATED) &&
	       l->info->file.units.at[unit].n_ranges;
}

void unit_runs(struct object_lines *l, size_t unit, const struct unit_rules *rules,
	       const struct address_ranges *in, struct run_list *ret, struct address_ranges *claims)
{
	struct unit_reader r = { .l = l,
				 .unit = &l->info->file.units.at[unit],
				 .rules = rules,
				 .in = in,
				 .out = ret,
				 .first = ret->n };

	if (!read_table(l, unit, rules, &l->table, claims) || !read_functions(&r))
		return;
	if (claims)
		add_functions(&l->functions, claims);
	emit_all(&r);
	if (!rules->whole_tables && unit_is_clipped(l, unit))
		clip(&r);
}

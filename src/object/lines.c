/* lines.c - source lines of a whole object: the runs of all units in one order. */
#include <dwarf.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "names/kept.h"
#include "object/answered.h"
#include "object/lines_private.h"

enum { DECODE_AGAIN = 16, DECODE_FREE = 16 << 20, LINE_BYTES = 10, SPLIT_BYTES = 1 << 30 };

/* ---- the object's lines ---- */

static bool has_no_code(const struct dwarf_unit *u)
{
	return u->type == DW_UT_type || u->type == DW_UT_partial || u->tag == DW_TAG_partial_unit ||
	       u->tag == DW_TAG_type_unit;
}

static void describe_units(struct object_lines *l)
{
	struct map64 tables = { 0 }, code_tables = { 0 }; /* offset -> the first unit */
	bool unseen = false;

	for (size_t i = 0; i < l->info->file.units.n; i++) {
		const struct dwarf_unit *u = &l->info->file.units.at[i];
		uint32_t *first;
		if ((unseen |= u->damaged || u->indexed_ranges))
			l->units[i] |= UNIT_UNSEEN;
		if (has_no_code(u))
			l->units[i] |= UNIT_NO_CODE;
		if (!u->has_lines)
			continue;
		first = map64_at(&tables, u->lines);
		if (*first == NONE)
			*first = (uint32_t)i;
		else
			l->units[i] |= UNIT_REPEATED;
		if (l->units[i] & UNIT_NO_CODE)
			continue;
		first = map64_at(&code_tables, u->lines);
		if (*first == NONE) {
			*first = (uint32_t)i;
		} else {
			l->units[i] |= UNIT_CODE_REPEATED;
			l->units[*first] |= UNIT_CODE_SHARED;
		}
	}
	map64_free(&tables);
	map64_free(&code_tables);
}

struct object_lines *object_lines(struct object_file *o)
{
	if (o->lines)
		return o->lines;
	struct object_lines *l = o->lines = xalloc(sizeof(*l));
	struct elf_file *dwarf = object_dwarf(o);
	l->object = o;
	l->paths = strtab_new();
	l->info = dwarf ? dwarf_info_new(dwarf, o->alt) : NULL;
	if (l->info) {
		const struct dwarf_file *f = &l->info->file;
		l->work_left = DECODE_AGAIN * ((uint64_t)f->info.size + f->line.size) + DECODE_FREE;
		l->split.bytes_left = SPLIT_BYTES;
		l->units = xalloc(f->units.n + 1);
		describe_units(l);
	}
	return l;
}

void object_lines_free(struct object_lines *l)
{
	if (!l)
		return;
	line_index_free(l->index);
	if (l->answers)
		l->rules->close(l->answers);
	elf_functions_free(l->elf);
	line_table_done(&l->table);
	dwarf_functions_free(&l->functions);
	vec_free(&l->pieces);
	vec_free(&l->names);
	free(l->units);
	strtab_free(l->paths);
	dwarf_scopes_free(l->scopes);
	split_units_done(&l->split);
	dwarf_info_free(l->info);
	free(l);
}

bool object_has_lines(struct object_file *o)
{
	if (o->kept)
		return o->kept->flags & KEPT_LINES;
	const struct object_lines *l = object_lines(o);
	if (!l->info || !l->info->file.line.size)
		return false;
	for (size_t i = 0; i < l->info->file.units.n; i++)
		if (l->info->file.units.at[i].has_lines)
			return true;
	return false;
}

const char *object_producer(struct object_file *o, uint64_t addr)
{
	const struct object_lines *l = o->kept ? NULL : object_lines(o);
	if (!l || !l->info)
		return NULL;
	for (size_t i = 0; i < l->info->file.units.n; i++) {
		const struct dwarf_unit *u = &l->info->file.units.at[i];
		const struct address_range *r = l->info->ranges.at + u->first_range;
		for (uint32_t k = 0; k < u->n_ranges; k++)
			if (addr >= r[k].low && addr < r[k].high)
				return u->producer;
	}
	return NULL;
}

bool object_has_dwarf(struct object_file *o)
{
	return o->kept ? o->kept->flags & KEPT_LINES : object_dwarf(o) != NULL;
}

/* The data that a caller's rules answer from. */
static void *answers(struct object_lines *l, const struct line_rules *rules)
{
	if (l->answers && l->rules != rules) {
		l->rules->close(l->answers);
		l->answers = NULL;
	}
	if (!l->answers)
		l->answers = rules->open(l);
	l->rules = rules;
	return l->answers;
}

static bool find_line(struct object_lines *l, struct answered *answered, uint64_t addr,
		      struct srcloc *ret)
{
	static const struct srcloc nowhere;
	if (!l->index)
		l->index = line_index_new(l);
	struct line_run run;
	bool found = line_index_find(l->index, addr, &run);
	if (answered && found && run.at.file)
		answered_add_line(answered, run.addr, run.end, &run.at);
	else if (answered && !found)
		answered_add_line(answered, addr, addr + 1, &nowhere);
	if (found)
		*ret = run.at;
	return found;
}

bool object_place(struct object_file *o, uint64_t addr, const struct line_rules *rules,
		  struct srcloc *ret)
{
	if (o->kept)
		return kept_place(o->kept, addr, ret);
	bool is_read = o->lines && o->lines->index;
	struct answered *known = !rules && object_dwarf(o) ? object_answered(o) : NULL;
	struct srcloc at;
	if (known && !is_read && answered_line(known, addr, &at)) {
		if (at.file)
			*ret = at;
		return at.file;
	}
	struct object_lines *l = object_lines(o);
	if (!l->info)
		return false;
	if (rules)
		return rules->find(answers(l, rules), addr, ret);
	return find_line(l, known, addr, ret);
}

/* ---- all runs ---- */

struct chunk { /* runs of one unit without gaps */
	uint64_t low, high;
	uint32_t unit;
	size_t first, n;
};

struct all_runs {
	struct run_list runs;
	VEC(struct chunk) chunks;
};

/* Adds the runs of one unit, from `first` on, as chunks; parts out of range are left out. */
static void add_chunks(struct all_runs *all, size_t first, uint32_t unit,
		       struct address_range range)
{
	struct run_list *r = &all->runs;
	size_t n = first, start = all->chunks.n;
	for (size_t i = first; i < r->n; i++) {
		struct line_run run = r->at[i];
		if (run.addr < range.low)
			run.addr = range.low;
		if (run.end > range.high)
			run.end = range.high;
		if (run.addr >= run.end)
			continue;
		struct chunk *last =
			all->chunks.n > start ? &all->chunks.at[all->chunks.n - 1] : NULL;
		if (last && last->high == run.addr) {
			last->high = run.end;
			last->n++;
		} else {
			vec_push(&all->chunks, ((struct chunk){ run.addr, run.end, unit, n, 1 }));
		}
		r->at[n++] = run;
	}
	r->n = n;
}

static bool may_be_in(const struct object_lines *l, const struct dwarf_unit *u,
		      const struct address_ranges *in)
{
	const struct address_range *r = l->info->ranges.at + u->first_range;
	for (uint32_t i = 0; i < u->n_ranges; i++)
		if (r[i].low < r[i].high && ranges_meet(in, r[i].low, r[i].high))
			return true;
	return !u->n_ranges;
}

/* The most runs of an honest file: a row and the end of a function take at least a byte each. More
 * are made by overlaps. */
static size_t most_runs(const struct object_lines *l)
{
	const struct dwarf_file *f = &l->info->file;
	size_t elsewhere = SPLIT_BYTES - l->split.bytes_left;
	return f->line.size + f->info.size + f->ranges.size + f->rnglists.size + elsewhere;
}

static int by_low(const void *a, const void *b)
{
	const struct chunk *l = a, *r = b;
	if (l->low != r->low)
		return l->low < r->low ? -1 : 1;
	if (l->unit != r->unit)
		return l->unit < r->unit ? -1 : 1;
	return ORDER(l->first, r->first);
}

static void append(struct run_list *out, const struct line_run *run)
{
	struct line_run *last = out->n ? &out->at[out->n - 1] : NULL;
	if (last && last->end == run->addr && run_same(&last->at, &run->at))
		last->end = run->end;
	else
		vec_push(out, *run);
}

/* Where chunks of several units overlap, the first unit counts. */
static void append_overlapping(struct run_list *out, const struct all_runs *all, size_t from,
			       size_t to)
{
	struct intervals v = { 0 };
	for (size_t i = from; i < to; i++) {
		const struct chunk *c = &all->chunks.at[i];
		for (size_t k = c->first; k < c->first + c->n; k++) {
			const struct line_run *r = &all->runs.at[k];
			vec_push(&v, ((struct interval){ r->addr, r->end, UINT32_MAX - c->unit,
							 (uint32_t)k, (uint32_t)k }));
		}
	}
	intervals_flatten(&v);
	for (size_t i = 0; i < v.n; i++) {
		struct line_run r = all->runs.at[v.at[i].value];
		r.addr = v.at[i].low;
		r.end = v.at[i].high;
		append(out, &r);
	}
	vec_free(&v);
}

static void join(const struct all_runs *all, struct run_list *out)
{
	for (size_t i = 0, next; i < all->chunks.n; i = next) {
		const struct chunk *c = &all->chunks.at[i];
		uint64_t high = c->high;
		for (next = i + 1; next < all->chunks.n && all->chunks.at[next].low < high; next++)
			if (all->chunks.at[next].high > high)
				high = all->chunks.at[next].high;
		if (next > i + 1) {
			append_overlapping(out, all, i, next);
			continue;
		}
		for (size_t k = c->first; k < c->first + c->n; k++)
			append(out, &all->runs.at[k]);
	}
}

/* By our own rules. `in_functions`: each range is in one function. */
static struct line_run *line_runs(struct object_file *o, const struct address_ranges *in,
				  bool in_functions, size_t *n)
{
	struct all_runs all = { 0 };
	struct run_list out = { 0 };
	struct object_lines *l = o->kept ? NULL : object_lines(o);

	*n = 0;
	if (!in->n || (l && !l->info))
		return NULL;
	struct address_range range = { in->at[0].low, in->at[in->n - 1].high };
	if (!l)
		return kept_line_runs(o->kept, range, n);
	vec_reserve(&all.runs, l->info->file.line.size / LINE_BYTES + 1); /* a guess */
	for (size_t i = 0; i < l->info->file.units.n && all.runs.n < most_runs(l); i++) {
		size_t first = all.runs.n;
		if (!may_be_in(l, &l->info->file.units.at[i], in))
			continue;
		unit_runs(l, i, &unit_rules, in_functions ? in : NULL, &all.runs, NULL);
		add_chunks(&all, first, (uint32_t)i, range);
	}
	if (all.chunks.n)
		qsort(all.chunks.at, all.chunks.n, sizeof(*all.chunks.at), by_low);
	vec_reserve(&out, all.runs.n);
	join(&all, &out);
	vec_free(&all.runs);
	vec_free(&all.chunks);
	*n = out.n;
	return out.at;
}

struct line_run *object_line_runs_of(struct object_file *o, const struct address_ranges *in,
				     size_t *n)
{
	return line_runs(o, in, true, n);
}

struct line_run *object_line_runs(struct object_file *o, struct address_range range,
				  const struct line_rules *rules, size_t *n)
{
	const struct address_ranges in = { &range, 1, 1 };
	struct object_lines *l = rules && !o->kept ? object_lines(o) : NULL;
	struct run_list out = { 0 };

	if (!l)
		return line_runs(o, &in, false, n);
	if (l->info)
		rules->runs(answers(l, rules), range, &out);
	*n = out.n;
	return out.at;
}

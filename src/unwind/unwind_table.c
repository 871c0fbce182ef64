/* unwind_table.c - compiles entries into points and rules, and searches them. */
#include "unwind/unwind_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/records.h"
#include "base/sort.h"
#include "base/vec.h"
#include "unwind/bare_code.h"
#include "unwind/go_table.h"
#include "unwind/step.h"
#include "unwind/unwind_table_private.h"

/* ---- pieces: which entry answers for which addresses ---- */

struct unwind_piece {
	uint64_t low, high;
	/* index into entries, and behind them into bare; OUTERMOST: the stack ends here; DOUBTFUL:
	 * entries say too little of it; NOT_FOLLOWED: it has no entry, and no rows of bare yet */
	size_t entry;
};

static const size_t OUTERMOST = SIZE_MAX, DOUBTFUL = SIZE_MAX - 1, NOT_FOLLOWED = SIZE_MAX - 2;

struct unwind_entry {
	const struct cfi_section *section; /* NULL: it is a function of Go's table, */
	struct cfi_fde fde;
	struct go_values frames; /* with these */
};

struct pieces {
	struct unwind_piece *at;
	size_t n, cap;
};

struct unwind_build {
	const struct machine *machine;
	VEC(struct unwind_entry) entries;
	struct bare_rows bare; /* of code that has no entry */
	bool is_partial;       /* there is such code, and it was not followed */
	struct pieces pieces;  /* by address, disjoint */
	uint64_t base;
	VEC(struct unwind_point) points;
	VEC(struct unwind_row) rules;
	struct records known; /* rules by contents */
	uint32_t last_rule;
	struct unwind_piece current;
};

static int by_low(const void *a, const void *b)
{
	const struct unwind_piece *x = a, *y = b;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static void sort(struct pieces *p)
{
	for (size_t i = 1; i < p->n; i++)
		if (by_low(&p->at[i - 1], &p->at[i]) > 0) {
			qsort(p->at, p->n, sizeof(*p->at), by_low);
			return;
		}
}

/* Of two that overlap, the one that starts first keeps its range. */
static void cut_overlaps(struct pieces *p)
{
	size_t n = 0;
	uint64_t end = 0;
	for (size_t i = 0; i < p->n; i++) {
		struct unwind_piece x = p->at[i];
		if (x.low < end)
			x.low = end;
		if (x.low >= x.high)
			continue;
		end = x.high;
		p->at[n++] = x;
	}
	p->n = n;
}

static struct pieces read_section(struct unwind_build *b, const struct cfi_section *s)
{
	struct pieces p = { 0 };
	struct cfi_fde fde = { 0 };
	for (size_t at = 0; cfi_next(s, &at, &fde);) {
		vec_push(&p, ((struct unwind_piece){ fde.low, fde.high, b->entries.n }));
		vec_push(&b->entries, ((struct unwind_entry){ s, fde }));
	}
	sort(&p);
	cut_overlaps(&p);
	return p;
}

/* Functions of Go that say all of their frames, or those that do not, as they write sp. */
static struct pieces go_pieces(struct unwind_build *b, const struct go_table *t, bool doubtful)
{
	struct pieces p = { 0 };
	struct go_function f;
	for (uint64_t i = 0; t && i < t->n; i++) {
		if (!go_table_at(t, i, &f) || !f.frames || go_table_knows_frames(t, &f) == doubtful)
			continue;
		size_t entry = doubtful ? DOUBTFUL : b->entries.n;
		vec_push(&p, ((struct unwind_piece){ f.low, f.high, entry }));
		if (!doubtful)
			vec_push(&b->entries,
				 ((struct unwind_entry){
					 .fde = { .low = f.low, .high = f.high },
					 .frames = go_table_values(t, &f, f.frames) }));
	}
	sort(&p);
	cut_overlaps(&p);
	return p;
}

/* Of those that do, or do not, override entries. */
static struct pieces outermost_pieces(const struct outermost *o, bool overrides)
{
	struct pieces p = { 0 };
	for (size_t i = 0; o && i < o->n; i++)
		if (o->at[i].overrides == overrides)
			vec_push(&p,
				 ((struct unwind_piece){ o->at[i].low, o->at[i].high, OUTERMOST }));
	sort(&p);
	cut_overlaps(&p);
	return p;
}

/* Adds to `ret` the parts of x that are in none of old[*i...], whose ends ascend; moves *i on. */
static void add_uncovered(struct pieces *ret, const struct pieces *old, size_t *i,
			  struct unwind_piece x)
{
	while (*i < old->n && old->at[*i].high <= x.low)
		++*i;
	for (size_t k = *i; x.low < x.high; k++) {
		uint64_t stop = k < old->n ? old->at[k].low : UINT64_MAX;
		if (stop > x.low) {
			struct unwind_piece part = x;
			if (part.high > stop)
				part.high = stop;
			vec_push(ret, part);
		}
		if (k == old->n || stop >= x.high)
			return;
		x.low = old->at[k].high;
	}
}

/* Where the two overlap, `to` stays. */
static void merge(struct pieces *to, struct pieces *from)
{
	struct pieces added = { 0 }, all = { 0 };
	size_t i = 0;
	for (size_t k = 0; k < from->n; k++)
		add_uncovered(&added, to, &i, from->at[k]);
	vec_reserve(&all, added.n + to->n);
	i = 0;
	for (size_t k = 0; k < to->n; k++) {
		while (i < added.n && added.at[i].low < to->at[k].low)
			vec_push(&all, added.at[i++]);
		vec_push(&all, to->at[k]);
	}
	while (i < added.n)
		vec_push(&all, added.at[i++]);
	vec_free(&added);
	vec_free(to);
	vec_free(from);
	*to = all;
}

/* Leaves out what entries say too little of. */
static void drop_doubtful(struct pieces *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++)
		if (p->at[i].entry != DOUBTFUL)
			p->at[n++] = p->at[i];
	p->n = n;
}

/* Functions are aligned, and nothing runs in between: a gap of fewer bytes belongs to the function
 * before it, which spares most functions two points. */
enum { PADDING = 16 };

/* ---- code that no piece covers ---- */

struct code_spans {
	struct code_span *at;
	size_t n, cap;
};

/* The parts of code sections that no piece covers, without the padding between functions. */
static struct code_spans uncovered(const struct pieces *p, const struct code_file *f)
{
	struct pieces sections = { 0 }, parts = { 0 };
	struct code_spans ret = { 0 };
	size_t k = 0, done = 0;
	for (size_t i = 0; i < f->n_sections; i++)
		vec_push(&sections,
			 ((struct unwind_piece){ f->sections[i].low, f->sections[i].high, 0 }));
	sort(&sections);
	cut_overlaps(&sections);
	for (size_t i = 0; i < sections.n; i++) {
		add_uncovered(&parts, p, &k, sections.at[i]);
		for (; done < parts.n; done++) {
			const struct unwind_piece *x = &parts.at[done];
			if (x->low == sections.at[i].low || x->high - x->low >= PADDING)
				vec_push(&ret, ((struct code_span){ x->low, x->high }));
		}
	}
	vec_free(&sections);
	vec_free(&parts);
	return ret;
}

static bool is_whole(const struct unwind_build *b, const struct unwind_piece *p)
{
	return p->entry == OUTERMOST || p->low == b->entries.at[p->entry].fde.low;
}

static struct pieces follow_bare(struct unwind_build *b, const struct code_file *f,
				 const struct code_spans *bare)
{
	struct code_spans functions = { 0 };
	struct pieces ret = { 0 };
	for (size_t i = 0; i < b->pieces.n; i++) {
		const struct unwind_piece *p = &b->pieces.at[i];
		if (is_whole(b, p))
			vec_push(&functions, ((struct code_span){ p->low, p->high }));
	}
	bare_code_rows(&(struct bare_input){ f, bare->at, bare->n, functions.at, functions.n },
		       &b->bare);
	for (size_t i = 0; i < b->bare.n; i++)
		vec_push(&ret, ((struct unwind_piece){ b->bare.at[i].low, b->bare.at[i].high,
						       b->entries.n + i }));
	vec_free(&functions);
	return ret;
}

static struct pieces read_bare(struct unwind_build *b, const struct code_file *f)
{
	struct code_spans bare = uncovered(&b->pieces, f);
	struct pieces ret = { 0 };
	b->is_partial = f->not_followed && bare.n && machine_effects(f->machine);
	if (!b->is_partial)
		ret = follow_bare(b, f, &bare);
	for (size_t i = 0; i < bare.n && b->is_partial; i++)
		vec_push(&ret,
			 ((struct unwind_piece){ bare.at[i].low, bare.at[i].high, NOT_FOLLOWED }));
	vec_free(&bare);
	return ret;
}

/* ---- points ---- */

static uint64_t row_hash(const void *row)
{
	uint64_t w[2];
	memcpy(w, row, sizeof(w));
	return records_mix(records_mix(0, w[0]), w[1]);
}

static bool is_same_row(const void *a, const void *b) { return unwind_row_equal(a, b); }

static const struct records_kind rows = { sizeof(struct unwind_row), row_hash, is_same_row };

static uint32_t intern(struct unwind_build *b, const struct unwind_row *row)
{
	uint32_t n = (uint32_t)b->rules.n;
	if (n && unwind_row_equal(&b->rules.at[b->last_rule], row))
		return b->last_rule;
	b->last_rule = records_add(&b->known, &rows, b->rules.at, row, n);
	if (b->last_rule == n)
		vec_push(&b->rules, *row);
	return b->last_rule;
}

static void add_point(struct unwind_build *b, uint64_t addr, uint32_t rule)
{
	uint32_t at = (uint32_t)(addr - b->base);
	if (b->points.n && b->points.at[b->points.n - 1].at == at)
		b->points.n--; /* it was valid nowhere */
	if (!b->points.n || b->points.at[b->points.n - 1].rule != rule)
		vec_push(&b->points, ((struct unwind_point){ at, rule }));
}

/* Rows before the piece count too: the last of them holds where it begins. */
static void add_row(void *arg, uint64_t low, const struct unwind_row *row)
{
	struct unwind_build *b = arg;
	if (low < b->current.high)
		add_point(b, low < b->current.low ? b->current.low : low, intern(b, row));
}

static unsigned add_go_rows(struct unwind_build *b, const struct unwind_entry *e)
{
	static const struct unwind_row none;
	struct go_values v = e->frames;
	unsigned steps = 0;
	for (; go_values_next(&v); steps++) {
		struct unwind_row row = go_row(b->machine, v.value);
		add_row(b, v.low, &row);
	}
	if (v.high < e->fde.high)
		add_row(b, v.high, &none);
	return steps;
}

/* The most instructions to execute for a section, so that damage cannot take long: an instruction
 * is at least a byte, and entries share only the few of their CIE. */
static uint64_t budget_of(const struct cfi_section *s) { return 4 * (uint64_t)s->size + 65536; }

/* Returns the number of instructions executed. */
static unsigned add_rows(struct unwind_build *b, size_t entry)
{
	if (entry == OUTERMOST) {
		add_row(b, b->current.low, &unwind_outermost);
		return 0;
	}
	if (entry == NOT_FOLLOWED) {
		add_row(b, b->current.low, &(struct unwind_row){ 0 });
		return 0;
	}
	if (entry >= b->entries.n) {
		add_row(b, b->current.low, &b->bare.at[entry - b->entries.n].row);
		return 0;
	}
	const struct unwind_entry *e = &b->entries.at[entry];
	if (!e->section)
		return add_go_rows(b, e);
	return cfi_rows(e->section, &e->fde, add_row, b);
}

static void make_points(struct unwind_build *b, uint64_t budget)
{
	const struct pieces *p = &b->pieces;
	b->base = p->at[0].low;
	for (size_t i = 0; i < p->n; i++) {
		b->current = p->at[i];
		unsigned steps = add_rows(b, p->at[i].entry);
		uint64_t next = i + 1 < p->n ? p->at[i + 1].low : UINT64_MAX;
		bool spent = steps > budget;
		if (spent || next - p->at[i].high >= PADDING)
			add_point(b, p->at[i].high, 0);
		if (spent)
			return;
		budget -= steps;
	}
}

/* ---- the table ---- */

static struct unwind_table *finish(struct unwind_build *b, const struct machine *machine)
{
	struct unwind_table *t = xalloc(sizeof(*t));
	t->machine = machine;
	t->base = b->base;
	t->size = b->pieces.at[b->pieces.n - 1].high - b->base;
	t->n_points = b->points.n;
	t->points = xrealloc(b->points.at, b->points.n, sizeof(*t->points));
	t->n_rules = b->rules.n;
	t->rules = xrealloc(b->rules.at, b->rules.n, sizeof(*t->rules));
	t->is_followed = !b->is_partial;
	unwind_table_index(t);
	return t;
}

struct unwind_table *unwind_table_new(const struct machine *machine,
				      const struct cfi_section *sections, size_t n,
				      const struct outermost *outermost,
				      const struct code_file *code)
{
	struct unwind_build b = { .machine = machine, .pieces = outermost_pieces(outermost, true) };
	const struct go_table *go = code && machine ? code->go : NULL;
	struct unwind_table *t = NULL;
	uint64_t budget = go ? 4 * (uint64_t)bytes_left(&go->all) : 0;
	struct pieces doubtful = go_pieces(&b, go, true);
	merge(&b.pieces, &doubtful);
	for (size_t i = 0; i < n; i++) {
		struct pieces p = read_section(&b, &sections[i]);
		merge(&b.pieces, &p);
		budget += budget_of(&sections[i]);
	}
	struct pieces last = outermost_pieces(outermost, false);
	merge(&b.pieces, &last);
	struct pieces of_go = go_pieces(&b, go, false);
	merge(&b.pieces, &of_go);
	drop_doubtful(&b.pieces);
	if (code) {
		struct pieces bare = read_bare(&b, code);
		merge(&b.pieces, &bare);
	}
	if (b.pieces.n && b.pieces.at[b.pieces.n - 1].high - b.pieces.at[0].low <= UINT32_MAX) {
		intern(&b, &(struct unwind_row){ 0 });
		make_points(&b, budget);
		t = finish(&b, machine);
	} else {
		vec_free(&b.points);
		vec_free(&b.rules);
	}
	records_free(&b.known);
	vec_free(&b.bare);
	vec_free(&b.entries);
	vec_free(&b.pieces);
	return t;
}

/* About two points to a bucket, if they are spread evenly. */
void unwind_table_index(struct unwind_table *t)
{
	t->shift = 4;
	while (t->size >> t->shift > t->n_points / 2)
		t->shift++;
	t->n_buckets = (size_t)(t->size >> t->shift) + 1;
	t->buckets = xrealloc(NULL, t->n_buckets + 1, sizeof(*t->buckets));
	size_t k = 0;
	for (size_t i = 0; i < t->n_points; i++)
		for (; k <= (uint64_t)t->points[i].at >> t->shift; k++)
			t->buckets[k] = (uint32_t)i;
	for (; k <= t->n_buckets; k++)
		t->buckets[k] = (uint32_t)t->n_points;
}

void unwind_table_free(struct unwind_table *t)
{
	if (!t)
		return;
	free(t->points);
	free(t->rules);
	free(t->buckets);
	free(t);
}

bool unwind_table_is_followed(const struct unwind_table *t) { return t->is_followed; }
const struct machine *unwind_table_machine(const struct unwind_table *t) { return t->machine; }
size_t unwind_table_rows(const struct unwind_table *t) { return t->n_points; }

size_t unwind_table_bytes(const struct unwind_table *t)
{
	return sizeof(*t) + t->n_points * sizeof(*t->points) + t->n_rules * sizeof(*t->rules) +
	       (t->n_buckets + 1) * sizeof(*t->buckets);
}

const struct unwind_row *unwind_table_find(const struct unwind_table *t, uint64_t addr)
{
	uint64_t at = addr - t->base;
	if (at >= t->size)
		return &t->rules[0];
	size_t b = (size_t)(at >> t->shift);
	/* The point wanted is in front of the first one that is too high. */
	size_t low = t->buckets[b], n = t->buckets[b + 1] - low;
	while (n) {
		size_t half = n / 2;
		bool up = t->points[low + half].at <= at;
		low = up ? low + half + 1 : low;
		n = up ? n - half - 1 : half;
	}
	return &t->rules[t->points[low - 1].rule];
}

bool unwind_table_lacks(const struct unwind_table *t, uint64_t addr)
{
	return !t->is_followed && (unwind_table_find(t, addr)->cfa == UNWIND_CFA_NONE ||
				   unwind_table_find(t, addr + 1)->cfa == UNWIND_CFA_NONE);
}

struct unwind_table *unwind_table_of(const struct code_file *code,
				     const struct cfi_section *sections, size_t n)
{
	struct outermost outermost = { 0 };
	if (code->machine)
		outermost_find(code, &outermost);
	struct unwind_table *t = unwind_table_new(code->machine, sections, n, &outermost, code);
	vec_free(&outermost);
	return t;
}

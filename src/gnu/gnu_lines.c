/* gnu_lines.c - lines as BFD 2.40 gives them, which depend on earlier requests.
 *
 * The linker keeps one of the copies of an inline function, and the units of all copies claim its
 * addresses. BFD asks the units that it has read, in the order of their claims (unit_trie.h); the
 * first one that knows a line or a function at the address answers. If none does, BFD reads further
 * units, one by one, until one answers. When a unit is first asked, its line table and its
 * functions are decoded, and their addresses are added to the claims. Units without addresses are
 * decoded as soon as they are read.
 *
 * So answers are exact if requests come in the order of GNU gprof's: for each symbol of the table;
 * then, with -l, for each byte of .text, twice.
 *
 * Within a unit all sequences count. The function is the one with the shortest range that contains
 * the address, the last of equal ones; without any, it is that of the symbol table. A function
 * without a linkage name in a language with mangling (an inlined constructor, main) has its own
 * name; but if the first address ever requested in it lies after a symbol at its start, it has that
 * symbol's name. (BFD's very first answer for such a function is different again: the name of the
 * symbol before the address. We always give its later answers, since BFD's callers ask more than
 * once.) Unknown files are "<unknown>". In DWARF 5 the rows of a sequence up to the first that
 * names a file belong to file 0, not 1, and functions whose ranges are given by index (clang's)
 * have none. Lists with addresses by index (gcc's -gsplit-dwarf) are an error: no further unit is
 * read. */
#include <stdlib.h>

#include "base/map64.h"
#include "base/search.h"
#include "base/vec.h"
#include "gnu/rules.h"
#include "gnu/unit_trie.h"
#include "object/line_rules.h"

static const struct unit_rules bfd_unit_rules = {
	.left_out = UNIT_UNSEEN,
	.repeated = UNIT_REPEATED,
	.shortest_wins = true,
	.no_indexed_ranges = true,
	.no_split = true,
	.named_where_asked = true,
	.named_by_symbols = true,
	.all_or_nothing = true,
	.dead_code = true,
	.from_first = true,
	.whole_tables = true,
	.unknown_file = "<unknown>",
};

enum {
	RUNS_KEPT = (64 << 20) / sizeof(struct line_run),
	WORK = 64, /* claims visited per byte of debugging information; real programs need fewer
		      than 4 */
	WORK_FREE = 16 << 20,
};

struct bfd_unit {
	bool asked; /* its claims were added */
	bool known; /* runs and covers are loaded */
	bool marked;
	struct run_list runs;             /* with those without a file, which count as answers */
	VEC(struct address_range) covers; /* ranges covered by runs without gaps */
};

struct bfd_lines {
	struct object_lines *lines;
	struct unit_trie claims;
	struct bfd_unit *units;
	size_t n_units;
	size_t next; /* index of the next unit to read */
	size_t runs_kept;
	/* Addresses of line tables shared by several units that have no ranges. */
	struct map64 tables; /* offset of a table -> index in shared */
	VEC(struct address_ranges) shared;
};

/* ---- units ---- */

static void forget_runs(struct bfd_lines *g)
{
	for (size_t i = 0; i < g->n_units; i++) {
		vec_free(&g->units[i].runs);
		vec_free(&g->units[i].covers);
		g->units[i].known = false;
	}
	g->runs_kept = 0;
}

static void find_covers(struct bfd_unit *u)
{
	u->covers.n = 0;
	for (size_t i = 0; i < u->runs.n; i++) {
		const struct line_run *r = &u->runs.at[i];
		struct address_range *last = u->covers.n ? &u->covers.at[u->covers.n - 1] : NULL;
		if (last && last->high == r->addr)
			last->high = r->end;
		else
			vec_push(&u->covers, ((struct address_range){ r->addr, r->end }));
	}
}

static void add_claims(struct bfd_lines *g, uint32_t unit, const struct address_ranges *r)
{
	for (size_t i = 0; i < r->n; i++)
		unit_trie_add(&g->claims, unit, r->at[i].low, r->at[i].high);
}

/* A unit without ranges of its own claims those of its line table, which units may share. */
static void add_table(struct bfd_lines *g, uint32_t unit)
{
	struct line_unit u = line_unit_at(g->lines, unit);
	if (!u.has_lines || !u.table) /* BFD reads the table at offset 0 only once */
		return;
	uint32_t *at = map64_at(&g->tables, u.table);
	if (*at == NONE) {
		*at = (uint32_t)g->shared.n;
		vec_push(&g->shared, ((struct address_ranges){ 0 }));
		unit_sequences(g->lines, unit, &bfd_unit_rules, &g->shared.at[*at]);
	}
	add_claims(g, unit, &g->shared.at[*at]);
}

static void decode_unit(struct bfd_lines *g, uint32_t unit)
{
	struct bfd_unit *u = &g->units[unit];
	struct address_ranges claims = { 0 };
	if (unit_is_repeated(g->lines, unit, &bfd_unit_rules)) {
		if (!u->asked)
			add_table(g, unit);
		return;
	}
	unit_runs(g->lines, unit, &bfd_unit_rules, NULL, &u->runs, u->asked ? NULL : &claims);
	add_claims(g, unit, &claims);
	vec_free(&claims);
	find_covers(u);
}

static struct bfd_unit *ask_unit(struct bfd_lines *g, uint32_t unit)
{
	struct bfd_unit *u = &g->units[unit];
	if (u->known)
		return u;
	if (g->runs_kept > RUNS_KEPT)
		forget_runs(g);
	decode_unit(g, unit);
	g->runs_kept += u->runs.n;
	u->asked = u->known = true;
	return u;
}

/* The cover that contains addr; else NULL, and *last is the last address before the next cover. */
static const struct address_range *find_cover(const struct bfd_unit *u, uint64_t addr,
					      uint64_t *last)
{
	size_t low = COUNT_WHILE(u->covers.n, i, u->covers.at[i].high <= addr);
	if (low == u->covers.n)
		return NULL;
	const struct address_range *c = &u->covers.at[low];
	if (c->low <= addr)
		return c;
	if (c->low - 1 < *last)
		*last = c->low - 1;
	return NULL;
}

/* ---- requests ---- */

struct answer {
	uint32_t unit; /* NONE: no unit knows */
	const struct address_range *cover;
	uint64_t last; /* the answer is the same up to this address */
};

static bool try_unit(struct bfd_lines *g, uint32_t unit, uint64_t addr, struct answer *a)
{
	bool asked = g->units[unit].asked;
	a->cover = find_cover(ask_unit(g, unit), addr, &a->last);
	if (!asked)
		a->last = addr; /* the claims have changed */
	if (!a->cover)
		return false;
	if (a->cover->high - 1 < a->last)
		a->last = a->cover->high - 1;
	a->unit = unit;
	return true;
}

static bool ask_claimants(struct bfd_lines *g, uint64_t addr, struct answer *a)
{
	const struct unit_leaf *leaf = unit_trie_find(&g->claims, addr, &a->last);
	for (uint32_t i = 0; leaf && i < leaf->n; i++)
		g->units[leaf->at[i].unit].marked = false;
	for (uint32_t i = 0; leaf && i < leaf->n; i++) {
		const struct unit_claim c = leaf->at[i];
		if (addr < c.low && c.low - 1 < a->last)
			a->last = c.low - 1;
		if (addr < c.low || addr >= c.high)
			continue;
		if (c.high - 1 < a->last)
			a->last = c.high - 1;
		if (g->units[c.unit].marked)
			continue;
		g->units[c.unit].marked = true;
		if (try_unit(g, c.unit, addr, a))
			return true;
	}
	return false;
}

static bool read_unit(struct bfd_lines *g, uint32_t unit, uint64_t addr, struct answer *a)
{
	struct line_unit u = line_unit_at(g->lines, unit);
	const struct address_range *r = u.ranges;
	bool claims = !u.n_ranges;
	for (uint32_t i = 0; i < u.n_ranges; i++) {
		unit_trie_add(&g->claims, unit, r[i].low, r[i].high);
		claims |= addr >= r[i].low && addr < r[i].high;
	}
	return claims && try_unit(g, unit, addr, a);
}

static struct answer ask(struct bfd_lines *g, uint64_t addr)
{
	struct answer a = { .unit = NONE, .last = UINT64_MAX };
	if (ask_claimants(g, addr, &a))
		return a;
	while (g->next < g->n_units && !(line_unit_at(g->lines, g->next).flags & UNIT_UNSEEN)) {
		bool found = read_unit(g, (uint32_t)g->next++, addr, &a);
		a.last = addr;
		if (found)
			break;
	}
	return a;
}

/* ---- one address ---- */

static bool find(void *answers, uint64_t addr, struct srcloc *ret)
{
	struct bfd_lines *g = answers;
	struct answer a = ask(g, addr);
	if (a.unit == NONE)
		return false;
	const struct line_run *r = run_at(&g->units[a.unit].runs, addr);
	if (!r || !r->at.file)
		return false;
	*ret = r->at;
	return true;
}

/* ---- all addresses ---- */

static void append(struct run_list *out, const struct line_run *run)
{
	struct line_run *last = out->n ? &out->at[out->n - 1] : NULL;
	if (!run->at.file)
		return;
	if (last && run_same(&last->at, &run->at))
		last->end = run->end;
	else
		vec_push(out, *run);
}

static void append_part(const struct run_list *runs, uint64_t low, uint64_t end,
			struct run_list *out)
{
	const struct line_run *from = run_at(runs, low), *last = runs->at + runs->n;
	for (; from && from < last && from->addr < end; from++) {
		struct line_run r = *from;
		if (r.addr < low)
			r.addr = low;
		if (r.end > end)
			r.end = end;
		append(out, &r);
	}
}

/* Requests each byte, and keeps the answers if `out` is given. */
static void walk(struct bfd_lines *g, struct address_range range, struct run_list *out)
{
	for (uint64_t addr = range.low, next; addr < range.high; addr = next) {
		struct answer a = ask(g, addr);
		next = a.last < range.high ? a.last + 1 : range.high;
		if (out && a.unit != NONE)
			append_part(&g->units[a.unit].runs, addr, next, out);
	}
}

static void runs(void *answers, struct address_range range, struct run_list *ret)
{
	struct bfd_lines *g = answers;
	walk(g, range, NULL);
	walk(g, range, ret);
	forget_runs(g);
}

/* ---- opening and closing ---- */

static void *open_lines(struct object_lines *l)
{
	struct bfd_lines *g = xalloc(sizeof(*g));
	g->lines = l;
	g->n_units = line_units_count(l);
	g->units = xalloc((g->n_units + 1) * sizeof(*g->units));
	unit_trie_init(&g->claims, WORK * line_units_bytes(l) + WORK_FREE);
	return g;
}

static void close_lines(void *answers)
{
	struct bfd_lines *g = answers;
	forget_runs(g);
	free(g->units);
	for (size_t i = 0; i < g->shared.n; i++)
		vec_free(&g->shared.at[i]);
	vec_free(&g->shared);
	map64_free(&g->tables);
	unit_trie_done(&g->claims);
	free(g);
}

const struct line_rules gnu_line_rules = {
	.open = open_lines,
	.close = close_lines,
	.find = find,
	.runs = runs,
};

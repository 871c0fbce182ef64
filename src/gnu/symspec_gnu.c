/* symspec_gnu.c - what symspecs select in GNU gprof 2.40.
 *
 * GNU keeps a list of address ranges for each table. Neighbouring places that match one spec are
 * one range. The list is sorted by start, and cleaned like a symbol table: of ranges with the same
 * start only the first stays, which is from the spec given last; empty ranges are removed. */
#include <stdlib.h>

#include "base/err.h"
#include "base/sort.h"
#include "gnu/symspec_private.h"

struct spec_range {
	symid first;
	uint64_t end;  /* address after the last place */
	uint32_t rank; /* rank of the spec; 0: given last */
};

typedef VEC(struct spec_range) range_list;

struct gnu {
	struct matcher *m;
	uint64_t *end; /* [n_symbols]: address after each place, as GNU has it */
	struct selection *ret;
	struct symspec_calls *calls; /* [m->n] */
};

static uint64_t address(const struct gnu *g, symid id) { return g->m->symbols->at[id].addr; }

/* ---- ends ---- */

/* A place ends where the next one starts. With line places among the functions, functions still end
 * where the next function starts. The last place ends with .text, even if that is before it. */
static uint64_t *find_ends(const struct symbols *s)
{
	uint64_t *end = xalloc(s->n * sizeof(*end));
	struct symbol_table t = { 0 };

	for (size_t i = 0; i < s->n; i++)
		end[i] = i + 1 < s->n ? s->at[i + 1].addr : s->text.high;
	if (!s->opts.lines)
		return end;
	kin_error_free(object_symbols(s->object, &s->opts.table, &t)); /* it succeeded before */
	for (size_t i = 0, k = 0; i < s->n; i++) {
		while (k < t.n && t.at[k].addr < s->at[i].addr)
			k++;
		if (!s->at[i].is_line && k < t.n && t.at[k].addr == s->at[i].addr)
			end[i] = k + 1 < t.n ? t.at[k + 1].addr : s->text.high;
	}
	free(t.at);
	return end;
}

/* ---- ranges ---- */

static void add_ranges(const struct gnu *g, const struct pattern *p, uint32_t rank,
		       range_list *ranges)
{
	const struct symbols *s = g->m->symbols;

	if (pattern_is_everything(p))
		vec_push(ranges, ((struct spec_range){ 0, g->end[s->n - 1], rank }));
	for (size_t k = 0; k < p->found.n; k++) {
		symid id = p->found.at[k];
		if (k && id == p->found.at[k - 1] + 1)
			ranges->at[ranges->n - 1].end = g->end[id];
		else
			vec_push(ranges, ((struct spec_range){ id, g->end[id], rank }));
	}
}

static int by_start(const void *l, const void *r)
{
	const struct spec_range *a = l, *b = r;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return ORDER(a->rank, b->rank);
}

/* The old entries stay after the end of the shortened list, as in GNU's memory. */
static void clean(const struct gnu *g, range_list *ranges)
{
	size_t n = 0;
	for (size_t i = 0; i < ranges->n; i++) {
		const struct spec_range *r = &ranges->at[i];
		if ((n && r->first == ranges->at[n - 1].first) || r->end <= address(g, r->first))
			continue;
		ranges->at[n++] = *r;
	}
	ranges->n = n;
}

/* ---- into the selection ---- */

/* For a place GNU looks only at the last range that starts before it. */
static void add_symbols(const struct gnu *g, const range_list *ranges, enum sel table)
{
	size_t n = g->m->symbols->n;

	for (size_t i = 0; i < ranges->n; i++) {
		const struct spec_range *r = &ranges->at[i];
		symid limit = i + 1 < ranges->n ? r[1].first : (symid)n;
		for (symid id = r->first; id < limit && address(g, id) < r->end; id++)
			selection_add(g->ret, table, id);
	}
}

typedef VEC(symid) symid_list;

static int by_id(const void *l, const void *r)
{
	symid a = *(const symid *)l, b = *(const symid *)r;
	return ORDER(a, b);
}

/* Removes duplicates, as ranges of one spec may overlap. */
static void make_unique(symid_list *ids)
{
	size_t n = 0;
	if (ids->n)
		qsort(ids->at, ids->n, sizeof(*ids->at), by_id);
	for (size_t i = 0; i < ids->n; i++)
		if (!n || ids->at[n - 1] != ids->at[i])
			ids->at[n++] = ids->at[i];
	ids->n = n;
}

/* Callers: places that start within one of the spec's remaining ranges. */
static symid_list find_callers(const struct gnu *g, const range_list *ranges, uint32_t rank)
{
	symid_list ids = { 0 };

	for (size_t k = 0; k < ranges->n; k++) {
		const struct spec_range *r = &ranges->at[k];
		if (r->rank != rank)
			continue;
		for (symid id = r->first; id < g->m->symbols->n && address(g, id) < r->end; id++)
			vec_push(&ids, id);
	}
	make_unique(&ids);
	return ids;
}

/* Callees: places that lie completely within a range. */
static symid_list find_callees(const struct gnu *g, const struct pattern *p)
{
	range_list ranges = { 0 };
	symid_list ids = { 0 };

	add_ranges(g, p, 0, &ranges);
	for (size_t k = 0; k < ranges.n; k++) {
		const struct spec_range *r = &ranges.at[k];
		for (symid id = r->first; id < g->m->symbols->n && address(g, id) < r->end; id++)
			if (g->end[id] <= r->end)
				vec_push(&ids, id);
	}
	make_unique(&ids);
	vec_free(&ranges);
	return ids;
}

static void add_arcs(const struct gnu *g, size_t i, const range_list *ranges, uint32_t rank)
{
	if (!g->m->has_right[i])
		return;
	symid_list from = find_callers(g, ranges, rank), to = find_callees(g, &g->m->right[i]);
	if (!from.n || !to.n) {
		vec_free(&from);
		vec_free(&to);
		return;
	}
	selection_add_arc(g->ret, g->m->specs[i].table == SPEC_INCL_ARCS,
			  (struct sel_arc){ from.at, to.at, from.n, to.n });
}

/* ---- calls for -r ---- */

static size_t count_ranges(const struct pattern *p)
{
	size_t n = pattern_is_everything(p);
	for (size_t k = 0; k < p->found.n; k++)
		n += !k || p->found.at[k] != p->found.at[k - 1] + 1;
	return n;
}

/* Notes a call for -r. In GNU's memory, the entry for FROM may have become another one when the
 * table was cleaned: `after` is the entry there now. Entries of one spec are in a list already, and
 * are used together as soon as the first is. A list of TOs makes GNU's output endless. */
static void note_call(const struct gnu *g, size_t i, const struct spec_range *after)
{
	const struct pattern *to = &g->m->right[i];
	if (!g->m->has_right[i] || !count_ranges(to))
		return;
	struct symspec_call call = { after->first, NONE };
	if (count_ranges(&g->m->left[i]) == 1) {
		if (count_ranges(to) != 1)
			return;
		call.to = pattern_is_everything(to) ? 0 : to->found.at[0];
	}
	vec_push(&g->calls[i].v, call);
}

/* ---- the whole selection ---- */

static void add_table(const struct gnu *g, int table)
{
	const struct matcher *m = g->m;
	range_list ranges = { 0 };
	VEC(uint32_t) ranks = { 0 }; /* ranks of the ranges before cleaning */

	for (size_t i = m->n; i-- > 0;)
		if (m->specs[i].table == table)
			add_ranges(g, &m->left[i], (uint32_t)(m->n - 1 - i), &ranges);
	if (ranges.n)
		qsort(ranges.at, ranges.n, sizeof(*ranges.at), by_start);
	for (size_t k = 0; k < ranges.n; k++)
		vec_push(&ranks, ranges.at[k].rank);
	clean(g, &ranges);
	for (size_t k = 0; k < ranks.n; k++)
		note_call(g, m->n - 1 - ranks.at[k], &ranges.at[k]);

	if (table < SEL_N)
		add_symbols(g, &ranges, (enum sel)table);
	for (size_t i = 0; table >= SEL_N && i < m->n; i++)
		if (m->specs[i].table == table)
			add_arcs(g, i, &ranges, (uint32_t)(m->n - 1 - i));
	if (table == SPEC_INCL_ARCS && ranges.n) /* even if no callee was found */
		g->ret->any_incl_arc = true;
	vec_free(&ranges);
	vec_free(&ranks);
}

static void hand_out_calls(const struct gnu *g, struct symspec_calls *to)
{
	for (size_t i = g->m->n; to && i-- > 0;)
		for (size_t k = g->calls[i].v.n; k-- > 0;)
			vec_push(&to->v, g->calls[i].v.at[k]);
}

/* The functions that are excluded by default are specs like any other, given last. */
void symspec_select_gnu(struct symbols *s, const struct symspec *specs, size_t n,
			const struct symspec_opts *opts, struct selection *ret)
{
	static const enum sel tables[] = { SEL_EXCL_TIME, SEL_EXCL_GRAPH, SEL_EXCL_FLAT };
	VEC(struct symspec) all = { 0 };

	for (size_t i = 0; i < n; i++)
		vec_push(&all, specs[i]);
	for (size_t i = 0; i < SELECTION_GNU_EXCLUDES; i++)
		for (size_t k = 0; k < ARRAY_LEN(tables); k++)
			vec_push(&all, ((struct symspec){ selection_profiler_functions[i],
							  tables[k], 0 }));

	struct matcher m = { .symbols = s, .specs = all.at, .n = all.n, .opts = opts };
	struct gnu g = { .m = &m, .end = find_ends(s), .ret = ret };
	g.calls = xalloc(all.n * sizeof(*g.calls));
	matcher_match(&m);
	for (int table = 0; table <= SPEC_EXCL_ARCS; table++)
		add_table(&g, table);
	hand_out_calls(&g, opts->calls);
	matcher_done(&m);
	for (size_t i = 0; i < all.n; i++)
		vec_free(&g.calls[i].v);
	free(g.calls);
	free(g.end);
	vec_free(&all);
}

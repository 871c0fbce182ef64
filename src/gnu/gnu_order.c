/* gnu_order.c - orders by hubs and chains, as suggested by gprof. */
#include "gnu/gnu_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "gnu/chains.h"

struct function_order {
	const struct callgraph *g;
	const struct order_opts *o;
	struct link *extra; /* [o->n_extra]: links between nodes after those of the symbols */
	struct chains c;
	struct link *links; /* [g->n_arcs], in the order of g->arcs */
	link_list by_use;   /* all links except direct recursion, by count */
	symid *used;        /* functions, by how many of the busiest arcs end in them */
	size_t n_used;
	uint32_t *uses; /* [n_symbols] */
};

static void make_links(struct function_order *f)
{
	f->links = xalloc(f->g->n_arcs * sizeof(*f->links));
	for (size_t i = 0; i < f->g->n_arcs; i++) {
		const struct cg_arc *a = &f->g->arcs[i];
		f->links[i] = (struct link){ a->from, a->to, 0, a->count, false };
		f->links[i].rank = callgraph_arc_seq(f->g, (arcid)i) + (uint32_t)f->o->n_extra;
		if (a->from != a->to)
			vec_push(&f->by_use, &f->links[i]);
	}
	f->extra = xalloc(f->o->n_extra * sizeof(*f->extra));
	for (size_t i = 0; i < f->o->n_extra; i++) {
		uint32_t node = (uint32_t)(f->g->n_symbols + 2 * i);
		f->extra[i] = (struct link){ node, node + 1, (uint32_t)i, 0, false };
		if (f->o->extra[i].to != NONE)
			vec_push(&f->by_use, &f->extra[i]);
	}
	links_sort(&f->by_use);
}

/* Counts for each function the arcs to it among those that make 90 % of all calls. */
static void count_uses(struct function_order *f)
{
	uint64_t total = 0, sum = 0;

	f->uses = xalloc(f->c.n * sizeof(*f->uses));
	for (size_t i = 0; i < f->by_use.n; i++)
		total += f->by_use.at[i]->count;
	for (size_t i = 0; i < f->by_use.n; i++) {
		sum += f->by_use.at[i]->count;
		if ((double)sum / (double)total > 0.90)
			break;
		f->uses[f->by_use.at[i]->to]++;
	}
}

static int compare_uses(const void *l, const void *r, void *arg)
{
	const uint32_t *uses = arg;
	symid a = *(const symid *)l, b = *(const symid *)r;
	if (uses[a] != uses[b])
		return uses[a] > uses[b] ? -1 : 1;
	return ORDER(a, b);
}

static void list_used(struct function_order *f)
{
	f->used = xalloc(f->g->n_symbols * sizeof(*f->used));
	for (symid i = 0; i < f->g->n_symbols; i++) {
		if (f->g->nodes[i].calls)
			f->used[f->n_used++] = i;
		else
			f->c.nodes[i].placed = true;
	}
	qsort_r(f->used, f->n_used, sizeof(*f->used), compare_uses, f->uses);
}

static int newest_first(const void *l, const void *r)
{
	const struct link *a = *(struct link *const *)l, *b = *(struct link *const *)r;
	return (a->rank < b->rank) - (a->rank > b->rank);
}

/* All links of a function: those from it, then those to it, each part newest first. */
static void links_of(const struct function_order *f, symid id, link_list *to)
{
	const struct cg_node *n = &f->g->nodes[id];
	link_list in = { 0 };

	for (uint32_t k = n->n_out; k-- > 0;)
		vec_push(to, &f->links[n->first_out + k]);
	for (uint32_t k = 0; k < n->n_in; k++)
		vec_push(&in, &f->links[f->g->in[n->first_in + k].arc]);
	if (in.n)
		qsort(in.at, in.n, sizeof(*in.at), newest_first);
	for (size_t k = 0; k < in.n; k++)
		vec_push(to, in.at[k]);
	vec_free(&in);
}

/* GNU: the first 1/80 of the functions in use go first, up to one with exactly five uses. Of these
 * only the ones before the last are written, and those that have an arc to another of them; the
 * rest is lost. Their arcs count as placed already, so no chains are made of them. */
static void place_hubs_gnu(struct function_order *f)
{
	link_list touched = { 0 }, between = { 0 }, ignored = { 0 };
	size_t last = 0;

	for (size_t i = 0; i < f->n_used / 80 && f->uses[f->used[i]] != 5; i++) {
		links_of(f, f->used[i], &touched);
		f->c.nodes[f->used[i]].placed = true;
		last = i;
	}
	for (size_t i = 0; i < touched.n; i++) {
		struct link *l = touched.at[i];
		l->placed = true;
		if (l->from == l->to || !f->c.nodes[l->from].placed || !f->c.nodes[l->to].placed)
			continue;
		vec_push(&between, l);
		f->c.nodes[l->from].placed = f->c.nodes[l->to].placed = false;
	}
	for (size_t i = 0; i < last; i++)
		if (f->c.nodes[f->used[i]].placed)
			chains_emit(&f->c, f->used[i]);
	for (size_t i = 0; i < between.n; i++) /* keeps the order of ties */
		between.at[i]->rank = (uint32_t)i;
	links_sort(&between);
	chains_order(&f->c, &between, true, &ignored);
	vec_free(&touched);
	vec_free(&between);
	vec_free(&ignored);
}

/* Places at most 1/80 of the functions in use, those with five uses or more: first those without
 * arcs to another of them, then chains of the others. */
static void place_hubs(struct function_order *f)
{
	link_list between = { 0 }, ignored = { 0 };
	bool *is_hub = xalloc(f->g->n_symbols * sizeof(*is_hub));
	bool *is_tied = xalloc(f->g->n_symbols * sizeof(*is_tied));
	size_t n = 0;

	for (; n < f->n_used / 80 && f->uses[f->used[n]] >= 5; n++)
		is_hub[f->used[n]] = true;
	for (size_t i = 0; n && i < f->by_use.n; i++) {
		struct link *l = f->by_use.at[i];
		if (!is_hub[l->from] || !is_hub[l->to])
			continue;
		vec_push(&between, l);
		is_tied[l->from] = is_tied[l->to] = true;
	}
	for (size_t i = 0; i < n; i++)
		if (!is_tied[f->used[i]])
			chains_emit(&f->c, f->used[i]);
	chains_order(&f->c, &between, true, &ignored);
	for (size_t i = 0; i < n; i++)
		if (!f->c.nodes[f->used[i]].placed)
			chains_emit(&f->c, f->used[i]);
	vec_free(&between);
	vec_free(&ignored);
	free(is_hub);
	free(is_tied);
}

static void place_rest(struct function_order *f)
{
	link_list left = { 0 }, ignored = { 0 };

	chains_order(&f->c, &f->by_use, false, &left);
	for (size_t i = 0; i < f->o->n_extra; i++)
		if (f->o->extra[i].to == NONE)
			chains_emit(&f->c, f->extra[i].from);
	chains_order(&f->c, &left, true, &ignored);
	for (symid i = 0; i < f->g->n_symbols; i++)
		if (f->g->nodes[i].calls && !f->c.nodes[i].placed)
			chains_emit(&f->c, i);
	for (symid i = 0; i < f->g->n_symbols; i++) {
		const struct symbol *s = &f->g->symbols->at[i];
		/* Linkers cannot place source lines, cold pieces, and linkage table entries. */
		if (!f->o->gnu &&
		    (s->is_line || s->owner != i || s->name[0] == '.' || strchr(s->name, '@')))
			continue;
		if (!f->g->nodes[i].calls)
			chains_emit(&f->c, i);
	}
	vec_free(&left);
	vec_free(&ignored);
}

/* The symbol of a node. */
static symid symbol_of(const struct function_order *f, uint32_t node)
{
	size_t n = f->g->n_symbols;
	if (node < n)
		return node;
	const struct order_call *call = &f->o->extra[(node - n) / 2];
	return (node - n) % 2 ? call->to : call->from;
}

symid *order_functions(const struct callgraph *g, const struct order_opts *opts, size_t *n)
{
	struct function_order f = { .g = g, .o = opts };

	chains_init(&f.c, g->n_symbols + 2 * opts->n_extra);
	make_links(&f);
	count_uses(&f);
	list_used(&f);
	if (opts->gnu)
		place_hubs_gnu(&f);
	else
		place_hubs(&f);
	place_rest(&f);

	for (size_t i = 0; i < f.c.order.n; i++)
		f.c.order.at[i] = symbol_of(&f, f.c.order.at[i]);
	symid *order = TAKE(f.c.order.at);
	*n = f.c.order.n;
	free(f.links);
	free(f.extra);
	free(f.used);
	free(f.uses);
	vec_free(&f.by_use);
	chains_done(&f.c);
	return order;
}

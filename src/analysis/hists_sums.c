/* hists_sums.c - what samples add up to along the tree of paths: for rows, and for their chains. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hists_private.h"

/* ---- sums over paths ---- */

/* Chains go from a path to those below it, again and again: these are put next to it. */
static void renumber(struct hists_private *h)
{
	size_t n = h->paths.n;
	pathid *before = path_tree_renumber(h->tree);
	struct path *paths = xrealloc(NULL, n, sizeof(*paths));
	pathid *now = h->leaves.n ? xrealloc(NULL, n, sizeof(*now)) : NULL;
	for (size_t i = 0; i < n; i++)
		paths[i] = h->paths.at[before[i]];
	for (size_t i = 0; i < n && now; i++)
		now[before[i]] = (pathid)i;
	for (size_t i = 0; i < h->leaves.n; i++)
		h->leaves.at[i].path = now[h->leaves.at[i].path];
	free(before);
	free(now);
	free(h->paths.at);
	h->paths.at = paths;
	h->paths.cap = n;
}

static const struct hist_stat *own_at(const struct hists_private *h, size_t path)
{
	return &h->own.at[h->paths.at[path].own * h->hists.opts->n_events];
}

static void sum_below(struct hists_private *h)
{
	size_t n_events = h->hists.opts->n_events;
	h->below = xalloc((h->paths.n * n_events + 1) * sizeof(*h->below));
	for (size_t i = h->paths.n; i-- > 0;) {
		struct hist_stat *below = &h->below[i * n_events];
		if (h->paths.at[i].own)
			hist_stat_add(below, own_at(h, i), n_events);
		if (i)
			hist_stat_add(&h->below[h->tree->nodes[i].caller * n_events], below,
				      n_events);
	}
}

/* At each path the last one above it of each row is known. */
struct above {
	struct path *paths;
	pathid *last; /* [row] */
};

static void enter(pathid node, void *arg)
{
	struct above *a = arg;
	struct path *p = &a->paths[node];
	if (p->row == NONE)
		return;
	p->above = a->last[p->row];
	a->last[p->row] = node;
}

static void leave(pathid node, void *arg)
{
	struct above *a = arg;
	const struct path *p = &a->paths[node];
	if (p->row != NONE)
		a->last[p->row] = p->above;
}

static void find_above(struct hists_private *h)
{
	struct above a = { h->paths.at, xalloc((h->rows.n + 1) * sizeof(*a.last)) };
	path_tree_visit(h->tree, &(struct path_visitor){ enter, leave, &a });
	free(a.last);
}

static bool is_on_path(const struct hists_private *h, pathid path, uint32_t row)
{
	for (; path; path = h->tree->nodes[path].caller)
		if (h->paths.at[path].row == row)
			return true;
	return false;
}

static void sum_rows(struct hists_private *h)
{
	size_t n_events = h->hists.opts->n_events;
	h->self = xalloc((h->rows.n * n_events + 1) * sizeof(*h->self));
	h->children = xalloc((h->rows.n * n_events + 1) * sizeof(*h->children));
	for (size_t i = 0; i < h->paths.n; i++) {
		const struct path *p = &h->paths.at[i];
		if (p->row == NONE)
			continue;
		if (p->own)
			hist_stat_add(&h->self[p->row * n_events], own_at(h, i), n_events);
		if (!p->above)
			hist_stat_add(&h->children[p->row * n_events], &h->below[i * n_events],
				      n_events);
	}
	for (size_t i = 0; i < h->leaves.n; i++) {
		const struct leaf *l = &h->leaves.at[i];
		const struct hist_stat *own = &h->leaf_own.at[i * n_events];
		uint32_t row = h->paths.at[l->path].row; /* NONE: of a root */
		for (size_t e = 0; e < n_events && row != NONE; e++)
			hist_stat_take(&h->self[row * n_events + e], &own[e]);
		hist_stat_add(&h->self[l->row * n_events], own, n_events);
		if (!is_on_path(h, l->path, l->row))
			hist_stat_add(&h->children[l->row * n_events], own, n_events);
	}
}

/* ---- for chains ---- */

static void count_into_slots(uint32_t *first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		first[i + 1] += first[i];
}

/* Paths whose samples reach a row: in caller order the outermost ones of the row, in callee order
 * all that are the innermost one for some sample. */
static bool is_start(const struct hists_private *h, pathid i)
{
	const struct path *p = &h->paths.at[i];
	if (p->row == NONE)
		return false;
	return h->hists.opts->order == CHAIN_CALLER
		       ? !p->above
		       : h->innermost[i].count || h->innermost[i].weight;
}

static void list_paths(struct hists_private *h)
{
	size_t n_rows = h->rows.n;
	h->first_path = xalloc((n_rows + 2) * sizeof(*h->first_path));
	for (size_t i = 0; i < h->paths.n; i++)
		if (is_start(h, (pathid)i))
			h->first_path[h->paths.at[i].row + 2]++;
	count_into_slots(h->first_path + 1, n_rows);
	h->paths_of = xrealloc(NULL, h->first_path[n_rows + 1] + 1, sizeof(*h->paths_of));
	for (size_t i = 0; i < h->paths.n; i++)
		if (is_start(h, (pathid)i))
			h->paths_of[h->first_path[h->paths.at[i].row + 1]++] = (pathid)i;
}

/* Chains of leaves are whole ones; they end here. */
static bool ends_here(const struct hists_private *h, pathid i)
{
	const struct path *p = &h->paths.at[i];
	const struct hist_stat *regular = &h->regular[p->own];
	return p->own && p->row != NONE && (regular->count || regular->weight);
}

/* Takes the place of h->own, which nobody asks for any more. */
static void find_regular(struct hists_private *h)
{
	size_t n_events = h->hists.opts->n_events;
	h->regular = h->own.at;
	for (size_t i = 0; i < h->own.n / n_events; i++)
		h->regular[i] = h->own.at[i * n_events];
	h->own.at = NULL;
	h->own.n = h->own.cap = 0;
	for (size_t i = 0; i < h->leaves.n; i++)
		hist_stat_take(&h->regular[h->paths.at[h->leaves.at[i].path].own],
			       &h->leaf_own.at[i * n_events]);
}

static void list_leaves(struct hists_private *h)
{
	size_t n_rows = h->rows.n;
	h->first_leaf = xalloc((n_rows + 2) * sizeof(*h->first_leaf));
	for (size_t i = 0; i < h->paths.n; i++)
		if (ends_here(h, (pathid)i))
			h->first_leaf[h->paths.at[i].row + 2]++;
	for (size_t i = 0; i < h->leaves.n; i++)
		h->first_leaf[h->leaves.at[i].row + 2]++;
	count_into_slots(h->first_leaf + 1, n_rows);
	h->leaves_of = xrealloc(NULL, h->first_leaf[n_rows + 1] + 1, sizeof(*h->leaves_of));
	for (size_t i = 0; i < h->paths.n; i++)
		if (ends_here(h, (pathid)i))
			h->leaves_of[h->first_leaf[h->paths.at[i].row + 1]++] = (uint32_t)i;
	for (size_t i = 0; i < h->leaves.n;
	     i++) /* behind the paths: that is how they are told apart */
		h->leaves_of[h->first_leaf[h->leaves.at[i].row + 1]++] = (uint32_t)(h->paths.n + i);
}

static void find_innermost(struct hists_private *h)
{
	size_t n_events = h->hists.opts->n_events;
	h->innermost = xalloc((h->paths.n + 1) * sizeof(*h->innermost));
	for (size_t i = 0; i < h->paths.n; i++)
		hist_stat_add(&h->innermost[i], &h->below[i * n_events], 1);
	for (size_t i = 0; i < h->paths.n; i++)
		if (h->paths.at[i].above)
			hist_stat_take(&h->innermost[h->paths.at[i].above],
				       &h->below[i * n_events]);
	/* Samples whose Self goes elsewhere have their whole chain there. */
	for (size_t i = 0; i < h->leaves.n; i++) {
		pathid at = h->leaves.at[i].path;
		while (at && h->paths.at[at].row != h->leaves.at[i].row)
			at = h->tree->nodes[at].caller;
		if (at)
			hist_stat_take(&h->innermost[at], &h->leaf_own.at[i * n_events]);
	}
}

static void deepen(struct hists_private *h, uint32_t row, uint32_t depth)
{
	if (row != NONE && h->rows.at[row].depth < depth)
		h->rows.at[row].depth = depth;
}

static bool is_any(const struct hist_stat *s) { return s->count || s->weight; }

/* Chains are the first event's. */
static void find_row_depths(struct hists_private *h)
{
	size_t n_events = h->hists.opts->n_events;
	uint32_t *height =
		xalloc((h->paths.n + 1) * sizeof(*height)); /* hops from here to the end */
	for (size_t i = h->paths.n; i-- > 1;) {
		pathid caller = h->tree->nodes[i].caller;
		if (is_any(&h->below[i * n_events]) && height[i] + 1 > height[caller])
			height[caller] = height[i] + 1;
	}
	for (size_t i = 0; i < h->paths.n; i++) {
		const struct path *p = &h->paths.at[i];
		if (!is_any(&h->below[i * n_events]))
			continue;
		if (h->hists.opts->order == CHAIN_CALLER && !p->above)
			deepen(h, p->row, height[i] + 1);
		if (ends_here(h, (pathid)i) ||
		    (h->hists.opts->order == CHAIN_CALLEE && is_start(h, (pathid)i)))
			deepen(h, p->row, p->depth);
	}
	for (size_t i = 0; i < h->leaves.n; i++)
		if (is_any(&h->leaf_own.at[i * n_events]))
			deepen(h, h->leaves.at[i].row, h->paths.at[h->leaves.at[i].path].depth);
	free(height);
}

void hists_sum_paths(struct hists_private *h)
{
	h->tree = path_maker_end(&h->maker);
	if (h->hists.opts->chains)
		renumber(h);
	sum_below(h);
	find_above(h);
	sum_rows(h);
	if (!h->hists.opts->chains || !h->hists.opts->n_events) /* without events no rows */
		return;
	find_regular(h);
	if (h->hists.opts->order == CHAIN_CALLEE)
		find_innermost(h);
	list_paths(h);
	list_leaves(h);
	find_row_depths(h);
}

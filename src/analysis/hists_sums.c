/* hists_sums.c - sums samples along the paths: for rows, and for the chains of rows. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hists_private.h"
#include "base/sort.h"

/* ---- the list of paths ---- */

/* Until a path is listed, its first_end is the number of its sums in own[]. */
static void place_ends(struct hists_private *h, const pathid *numbers)
{
	for (size_t i = 0; i < h->own_at.n; i++)
		if (h->own_at.at[i])
			h->paths[numbers[i]].first_end = h->own_at.at[i];
	for (size_t i = 0; i < h->leaves.n; i++)
		h->leaves.at[i].path = numbers[h->leaves.at[i].path];
}

static uint32_t row_of(struct hists_private *h, uint32_t skey, uint32_t hop, uint32_t own)
{
	if (h->hists.opts->no_children)
		return h->own_rows.at[own];
	return hists_row(h, skey, hop, 0);
}

/* Lists the paths. Paths that follow a root in the list are below it, and have its skey. */
static void list_paths(struct hists_private *h)
{
	pathid *numbers = path_maker_list(&h->maker, &h->list);
	size_t n = h->list.n;
	uint32_t skey = 0;
	h->paths = xalloc((n + 1) * sizeof(*h->paths));
	place_ends(h, numbers);
	free(numbers);
	vec_free(&h->own_at);
	vec_reserve(&h->ends, h->own_rows.n);
	h->paths[0].row = h->paths[n].row = NONE;
	for (size_t i = 1; i < n; i++) {
		const struct listed_path *l = &h->list.at[i];
		struct path *p = &h->paths[i];
		uint32_t own = p->first_end;
		p->row = NONE;
		if (l->caller) {
			p->depth = h->paths[l->caller].depth + 1;
			p->row = row_of(h, skey, l->place, own);
		} else {
			skey = l->place;
		}
		p->first_end = (uint32_t)h->ends.n;
		if (own)
			vec_push(&h->ends, ((struct path_end){ (pathid)i, own }));
	}
	h->paths[n].first_end = (uint32_t)h->ends.n;
	vec_free(&h->own_rows);
}

/* Finds for each path the next one above it with the same row. `last` is the last path of each row;
 * from there, paths that do not contain this one are skipped. */
static void find_above(struct hists_private *h)
{
	pathid *last = xalloc((h->rows.n + 1) * sizeof(*last)); /* [row] */
	for (size_t i = 1; i < h->list.n; i++) {
		struct path *p = &h->paths[i];
		if (p->row == NONE)
			continue;
		pathid above = last[p->row];
		while (above && h->list.at[above].end <= i)
			above = h->paths[above].above;
		p->above = above;
		last[p->row] = (pathid)i;
	}
	free(last);
}

/* ---- sums of rows ---- */

static const struct hist_stat *own_of(const struct hists_private *h, const struct path_end *end)
{
	return &h->own.at[end->own * h->hists.opts->n_events];
}

static void sum_ends(struct hists_private *h, size_t event)
{
	struct path_sum sum = { 0 };
	for (size_t i = 0; i < h->ends.n; i++) {
		const struct hist_stat *own = &own_of(h, &h->ends.at[i])[event];
		h->sums[i] = sum;
		sum.weight += own->weight;
		sum.count += own->count;
	}
	h->sums[h->ends.n] = sum;
}

/* [path]: latency of samples that end there or below; NULL: the weight is used instead. */
static double *latencies_below(const struct hists_private *h, size_t event)
{
	double *below = h->has_latency ? xalloc(h->list.n * sizeof(*below)) : NULL;
	for (size_t i = h->list.n, end = h->ends.n; below && i-- > 1;) {
		if (end && h->ends.at[end - 1].path == i)
			below[i] += own_of(h, &h->ends.at[--end])[event].latency;
		below[h->list.at[i].caller] += below[i];
	}
	return below;
}

static void sum_children(struct hists_private *h, size_t event)
{
	double *latencies = latencies_below(h, event);
	for (size_t i = 1; i < h->list.n; i++) {
		const struct path *p = &h->paths[i];
		if (p->row == NONE || p->above)
			continue;
		struct path_sum below = hists_sum_below(h, (pathid)i);
		struct hist_stat stat = { below.weight, below.count,
					  latencies ? latencies[i] : (double)below.weight };
		hist_stat_add_one(&h->children[p->row * h->hists.opts->n_events + event], &stat);
	}
	free(latencies);
}

static bool is_on_path(const struct hists_private *h, pathid path, uint32_t row)
{
	for (; path; path = h->list.at[path].caller)
		if (h->paths[path].row == row)
			return true;
	return false;
}

/* Moves Self of samples that goes to another row than that of their path. */
static void sum_leaves(struct hists_private *h)
{
	size_t n_events = h->hists.opts->n_events;
	for (size_t i = 0; i < h->leaves.n; i++) {
		const struct leaf *l = &h->leaves.at[i];
		const struct hist_stat *own = &h->leaf_own.at[i * n_events];
		uint32_t row = h->paths[l->path].row; /* NONE: a root */
		for (size_t e = 0; e < n_events && row != NONE; e++)
			hist_stat_take(&h->self[row * n_events + e], &own[e]);
		hist_stat_add(&h->self[l->row * n_events], own, n_events);
		if (!is_on_path(h, l->path, l->row))
			hist_stat_add(&h->children[l->row * n_events], own, n_events);
	}
}

/* Sums all rows. The first event comes last, as its sums are kept for chains. */
static void sum_rows(struct hists_private *h)
{
	size_t n_events = h->hists.opts->n_events;
	h->self = xalloc((h->rows.n * n_events + 1) * sizeof(*h->self));
	h->children = xalloc((h->rows.n * n_events + 1) * sizeof(*h->children));
	h->sums = xrealloc(NULL, h->ends.n + 1, sizeof(*h->sums));
	for (size_t i = 0; i < h->ends.n; i++) {
		uint32_t row = h->paths[h->ends.at[i].path].row;
		if (row != NONE)
			hist_stat_add(&h->self[row * n_events], own_of(h, &h->ends.at[i]),
				      n_events);
	}
	for (size_t event = n_events; event--;) {
		sum_ends(h, event);
		sum_children(h, event);
	}
	sum_leaves(h);
}

/* ---- for chains ---- */

static bool is_any(const struct path_sum *s) { return s->count || s->weight; }

static void count_into_slots(uint32_t *first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		first[i + 1] += first[i];
}

/* Whether chains of a row start at a path. In caller order these are the row's outermost paths, in
 * callee order all paths that are the innermost one for some sample. */
static bool is_start(const struct hists_private *h, pathid i)
{
	const struct path *p = &h->paths[i];
	if (p->row == NONE)
		return false;
	return h->hists.opts->order == CHAIN_CALLER ? !p->above : is_any(&h->innermost[i]);
}

static void list_starts(struct hists_private *h)
{
	size_t n_rows = h->rows.n;
	h->first_path = xalloc((n_rows + 2) * sizeof(*h->first_path));
	for (size_t i = 0; i < h->list.n; i++)
		if (is_start(h, (pathid)i))
			h->first_path[h->paths[i].row + 2]++;
	count_into_slots(h->first_path + 1, n_rows);
	h->paths_of = xrealloc(NULL, h->first_path[n_rows + 1] + 1, sizeof(*h->paths_of));
	for (size_t i = 0; i < h->list.n; i++)
		if (is_start(h, (pathid)i))
			h->paths_of[h->first_path[h->paths[i].row + 1]++] = (pathid)i;
}

static struct path_sum leaf_sum(const struct hists_private *h, size_t leaf)
{
	const struct hist_stat *own = &h->leaf_own.at[leaf * h->hists.opts->n_events];
	return (struct path_sum){ own->weight, own->count };
}

static void take(struct path_sum *from, struct path_sum x)
{
	from->weight -= x.weight;
	from->count -= x.count;
}

static void find_innermost(struct hists_private *h)
{
	h->innermost = xalloc((h->list.n + 1) * sizeof(*h->innermost));
	for (size_t i = 0; i < h->list.n; i++)
		h->innermost[i] = hists_sum_below(h, (pathid)i);
	for (size_t i = 0; i < h->list.n; i++)
		if (h->paths[i].above)
			take(&h->innermost[h->paths[i].above], hists_sum_below(h, (pathid)i));
	/* Samples whose Self goes to another row have their whole chain there. */
	for (size_t i = 0; i < h->leaves.n; i++) {
		pathid at = h->leaves.at[i].path;
		while (at && h->paths[at].row != h->leaves.at[i].row)
			at = h->list.at[at].caller;
		if (at)
			take(&h->innermost[at], leaf_sum(h, i));
	}
}

static void deepen(struct hists_private *h, uint32_t row, uint32_t depth)
{
	if (h->rows.at[row].depth < depth)
		h->rows.at[row].depth = depth;
}

static uint32_t max_depth(const struct hists_private *h)
{
	uint32_t max = 0;
	for (size_t i = 0; i < h->list.n; i++)
		max = h->paths[i].depth > max ? h->paths[i].depth : max;
	return max;
}

/* Finds the longest chain of each row, by the paths at which its chains start. Chains are those of
 * the first event. */
static void find_row_depths(struct hists_private *h)
{
	bool callee = h->hists.opts->order == CHAIN_CALLEE;
	/* [depth]: the greatest depth at or below the visited paths of this depth whose parent is
	 * not visited yet. */
	uint32_t *deepest = xalloc((max_depth(h) + 2) * sizeof(*deepest));
	for (size_t i = h->list.n; i-- > 1;) {
		const struct path *p = &h->paths[i];
		uint32_t *here = &deepest[p->depth], *below = here + 1, end = p->depth;
		const struct path_sum sum = hists_sum_below(h, (pathid)i);
		if (!is_any(&sum))
			continue;
		end = *below > end ? *below : end;
		*below = 0;
		*here = end > *here ? end : *here;
		if (p->row != NONE && is_start(h, (pathid)i))
			deepen(h, p->row, callee ? p->depth : end - p->depth + 1);
	}
	free(deepest);
}

/* Calls `put` for the samples of the first event at each end, in the order of paths. */
static void each_row_end(struct hists_private *h, const struct sort_key *leaves,
			 void (*put)(struct hists_private *h, uint32_t row,
				     const struct row_end *end))
{
	for (size_t i = 0, k = 0; i < h->ends.n; i++) {
		pathid path = h->ends.at[i].path;
		const struct hist_stat *own = own_of(h, &h->ends.at[i]);
		struct row_end here = { path, false, { own->weight, own->count } };
		for (; k < h->leaves.n && leaves[k].key == path; k++) {
			struct row_end elsewhere = { path, true, leaf_sum(h, leaves[k].index) };
			take(&here.sum, elsewhere.sum);
			if (is_any(&elsewhere.sum))
				put(h, h->leaves.at[leaves[k].index].row, &elsewhere);
		}
		if (h->paths[path].row != NONE && is_any(&here.sum))
			put(h, h->paths[path].row, &here);
	}
}

static void count_row_end(struct hists_private *h, uint32_t row, const struct row_end *end)
{
	h->first_row_end[row + 2]++;
	deepen(h, row, h->paths[end->path].depth);
}

static void put_row_end(struct hists_private *h, uint32_t row, const struct row_end *end)
{
	h->row_ends[h->first_row_end[row + 1]++] = *end;
}

static void list_row_ends(struct hists_private *h)
{
	size_t n_rows = h->rows.n;
	struct sort_key *leaves = xrealloc(NULL, h->leaves.n, sizeof(*leaves));
	for (size_t i = 0; i < h->leaves.n; i++)
		leaves[i] = (struct sort_key){ h->leaves.at[i].path, (uint32_t)i };
	sort_keys(leaves, h->leaves.n);
	h->first_row_end = xalloc((n_rows + 2) * sizeof(*h->first_row_end));
	each_row_end(h, leaves, count_row_end);
	count_into_slots(h->first_row_end + 1, n_rows);
	h->row_ends = xrealloc(NULL, h->first_row_end[n_rows + 1] + 1, sizeof(*h->row_ends));
	each_row_end(h, leaves, put_row_end);
	free(leaves);
}

void hists_sum_paths(struct hists_private *h)
{
	list_paths(h);
	find_above(h);
	sum_rows(h);
	if (!h->hists.opts->chains || !h->hists.opts->n_events) /* no events, no rows */
		return;
	if (h->hists.opts->order == CHAIN_CALLEE)
		find_innermost(h);
	list_starts(h);
	find_row_depths(h);
	list_row_ends(h);
	vec_free(&h->own);
}

/* callchain.c - makes a row's tree of call chains, level by level, by dividing strands of stacks
 * among the functions that they continue to. */
#include "analysis/callchain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hists_private.h"
#include "base/map64.h"
#include "base/search.h"

/* The parts of a node's samples, by position in the list of paths. */
enum strand_kind {
	SUBTREE, /* all samples at and below `at`, except those of the row's own ends there */
	UP,      /* one chain, which continues to the caller of `at` */
	WHOLE,   /* whole chains of samples with the row as leaf: those of the row's own ends at and
		    below `at` */
};

struct strand {
	enum strand_kind kind;
	pathid at;
	uint32_t from, to; /* ends[from .. to) of the row: those at and below `at`; for UP none */
	struct path_sum sum;
};

struct strand_list {
	VEC(struct strand) list;
};

struct group { /* strands of c->found whose hops are the same in chains */
	struct chain_node node;
	uint32_t class, number; /* number: order of creation */
	uint32_t n;             /* number of strands */
};

struct callchains {
	struct hists_private *h;
	struct callchain tree;
	VEC(struct chain_node) nodes;
	struct strand_list level, next, found;
	uint32_t *classes;  /* [hop]: the first hop that is the same in chains */
	uint32_t *group_at; /* [class]: its group; valid only if the group there is of this class */
	VEC(struct group) groups;
	VEC(uint32_t) group_of;  /* [strand of c->found] */
	VEC(uint32_t) places_in; /* [group]: index in c->next for its next strand; NONE: drop it */
	VEC(uint32_t) starts;    /* [node of the level]: index of its first strand */
	/* For whole chains: where samples with the row as leaf end, in the order of paths; and for
	 * each end the sum of the samples of those before it. */
	VEC(pathid) ends;
	VEC(struct path_sum) sums; /* one more than ends */
	bool below_only;
};

static void find_classes(struct callchains *c)
{
	struct map64 firsts = { 0 };
	size_t n = c->h->hops.n;
	c->classes = xrealloc(NULL, n + 1, sizeof(*c->classes));
	c->group_at = xalloc((n + 1) * sizeof(*c->group_at));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *first = map64_at(&firsts, c->h->hops.at[i].ckey);
		if (*first == NONE)
			*first = i;
		c->classes[i] = *first;
	}
	map64_free(&firsts);
}

struct callchains *callchains_new(const struct hists *hists)
{
	struct callchains *c = xalloc(sizeof(*c));
	c->h = hists->priv;
	find_classes(c);
	return c;
}

void callchains_free(struct callchains *c)
{
	if (!c)
		return;
	vec_free(&c->nodes);
	vec_free(&c->level.list);
	vec_free(&c->next.list);
	vec_free(&c->found.list);
	vec_free(&c->groups);
	vec_free(&c->group_of);
	vec_free(&c->places_in);
	vec_free(&c->starts);
	vec_free(&c->ends);
	vec_free(&c->sums);
	free(c->classes);
	free(c->group_at);
	free(c);
}

/* ---- strands ---- */

static struct path_sum sum_of_ends(const struct callchains *c, uint32_t from, uint32_t to)
{
	const struct path_sum *a = &c->sums.at[from], *b = &c->sums.at[to];
	return (struct path_sum){ b->weight - a->weight, b->count - a->count };
}

/* Index of the first end, from `from` on, that is not before the path. */
static uint32_t end_behind(const struct callchains *c, uint32_t from, pathid path)
{
	const pathid *ends = c->ends.at + from;
	size_t n = c->ends.n - from;
	if (!n || ends[0] >= path)
		return from;
	return from + (uint32_t)COUNT_WHILE(n, k, ends[k] < path);
}

/* Adds the samples below a path. Samples with whole chains are not counted here. */
static void add_subtree(struct callchains *c, pathid at, uint32_t from, uint32_t to)
{
	struct path_sum sum = hists_sum_below(c->h, at), whole = sum_of_ends(c, from, to);
	sum.weight -= whole.weight;
	sum.count -= whole.count;
	if (sum.count || sum.weight)
		vec_push(&c->found.list, ((struct strand){ SUBTREE, at, from, to, sum }));
}

/* Continues a chain to `at`. A root is no strand: there are no more frames to show. */
static void add_up(struct callchains *c, pathid at, struct path_sum sum)
{
	if (c->h->paths[at].depth && (sum.count || sum.weight))
		vec_push(&c->found.list, ((struct strand){ UP, at, 0, 0, sum }));
}

/* Adds the paths directly below `at`, and divides the row's ends among them. */
static void add_subtrees_below(struct callchains *c, pathid at, uint32_t from)
{
	const struct listed_path *list = c->h->list.at;
	from = end_behind(c, from, at + 1);
	for (pathid p = at + 1; p < list[at].end; p = list[p].end) {
		uint32_t to = end_behind(c, from, list[p].end);
		add_subtree(c, p, from, to);
		from = to;
	}
}

static void add_wholes_below(struct callchains *c, pathid at, uint32_t from, uint32_t to)
{
	const struct listed_path *list = c->h->list.at;
	from = end_behind(c, from, at + 1);
	for (pathid p = at + 1; from < to; p = list[p].end) {
		uint32_t next = end_behind(c, from, list[p].end);
		if (next > from)
			vec_push(&c->found.list, ((struct strand){ WHOLE, p, from, next,
								   sum_of_ends(c, from, next) }));
		from = next;
	}
}

/* ---- starts of a row's chains ---- */

/* Starts the whole chains at the root. All paths of a row have the same root. */
static void start_wholes(struct callchains *c, size_t row)
{
	const struct hists_private *h = c->h;
	struct path_sum sum = { 0 };
	for (uint32_t i = h->first_row_end[row]; i < h->first_row_end[row + 1]; i++) {
		const struct row_end *end = &h->row_ends[i];
		vec_push(&c->ends, end->path);
		sum.weight += end->sum.weight;
		sum.count += end->sum.count;
		vec_push(&c->sums, sum);
	}
	if (!c->ends.n)
		return;
	pathid root = c->ends.at[0];
	while (h->paths[root].depth)
		root = h->list.at[root].caller;
	add_wholes_below(c, root, 0, (uint32_t)c->ends.n);
}

/* Starts the chains of samples whose Self is the row's but which start_row() does not count among
 * the samples of the row's paths. */
static void start_leaves(struct callchains *c, size_t row)
{
	const struct hists_private *h = c->h;
	for (uint32_t i = h->first_row_end[row]; i < h->first_row_end[row + 1]; i++) {
		const struct row_end *end = &h->row_ends[i];
		if (end->is_elsewhere || h->hists.opts->no_children)
			add_up(c, end->path, end->sum);
	}
}

static void start_row(struct callchains *c, size_t row)
{
	const struct hists_private *h = c->h;
	bool callee = h->hists.opts->order == CHAIN_CALLEE;
	uint32_t from = 0, to;
	if (callee)
		start_leaves(c, row);
	else if (!c->below_only)
		start_wholes(c, row);
	if (h->hists.opts->no_children)
		return;
	for (uint32_t i = h->first_path[row]; i < h->first_path[row + 1]; i++, from = to) {
		pathid at = h->paths_of[i];
		from = end_behind(c, from, at);
		to = end_behind(c, from, h->list.at[at].end);
		if (callee)
			add_up(c, at, h->innermost[at]);
		else
			add_subtree(c, at, from, to);
	}
}

/* ---- levels ---- */

/* Adds the strands that follow a strand to c->found. */
static void follow(struct callchains *c, const struct strand *s)
{
	switch (s->kind) {
	case SUBTREE:
		add_subtrees_below(c, s->at, s->from);
		break;
	case UP:
		add_up(c, c->h->list.at[s->at].caller, s->sum);
		break;
	case WHOLE:
		add_wholes_below(c, s->at, s->from, s->to);
		break;
	}
}

/* Higher places first, and later objects first: an arbitrary order, which is perf's. */
static int by_place(const struct hists_private *h, uint32_t a, uint32_t b)
{
	const struct hop *x = &h->hops.at[a], *y = &h->hops.at[b];
	struct program *g = h->hists.program;
	const struct frame *fx = &h->hists.profile->samples.frames[x->frame];
	const struct frame *fy = &h->hists.profile->samples.frames[y->frame];
	if (x->place != y->place && x->place != NONE && y->place != NONE) {
		objid ox = program_object(g, x->place), oy = program_object(g, y->place);
		if (ox != oy)
			return ox > oy ? -1 : 1;
		uint64_t sx = program_start(g, x->place), sy = program_start(g, y->place);
		if (sx != sy)
			return sx > sy ? -1 : 1;
	}
	if (fx->addr != fy->addr)
		return fx->addr > fy->addr ? -1 : 1;
	return x->ckey > y->ckey ? -1 : x->ckey < y->ckey;
}

struct node_order {
	const struct hists_private *h;
	bool by_name;
};

static int by_weight(const void *a, const void *b, void *arg)
{
	const struct node_order *o = arg;
	const struct group *x = a, *y = b;
	if (!o->by_name && x->node.sum != y->node.sum)
		return x->node.sum > y->node.sum ? -1 : 1;
	return by_place(o->h, x->node.hop, y->node.hop);
}

/* The group for a hop's class; a new one if there is none yet. */
static struct group *group_for(struct callchains *c, uint32_t parent, uint32_t hop)
{
	uint32_t class = c->classes[hop], at = c->group_at[class];
	if (at < c->groups.n && c->groups.at[at].class == class)
		return &c->groups.at[at];
	at = c->group_at[class] = (uint32_t)c->groups.n;
	vec_push(&c->groups,
		 ((struct group){
			 .node = { .parent = parent, .hop = hop }, .class = class, .number = at }));
	return &c->groups.at[at];
}

static void group_found(struct callchains *c, uint32_t parent)
{
	const struct strand *s = c->found.list.at;
	c->groups.n = c->group_of.n = 0;
	vec_reserve(&c->group_of, c->found.list.n);
	for (size_t i = 0; i < c->found.list.n; i++) {
		uint32_t hop = c->h->list.at[s[i].at].place;
		struct group *g = group_for(c, parent, hop);
		g->n++;
		g->node.sum += s[i].sum.weight;
		g->node.n_below += s[i].sum.count;
		if (g->node.hop > hop) /* of hops that are the same in chains, show the first */
			g->node.hop = hop;
		c->group_of.at[c->group_of.n++] = g->number;
	}
}

/* Moves the strands in c->found to the places of their groups in c->next. */
static void share_out(struct callchains *c)
{
	uint32_t *to = c->places_in.at;
	for (size_t i = 0; i < c->found.list.n; i++) {
		uint32_t group = c->group_of.at[i];
		if (to[group] != NONE)
			c->next.list.at[to[group]++] = c->found.list.at[i];
	}
}

static bool stays(const struct chain_node *node, const struct chain_node *parent,
		  const struct chain_opts *o)
{
	if (o->pruning == CHAIN_MIN_WEIGHT)
		return node->sum >= o->min_weight;
	return (double)node->sum >= ceil((double)(parent->sum - parent->hit) * o->min_share);
}

/* Joins all groups into one that stands for everything deeper. */
static void merge_groups(struct callchains *c, uint32_t parent)
{
	struct group all = { .node = { .parent = parent, .hop = CHAIN_DEEPER } };
	for (size_t i = 0; i < c->groups.n; i++) {
		all.node.sum += c->groups.at[i].node.sum;
		all.node.n_below += c->groups.at[i].node.n_below;
	}
	c->found.list.n = c->groups.n = 0;
	if (all.node.sum || all.node.n_below)
		vec_push(&c->groups, all);
}

/* Adds children to a node, from the strands in c->found. */
static void add_children(struct callchains *c, uint32_t parent, uint32_t depth,
			 const struct chain_opts *o)
{
	group_found(c, parent);
	if (o->max_depth && depth > o->max_depth)
		merge_groups(c, parent);
	struct chain_node *p = &c->nodes.at[parent];
	struct group *groups = c->groups.at;
	size_t n = c->groups.n;
	p->hit = p->sum;
	p->count = p->n_below;
	for (size_t i = 0; i < n; i++) {
		p->hit -= groups[i].node.sum;
		p->count -= groups[i].node.n_below;
	}
	bool joins = n == 1 && !p->count && !p->hit && parent;
	p->first = (uint32_t)c->nodes.n;
	struct chain_node above = *p;
	size_t n_staying = 0;
	vec_reserve(&c->places_in, n);
	for (size_t i = 0; i < n; i++) {
		c->places_in.at[groups[i].number] = NONE;
		if (stays(&groups[i].node, &above, o))
			groups[n_staying++] = groups[i];
	}
	if (n_staying > 1)
		qsort_r(groups, n_staying, sizeof(*groups), by_weight,
			&(struct node_order){ c->h, o->by_name });
	for (size_t i = 0; i < n_staying; i++) {
		groups[i].node.joins = joins;
		vec_push(&c->nodes, groups[i].node);
		c->nodes.at[parent].n++;
		vec_push(&c->starts, (uint32_t)c->next.list.n);
		c->places_in.at[groups[i].number] = (uint32_t)c->next.list.n;
		vec_reserve(&c->next.list, groups[i].n);
		c->next.list.n += groups[i].n;
	}
	if (n_staying)
		share_out(c);
}

static void grow(struct callchains *c, const struct chain_opts *o)
{
	struct chain_node root = { .parent = NONE, .hop = NONE };
	for (size_t i = 0; i < c->found.list.n; i++) {
		root.sum += c->found.list.at[i].sum.weight;
		root.n_below += c->found.list.at[i].sum.count;
	}
	vec_push(&c->nodes, root);
	uint32_t depth = 1;
	add_children(c, 0, depth, o);
	for (size_t first = 1; first < c->nodes.n;) {
		size_t end = c->nodes.n;
		depth++;
		struct strand_list level = c->level;
		c->level = c->next;
		c->next = level;
		c->next.list.n = 0;
		vec_push(&c->starts, (uint32_t)c->level.list.n);
		uint32_t *starts = c->starts.at;
		c->starts.at = NULL;
		c->starts.n = c->starts.cap = 0;
		for (size_t i = first; i < end; i++) {
			c->found.list.n = 0;
			for (uint32_t k = starts[i - first]; k < starts[i - first + 1]; k++)
				follow(c, &c->level.list.at[k]);
			add_children(c, (uint32_t)i, depth, o);
		}
		free(starts);
		first = end;
	}
}

static void reset(struct callchains *c)
{
	c->nodes.n = c->starts.n = 0;
	c->level.list.n = c->next.list.n = c->found.list.n = 0;
	c->ends.n = c->sums.n = 0;
	vec_push(&c->sums, (struct path_sum){ 0 });
}

const struct callchain *callchains_of(struct callchains *c, size_t row, const struct chain_opts *o)
{
	reset(c);
	c->below_only = o->below_only;
	start_row(c, row);
	grow(c, o);
	c->tree = (struct callchain){ c->nodes.at, c->nodes.n };
	return &c->tree;
}

/* An upper bound on the nodes of a row's chains: each chain has at most as many as its path is
 * deep. Chains from callers to callees share the nodes of the paths below the row. */
static uint64_t nodes_of_paths(const struct hists_private *h, size_t row)
{
	bool callee = h->hists.opts->order == CHAIN_CALLEE;
	uint64_t n = 0;
	for (uint32_t i = h->first_row_end[row]; i < h->first_row_end[row + 1]; i++)
		n += h->paths[h->row_ends[i].path].depth;
	for (uint32_t i = h->first_path[row]; i < h->first_path[row + 1]; i++) {
		pathid at = h->paths_of[i];
		n += callee ? h->paths[at].depth : h->list.at[at].end - at;
	}
	return n;
}

/* The weight of the samples that the row's chains may have. If Children are computed, Self is part
 * of them. */
static uint64_t weight_of_row(const struct hists *h, size_t row)
{
	uint64_t self = h->self[row * h->opts->n_events].weight;
	uint64_t children = h->children[row * h->opts->n_events].weight;
	return self > children ? self : children;
}

/* If each node needs a minimum weight, a level has at most the row's weight divided by it. */
uint64_t callchains_bound(const struct callchains *c, size_t row, const struct chain_opts *o)
{
	const struct hists *h = &c->h->hists;
	uint64_t by_weight = UINT64_MAX, of_paths;
	if (o->pruning == CHAIN_MIN_WEIGHT && o->min_weight)
		by_weight = weight_of_row(h, row) / o->min_weight * h->rows[row].depth;
	if (!by_weight)
		return 0;
	of_paths = nodes_of_paths(c->h, row);
	return by_weight < of_paths ? by_weight : of_paths;
}

/* ---- names ---- */

const char *callchain_name(const struct callchains *c, uint32_t hop, bool line)
{
	struct hists_private *h = c->h;
	if (hop == CHAIN_DEEPER)
		return "[deeper]";
	const struct hop *o = &h->hops.at[hop];
	struct program *g = h->hists.program;
	if (o->place == NONE)
		return "[unknown]";
	if (program_kind(g, o->place) == PLACE_UNKNOWN) {
		unsigned long long addr = h->hists.profile->samples.frames[o->frame].addr;
		return arena_printf(&h->arena, "%s%llx", addr ? "0x" : "", addr);
	}
	const char *name = program_name(g, o->place);
	uint32_t at = line ? hist_line_id(h, o->frame, o->call) : 0;
	uint64_t offset;
	if (line && !at && !o->inlined && hist_offset(h, o->frame, o->place, &offset))
		return arena_printf(&h->arena, "%s +%llu", name, (unsigned long long)offset);
	if (!at && !o->inlined)
		return name;
	return arena_printf(&h->arena, "%s%s%s%s", name, at ? " " : "", strtab_get(h->strings, at),
			    o->inlined ? " (inlined)" : "");
}

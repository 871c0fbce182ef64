/* callchain.c - makes a row's tree of call chains one level after the other, by sharing strands of
 * stacks out among the functions that they go on to. */
#include "analysis/callchain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hists_private.h"
#include "base/map64.h"

/* The parts of a node: places in the tree of paths, or chains with a weight of their own. */
enum strand_kind {
	SUBTREE, /* all samples at and below `at`, but for those taken out */
	UP,      /* one chain, that goes on to the caller of `at` */
	WHOLE,   /* whole chains of samples with the row as leaf, that go on below wholes[at] */
};

struct strand {
	enum strand_kind kind;
	uint32_t at;
	uint32_t hop;
	uint64_t weight, count;
};

/* A path that is on whole chains of the row. */
struct whole {
	uint64_t weight, count; /* of these chains, as in hist_stat */
	pathid path;
	uint32_t first, next; /* below it, and beside it below its caller's; 0: none */
};

struct strand_list {
	VEC(struct strand) list;
};

struct group { /* strands of c->found whose hops are one in chains */
	struct chain_node node;
	uint32_t class, number; /* number: in the order in which groups were met */
	uint32_t n;             /* strands */
};

struct callchains {
	struct hists_private *h;
	struct callchain tree;
	VEC(struct chain_node) nodes;
	struct strand_list level, next, found;
	uint32_t *classes;  /* [hop]: the first one that is the same in chains */
	uint32_t *group_at; /* [class]: its group, if that one is of the class */
	VEC(struct group) groups;
	VEC(uint32_t) group_of;  /* [strand of c->found] */
	VEC(uint32_t) places_in; /* [group]: where its next strand goes in c->next; NONE: nowhere */
	VEC(uint32_t) starts;    /* [node of the level]: where its strands begin */
	VEC(struct whole) wholes; /* [0] is above those that chains begin with */
	uint32_t *whole_of;       /* [path]; 0: it is on none */
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
	c->whole_of = xalloc((c->h->paths.n + 1) * sizeof(*c->whole_of));
	vec_push(&c->wholes, (struct whole){ 0 });
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
	vec_free(&c->wholes);
	free(c->classes);
	free(c->group_at);
	free(c->whole_of);
	free(c);
}

/* ---- strands ---- */

static void add_strand(struct callchains *c, enum strand_kind kind, uint32_t at, uint32_t hop,
		       uint64_t weight, uint64_t count)
{
	vec_push(&c->found.list, ((struct strand){ kind, at, hop, weight, count }));
}

static void add_subtree(struct callchains *c, pathid at)
{
	const struct hist_stat *below = &c->h->below[at * c->h->hists.opts->n_events];
	/* Samples with whole chains are not among those below the row's paths. */
	const struct whole *taken = &c->wholes.at[c->whole_of[at]];
	if (below->count != taken->count || below->weight != taken->weight)
		add_strand(c, SUBTREE, at, c->h->tree->nodes[at].place,
			   below->weight - taken->weight, below->count - taken->count);
}

/* A root is no strand: its samples have no frames to show. */
static void add_up(struct callchains *c, pathid at, const struct hist_stat *s)
{
	if (c->h->paths.at[at].depth && (s->count || s->weight))
		add_strand(c, UP, at, c->h->tree->nodes[at].place, s->weight, s->count);
}

/* ---- whole chains ---- */

/* Of the path; a new one is without weight, and not listed below its caller's. */
static uint32_t whole_at(struct callchains *c, pathid path)
{
	uint32_t *number = &c->whole_of[path];
	if (!*number) {
		*number = (uint32_t)c->wholes.n;
		vec_push(&c->wholes, ((struct whole){ .path = path }));
	}
	return *number;
}

static void add_to_whole(struct callchains *c, uint32_t whole, uint64_t weight, uint64_t count)
{
	c->wholes.at[whole].weight += weight;
	c->wholes.at[whole].count += count;
}

/* The caller's whole, below which this one is listed now; 0: it begins here. */
static uint32_t list_below_caller(struct callchains *c, uint32_t whole)
{
	pathid caller = c->h->tree->nodes[c->wholes.at[whole].path].caller;
	uint32_t above = c->h->paths.at[caller].depth ? whole_at(c, caller) : 0;
	c->wholes.at[whole].next = c->wholes.at[above].first;
	c->wholes.at[above].first = whole;
	return above;
}

/* Samples of the row's own paths, the last path first: what is above a path has the path's sum once
 * it is not above the next one, too. Paths are numbered as they are visited. */
static void add_regular(struct callchains *c, size_t row)
{
	const struct hists_private *h = c->h;
	const uint32_t *leaves = h->leaves_of;
	uint32_t first = h->first_leaf[row], n = h->first_leaf[row + 1];
	while (n > first && leaves[n - 1] >= h->paths.n)
		n--;
	for (uint32_t i = n; i-- > first;) {
		const struct hist_stat *own = &h->regular[h->paths.at[leaves[i]].own];
		pathid next = i > first ? leaves[i - 1] : 0;
		uint32_t at = whole_at(c, leaves[i]);
		add_to_whole(c, at, own->weight, own->count);
		while (at && c->wholes.at[at].path > next) {
			const struct whole w = c->wholes.at[at];
			at = list_below_caller(c, at);
			if (at)
				add_to_whole(c, at, w.weight, w.count);
		}
	}
}

/* Samples that end at a path of another row. */
static void add_elsewhere(struct callchains *c, const struct leaf *leaf,
			  const struct hist_stat *own)
{
	const struct hists_private *h = c->h;
	if (!own->count && !own->weight)
		return; /* of other events */
	bool is_listed = c->whole_of[leaf->path];
	for (pathid p = leaf->path; h->paths.at[p].depth; p = h->tree->nodes[p].caller) {
		uint32_t at = whole_at(c, p);
		bool is_caller_listed = c->whole_of[h->tree->nodes[p].caller];
		add_to_whole(c, at, own->weight, own->count);
		if (!is_listed)
			list_below_caller(c, at);
		is_listed = is_caller_listed;
	}
}

static void add_wholes(struct callchains *c, uint32_t caller)
{
	for (uint32_t i = c->wholes.at[caller].first; i; i = c->wholes.at[i].next) {
		const struct whole *w = &c->wholes.at[i];
		add_strand(c, WHOLE, i, c->h->tree->nodes[w->path].place, w->weight, w->count);
	}
}

static void start_wholes(struct callchains *c, size_t row)
{
	const struct hists_private *h = c->h;
	add_regular(c, row);
	for (uint32_t i = h->first_leaf[row]; i < h->first_leaf[row + 1]; i++)
		if (h->leaves_of[i] >= h->paths.n) {
			size_t leaf = h->leaves_of[i] - h->paths.n;
			add_elsewhere(c, &h->leaves.at[leaf],
				      &h->leaf_own.at[leaf * h->hists.opts->n_events]);
		}
	add_wholes(c, 0);
}

/* ---- where a row's chains begin ---- */

static void start_leaf(struct callchains *c, uint32_t leaf)
{
	struct hists_private *h = c->h;
	bool elsewhere = leaf >= h->paths.n;
	size_t i = elsewhere ? leaf - h->paths.n : leaf;
	if (elsewhere)
		add_up(c, h->leaves.at[i].path, &h->leaf_own.at[i * h->hists.opts->n_events]);
	else if (h->hists.opts->no_children)
		add_up(c, (pathid)i, &h->regular[h->paths.at[i].own]);
}

static void start_row(struct callchains *c, size_t row)
{
	const struct hists_private *h = c->h;
	bool callee = h->hists.opts->order == CHAIN_CALLEE;
	if (!callee && !c->below_only)
		start_wholes(c, row);
	for (uint32_t i = h->first_leaf[row]; callee && i < h->first_leaf[row + 1]; i++)
		start_leaf(c, h->leaves_of[i]);
	if (h->hists.opts->no_children)
		return;
	for (uint32_t i = h->first_path[row]; i < h->first_path[row + 1]; i++) {
		pathid at = h->paths_of[i];
		if (callee)
			add_up(c, at, &h->innermost[at]);
		else
			add_subtree(c, at);
	}
}

/* ---- one level after the other ---- */

/* Adds the strands that follow one to c->found. */
static void follow(struct callchains *c, const struct strand *s)
{
	const struct hists_private *h = c->h;
	struct strand next = *s;
	switch (s->kind) {
	case SUBTREE:
		for (pathid p = h->tree->nodes[s->at].first; p; p = h->tree->nodes[p].next)
			add_subtree(c, p);
		break;
	case UP:
		next.at = h->tree->nodes[s->at].caller;
		if (!h->paths.at[next.at].depth)
			break;
		next.hop = h->tree->nodes[next.at].place;
		vec_push(&c->found.list, next);
		break;
	case WHOLE:
		add_wholes(c, s->at);
		break;
	}
}

/* Higher places first, later objects first: as good as any, and perf's. */
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

/* The group of a hop's class; a new one if there is none yet. */
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
		struct group *g = group_for(c, parent, s[i].hop);
		g->n++;
		g->node.sum += s[i].weight;
		g->node.n_below += s[i].count;
		if (g->node.hop > s[i].hop) /* of those that are the same the first one */
			g->node.hop = s[i].hop;
		c->group_of.at[c->group_of.n++] = g->number;
	}
}

/* The strands in c->found to where those of their groups go in c->next. */
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

/* Children of a node, of the strands in c->found. */
static void add_children(struct callchains *c, uint32_t parent, const struct chain_opts *o)
{
	group_found(c, parent);
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
		root.sum += c->found.list.at[i].weight;
		root.n_below += c->found.list.at[i].count;
	}
	vec_push(&c->nodes, root);
	add_children(c, 0, o);
	for (size_t first = 1; first < c->nodes.n;) {
		size_t end = c->nodes.n;
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
			add_children(c, (uint32_t)i, o);
		}
		free(starts);
		first = end;
	}
}

static void reset(struct callchains *c)
{
	c->nodes.n = c->starts.n = 0;
	c->level.list.n = c->next.list.n = c->found.list.n = 0;
	for (size_t i = 1; i < c->wholes.n; i++)
		c->whole_of[c->wholes.at[i].path] = 0;
	c->wholes.n = 1;
	c->wholes.at[0].first = 0;
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

/* ---- names ---- */

const char *callchain_name(const struct callchains *c, uint32_t hop, bool line)
{
	struct hists_private *h = c->h;
	const struct hop *o = &h->hops.at[hop];
	struct program *g = h->hists.program;
	if (o->place == NONE)
		return "[unknown]";
	if (program_kind(g, o->place) == PLACE_UNKNOWN) {
		unsigned long long addr = h->hists.profile->samples.frames[o->frame].addr;
		return arena_printf(&h->arena, "%s%llx", addr ? "0x" : "", addr);
	}
	const char *name = program_name(g, o->place);
	uint32_t at = line ? hist_line_id(h, o->frame) : 0;
	uint64_t offset;
	if (line && !at && !o->inlined && hist_offset(h, o->frame, o->place, &offset))
		return arena_printf(&h->arena, "%s +%llu", name, (unsigned long long)offset);
	if (!at && !o->inlined)
		return name;
	return arena_printf(&h->arena, "%s%s%s%s", name, at ? " " : "", strtab_get(h->strings, at),
			    o->inlined ? " (inlined)" : "");
}

/* chains.c - joins the ends of chains greedily, heaviest link first. */
#include "gnu/chains.h"
#include "base/sort.h"

void chains_init(struct chains *c, size_t n)
{
	*c = (struct chains){ .nodes = xalloc(n * sizeof(*c->nodes)), .n = n };
	for (size_t i = 0; i < n; i++)
		c->nodes[i] = (struct node){ .next = NONE, .prev = NONE, .chain = NONE };
}

void chains_done(struct chains *c)
{
	free(c->nodes);
	vec_free(&c->chains);
	vec_free(&c->order);
}

void chains_emit(struct chains *c, uint32_t id)
{
	c->nodes[id].placed = true;
	vec_push(&c->order, id);
}

static void append(struct chains *c, struct chain *chain, uint32_t id)
{
	struct node *n = &c->nodes[id];
	n->chain = (uint32_t)(chain - c->chains.at);
	n->at = ++chain->last;
	n->prev = chain->tail;
	c->nodes[chain->tail].next = id;
	chain->tail = id;
}

static void prepend(struct chains *c, struct chain *chain, uint32_t id)
{
	struct node *n = &c->nodes[id];
	n->chain = (uint32_t)(chain - c->chains.at);
	n->at = --chain->first;
	n->next = chain->head;
	c->nodes[chain->head].prev = id;
	chain->head = id;
}

static void start_chain(struct chains *c, uint32_t from, uint32_t to)
{
	c->nodes[from].chain = (uint32_t)c->chains.n;
	vec_push(&c->chains, ((struct chain){ .head = from, .tail = from }));
	append(c, &c->chains.at[c->nodes[from].chain], to);
}

/* Ties the node that is still alone to the nearer end of the other's chain: preferably a caller
 * before it, a callee after it. False if both are in chains already. */
static bool tie(struct chains *c, uint32_t from, uint32_t to)
{
	struct node *caller = &c->nodes[from], *callee = &c->nodes[to];

	if (caller->chain != NONE && callee->chain != NONE)
		return false;
	if (caller->chain == NONE && callee->chain == NONE) {
		start_chain(c, from, to);
		return true;
	}
	struct node *in = caller->chain == NONE ? callee : caller;
	struct chain *chain = &c->chains.at[in->chain];
	int64_t behind = chain->last - in->at, before = in->at - chain->first;
	if (in == callee) {
		if (behind < before)
			append(c, chain, from);
		else
			prepend(c, chain, from);
	} else {
		if (before < behind)
			prepend(c, chain, to);
		else
			append(c, chain, to);
	}
	return true;
}

static void emit_chain(struct chains *c, uint32_t id)
{
	if (c->nodes[id].chain == NONE)
		return;
	for (id = c->chains.at[c->nodes[id].chain].head; id != NONE; id = c->nodes[id].next)
		chains_emit(c, id);
}

static bool is_open(const struct chains *c, const struct link *l)
{
	return !c->nodes[l->from].placed && !c->nodes[l->to].placed;
}

void chains_order(struct chains *c, const link_list *links, bool all, link_list *left)
{
	uint64_t total = 0, sum = 0;

	for (size_t i = 0; i < links->n; i++)
		total += links->at[i]->count;
	for (size_t i = 0; i < links->n; i++) {
		struct link *l = links->at[i];
		sum += l->count;
		if (l->placed)
			continue;
		bool rare = !all && (double)sum / (double)total > 0.99;
		if (!rare && is_open(c, l) && tie(c, l->from, l->to))
			l->placed = true;
		else
			vec_push(left, l);
	}
	for (size_t i = 0; i < links->n; i++)
		if (is_open(c, links->at[i]))
			emit_chain(c, links->at[i]->from);
	for (size_t i = 0; all && i < links->n; i++)
		if (is_open(c, links->at[i]))
			chains_emit(c, links->at[i]->from);
}

static int by_use(const void *l, const void *r)
{
	const struct link *a = *(struct link *const *)l, *b = *(struct link *const *)r;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return ORDER(a->rank, b->rank);
}

void links_sort(link_list *list)
{
	if (list->n)
		qsort(list->at, list->n, sizeof(*list->at), by_use);
}

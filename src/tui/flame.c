/* flame.c - makes the tree of a flame graph; looks at each distinct stack once. */
#include "tui/flame.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/map64.h"

enum {
	CUT = UINT32_MAX - 1, /* stands for the function of the node "[cut]" */
	CALLERS_MAX = 64,     /* levels of an inverted graph, where stacks share few nodes */
};

struct building {
	struct flame *f;
	struct kin_samples *samples;
	struct map64 children; /* node by parent and function */
	uint32_t *whole, *cut; /* node of each stack, complete and cut; NONE: not made yet */
	VEC(uint32_t) path;    /* stacks, locations or functions still to be added */
	bool callers, folds;
	const char *function; /* the graph shows only stacks with this function; NULL: all */
	VEC(uint8_t) is_it;   /* by function: 0: not known yet, 1: no match, 2: match */
	bool *is_thread;      /* per thread: whether its samples count */
};

static void free_building(struct building *b)
{
	map64_free(&b->children);
	vec_free(&b->path);
	free(b->whole);
	free(b->cut);
	vec_free(&b->is_it);
	free(b->is_thread);
}

/* ---- nodes ---- */

static uint32_t add_node(struct flame *f, uint32_t parent, uint32_t function)
{
	struct flame_node n = { .parent = parent,
				.child = NONE,
				.next = NONE,
				.function = function,
				.kind = KIN_OBJECT_OTHER };
	if (parent != NONE)
		n.depth = f->nodes.at[parent].depth + 1;
	if (n.depth > f->deepest)
		f->deepest = n.depth;
	vec_push(&f->nodes, n);
	return (uint32_t)(f->nodes.n - 1);
}

static const char *escaped(struct flame *f, const char *name)
{
	char *safe = escape_copy(name);
	const char *kept = arena_printf(&f->names, "%s", safe);
	free(safe);
	return kept;
}

static void name_node(struct building *b, struct flame_node *n)
{
	if (n->function == CUT) {
		n->name = "[cut]";
		return;
	}
	const struct kin_function *fn = kin_samples_function(b->samples, n->function);
	const struct kin_object *o = kin_samples_object(b->samples, fn->object);
	n->name = escaped(b->f, fn->name);
	n->object = escaped(b->f, o->path);
	n->kind = o->kind;
	n->is_main = o->is_main;
}

static uint32_t child_of(struct building *b, uint32_t parent, uint32_t function)
{
	uint32_t *at = map64_at(&b->children, MAP64_PAIR(parent, function));
	if (*at == NONE) {
		*at = add_node(b->f, parent, function);
		name_node(b, &b->f->nodes.at[*at]);
	}
	return *at;
}

/* Descends through all functions at a location, in the order of the tree. */
static uint32_t through(struct building *b, uint32_t node, uint32_t location)
{
	size_t n;
	const struct kin_line *lines = kin_samples_lines(b->samples, location, &n);
	for (size_t i = 0; i < n; i++)
		node = child_of(b, node, lines[b->callers ? i : n - 1 - i].function);
	return node;
}

/* ---- stacks ---- */

/* The node of a stack; it is below the node of the caller's stack, which many stacks share. */
static uint32_t node_of(struct building *b, uint32_t stack, bool is_cut)
{
	uint32_t *known = is_cut ? b->cut : b->whole, at = stack;
	b->path.n = 0;
	while (at && known[at] == NONE) {
		vec_push(&b->path, at);
		at = kin_samples_stack(b->samples, at)->caller;
	}
	uint32_t node = at ? known[at] : FLAME_ROOT;
	if (!at && is_cut)
		node = child_of(b, FLAME_ROOT, CUT);
	while (b->path.n) {
		at = b->path.at[--b->path.n];
		node = through(b, node, kin_samples_stack(b->samples, at)->location);
		known[at] = node;
	}
	return node;
}

/* In an inverted graph each stack has its own path from the root. */
static uint32_t node_from(struct building *b, uint32_t stack, bool is_cut)
{
	uint32_t *known = is_cut ? b->cut : b->whole, node = FLAME_ROOT;
	if (known[stack] != NONE)
		return known[stack];
	for (uint32_t at = stack; at && b->f->nodes.at[node].depth < CALLERS_MAX;
	     at = kin_samples_stack(b->samples, at)->caller)
		node = through(b, node, kin_samples_stack(b->samples, at)->location);
	if (is_cut)
		node = child_of(b, node, CUT);
	known[stack] = node;
	return node;
}

/* ---- the graph of one function ---- */

/* Functions get their numbers while samples are read. */
static bool is_it(struct building *b, uint32_t function)
{
	while (b->is_it.n <= function)
		vec_push(&b->is_it, 0);
	uint8_t *known = &b->is_it.at[function];
	if (!*known)
		*known = strcmp(kin_samples_function(b->samples, function)->name, b->function) ? 1
											       : 2;
	return *known == 2;
}

static void put_path(struct building *b, uint32_t stack)
{
	b->path.n = 0;
	for (uint32_t at = stack; at; at = kin_samples_stack(b->samples, at)->caller) {
		size_t n;
		const struct kin_line *lines = kin_samples_lines(
			b->samples, kin_samples_stack(b->samples, at)->location, &n);
		for (size_t i = 0; i < n; i++)
			vec_push(&b->path, lines[i].function);
	}
}

/* NONE: the function is not on the stack, or in an inverted graph not its leaf. */
static uint32_t node_below(struct building *b, uint32_t stack, bool is_cut)
{
	uint32_t *known = is_cut && b->callers ? b->cut : b->whole, node = FLAME_ROOT;
	if (known[stack] != NONE)
		return known[stack] == FLAME_ROOT ? NONE : known[stack];
	put_path(b, stack);
	size_t n = b->path.n, outermost = n;
	while (outermost && !is_it(b, b->path.at[outermost - 1]))
		outermost--;
	if (!b->callers)
		for (size_t i = outermost; i-- > 0;)
			node = child_of(b, node, b->path.at[i]);
	bool own = b->callers && n && is_it(b, b->path.at[0]);
	for (size_t i = 0; own && i < n && i < CALLERS_MAX; i++)
		node = child_of(b, node, b->path.at[i]);
	if (own && is_cut)
		node = child_of(b, node, CUT);
	known[stack] = node;
	return node == FLAME_ROOT ? NONE : node;
}

static uint64_t add_samples_of(struct building *b, uint32_t event)
{
	const struct kin_sample *x;
	uint64_t total = 0;
	while ((x = kin_samples_next(b->samples))) {
		if (x->event != event)
			continue;
		total += x->weight;
		uint32_t node = b->is_thread[x->thread] ? node_below(b, x->stack, x->is_cut) : NONE;
		if (node != NONE)
			b->f->nodes.at[node].self += x->weight;
	}
	return total;
}

static void choose_threads(struct building *b, const char *comm, bool by_process)
{
	size_t n = kin_samples_n_threads(b->samples);
	b->is_thread = xalloc(n + 1);
	for (uint32_t i = 0; i < n; i++) {
		const struct kin_thread *t = kin_samples_thread(b->samples, i);
		char *name = escape_copy(by_process ? t->command : t->name);
		b->is_thread[i] = !comm || !strcmp(name, comm);
		free(name);
	}
}

static uint32_t *new_map(size_t n)
{
	uint32_t *map = xrealloc(NULL, n, sizeof(*map));
	for (size_t i = 0; i < n; i++)
		map[i] = NONE;
	return map;
}

uint32_t flame_event(struct kin_samples *s, size_t n)
{
	const struct kin_sample *x;
	uint32_t found = NONE, n_events = (uint32_t)kin_samples_n_events(s);
	bool *seen = xalloc(n_events + 1);
	while ((x = kin_samples_next(s)))
		seen[x->event < n_events ? x->event : n_events] = true;
	kin_samples_rewind(s);
	for (uint32_t i = 0; i < n_events && found == NONE; i++)
		if (seen[i] && !n--)
			found = i;
	free(seen);
	return found;
}

static void add_samples(struct building *b, uint32_t event)
{
	const struct kin_sample *x;
	while ((x = kin_samples_next(b->samples))) {
		if (x->event != event)
			continue;
		uint32_t node = b->callers ? node_from(b, x->stack, x->is_cut)
					   : node_of(b, x->stack, x->is_cut);
		b->f->nodes.at[node].self += x->weight;
	}
}

/* ---- recursion ---- */

/* Moves each node whose function is above it into that node, with all that is below. */
static void fold(struct flame *f)
{
	size_t n = f->nodes.n;
	struct flame_node *old = TAKE(f->nodes.at);
	uint32_t *place = new_map(n), *times = new_map(n);
	struct map64 children = { 0 };
	f->nodes.n = f->nodes.cap = 0;
	f->deepest = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t above = old[i].parent, parent = above == NONE ? NONE : place[above];
		while (above != NONE && old[above].function != old[i].function)
			above = old[above].parent;
		times[i] = above == NONE ? 1 : times[above] + 1;
		uint32_t *at = map64_at(&children, MAP64_PAIR(parent, old[i].function));
		if (above != NONE)
			*at = place[above];
		if (*at == NONE) {
			*at = add_node(f, parent, old[i].function);
			struct flame_node *node = &f->nodes.at[*at];
			node->name = old[i].name;
			node->object = old[i].object;
			node->kind = old[i].kind;
			node->is_main = old[i].is_main;
		}
		place[i] = *at;
		struct flame_node *node = &f->nodes.at[place[i]];
		node->self += old[i].self;
		node->times = times[i] > node->times ? times[i] : node->times;
	}
	map64_free(&children);
	free(place);
	free(times);
	free(old);
}

/* ---- sums, and the order of children ---- */

static void sum(struct flame *f)
{
	for (size_t i = f->nodes.n; i-- > 0;) {
		struct flame_node *n = &f->nodes.at[i];
		n->weight += n->self;
		if (n->parent != NONE)
			f->nodes.at[n->parent].weight += n->weight;
	}
}

static int heaviest_last(const void *a, const void *b, void *arg)
{
	const struct flame *f = arg;
	const struct flame_node *x = &f->nodes.at[*(const uint32_t *)a];
	const struct flame_node *y = &f->nodes.at[*(const uint32_t *)b];
	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	int sign = strcmp(y->name, x->name);
	return sign ? sign : y < x ? -1 : y > x;
}

static void link_children(struct flame *f)
{
	size_t n = f->nodes.n - 1;
	uint32_t *order = xrealloc(NULL, n + 1, sizeof(*order));
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i + 1;
	qsort_r(order, n, sizeof(*order), heaviest_last, f);
	for (size_t i = 0; i < n; i++) {
		struct flame_node *node = &f->nodes.at[order[i]];
		struct flame_node *parent = &f->nodes.at[node->parent];
		node->next = parent->child;
		parent->child = order[i];
	}
	free(order);
}

static struct kin_error *make(struct kin_profile *p, size_t event, struct building *b,
			      const char *comm, bool by_process, uint64_t *total)
{
	struct kin_error *err = kin_samples_new(p, &b->samples);
	struct flame *f = b->f;
	*f = (struct flame){ 0 };
	if (err)
		return err;
	size_t n = kin_samples_n_stacks(b->samples);
	b->whole = new_map(n + 1);
	b->cut = new_map(n + 1);
	add_node(f, NONE, NONE);
	f->nodes.at[FLAME_ROOT].name = "all";
	uint32_t number = flame_event(b->samples, event);
	choose_threads(b, comm, by_process);
	if (number != NONE && b->function)
		*total = add_samples_of(b, number);
	else if (number != NONE)
		add_samples(b, number);
	if (number != NONE)
		f->is_time = !strcmp(kin_samples_event(b->samples, number)->unit, "ns");
	if (b->folds)
		fold(f);
	sum(f);
	link_children(f);
	free_building(b);
	kin_samples_free(b->samples);
	return NULL;
}

struct kin_error *flame_new(struct kin_profile *p, size_t event, enum flame_order order,
			    struct flame *ret)
{
	struct building b = { .f = ret,
			      .callers = order == FLAME_INVERTED,
			      .folds = order == FLAME_FOLDED };
	return make(p, event, &b, NULL, false, NULL);
}

struct kin_error *flame_of_function(struct kin_profile *p, size_t event, bool callers,
				    const char *function, const char *comm, bool by_process,
				    struct flame *ret, uint64_t *total)
{
	struct building b = { .f = ret, .callers = callers, .function = function };
	*total = 0;
	return make(p, event, &b, comm, by_process, total);
}

void flame_done(struct flame *f)
{
	vec_free(&f->nodes);
	arena_release(&f->names);
}

/* ---- queries ---- */

uint64_t flame_weight_of(const struct flame *f, const char *text)
{
	uint64_t all = 0;
	bool *below = xalloc(f->nodes.n + 1); /* whether the node or one above it matched */
	for (size_t i = FLAME_ROOT + 1; i < f->nodes.n; i++) {
		const struct flame_node *n = &f->nodes.at[i];
		bool above = below[n->parent], here = strcasestr(n->name, text) != NULL;
		below[i] = above || here;
		if (here && !above)
			all += n->weight;
	}
	free(below);
	return all;
}

static uint32_t child_named(const struct flame *f, uint32_t parent, const char *name)
{
	uint32_t i = f->nodes.at[parent].child;
	while (i != NONE && strcmp(f->nodes.at[i].name, name) != 0)
		i = f->nodes.at[i].next;
	return i;
}

uint32_t flame_same(const struct flame *from, uint32_t node, const struct flame *to)
{
	VEC(uint32_t) path = { 0 };
	uint32_t same = FLAME_ROOT, next = FLAME_ROOT;
	for (; node != FLAME_ROOT; node = from->nodes.at[node].parent)
		vec_push(&path, node);
	while (path.n && next != NONE) {
		same = next;
		next = child_named(to, same, from->nodes.at[path.at[--path.n]].name);
	}
	vec_free(&path);
	return next == NONE ? same : next;
}

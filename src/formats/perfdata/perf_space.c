/* perf_space.c - address spaces: trees of mappings ordered by address and heaps by a random number
 * (treaps). A fork shares the tree. Later changes copy the nodes on their way down, so a change
 * takes time and memory proportional to the logarithm of the number of mappings, for any file. */
#include "formats/perfdata/perf.h"

struct perf_node {
	struct perf_map map;
	uint32_t priority, owner;
	bool answered; /* an address in it was looked up */
	struct perf_node *left, *right;
};

void perf_space_init(struct perf *p, struct perf_space *s)
{
	*s = (struct perf_space){ .owner = ++p->n_owners, .generation = ++p->n_generations };
}

void perf_space_exec(struct perf *p, struct perf_space *s)
{
	struct perf_node *before = s->root;

	perf_space_init(p, s);
	s->before = before;
	s->after = ++p->n_generations;
}

void perf_space_copy(struct perf *p, struct perf_space *s, struct perf_space *from)
{
	from->shared = true;
	*s = *from;
	s->owner = ++p->n_owners;
	from->owner = ++p->n_owners;
}

/* The node, or a copy that belongs to the space alone. */
static struct perf_node *own(struct perf *p, const struct perf_space *s, struct perf_node *n)
{
	if (n->owner == s->owner)
		return n;
	struct perf_node *copy = arena_alloc(&p->arena, sizeof(*copy));
	*copy = *n;
	copy->owner = s->owner;
	return copy;
}

static struct perf_node *make(struct perf *p, const struct perf_space *s, struct perf_map m)
{
	struct perf_node *n = arena_alloc(&p->arena, sizeof(*n));
	uint64_t x = ++p->n_nodes * 0x9e3779b97f4a7c15u;

	n->map = m;
	n->owner = s->owner;
	n->priority = (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9u >> 32);
	return n;
}

/* Splits a tree into mappings that start below addr, and the others. */
static void split(struct perf *p, const struct perf_space *s, struct perf_node *n, uint64_t addr,
		  struct perf_node **below, struct perf_node **others)
{
	while (n) {
		n = own(p, s, n);
		if (n->map.start < addr) {
			*below = n;
			below = &n->right;
			n = n->right;
		} else {
			*others = n;
			others = &n->left;
			n = n->left;
		}
	}
	*below = *others = NULL;
}

/* Joins two trees; all mappings of a lie below those of b. */
static struct perf_node *join(struct perf *p, const struct perf_space *s, struct perf_node *a,
			      struct perf_node *b)
{
	struct perf_node *root = NULL, **at = &root;

	while (a && b) {
		if (a->priority > b->priority) {
			*at = a = own(p, s, a);
			at = &a->right;
			a = a->right;
		} else {
			*at = b = own(p, s, b);
			at = &b->left;
			b = b->left;
		}
	}
	*at = a ? a : b;
	return root;
}

/* Cuts the last mapping off at addr. True if there was a part from addr on, which is stored in
 * *rest. The nodes down to there belong to the space alone, since split() passed them. */
static bool cut_last(struct perf *p, const struct perf_space *s, struct perf_node **root,
		     uint64_t addr, struct perf_map *rest)
{
	struct perf_node **at = root;

	if (!*at)
		return false;
	for (*at = own(p, s, *at); (*at)->right; *at = own(p, s, *at))
		at = &(*at)->right;
	struct perf_map *m = &(*at)->map;
	if (m->end <= addr)
		return false;
	*rest = *m;
	rest->start = addr;
	rest->offset += addr - m->start;
	m->end = addr;
	return true;
}

/* Whether answers came from these mappings. Assumed if there are more than a few. */
static bool has_answered(const struct perf_node *n, unsigned *steps)
{
	if (!n)
		return false;
	return (*steps)-- == 0 || n->answered || has_answered(n->left, steps) ||
	       has_answered(n->right, steps);
}

static bool last_has_answered(const struct perf_node *n)
{
	while (n && n->right)
		n = n->right;
	return n && n->answered;
}

void perf_space_map(struct perf *p, struct perf_space *s, struct perf_map m)
{
	struct perf_node *below, *rest, *inside, *above;
	struct perf_map cut;
	bool changed = s->missed;
	unsigned steps = 16;

	if (m.start >= m.end)
		return;
	split(p, s, s->root, m.start, &below, &rest);
	split(p, s, rest, m.end, &inside, &above);
	changed |= has_answered(inside, &steps);
	/* A mapping that overlaps the start of the new one may go on after its end. */
	if (cut_last(p, s, &below, m.start, &cut)) {
		changed |= last_has_answered(below);
		if (cut.end > m.end) {
			cut.offset += m.end - cut.start;
			cut.start = m.end;
			above = join(p, s, make(p, s, cut), above);
		}
	}
	if (cut_last(p, s, &inside, m.end, &cut))
		above = join(p, s, make(p, s, cut), above);
	if (m.object != NONE)
		above = join(p, s, make(p, s, m), above);
	s->root = join(p, s, below, above);
	if (changed || s->shared) {
		s->generation = ++p->n_generations;
		s->missed = s->shared = false;
	}
}

static struct perf_node *find(struct perf_node *n, uint64_t addr)
{
	struct perf_node *last = NULL;

	while (n) {
		if (n->map.start <= addr) {
			last = n;
			n = n->right;
		} else {
			n = n->left;
		}
	}
	return last && last->map.end > addr ? last : NULL;
}

bool perf_space_find(struct perf_space *s, uint64_t addr, struct perf_map *ret)
{
	struct perf_node *n = find(s->root, addr);

	if (n && s->before) { /* the new program runs now */
		s->before = NULL;
		s->generation = s->after;
	}
	s->missed |= !n;
	if (!n && !(n = find(s->before, addr)))
		return false;
	n->answered = true;
	*ret = n->map;
	return true;
}

bool perf_space_next(const struct perf_space *s, uint64_t addr, struct perf_map *ret)
{
	const struct perf_node *n = s->root, *next = NULL;

	while (n) {
		if (n->map.start >= addr) {
			next = n;
			n = n->left;
		} else {
			n = n->right;
		}
	}
	if (next)
		*ret = next->map;
	return next != NULL;
}

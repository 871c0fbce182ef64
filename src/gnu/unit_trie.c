/* unit_trie.c - a trie over the bytes of addresses, built as BFD builds it. */
#include "gnu/unit_trie.h"

#include <string.h>

enum {
	ROOM = 16,
	FAN = 256,
	BYTES_BITS = 56, /* bits of the address above a node with leaves for single bytes */
};

/* Leaves for 256 bytes. Neighbouring bytes that were never separated share a leaf. */
struct byte_leaves {
	uint32_t n, cap;
	struct {
		uint32_t first; /* first byte; the leaf extends to that of the next one */
		struct unit_leaf *leaf;
	} * at;
};

struct unit_node {
	enum { NODE_LEAF, NODE_INNER, NODE_BYTES } kind;
	union {
		struct unit_leaf *leaf;
		struct unit_node *children[FAN];
		struct byte_leaves bytes;
	};
};

/* A node no larger than its kind needs. */
static struct unit_node *new_node(struct unit_trie *t, int kind)
{
	size_t head = offsetof(struct unit_node, children);
	size_t size = kind == NODE_LEAF    ? sizeof(struct unit_leaf *)
		      : kind == NODE_INNER ? FAN * sizeof(struct unit_node *)
					   : sizeof(struct byte_leaves);
	struct unit_node *node = arena_alloc(&t->arena, head + size);
	node->kind = kind;
	return node;
}

static struct unit_leaf *new_leaf(struct unit_trie *t)
{
	struct unit_leaf *leaf = arena_alloc(&t->arena, sizeof(*leaf));
	leaf->room = ROOM;
	return leaf;
}

static bool spend(struct unit_trie *t, uint64_t work)
{
	bool may = work <= t->work_left;
	t->work_left = may ? t->work_left - work : 0;
	return may;
}

/* ---- leaves ---- */

/* Extends a claim of the same unit that touches or overlaps; false if there is none. */
static bool extend(const struct unit_leaf *leaf, const struct unit_claim *c)
{
	for (uint32_t i = 0; i < leaf->n; i++) {
		struct unit_claim *old = &leaf->at[i];
		if (old->unit != c->unit || c->low > old->high || old->low > c->high)
			continue;
		if (c->low < old->low)
			old->low = c->low;
		if (c->high > old->high)
			old->high = c->high;
		return true;
	}
	return false;
}

static struct unit_leaf *copy_leaf(struct unit_trie *t, const struct unit_leaf *from)
{
	struct unit_leaf *leaf = arena_alloc(&t->arena, sizeof(*leaf));
	*leaf = *from;
	leaf->cap = leaf->n;
	leaf->at = arena_copy(&t->arena, from->at, from->n, sizeof(*from->at));
	return leaf;
}

static void append(struct unit_trie *t, struct unit_leaf *leaf, const struct unit_claim *c)
{
	if (leaf->n == leaf->cap) {
		leaf->cap = leaf->cap ? 2 * leaf->cap : 4;
		struct unit_claim *at = arena_alloc(&t->arena, leaf->cap * sizeof(*at));
		if (leaf->n)
			memcpy(at, leaf->at, leaf->n * sizeof(*at));
		leaf->at = at;
	}
	leaf->at[leaf->n++] = *c;
}

/* ---- single bytes ---- */

/* Makes a leaf begin at byte `first`; returns its index. */
static uint32_t cut(struct unit_trie *t, struct byte_leaves *b, uint32_t first)
{
	uint32_t i = b->n;
	while (i && b->at[i - 1].first > first)
		i--;
	if (i && b->at[i - 1].first == first)
		return i - 1;
	if (b->n == b->cap) {
		b->cap = b->cap ? 2 * b->cap : 8;
		void *at = arena_alloc(&t->arena, b->cap * sizeof(*b->at));
		if (b->n)
			memcpy(at, b->at, b->n * sizeof(*b->at));
		b->at = at;
	}
	memmove(&b->at[i + 1], &b->at[i], (b->n - i) * sizeof(*b->at));
	b->n++;
	b->at[i].first = first;
	b->at[i].leaf = i && b->at[i - 1].leaf ? copy_leaf(t, b->at[i - 1].leaf) : NULL;
	return i;
}

static void add_to_bytes(struct unit_trie *t, struct byte_leaves *b, uint32_t from, uint32_t to,
			 const struct unit_claim *c)
{
	uint32_t i = cut(t, b, from), end = to + 1 < FAN ? cut(t, b, to + 1) : b->n;
	for (; i < end; i++) {
		struct unit_leaf **leaf = &b->at[i].leaf;
		if (!*leaf)
			*leaf = new_leaf(t);
		if (!spend(t, (*leaf)->n + 1) || extend(*leaf, c))
			continue;
		if ((*leaf)->n == (*leaf)->room) {
			*leaf = copy_leaf(t, *leaf);
			(*leaf)->room *= 2;
		}
		append(t, *leaf, c);
	}
}

/* ---- nodes ---- */

/* Adds a claim to the node for the addresses whose first `bits` bits equal those of pc. */
static struct unit_node *add_claim(struct unit_trie *t, struct unit_node *node, uint64_t pc,
				   unsigned bits, const struct unit_claim *c);

/* Adds a claim to all children of a node that it overlaps. */
static void add_below(struct unit_trie *t, struct unit_node *node, uint64_t pc, unsigned bits,
		      const struct unit_claim *c)
{
	uint64_t low = c->low, high = c->high, last = pc + (UINT64_MAX >> bits);
	unsigned shift = 64 - bits - 8;
	if (bits) {
		low = low < pc ? pc : low;
		high = high > last ? last : high;
	}
	uint32_t from = (low >> shift) & (FAN - 1), to = ((high - 1) >> shift) & (FAN - 1);
	if (from > to)
		return;
	if (node->kind == NODE_BYTES) {
		add_to_bytes(t, &node->bytes, from, to, c);
		return;
	}
	for (uint32_t i = from; i <= to && spend(t, 1); i++) {
		if (!node->children[i]) {
			node->children[i] = new_node(t, NODE_LEAF);
			node->children[i]->leaf = new_leaf(t);
		}
		node->children[i] =
			add_claim(t, node->children[i], pc + ((uint64_t)i << shift), bits + 8, c);
	}
}

static struct unit_node *split(struct unit_trie *t, const struct unit_leaf *leaf, uint64_t pc,
			       unsigned bits)
{
	struct unit_node *node = new_node(t, bits == BYTES_BITS ? NODE_BYTES : NODE_INNER);
	if (node->kind == NODE_BYTES)
		cut(t, &node->bytes, 0);
	for (uint32_t i = 0; i < leaf->n; i++)
		add_below(t, node, pc, bits, &leaf->at[i]);
	return node;
}

static struct unit_node *add_claim(struct unit_trie *t, struct unit_node *node, uint64_t pc,
				   unsigned bits, const struct unit_claim *c)
{
	if (node->kind == NODE_LEAF) {
		struct unit_leaf *leaf = node->leaf;
		if (!spend(t, leaf->n + 1) || extend(leaf, c))
			return node;
		if (leaf->n < leaf->room) {
			append(t, leaf, c);
			return node;
		}
		if (!spend(t, FAN))
			return node;
		node = split(t, leaf, pc, bits);
	}
	add_below(t, node, pc, bits, c);
	return node;
}

/* ---- the trie ---- */

void unit_trie_init(struct unit_trie *t, uint64_t work)
{
	*t = (struct unit_trie){ .work_left = work };
	t->root = new_node(t, NODE_LEAF);
	t->root->leaf = new_leaf(t);
}

void unit_trie_done(struct unit_trie *t) { arena_release(&t->arena); }

void unit_trie_add(struct unit_trie *t, uint32_t unit, uint64_t low, uint64_t high)
{
	if (low != high)
		t->root = add_claim(t, t->root, 0, 0, &(struct unit_claim){ low, high, unit });
}

static const struct unit_leaf *find_byte(const struct byte_leaves *b, uint64_t addr, uint64_t *last)
{
	uint32_t byte = addr & (FAN - 1), i = b->n;
	while (b->at[i - 1].first > byte)
		i--;
	*last = (addr | (FAN - 1)) - (i < b->n ? FAN - b->at[i].first : 0);
	return b->at[i - 1].leaf;
}

const struct unit_leaf *unit_trie_find(const struct unit_trie *t, uint64_t addr, uint64_t *last)
{
	const struct unit_node *node = t->root;
	unsigned bits = 0;
	for (; node && node->kind == NODE_INNER; bits += 8)
		node = node->children[(addr >> (64 - bits - 8)) & (FAN - 1)];
	if (node && node->kind == NODE_BYTES)
		return find_byte(&node->bytes, addr, last);
	*last = bits ? addr | (UINT64_MAX >> bits) : UINT64_MAX;
	return node ? node->leaf : NULL;
}

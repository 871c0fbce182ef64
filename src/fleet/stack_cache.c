/* stack_cache.c - the cache file: a header, then functions, frames, the tree of stacks, and the
 * stacks. */
#include "fleet/stack_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/folder.h"
#include "formats/rows/rows_hash.h"

enum { LARGEST = 40 << 20, ALL = 48 << 20 };

struct stack_cache_head {
	char magic[8];
	uint64_t checksum;                /* of everything after the header */
	uint64_t functions, frames, tree; /* bytes of each part; stacks take the rest */
};

static const char magic[8] = "kinstk3";

/* Each store has its own file, because names may differ between stores. */
static char *path_of(const struct store_url *url)
{
	char *folder = folder_cache("stacks");
	if (!folder)
		return NULL;
	uint64_t hash = rows_hash_text(ROWS_HASH_START, url->scheme);
	for (size_t i = 0; i < url->shards.n; i++)
		hash = rows_hash_text(hash, url->shards.at[i]);
	hash = rows_hash_end(rows_hash_text(hash, url->database));
	char *path = xprintf("%s/%016llx", folder, (unsigned long long)hash);
	free(folder);
	return path;
}

/* ---- reading ---- */

enum stack_cache_part { FUNCTIONS, FRAMES, TREE, STACKS, PARTS };

/* Splits the file into its parts; false: damaged. */
static bool parts_of(const struct file *f, struct bytes part[PARTS])
{
	struct stack_cache_head h;
	if (f->size < sizeof(h))
		return false;
	memcpy(&h, f->data, sizeof(h));
	struct bytes rest = bytes_of("", f->data + sizeof(h), f->size - sizeof(h));
	if (memcmp(h.magic, magic, sizeof(magic)) != 0 ||
	    h.checksum != folder_checksum(rest.pos, bytes_left(&rest)))
		return false;
	part[FUNCTIONS] = bytes_take(&rest, h.functions);
	part[FRAMES] = bytes_take(&rest, h.frames);
	part[TREE] = bytes_take(&rest, h.tree);
	part[STACKS] = rest;
	return !rest.failed;
}

/* Takes the names. Stacks are only taken if everything they refer to could be read. */
static void take(struct stack_cache *c, struct answers *a)
{
	struct bytes part[PARTS];
	if (parts_of(&c->file, part) && answers_take(a, ANSWERS_FUNCTIONS, 0, part[FUNCTIONS]) &&
	    answers_take(a, ANSWERS_FRAMES, 0, part[FRAMES]) &&
	    answers_take(a, ANSWERS_KEPT_TREE, 0, part[TREE]))
		c->stacks = part[STACKS];
}

void stack_cache_open(struct stack_cache *c, const struct store_url *url, struct answers *a)
{
	struct stat st;
	*c = (struct stack_cache){ .path = path_of(url) };
	if (!c->path || stat(c->path, &st))
		return;
	struct kin_error *err = file_read(c->path, &(struct file_opts){ .max = LARGEST }, &c->file);
	if (!err) {
		take(c, a);
		folder_used(c->path);
	}
	kin_error_free(err);
}

void stack_cache_take(struct stack_cache *c, struct answers *a)
{
	if (!answers_take(a, ANSWERS_KEPT_STACKS, 0, c->stacks))
		c->stacks = (struct bytes){ 0 };
	for (size_t i = 0; i < a->stacks.n; i++)
		c->n_taken += a->stacks.at[i].node != NONE;
}

/* ---- writing ---- */

struct stack_keeping {
	const struct stack_cache *c;
	const struct answers *a;
	const struct stack_order *order;
	uint32_t *nodes; /* [tree]: 0: drop; else keep: its number in the file, once written */
	bool all;        /* also keep stacks that this report did not use */
	void (*see)(struct stack_keeping *k, const struct answers_kept *s);
	struct row_buffer *into;
};

static void for_each_stack(struct stack_keeping *k)
{
	const struct answers *a = k->a;
	for (size_t i = 0; i < a->stacks.n; i++) {
		const struct answers_stack *s = &a->stacks.at[i];
		if (s->node != NONE)
			k->see(k, &(struct answers_kept){ s->id,
							  bytes_of("", s->comm, strlen(s->comm)),
							  s->node, s->flags });
	}
	for (struct bytes b = k->c->stacks; k->all && bytes_left(&b);) {
		struct answers_kept s = answers_next_kept(&b);
		if (!b.failed && map64_get(&a->stack_ids, s.id) == NONE)
			k->see(k, &s);
	}
}

static void mark(struct stack_keeping *k, const struct answers_kept *s) { k->nodes[s->node] = 1; }

static void put(struct stack_keeping *k, const struct answers_kept *s)
{
	struct answers_kept x = *s;
	x.node = k->nodes[s->node];
	answers_put_stack(&x, k->into);
}

static void put_tree(struct stack_keeping *k)
{
	const struct stack *nodes = k->a->tree.nodes.at;
	size_t n = k->a->tree.nodes.n;
	uint32_t written = 0;
	for (size_t i = n; i-- > 1;)
		k->nodes[nodes[i].caller] |= k->nodes[i];
	k->nodes[0] = 0;
	for (size_t at = 1; at < n; at++) {
		size_t i = stack_order_node(k->order, at);
		if (!k->nodes[i])
			continue;
		k->nodes[i] = ++written;
		answers_put_node((struct stack){ k->nodes[nodes[i].caller],
						 stack_order_rank(k->order, nodes[i].frame) },
				 k->into);
	}
}

static void put_frames(struct stack_keeping *k)
{
	const struct answers *a = k->a;
	uint32_t *frames = xrealloc(NULL, a->frames.n + 1, sizeof(*frames)); /* rank -> frame */
	for (uint32_t i = 0; i < a->frames.n; i++)
		frames[stack_order_rank(k->order, i)] = i;
	for (size_t i = 0; i < a->frames.n; i++)
		rows_put_frame(&a->frames.at[frames[i]].row, k->into);
	free(frames);
}

static void put_names(struct stack_keeping *k, struct stack_cache_head *h)
{
	const struct answers *a = k->a;
	size_t begin = k->into->n;
	for (size_t i = 0; i < a->functions.n; i++)
		rows_put_function(&a->functions.at[i], k->into);
	h->functions = k->into->n - begin;
	put_frames(k);
	h->frames = k->into->n - begin - h->functions;
}

static void keep(const struct stack_cache *c, const struct answers *a,
		 const struct stack_order *order, bool all)
{
	struct stack_cache_head h = { 0 };
	struct row_buffer into = { 0 };
	struct stack_keeping k = {
		.c = c, .a = a, .order = order, .all = all, .see = mark, .into = &into
	};
	k.nodes = xalloc((a->tree.nodes.n + 1) * sizeof(*k.nodes));
	vec_reserve(&into, sizeof(h));
	into.n = sizeof(h);
	put_names(&k, &h);
	for_each_stack(&k);
	size_t begin = into.n;
	put_tree(&k);
	h.tree = into.n - begin;
	k.see = put;
	for_each_stack(&k);
	memcpy(h.magic, magic, sizeof(magic));
	h.checksum = folder_checksum((const uint8_t *)into.at + sizeof(h), into.n - sizeof(h));
	memcpy(into.at, &h, sizeof(h));
	bool fits = into.n <= LARGEST;
	if (fits)
		folder_keep(c->path, into.at, into.n, ALL);
	vec_free(&into);
	free(k.nodes);
	if (!fits && all)
		keep(c, a, order, false);
}

/* A stack can be cached only if the rows of all its frames are known. */
static bool all_known(const struct answers *a)
{
	for (size_t i = 0; i < a->frames.n; i++)
		if (!a->frames.at[i].known)
			return false;
	return true;
}

void stack_cache_close(struct stack_cache *c, const struct answers *a,
		       const struct stack_order *order, bool is_whole)
{
	enum { PART = 16 };
	bool much = (a->stacks.n - c->n_taken) * PART > a->stacks.n;
	if (c->path && is_whole && much && all_known(a))
		keep(c, a, order, true);
	file_free(&c->file);
	free(c->path);
}

/* answers.c - reads rows as a store sends them; no field is trusted. */
#include "fleet/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "fleet/path_order.h"
#include "formats/rows/rows_hash.h"

static uint64_t read_length(struct bytes *b) { return bytes_uleb(b); }

static size_t length_of(const struct bytes *text)
{
	size_t n = bytes_left(text);
	const void *nul = n ? memchr(text->pos, '\0', n) : NULL;
	return nul ? (size_t)((const uint8_t *)nul - text->pos) : n;
}

/* Copies a text unless it equals the previous one: most rows repeat a thread's name. */
static const char *copy_text(struct answers *a, const struct bytes *text)
{
	size_t n = length_of(text);
	if (!n)
		return "";
	if (a->last_text && a->last_length == n && !memcmp(a->last_text, text->pos, n))
		return a->last_text;
	char *copy = arena_alloc_bytes(&a->arena, n + 1);
	memcpy(copy, text->pos, n);
	a->last_text = copy;
	a->last_length = n;
	return copy;
}

static const char *read_text(struct answers *a, struct bytes *b)
{
	struct bytes text = bytes_take(b, read_length(b));
	return copy_text(a, &text);
}

/* The name of a file or an object, interned: many rows share the same few. */
static const char *read_path(struct answers *a, struct bytes *b)
{
	struct bytes text = bytes_take(b, read_length(b));
	size_t n = length_of(&text);
	if (!n)
		return "";
	if (!a->files)
		a->files = strtab_new();
	return strtab_get(a->files, strtab_addn(a->files, (const char *)text.pos, n));
}

/* Ids are hashes already, so the map does not hash them again. */
static uint32_t stack_of(struct answers *a, uint64_t id, uint32_t shard)
{
	uint32_t *at = map64_at(&a->stack_ids, id);
	if (*at == NONE) {
		*at = (uint32_t)a->stacks.n;
		vec_push(
			&a->stacks,
			((struct answers_stack){
				.id = id, .comm = "", .node = NONE, .sum = NONE, .shard = shard }));
	}
	return *at;
}

static struct answers_sum *sum_of(struct answers *a, uint32_t stack, uint64_t event)
{
	struct answers_stack *s = &a->stacks.at[stack];
	uint32_t *at = &s->sum;
	if (*at != NONE && a->sums.at[*at].event != event)
		at = map64_at(&a->sum_ids, s->id ^ rows_hash_end(event));
	if (*at == NONE) {
		*at = (uint32_t)a->sums.n;
		vec_push(&a->sums, ((struct answers_sum){ .event = event, .stack = stack }));
	}
	return &a->sums.at[*at];
}

/* Prefetches the stack of a later row: rows come in order of hashes, so each look-up would wait for
 * memory. */
enum { SUM_BYTES = 40, AHEAD = 8 };

static void expect_sum(const struct answers *a, const struct bytes *b)
{
	uint64_t stack;
	if (bytes_left(b) < (AHEAD + 1) * SUM_BYTES)
		return;
	memcpy(&stack, b->pos + AHEAD * SUM_BYTES + sizeof(uint64_t), sizeof(stack));
	map64_prefetch(&a->stack_ids, stack);
}

static void read_sum(struct answers *a, struct bytes *b, uint32_t shard)
{
	expect_sum(a, b);
	uint64_t event = bytes_u64(b), stack = bytes_u64(b);
	uint64_t low = bytes_u64(b), high = bytes_u64(b), count = bytes_u64(b);
	if (b->failed)
		return;
	if (!(event | stack | count)) { /* a row without ids: ids are hashes, and never 0 */
		a->marked = true;
		capped_add(&a->n_damaged, low);
		return;
	}
	bool fits = high <= UINT32_MAX;
	struct answers_sum *x = sum_of(a, stack_of(a, stack, shard), event);
	capped_add(&x->weight, fits ? high << 32 : UINT64_MAX);
	capped_add(&x->weight, low);
	capped_add(&x->count, count);
}

static void read_event(struct answers *a, struct bytes *b, uint32_t shard)
{
	struct rows_event e = { .id = bytes_u64(b) };
	(void)shard;
	e.name = read_text(a, b);
	e.unit = read_text(a, b);
	e.kind = bytes_u8(b);
	e.period = bytes_u64(b);
	e.frequency = bytes_u64(b);
	uint32_t *at = b->failed ? NULL : map64_at(&a->event_ids, e.id);
	if (!at || *at != NONE)
		return;
	*at = (uint32_t)a->events.n;
	vec_push(&a->events, e);
}

static uint32_t frame_of(struct answers *a, uint64_t id)
{
	uint32_t *at = map64_at(&a->frame_ids, id);
	if (*at == NONE) {
		*at = (uint32_t)a->frames.n;
		vec_push(&a->frames, ((struct answers_frame){ .row = { .id = id } }));
	}
	return *at;
}

struct answers_path { /* a stack that is not in the tree yet */
	uint32_t stack, n;
	size_t first; /* index in path */
};

static void read_stack(struct answers *a, struct bytes *b, uint32_t shard)
{
	uint64_t id = bytes_u64(b);
	const char *comm = read_text(a, b);
	uint8_t flags = bytes_u8(b);
	uint64_t n = read_length(b);
	if (n > bytes_left(b) / 8)
		bytes_fail(b);
	struct answers_path path = { .n = (uint32_t)n, .first = a->path.n };
	for (uint64_t i = 0; i < n && !b->failed; i++)
		vec_push(&a->path, frame_of(a, bytes_u64(b)));
	if (!b->failed) {
		path.stack = stack_of(a, id, shard);
		struct answers_stack *s = &a->stacks.at[path.stack];
		if (s->node == NONE) {
			s->comm = comm;
			s->flags = flags;
			s->node = 0;
			vec_push(&a->paths, path);
			return;
		}
	}
	a->path.n = path.first;
}

static uint32_t in_common(const struct path_of_stack *a, const struct path_of_stack *b)
{
	uint32_t n = 0;
	while (n < a->n && n < b->n && a->at[n] == b->at[n])
		n++;
	return n;
}

/* Adds the stacks to the tree, sorted, so that a stack's common beginning with any earlier stack is
 * not looked up again. */
static void plant_stacks(struct answers *a)
{
	size_t n = a->paths.n, deepest = 0;
	struct path_of_stack *list = xrealloc(NULL, n + 1, sizeof(*list));
	for (size_t i = 0; i < n; i++) {
		const struct answers_path *p = &a->paths.at[i];
		list[i] = (struct path_of_stack){ a->path.at + p->first, p->n, p->stack };
		deepest = p->n > deepest ? p->n : deepest;
	}
	path_order(list, n);
	uint32_t *at = xalloc((deepest + 1) * sizeof(*at)); /* [0]: the empty stack */
	for (size_t i = 0; i < n; i++) {
		for (uint32_t k = i ? in_common(&list[i - 1], &list[i]) : 0; k < list[i].n; k++)
			at[k + 1] = stack_tree_add(&a->tree, at[k], list[i].at[k]);
		a->stacks.at[list[i].index].node = at[list[i].n];
	}
	free(at);
	free(list);
	vec_free(&a->paths);
	vec_free(&a->path);
}

static void read_frame(struct answers *a, struct bytes *b, uint32_t shard)
{
	struct rows_frame x = { .id = bytes_u64(b) };
	(void)shard;
	x.function = bytes_u64(b);
	x.file = read_path(a, b);
	x.line = bytes_u32(b);
	x.flags = bytes_u8(b);
	x.address = bytes_u64(b);
	if (b->failed)
		return;
	uint32_t at = frame_of(a, x.id); /* frame_of() may move the frames */
	if (!a->frames.at[at].known)
		a->frames.at[at] = (struct answers_frame){ .row = x, .known = true };
}

static void read_function(struct answers *a, struct bytes *b, uint32_t shard)
{
	struct rows_function x = { .id = bytes_u64(b) };
	(void)shard;
	x.name = read_text(a, b);
	x.file = read_path(a, b);
	x.line = bytes_u32(b);
	x.object = read_path(a, b);
	x.build_id = read_path(a, b);
	x.kind = bytes_u8(b);
	x.flags = bytes_u8(b);
	x.address = bytes_u64(b);
	uint32_t *at = b->failed ? NULL : map64_at(&a->function_ids, x.id);
	if (!at || *at != NONE)
		return;
	*at = (uint32_t)a->functions.n;
	vec_push(&a->functions, x);
}

/* ---- stacks in the local cache ---- */

struct answers_kept answers_next_kept(struct bytes *b)
{
	struct answers_kept s = { .id = bytes_u64(b) };
	s.comm = bytes_take(b, read_length(b));
	s.flags = bytes_u8(b);
	s.node = bytes_u32(b);
	return s;
}

static void read_kept_stack(struct answers *a, struct bytes *b, uint32_t shard)
{
	struct answers_kept k = answers_next_kept(b);
	(void)shard;
	if (k.node && k.node >= a->tree.nodes.n)
		bytes_fail(b);
	uint32_t at = b->failed ? NONE : map64_get(&a->stack_ids, k.id);
	if (at == NONE || a->stacks.at[at].node != NONE)
		return;
	struct answers_stack *s = &a->stacks.at[at];
	s->comm = copy_text(a, &k.comm);
	s->flags = k.flags;
	s->node = k.node;
}

/* Reads the whole tree at once: cached stacks refer to nodes by number. */
static void read_kept_tree(struct answers *a, struct bytes *b, uint32_t shard)
{
	(void)shard;
	if (a->tree.nodes.n > 1)
		bytes_fail(b);
	while (bytes_left(b)) {
		struct stack x = { .caller = bytes_u32(b), .frame = bytes_u32(b) };
		if (x.frame >= a->frames.n || !stack_tree_push(&a->tree, x))
			bytes_fail(b);
	}
}

void answers_put_node(struct stack x, struct row_buffer *ret)
{
	row_u32(ret, x.caller);
	row_u32(ret, x.frame);
}

void answers_put_stack(const struct answers_kept *s, struct row_buffer *ret)
{
	size_t n = bytes_left(&s->comm);
	row_u64(ret, s->id);
	row_length(ret, n);
	vec_reserve(ret, n);
	if (n)
		memcpy(ret->at + ret->n, s->comm.pos, n);
	ret->n += n;
	row_u8(ret, s->flags);
	row_u32(ret, s->node);
}

static size_t more_than(size_t n, size_t had) { return n > had ? n - had : 0; }

/* Makes room for the rows in so many bytes at once. */
static void make_room(struct answers *a, enum answers_table table, size_t n_bytes)
{
	enum { FRAME_BYTES = 40, FUNCTION_BYTES = 80 }; /* of usual rows */
	size_t n;

	switch (table) {
	case ANSWERS_SUMS: /* shards mostly have the same stacks: room for a few of their own */
		n = n_bytes / SUM_BYTES;
		n += a->sums.n ? 0 : n / 8;
		map64_reserve(&a->stack_ids, more_than(n, a->stack_ids.n));
		vec_reserve(&a->stacks, more_than(n, a->stacks.n));
		vec_reserve(&a->sums, more_than(n, a->sums.n));
		break;
	case ANSWERS_FRAMES:
		n = n_bytes / FRAME_BYTES;
		map64_reserve(&a->frame_ids, more_than(n, a->frame_ids.n));
		vec_reserve(&a->frames, more_than(n, a->frames.n));
		break;
	case ANSWERS_FUNCTIONS:
		n = n_bytes / FUNCTION_BYTES;
		map64_reserve(&a->function_ids, n);
		vec_reserve(&a->functions, n);
		break;
	case ANSWERS_KEPT_TREE:
		vec_reserve(&a->tree.nodes, n_bytes / sizeof(struct stack) + 1);
		break;
	case ANSWERS_EVENTS:
	case ANSWERS_STACKS:
	case ANSWERS_KEPT_STACKS:
		break;
	}
}

bool answers_take(struct answers *a, enum answers_table table, uint32_t shard, struct bytes bytes)
{
	static void (*const readers[])(struct answers *, struct bytes *, uint32_t) = {
		[ANSWERS_SUMS] = read_sum,
		[ANSWERS_EVENTS] = read_event,
		[ANSWERS_STACKS] = read_stack,
		[ANSWERS_FRAMES] = read_frame,
		[ANSWERS_FUNCTIONS] = read_function,
		[ANSWERS_KEPT_TREE] = read_kept_tree,
		[ANSWERS_KEPT_STACKS] = read_kept_stack,
	};
	make_room(a, table, bytes_left(&bytes));
	a->marked = false;
	while (bytes_left(&bytes))
		readers[table](a, &bytes, shard);
	if (a->paths.n)
		plant_stacks(a);
	return !bytes.failed && (table != ANSWERS_SUMS || a->marked);
}

const struct rows_event *answers_event(const struct answers *a, uint64_t id)
{
	uint32_t at = map64_get(&a->event_ids, id);
	return at == NONE ? NULL : &a->events.at[at];
}

const struct rows_function *answers_function(const struct answers *a, uint64_t id)
{
	uint32_t at = map64_get(&a->function_ids, id);
	return at == NONE ? NULL : &a->functions.at[at];
}

void answers_done(struct answers *a)
{
	arena_release(&a->arena);
	strtab_free(a->files);
	vec_free(&a->sums);
	vec_free(&a->events);
	vec_free(&a->functions);
	vec_free(&a->frames);
	vec_free(&a->stacks);
	vec_free(&a->paths);
	vec_free(&a->path);
	stack_tree_free(&a->tree);
	map64_free(&a->sum_ids);
	map64_free(&a->event_ids);
	map64_free(&a->function_ids);
	map64_free(&a->frame_ids);
	map64_free(&a->stack_ids);
}

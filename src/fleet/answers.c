/* answers.c - reads rows as a store sends them, of which none is trusted. */
#include "fleet/answers.h"

#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_rows_hash.h"

static uint64_t read_length(struct bytes *b) { return bytes_uleb(b); }

/* Most are what the one before was: names of threads, files, objects. */
static const char *copy_text(struct answers *a, const struct bytes *text)
{
	size_t n = bytes_left(text);
	const void *nul = n ? memchr(text->pos, '\0', n) : NULL;
	if (nul)
		n = (size_t)((const uint8_t *)nul - text->pos);
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

static void add_to(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

static void read_sum(struct answers *a, struct bytes *b, uint32_t shard)
{
	struct answers_sum x = { .shard = shard };
	x.event = bytes_u64(b);
	x.stack = bytes_u64(b);
	uint64_t low = bytes_u64(b), high = bytes_u64(b);
	x.count = bytes_u64(b);
	if (b->failed)
		return;
	bool fits = high <= UINT32_MAX;
	x.weight = fits ? high << 32 : UINT64_MAX;
	add_to(&x.weight, low);
	/* Ids are hashes themselves. */
	uint32_t *at = map64_at(&a->sum_ids, x.stack ^ rows_hash_end(x.event));
	if (*at == NONE) {
		*at = (uint32_t)a->sums.n;
		vec_push(&a->sums, x);
		return;
	}
	add_to(&a->sums.at[*at].weight, x.weight);
	add_to(&a->sums.at[*at].count, x.count);
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

static void read_stack(struct answers *a, struct bytes *b, uint32_t shard)
{
	struct rows_stack s = { .id = bytes_u64(b), .first = a->path.n };
	(void)shard;
	s.comm = read_text(a, b);
	s.flags = bytes_u8(b);
	s.n = read_length(b);
	if (s.n > bytes_left(b) / 8)
		bytes_fail(b);
	for (size_t i = 0; i < s.n && !b->failed; i++)
		vec_push(&a->path, frame_of(a, bytes_u64(b)));
	uint32_t *at = b->failed ? NULL : map64_at(&a->stack_ids, s.id);
	if (!at || *at != NONE) {
		a->path.n = s.first;
		return;
	}
	*at = (uint32_t)a->stacks.n;
	vec_push(&a->stacks, s);
}

static void read_frame(struct answers *a, struct bytes *b, uint32_t shard)
{
	struct rows_frame x = { .id = bytes_u64(b) };
	(void)shard;
	x.function = bytes_u64(b);
	x.file = read_text(a, b);
	x.line = bytes_u32(b);
	x.flags = bytes_u8(b);
	x.address = bytes_u64(b);
	if (b->failed)
		return;
	uint32_t at = frame_of(a, x.id); /* which may move the frames */
	if (!a->frames.at[at].known)
		a->frames.at[at] = (struct answers_frame){ .row = x, .known = true };
}

static void read_function(struct answers *a, struct bytes *b, uint32_t shard)
{
	struct rows_function x = { .id = bytes_u64(b) };
	(void)shard;
	x.name = read_text(a, b);
	x.file = read_text(a, b);
	x.line = bytes_u32(b);
	x.object = read_text(a, b);
	x.build_id = read_text(a, b);
	x.kind = bytes_u8(b);
	x.flags = bytes_u8(b);
	x.address = bytes_u64(b);
	uint32_t *at = b->failed ? NULL : map64_at(&a->function_ids, x.id);
	if (!at || *at != NONE)
		return;
	*at = (uint32_t)a->functions.n;
	vec_push(&a->functions, x);
}

/* ---- stacks that are kept here ---- */

struct own_stack {
	uint64_t id;
	struct bytes comm, path;
	uint8_t flags;
};

static struct own_stack read_kept(struct bytes *b)
{
	struct own_stack s = { .id = bytes_u64(b) };
	s.comm = bytes_take(b, read_length(b));
	s.flags = bytes_u8(b);
	uint64_t n = read_length(b);
	if (n > bytes_left(b) / 4)
		bytes_fail(b);
	s.path = bytes_take(b, b->failed ? 0 : 4 * n);
	return s;
}

static void read_kept_stack(struct answers *a, struct bytes *b, uint32_t shard)
{
	struct own_stack k = read_kept(b);
	(void)shard;
	if (b->failed || (a->wanted && map64_get(a->wanted, k.id) == NONE))
		return;
	struct rows_stack s = { .id = k.id, .flags = k.flags, .first = a->path.n };
	s.comm = copy_text(a, &k.comm);
	for (s.n = 0; bytes_left(&k.path); s.n++) {
		uint32_t frame = bytes_u32(&k.path);
		if (frame >= a->frames.n)
			bytes_fail(b);
		vec_push(&a->path, frame);
	}
	uint32_t *at = b->failed ? NULL : map64_at(&a->stack_ids, s.id);
	if (!at || *at != NONE) {
		a->path.n = s.first;
		return;
	}
	*at = (uint32_t)a->stacks.n;
	vec_push(&a->stacks, s);
}

void answers_put_stack(const struct answers *a, const struct rows_stack *s, struct http_bytes *ret)
{
	row_u64(ret, s->id);
	row_text(ret, s->comm);
	row_u8(ret, s->flags);
	row_length(ret, s->n);
	for (size_t i = 0; i < s->n; i++)
		row_u32(ret, a->path.at[s->first + i]);
}

uint64_t answers_skip_stack(struct bytes *b) { return read_kept(b).id; }

bool answers_take(struct answers *a, enum answers_table table, uint32_t shard, struct bytes bytes)
{
	static void (*const readers[])(struct answers *, struct bytes *, uint32_t) = {
		[ANSWERS_SUMS] = read_sum,           [ANSWERS_EVENTS] = read_event,
		[ANSWERS_STACKS] = read_stack,       [ANSWERS_FRAMES] = read_frame,
		[ANSWERS_FUNCTIONS] = read_function, [ANSWERS_KEPT_STACKS] = read_kept_stack,
	};
	while (bytes_left(&bytes))
		readers[table](a, &bytes, shard);
	return !bytes.failed;
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
	vec_free(&a->sums);
	vec_free(&a->events);
	vec_free(&a->functions);
	vec_free(&a->frames);
	vec_free(&a->stacks);
	vec_free(&a->path);
	map64_free(&a->sum_ids);
	map64_free(&a->event_ids);
	map64_free(&a->function_ids);
	map64_free(&a->frame_ids);
	map64_free(&a->stack_ids);
}

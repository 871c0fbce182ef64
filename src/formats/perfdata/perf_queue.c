/* perf_queue.c - sorts the records of a perf.data by time, one round after another. */
#include <string.h>

#include "base/search.h"
#include "formats/perfdata/perf.h"

/* Records are read or copied into chunks. A chunk is used again when all of its records were
 * delivered. */
#ifdef KIN_SMALL_TABLES
enum { CHUNK = 1 << 16 }; /* no record is larger */
#else
enum { CHUNK = 1 << 18 };
#endif

/* If more than this waits (files without rounds, or with senseless times), the older half is
 * delivered. */
enum { WAITING_MAX = 512 << 20 };

enum { AHEAD = 6, SOON = 3 }; /* records ahead: to fetch their data, then the slots they need */

struct perf_chunk {
	struct perf_chunk *next;
	size_t size, used; /* bytes */
	size_t live;       /* number of records, plus 1 while the file is read into it */
	uint8_t data[];
};

/* A chunk for n bytes: payloads may be larger than CHUNK. */
static struct perf_chunk *chunk_new(struct perf_queue *q, size_t n)
{
	struct perf_chunk *c = q->unused;

	if (c && n <= CHUNK) {
		q->unused = c->next;
	} else {
		n = n > CHUNK ? n : CHUNK;
		c = xrealloc(NULL, 1, sizeof(*c) + n);
		c->size = n;
	}
	c->next = NULL;
	c->used = c->live = 0;
	q->bytes += CHUNK;
	return c;
}

static void release_chunk(struct perf_queue *q, struct perf_chunk *c)
{
	if (--c->live || c == q->fill)
		return;
	q->bytes -= CHUNK;
	if (c->size > CHUNK) {
		free(c);
		return;
	}
	c->next = q->unused;
	q->unused = c;
}

static void release(struct perf_queue *q, const struct perf_record *r)
{
	q->bytes -= sizeof(*r);
	if (r->size && r->chunk)
		release_chunk(q, r->chunk);
}

uint8_t *perf_reader_take(void *reader, size_t n, size_t *cap)
{
	struct perf_reader *r = reader;
	struct perf_chunk *old = r->chunk;

	if (r->passed)
		release_chunk(r->queue, TAKE(r->passed));
	if (!old || old->live > 1 || n > old->size) {
		r->chunk = chunk_new(r->queue, n);
		r->chunk->live = 1;
		r->passed = old; /* the rest of it is still to be moved */
	}
	*cap = r->chunk->size;
	return r->chunk->data;
}

void perf_reader_done(struct perf_reader *r)
{
	if (r->passed)
		release_chunk(r->queue, r->passed);
	if (r->chunk)
		release_chunk(r->queue, r->chunk);
	*r = (struct perf_reader){ 0 };
}

struct perf_chunk *perf_reader_chunk(const struct perf_reader *r, const uint8_t *data)
{
	struct perf_chunk *c = r->chunk;
	return c && data >= c->data && data < c->data + c->size ? c : NULL;
}

/* Gives the record a copy of its data, unless it is in a chunk already. */
static void keep_data(struct perf_queue *q, struct perf_record *r)
{
	if (r->chunk) {
		r->chunk->live++;
		return;
	}
	if (q->fill && q->fill->live == 0)
		q->fill->used = 0;
	if (!q->fill || CHUNK - q->fill->used < r->size)
		q->fill = chunk_new(q, r->size); /* the old one is released with its last record */
	r->chunk = q->fill;
	r->data = memcpy(q->fill->data + q->fill->used, r->data, r->size);
	q->fill->used += r->size;
	q->fill->live++;
}

void perf_queue_add(struct perf_queue *q, const struct perf_record *r)
{
	vec_reserve(&q->at, 1);
	struct perf_record *at = &q->at.at[q->at.n];
	*at = *r;
	if (at->size)
		keep_data(q, at);
	q->bytes += sizeof(*at);
	if (q->sorted == q->at.n && (!q->at.n || at[-1].time <= at->time))
		q->sorted++;
	q->at.n++;
}

/* Merges two neighbouring runs [low, mid), [mid, high) of `from` into `to`. */
static void merge_runs(struct perf_record *to, const struct perf_record *from, size_t low,
		       size_t mid, size_t high)
{
	size_t i = low, j = mid;

	for (size_t k = low; k < high; k++)
		to[k] = j >= high || (i < mid && from[i].time <= from[j].time) ? from[i++]
									       : from[j++];
}

/* Finds runs in order of time. Usually each CPU has written a run, so they are few and long. */
static void find_runs(struct perf_queue *q)
{
	q->runs.n = 0;
	vec_push(&q->runs, 0);
	for (size_t i = q->sorted ? q->sorted : 1; i < q->at.n; i++)
		if (q->at.at[i].time < q->at.at[i - 1].time)
			vec_push(&q->runs, i);
	vec_push(&q->runs, q->at.n);
}

static void sort(struct perf_queue *q)
{
	if (q->sorted == q->at.n)
		return;
	find_runs(q);
	q->spare.n = 0;
	vec_reserve(&q->spare, q->at.n);
	while (q->runs.n > 2) {
		size_t n = 0, i;
		for (i = 0; i + 1 < q->runs.n; i += 2) {
			size_t low = q->runs.at[i], mid = q->runs.at[i + 1];
			size_t high = i + 2 < q->runs.n ? q->runs.at[i + 2] : mid;
			merge_runs(q->spare.at, q->at.at, low, mid, high);
			q->runs.at[n++] = low;
		}
		q->runs.at[n++] = q->at.n;
		q->runs.n = n;
		struct perf_record *at = q->at.at;
		size_t cap = q->at.cap;
		q->at.at = q->spare.at;
		q->at.cap = q->spare.cap;
		q->spare.at = at;
		q->spare.cap = cap;
	}
	q->sorted = q->at.n;
}

bool perf_queue_is_full(const struct perf_queue *q) { return q->bytes > WAITING_MAX; }

/* Sorting takes time proportional to all waiting records: not worth it for a few new ones. */
static bool is_worth_it(const struct perf_queue *q, uint64_t limit)
{
	return limit == PERF_NO_TIME || q->sorted == q->at.n || q->at.n - q->sorted > q->sorted / 4;
}

static size_t count_due(const struct perf_queue *q, uint64_t limit)
{
	return COUNT_WHILE(q->at.n, i, q->at.at[i].time <= limit);
}

/* Data copied a round ago is no longer in the core's cache, and slots of leaves are not there
 * yet. */
static void prefetch(const struct perf *p, const struct perf_record *r)
{
	enum { LINE = 64, LINES_MAX = 8 };

	if (!r->size)
		perf_leaf_prefetch(p, &r->leaf);
	for (size_t i = 0; i < LINES_MAX && i * LINE < r->size; i++)
		__builtin_prefetch(r->data + i * LINE);
}

void perf_queue_flush(struct perf_queue *q, uint64_t limit,
		      void (*deliver)(struct perf *p, const struct perf_record *r), struct perf *p)
{
	bool full = perf_queue_is_full(q);

	if (!q->at.n || (!full && !is_worth_it(q, limit)))
		return;
	sort(q);
	if (full && q->at.at[q->at.n / 2].time > limit)
		limit = q->at.at[q->at.n / 2].time;
	size_t n = count_due(q, limit);
	if (!full && limit != PERF_NO_TIME && n < q->at.n / 8)
		return; /* moving the rest takes time proportional to it */
	for (size_t i = 0; i < n; i++) {
		if (i + AHEAD < n)
			prefetch(p, &q->at.at[i + AHEAD]);
		if (i + SOON < n && q->at.at[i + SOON].size)
			perf_stack_prefetch(p, &q->at.at[i + SOON]);
		deliver(p, &q->at.at[i]);
		release(q, &q->at.at[i]);
	}
	memmove(q->at.at, q->at.at + n, (q->at.n - n) * sizeof(*q->at.at));
	q->at.n -= n;
	q->sorted = q->at.n;
}

void perf_queue_done(struct perf_queue *q)
{
	for (size_t i = 0; i < q->at.n; i++)
		release(q, &q->at.at[i]);
	while (q->unused) {
		struct perf_chunk *c = q->unused;
		q->unused = c->next;
		free(c);
	}
	free(q->fill);
	vec_free(&q->at);
	vec_free(&q->spare);
	vec_free(&q->runs);
}

/* backlog.c - a list of chunks with records. */
#include "record/backlog.h"

#include <stdlib.h>

struct backlog_chunk {
	struct backlog_chunk *next;
	size_t filled;
	uint8_t data[BACKLOG_CHUNK];
};

/* Only the thread that adds takes chunks, so none comes back while it looks at the first. */
static struct backlog_chunk *take_spare(struct backlog *b)
{
	struct backlog_chunk *c = __atomic_load_n(&b->spare, __ATOMIC_ACQUIRE);
	while (c && !__atomic_compare_exchange_n(&b->spare, &c, c->next, true, __ATOMIC_ACQUIRE,
						 __ATOMIC_ACQUIRE))
		continue;
	return c;
}

static void put_spare(struct backlog *b, struct backlog_chunk *c)
{
	c->next = __atomic_load_n(&b->spare, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&b->spare, &c->next, c, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		continue;
}

static struct backlog_chunk *chunk_new(size_t *n_chunks, size_t most)
{
	struct backlog_chunk *c = *n_chunks < most ? malloc(sizeof(*c)) : NULL;
	*n_chunks += c != NULL;
	return c;
}

uint8_t *backlog_room(struct backlog *b, size_t n, size_t *n_chunks, size_t most)
{
	if (b->last && b->last->filled + n <= BACKLOG_CHUNK)
		return b->last->data + b->last->filled;
	struct backlog_chunk *c = take_spare(b);
	if (!c && !(c = chunk_new(n_chunks, most)))
		return NULL;
	c->next = NULL;
	c->filled = 0;
	if (b->last)
		b->last->next = c;
	else
		b->first = c;
	b->last = c;
	return c->data;
}

void backlog_add(struct backlog *b, size_t n)
{
	__atomic_store_n(&b->last->filled, b->last->filled + n, __ATOMIC_RELAXED);
	b->added += n;
}

/* A chunk that is not the last gets no more records. */
const uint8_t *backlog_next(struct backlog *b)
{
	struct backlog_chunk *c = b->first;
	if (b->at == __atomic_load_n(&c->filled, __ATOMIC_RELAXED)) {
		b->first = c->next;
		b->at = 0;
		put_spare(b, c);
	}
	return b->first->data + b->at;
}

void backlog_skip(struct backlog *b, size_t n)
{
	b->at += n;
	b->skipped += n;
}

static void free_all(struct backlog_chunk *c)
{
	for (struct backlog_chunk *next; c; c = next) {
		next = c->next;
		free(c);
	}
}

void backlog_free(struct backlog *b)
{
	free_all(b->first);
	free_all(b->spare);
	*b = (struct backlog){ 0 };
}

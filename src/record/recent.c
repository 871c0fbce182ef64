/* recent.c - keeps the most recent samples with their frames in memory, up to a number of bytes. */
#include "record/recent.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct recent {
	VEC(struct kept_sample *) at;
	size_t first; /* samples before it were dropped */
	size_t bytes, limit;
	uint64_t dropped;
};

/* Copies to *at and advances it. NULL gives NULL. */
static const void *copy(uint8_t **at, const void *from, size_t size)
{
	if (!from)
		return NULL;
	void *to = memcpy(*at, from, size);
	*at += size;
	return to;
}

static size_t registers_size(const struct perf_registers *r)
{
	return r->values ? 8 * (size_t)__builtin_popcountll(r->mask) : 0;
}

static size_t details_size(const struct perf_sample *d)
{
	return d ? sizeof(*d) + registers_size(&d->interrupt) + 24 * d->n_taken : 0;
}

/* Copies all but the stack, as the frames were already made from it. */
static const struct perf_sample *copy_details(uint8_t **at, const struct perf_sample *from)
{
	if (!from)
		return NULL;
	struct perf_sample *to = (void *)*at;
	*at += sizeof(*to);
	*to = *from;
	to->chain = to->branches = to->stack = to->user.values = NULL;
	to->n_chain = to->n_branches = to->stack_size = 0;
	to->read = to->raw = (struct bytes){ 0 };
	to->interrupt.values = copy(at, from->interrupt.values, registers_size(&from->interrupt));
	to->taken = copy(at, from->taken, 24 * from->n_taken);
	return to;
}

struct kept_sample *kept_sample_new(const struct walked_sample *s)
{
	size_t bytes = sizeof(struct kept_sample) +
		       (s->n + s->n_places) * sizeof(struct stack_frame) +
		       details_size(s->details) + s->n_fields;
	struct kept_sample *k = xalloc(bytes);
	uint8_t *at = (uint8_t *)(k + 1);
	k->of = *s;
	k->bytes = bytes;
	k->of.frames = copy(&at, s->frames, s->n * sizeof(s->frames[0]));
	k->of.places = copy(&at, s->places, s->n_places * sizeof(s->places[0]));
	k->of.details = copy_details(&at, s->details);
	k->of.fields = copy(&at, s->fields, s->n_fields);
	return k;
}

struct recent *recent_new(size_t bytes)
{
	struct recent *r = xalloc(sizeof(*r));
	r->limit = bytes;
	return r;
}

void recent_clear(struct recent *r)
{
	for (size_t i = r->first; i < r->at.n; i++)
		free(r->at.at[i]);
	r->at.n = r->first = r->bytes = 0;
}

void recent_free(struct recent *r)
{
	if (!r)
		return;
	recent_clear(r);
	vec_free(&r->at);
	free(r);
}

static void drop_oldest(struct recent *r)
{
	struct kept_sample *k = r->at.at[r->first++];
	r->bytes -= k->bytes;
	free(k);
	r->dropped++;
	if (r->first < r->at.n / 2)
		return;
	r->at.n -= r->first;
	memmove(r->at.at, r->at.at + r->first, r->at.n * sizeof(r->at.at[0]));
	r->first = 0;
}

void recent_add(struct recent *r, const struct walked_sample *s)
{
	struct kept_sample *k = kept_sample_new(s);
	vec_push(&r->at, k);
	r->bytes += k->bytes;
	while (r->bytes > r->limit && recent_count(r) > 1)
		drop_oldest(r);
}

uint64_t recent_dropped(const struct recent *r) { return r->dropped; }
size_t recent_count(const struct recent *r) { return r->at.n - r->first; }

const struct walked_sample *recent_at(const struct recent *r, size_t i)
{
	return &r->at.at[r->first + i]->of;
}

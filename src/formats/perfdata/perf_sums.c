/* perf_sums.c - samples that are told apart by their stack and task alone, added up as they come.
 *
 * Of many samples a few stacks are distinct, and there are too many of these for a core's cache:
 * building each one anew, call by call, would be one wait for memory after the other. So a sample
 * is found by a hash of its frames, in one place, which is fetched while the next ones are read.
 * Only one that was not met before becomes a stack of the profile. */
#include <string.h>

#include "formats/perfdata/perf.h"

#ifdef KIN_SMALL_TABLES
enum { COMING_BITS = 1, SLOT_BITS = 2 };
#else
enum { COMING_BITS = 4, SLOT_BITS = 12 };
#endif
enum {
	COMING = 1 << COMING_BITS
}; /* samples that wait for memory, half of them for their slot,
    * half of them for what they are added to */

struct perf_sum_slot { /* 96 bits of hash stand for the frames, and what else tells it apart */
	uint64_t hash;
	uint32_t check;
	uint32_t sample; /* of the profile, + 1; 0: empty */
};

struct perf_coming {
	struct sample x;
	struct perf_hash hash;
	uint32_t sample; /* that it is added to; NONE: it was new, and is there */
	uint32_t tid;
	size_t n;
	VEC(frameid) frames; /* n, root first */
};

struct perf_interned { /* the last stack that was new: the next one begins alike */
	size_t n;
	VEC(frameid) frames;
	VEC(stackid) ids;
};

struct perf_sums {
	struct perf_sum_slot *slots;
	size_t n, mask;
	struct perf_coming coming[COMING]; /* the i-th at i % COMING */
	uint64_t n_came, n_found, n_added;
	struct perf_interned interned[PERF_LASTS]; /* by thread */
};

/* ---- slots ---- */

static struct perf_sum_slot *find(const struct perf_sums *s, struct perf_hash h)
{
	size_t i = h.hash & s->mask;

	while (s->slots[i].sample && (s->slots[i].hash != h.hash || s->slots[i].check != h.check))
		i = (i + 1) & s->mask;
	return &s->slots[i];
}

static void grow(struct perf_sums *s)
{
	struct perf_sum_slot *old = s->slots;
	struct perf_sum_slot *new = xalloc(2 * (s->mask + 1) * sizeof(*new));
	size_t n = s->mask + 1;

	s->slots = new;
	s->mask = 2 * n - 1;
	for (size_t i = 0; i < n; i++)
		if (old[i].sample)
			*find(s, (struct perf_hash){ old[i].hash, old[i].check }) = old[i];
	free(old);
}

/* ---- stacks ---- */

/* What is as in the thread's last new stack needs no looking up. */
static stackid intern(struct perf *p, const struct perf_coming *c)
{
	struct perf_interned *last = &p->sums->interned[c->tid % PERF_LASTS];
	size_t same = 0;

	while (same < c->n && same < last->n && last->frames.at[same] == c->frames.at[same])
		same++;
	last->frames.n = last->ids.n = same;
	vec_reserve(&last->frames, c->n - same);
	vec_reserve(&last->ids, c->n - same);
	stackid at = same ? last->ids.at[same - 1] : 0;
	for (size_t i = same; i < c->n; i++) {
		at = profile_push_stack(p->into, at, c->frames.at[i]);
		last->frames.at[i] = c->frames.at[i];
		last->ids.at[i] = at;
	}
	last->n = c->n;
	return at;
}

/* ---- samples ---- */

static void find_next(struct perf *p)
{
	struct perf_sums *s = p->sums;
	struct perf_coming *c = &s->coming[s->n_found++ % COMING];
	struct perf_sum_slot *slot = find(s, c->hash);

	if (slot->sample) {
		c->sample = slot->sample - 1;
		profile_prefetch_sample(p->into, c->sample);
		return;
	}
	c->x.stack = intern(p, c);
	size_t at = profile_push_sample(p->into, c->x);
	c->sample = NONE;
	*slot = (struct perf_sum_slot){ c->hash.hash, c->hash.check, (uint32_t)at + 1 };
	if (++s->n > s->mask / 4 * 3)
		grow(s);
}

static void add_next(struct perf *p)
{
	struct perf_sums *s = p->sums;
	const struct perf_coming *c = &s->coming[s->n_added++ % COMING];

	if (c->sample != NONE)
		profile_add_to_sample(p->into, c->sample, c->x.count, c->x.weight);
}

/* Apart from the stack: of what is no time. */
static struct perf_hash hash_with(struct perf_hash h, const struct sample *x)
{
	h = perf_hash_add(h, MAP64_PAIR(x->task, x->event));
	return perf_hash_add(h, x->flags);
}

void perf_sums_add(struct perf *p, uint32_t tid, const struct perf_frames *frames,
		   const struct sample *x)
{
	struct perf_sums *s = p->sums;
	struct perf_coming *c = &s->coming[s->n_came++ % COMING];

	c->x = *x;
	c->tid = tid;
	c->n = frames->n;
	c->hash = hash_with(frames->hash, x);
	c->frames.n = 0;
	vec_reserve(&c->frames, frames->n);
	memcpy(c->frames.at, frames->at, frames->n * sizeof(*frames->at));
	__builtin_prefetch(&s->slots[c->hash.hash & s->mask]);
	if (s->n_came - s->n_found == COMING / 2)
		find_next(p);
	if (s->n_came - s->n_added == COMING)
		add_next(p);
}

void perf_sums_settle(struct perf *p)
{
	struct perf_sums *s = p->sums;

	while (s && s->n_found < s->n_came)
		find_next(p);
	while (s && s->n_added < s->n_came)
		add_next(p);
}

void perf_sums_start(struct perf *p)
{
	p->sums = xalloc(sizeof(*p->sums));
	p->sums->mask = (1 << SLOT_BITS) - 1;
	p->sums->slots = xalloc((p->sums->mask + 1) * sizeof(*p->sums->slots));
}

void perf_sums_done(struct perf *p)
{
	struct perf_sums *s = p->sums;

	if (!s)
		return;
	for (size_t i = 0; i < COMING; i++)
		vec_free(&s->coming[i].frames);
	for (size_t i = 0; i < PERF_LASTS; i++) {
		vec_free(&s->interned[i].frames);
		vec_free(&s->interned[i].ids);
	}
	free(s->slots);
	free(s);
}

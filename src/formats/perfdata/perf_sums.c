/* perf_sums.c - sums samples that differ only in stack and task, as they come.
 *
 * Many samples have few distinct stacks, but too many for a core's cache: building each stack call
 * by call would wait for memory again and again. So a sample is found by a hash of its frames, in a
 * single slot, which is fetched while the next samples are read. Only a stack that was not seen
 * before is added to the profile. While there are few stacks, a new one shares callers only with
 * the last new one of its thread, so equal stacks may be added more than once. Later its callers,
 * most of which are known by then, are looked up by their hashes, from the leaf on. That takes
 * longer than adding another stack, but otherwise the stacks of a large file would need more and
 * more memory. */
#include <string.h>

#include "formats/perfdata/perf.h"

#ifdef KIN_SMALL_TABLES
enum { COMING_BITS = 1, SLOT_BITS = 2, FEW_STACKS = 32, FEW_OF_SMALL_FILES = 32 };
#else
enum { COMING_BITS = 4, SLOT_BITS = 12, FEW_STACKS = 1 << 20, FEW_OF_SMALL_FILES = 1 << 22 };
#endif
enum {
	COMING = 1 << COMING_BITS
}; /* samples that wait for memory: half of them for their slot, half of them for the sample of the
      profile that they are added to */

struct perf_sum_slot { /* 96 bits of hash: of the frames and all other keys */
	uint64_t hash;
	uint32_t check;
	uint32_t id; /* id + 1; 0: empty */
};

struct perf_sum_ids { /* ids by hash */
	struct perf_sum_slot *slots;
	size_t n, mask;
};

struct perf_coming {
	struct sample x;
	struct perf_hash hash;
	uint32_t sample; /* that it is added to; NONE: it was new */
	uint32_t tid;
	size_t n;
	VEC(frameid) frames; /* n, root first */
};

struct perf_new_stack { /* the last new stack of a thread */
	size_t n;
	VEC(frameid) frames; /* n, root first */
	VEC(stackid) ids;
};

struct perf_sums {
	struct perf_sum_ids samples, stacks;
	struct perf_coming coming[COMING]; /* number i is at i % COMING */
	uint64_t n_came, n_found, n_added;
	size_t n_stacks;                       /* stacks added without a search for equal ones */
	size_t n_few;                          /* limit of n_stacks */
	struct perf_new_stack new[PERF_LASTS]; /* by thread, while stacks are few */
	VEC(struct perf_hash) callers; /* hashes of a new stack's frames, from the root on */
};

/* ---- ids by hash ---- */

static void ids_init(struct perf_sum_ids *x)
{
	x->mask = (1 << SLOT_BITS) - 1;
	x->slots = xalloc((x->mask + 1) * sizeof(*x->slots));
}

/* The slot of the hash, or the empty one where it is to be put. */
static struct perf_sum_slot *find(const struct perf_sum_ids *x, struct perf_hash h)
{
	size_t i = h.hash & x->mask;

	while (x->slots[i].id && (x->slots[i].hash != h.hash || x->slots[i].check != h.check))
		i = (i + 1) & x->mask;
	return &x->slots[i];
}

static void prefetch(const struct perf_sum_ids *x, struct perf_hash h)
{
	__builtin_prefetch(&x->slots[h.hash & x->mask]);
}

static void grow(struct perf_sum_ids *x)
{
	struct perf_sum_slot *old = x->slots;
	struct perf_sum_slot *new = xalloc(2 * (x->mask + 1) * sizeof(*new));
	size_t n = x->mask + 1;

	x->slots = new;
	x->mask = 2 * n - 1;
	for (size_t i = 0; i < n; i++)
		if (old[i].id)
			*find(x, (struct perf_hash){ old[i].hash, old[i].check }) = old[i];
	free(old);
}

/* Fills the slot that find() returned. */
static void put(struct perf_sum_ids *x, struct perf_sum_slot *slot, struct perf_hash h, uint32_t id)
{
	*slot = (struct perf_sum_slot){ h.hash, h.check, id + 1 };
	if (++x->n > x->mask / 4 * 3)
		grow(x);
}

/* ---- stacks ---- */

/* The number of frames, from the root on, that are a stack of the profile already; *ret is that
 * stack. */
static size_t find_callers(const struct perf_sums *s, size_t n, stackid *ret)
{
	for (; n; n--) {
		const struct perf_sum_slot *slot = find(&s->stacks, s->callers.at[n - 1]);
		if (slot->id) {
			*ret = slot->id - 1;
			return n;
		}
	}
	*ret = 0;
	return 0;
}

static stackid intern_one_of_many(struct perf *p, const struct perf_coming *c)
{
	struct perf_sums *s = p->sums;
	struct perf_hash h = { 0 };
	stackid at;

	s->callers.n = 0;
	vec_reserve(&s->callers, c->n);
	for (size_t i = 0; i < c->n; i++)
		s->callers.at[i] = h = perf_hash_add(h, c->frames.at[i]);
	for (size_t i = find_callers(s, c->n, &at); i < c->n; i++) {
		at = profile_push_stack(p->into, at, c->frames.at[i]);
		put(&s->stacks, find(&s->stacks, s->callers.at[i]), s->callers.at[i], at);
	}
	return at;
}

static stackid intern_one_of_few(struct perf *p, const struct perf_coming *c)
{
	struct perf_new_stack *last = &p->sums->new[c->tid % PERF_LASTS];
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
	p->sums->n_stacks += c->n - same;
	return at;
}

static bool has_few(const struct perf_sums *s) { return s->n_stacks < s->n_few; }

/* ---- samples ---- */

static void find_next(struct perf *p)
{
	struct perf_sums *s = p->sums;
	struct perf_coming *c = &s->coming[s->n_found++ % COMING];
	struct perf_sum_slot *slot = find(&s->samples, c->hash);

	if (slot->id) {
		c->sample = slot->id - 1;
		profile_prefetch_sample(p->into, c->sample);
		return;
	}
	c->x.stack = has_few(s) ? intern_one_of_few(p, c) : intern_one_of_many(p, c);
	size_t at = profile_push_sample(p->into, c->x);
	c->sample = NONE;
	put(&s->samples, slot, c->hash, (uint32_t)at);
}

static void add_next(struct perf *p)
{
	struct perf_sums *s = p->sums;
	const struct perf_coming *c = &s->coming[s->n_added++ % COMING];

	if (c->sample != NONE)
		profile_add_to_sample(p->into, c->sample, c->x.count, c->x.weight);
}

/* The hash of everything but the time that distinguishes a sample. */
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
	prefetch(&s->samples, c->hash);
	if (!has_few(s)) {
		prefetch(&s->stacks, frames->hash);
		prefetch(&s->stacks, frames->callers);
	}
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

void perf_sums_start(struct perf *p, uint64_t file_size)
{
	enum { SMALL = 512 << 20 };

	p->sums = xalloc(sizeof(*p->sums));
	p->sums->n_few = file_size < SMALL ? FEW_OF_SMALL_FILES : FEW_STACKS;
	ids_init(&p->sums->samples);
	ids_init(&p->sums->stacks);
}

void perf_sums_done(struct perf *p)
{
	struct perf_sums *s = p->sums;

	if (!s)
		return;
	for (size_t i = 0; i < COMING; i++)
		vec_free(&s->coming[i].frames);
	for (size_t i = 0; i < PERF_LASTS; i++) {
		vec_free(&s->new[i].frames);
		vec_free(&s->new[i].ids);
	}
	vec_free(&s->callers);
	free(s->samples.slots);
	free(s->stacks.slots);
	free(s);
}

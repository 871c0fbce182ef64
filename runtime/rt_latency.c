/* rt_latency.c - how long calls take, in programs compiled with -finstrument-functions, which
 * report the beginning and end of each call.
 *
 * A thread keeps a list of its active calls. At the end of a call its duration is added to the
 * record of the arc in KINF_LATENCIES, which an index in private memory finds.
 *
 * Calls left by longjmp() report no end; they are recognised because their frames lie below the
 * current stack pointer. An end whose call is not on the list is ignored: that call began before
 * the runtime, in the parent of a fork, or on another stack. So a call is measured or not, and
 * never mistaken for another.
 *
 * A signal handler may run the same code on the same list at any instruction. It leaves the list as
 * deep as it was, so an entry is ours from the first store of the depth to the last.
 *
 * The hooks take time themselves. Their cost is measured at the start. A call's own hooks are
 * subtracted from its duration, and so are the hooks of all calls below it. The hooks do not always
 * take the same time, so the rest may be less than the bare calls take; then the time of the bare
 * calls is used. */
#include "rt.h"

#include <sys/mman.h>
#include <time.h>

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

enum {
	DEEPEST = 1 << 16,
	RECORDS = 64, /* records in a block */
	SEARCHED = 256,
	TRIALS = 16,
	TRIAL_CALLS = 64,
	FIRST_PLACES = 512, /* places in the first index */
	GROWTH = 4,
};

struct timed_call {
	uint64_t from, to, began, sp,
		ended; /* ended: the thread's number of ended calls when this one began */
};

/* Finds records by arc: an open-addressing table, at most half full. When a larger one replaces it,
 * the old one is not freed, because an interrupted search may still read it. */
struct latency_index {
	uint64_t mask, used; /* number of places - 1; places taken */
	struct kinf_latency *at[];
};

struct rt_latency {             /* calls of one thread */
	uint32_t depth, beyond; /* beyond: active calls that did not fit on the list */
	uint32_t run;           /* rt.latency.run when the list was begun */
	uint64_t ended;
	bool transient;              /* some record belongs to a module that may be unloaded */
	struct latency_index *index; /* NULL before the first record */
	struct kinf_latency *unused;
	struct kinf_block *block;
	struct timed_call call[];
};

static inline uint64_t ns_of(uint64_t t)
{
	return (uint64_t)((unsigned __int128)t * rt.latency.ns_x2_32 >> 32);
}

/* ---- records ---- */

static uint32_t bucket_of(uint64_t ns)
{
	enum { LINEAR = 16, FIRST_POWER = 4, EACH = 8 };
	uint32_t power = 63 - (uint32_t)__builtin_clzll(ns | 1), i;

	if (ns < LINEAR)
		return (uint32_t)ns;
	i = LINEAR + EACH * (power - FIRST_POWER) + (uint32_t)(ns >> (power - 3) & 7);
	return i < KINF_LATENCY_BUCKETS ? i : KINF_LATENCY_BUCKETS - 1;
}

static void lower(uint64_t *at, uint64_t ns)
{
	uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (ns < old && !__atomic_compare_exchange_n(at, &old, ns, false, __ATOMIC_RELAXED,
							__ATOMIC_RELAXED))
		;
}

static void raise_to(uint64_t *at, uint64_t ns)
{
	uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (ns > old && !__atomic_compare_exchange_n(at, &old, ns, false, __ATOMIC_RELAXED,
							__ATOMIC_RELAXED))
		;
}

static void add_call(struct kinf_latency *r, uint64_t ns, uint64_t probes)
{
	uint32_t *bucket = &r->bucket[bucket_of(ns)];

	lower(&r->min_ns, ns);
	raise_to(&r->max_ns, ns);
	add_to(&r->sum_ns, ns);
	add_to(&r->probes_ns, probes);
	if (*bucket != UINT32_MAX)
		__atomic_store_n(bucket, *bucket + 1, __ATOMIC_RELAXED);
	count_one(&r->count);
}

static struct kinf_latency *next_record(struct rt_latency *l, uint32_t thread)
{
	struct kinf_latency *r = l->unused;

	if (r) {
		l->unused = (struct kinf_latency *)(uintptr_t)r->from;
		return r;
	}
	if (!l->block || l->block->used + sizeof(*r) > l->block->size - sizeof(*l->block)) {
		l->block = rt_block(KINF_LATENCIES, RECORDS * sizeof(*r), thread);
		if (!l->block)
			return NULL;
		l->block->used = 0;
	}
	r = (struct kinf_latency *)(l->block->payload + l->block->used);
	l->block->used += sizeof(*r);
	return r;
}

/* ---- the index ---- */

static struct kinf_latency *find(const struct rt_latency *l, uint64_t from, uint64_t to)
{
	const struct latency_index *x = l->index;

	for (uint64_t i = rt_hash(from, to) >> 4; x; i++) {
		struct kinf_latency *r = __atomic_load_n(&x->at[i & x->mask], __ATOMIC_ACQUIRE);

		if (!r || (rt_read(&r->to) == to && rt_read(&r->from) == from))
			return r;
	}
	return NULL;
}

/* With the lock, like all functions that follow. */
static void insert(struct latency_index *x, struct kinf_latency *r)
{
	uint64_t i = rt_hash(r->from, r->to) >> 4;

	while (x->at[i & x->mask] && x->at[i & x->mask] != r)
		i++;
	x->used += !x->at[i & x->mask];
	__atomic_store_n(&x->at[i & x->mask], r, __ATOMIC_RELEASE);
}

static bool index_has_room(struct rt_latency *l)
{
	struct latency_index *old = l->index, *new;
	uint64_t places = old ? (old->mask + 1) * GROWTH : FIRST_PLACES;
	long m;

	if (old && old->used <= old->mask / 2)
		return true;
	m = SYS6(mmap, NULL, sizeof(*new) + places * sizeof(new->at[0]), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m < 0 && m > -4096)
		return false;
	new = (struct latency_index *)m;
	new->mask = places - 1;
	for (uint64_t i = 0; old && i <= old->mask; i++)
		if (old->at[i] && old->at[i]->to)
			insert(new, old->at[i]);
	__atomic_store_n(&l->index, new, __ATOMIC_RELEASE);
	return true;
}

static bool is_transient(uint64_t addr)
{
	const struct rt_module *m = rt_module_at(addr);

	return m && m->transient;
}

static struct kinf_latency *new_record(struct rt_thread *t, uint64_t from, uint64_t to)
{
	struct rt_latency *l = t->latency;
	struct kinf_latency *r = index_has_room(l) ? next_record(l, t->index) : NULL;

	if (!r)
		return NULL;
	if (is_transient(from) || is_transient(to))
		l->transient = true;
	if (l->transient && l->block)
		rt_own(l->block)->transient = true;
	r->from = from;
	r->min_ns = UINT64_MAX;
	__atomic_store_n(&r->to, to, __ATOMIC_RELEASE);
	insert(l->index, r);
	return r;
}

/* The record of an arc, made if there is none; NULL: no room. */
static struct kinf_latency *record_of(struct rt_latency *l, uint64_t from, uint64_t to)
{
	struct kinf_latency *r = find(l, from, to);
	struct rt_thread *t = rt_tls.thread;
	uint64_t mask;

	if (r || rt.full || !t || !rt_lock(&mask))
		return r;
	r = find(l, from, to); /* a signal handler may have been faster */
	if (!r)
		r = new_record(t, from, to);
	rt_unlock(mask);
	return r;
}

void rt_latency_forget(struct rt_thread *t, struct kinf_latency *r)
{
	clear_bytes(r, sizeof(*r));
	if (!t->latency)
		return;
	r->from = (uint64_t)(uintptr_t)t->latency->unused;
	t->latency->unused = r;
}

/* ---- calls ---- */

static struct rt_latency *new_list(void)
{
	uint64_t size = sizeof(struct rt_latency) + DEEPEST * sizeof(struct timed_call);
	long m = SYS6(mmap, NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return m < 0 && m > -4096 ? NULL : (struct rt_latency *)m;
}

static struct rt_latency *list(void)
{
	struct rt_thread *t = rt_tls.thread;
	struct rt_latency *l;
	uint64_t mask;

	if (__builtin_expect(rt_tls.latency != NULL, 1))
		return rt_tls.latency;
	if (!t || rt.silent || !rt_lock(&mask))
		return NULL;
	if (!t->latency)
		t->latency = new_list();
	else /* inherited from a dead thread */
		t->latency->depth = t->latency->beyond = 0;
	l = rt_tls.latency = t->latency;
	rt_unlock(mask);
	return l;
}

static inline void begin(struct rt_latency *l, uint64_t to, uint64_t from, uint64_t sp)
{
	uint32_t depth = l->run == rt.latency.run ? l->depth : 0;
	struct timed_call *c;

	l->run = rt.latency.run;
	while (depth && l->call[depth - 1].sp < sp) { /* left without reporting an end */
		depth--;
		l->beyond = 0;
	}
	if (depth == DEEPEST) {
		__atomic_store_n(&l->beyond, l->beyond + 1, __ATOMIC_RELAXED);
		return;
	}
	c = &l->call[depth];
	__atomic_store_n(&l->depth, depth + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&c->sp, sp, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	c->from = from;
	c->to = to;
	c->ended = l->ended;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&l->depth, depth + 1, __ATOMIC_RELAXED);
	c->began = ticks();
}

void rt_latency_begin(uint64_t to, uint64_t from, uint64_t sp)
{
	struct rt_latency *l = list();

	if (l)
		begin(l, to, from, sp);
}

static void measured(struct rt_latency *l, const struct timed_call *c, uint64_t spent,
		     uint64_t below)
{
	uint64_t probes = (rt.latency.own_x1024 + below * rt.latency.both_x1024) >> 10;
	uint64_t least = (below + 1) * rt.latency.call_x1024 >> 10;
	struct kinf_latency *r = record_of(l, c->from, c->to);

	if (!r)
		return;
	spent = (int64_t)spent < 0 ? 0 : ns_of(spent);
	if (spent < least)
		least = spent;
	if (spent < probes + least)
		probes = spent - least;
	add_call(r, spent - probes, probes);
}

static inline void end(struct rt_latency *l, uint64_t to, uint64_t from, uint64_t now)
{
	uint32_t depth = l->depth, last = depth > SEARCHED ? depth - SEARCHED : 0;

	if (l->run != rt.latency.run)
		return;
	if (l->beyond) {
		__atomic_store_n(&l->beyond, l->beyond - 1, __ATOMIC_RELAXED);
		return;
	}
	while (depth > last) {
		const struct timed_call *c = &l->call[--depth];

		if (c->to != to || c->from != from)
			continue;
		measured(l, c, now - c->began, l->ended - c->ended);
		__atomic_store_n(&l->depth, depth, __ATOMIC_RELAXED);
		count_one(&l->ended);
		return;
	}
}

void rt_latency_end(uint64_t to, uint64_t from)
{
	uint64_t now = ticks();

	if (rt_tls.latency)
		end(rt_tls.latency, to, from, now);
}

/* ---- the cost of measuring ---- */

__attribute__((noinline)) static void bare(void) { __asm__ volatile("" ::: "memory"); }

/* Time of TRIAL_CALLS calls of an empty function, in ticks. */
static uint64_t measure_calls(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIALS; i++) {
		uint64_t start = ticks(), sum;

		for (int k = 0; k < TRIAL_CALLS; k++)
			bare();
		sum = ticks() - start;
		best = sum < best ? sum : best;
	}
	return best;
}

/* Time that the hooks of TRIAL_CALLS calls take: *both, all of it, in ticks; *own, the part within
 * the measured duration, in ns. The best of several trials. */
static void measure_probes(struct rt_latency *l, uint64_t *both, uint64_t *own)
{
	struct kinf_latency *r = (struct kinf_latency *)(void *)&l->call[DEEPEST / 2];
	struct latency_index *index = (struct latency_index *)(r + 1);
	struct kinf_block *table = (struct kinf_block *)&index->at[1];
	struct kinf_call *slot = (struct kinf_call *)table->payload; /* the only slot: mask 0 */
	struct rt_tls before = rt_tls;
	void *where = (void *)(uintptr_t)measure_probes;

	r->from = r->to = (uint64_t)(uintptr_t)where;
	index->at[0] = r;
	l->index = index;
	slot->key = kinf_call_key(r->from, r->to);
	slot->to_high = (uint32_t)(r->to >> 16);
	rt_tls.arcs = slot;
	rt_tls.latency = l;
	*both = *own = UINT64_MAX;
	for (int i = 0; i < TRIALS; i++) {
		uint64_t start = ticks(), sum;

		r->sum_ns = 0;
		for (int k = 0; k < TRIAL_CALLS; k++) {
			__cyg_profile_func_enter(where, where);
			__cyg_profile_func_exit(where, where);
		}
		sum = ticks() - start;
		*both = sum < *both ? sum : *both;
		*own = r->sum_ns < *own ? r->sum_ns : *own;
	}
	rt_tls = before;
}

/* Reads both clocks at the same moment: the tightest of several readings. */
static void read_both(uint64_t *t, uint64_t *ns)
{
	enum { READINGS = 8 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = ticks(), now = rt_now_ns(CLOCK_MONOTONIC),
			 took = ticks() - before;

		if (took < least) {
			least = took;
			*t = before + took / 2;
			*ns = now;
		}
	}
}

static void measure_clock(void)
{
	enum { LONG_ENOUGH = 1000000 };
	uint64_t t0 = 0, t1 = 0, n0 = 0, n1 = 0;

	read_both(&t0, &n0);
	do
		read_both(&t1, &n1);
	while (n1 - n0 < LONG_ENOUGH && n1 >= n0);
	rt.latency.ns_x2_32 = t1 > t0 ? ((n1 - n0) << 32) / (t1 - t0) : 0;
}

void rt_latency_start(void)
{
	struct rt_latency *l;
	uint64_t mask, both, own;

	if (!rt.options.latency || rt.latency.ns_x2_32 || rt.silent || !rt_lock(&mask))
		return;
	l = rt.latency.ns_x2_32 ? NULL : new_list();
	if (l) { /* all signals are blocked meanwhile */
		measure_clock();
		__atomic_store_n(&rt_gate.latency, 1, __ATOMIC_RELEASE);
		measure_probes(l, &both, &own);
		rt.latency.both_x1024 = ns_of(both << 10) / TRIAL_CALLS;
		rt.latency.own_x1024 = (own << 10) / TRIAL_CALLS;
		rt.latency.call_x1024 = ns_of(measure_calls() << 10) / TRIAL_CALLS;
		SYS2(munmap, l, sizeof(*l) + DEEPEST * sizeof(struct timed_call));
	}
	rt_unlock(mask);
	rt_on();
}

/* perf_stacks.c - the addresses of a sample as a stack of the profile.
 *
 * Programs are where they were before most of the time: equal chains of equal address spaces are
 * looked up as a whole, by a hash of 128 bits that stands for them. */
#include <string.h>

#include "input/perf.h"

enum { FRAME_BITS = 15, FRAMES = 1 << FRAME_BITS }; /* addresses remembered */

struct perf_chain {
	uint64_t hash[2];
	stackid all, user;
};

struct perf_slot {           /* 0 for the index: empty */
	uint32_t tag, index; /* bits of the hash; of the chain, + 1 */
};

struct perf_frame {
	uint64_t ip;
	uint32_t generation, flags;
	frameid frame; /* 0: empty */
};

/* A stack in the making, leaf first. */
struct walk {
	struct perf *p;
	struct perf_space *user;
	frameid *frames;
	size_t n, n_kernel; /* n_kernel: of them, in front of the first one of user code */
};

/* ---- addresses ---- */

static uint32_t flags_of(unsigned mode)
{
	switch (mode) {
	case PERF_MODE_KERNEL:
		return FRAME_KERNEL;
	case PERF_MODE_HYPERVISOR:
		return FRAME_HYPERVISOR;
	case PERF_MODE_GUEST_KERNEL:
		return FRAME_GUEST | FRAME_KERNEL;
	case PERF_MODE_GUEST_USER:
		return FRAME_GUEST;
	}
	return 0;
}

static struct perf_space *space_of(struct perf *p, struct perf_space *user, unsigned mode)
{
	switch (mode) {
	case PERF_MODE_KERNEL:
		return &p->kernel;
	case PERF_MODE_GUEST_KERNEL:
		return &p->guest_kernel;
	case PERF_MODE_GUEST_USER:
	case PERF_MODE_HYPERVISOR:
		return NULL;
	}
	return user;
}

static struct frame resolve(struct perf *p, struct perf_space *space, unsigned mode, uint64_t ip)
{
	struct perf_map m = { 0 };

	if (space && perf_space_find(space, ip, &m))
		return perf_object_frame(p, &m, ip);
	if (mode == PERF_MODE_KERNEL || mode == PERF_MODE_GUEST_KERNEL) {
		/* No mapping says so, but it cannot be anything else. */
		m.object = perf_object_add(p,
					   mode == PERF_MODE_KERNEL ? "[kernel.kallsyms]"
								    : "[guest.kernel.kallsyms]",
					   "", 0, PERF_MAP_KERNEL);
		return perf_object_frame(p, &m, ip);
	}
	return (struct frame){ .addr = ip };
}

static frameid frame_of(struct perf *p, struct perf_space *user, unsigned mode, uint64_t ip,
			bool is_return)
{
	struct perf_space *space = space_of(p, user, mode);
	uint32_t generation = space ? space->generation : 0;
	uint32_t flags = flags_of(mode) | (is_return ? FRAME_RETURN : 0);
	uint64_t hash = (ip ^ (uint64_t)generation << 32 ^ flags) * 0x9e3779b97f4a7c15u;

	if (!p->chains.frames)
		p->chains.frames = xalloc(FRAMES * sizeof(*p->chains.frames));
	struct perf_frame *known = &p->chains.frames[hash >> (64 - FRAME_BITS)];
	if (known->frame && known->ip == ip && known->generation == generation &&
	    known->flags == flags)
		return known->frame;
	struct frame f = resolve(p, space, mode, ip);
	f.flags |= flags;
	*known = (struct perf_frame){ ip, generation, flags, profile_add_frame(p->into, f) };
	return known->frame;
}

frameid perf_frame_at(struct perf *p, struct perf_space *user, uint64_t ip)
{
	struct perf_map m;
	bool is_kernel = ip >> 63 && !perf_space_find(user, ip, &m);
	return frame_of(p, user, is_kernel ? PERF_MODE_KERNEL : PERF_MODE_USER, ip, false);
}

/* ---- chains ---- */

static unsigned mode_of_marker(uint64_t marker, unsigned mode)
{
	switch (marker) {
	case PERF_CONTEXT_HV:
		return PERF_MODE_HYPERVISOR;
	case PERF_CONTEXT_KERNEL:
		return PERF_MODE_KERNEL;
	case PERF_CONTEXT_USER:
	case PERF_CONTEXT_USER_DEFERRED:
		return PERF_MODE_USER;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_USER:
		return PERF_MODE_GUEST_USER;
	case PERF_CONTEXT_GUEST_KERNEL:
		return PERF_MODE_GUEST_KERNEL;
	}
	return mode;
}

static void push(struct walk *w, unsigned mode, uint64_t ip, bool is_return)
{
	if (w->n == PERF_STACK_MAX)
		return;
	w->frames[w->n++] = frame_of(w->p, w->user, mode, ip, is_return);
	if (mode != PERF_MODE_USER && mode != PERF_MODE_GUEST_USER && mode != 0 &&
	    w->n_kernel == w->n - 1)
		w->n_kernel = w->n;
}

/* The first address of each part is where it was interrupted, or called the kernel; the others are
 * return addresses. The very first is the sample's own, which may be more precise. */
static void push_chain(struct walk *w, const struct perf_attr *a, const struct perf_sample *s,
		       const uint8_t *chain, size_t n)
{
	unsigned mode = s->mode;
	bool first = true;

	for (size_t i = 0; i < n; i++) {
		uint64_t ip = perf_u64(w->p, chain + 8 * i);
		if (ip >= PERF_CONTEXT_MAX) {
			mode = mode_of_marker(ip, mode);
			first = true;
			continue;
		}
		if (w->n == 0 && a->sample_type & PERF_IP && s->ip != ip && s->ip) {
			if (mode != s->mode) /* only the callers in user code were asked for */
				push(w, s->mode, s->ip, false);
			else
				ip = s->ip;
		}
		push(w, mode, ip, !first);
		first = false;
	}
}

/* The CPU's own record of calls: where the last one went, and where each came from. */
static void push_branches(struct walk *w, const struct perf_sample *s)
{
	if (w->n == w->n_kernel)
		push(w, PERF_MODE_USER, perf_u64(w->p, s->branches + 8), false);
	for (size_t i = 0; i < s->n_branches; i++)
		push(w, PERF_MODE_USER, perf_u64(w->p, s->branches + 24 * i), false);
}

static void push_dump(struct walk *w, const struct perf_attr *a, const struct perf_sample *s)
{
	enum { PCS = 1024 };
	uint64_t pcs[PCS];
	size_t n = perf_dwarf_walk(w->p, w->user, a, s, pcs, PCS);

	for (size_t i = 0; i < n; i++)
		push(w, PERF_MODE_USER, pcs[i], i > 0);
}

/* From the root to the leaf; what is as in the thread's stack before needs no looking up. */
static struct perf_stack intern(struct perf_chains *c, const struct walk *w, uint32_t tid)
{
	struct perf_last *last = &c->last[tid % PERF_LASTS];
	struct perf_stack ret = { 0 };
	size_t same = 0, n_user = w->n - w->n_kernel;

	while (same < w->n && same < last->n && last->frames[same] == w->frames[w->n - 1 - same])
		same++;
	ret.all = same ? last->ids[same - 1] : 0;
	for (size_t i = same; i < w->n; i++) {
		last->frames[i] = w->frames[w->n - 1 - i];
		ret.all = last->ids[i] = profile_add_stack(w->p->into, ret.all, last->frames[i]);
	}
	last->n = w->n;
	ret.user = n_user ? last->ids[n_user - 1] : 0;
	return ret;
}

/* Whether the chain ends in what says that the user part comes later. */
static bool is_deferred(const struct perf *p, const struct perf_sample *s)
{
	return s->n_chain >= 2 &&
	       perf_u64(p, s->chain + 8 * (s->n_chain - 2)) == PERF_CONTEXT_USER_DEFERRED;
}

static struct perf_stack make(struct perf *p, struct perf_space *space, const struct perf_attr *a,
			      const struct perf_sample *s, size_t n_chain, bool dump)
{
	struct walk w = { .p = p, .user = space, .frames = p->chains.frames_now };

	push_chain(&w, a, s, s->chain, n_chain);
	if (s->n_branches) {
		w.n = w.n_kernel; /* in place of frame pointers */
		push_branches(&w, s);
	} else if (dump && w.n == w.n_kernel) {
		push_dump(&w, a, s);
	}
	if (!w.n)
		push(&w, s->mode, s->ip, false);
	p->chains.n_kernel = w.n_kernel;
	return intern(&p->chains, &w, s->tid);
}

/* ---- chains met before ---- */

static uint64_t mix(uint64_t h, uint64_t x, uint64_t k)
{
	h = (h ^ x) * k;
	return h ^ h >> 29;
}

static void hash_words(uint64_t h[2], const uint8_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t x;
		memcpy(&x, at + 8 * i, 8);
		h[0] = mix(h[0], x, 0x9e3779b97f4a7c15u);
		h[1] = mix(h[1], x, 0xd6e8feb86659fd93u);
	}
}

static uint32_t tag_of(const uint64_t hash[2]) { return (uint32_t)(hash[1] >> 32); }

static void grow(struct perf_chains *c)
{
	free(c->slots);
	c->cap = c->cap ? 2 * c->cap : 1024;
	c->slots = xalloc(c->cap * sizeof(*c->slots));
	for (size_t i = 0; i < c->at.n; i++) {
		size_t to = (size_t)c->at.at[i].hash[0] & (c->cap - 1);
		while (c->slots[to].index)
			to = (to + 1) & (c->cap - 1);
		c->slots[to] = (struct perf_slot){ tag_of(c->at.at[i].hash), (uint32_t)i + 1 };
	}
}

/* The slot of a chain; an empty one if it was not met. */
static struct perf_slot *find(struct perf_chains *c, const uint64_t hash[2])
{
	if (4 * c->at.n >= 3 * c->cap)
		grow(c);
	size_t i = (size_t)hash[0] & (c->cap - 1);
	for (; c->slots[i].index; i = (i + 1) & (c->cap - 1)) {
		if (c->slots[i].tag != tag_of(hash))
			continue;
		const struct perf_chain *known = &c->at.at[c->slots[i].index - 1];
		if (known->hash[0] == hash[0] && known->hash[1] == hash[1])
			break;
	}
	return &c->slots[i];
}

/* Of everything that make() looks at. */
static void hash_sample(const struct perf *p, const struct perf_space *space,
			const struct perf_sample *s, uint64_t h[2])
{
	h[0] = MAP64_PAIR(space->generation, p->kernel.generation);
	h[1] = MAP64_PAIR(s->mode, p->guest_kernel.generation);
	hash_words(h, (const uint8_t *)&s->ip, 1);
	hash_words(h, s->chain, s->n_chain);
	hash_words(h, s->branches, 3 * s->n_branches);
	h[1] = mix(h[1], s->n_chain, 0xd6e8feb86659fd93u);
}

struct perf_stack perf_stack_of(struct perf *p, struct perf_space *space, const struct perf_attr *a,
				const struct perf_sample *s)
{
	uint64_t h[2];

	if (s->regs && s->stack)
		return make(p, space, a, s, s->n_chain, true);
	if (is_deferred(p, s)) {
		struct perf_stack stack = make(p, space, a, s, s->n_chain - 2, false);
		stack.is_deferred = true;
		stack.cookie = perf_u64(p, s->chain + 8 * (s->n_chain - 1));
		return stack;
	}
	hash_sample(p, space, s, h);
	struct perf_slot *slot = find(&p->chains, h);
	if (!slot->index) {
		struct perf_stack stack = make(p, space, a, s, s->n_chain, false);
		vec_push(&p->chains.at,
			 ((struct perf_chain){ { h[0], h[1] }, stack.all, stack.user }));
		*slot = (struct perf_slot){ tag_of(h), (uint32_t)p->chains.at.n };
	}
	const struct perf_chain *c = &p->chains.at.at[slot->index - 1];
	return (struct perf_stack){ .all = c->all, .user = c->user };
}

stackid perf_stack_join(struct perf *p, struct perf_space *space, const uint8_t *chain, size_t n,
			const frameid *above, size_t n_above)
{
	struct walk w = { .p = p, .user = space, .frames = p->chains.frames_now };
	static const struct perf_attr none;
	struct perf_sample s = { .mode = PERF_MODE_USER };

	push_chain(&w, &none, &s, chain, n);
	stackid user = intern(&p->chains, &w, 0).all;
	for (size_t i = n_above; i-- > 0;)
		user = profile_add_stack(p->into, user, above[i]);
	return user;
}

void perf_stacks_done(struct perf *p)
{
	vec_free(&p->chains.at);
	free(p->chains.slots);
	free(p->chains.frames);
}

/* perf_stacks.c - makes stacks of the profile from the addresses of samples.
 *
 * Most of the time a program is where it was before. The outer part of a chain usually equals that
 * of the thread's last chain, word by word; chains that recur as a whole are recognised by a hash
 * of 128 bits. The rest is looked up address by address, and not compared with any other stack. */
#include <string.h>

#include "formats/perfdata/perf.h"

#ifdef KIN_SMALL_TABLES
enum { FRAME_BITS = 4, KNOWN_BITS = 3 };
#else
enum { FRAME_BITS = 15, KNOWN_BITS = 13 };
#endif
enum { FRAMES = 1 << FRAME_BITS }; /* addresses remembered */
enum { KNOWN = 1 << KNOWN_BITS };  /* chains remembered */
enum { IS_RETURN = 0x80 };         /* added to a mode, which is smaller */

struct perf_known { /* all 0: empty */
	uint64_t hash[2];
	stackid all, user;
};

struct perf_frame {
	uint64_t ip;
	uint32_t space; /* generation and flags */
	frameid frame;  /* 0: empty */
};

/* A stack being made, leaf first. After the frames in p->chains come `below` frames of `last`,
 * which stand for below_words words of the chain. */
struct perf_walk {
	struct perf *p;
	struct perf_space *user;
	struct perf_last *last;
	size_t equal; /* number of words at the chain's end that equal the last chain's */
	size_t n, below, below_words;
	size_t n_kernel; /* frames before the first one of user code */
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

struct perf_space *perf_space_of(struct perf *p, struct perf_space *user, unsigned mode)
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
		/* It is in no mapping, but can only be the kernel's. */
		m.object = perf_object_add(p,
					   mode == PERF_MODE_KERNEL ? "[kernel.kallsyms]"
								    : "[guest.kernel.kallsyms]",
					   "", 0, PERF_MAP_KERNEL);
		return perf_object_frame(p, &m, ip);
	}
	return (struct frame){ .addr = ip };
}

/* The frame used in stacks in place of `frame`, the last one so far. */
static frameid alike(struct perf *p, frameid frame)
{
	struct perf_chains *c = &p->chains;

	if (!p->needs.alike)
		return frame;
	while (c->alike.n <= frame)
		vec_push(&c->alike, 0);
	if (!c->alike.at[frame]) {
		struct profile so_far = profile_frames(p->into);
		c->alike.at[frame] = p->needs.alike(p->needs.alike_arg, &so_far, frame);
	}
	return c->alike.at[frame];
}

static frameid look_up(struct perf *p, struct perf_space *space, unsigned mode, uint64_t ip,
		       uint32_t flags)
{
	struct frame f = resolve(p, space, mode, ip);

	f.flags |= flags;
	return alike(p, profile_add_frame(p->into, f));
}

/* Addresses of one mode and space. */
struct perf_part {
	struct perf_space *space;
	unsigned mode;
	uint32_t flags, key; /* key: for perf_frame.space, without FRAME_RETURN */
	bool is_kernel;      /* or the hypervisor */
	bool is_keyed;       /* the generation is small enough to be part of a key */
};

enum { FLAG_BITS = 10 };
_Static_assert((FRAME_RETURN | FRAME_KERNEL | FRAME_GUEST | FRAME_HYPERVISOR | FRAME_GUESSED |
		FRAME_SIGNAL) < 1 << FLAG_BITS,
	       "flags of frames fit");

/* Sets the key. Call it again after an address was looked up: the space may then have another
 * generation. */
static void find_key(struct perf_part *part)
{
	uint32_t generation = part->space ? part->space->generation : 0;

	part->is_keyed = !(generation >> (32 - FLAG_BITS));
	part->key = generation << FLAG_BITS | part->flags;
}

static bool is_kernel(unsigned mode)
{
	return mode != PERF_MODE_USER && mode != PERF_MODE_GUEST_USER && mode != 0;
}

static struct perf_part part_of(struct perf *p, struct perf_space *user, unsigned mode)
{
	struct perf_part part = { .space = perf_space_of(p, user, mode),
				  .mode = mode,
				  .flags = flags_of(mode),
				  .is_kernel = is_kernel(mode) };
	find_key(&part);
	return part;
}

/* The slot for an address among those seen recently. */
static struct perf_frame *slot_of(const struct perf *p, uint64_t ip, uint32_t key)
{
	uint64_t hash = (ip ^ (uint64_t)key << 32) * 0x9e3779b97f4a7c15u;

	return &p->chains.frames[hash >> (64 - FRAME_BITS)];
}

/* NULL: the part has no keys. */
static struct perf_frame *place_of(const struct perf *p, const struct perf_part *part, uint64_t ip,
				   uint32_t key)
{
	return part->is_keyed ? slot_of(p, ip, key) : NULL;
}

/* Looks up an address and remembers its frame. Call find_key() after it. */
static frameid learn(struct perf *p, struct perf_part part, uint64_t ip, uint32_t flags)
{
	uint32_t key = part.key | flags;
	struct perf_frame *known = place_of(p, &part, ip, key);
	frameid frame = look_up(p, part.space, part.mode, ip, part.flags | flags);

	if (known)
		*known = (struct perf_frame){ ip, key, frame };
	return frame;
}

/* The frame of an address seen recently; 0: it was not. */
static frameid frame_met(const struct perf *p, const struct perf_part *part, uint64_t ip,
			 uint32_t flags)
{
	uint32_t key = part->key | flags;
	const struct perf_frame *known = place_of(p, part, ip, key);

	return known && known->ip == ip && known->space == key ? known->frame : 0;
}

static frameid frame_of(struct perf *p, struct perf_space *user, unsigned mode, uint64_t ip)
{
	struct perf_part part = part_of(p, user, mode);
	frameid frame = frame_met(p, &part, ip, 0);

	return frame ? frame : learn(p, part, ip, 0);
}

frameid perf_frame_at(struct perf *p, struct perf_space *user, uint64_t ip)
{
	struct perf_map m;
	bool is_kernel = ip >> 63 && !perf_space_find(user, ip, &m);
	return frame_of(p, user, is_kernel ? PERF_MODE_KERNEL : PERF_MODE_USER, ip);
}

/* ---- chains ---- */

unsigned perf_mode_of_marker(uint64_t marker, unsigned mode)
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

/* n_words: length of the chain from this word on; 0: not from the chain. */
static inline __attribute__((always_inline)) void push(struct perf_walk *w, struct perf_part *part,
						       uint64_t ip, bool is_return, size_t n_words)
{
	struct perf_chains *c = &w->p->chains;
	uint32_t flags = is_return ? FRAME_RETURN : 0;

	if (w->n == PERF_STACK_MAX)
		return;
	frameid frame = frame_met(w->p, part, ip, flags);
	if (!frame) {
		frame = learn(w->p, *part, ip, flags);
		find_key(part);
	}
	c->now[w->n] =
		(struct perf_frame_now){ frame, (uint16_t)n_words,
					 (uint8_t)(part->mode | (is_return ? IS_RETURN : 0)) };
	if (part->is_kernel && w->n_kernel == w->n)
		w->n_kernel++;
	w->n++;
}

/* Pushes a single address. */
static void push_leaf(struct perf_walk *w, unsigned mode, uint64_t ip)
{
	struct perf_part part = part_of(w->p, w->user, mode);

	push(w, &part, ip, false, 0);
}

static void push_mark(struct perf_walk *w, const char *name)
{
	struct perf_chains *c = &w->p->chains;

	if (w->n == PERF_STACK_MAX)
		return;
	c->now[w->n++] =
		(struct perf_frame_now){ profile_add_mark(w->p->into, name), 0, PERF_MODE_USER };
}

/* Takes the rest of the chain, whose words equal the last one's, from the last stack. False if that
 * is not possible. */
static bool share_rest(struct perf_walk *w, unsigned mode, size_t n_words)
{
	const struct perf_last *last = w->last;

	size_t n = last->frames_in[n_words];
	if (!w->n || !n)
		return false;
	if (last->modes[n - 1] != (mode | IS_RETURN) || w->n + n > PERF_STACK_MAX)
		return false;
	for (size_t i = n; w->n_kernel == w->n + n - i && i &&
			   is_kernel(last->modes[i - 1] & ~(unsigned)IS_RETURN);
	     i--)
		w->n_kernel++;
	w->below = n;
	w->below_words = n_words;
	return true;
}

/* The first address of each part is where it was interrupted, or called the kernel; the others are
 * return addresses. The very first may be replaced by the sample's own, which may be more precise.
 * Words that are visited become the last chain's words; the others equal them already. */
static void push_chain(struct perf_walk *w, const struct perf_chain *chain)
{
	struct perf_part part = part_of(w->p, w->user, chain->mode);
	struct perf_last *last = w->last;
	bool first = true;

	for (size_t n = chain->n; n; n--) {
		const uint8_t *word = chain->at + 8 * (chain->n - n);
		uint64_t ip = perf_u64(w->p, word);
		memcpy(&last->words[PERF_CHAIN_MAX - n], word, 8);
		if (ip >= PERF_CONTEXT_MAX) {
			part = part_of(w->p, w->user, perf_mode_of_marker(ip, part.mode));
			first = true;
			last->frames_in[n] = 0;
			continue;
		}
		if (n <= w->equal && !first && share_rest(w, part.mode, n))
			return;
		if (w->n == 0 && chain->ip && chain->ip != ip) {
			if (part.mode !=
			    chain->mode) { /* only callers in user code were recorded */
				push_leaf(w, chain->mode, chain->ip);
				find_key(&part);
			} else {
				ip = chain->ip;
			}
		}
		push(w, &part, ip, !first, n);
		first = false;
	}
}

/* Pushes the CPU's own record of calls: the target of the latest call, and the source of each. */
static void push_branches(struct perf_walk *w, const struct perf_sample *s)
{
	struct perf_part part = part_of(w->p, w->user, PERF_MODE_USER);

	if (w->n == w->n_kernel)
		push(w, &part, perf_u64(w->p, s->branches + 8), false, 0);
	for (size_t i = 0; i < s->n_branches; i++)
		push(w, &part, perf_u64(w->p, s->branches + 24 * i), false, 0);
}

static void push_dump(struct perf_walk *w, const struct perf_attr *a, const struct perf_sample *s)
{
	enum { PCS = 1024 };
	uint64_t pcs[PCS];
	struct unwind_walk dump;
	size_t n = perf_dwarf_walk(w->p, w->user, a, s, pcs, PCS, &dump);
	bool cut = dump.end != UNWIND_COMPLETE;

	struct perf_part part = part_of(w->p, w->user, PERF_MODE_USER);
	for (size_t i = 0; i < n; i++) {
		part.flags = (i >= dump.certain ? FRAME_GUESSED : 0) |
			     (unwind_was_interrupted(&dump, i + 1) ? FRAME_SIGNAL : 0);
		find_key(&part);
		push(w, &part, pcs[i], i && !unwind_was_interrupted(&dump, i), 0);
	}
	if (cut && !w->n)
		push_leaf(w, s->mode, s->ip);
	if (cut)
		push_mark(w, MARK_CUT);
}

/* ---- the last stack ---- */

static struct perf_last *last_of(struct perf *p, uint32_t tid)
{
	return &p->chains.last[tid % PERF_LASTS];
}

/* The number of words that both chains have in common at their ends. */
static size_t common_end(const struct perf_last *last, const struct perf_chain *chain)
{
	enum { WIDE = 4 };
	const uint8_t *a = (const uint8_t *)(last->words + PERF_CHAIN_MAX);
	const uint8_t *b = chain->at + 8 * chain->n;
	size_t max = chain->n < last->n_words ? chain->n : last->n_words, n = 0;

	while (n + WIDE <= max && !memcmp(a - 8 * (n + WIDE), b - 8 * (n + WIDE), 8 * WIDE))
		n += WIDE;
	while (n < max && !memcmp(a - 8 * (n + 1), b - 8 * (n + 1), 8))
		n++;
	return n;
}

static bool is_of_spaces(const struct perf *p, const struct perf_last *last,
			 const struct perf_space *user)
{
	return last->user == user->generation && last->kernel == p->kernel.generation &&
	       last->guest == p->guest_kernel.generation;
}

/* Keeps the chain, as the thread's next one may share it. */
static void keep_chain(const struct perf_walk *w, size_t n_words)
{
	struct perf_last *last = w->last;

	last->n_words = n_words;
	last->user = w->user->generation;
	last->kernel = w->p->kernel.generation;
	last->guest = w->p->guest_kernel.generation;
}

/* Keeps the i-th frame, counted from the root, as part of the last stack. */
static frameid keep_frame(const struct perf_walk *w, size_t i)
{
	const struct perf_frame_now *now = &w->p->chains.now[w->below + w->n - 1 - i];
	struct perf_last *last = w->last;

	last->modes[i] = now->mode;
	last->frames_in[now->n_words] = (uint16_t)(i + 1);
	return last->frames[i] = now->frame;
}

/* If many frames are alike, so are many stacks; otherwise most stacks are new. */
static stackid add_stack(struct perf *p, stackid caller, frameid frame)
{
	return p->needs.alike ? profile_add_stack(p->into, caller, frame)
			      : profile_push_stack(p->into, caller, frame);
}

/* Makes the stack from the root to the leaf. Frames that equal the thread's last stack are not
 * looked up. */
static struct perf_stack intern(struct perf_walk *w)
{
	struct perf_last *last = w->last;
	struct perf_stack ret = { 0 };
	size_t n = w->below + w->n, n_user = n - w->n_kernel;
	bool same = true;

	for (size_t i = w->below; i < n; i++) {
		frameid before = i < last->n ? last->frames[i] : 0, frame = keep_frame(w, i);
		same = same && before == frame;
		if (!same)
			last->ids[i] = add_stack(w->p, i ? last->ids[i - 1] : 0, frame);
	}
	last->frames_in[0] = 0; /* set by frames that are not from the chain */
	last->n = n;
	last->n_words = 0;
	ret.all = n ? last->ids[n - 1] : 0;
	ret.user = n_user ? last->ids[n_user - 1] : 0;
	return ret;
}

/* The same if stacks are distinguished by a hash: there is always a frame. */
static struct perf_frames hash_frames(struct perf_walk *w)
{
	struct perf_last *last = w->last;
	size_t n = w->below + w->n;
	struct perf_hash h = w->below ? last->hashes[w->below - 1] : (struct perf_hash){ 0 };

	for (size_t i = w->below; i < n; i++)
		h = last->hashes[i] = perf_hash_add(h, keep_frame(w, i));
	last->frames_in[0] = 0; /* set by frames that are not from the chain */
	last->n = n;
	struct perf_hash callers = n >= 2 ? last->hashes[n - 2] : (struct perf_hash){ 0 };
	return (struct perf_frames){ last->frames, n, h, callers };
}

/* ---- stacks ---- */

static struct perf_chain chain_of(const struct perf_sample *s, size_t n)
{
	return (struct perf_chain){ .ip = s->ip, .at = s->chain, .n = n, .mode = s->mode };
}

/* Walks the chain alone; `last` is the stack that it may share frames with. */
static struct perf_walk walk_chain(struct perf *p, struct perf_space *space,
				   const struct perf_chain *chain, struct perf_last *last)
{
	struct perf_walk w = { .p = p, .user = space, .last = last };

	if (is_of_spaces(p, last, space))
		w.equal = common_end(last, chain);
	push_chain(&w, chain);
	if (!w.n)
		push_leaf(&w, chain->mode, chain->ip);
	return w;
}

static struct perf_stack make(struct perf *p, struct perf_space *space, const struct perf_sample *s)
{
	struct perf_chain chain = chain_of(s, s->n_chain);
	struct perf_walk w = walk_chain(p, space, &chain, last_of(p, s->tid));
	struct perf_stack stack = intern(&w);

	keep_chain(&w, chain.n);
	return stack;
}

/* Most chains begin with a mark, and belong to the same process as the last one. */
void perf_stack_prefetch(const struct perf *p, const struct perf_record *r)
{
	enum { WORDS = 4 };
	const struct perf_attr *a = p->attrs.at.at;
	uint32_t key = p->chains.generation << FLAG_BITS;

	if (!p->sums || !a || !a->layout.is_plain)
		return;
	size_t at = PERF_RECORD_HEADER + a->layout.fixed + 8;
	if (r->size < at + 8 * WORDS)
		return;
	for (size_t i = 1; i < WORDS; i++)
		__builtin_prefetch(slot_of(p, perf_u64(p, r->data + at + 8 * i),
					   i == 1 ? key : key | FRAME_RETURN));
}

struct perf_frames perf_stack_frames(struct perf *p, struct perf_space *space,
				     const struct perf_sample *s)
{
	struct perf_last *last = &p->chains.last_of_sums[s->tid % PERF_LASTS];
	struct perf_chain chain = chain_of(s, s->n_chain);
	p->chains.generation = space->generation;
	struct perf_walk w = walk_chain(p, space, &chain, last);
	struct perf_frames frames = hash_frames(&w);

	keep_chain(&w, chain.n);
	return frames;
}

/* Makes a stack of the chain's first n_chain words and the sample's other parts. */
static struct perf_stack make_of_parts(struct perf *p, struct perf_space *space,
				       const struct perf_attr *a, const struct perf_sample *s,
				       size_t n_chain, bool dump)
{
	struct perf_walk w = { .p = p, .user = space, .last = last_of(p, s->tid) };
	struct perf_chain chain = chain_of(s, n_chain);

	push_chain(&w, &chain);
	if (s->n_branches) {
		w.n = w.n_kernel; /* instead of frame pointers */
		push_branches(&w, s);
	} else if (dump && w.n == w.n_kernel) {
		push_dump(&w, a, s);
	}
	if (!w.n)
		push_leaf(&w, s->mode, s->ip);
	p->chains.n_kernel = w.n_kernel;
	return intern(&w);
}

/* ---- chains seen before ---- */

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

/* A hash of everything that make() uses. */
static void hash_sample(const struct perf *p, const struct perf_space *space,
			const struct perf_sample *s, uint64_t h[2])
{
	h[0] = MAP64_PAIR(space->generation, p->kernel.generation);
	h[1] = MAP64_PAIR(s->mode, p->guest_kernel.generation);
	hash_words(h, (const uint8_t *)&s->ip, 1);
	hash_words(h, s->chain, s->n_chain);
	h[1] = mix(h[1], s->n_chain, 0xd6e8feb86659fd93u) | 1;
}

/* Chains are looked up while every other one is known. Otherwise look-ups pause for a while. */
static bool is_worth_looking(struct perf_chains *c)
{
	enum { TRY = 1024, REST = 16 * TRY };

	if (c->rest) {
		c->rest--;
		return false;
	}
	if (c->looked == TRY) {
		c->rest = c->found < TRY / 2 ? REST : 0;
		c->looked = c->found = 0;
	}
	c->looked++;
	return true;
}

static struct perf_stack find_or_make(struct perf *p, struct perf_space *space,
				      const struct perf_sample *s)
{
	uint64_t h[2];

	if (!is_worth_looking(&p->chains))
		return make(p, space, s);
	hash_sample(p, space, s, h);
	struct perf_known *known = &p->chains.known[h[0] >> (64 - KNOWN_BITS)];
	if (known->hash[0] == h[0] && known->hash[1] == h[1]) {
		p->chains.found++;
	} else {
		struct perf_stack stack = make(p, space, s);
		*known = (struct perf_known){ { h[0], h[1] }, stack.all, stack.user };
	}
	return (struct perf_stack){ .all = known->all, .user = known->user };
}

bool perf_stack_is_of_chain(const struct perf *p, const struct perf_sample *s)
{
	return !(s->user.values && s->stack) && !s->n_branches &&
	       !perf_sample_is_deferred(s, p->swap);
}

struct perf_stack perf_stack_of(struct perf *p, struct perf_space *space, const struct perf_attr *a,
				const struct perf_sample *s)
{
	if (s->user.values && s->stack)
		return make_of_parts(p, space, a, s, s->n_chain, true);
	if (perf_sample_is_deferred(s, p->swap)) {
		struct perf_stack stack = make_of_parts(p, space, a, s, s->n_chain - 2, false);
		stack.is_deferred = true;
		stack.cookie = perf_u64(p, s->chain + 8 * (s->n_chain - 1));
		return stack;
	}
	if (s->n_branches)
		return make_of_parts(p, space, a, s, s->n_chain, false);
	return find_or_make(p, space, s);
}

stackid perf_stack_leaf(struct perf *p, struct perf_space *user, unsigned mode, uint64_t ip)
{
	struct perf_chains *c = &p->chains;
	frameid frame = frame_of(p, user, mode, ip);

	while (c->leaves.n <= frame)
		vec_push(&c->leaves, 0);
	if (!c->leaves.at[frame])
		c->leaves.at[frame] = profile_add_stack(p->into, 0, frame);
	return c->leaves.at[frame];
}

stackid perf_stack_join(struct perf *p, struct perf_space *space, const uint8_t *chain, size_t n,
			const frameid *above, size_t n_above)
{
	struct perf_walk w = { .p = p, .user = space, .last = last_of(p, 0) };

	push_chain(&w, &(struct perf_chain){ .at = chain, .n = n, .mode = PERF_MODE_USER });
	stackid user = intern(&w).all;
	for (size_t i = n_above; i-- > 0;)
		user = add_stack(p, user, above[i]);
	return user;
}

void perf_stacks_init(struct perf *p)
{
	p->chains.frames = xalloc(FRAMES * sizeof(*p->chains.frames));
	p->chains.known = xalloc(KNOWN * sizeof(*p->chains.known));
}

void perf_stacks_done(struct perf *p)
{
	free(p->chains.frames);
	free(p->chains.known);
	vec_free(&p->chains.leaves);
	vec_free(&p->chains.alike);
}

/* hooks.c - finds the samples that were taken in hooks, and reduces their weights. */
#include "profile/hooks.h"

#include <stdlib.h>

#include "base/capped.h"
#include "base/map64.h"
#include "base/vec.h"

struct hooked { /* a function that calls a hook; identified by the hook's return address */
	uint64_t calls;
	double sampled; /* ns in its hook */
};

struct hooks {
	const struct profile *p;
	double call_ns;
	bool *runtime;         /* [object]: it is the runtime library */
	struct map64 ids;      /* by place_key() of a return address: index into `at` */
	VEC(struct hooked) at; /* by id */
	uint64_t off_ns;
};

static uint64_t place_key(objid object, uint64_t addr) { return addr ^ (uint64_t)object << 48; }

static const struct frame *frame_at(const struct hooks *h, stackid stack)
{
	const struct samples *s = &h->p->samples;
	return &s->frames[s->stacks[stack].frame];
}

static bool is_timed(const struct hooks *h, const struct sample *s)
{
	const struct event *e = &h->p->samples.events[s->event];
	return e->kind == EVENT_ON_CPU && e->unit == EVENT_NS;
}

/* The stack up to the hook that the sample is in, or whose callee it is in; 0: the sample is in no
 * hook. A signal handler may interrupt a hook, but is not part of the runtime. */
static stackid hook_of(const struct hooks *h, stackid stack)
{
	for (; stack; stack = h->p->samples.stacks[stack].caller) {
		const struct frame *f = frame_at(h, stack);
		if (f->flags & FRAME_HOOK)
			return stack;
		if (!h->runtime[f->object])
			break;
	}
	return 0;
}

/* The function that called the hook; NULL: not known, or its calls were not counted. */
static struct hooked *function_of(const struct hooks *h, stackid hook)
{
	stackid caller = h->p->samples.stacks[hook].caller;
	const struct frame *f = frame_at(h, caller);
	uint32_t id = caller && !(f->flags & FRAME_MARK)
			      ? map64_get(&h->ids, place_key(f->object, f->addr))
			      : NONE;
	return id == NONE ? NULL : &h->at.at[id];
}

/* ---- time and calls of each function ---- */

/* A program that is linked with the runtime has both in one object, which is not marked. */
static void find_runtime(struct hooks *h)
{
	const struct samples *s = &h->p->samples;
	h->runtime = xalloc(h->p->n_objects * sizeof(*h->runtime));
	for (size_t i = 1; i < s->n_frames; i++)
		if (s->frames[i].flags & FRAME_HOOK && s->frames[i].object &&
		    !h->p->objects[s->frames[i].object].is_main)
			h->runtime[s->frames[i].object] = true;
}

static void add_function(struct hooks *h, const struct sample *s, stackid hook)
{
	stackid caller = h->p->samples.stacks[hook].caller;
	const struct frame *f = frame_at(h, caller);
	if (!caller || f->flags & FRAME_MARK)
		return;
	uint32_t *id = map64_at(&h->ids, place_key(f->object, f->addr));
	if (*id == NONE) {
		*id = (uint32_t)h->at.n;
		vec_push(&h->at, (struct hooked){ 0 });
	}
	if (hook == s->stack)
		h->at.at[*id].sampled += (double)s->weight;
}

static void find_functions(struct hooks *h, struct hooks_time *ret)
{
	const struct samples *all = &h->p->samples;
	for (size_t i = 0; i < all->n; i++) {
		const struct sample *s = &all->at[i];
		stackid hook = is_timed(h, s) ? hook_of(h, s->stack) : 0;
		ret->sampled_ns += is_timed(h, s) ? s->weight : 0;
		if (hook)
			add_function(h, s, hook);
	}
}

static void count_calls(struct hooks *h)
{
	for (size_t i = 0; i < h->p->n_arcs; i++) {
		struct arc a = arc_at(&h->p->arcs, i);
		uint32_t id = map64_get(&h->ids, place_key(a.to_object, a.to));
		if (id != NONE)
			capped_add(&h->at.at[id].calls, a.count);
	}
}

/* ---- subtracting ---- */

static double share_off(const struct hooks *h, const struct hooked *f)
{
	double cost = (double)f->calls * h->call_ns;
	return cost < f->sampled ? cost / f->sampled : 1;
}

static bool revise(struct sample *s, void *arg)
{
	struct hooks *h = arg;
	stackid hook = is_timed(h, s) ? hook_of(h, s->stack) : 0;
	const struct hooked *f = hook ? function_of(h, hook) : NULL;
	if (!f || !f->calls)
		return true;
	uint64_t off = s->weight;
	if (hook == s->stack)
		off = min_u64(off, (uint64_t)((double)off * share_off(h, f) + 0.5));
	h->off_ns += off;
	s->weight -= off;
	s->stack = h->p->samples.stacks[hook].caller;
	return s->weight > 0;
}

static double cost_of_call(const struct profile *p)
{
	double calls = 0;
	for (size_t i = 0; i < p->n_arcs; i++)
		calls += (double)arc_at(&p->arcs, i).count;
	return calls > 0 ? (double)p->samples.audit.hooks_ns / calls : 0;
}

struct hooks_time hooks_take_off(struct profile *p)
{
	struct hooks_time ret = { 0 };
	if (!p->samples.audit.hooks_ns)
		return ret;
	struct hooks h = { .p = p, .call_ns = ret.call_ns = cost_of_call(p) };
	find_runtime(&h);
	find_functions(&h, &ret);
	if (h.at.n && h.call_ns > 0) {
		count_calls(&h);
		profile_revise_samples(p, revise, &h);
	}
	ret.off_ns = h.off_ns;
	free(h.runtime);
	map64_free(&h.ids);
	vec_free(&h.at);
	return ret;
}

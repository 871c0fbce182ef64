/* rt_cost.c - what counting adds to a call, so that reports can subtract it from sampled times.
 *
 * It is measured once in a sampled program, when it first counts a call: calls of a function that
 * does nothing are timed with and without the code that -pg adds. The fastest of several trials
 * counts, since interruptions only make a trial slower. */
#include "rt.h"

#include <time.h>

enum { TRIALS = 16, TRIAL_CALLS = 200 };

/* The shorter of `least` and the time of TRIAL_CALLS calls; ns. */
static uint64_t trial(void (*calls)(uint64_t n), uint64_t least)
{
	uint64_t start = rt_now_ns(CLOCK_MONOTONIC), took;

	calls(TRIAL_CALLS);
	took = rt_now_ns(CLOCK_MONOTONIC) - start;
	return took < least ? took : least;
}

/* With the lock, so that no signal handler counts in the trials' table. */
static void measure(void)
{
	/* A table whose mask is 0 has one slot. */
	static uint8_t table[sizeof(struct kinf_block) + sizeof(struct kinf_call)]
		__attribute__((aligned(64)));
	struct kinf_call *slot =
		(struct kinf_call *)(void *)((struct kinf_block *)(void *)table)->payload;
	uint64_t from = (uint64_t)rt_trial_from, to = (uint64_t)rt_trial_to;
	uint64_t bare = UINT64_MAX, counted = UINT64_MAX;
	void *arcs = rt_tls.arcs;

	*slot = (struct kinf_call){ kinf_call_key(from, to), (uint32_t)(to >> 16), 1 };
	rt_tls.arcs = slot;
	for (int i = 0; i < TRIALS; i++) {
		bare = trial(rt_trial_bare, bare);
		counted = trial(rt_trial_counted, counted);
	}
	rt_tls.arcs = arcs;
	rt.hook_ps = counted > bare ? (uint32_t)((counted - bare) * 1000 / TRIAL_CALLS) : 0;
}

void rt_cost_file(void)
{
	rt.header->hook_ps = rt.hook_ps;
	rt.header->hooks_start = (uint64_t)rt_hooks;
	rt.header->hooks_end = (uint64_t)rt_hooks_end;
}

void rt_cost_start(void)
{
	uint64_t mask;

	if (rt.cost_known || !rt.sampling.period_ns || rt.state != RT_STARTED || rt.silent ||
	    !rt_gate.tls || !rt_lock(&mask))
		return;
	if (!rt.cost_known) {
		rt.cost_known = true;
		measure();
		rt_cost_file();
	}
	rt_unlock(mask);
}

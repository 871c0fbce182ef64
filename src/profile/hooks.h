/* hooks.h - subtracts the time that counting calls added from the samples of a profile.
 *
 * A program built with -pg calls a hook of the runtime at the start of each function. Samples in
 * the hook (FRAME_HOOK) tell neither how long the calls take without the hook, nor how much longer
 * they take with it: a processor runs the hook partly in parallel with the work of the function. So
 * calls * cost is subtracted from the time sampled in the hook of a function, at most all of it.
 * The rest counts as the function's own time. The cost of a call is an average over the profile:
 * audit.hooks_ns / counted calls. Time in functions that the hook called, to record a new arc, is
 * subtracted completely. */
#ifndef PROFILE_HOOKS_H
#define PROFILE_HOOKS_H

#include "profile/profile.h"

struct hooks_time {
	uint64_t off_ns;     /* subtracted time; 0: none */
	uint64_t sampled_ns; /* time of all on-CPU samples, before */
	double call_ns;      /* cost of a call */
};

/* Changes the samples of `p`. Samples in a hook become samples of the function that called it, with
 * the remaining weight; samples without a remaining weight are removed. Nothing changes if the cost
 * is not known, or nothing was sampled in hooks. */
struct hooks_time hooks_take_off(struct profile *p);

#endif

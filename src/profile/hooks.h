/* hooks.h - takes the time that counting calls added off the samples of a profile.
 *
 * A program built with -pg calls a hook of the runtime at the start of each function. Samples in
 * the hook (FRAME_HOOK) say neither how long the calls take without it, nor how much longer they
 * take with it: a processor runs the hook partly beside the work of the function. So of the time
 * sampled in the hook of a function, calls * cost is taken off, at most all of it, and the rest is
 * the function's own. The cost of a call is that of the profile: audit.hooks_ns by its counted
 * calls. What the runtime did beyond its hook, for an arc that was new, is taken off as a whole. */
#ifndef PROFILE_HOOKS_H
#define PROFILE_HOOKS_H

#include "profile/profile.h"

struct hooks_time {
	uint64_t off_ns;     /* was taken off; 0: nothing */
	uint64_t sampled_ns; /* of all samples of time on a CPU, before */
	double call_ns;      /* cost of a call */
};

/* Changes the samples of `p`: samples in hooks become samples of the function that they count, with
 * what is left of their weight, or go. Nothing changes where the cost is not known, or where
 * nothing was sampled in hooks. */
struct hooks_time hooks_take_off(struct profile *p);

#endif

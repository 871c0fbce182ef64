/* callgrind_calls.h - the contents of a callgrind.out: costs of functions by line, and of their
 * calls. */
#ifndef FORMATS_CALLGRIND_CALLS_H
#define FORMATS_CALLGRIND_CALLS_H

#include "base/vec.h"
#include "profile/profile.h"

struct callgrind_cost { /* its values are at values[n_events * index] */
	uint32_t function;
	uint32_t callee; /* NONE: the function's own cost */
	frameid frame;   /* the line of the function */
};

struct callgrind_calls {
	size_t n_functions, n_events;
	uint16_t *events; /* [n_events]: ids in the profile */
	uint64_t period;  /* weight that a sample stood for; 0: what costs are is not sampled */
	VEC(struct callgrind_cost) at;
	VEC(uint64_t) values;
	uint32_t no_caller; /* caller of functions without one; NONE: there is none */
};

/* Adds samples: for each event, stacks along the calls, such that the own cost of each function and
 * the cost of each call are as in the file. Costs of calls within a cycle cannot be separated:
 * there the stacks go the shortest way. */
void callgrind_add_stacks(const struct callgrind_calls *c, struct profile_builder *into,
			  taskid task);

#endif

/* callgrind_calls.h - what a callgrind.out says: what functions cost themselves, by line, and what
 * their calls cost. */
#ifndef FORMATS_CALLGRIND_CALLS_H
#define FORMATS_CALLGRIND_CALLS_H

#include "base/vec.h"
#include "profile/profile.h"

struct callgrind_cost { /* its numbers: values[n_events * index] on */
	uint32_t function;
	uint32_t callee; /* NONE: the function's own cost */
	frameid frame;   /* the line of the function */
};

struct callgrind_calls {
	size_t n_functions, n_events;
	uint16_t *events; /* [n_events]: the profile's */
	VEC(struct callgrind_cost) at;
	VEC(uint64_t) values;
	uint32_t no_caller; /* a function that stands for no caller; NONE: there is none */
};

/* Adds samples: for each event stacks along the calls, such that each function's own cost, and each
 * call's, is what is said of it. Calls among functions that call each other in a circle have no
 * cost that could be told apart: there the stacks go the shortest way. */
void callgrind_add_stacks(const struct callgrind_calls *c, struct profile_builder *into,
			  taskid task);

#endif

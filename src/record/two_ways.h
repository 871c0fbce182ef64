/* two_ways.h - whether two walks of a stack, by call-frame information and by frame pointers,
 * contradict each other. */
#ifndef RECORD_TWO_WAYS_H
#define RECORD_TWO_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum two_ways {
	TWO_WAYS_NONE,   /* there are no frame pointers to walk by */
	TWO_WAYS_AGREE,  /* each caller by frame pointers is one by call-frame information */
	TWO_WAYS_DIFFER, /* one of them is wrong */
};

enum {
	TWO_WAYS_LEAST = 2
}; /* one word that looks like a caller may be left from an earlier call */

/* `pcs` are the frames by call-frame information, leaf first, `callers` those by frame pointers.
 * Code that was compiled without frame pointers hides callers from the second way, so these are a
 * part of the first. `complete`: the first way went to the outermost frame; if it did not, what the
 * second finds behind its end is no contradiction. */
enum two_ways two_ways(const uint64_t *pcs, size_t n, bool complete, const uint64_t *callers,
		       size_t n_callers);

#endif

/* beside.h - two pieces of work at the same time. */
#ifndef BASE_BESIDE_H
#define BASE_BESIDE_H

struct workload {
	void (*run)(void *arg);
	void *arg;
};

/* Runs both: `here` on this thread, `there` on one of its own, or here, too, if no thread can be
 * started. Returns when both have ended. If memory ran out in either, this fails as xalloc() does,
 * but not before the other has ended. Neither may write what the other reads or writes.
 *
 * A thread costs 10 us or, on a busy machine, 150: each should take a millisecond or more. */
void run_beside(struct workload here, struct workload there);

#endif

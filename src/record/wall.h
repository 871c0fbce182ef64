/* wall.h - time that threads did not run, from the records of switches.
 *
 * Intervals are exact: the kernel says when a thread left a CPU and came back. One that it left
 * because somebody else was to run is *waiting*; any other is *blocked* (the time from being woken
 * to running is part of it).
 *
 * Where in the program that was: where the kernel lets us take a sample at the switch itself, that
 * is the stack. Else it is an estimate: that of the thread's sample nearest to the switch in the
 * thread's own CPU time, before or after. */
#ifndef RECORD_WALL_H
#define RECORD_WALL_H

#include "record/recording.h"

struct wall;
/* `exact`: samples are taken at switches. `blocked`, `waiting`: events' ids in the file. */
struct wall *wall_new(struct recording *r, bool exact, uint32_t blocked, uint32_t waiting);
void wall_free(struct wall *w); /* NULL is fine */

/* A thread that was there before the recording: asleep since then, unless it is seen to run. Where
 * it was at seen_ns, if that is known; else NULL. */
void wall_present(struct wall *w, struct thread *t, uint64_t time_ns, const struct unwound *place,
		  uint64_t seen_ns);
/* A sample of any event; `at_switch`: of the one that is taken at switches. */
void wall_sample(struct wall *w, struct thread *t, const struct ring_record *r,
		 const struct unwound *stack, bool at_switch);
void wall_switch(struct wall *w, struct thread *t, const struct ring_record *r);
/* The thread is gone, or has another name from now on, or the recording ends: what is pending is
 * written. */
void wall_end(struct wall *w, struct thread *t, uint64_t time_ns, bool gone);

/* Threads that were on CPUs when the last record was taken: at least the one that it is of, if that
 * was a sample. */
uint16_t wall_running(const struct wall *w);

struct wall_totals {
	uint64_t blocked_ns, waiting_ns, switches, preemptions, exact, estimated;
};
const struct wall_totals *wall_totals(const struct wall *w);

#endif

/* wall.h - off-CPU time of threads, from records of context switches.
 *
 * Intervals are exact: the kernel records when a thread left a CPU and came back. After a
 * preemption the interval is *waiting*; any other is *blocked*, including the time from wake-up to
 * running.
 *
 * If the kernel permits sampling at the switch itself, that sample has the stack. Otherwise the
 * stack is estimated: it is taken from the thread's sample nearest to the switch in the thread's
 * own CPU time, before or after. */
#ifndef RECORD_WALL_H
#define RECORD_WALL_H

#include "record/gate.h"
#include "record/recording.h"

struct wall;
/* `exact`: samples are taken at switches. `blocked`, `waiting`: ids of these events in the file.
 * Only the part of an interval during which the gate was open counts; gate NULL: all of it. */
struct wall *wall_new(struct recording *r, bool exact, uint32_t blocked, uint32_t waiting,
		      const struct gate *gate);
void wall_free(struct wall *w); /* NULL is fine */

/* Adds a thread from before the recording: it counts as asleep since then, unless it is seen to
 * run. `place` is its stack at seen_ns, if known; else NULL. */
void wall_present(struct wall *w, struct thread *t, uint64_t time_ns, const struct unwound *place,
		  uint64_t seen_ns);
/* Adds a sample of any event; `at_switch`: of the event that is sampled at switches. */
void wall_sample(struct wall *w, struct thread *t, uint64_t time_ns, const struct unwound *stack,
		 bool at_switch);
void wall_switch(struct wall *w, struct thread *t, const struct ring_record *r);
/* Ends a thread, because it is gone, changes its name, or the recording ends: its pending interval
 * is written. */
void wall_end(struct wall *w, struct thread *t, uint64_t time_ns, bool gone);

/* The number of threads on CPUs at the last record: at least 1 if that was a sample. */
uint16_t wall_running(const struct wall *w);

struct wall_totals {
	uint64_t blocked_ns, waiting_ns, switches, preemptions, exact, estimated;
};
const struct wall_totals *wall_totals(const struct wall *w);

#endif

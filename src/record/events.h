/* events.h - what is sampled: event names as perf spells them, made into kernel attributes.
 *
 * "cycles:u,page-faults": names, separated by commas, each with modifiers: u, k (only in user or
 * kernel mode), p (accepted; as precise as the machine can). Known are the kernel's generic
 * hardware, cache and software events, rHEX (raw), and tracepoints (group:name). */
#ifndef RECORD_EVENTS_H
#define RECORD_EVENTS_H

#include "base/vec.h"

struct kin_error;
struct perf_event_attr;

struct record_event {
	char name[80]; /* as it was asked for, with modifiers */
	uint32_t type; /* PERF_TYPE_* */
	uint64_t config;
	uint64_t period;    /* one sample each so many; 0: by frequency */
	uint64_t frequency; /* samples per second of each CPU's time */
	uint8_t precise;
	bool exclude_kernel, exclude_user;
	bool is_clock;    /* counts nanoseconds of CPU time */
	bool is_switches; /* added for stacks of threads that go to sleep: not an event of the
			     user's */
};
struct record_events {
	VEC(struct record_event) at;
};

/* Appends to `ret`. Errors name the event, and what comes near it. */
struct kin_error *record_events_parse(const char *text, struct record_events *ret)
	__attribute__((warn_unused_result));
/* The clock that there always is. `tasks`: of single tasks, and not of whole CPUs. */
struct record_event record_event_clock(bool tasks);
struct record_event record_event_cycles(void);
struct record_event record_event_switches(void);

/* Fills type, config, period, exclusions. */
void record_event_attr(const struct record_event *e, struct perf_event_attr *ret);

#endif

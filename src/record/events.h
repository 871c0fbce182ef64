/* events.h - event names in perf's spelling, converted to kernel attributes.
 *
 *	cycles:u,page-faults             names, each with modifiers
 *	cpu-clock/period=100000,name=x/  with terms of their own: period, freq, name, call-graph=no,
 *	                                 config, config1, config2
 *	cpu/event=0x3c,umask=1/k         an event of a unit of /sys/bus/event_source/devices
 *	{cycles,instructions}            counted together: either all of them, or none
 *	sched:sched_switch, syscalls:*   trace points, also of probes that were defined
 *	mem:0x601040/8:rw                accesses to an address; x: its execution
 *
 * Modifiers: u, k, h (only in user mode, in the kernel, in a hypervisor), G, H (only in guests,
 * only outside of them), p (as precise as the machine can), D (pinned), e (exclusive), S (group:
 * only the first event is sampled, and the others are read at its samples). The names are those of
 * the kernel's generic hardware, cache and software events, rHEX (raw), and the above. */
#ifndef RECORD_EVENTS_H
#define RECORD_EVENTS_H

#include "base/vec.h"

struct kin_error;
struct perf_event_attr;

enum record_event_purpose {
	EVENT_SAMPLED,  /* requested by the user: its samples go into the file */
	EVENT_SWITCHES, /* stacks of threads that go to sleep, to record waiting */
	EVENT_TRACKING, /* only records of tasks and mappings */
};

struct record_event {
	char name[256];        /* as requested, with modifiers */
	char trace_point[200]; /* "group:name" of a trace point, else "" */
	uint32_t type;         /* PERF_TYPE_*, or the number of a unit */
	uint64_t config, config1, config2;
	uint32_t bp_type;   /* HW_BREAKPOINT_*, for PERF_TYPE_BREAKPOINT */
	uint64_t period;    /* events per sample; 0: use frequency, or not set yet */
	uint64_t frequency; /* samples per second of each CPU's time; 0: not set yet */
	uint32_t group; /* events with the same number are counted together, the leader first; 0: no
			   group */
	uint32_t from;  /* its offset in the parsed text */
	uint8_t precise;
	bool exclude_kernel, exclude_user, exclude_hypervisor, exclude_host, exclude_guest,
		exclude_idle;
	bool pinned, exclusive;
	bool group_is_read; /* S */
	bool is_read;     /* it is read at samples of its group's leader, and not sampled itself */
	bool no_stacks;   /* call-graph=no */
	bool is_clock;    /* counts nanoseconds of CPU time */
	bool at_switches; /* its samples are the stacks of threads that go to sleep */
	enum record_event_purpose purpose;
};
struct record_events {
	VEC(struct record_event) at;
};

/* Appends to `ret`. Errors name the event, and similar names. */
struct kin_error *record_events_parse(const char *text, struct record_events *ret)
	__attribute__((warn_unused_result));
/* The CPU clock, which always exists. `tasks`: for single tasks instead of whole CPUs. */
struct record_event record_event_clock(bool tasks);
struct record_event record_event_cycles(void);
struct record_event record_event_switches(void);
struct record_event record_event_tracking(void);

/* True for cycles: machines without that counter use a clock instead. */
bool record_event_is_cycles(const struct record_event *e);
/* True for context switches with stacks, wherever they happen. */
bool record_event_is_switches(const struct record_event *e);
/* True for events that are sampled at each occurrence by default. */
bool record_event_is_each(const struct record_event *e);

/* Fills type, config, period, exclusions. */
void record_event_attr(const struct record_event *e, struct perf_event_attr *ret);

#endif

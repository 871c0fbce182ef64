/* rings.h - opens the kernel's events on every CPU and reads their records in order of time.
 *
 * All events of a CPU share one ring buffer. A thread empties the buffers before they are full,
 * whatever the reader does meanwhile: it copies records, without the unused part of their stacks,
 * to memory. rings_next() merges them. It delivers records only up to a moment shortly before now,
 * because the kernel takes a record's time before it publishes the record.
 *
 * The clock is CLOCK_MONOTONIC. */
#ifndef RECORD_RINGS_H
#define RECORD_RINGS_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "formats/perfdata/perf_sample.h"
#include "record/events.h"
#include "record/wanted.h"

struct rings_opts {
	struct record_events
		*events;   /* changed if the kernel refuses some of them: see rings_open() */
	const pid_t *tids; /* tasks to follow, with all tasks that they start; */
	size_t n_tids;     /* 0: the whole machine */
	bool on_exec;      /* counting begins when the task executes a program */
	bool callchain;    /* record the kernel's stack walk; with user_chain also its user part */
	bool user_chain, no_kernel_chain;
	uint32_t stack_bytes; /* bytes of user stack to copy; 0: no registers either; UINT32_MAX: as
				 many as fit the buffers, with a larger size to choose:
				 rings_choose() */
	bool switches;        /* also records of context switches */
	bool no_inherit;      /* only these tasks, not those that they start */
	bool on_demand;       /* sampling begins when rings_enable() is called */
	bool cpus_too;        /* tasks are sampled by the CPUs' events at first, which also meet
			       * tasks that are shorter than a period; with samples of other tasks, too:
			       * ring_record.of_cpu. Takes a tracking event */
	bool spread; /* vary the periods of clocks a little at random, so that no program is in step
			with them */
	const int *cpus; /* only on these CPUs; */
	size_t n_cpus;   /* 0: all CPUs */
	int cgroup_fd; /* descriptor of a control group's folder: only tasks in it; -1: all. Without
			  tids */
	size_t buffer_bytes; /* buffer of each CPU: a power of two; 0: as large as permitted */
	const struct rings_filter *filters;
	size_t n_filters;
	struct wanted_details wanted;
};

struct rings_filter { /* A filter for the trace points whose names are at [from, to) of the text */
	uint32_t from, to; /* given to record_events_parse() */
	const char *text;
};

struct rings;

/* If the kernel does not let us sample itself, all events become user-only, and *user_only is set.
 * KIN_ERROR_OS with EACCES or EPERM: no permission at all. *ret is to be freed. */
struct kin_error *rings_open(const struct rings_opts *opts, struct rings **ret, bool *user_only)
	__attribute__((warn_unused_result));
void rings_free(struct rings *r); /* NULL is fine */

/* Follows more tasks, some of which may be gone already; from now on, or from their exec on if
 * opts.on_exec is set. */
void rings_follow(struct rings *r, const pid_t *tids, size_t n, bool enable);

/* Starts sampling. Tracking of tasks, mappings and switches is not affected. */
void rings_enable(struct rings *r);
void rings_disable(struct rings *r);
void rings_enable_tracking(struct rings *r);

/* Starts the thread that empties the buffers, at real-time priority if permitted: it has little to
 * do, and that at once. Without it, they are emptied by rings_polled() and rings_begin(). */
void rings_attend(struct rings *r);

/* For poll(): readable when there is enough to read, or when a followed task is gone. */
int rings_poll_fd(const struct rings *r);
/* To be called when rings_poll_fd() was readable. */
void rings_polled(struct rings *r);
/* Whether all followed tasks, and all tasks that they started, are gone. */
bool rings_all_gone(const struct rings *r);

/* Chooses large or small stack copies from now on: each event is opened several times, and all but
 * one are off. Initially copies are large. Without room for large copies, or after losses in the
 * last half second, all are small. */
void rings_choose(struct rings *r, bool large);
/* Whether this process may open events on whole CPUs, of all tasks. */
bool rings_may_use_cpus(void);
/* With opts.cpus_too: samples by the CPUs' events, or again by those that tasks inherit. */
void rings_use_cpus(struct rings *r, bool of_cpus);
bool rings_are_of_cpus(const struct rings *r);
/* Samples at a lower rate from now on; false: there is none. */
bool rings_slow_down(struct rings *r);
/* The current rate is this part of the requested one: 1, 1/8, 1/64 ... */
unsigned rings_slowness(const struct rings *r);

/* The size of large or small copies. */
uint32_t rings_stack_bytes(const struct rings *r, bool large);

struct ring_value {
	size_t event;
	uint64_t more; /* counted since the previous sample, by the thread or the CPU */
};

struct ring_record {
	const struct perf_event_header *header; /* valid until the next call */
	size_t event;                           /* index into the events */
	bool of_cpu;               /* a sample of whatever the CPU did: see rings_use_cpus() */
	struct perf_sample sample; /* for other records: only pid, tid, time and cpu */
	const struct ring_value *values; /* the other events of the group, read at the sample */
	size_t n_values;
};

enum { RINGS_SLACK_MS = 2 }; /* how long after taking its time the kernel may publish a record */

/* Starts reading: records up to RINGS_SLACK_MS ago; `all`: up to now. */
void rings_begin(struct rings *r, bool all);
bool rings_next(struct rings *r, struct ring_record *ret); /* false: no more for now */

/* The kernel's counters. */
struct rings_totals {
	uint64_t running_ns; /* time that the tasks of the first event were running */
	uint64_t lost;       /* samples lost, of all events */
};
struct rings_totals rings_totals(const struct rings *r);
uint64_t rings_records_lost(const struct rings *r); /* from records of losses in the buffers */

#endif

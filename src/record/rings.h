/* rings.h - the kernel's events, opened on every CPU, and their records in the order of time.
 *
 * One ring buffer per CPU, which all events of that CPU share. rings_next() merges them: records up
 * to a moment shortly before now, since the one who writes a record takes its time first and shows
 * it after. Records are read where they lie; what wraps around is copied.
 *
 * The clock is CLOCK_MONOTONIC. */
#ifndef RECORD_RINGS_H
#define RECORD_RINGS_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "record/events.h"
#include "record/wanted.h"

struct rings_opts {
	struct record_events *events; /* those that the kernel refuses a part of are changed: see
					 rings_open() */
	const pid_t *tids;            /* tasks to follow, with all that they start; */
	size_t n_tids;                /* 0: everything on the machine */
	bool on_exec;                 /* counting begins at the task's exec */
	bool callchain;               /* the kernel's; with user_chain also its user part */
	bool user_chain, no_kernel_chain;
	uint32_t stack_bytes; /* of user stacks that are copied; 0: no registers either; UINT32_MAX:
				 as it fits the buffers, and by choice more: rings_choose() */
	bool switches;        /* records of switches */
	bool no_inherit;      /* these tasks alone, and nothing that they start */
	bool spread;     /* periods of clocks differ a little, at random, from what was asked for:
			    no program is in step with them */
	const int *cpus; /* on these alone; */
	size_t n_cpus;   /* 0: on all */
	int cgroup_fd;   /* a control group's folder: tasks in it alone; -1: all. Without tids */
	size_t buffer_bytes; /* of each CPU: a power of two; 0: as large as may be */
	const struct rings_filter *filters;
	size_t n_filters;
	struct wanted_details wanted;
};

struct rings_filter { /* of those trace points whose names stand at [from, to) of the text that */
	uint32_t from, to; /* record_events_parse() was given */
	const char *text;
};

struct rings;

/* Where the kernel does not let us see itself, all events become user-only ones; *user_only says
 * so. KIN_ERROR_OS with EACCES or EPERM: no permission at all. *ret is to be freed. */
struct kin_error *rings_open(const struct rings_opts *opts, struct rings **ret, bool *user_only)
	__attribute__((warn_unused_result));
void rings_free(struct rings *r); /* NULL is fine */

/* Follows more tasks, of which some may be gone by now; from now on, or from their exec on if that
 * is how it was opened. */
void rings_follow(struct rings *r, const pid_t *tids, size_t n, bool enable);

/* All that is sampled; what tells of tasks and mappings stays as it is. */
void rings_enable(struct rings *r);
void rings_disable(struct rings *r);
void rings_enable_tracking(struct rings *r);

/* For poll(): readable when there is enough to read, or when a task of ours is gone. */
int rings_poll_fd(const struct rings *r);
/* To be called when it was readable. */
void rings_polled(struct rings *r);
/* Whether all tasks that are followed, and all that they started, are gone. */
bool rings_all_gone(const struct rings *r);

/* Which copies of stacks are taken from now on: each event was opened twice, and one of the two is
 * off. The large ones are on in the beginning. Where there is no room for them all are small. */
void rings_choose(struct rings *r, bool large);
/* The size of those. */
uint32_t rings_stack_bytes(const struct rings *r, bool large);

struct ring_value {
	size_t event;
	uint64_t more; /* counted since the sample before; of the thread, or of the CPU */
};

struct ring_details {    /* of a sample, beside its stack */
	uint64_t fields; /* PERF_SAMPLE_* that there are; 0: none */
	uint64_t addr, weight, data_src, transaction, phys_addr, data_page, code_page;
	uint64_t abi, mask;        /* PERF_SAMPLE_REGS_ABI_*, which registers; */
	const uint64_t *registers; /* one for each bit of the mask, if there is an ABI */
	const uint64_t *branches;  /* the last one first: from, to, flags */
	size_t n_branches;
};

struct ring_record {
	const struct perf_event_header *header; /* valid until the next call */
	/* of all records */
	uint64_t time_ns;
	uint32_t pid, tid, cpu;
	size_t event; /* index into the events */
	/* of samples */
	uint64_t ip, period;
	const uint64_t *chain;
	size_t n_chain;
	uint64_t abi;         /* PERF_SAMPLE_REGS_ABI_*: of regs */
	const uint64_t *regs; /* in the order of the kernel's numbers (asm/perf_regs.h) */
	const uint8_t *stack;
	size_t stack_size;
	bool stack_full; /* as much as there was room for: else the copy ends at a page that is not
			    there, or not yet */
	const struct ring_value *values; /* of the other events of the group, which are read then */
	size_t n_values;
	const uint8_t *raw; /* a trace point's fields; NULL: none */
	size_t raw_size;
	struct ring_details details;
};

/* Records up to a moment ago; `all`: up to now. */
void rings_begin(struct rings *r, bool all);
bool rings_next(struct rings *r, struct ring_record *ret); /* false: no more for now */

/* By the kernel's counters: time that the tasks of each event were running, samples lost. */
struct rings_totals {
	uint64_t running_ns; /* of the first event */
	uint64_t lost;       /* samples of all events */
};
struct rings_totals rings_totals(const struct rings *r);
uint64_t rings_records_lost(const struct rings *r); /* as records in the buffers say */

/* For writing perf.data: the attribute of an event, and its ids. */
const struct perf_event_attr *rings_attr(const struct rings *r, size_t event);
size_t rings_ids(const struct rings *r, size_t event, uint64_t *ret, size_t max);

#endif

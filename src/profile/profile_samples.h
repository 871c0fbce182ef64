/* profile_samples.h - sampled call stacks, and whose they are: the second kind of evidence of a
 * profile.
 *
 * Frames, tasks and events are interned: equal ones have equal ids, and 0 is none. Stacks are a
 * tree in which a caller's id is always smaller than its callee's: a pass from the roots to the
 * leaves, or back, is one loop over an array. The empty stack is stack 0. Stacks share their
 * callers as far as the reader saw that at once; equal ones may have different ids, as looking each
 * one up takes longer than most reports do. */
#ifndef PROFILE_PROFILE_SAMPLES_H
#define PROFILE_PROFILE_SAMPLES_H

#include <string.h>

#include "base/strtab.h"

typedef uint32_t objid;    /* index into the profile's objects[] */
typedef uint32_t frameid;  /* index into frames[]; 0: none */
typedef uint32_t stackid;  /* index into stacks[]; 0: the empty stack */
typedef uint32_t taskid;   /* index into tasks[]; 0: not known */
typedef uint32_t detailid; /* index into details[]; 0: none */

enum frame_flags {
	FRAME_RETURN = 1, /* addr is a return address: the call is before it */
	FRAME_KERNEL = 2, /* level of privilege, where it is known; else user */
	FRAME_GUEST = 4,  /* of a virtual machine */
	FRAME_HYPERVISOR = 8,
	FRAME_GUESSED = 16, /* found by a heuristic, not by call-frame information */
	FRAME_INLINED =
		32, /* `name` was inlined into the frame before it; only where the data says so */
	/* No frame at all: says something of the stack, by its name. MARK_CUT stands where the
	 * outermost frame's caller should be, MARK_GUESSED between the last frame that is certain
	 * and its caller, who is not. */
	FRAME_MARK = 64,
};
#define MARK_CUT     "[cut]"
#define MARK_GUESSED "[guessed]"

struct frame {
	uint64_t addr; /* link-time address in the object; if that is not known (object 0), the
			  run-time one */
	objid object;
	strid name; /* given by the data (folded stacks, JIT, kernel symbols); 0: to be looked up */
	uint32_t flags; /* enum frame_flags */
};

struct stack {
	stackid caller; /* < own id */
	frameid frame;
};

struct task { /* a thread while it had one name: exec and prctl make a new one */
	uint32_t pid, tid;
	strid comm;
	strid last_comm;           /* its thread's name in the end; 0: not known */
	uint32_t run;              /* of several in one file, from 0 */
	uint32_t rank;             /* of its process in a parallel job, + 1; 0: of none */
	uint64_t start_ns, end_ns; /* on the clock of the samples; 0: not known */
	uint64_t cpu_ns;           /* that the kernel says it used; 0: not known */
	uint64_t sampled_ns;       /* of it, what samples stand for */
};

enum event_unit { EVENT_COUNT, EVENT_NS };
enum event_kind {
	EVENT_ON_CPU,  /* what the program did */
	EVENT_BLOCKED, /* time asleep */
	EVENT_WAITING, /* time runnable, waiting for a CPU */
};

/* Who counts it: perf's types of events. */
enum event_type {
	EVENT_UNTYPED, /* not known */
	EVENT_HARDWARE,
	EVENT_SOFTWARE,
	EVENT_TRACE_POINT,
	EVENT_CACHE,
	EVENT_RAW,
	EVENT_BREAKPOINT,
	EVENT_TYPES
};

struct event { /* what weights count */
	strid name;
	enum event_unit unit;
	enum event_kind kind;
	uint64_t frequency; /* samples per second asked for; 0: by period */
	uint64_t period;    /* in the unit; 0: by frequency */
	bool is_trace;      /* of a trace point: samples have fields (detail.h), and happen once */
	bool is_assembled;  /* stacks are put together of calls: what was nested is a guess */
	bool stacks;        /* samples were to have callers, whether any has or not */
	uint32_t group;     /* events with the same number other than 0 were counted together; the
			       leader is first */
	strid title;        /* what perf calls it, where its name tells it apart from another one
			       that perf calls the same; 0: as its name. Not kept in files */
	/* These are not kept in files, either. */
	bool is_derived;  /* nobody counted it: made from switches of threads */
	bool is_dumped;   /* stacks were walked from dumps: perf prints calls, not where they return
			   */
	bool is_timeless; /* its samples do not say when */
	enum event_type type;
};

/* Whether a person who wrote `name` means the event of that name: "blocked" is "blocked (place
 * estimated)", too. */
static inline bool event_is_called(const char *event, const char *name)
{
	size_t n = strlen(name);
	return !strncmp(event, name, n) && (!event[n] || !strncmp(event + n, " (", 2));
}

/* What perf calls it. */
static inline strid event_title(const struct event *e) { return e->title ? e->title : e->name; }

#define CPU_NONE UINT16_MAX

struct sample {
	stackid stack;
	taskid task;
	uint16_t event, cpu;  /* CPU_NONE: not known */
	uint16_t parallelism; /* threads of the recorded program that ran at that time; 0: not known
			       */
	uint16_t flags; /* enum frame_flags of the leaf, as far as the data says it of the sample */
	uint32_t count; /* samples that were alike and were added up; >= 1 */
	uint32_t source; /* index into sources[] of the profile */
	uint64_t weight; /* sum over them, in the event's unit */
	/* On the recording's clock; 0: not known, or many. Of time off the CPU, when it began: the
	 * weight is the time from there on. Of CPU time the weight is the time before. */
	uint64_t time_ns;
};

/* How far to trust the samples: what was lost is part of the measurement. */
struct audit {
	uint64_t lost;       /* samples (or records) the kernel dropped */
	uint64_t throttled;  /* times it held back the sampling */
	uint64_t truncated;  /* stacks not walked to their end */
	uint64_t complete;   /* stacks that were, and no caller in them is a guess */
	uint64_t guessed;    /* stacks that were, with callers that are */
	uint64_t unresolved; /* samples that referred to something that is not in the file */
	uint64_t switches, preemptions;
	uint64_t cpu_ns;      /* by the kernel's accounting; 0: not known */
	uint64_t sampled_ns;  /* what the samples of the first on-CPU event stand for */
	uint64_t duration_ns; /* of the recording; 0: not known */
	uint64_t lost_arcs, lost_blocks, lost_threads, lost_modules; /* of the collection runtime */
};

struct marker {           /* a moment that somebody named while it was recorded */
	uint64_t time_ns; /* on the clock of the samples */
	strid name;
};

struct unwind_failure { /* where walks ended early */
	objid object;
	uint64_t count;
};

/* Calls along an arc by one thread: the profile's arcs are the sums over all. */
struct task_arc {
	uint64_t from, to, count;
	objid from_object, to_object;
	taskid task;
};

#define LATENCY_BUCKETS 304
struct latency { /* how long calls along an arc took; buckets as in kin/format.h */
	uint64_t from, to;
	objid from_object, to_object;
	uint64_t count, sum_ns, min_ns, max_ns;
	const uint64_t *bucket; /* [LATENCY_BUCKETS] */
	uint64_t probes_ns;     /* that measuring took, and is not in sum_ns; 0: not known */
};

struct samples {
	const struct frame *frames; /* [0] is none */
	size_t n_frames;
	const struct stack *stacks; /* [0] is the empty stack */
	size_t n_stacks;
	const struct task *tasks; /* [0] is the one that is not known */
	size_t n_tasks;
	const struct event *events;
	size_t n_events;
	const struct sample *at; /* by source, then as read: by time where the data has times */
	size_t n;
	const struct detail *details; /* detail.h; [0] is none */
	size_t n_details;
	const uint64_t *words; /* detail.h: registers and branches; [0] is none's */
	size_t n_words;
	const detailid *detail_of;        /* [n]; NULL: no sample has any */
	const struct task_arc *task_arcs; /* distinct; empty where counts are not known by thread */
	size_t n_task_arcs;
	const struct latency *latencies; /* distinct arcs */
	size_t n_latencies;
	const struct unwind_failure *failures; /* by count, largest first */
	size_t n_failures;
	const struct marker *markers; /* by time */
	size_t n_markers;
	struct audit audit;
};

/* How many are left when equal stacks are one; callers of others count. */
size_t samples_distinct_stacks(const struct samples *s);

/* ---- building: through the profile's builder ---- */

struct profile_builder;

frameid profile_add_frame(struct profile_builder *b, struct frame f);
frameid profile_add_mark(struct profile_builder *b, const char *name); /* MARK_ */
stackid profile_add_stack(struct profile_builder *b, stackid caller, frameid frame);
/* Without a look at whether there is an equal one (as long as there are not millions). */
stackid profile_push_stack(struct profile_builder *b, stackid caller, frameid frame);
/* Equal pid, tid, comm, run and rank are one task: start, end and times are widened and added. */
taskid profile_add_task(struct profile_builder *b, struct task t);
/* For what becomes known later. Valid until the next task is added. */
struct task *profile_task_at(struct profile_builder *b, taskid id);
uint16_t profile_add_event(struct profile_builder *b,
			   struct event e); /* equal name, kind and unit: the same */
/* The sample's source is set to the file being read. Samples are not joined, unless
 * profile_sum_samples() was called. Returns the number of the sample that it is, or is in. */
size_t profile_add_sample(struct profile_builder *b, struct sample s);
/* From now on samples that differ in their time and processor alone are one: its weight and count
 * are the sums, and it has neither, nor a detail; but for those of trace points. */
void profile_sum_samples(struct profile_builder *b);
/* The same as `count` such samples more. */
void profile_add_to_sample(struct profile_builder *b, size_t sample, uint32_t count,
			   uint64_t weight);
/* The same without a look at whether there is one that it could be joined with. */
size_t profile_push_sample(struct profile_builder *b, struct sample s);
/* A hint that this sample is added to soon. */
void profile_prefetch_sample(const struct profile_builder *b, size_t sample);
void profile_add_task_arc(struct profile_builder *b, struct task_arc a); /* equal ones are summed */
void profile_add_latency(struct profile_builder *b,
			 struct latency l); /* bucket is copied, summed */
void profile_add_failure(struct profile_builder *b, objid object, uint64_t count);
void profile_add_marker(struct profile_builder *b, struct marker m); /* equal ones are one */
struct audit *profile_audit(struct profile_builder *b); /* to add to; valid as long as b */
strid profile_add_string(struct profile_builder *b, const char *s, size_t n);
const char *profile_string(const struct profile_builder *b, strid id); /* lives as long as b */

#endif

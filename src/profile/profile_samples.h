/* profile_samples.h - sampled call stacks and their threads: the second kind of evidence in a
 * profile.
 *
 * Frames, tasks and events are interned: equal ones have equal ids, and 0 is none. Stacks are a
 * tree in which a caller's id is always smaller than its callee's: a pass from the roots to the
 * leaves, or back, is one loop over an array. The empty stack is stack 0. Readers share callers
 * between neighbouring stacks only; equal stacks may have different ids, because looking up each
 * one would take longer than most reports do. */
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
	FRAME_KERNEL = 2, /* privilege level of the code, if known; otherwise user */
	FRAME_GUEST = 4,  /* code of a virtual machine */
	FRAME_HYPERVISOR = 8,
	FRAME_GUESSED = 16, /* found by a heuristic, not by call-frame information */
	FRAME_INLINED =
		32, /* `name` was inlined into the frame before it; only where the data says so */
	/* Not a frame but a note about the stack, by its name. MARK_CUT stands in place of the
	 * outermost frame's missing caller, MARK_GUESSED between the last certain frame and its
	 * guessed caller, MARK_INTERRUPTED in place of the code that an interrupt interrupted. */
	FRAME_MARK = 64,
	FRAME_HOOK = 128,      /* code of the runtime that counts calls (hooks.h) */
	FRAME_TAIL_CALL = 256, /* put back: `addr` is that of the jump by which it ended */
	FRAME_SIGNAL = 512, /* code by which a signal's handler returns: its caller was interrupted,
			       and no return address */
	FRAME_FOREIGN = 1024, /* code of others, judged when the frame got its name (live/fade.h) */
};
#define MARK_CUT         "[cut]"
#define MARK_GUESSED     "[guessed]"
#define MARK_INTERRUPTED "[interrupted]"
/* Names of frames that stand for time in none of the program's functions: CPU time without samples
 * (unsampled.h), and what collecting took inside the program. */
#define NAME_NOT_SAMPLED "[not sampled]"
#define NAME_PROFILER    "[profiler]"

struct frame {
	uint64_t addr; /* link-time address in the object; run-time address if the object is not
			  known (object 0) */
	objid object;
	strid name;     /* name in the data (folded stacks, JIT, kernel symbols); 0: look it up */
	uint32_t flags; /* enum frame_flags */
	strid paid_for; /* code of others that was folded into it (own_fold.h); 0: none */
};

struct stack {
	stackid caller; /* < own id */
	frameid frame;
};

struct task { /* a thread while it had one name: exec and prctl begin a new task */
	uint32_t pid, tid;
	strid comm;
	strid last_comm; /* the last name of its thread; 0: not known */
	uint32_t run;    /* which repetition of the program in one file, from 0 */
	uint32_t rank;   /* rank + 1 of its process; 0: it was not part of a parallel job */
	uint64_t start_ns, end_ns; /* on the clock of the samples; 0: not known */
	uint64_t cpu_ns;           /* CPU time measured by the kernel; 0: not known */
	uint64_t sampled_ns;       /* the part of cpu_ns that samples represent */
};

enum event_unit { EVENT_COUNT, EVENT_NS };
enum event_kind {
	EVENT_ON_CPU,  /* the program ran on a CPU */
	EVENT_BLOCKED, /* time asleep */
	EVENT_WAITING, /* time runnable, waiting for a CPU */
};

/* The source of an event: perf's types. */
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

struct event { /* what the weights of samples count */
	strid name;
	enum event_unit unit;
	enum event_kind kind;
	uint64_t frequency; /* requested samples per second; 0: `period` is used */
	uint64_t period;    /* in the event's unit; 0: `frequency` is used */
	bool is_trace;      /* a trace point: its samples have fields (detail.h) and are instants */
	bool is_assembled;  /* stacks are assembled from calls: the nesting is a guess */
	bool stacks;        /* samples were requested with callers, whether or not any has them */
	bool counts_time;   /* counts time or cycles on a CPU; set by profile_add_event() */
	uint32_t group; /* events with the same number, not 0, were counted as a group; the leader
			   is first */
	strid title; /* perf's name, if `name` was changed to distinguish it from another event of
			that name; 0: same as `name`. Not kept in files */
	/* These are not kept in files, either. */
	bool is_derived;  /* not counted but derived from switches of threads */
	bool is_dumped;   /* stacks were walked from dumps: perf prints call addresses instead of
			     return addresses */
	bool is_timeless; /* its samples have no time */
	bool is_beside;   /* the file asks that reports start with another event */
	enum event_type type;
};

/* Whether `name`, as typed by a user, means the event: "blocked" is "blocked (place estimated)",
 * too. */
static inline bool event_is_called(const char *event, const char *name)
{
	size_t n = strlen(name);
	const char *behind = strncmp(event, name, n) ? NULL : event + n;
	return behind && (!*behind || (behind[0] == ' ' && behind[1] == '('));
}

/* The kind of a time event, by its name: kin names off-CPU time events "blocked" and "waiting". */
static inline enum event_kind event_kind_called(const char *event)
{
	return event_is_called(event, "blocked")   ? EVENT_BLOCKED
	       : event_is_called(event, "waiting") ? EVENT_WAITING
						   : EVENT_ON_CPU;
}

/* perf's name of the event. */
static inline strid event_title(const struct event *e) { return e->title ? e->title : e->name; }

#define CPU_NONE UINT16_MAX

/* One sample, in all stages from recording or reading to reports and exports. Its ids belong to the
 * profile or, in a recorder, to the file that is being written. */
struct sample {
	stackid stack;
	taskid task;
	uint16_t event, cpu;  /* CPU_NONE: not known */
	uint16_t parallelism; /* threads of the recorded program that were running at that time; 0:
				 not known */
	uint16_t flags;  /* enum frame_flags of the leaf, if the data has them for the sample */
	uint32_t count;  /* number of equal samples that were summed into this one; 0: it stands for
			    time that was not sampled (unsampled.h) */
	uint32_t source; /* index into sources[] of the profile */
	uint64_t weight; /* sum over these samples, in the event's unit */
	/* Time on the recording's clock; 0: not known, or several samples were summed. The weight
	 * of off-CPU time is the time after time_ns, the weight of CPU time is the time before
	 * it. */
	uint64_t time_ns;
};

/* The number of a processor; CPU_NONE if it does not fit a sample. */
static inline uint16_t sample_cpu(uint64_t cpu)
{
	return cpu < CPU_NONE ? (uint16_t)cpu : CPU_NONE;
}

/* Quality of the samples: losses are part of the measurement. */
struct audit {
	uint64_t lost;         /* samples (or records) dropped by the kernel */
	uint64_t throttled;    /* times the kernel throttled sampling */
	uint64_t truncated;    /* stacks not walked to their end */
	uint64_t beyond;       /* those of them that went beyond what the kernel copied */
	uint64_t complete;     /* stacks walked to their end without a guessed caller */
	uint64_t guessed;      /* stacks walked to their end with guessed callers */
	uint64_t checked;      /* stacks walked by call-frame information and by frame pointers */
	uint64_t contradicted; /* those of them with different callers */
	uint64_t unresolved;   /* samples that refer to something missing from the file */
	uint64_t switches, preemptions;
	uint64_t cpu_ns;      /* by the kernel's accounting; 0: not known */
	uint64_t sampled_ns;  /* what the samples of the first on-CPU event represent */
	uint64_t duration_ns; /* of the recording; 0: not known */
	uint64_t lost_arcs, lost_blocks, lost_threads,
		lost_modules; /* from the collection runtime */
	uint64_t hooks_ns;    /* time that counting added to all counted calls, as measured when the
				 program started; 0: not known */
};

struct marker {           /* a moment that was named during the recording */
	uint64_t time_ns; /* on the clock of the samples */
	strid name;
};

struct unwind_failure { /* an object where stack walks ended early */
	objid object;
	uint64_t count;
};

/* Calls along an arc by one thread; the profile's arcs are sums over threads. */
struct task_arc {
	uint64_t from, to, count;
	objid from_object, to_object;
	taskid task;
};

#define LATENCY_BUCKETS 304
struct latency { /* durations of calls along an arc; buckets as in kin/format.h */
	uint64_t from, to;
	objid from_object, to_object;
	uint64_t count, sum_ns, min_ns, max_ns;
	const uint64_t *bucket; /* [LATENCY_BUCKETS] */
	uint64_t probes_ns;     /* measuring cost that is not in sum_ns; 0: not known */
};

struct samples {
	const struct frame *frames; /* [0] is none */
	size_t n_frames;
	const struct stack *stacks; /* [0] is the empty stack */
	size_t n_stacks;
	const struct task *tasks; /* [0] is the unknown one */
	size_t n_tasks;
	const struct event *events;
	size_t n_events;
	const struct sample
		*at; /* by source, then in reading order, which is by time if the data has times */
	size_t n;
	/* In a part: times of the first and the last sample of the whole profile; 0: this is the
	 * whole. */
	uint64_t whole_from_ns, whole_to_ns;
	uint16_t timed_event; /* in a part that is shown beside others: samples_event() of the whole
				 profile, + 1; 0: chosen by what has samples */
	const struct detail *details; /* detail.h; [0] is none */
	size_t n_details;
	const uint64_t *words; /* detail.h: registers and branches; [0] belongs to detail 0 */
	size_t n_words;
	const detailid *detail_of;        /* [n]; NULL: no sample has any */
	const struct task_arc *task_arcs; /* distinct; empty if counts are not known by thread */
	size_t n_task_arcs;
	const struct latency *latencies; /* distinct arcs */
	size_t n_latencies;
	const struct unwind_failure *failures; /* by count, largest first */
	size_t n_failures;
	const struct marker *markers; /* by time */
	size_t n_markers;
	struct audit audit;
};

/* How many stacks are left if equal ones are merged, including stacks that are only callers. */
size_t samples_distinct_stacks(const struct samples *s);
uint32_t samples_n_runs(const struct samples *s); /* 1 if it has none */
/* Sums over the samples of an event that have a count: of their weights, and of the squares of the
 * weights of single ones. squares / weight is the mean weight of one, weighted by itself; a tick of
 * a histogram is one. */
struct samples_weights {
	double weight, squares;
};
struct samples_weights samples_weights(const struct samples *s, uint16_t event);
/* Whether the stack of any sample has more than one frame. */
bool samples_have_callers(const struct samples *s);

/* The stack without its innermost frames that are marked as inlined; its outermost frame stays. */
static inline stackid samples_physical(const struct samples *s, stackid stack)
{
	while (s->stacks[stack].caller && s->frames[s->stacks[stack].frame].flags & FRAME_INLINED)
		stack = s->stacks[stack].caller;
	return stack;
}

/* [task]: the command name of the task's process; to be freed. It is the name that the process's
 * first thread had when the task ended, or its last name if that time is not known. If there is no
 * such thread, it is the task's own name. */
strid *samples_commands(const struct samples *s);

/* ---- building: through the profile's builder ---- */

struct profile_builder;

frameid profile_add_frame(struct profile_builder *b, struct frame f);
/* Makes room for n more frames at once, rather than by one doubling after the other. */
void profile_reserve_frames(struct profile_builder *b, size_t n);
frameid profile_add_mark(struct profile_builder *b, const char *name); /* MARK_ */
stackid profile_add_stack(struct profile_builder *b, stackid caller, frameid frame);
/* Adds a stack without checking for an equal one (as long as there are not millions). */
stackid profile_push_stack(struct profile_builder *b, stackid caller, frameid frame);
/* Tasks of equal pid, tid, comm, run and rank are merged: start and end are widened, times added.
 */
taskid profile_add_task(struct profile_builder *b, struct task t);
/* For members that become known later. The pointer is valid until the next task is added. */
struct task *profile_task_at(struct profile_builder *b, taskid id);
uint16_t profile_add_event(struct profile_builder *b,
			   struct event e); /* events of equal name, kind and unit are one */
/* The value of counts_time that profile_add_event() sets. */
bool event_counts_time(const struct event *e, const char *name);
/* Adds a sample; its source is set to the file being read. Samples are not merged, unless
 * profile_sum_samples() was called. Returns the index of the new sample, or of the one that it was
 * merged into. */
size_t profile_add_sample(struct profile_builder *b, struct sample s);
/* From now on samples that differ only in time and processor are merged: weight and count are sums,
 * and time, processor and detail are dropped. Samples of trace points are never merged. */
void profile_sum_samples(struct profile_builder *b);
/* The same as adding `count` more samples that equal this one. */
void profile_add_to_sample(struct profile_builder *b, size_t sample, uint32_t count,
			   uint64_t weight);
/* Adds a sample without checking whether it could be merged. */
size_t profile_push_sample(struct profile_builder *b, struct sample s);
/* A hint that this sample will be added to soon. */
void profile_prefetch_sample(const struct profile_builder *b, size_t sample);
void profile_add_task_arc(struct profile_builder *b, struct task_arc a); /* equal arcs are summed */
void profile_add_latency(struct profile_builder *b,
			 struct latency l); /* copies bucket; equal arcs are summed */
/* After all files: adds CPU time that was not sampled as a row of its own (unsampled.h), if all
 * files with samples are complete recordings of kin. `all`: however little it is. */
void profile_add_unsampled(struct profile_builder *b, bool all);
void profile_add_failure(struct profile_builder *b, objid object, uint64_t count);
void profile_add_marker(struct profile_builder *b, struct marker m); /* equal markers are merged */
struct audit *profile_audit(struct profile_builder *b); /* add to it; valid as long as b */
strid profile_add_string(struct profile_builder *b, const char *s, size_t n);
const char *profile_string(const struct profile_builder *b, strid id); /* lives as long as b */

#endif

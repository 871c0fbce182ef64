/* rt.h - the runtime inside: its one struct, and what its files share.
 *
 * A hook (ARCH/hooks.S) finds its thread's table through a thread-local pointer and adds one to a
 * counter that lies in the mapped file; that is all in the common case. Whatever it does not find
 * it asks rt_arc() or rt_count() for: these start the file, attach the thread, make and grow
 * tables. Both may run in a signal handler, at any instruction of the program or of themselves. So
 *
 * - tables belong to one thread. It adds slots by compare-and-swap against its own signal handlers
 *   alone, and publishes a slot by the last store; nothing that was counted ever moves;
 * - everything else (the file, its blocks, modules, threads) changes under rt_lock(), which blocks
 * all signals meanwhile: its holder cannot be interrupted by somebody who wants it;
 * - a child of fork finds rt_gate wiped by the kernel, takes every hook for a miss, and there
 * begins anew with a file of its own (rt_ready()). A child of vfork counts for its parent.
 *
 * Unless it says otherwise a function here is async-signal-safe and keeps errno and vector
 * registers. */
#ifndef KINRT_RT_H
#define KINRT_RT_H

#include "sys.h"

#include <kin/format.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>

#include "unwind/step.h"

#define RT_EXPORT __attribute__((visibility("default")))

/* Address 1 in `from`: the slot's calls were moved away and it may be used again; 2: it is being
 * taken. Neither is ever a return address. */
#define RT_GONE  1u
#define RT_TAKEN 2u

/* Taken by one of several, with an atomic exchange: a word, as not all processors exchange bytes.
 */
typedef _Atomic uint32_t rt_flag;

enum rt_state {
	RT_NEW,     /* the constructor has not run */
	RT_READY,   /* settings are read; nothing was collected yet and there is no file */
	RT_STARTED, /* collecting */
	RT_OFF,     /* not wanted, or not possible here: every hook returns at once */
};

struct rt_clock {      /* a thread's sampling; rt_sample.c */
	int32_t timer; /* the kernel's id + 1; 0: none */
	uint64_t random;
	uint64_t last_ns;                 /* of the thread's clock, accounted for */
	uint64_t told_ns;                 /* when header.cpu_ns was last read */
	uint64_t earlier_ns;              /* CPU time of dead threads with the same record */
	bool met;                         /* it had a sample */
	bool ended;                       /* the thread said so */
	uint64_t excluded_ns, stopped_ns; /* the time that nobody wanted samples; since when */
	uint64_t stack, stack_end;        /* where its stack is, if that is certain; else 0 */
};

enum { RT_OWN_STACK = 32 << 10 }; /* what is not touched takes no memory */

struct rt_thread { /* kept after its death; rt.threads lists all of them */
	struct rt_thread *next;
	struct kinf_thread *record;
	void *arcs, *counts; /* payloads of its newest tables; NULL: it has none */
	uint32_t tid, index;
	struct rt_clock clock;
	uint8_t *own_stack;         /* of RT_OWN_STACK bytes, for samples; NULL: none */
	struct rt_stacks *stacks;   /* NULL before the first sample */
	struct rt_latency *latency; /* NULL before the first call */
};

/* Thread-local. The hooks know the first two: the slot of rt_none in a thread without tables. */
struct rt_tls {
	void *arcs;   /* payload of the KINF_ARCS block in use */
	void *counts; /* the same of KINF_COUNTS */
	struct rt_latency *latency;
	struct rt_thread *thread;
	int32_t timer; /* as in rt_clock: made before there was a `thread` */
	bool sampling; /* a sample is being taken */
	uint64_t stack, stack_end;
};
extern __thread struct rt_tls rt_tls
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A page that is all zero in a forked child. The hooks find rt_tls by it, so that collecting is
 * switched off, and a new process noticed, by one test. */
union rt_gate {
	struct {
		/* collecting: rt_tls less the thread pointer, which may be nothing, plus one; 0:
		 * ask rt_ready() */
		uint64_t tls;
		uint32_t alive;   /* 1: this process set it; 2: a forked child is beginning anew */
		uint32_t latency; /* 1: how long calls take is measured */
	};
	uint8_t page[RT_PAGE];
};
extern union rt_gate rt_gate __attribute__((visibility("hidden")));

struct rt_module {
	struct rt_module *next;     /* of those that are mapped; newest first */
	uint64_t start, end, bias;  /* as in struct kinf_module */
	const char *name;           /* the loader's; valid while mapped */
	const uint8_t *build_id;    /* in the module's own memory */
	const void *loader;         /* the loader's handle, to see whether it is still the same */
	struct kinf_module *record; /* in the file, or NULL */
	uint32_t id, first_id;      /* first_id: of the first time that this very file was mapped */
	uint32_t hash, flags;       /* of path and build id; KINF_MODULE_* */
	uint16_t build_id_size;
	uint64_t text, text_end;                             /* run-time addresses of its code */
	uint64_t unwind, unwind_size, segment, segment_size; /* PT_GNU_EH_FRAME and where it lies */
	uint8_t *_Atomic copy; /* rt_frames.c: of its call-frame information; NULL: there is none */
	uint64_t copy_addr, copy_size;
	bool transient;           /* came after the start: may go again */
	bool called;              /* rt_gmon.c: some call or block is in it; of first_id's */
	struct rt_module *older;  /* of all there ever were */
	struct rt_module *origin; /* rt_made.c: this is a part of it, mapped once more; or NULL */
};

struct rt_extent { /* memory that blocks lie in: a part of the file, or anonymous */
	uint8_t *at;
	uint64_t size, offset; /* offset: in the file */
	bool in_file;
};
enum { RT_EXTENTS = 256 };

struct rt_options { /* KIN_OPTIONS; kinrt.h is the manual */
	char text[1024];
	bool arcs, blocks, gmon, verbose, start, latency;
};

extern struct rt {
	_Atomic uint32_t state; /* enum rt_state */
	_Atomic uint32_t lock;  /* tid of the holder, or 0 */
	_Atomic uint32_t waiting;
	bool paused;
	bool silent; /* system calls may kill the process (seccomp): make none but when it ends */
	bool forked; /* not the process that the program was started as */
	_Atomic bool
		profiled; /* compiled for gprof: mcount, __fentry__ or monstartup were called */
	bool full;        /* no more space; tables do not grow */
	uint32_t pid, ppid;
	struct rt_options options;

	struct kinf_header *header; /* NULL before the start */
	struct rt_extent extent[RT_EXTENTS];
	uint32_t n_extents;
	uint64_t used; /* bytes of the last extent */
	int fd;
	uint64_t dev, ino;
	char path[PATH_MAX]; /* of the file, absolute; "" if there is none */

	_Atomic uint32_t epoch;
	uint32_t n_modules; /* records written */
	struct rt_module *_Atomic active, *_Atomic all;
	struct kinf_block *module_block, *info_block;
	struct kinf_block *retired, *retired_counts, *retired_latencies;

	struct {                                   /* rt_made.c */
		struct rt_module *_Atomic regions; /* newest first */
		uint32_t n;
		uint64_t rests;           /* times the cost of looking, until the next time */
		_Atomic uint64_t next_ns; /* CLOCK_MONOTONIC: not before then */
	} made;

	struct {                                       /* rt_python.c */
		const struct rt_python_layout *layout; /* NULL: there is none, or it is not known */
		uint64_t runtime, code_type, text_type; /* addresses of the interpreter's */
		struct rt_functions *_Atomic functions; /* that were met */
		struct kinf_block *names;
	} python;

	struct kinf_block *thread_block;
	struct rt_thread *threads, *inspected;
	uint32_t n_threads;
	_Atomic uint32_t refused; /* calls since there was no memory for a thread; 0: there is */

	struct rt_sampling {        /* rt_sample.c */
		uint64_t period_ns; /* 0: not wanted, or not possible */
		uint64_t tick_ns;   /* the kernel's: how often it looks at timers */
		const char *ended;  /* why it is not possible, or no more; NULL: it is */
		uint64_t most_ns;   /* that a sample may stand for */
		int signal;
		uint64_t given_up; /* signals that the program wanted, as in masks */
		bool ignored;      /* the program has set SIG_IGN for it */
		bool stacks;
		bool on;                          /* timers are running */
		uint64_t excluded_ns, stopped_ns; /* as in rt_clock, of the process */
		_Atomic uint64_t owed_ns; /* used by threads that ended, since their last samples */
		uint64_t stack_end;       /* of the first thread */
		uint64_t stack_gap;       /* where there is nothing else but that stack */
		struct rt_row *rows;      /* cache of rt_stacks.c */
		_Atomic uint32_t unloading; /* calls of dlclose() under way */
		struct rt_thread *sweep;
		uint64_t own, own_end; /* our own code */
	} sampling;

	struct {                   /* rt_latency.c */
		uint64_t ns_x2_32; /* ns per tick of the clock; 0: not known yet */
		uint32_t run; /* how often it was paused: what began before is not known to be on */
		uint64_t own_x1024, both_x1024; /* ns that a call's hooks add to its time, to all */
		uint64_t call_x1024;            /* ns that a call takes at least: without hooks */
	} latency;

	uint64_t gmon_calls; /* calls and sampled time that the last gmon.out told of, plus one */
	bool gmon_kept;      /* it stays as it is: the program has asked for it, and goes on */
	char exe[PATH_MAX], cwd[PATH_MAX], gmon_prefix[512];
	uint32_t rank, ranks; /* of the parallel job, as in the file's header */
	char job[64];
	uint64_t vdso;
} rt __attribute__((visibility("hidden")));

#pragma GCC visibility push(hidden)

/* ---- rt_life.c ---- */

/* Whether there is something to collect into. Begins, and begins anew in a forked child. */
bool rt_ready(void);
/* Reads settings, finds modules. Not async-signal-safe, but early: runs once. */
void rt_init(void);
void rt_on(void); /* sets the gate by what is wanted now */
/* Writes what is to be written at the end of the process. May be called several times. */
void rt_finish(enum kinf_end end, uint64_t detail);
/* In a forked child, however it was made, before anything else. */
void rt_forked(void);
/* The process is about to become another program; or that has failed. */
void rt_exec(bool about_to);
/* Calls f(arg) with all vector registers saved: for functions of the C library. With the lock: they
 * are kept in one place, not on the program's stack. */
void rt_call_saved(void (*f)(void *), void *arg);

/* ---- ARCH/hooks.S ---- */

/* Calls f(arg) on the stack that ends at `top`. */
void rt_on_stack(void *top, void (*f)(void *), void *arg);

/* ---- rt_options.c ---- */

void rt_options_read(struct rt_options *o, const char *text);
/* The value of a setting of KIN_OPTIONS, for whoever reads it where it is used; NULL if there is
 * none. *size is its length: it is not terminated. */
const char *rt_option(const struct rt_options *o, const char *name, size_t *size);
bool rt_option_on(const struct rt_options *o, const char *name, bool unless);

/* ---- rt_lock.c, rt_memory.c ---- */

/* Blocks all signals and takes the lock; false if it cannot be had, for whatever reason. */
bool rt_lock(uint64_t *mask);
void rt_unlock(uint64_t mask);
void *rt_memory(size_t size); /* with the lock: zeroed, for good; or NULL */
/* Copies what is at an address; false if that is not there, all of it. */
bool rt_peek(uint64_t at, void *to, size_t n);

/* ---- rt_output.c, rt_info.c ---- */

/* Sets rt.path. `attempt` 0: as it was asked for, with the rank if it is of a parallel job; 1: with
 * the process id; 2 and on: and the time. */
void rt_output_path(int attempt);
/* With the lock: the first lines, and one more. */
void rt_info_start(void);
void rt_info(const char *line);

/* ---- rt_file.c ---- */

/* With the lock: makes the file (or the memory in its place) and its header. */
bool rt_file_start(void);
/* With the lock: reserves a block of zeros, or returns NULL. It is part of the file at once. */
struct kinf_block *rt_block(enum kinf_type type, uint64_t payload, uint32_t thread);
/* Walks over all blocks; NULL starts and ends. */
struct kinf_block *rt_next_block(const struct kinf_block *b);
/* With the lock: hardly anything in the block will be looked at before the end. What it holds stays
 * in the file; the process need not have it in memory. */
void rt_block_rest(const struct kinf_block *b);
bool rt_room(
	uint64_t size); /* with the lock: makes sure that such a block fits without system calls */
void rt_lose(enum kinf_loss what, uint64_t n);
void rt_error(const char *what, long err); /* keeps the first; err: as of a system call, or 0 */
void rt_file_finish(void); /* what lies in anonymous memory goes to the file if it can */
void rt_file_touch(void);  /* with the lock: it is as new as what is written beside it */
void rt_file_drop(void);   /* in a forked child: forget the parent's */
/* With signals blocked: takes back the SIGXFSZ that writing has caused, if it was not there before.
 */
bool rt_xfsz_pending(void);
void rt_forget_xfsz(void);
uint64_t rt_now_ns(int clock);
/* open() for writing that never waits, follows no link and takes regular files only; or -errno */
int rt_open_output(const char *path, int flags, int mode);

/* ---- rt_modules.c ---- */

void rt_modules_init(void);                    /* not async-signal-safe */
void rt_modules_start(void);                   /* with the lock: into the new file */
struct rt_module *rt_module_at(uint64_t addr); /* NULL: not known */
/* Asks the loader, too: whether one that may go is still there, and what is not known yet. May take
 * the lock. */
struct rt_module *rt_module_learn(uint64_t addr);
bool rt_module_is_gone(const struct rt_module *m); /* asks the loader; takes no lock */
void rt_own_code(uint64_t *start, uint64_t *end);
/* With the lock: the module's record, into the file; none, and a loss, if there is no room. */
void rt_module_write(struct rt_module *m);
void rt_modules_retire(void); /* after dlclose(): moves the calls of what was unmapped */

/* ---- rt_made.c ---- */

/* The region of code made at run time that holds an address which no module has; NULL: none. May
 * take the lock, and read the kernel's list of mappings. */
const struct rt_module *rt_made_at(uint64_t addr);
void rt_made_start(void); /* with the lock: into the new file */

/* ---- rt_python.c ---- */

enum { RT_PYTHON_DEEPEST = 1024, RT_PYTHON_AT_ONCE = 32, RT_PYTHON_CODE = 0x88 };
struct rt_python_walk {
	uint64_t loop; /* what the next loop of the interpreter's has on the stack: in its frame; 0:
			  there is no other */
	/* The rest is for this module. */
	uint64_t frame;
	bool is_torn;
	uint32_t n;
	struct rt_python_frame {
		uint64_t code;
		uint32_t at; /* in the stack */
	} met[RT_PYTHON_DEEPEST];
	uint64_t codes[RT_PYTHON_AT_ONCE][RT_PYTHON_CODE / 8];
	uint64_t chunk_at;
	uint8_t chunk[1024];
};
void rt_python_init(void); /* not async-signal-safe */
void rt_python_forked(void);
/* Of the calling thread, at a sample whose stack pointer is sp. */
void rt_python_begin(struct rt_python_walk *w, uint64_t sp);
/* In the loop's frame: how many functions the loop runs, up to `room`. They are to stand in the
 * stack from `at` on, innermost first. The next loop's turn is then. read(arg, ..) reads the stack.
 */
uint32_t rt_python_functions(struct rt_python_walk *w, unwind_read *read, void *arg, uint32_t at,
			     uint32_t room);
/* Puts their addresses into the stack of n, where there is 0 now, as return addresses; what has no
 * name is taken out. whole: the walk went to its end. `doubtful`, an index or 0, goes with it.
 * Returns how many there are then. May take the lock. */
uint32_t rt_python_end(struct rt_python_walk *w, bool whole, uint64_t *pc, uint32_t n,
		       uint32_t *doubtful);

/* ---- rt_bus.c ---- */

typedef void rt_handler(int, siginfo_t *, void *);
#define RT_BUS ((uint64_t)1 << (SIGBUS - 1)) /* in masks: the one that we never block */
void rt_bus_init(void);                      /* before the first mapping of a file */
/* What the program asks of its action for SIGBUS; false: the kernel is to be asked. */
bool rt_bus_action(const struct rt_action *act, struct rt_action *old);

/* ---- rt_threads.c ---- */

/* The calling thread's; made when asked for first. NULL: no memory. Takes the lock. */
struct rt_thread *rt_thread(void);
void rt_threads_drop(void);

/* ---- rt_table.c: a thread's table of slots, open to its hooks ---- */

struct rt_table {
	enum kinf_type type;
	uint64_t slot, first; /* bytes of a slot; slots of the first table: a power of two */
	void **current;       /* the payload in use, in rt_tls */
	size_t of_thread;     /* where struct rt_thread has the same */
};
/* This thread's table with room for one more slot, a larger one if need be; NULL if there is none.
 * Signal handlers may come in between. */
void *rt_table_with_room(const struct rt_table *x);

/* ---- rt_arcs.c, rt_counts.c ---- */

void rt_arc(uint64_t from, uint64_t to);
void rt_enter(uint64_t from, uint64_t to, uint64_t sp); /* the same, and its end will be told */
void rt_mcount(uint64_t from, uint64_t to); /* the same, and the program is compiled for gprof */
void rt_count(uint64_t addr);

/* ---- rt_retire.c ---- */

void rt_retire(const struct rt_module *m); /* with the lock */

/* ---- rt_latency.c ---- */

void rt_latency_start(void); /* learns what measuring costs, once */
/* A call along the slot's arc has begun, and ends; sp: of its frame. By the hooks. */
void rt_latency_begin(struct kinf_arc *slot, uint64_t sp);
void rt_latency_end(uint64_t to, uint64_t from);
/* With the lock: the record is of nothing any more. */
void rt_latency_forget(struct rt_thread *t, struct kinf_latency *r);

/* ---- rt_intercept.c ---- */

void rt_intercept_init(void); /* not async-signal-safe */

/* ---- rt_signals.c ---- */

void rt_signals_find(void); /* the C library's functions; not async-signal-safe */
void rt_signals_init(void); /* not async-signal-safe */
/* The system call rt_sigaction, as the program makes it. */
long rt_signals_action(long sig, const void *act, void *old, long size);

/* ---- rt_clone.c ---- */

void rt_clone_init(void); /* not async-signal-safe */
/* Whether that system call makes a process with memory of its own. */
bool rt_makes_process(long number, long first);

/* ---- rt_sample.c ---- */

/* Reads settings; starts, stops, and starts again the timers of all threads. */
void rt_sample_init(void);
void rt_sample_begin(void); /* the process's first thread */
void rt_sample_on(bool on);
void rt_sample_file(void);                  /* there is a new file: what it is to know */
void rt_sample_end(const char *why);        /* for good, in this process and its children */
void rt_sample_drop(void);                  /* in a forked child: forget the parent's */
void rt_sample_forked(void);                /* then: so that its first thread is sampled */
void rt_sample_attach(struct rt_thread *t); /* with the lock: the calling thread, just attached */
void rt_sample_thread_starts(uint64_t stack_size);
void rt_sample_thread_ends(void);
void rt_sample_finish(void); /* clocks as of now */
/* Sets a handler of ours, and asks for the one that is set; 0 or -errno. */
long rt_action_set(int signal, const struct rt_action *a);
long rt_action_get(int signal, struct rt_action *ret);
/* Takes another signal, since the program wants this one; false: it cannot, or it is not ours. */
bool rt_sample_give_way(int signal);
/* What the program asks of its action for our signal; false: it is not ours. */
bool rt_sample_action(int signal, const struct rt_action *act, struct rt_action *old);
void rt_sample_exec(bool about_to); /* as rt_exec() */
bool rt_sample_is_ours(int signal); /* number */
uint64_t rt_sample_signals(void);   /* all that it may be, as the kernel's masks have them */

/* ---- rt_frames.c ---- */

struct unwind_row;
/* How to step out of the frame at `pc`, in m; false: that is not known. doubtful: nobody knows that
 * the thread will return there. May take the lock. */
bool rt_frames_row(struct rt_module *m, bool doubtful, uint64_t pc, struct unwind_row *ret);

/* ---- rt_stacks.c ---- */

/* In a signal handler that interrupted `context`: the thread used weight_ns here. */
void rt_stacks_add(struct rt_thread *t, const void *context, uint64_t weight_ns);

/* ---- rt_gmon.c ---- */

void rt_gmon_write(void); /* not async-signal-safe: one at a time */

#pragma GCC visibility pop

/* A number that another thread may be counting in. */
static inline uint64_t rt_read(const uint64_t *n) { return __atomic_load_n(n, __ATOMIC_RELAXED); }

/* Of a table: the block's own words, which lie right before the slots; the hooks know them, too. */
struct rt_own {
	uint64_t mask;    /* of a slot's offset: (slots - 1) * size of a slot */
	uint64_t used;    /* slots taken */
	bool transient;   /* some slot is of a module that may go */
	uint8_t renewed;  /* tables before it that took too much patience */
	int32_t patience; /* calls that may still miss their first slot before a larger table
			     replaces this one */
};
_Static_assert(sizeof(struct rt_own) == sizeof(((struct kinf_block *)0)->own), "ARCH/hooks.S");

static inline struct kinf_block *rt_block_of(const void *payload)
{
	return (struct kinf_block *)((uintptr_t)payload - sizeof(struct kinf_block));
}

static inline struct rt_own *rt_own(struct kinf_block *b) { return (struct rt_own *)b->own; }

/* The table of threads that have none: a block's words, all 0, and a single slot, never used. */
enum { RT_NONE_BLOCK = sizeof(struct kinf_block) / 8, RT_NONE_SLOT = sizeof(struct kinf_arc) / 8 };
extern uint64_t rt_none[RT_NONE_BLOCK + RT_NONE_SLOT] __attribute__((visibility("hidden")));

/* From a slot to the next one to look at, over all of them: not the neighbours, because those are
 * taken where functions lie closer to each other than slots. */
#define RT_STRIDE 2533

/* Both are multiplied: functions begin at multiples of 16, and so lie closer to each other than
 * slots. */
static inline uint64_t rt_hash(uint64_t from, uint64_t to)
{
	return from * (uint64_t)(int64_t)(int32_t)0x9e3779b1 + to * 0x27d4eb2f;
}

#endif

/* rt.h - internals of the runtime: its one struct, and declarations shared by its files.
 *
 * A hook (ARCH/hooks.S) finds its thread's table through a thread-local pointer and increments a
 * counter in the mapped file; that is all in the common case. If it finds no counter it calls
 * rt_arc(), which starts the file, attaches the thread, makes and grows tables. It may run in a
 * signal handler, at any instruction of the program or of themselves. So
 *
 * - tables belong to one thread. It adds slots by compare-and-swap, only against its own signal
 *   handlers, and publishes a slot by the last store; counts never move;
 * - everything else (the file, its blocks, modules, threads) changes under rt_lock(), which blocks
 *   all signals: its holder cannot be interrupted by code that needs it;
 * - a child of fork finds rt_gate wiped by the kernel, takes every hook for a miss, and there
 *   begins anew with a file of its own (rt_ready()). A child of vfork counts for its parent.
 *
 * Functions are async-signal-safe and preserve errno and vector registers, unless a comment says
 * otherwise. */
#ifndef KINRT_RT_H
#define KINRT_RT_H

#include "sys.h"

#include <kin/format.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>

#include "unwind/step.h"

#define RT_EXPORT __attribute__((visibility("default")))

/* A flag that one of several contenders takes by an atomic exchange. A 32-bit word, since not all
 * processors can exchange bytes. */
typedef _Atomic uint32_t rt_flag;

enum rt_state {
	RT_NEW,     /* the constructor has not run */
	RT_READY,   /* settings are read; nothing was collected yet, and there is no file */
	RT_STARTED, /* collecting */
	RT_OFF,     /* disabled or not possible: every hook returns at once */
};

struct rt_clock {      /* sampling state of a thread; rt_sample.c */
	int32_t timer; /* the kernel's id + 1; 0: none */
	uint64_t random;
	uint64_t last_ns;    /* the thread's CPU time up to its last sample */
	uint64_t told_ns;    /* the thread's CPU time when header.cpu_ns was last updated */
	uint64_t earlier_ns; /* CPU time of dead threads with the same record */
	uint64_t sleeps;     /* how often the thread had slept by then */
	bool met;            /* the thread has had a sample */
	bool ended;          /* the thread has announced its end */
	uint64_t excluded_ns,
		stopped_ns;    /* CPU time while sampling was paused; start of the current pause */
	uint64_t own_since_ns; /* the thread's CPU time when rt_sample_own() began; 0: it is not in
				  progress */
	uint64_t stack, stack_end; /* the thread's stack, if its bounds are certain; else 0 */
};

enum { RT_OWN_STACK = 32 << 10 }; /* untouched pages take no memory */

struct rt_thread { /* kept after the thread's death; rt.threads lists all of them */
	struct rt_thread *next;
	struct kinf_thread *record;
	void *arcs;                 /* payload of its newest table; NULL: none */
	struct kinf_block *carries; /* the newest KINF_ARCS block; NULL: none */
	uint32_t tid, index;
	struct rt_clock clock;
	uint8_t *own_stack;         /* RT_OWN_STACK bytes, for the sampling handler; NULL: none */
	struct rt_stacks *stacks;   /* NULL before the first sample */
	struct rt_latency *latency; /* NULL before the first call */
};

/* Thread-local. Hooks use the first member: in a thread without a table it points to rt_none.
 */
struct rt_tls {
	void *arcs; /* payload of the KINF_CALLS block in use */
	struct rt_latency *latency;
	struct rt_thread *thread;
	int32_t timer; /* as in rt_clock; created before `thread` existed */
	bool sampling; /* the sampling handler is running */
	uint64_t stack, stack_end;
	uint64_t from, to; /* the arc that mcount made last */
};
extern __thread struct rt_tls rt_tls
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A page that the kernel clears in a forked child (MADV_WIPEONFORK). Hooks find rt_tls through it,
 * so one test covers both collecting being off and a new process. */
union rt_gate {
	struct {
		/* collecting: offset of rt_tls from the thread pointer, which may be 0, plus one;
		 * 0: call rt_ready() */
		uint64_t tls;
		uint32_t alive;   /* 1: this process set it; 2: a forked child is starting anew */
		uint32_t latency; /* 1: durations of calls are measured */
	};
	uint8_t page[RT_PAGE];
};
extern union rt_gate rt_gate __attribute__((visibility("hidden")));

struct rt_module {
	struct rt_module *next;    /* the next mapped module; newest first */
	uint64_t start, end, bias; /* as in struct kinf_module */
	const char *name;          /* the loader's; valid while mapped */
	const uint8_t *build_id;   /* in the module's own memory */
	const void *loader; /* the loader's handle, to check that it is still the same module */
	struct kinf_module *record; /* in the file, or NULL */
	uint32_t id, first_id;      /* first_id: id when this very file was first mapped */
	uint32_t hash, flags;       /* hash of path and build id; KINF_MODULE_* */
	uint16_t build_id_size;
	uint64_t text, text_end;                             /* run-time addresses of its code */
	uint64_t unwind, unwind_size, segment, segment_size; /* PT_GNU_EH_FRAME and its segment */
	uint8_t *_Atomic copy; /* rt_frames.c: copy of its call-frame information; NULL: none */
	uint64_t copy_addr, copy_size;
	bool transient;           /* loaded after the start, so it may be unloaded */
	bool called;              /* rt_gmon.c: has calls; valid for first_id */
	bool keeps_fp;            /* rt_made.c: its code without call-frame information keeps frame
				     pointers, as V8's does, which is mapped again */
	struct rt_module *older;  /* next in the list of all modules ever */
	struct rt_module *origin; /* rt_made.c: the module mapped again here; or NULL */
};

struct rt_extent { /* memory for blocks: a part of the file, or anonymous */
	uint8_t *at;
	uint64_t size, offset; /* offset in the file */
	uint64_t written;      /* for an extent in memory: bytes that a flush has put into the
				  file */
	uint8_t *before;       /* rt_gmon.c: copy of the extent as of rt_gmon_anew(); NULL: none */
	bool in_file;
};
enum { RT_EXTENTS = 256 };

struct rt_options { /* KIN_OPTIONS; kinrt.h is the manual */
	char text[1024];
	bool arcs, gmon, verbose, start, latency;
};

extern struct rt {
	_Atomic uint32_t state; /* enum rt_state */
	_Atomic uint32_t lock;  /* tid of the holder, or 0 */
	_Atomic uint32_t waiting;
	bool paused;
	bool silent; /* make no system calls before the end: they may kill the process (seccomp) */
	bool forked; /* a forked child of the started program */
	bool preloaded;        /* loaded by LD_PRELOAD; rt_exec() needs to know */
	_Atomic bool profiled; /* compiled for gprof: called mcount, __fentry__ or monstartup */
	bool full;             /* out of space; tables do not grow */
	uint32_t pid, ppid;
	struct rt_options options;

	struct kinf_header *header; /* NULL before the start */
	struct rt_extent extent[RT_EXTENTS];
	uint32_t n_extents;
	uint64_t used;                     /* bytes used of the last extent */
	uint64_t unwritten[KINF_N_LOSSES]; /* the part of header->losses that is still in memory */
	int fd;
	uint64_t dev, ino;
	char path[PATH_MAX]; /* the file's, absolute; "": no file */

	_Atomic uint32_t epoch;
	uint32_t n_modules; /* records written */
	struct rt_module *_Atomic active, *_Atomic all;
	struct kinf_block *module_block, *info_block;
	struct kinf_block *retired, *retired_latencies;
	struct kinf_block *twice; /* the newest block of rt_twice.c; NULL: none */

	struct {                                   /* rt_made.c */
		struct rt_module *_Atomic regions; /* newest first */
		uint32_t n;
		uint64_t rests; /* the pause between searches as a multiple of their cost */
		_Atomic uint64_t next_ns; /* CLOCK_MONOTONIC: do not search before */
	} made;

	struct {                                       /* rt_python.c */
		const struct rt_python_layout *layout; /* NULL: no interpreter, or an unknown one */
		uint64_t runtime, code_type, text_type; /* addresses in the interpreter */
		struct rt_functions *_Atomic functions; /* functions seen so far */
		struct kinf_block *names;
	} python;

	struct kinf_block *thread_block;
	struct rt_thread *threads, *inspected;
	uint32_t n_threads;
	_Atomic uint32_t
		refused; /* calls since memory for a thread's tables was refused; 0: it was not */

	struct rt_sampling {        /* rt_sample.c */
		uint64_t period_ns; /* 0: disabled, or not possible */
		uint64_t tick_ns;   /* the kernel's timer tick */
		const char *ended;  /* why sampling is not possible, or ended; NULL: it is on */
		uint64_t most_ns;   /* largest weight of a sample */
		uint64_t least_ns;  /* largest weight of one after sleep, and weight of the first */
		int signal;
		uint64_t given_up; /* signals used by the program, as in masks */
		bool ignored;      /* the program has set SIG_IGN for our signal */
		bool stacks;
		bool on;                          /* timers are running */
		uint64_t excluded_ns, stopped_ns; /* as in rt_clock, for the process */
		uint64_t stack_end;               /* of the first thread */
		uint64_t stack_gap;         /* bytes below stack_end that can only belong to that
					       stack */
		struct rt_row *rows;        /* cache of rt_stacks.c */
		_Atomic uint32_t unloading; /* running calls of dlclose() */
		struct rt_thread *sweep;
		uint64_t own, own_end; /* address range of the runtime's own code */
	} sampling;

	struct {                   /* rt_latency.c */
		uint64_t ns_x2_32; /* ns per tick of the clock; 0: not known yet */
		uint32_t run;      /* number of pauses: calls that began before the current one are
				      dropped */
		uint64_t own_x1024,
			both_x1024;  /* ns that a call's hooks add to its own time, and in total */
		uint64_t call_x1024; /* least ns of a call without hooks */
	} latency;

	bool cost_known;  /* rt_cost.c */
	uint32_t hook_ps; /* as in the file's header */

	uint64_t gmon_calls; /* plus one: sum of the calls and of the sampled ns in the last
				gmon.out; 0: none was written */
	bool gmon_prefixed;  /* GMON_OUT_PREFIX is set; it may be empty */
	bool gmon_anew;      /* extents have copies */
	bool gmon_kept;      /* do not rewrite gmon.out: the program requested it earlier, and
				continues */
	char exe[PATH_MAX], cwd[PATH_MAX], gmon_prefix[512];
	uint64_t err_dev, err_ino; /* of standard error at the start */
	uint32_t rank, ranks;      /* rank in the parallel job, as in the file's header */
	char job[64];
	uint64_t vdso;
} rt __attribute__((visibility("hidden")));

#pragma GCC visibility push(hidden)

/* ---- rt_life.c ---- */

/* Whether data can be collected. Starts collecting, and starts anew in a forked child. */
bool rt_ready(void);
/* False: only before the beginning, in a static program's resolvers of indirect functions. There is
 * neither errno nor rt_tls yet, so hooks return; such calls are not counted. */
static inline bool rt_has_tls(void) { return rt.state != RT_NEW || has_thread_pointer(); }
/* Reads settings, finds modules. Not async-signal-safe, but runs once and early. */
void rt_init(void);
void rt_on(void); /* sets the gate according to the current settings */
/* Writes everything that is due at the end of the process. May be called several times. */
void rt_finish(enum kinf_end end, uint64_t detail);
/* Must be called first in a forked child, however it was created. */
void rt_forked(void);
/* The process is about to execute a program with the environment envp. */
void rt_exec(const char *program, char *const *envp);
void rt_exec_failed(void);
/* Calls f(arg) with all vector registers saved, for functions of the C library. Needs the lock: the
 * registers are saved in one static place, not on the program's stack. */
void rt_call_saved(void (*f)(void *), void *arg);

/* ---- ARCH/hooks.S ---- */

/* Calls f(arg) on the stack that ends at `top`. */
void rt_on_stack(void *top, void (*f)(void *), void *arg);

/* The code of mcount and __fentry__. */
extern const char rt_hooks[], rt_hooks_end[];

/* To measure the cost of counting: n calls of a function that does nothing, without and with the
 * code that -pg adds. The counted calls go from rt_trial_from to a function entered at
 * rt_trial_to. */
void rt_trial_bare(uint64_t n);
void rt_trial_counted(uint64_t n);
extern const char rt_trial_from[], rt_trial_to[];

/* ---- rt_options.c ---- */

void rt_options_read(struct rt_options *o, const char *text);
/* The value of a setting in KIN_OPTIONS, for code that reads a setting where it uses it; NULL: not
 * set. *size is its length: the value is not terminated. */
const char *rt_option(const struct rt_options *o, const char *name, size_t *size);
bool rt_option_on(const struct rt_options *o, const char *name, bool unless);

/* ---- rt_lock.c, rt_memory.c ---- */

/* Blocks all signals and takes the lock; false if that is not possible. */
bool rt_lock(uint64_t *mask);
void rt_unlock(uint64_t mask);
void *rt_memory(size_t size); /* with the lock: zeroed, never freed; or NULL */
/* Copies memory at an address; false if not all of it is mapped. */
bool rt_peek(uint64_t at, void *to, size_t n);

/* ---- rt_output.c, rt_info.c ---- */

/* Sets rt.path. `attempt` 0: as requested, with the rank in a parallel job; 1: with the process id;
 * 2 and more: also with the time. */
void rt_output_path(int attempt);
/* With the lock: rt_info_start() writes the first lines, rt_info() one more. */
void rt_info_start(void);
void rt_info(const char *line);

/* ---- rt_file.c ---- */

/* With the lock: creates the file (or memory in its place) and its header. */
bool rt_file_start(void);
/* With the lock: reserves a zeroed block, or returns NULL. It belongs to the file at once. */
struct kinf_block *rt_block(enum kinf_type type, uint64_t payload, uint32_t thread);
/* Iterates over all blocks; NULL starts and ends. */
struct kinf_block *rt_next_block(const struct kinf_block *b);
/* With the lock: the block will hardly be read before the end. Its data stays in the file and need
 * not stay in the process's memory. */
void rt_block_rest(const struct kinf_block *b);
bool rt_room(uint64_t size); /* with the lock: ensures that a block of that size fits without system
				calls */
void rt_lose(enum kinf_loss what, uint64_t n);
void rt_error(const char *what,
	      long err); /* keeps the first error only; err: the result of a system call, or 0 */
void rt_say(const char *text, size_t n); /* on standard error; nowhere if the program has put
					    another file in its place */
void rt_file_finish(void); /* moves data in anonymous memory to the file, if possible */
void rt_file_touch(void);  /* with the lock: gives the file a modification time as late as that of
			      files written beside it */
void rt_file_drop(void);   /* in a forked child: forgets the parent's file */
/* With signals blocked: removes a pending SIGXFSZ that our writing caused. */
bool rt_xfsz_pending(void);
void rt_forget_xfsz(void);
uint64_t rt_now_ns(int clock);
/* open() for writing that never blocks, follows no links and opens only regular files; or -errno */
int rt_open_output(const char *path, int flags, int mode);

/* ---- rt_modules.c ---- */

/* False in a namespace of dlmopen() other than the program's. The runtime there is a second copy
 * that does not know the program. Not async-signal-safe. */
bool rt_modules_init(void);
void rt_modules_start(void); /* with the lock: writes all modules to the new file */
struct rt_module *rt_module_at(uint64_t addr); /* NULL: not known */
/* Also asks the loader whether a module that may be unloaded still exists, and about unknown
 * addresses. May take the lock. */
struct rt_module *rt_module_learn(uint64_t addr);
bool rt_module_is_gone(const struct rt_module *m); /* asks the loader; takes no lock */
void rt_own_code(uint64_t *start, uint64_t *end);
/* With the lock: writes the module's record to the file; counts a loss if there is no room. */
void rt_module_write(struct rt_module *m);
void rt_modules_retire(void); /* after dlclose(): moves the calls of unmapped modules */

/* ---- rt_made.c ---- */

/* The region of JIT code that contains an address outside of all modules; NULL: none. May take the
 * lock, and read the kernel's list of mappings. */
const struct rt_module *rt_made_at(uint64_t addr);
/* The same of the regions that were found before: no lock, nothing is read. */
const struct rt_module *rt_made_known(uint64_t addr);
void rt_made_start(void); /* with the lock: writes the regions to the new file */

/* ---- rt_python.c ---- */

enum { RT_PYTHON_DEEPEST = 1024, RT_PYTHON_AT_ONCE = 32, RT_PYTHON_CODE = 0x88 };
struct rt_python_walk {
	uint64_t loop; /* a value in the stack frame of the interpreter's next loop; 0: there is no
			  other loop */
	/* The rest is private to this module. */
	uint64_t frame;
	bool is_torn;
	uint32_t n;
	struct rt_python_frame {
		uint64_t code;
		uint32_t at; /* index in the stack */
	} met[RT_PYTHON_DEEPEST];
	uint64_t codes[RT_PYTHON_AT_ONCE][RT_PYTHON_CODE / 8];
	uint64_t chunk_at;
	uint8_t chunk[1024];
};
void rt_python_init(void); /* not async-signal-safe */
void rt_python_forked(void);
/* Starts a walk for the calling thread, at a sample with stack pointer sp. */
void rt_python_begin(struct rt_python_walk *w, uint64_t sp);
/* In the frame of a loop: adds the functions that the loop runs, innermost first, at most `room`,
 * at index `at` of the stack. Returns their number and moves on to the next loop. read(arg, ..)
 * reads the stack. */
uint32_t rt_python_functions(struct rt_python_walk *w, unwind_read *read, void *arg, uint32_t at,
			     uint32_t room);
/* Replaces the zeros in the stack of n addresses by the functions' addresses (as return addresses)
 * and removes functions without a name. whole: the walk was complete. *doubtful, an index or 0, is
 * adjusted. Returns the new length. May take the lock. */
uint32_t rt_python_end(struct rt_python_walk *w, bool whole, uint64_t *pc, uint32_t n,
		       uint32_t *doubtful);

/* ---- rt_bus.c ---- */

typedef void rt_handler(int, siginfo_t *, void *);
#define RT_BUS ((uint64_t)1 << (SIGBUS - 1)) /* SIGBUS's bit in signal masks; we never block it */
void rt_bus_init(void);                      /* before the first mapping of a file */
/* Handles the program's request for its SIGBUS action; false: pass it to the kernel. */
bool rt_bus_action(const struct rt_action *act, struct rt_action *old);

/* ---- rt_threads.c ---- */

/* The calling thread's struct, created at the first call. NULL: no memory. Takes the lock. */
struct rt_thread *rt_thread(void);
/* Bring the names in the records up to date: the first for the calling thread, the second, with the
 * lock, for all live threads. A thread has one record, under its last name. */
void rt_thread_name(void);
void rt_threads_name(void);
void rt_threads_drop(void);

/* ---- rt_table.c: a thread's table of slots, open to its hooks ---- */

struct rt_table {
	enum kinf_type type;
	uint64_t slot, first; /* bytes of a slot; slots of the first table: a power of two */
	void **current;       /* pointer to the payload in use, in rt_tls */
	size_t of_thread;     /* offset in struct rt_thread of the thread's own pointer to that
				 payload */
};
/* This thread's table with room for one more slot; the current one is replaced by a larger one if
 * necessary. NULL: no memory. Signal handlers may interrupt it. */
void *rt_table_with_room(const struct rt_table *x);

/* ---- rt_arcs.c ---- */

void rt_arc(uint64_t from, uint64_t to);
void rt_enter(uint64_t from, uint64_t to,
	      uint64_t sp);                 /* rt_arc() for a call whose end will be reported */
void rt_mcount(uint64_t from, uint64_t to); /* rt_arc() in a program compiled for gprof */
/* To be called when a slot's 32-bit count has wrapped to 0: adds the lost 2^32 to the arc's carry
 * slot. rt_carry_enter(): the same for rt_enter(). */
void rt_carry(uint64_t from, uint64_t to);
void rt_carry_enter(uint64_t from, uint64_t to, uint64_t sp);

/* ---- rt_twice.c ---- */

/* Called when the hook of -finstrument-functions has made an arc, right after mcount made one from
 * the same place (rt_tls.from). */
void rt_twice_enter(uint64_t from, uint64_t to);
bool rt_twice_has(uint64_t from, uint64_t to);
void rt_twice_retire(const struct rt_module *m); /* with the lock: forgets arcs from and to the
						    module */

/* ---- rt_retire.c ---- */

void rt_retire(const struct rt_module *m); /* with the lock */

/* ---- rt_cost.c ---- */

void rt_cost_start(void); /* measures what counting adds to a call, once */
void rt_cost_file(void);  /* with the lock: writes the cost into the header */

/* ---- rt_latency.c ---- */

void rt_latency_start(void); /* measures the cost of measuring, once */
/* Called by the hooks at the start and end of a call; sp: the stack pointer of its frame. */
void rt_latency_begin(uint64_t to, uint64_t from, uint64_t sp);
void rt_latency_end(uint64_t to, uint64_t from);
/* With the lock: the record is no longer in use. */
void rt_latency_forget(struct rt_thread *t, struct kinf_latency *r);

/* ---- rt_intercept.c ---- */

void rt_intercept_init(void); /* not async-signal-safe */

/* ---- rt_signals.c ---- */

void rt_signals_find(void); /* the C library's functions; not async-signal-safe */
void rt_signals_init(void); /* not async-signal-safe */
/* Makes a system call for the program, with six arguments: where it sets or waits for signals, as
 * the functions above. */
long rt_signals_call(long number, const long *args);

/* ---- rt_clone.c ---- */

void rt_clone_init(void); /* not async-signal-safe */
/* Whether the system call creates a process with memory of its own. */
bool rt_makes_process(long number, long first);

/* ---- rt_sample.c ---- */

/* Reads settings; starts, stops and restarts the timers of all threads. */
void rt_sample_init(void);
void rt_sample_begin(void); /* starts sampling the process's first thread */
void rt_sample_on(bool on);
void rt_sample_file(void);                  /* a new file exists: writes the sampling settings to
					       it */
void rt_sample_end(const char *why);        /* ends sampling for good, in this process and its
					       children */
void rt_sample_drop(void);                  /* in a forked child: forgets the parent's timers */
void rt_sample_forked(void);                /* in a forked child, after rt_sample_drop(): samples
					       its first thread */
void rt_sample_attach(struct rt_thread *t); /* with the lock: for the calling thread, just
					       attached */
void rt_sample_thread_starts(uint64_t stack_size);
void rt_sample_thread_ends(void);
void rt_sample_finish(void); /* brings the CPU times in the file up to date */
/* Brackets work that the calling thread does for the runtime, not for the program. CPU time in
 * between is not the program's and gets no sample. */
void rt_sample_own(bool begins);
/* Set a handler of the runtime, or read the current action; 0 or -errno. */
long rt_action_set(int signal, const struct rt_action *a);
long rt_action_get(int signal, struct rt_action *ret);
/* Switches to another signal because the program needs this one; false: no other is left, or this
 * one is not ours. */
bool rt_sample_give_way(int signal);
/* Handles the program's request for the action of our signal; false: the signal is not ours. */
bool rt_sample_action(int signal, const struct rt_action *act, struct rt_action *old);
void rt_sample_exec(bool about_to); /* with rt_exec(); false: the exec has failed */
bool rt_sample_is_ours(int signal); /* whether that number is the sampling signal's */
uint64_t rt_sample_signals(void);   /* mask of all signals that sampling may use */

/* ---- rt_frames.c ---- */

struct unwind_row;
/* Finds the unwind rule for the frame at `pc` in m; false: unknown. doubtful: the thread may never
 * return to pc, so m may be unloaded meanwhile. May take the lock. */
bool rt_frames_row(struct rt_module *m, bool doubtful, uint64_t pc, struct unwind_row *ret);

/* ---- rt_stacks.c ---- */

/* In a signal handler that interrupted `context`: adds a sample of weight_ns to the interrupted
 * stack. */
void rt_stacks_add(struct rt_thread *t, const void *context, uint64_t weight_ns);

/* ---- rt_gmon.c ---- */

void rt_gmon_write(void); /* not async-signal-safe; one call at a time */
void rt_gmon_anew(void);  /* gmon.out from here on leaves out what was counted until now */

#pragma GCC visibility pop

/* With the lock: whether both hooks counted the arc's calls, so that this arc is to be ignored. */
static inline bool rt_is_twice(uint64_t from, uint64_t to)
{
	return rt.twice && rt_twice_has(from, to);
}

/* Reads a number that another thread may be incrementing. */
static inline uint64_t rt_read(const uint64_t *n) { return __atomic_load_n(n, __ATOMIC_RELAXED); }

/* The present contents of a slot; `to` and `count` are 0 if it is unused. */
static inline struct kinf_arc rt_arc_at(const struct kinf_arc *s)
{
	struct kinf_arc a = { .count = rt_read(&s->count) };

	a.to = __atomic_load_n(&s->to, __ATOMIC_ACQUIRE);
	a.from = rt_read(&s->from);
	return a;
}

static inline struct kinf_arc rt_call_at(const struct kinf_call *s)
{
	struct kinf_call c = { .key = __atomic_load_n(&s->key, __ATOMIC_ACQUIRE) };

	if (c.key <= KINF_CALL_TAKEN)
		return (struct kinf_arc){ 0 };
	c.to_high = __atomic_load_n(&s->to_high, __ATOMIC_RELAXED);
	c.count = __atomic_load_n(&s->count, __ATOMIC_RELAXED);
	return (struct kinf_arc){ .from = kinf_call_from(&c),
				  .to = kinf_call_to(&c),
				  .count = c.count };
}

/* The table's words in the header of its block, right before the slots; the hooks know their
 * layout. */
struct rt_own {
	uint64_t mask;    /* mask for the offset of a slot: (slots - 1) * size of a slot */
	uint64_t used;    /* slots taken */
	bool transient;   /* some slot belongs to a module that may be unloaded */
	uint8_t renewed;  /* number of earlier tables that were replaced for lack of patience */
	int32_t patience; /* calls that may still miss their first slot before a larger table
			     replaces this one */
};
_Static_assert(sizeof(struct rt_own) == sizeof(((struct kinf_block *)0)->own), "ARCH/hooks.S");

static inline struct kinf_block *rt_block_of(const void *payload)
{
	return (struct kinf_block *)((uintptr_t)payload - sizeof(struct kinf_block));
}

static inline struct rt_own *rt_own(struct kinf_block *b) { return (struct rt_own *)b->own; }

/* The table of threads without tables: a block's words, all 0, and a single slot, never used. */
enum { RT_NONE_BLOCK = sizeof(struct kinf_block) / 8, RT_NONE_SLOT = sizeof(struct kinf_call) / 8 };
extern uint64_t rt_none[RT_NONE_BLOCK + RT_NONE_SLOT] __attribute__((visibility("hidden")));

/* Both addresses are multiplied, because functions begin at multiples of 16 and so lie closer
 * together than slots. */
static inline uint64_t rt_hash(uint64_t from, uint64_t to)
{
	return from * (uint64_t)(int64_t)(int32_t)0x9e3779b1 + to * 0x27d4eb2f;
}

#endif

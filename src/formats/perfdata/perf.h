/* perf.h - what the files of the perf.data reader share. Nobody outside of them includes this.
 *
 * A file goes through four stages:
 *
 *	perf_file.c     header, events, features: what the file says about itself
 *	perf_records.c  the records, unpacked, put into the order of time (perf_queue.c)
 *	perf_machine.c  each record in turn: processes, threads (perf_tasks.c), mappings
 *	                (perf_space.c)
 *	perf_stacks.c   each sample's addresses as a stack of the profile (perf_object.c,
 *	                perf_dwarf.c)
 *
 * The format is that of tools/perf/Documentation/perf.data-file-format.txt and of the kernel's
 * include/uapi/linux/perf_event.h. Numbers have the byte order of the machine that was recorded. */
#ifndef INPUT_PERF_H
#define INPUT_PERF_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/map64.h"
#include "base/vec.h"
#include "formats/perfdata/perf_format.h"
#include "input/input.h"
#include "input/window.h"
#include "object/object.h"
#include "profile/detail.h"
#include "unwind/made_frames.h"

struct perf;

/* ---- events of the file (perf_attrs.c) ---- */

struct perf_attr {
	uint32_t type;
	uint64_t config, sample_type, read_format, flags, branch_type, regs_user, regs_intr,
		address;
	uint64_t frequency, period; /* one of them is 0 */
	const char *name;           /* that the file gives, or NULL */
	uint32_t group;             /* number of its group + 1; 0: alone */
	/* Where things are, in bytes; -1: not there. */
	int sample_time, sample_id; /* from the start of a sample's record */
	int sample_ip, sample_tid, sample_addr, sample_cpu, sample_period; /* likewise */
	int trailer_tid, trailer_time, trailer_id; /* from the end of other records */
	size_t fixed;                              /* fields of a sample up to PERIOD */
	bool is_plain; /* a sample has no other fields, but for its chain */
	enum event_unit unit;
	enum event_kind kind;
	bool off_cpu_raw; /* perf's off-CPU event with the stack in its RAW field */
	bool has_event;
	uint16_t event; /* of the profile, if it has one */
};

struct perf_id {        /* of one counter of an event: per CPU or thread */
	uint64_t value; /* last read */
	uint32_t attr;
};

struct perf_attrs {
	VEC(struct perf_attr) at;
	VEC(struct perf_id) ids;
	struct map64 by_id; /* index into ids */
	uint64_t last_id;   /* asked for, and its index */
	uint32_t last;
	bool identified; /* records say which event they are of */
	bool declared;   /* in the profile */
	uint16_t on_cpu; /* the profile's event of the first that has one, and is of time on a CPU;
			  * UINT16_MAX: none */
};

/* Takes an attribute of `size` bytes (any) as the next event. False if it makes no sense. */
bool perf_attrs_add(struct perf *p, struct bytes attr);
void perf_attrs_add_id(struct perf *p, uint64_t id, uint32_t attr);
/* Index into ids; NONE: not known. */
uint32_t perf_attrs_find(struct perf_attrs *a, uint64_t id);
/* The event of a record and its id (index, or NONE); NULL if it refers to one that is not there. */
struct perf_attr *perf_attrs_of(struct perf *p, const uint8_t *record, size_t size, uint32_t *id);
/* When it was written; PERF_NO_TIME if it does not say. */
uint64_t perf_attrs_time(struct perf *p, const struct perf_attr *a, const uint8_t *record,
			 size_t size);
/* What the i-th is called, given or made up; lives as long as p. */
const char *perf_attrs_name(const struct perf *p, size_t i);
/* The bits of an attribute's flags at `at`, first one first. */
uint64_t perf_attrs_flags(const struct perf *p, const uint8_t *at);
/* Adds all events to the profile, in the order of the file; but "dummy", which is there to carry
 * the records that are no samples, only once a sample names it. */
void perf_attrs_declare(struct perf *p);
void perf_attr_declare(struct perf *p, struct perf_attr *a);
void perf_attrs_done(struct perf_attrs *a);

#define PERF_NO_TIME UINT64_MAX

/* ---- one sample taken apart (perf_sample.c) ---- */

struct perf_sample {
	uint64_t ip, time, period;
	uint32_t pid, tid, cpu; /* cpu: NONE if not known */
	unsigned mode;          /* PERF_MODE_ */
	const uint8_t *chain;   /* n_chain addresses, leaf first */
	size_t n_chain;
	const uint8_t *branches; /* of a call stack by the CPU (LBR): {from, to, flags} */
	size_t n_branches;
	const uint8_t *regs; /* one per bit of the event's regs_user; NULL: none */
	uint64_t regs_abi;
	const uint8_t *intr_regs; /* one per bit of its regs_intr; NULL: none */
	uint64_t intr_regs_abi;
	const uint8_t *stack; /* bytes of memory from the stack pointer on */
	size_t stack_size;
	struct bytes read;    /* the READ field */
	struct bytes raw;     /* the RAW field: of a trace point */
	const uint8_t *taken; /* n_taken branches, the last one first: {from, to, flags} */
	size_t n_taken;
	uint64_t addr, weight, data_src, transaction, phys_addr, cgroup, data_page_size,
		code_page_size;
	uint16_t ins_lat, p_stage_cyc;
	bool is_longer; /* than its fields, all of which are known */
};

struct perf_chain {        /* what the kernel says of a stack */
	uint64_t ip;       /* of the sample, which may be more precise; 0: not known */
	const uint8_t *at; /* n addresses, leaf first, and marks (PERF_CONTEXT_) among them */
	size_t n;
	unsigned mode; /* PERF_MODE_: of ip, and up to the first mark */
};

/* A sample of which nothing but its stack and whose it is is wanted. */
struct perf_chain_sample {
	struct perf_chain chain;
	uint64_t time, period;
	uint32_t pid, tid, cpu;
};

/* False: it has more than that, or is damaged. */
bool perf_sample_parse_chain(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
			     size_t size, struct perf_chain_sample *ret);

/* A sample of which nothing but where it was taken is wanted. */
struct perf_leaf_sample {
	uint64_t ip, period; /* ip: what perf_stack_of() would begin with */
	uint32_t pid, tid, cpu;
	uint16_t attr;     /* index */
	uint8_t mode, own; /* PERF_MODE_: of ip; the record's */
};

/* False: where it was taken takes more than the first addresses of its chain, or it is damaged. */
bool perf_sample_parse_leaf(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
			    size_t size, struct perf_leaf_sample *ret);

/* Fields that come behind the stack are only read with `details`.
 * False if the record is shorter than what it holds. Pointers are into the record. */
bool perf_sample_parse(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
		       size_t size, bool details, struct perf_sample *ret);

/* ---- records in the order of time (perf_queue.c) ---- */

struct perf_record {
	uint64_t time;
	union {
		struct {
			uint64_t offset;     /* in the file, for messages */
			const uint8_t *data; /* `size` bytes */
			struct perf_chunk *chunk;
		};
		struct perf_leaf_sample leaf;
	};
	uint32_t size; /* 0: a leaf */
};

struct perf_queue {
	VEC(struct perf_record) at; /* the first `sorted` ones by time */
	VEC(struct perf_record) spare;
	VEC(size_t) runs;
	size_t sorted, bytes;
	struct perf_chunk *fill, *unused;
};

/* Keeps a copy of r->data. */
void perf_queue_add(struct perf_queue *q, const struct perf_record *r);
/* Those up to `limit`, to deliver(arg, record), oldest first, equally old ones as they were added.
 * May leave them for later if few were added since the last time. */
void perf_queue_flush(struct perf_queue *q, uint64_t limit,
		      void (*deliver)(struct perf *p, const struct perf_record *r), struct perf *p);
/* So much is waiting that some of it is to be flushed, whatever the limit. */
bool perf_queue_is_full(const struct perf_queue *q);
void perf_queue_done(struct perf_queue *q);

/* ---- what is mapped where (perf_space.c) ---- */

struct perf_map {
	uint64_t start, end; /* [start, end) */
	uint64_t offset;     /* in the object's file, of start */
	uint32_t object;     /* index into perf.objects */
	strid name;          /* of all of it (kernel symbols); 0: by object */
	bool is_data;        /* not mapped as code: if it becomes that, it is mapped anew */
};

/* An address space: a tree of disjoint mappings. Copies share the tree until one changes. Equal
 * generations answer alike. */
struct perf_space {
	struct perf_node *root;
	struct perf_node *before; /* of the program that called exec; NULL: that call is over */
	uint32_t after;           /* the generation from then on */
	uint32_t owner;           /* of nodes that nobody else sees */
	uint32_t generation;      /* unique; changes when an answer given may have changed */
	bool missed;              /* an address was asked for that is not mapped */
	bool shared;              /* the generation is also that of a copy */
	bool has_main;            /* its executable is known */
};

void perf_space_init(struct perf *p, struct perf_space *s);
/* Another program is started: its mappings come. While none of them was met, the call that starts
 * it goes on, and is found in the old ones. */
void perf_space_exec(struct perf *p, struct perf_space *s);
void perf_space_copy(struct perf *p, struct perf_space *s, struct perf_space *from);
/* Replaces what was in [m.start, m.end). With no object (NONE) that is just removed. */
void perf_space_map(struct perf *p, struct perf_space *s, struct perf_map m);
bool perf_space_find(struct perf_space *s, uint64_t addr, struct perf_map *ret);
/* The first mapping that starts at addr or above; false if there is none. */
bool perf_space_next(const struct perf_space *s, uint64_t addr, struct perf_map *ret);

/* ---- objects (perf_object.c) ---- */

struct perf_name { /* a piece of code made at run time */
	uint64_t start, end;
	strid name;
	uint32_t frames; /* + 1, in struct perf_made; 0: its maker says nothing */
};

struct perf_made {
	struct perf_name *names; /* n_names, by address, disjoint */
	size_t n_names;
	struct perf_made_frames { /* call-frame information, of the code as it was made */
		uint64_t code, size;
		struct made_frames said;
	} * frames;
	size_t n_frames;
};

struct perf_object {
	objid id;
	const char *path;
	const char *build_id; /* hex, or "" */
	enum object_kind kind;
	bool by_address; /* addresses are run-time ones: kernel, JIT */
	bool is_loaded;
	struct object_segment *segments; /* PT_LOAD of the file, as far as it is there */
	size_t n_segments;
	struct perf_made made;
	const char *dump; /* the jitdump of the process whose memory it stands for; NULL: none */
	/* perf_dwarf.c's */
	bool has_table; /* what follows was looked for */
	struct unwind_table *table;
	struct object_file *file;
};

enum perf_mapped { PERF_MAP_CODE, PERF_MAP_DATA, PERF_MAP_KERNEL };
/* Index of the object mapped under that name into a process. */
uint32_t perf_object_add(struct perf *p, const char *path, const char *build_id, uint32_t pid,
			 enum perf_mapped as);
/* Memory that is no file's, by what a mapping says: perf's rule. */
bool perf_is_anonymous(const char *path);
/* What stands for code there: where its names are to be found, by convention. */
const char *perf_jit_path(struct perf *p, uint32_t pid);
/* The kernel's build id. Where the file has none (perf record -z, and through a pipe) the running
 * one's, if host and release say so and its code begins where it began. Else "". */
const char *perf_kernel_build_id(struct perf *p, const char *path, uint64_t text);
/* What is known of code made at run time that the object stands for; NULL: it is another one. */
const struct perf_made *perf_object_made(struct perf *p, uint32_t object);
/* The frame of an address within a mapping. */
struct frame perf_object_frame(struct perf *p, const struct perf_map *m, uint64_t ip);
/* Run-time minus link-time addresses around there. */
uint64_t perf_object_bias(struct perf *p, const struct perf_map *m, uint64_t ip);
/* That something could not be read is a doubt: what that makes wrong, and why. Frees the error. */
void perf_unread(struct perf *p, const char *what, struct kin_error *err);
/* Its file; NULL if there is none, or with build_id, if it is another one than that which ran. */
struct object_file *perf_object_open(struct perf *p, const struct perf_object *o,
				     const char *build_id);
void perf_object_add_build_id(struct perf *p, const char *path, const uint8_t *id, size_t size);
void perf_objects_done(struct perf *p);

/* What /tmp/perf-PID.map and the jitdump say of code made at run time (perf_jit.c). Either may be
 * NULL, or not there. */
struct perf_made perf_jit_read(struct perf *p, const char *map, const char *dump);
void perf_made_free(struct perf_made *made);
/* The piece at the address; NULL: none is known. */
const struct perf_name *perf_made_at(const struct perf_made *made, uint64_t addr);

/* ---- processes and threads (perf_tasks.c) ---- */

struct perf_process {
	uint32_t pid;
	bool is_new; /* another program was started: its mappings come, the old ones go */
	struct perf_space space;
};

struct perf_thread {
	uint32_t tid, process; /* index */
	const char *comm;
	bool is_nameless;      /* and is called ":TID", as perf does */
	taskid task;           /* 0: not in the profile yet */
	stackid stack;         /* the last one known, of user code */
	uint64_t start, end;   /* 0: not known */
	uint64_t in, out;      /* since when it runs, or does not; 0: not known */
	bool preempted;        /* when it stopped */
	uint64_t cgroup_inode; /* of its name space of control groups; 0: not known */
	uint32_t cgroup_device;
};

struct perf_named { /* a name that a thread had */
	taskid task;
	uint32_t thread; /* index */
};

struct perf_thread *perf_thread_at(struct perf *p, uint32_t pid, uint32_t tid);
struct perf_process *perf_process_of(struct perf *p, const struct perf_thread *t);
void perf_thread_fork(struct perf *p, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid,
		      uint64_t time, bool copy_maps);
void perf_thread_name(struct perf *p, uint32_t pid, uint32_t tid, const char *comm, bool exec,
		      uint64_t time);
void perf_thread_exit(struct perf *p, uint32_t pid, uint32_t tid, uint64_t time);
taskid perf_thread_task(struct perf *p, struct perf_thread *t, uint64_t time);
void perf_tasks_finish(struct perf *p); /* no name changes any more */
void perf_tasks_done(struct perf *p);

/* ---- stacks (perf_stacks.c) ---- */

enum { PERF_CHAIN_MAX = 8192 }; /* what fits a record */

enum { PERF_STACK_MAX = PERF_CHAIN_MAX + 1024 };

struct perf_stack {
	stackid all, user; /* user: without the kernel's frames */
	bool is_deferred;  /* the user part comes later, in a record with this cookie */
	uint64_t cookie;
};

#ifdef KIN_SMALL_TABLES
enum { PERF_LASTS = 1 };
#else
enum { PERF_LASTS = 8 };
#endif

struct perf_hash { /* of the frames of a stack, from the root on */
	uint64_t hash;
	uint32_t check;
};

static inline struct perf_hash perf_hash_add(struct perf_hash h, uint64_t x)
{
	uint64_t a = (h.hash ^ x) * 0x9e3779b97f4a7c15u, b = (h.check ^ x) * 0xd6e8feb86659fd93u;
	return (struct perf_hash){ a ^ a >> 29, (uint32_t)(b >> 32 ^ b) };
}

/* A stack that is not in the profile yet; valid until the next one is made. */
struct perf_frames {
	const frameid *at; /* n, root first */
	size_t n;
	struct perf_hash hash, callers; /* callers: of all frames but the leaf */
};

/* A thread's last stack: what of the next one is alike, from the root on, needs no looking up. */
struct perf_last {
	size_t n;
	frameid frames[PERF_STACK_MAX]; /* root first */
	union {                         /* of the stacks up to there */
		stackid ids[PERF_STACK_MAX];
		struct perf_hash hashes[PERF_STACK_MAX]; /* in last_of_sums */
	};
	uint8_t modes[PERF_STACK_MAX]; /* as in perf_frame_now */
	/* The chain that it is of; n_words 0: of none. */
	size_t n_words;
	uint64_t words[PERF_CHAIN_MAX];         /* at the end */
	uint16_t frames_in[PERF_CHAIN_MAX + 1]; /* [n]: of the last n words, if the first of them is
						 * one; else 0 */
	uint32_t user, kernel, guest;           /* generations of the address spaces */
};

struct perf_frame_now { /* of the stack at hand */
	frameid frame;
	uint16_t n_words; /* of the chain, from this frame's to the end; 0: not of it */
	uint8_t mode;     /* PERF_MODE_, and whether it is a return address */
};

struct perf_chains {
	struct perf_known *known;     /* chains met lately */
	uint32_t looked, found, rest; /* for them; samples until they are looked for again */
	struct perf_frame *frames;    /* addresses met lately */
	uint32_t generation;          /* of the user code of the last chain */
	/* The stack just made, leaf first; n_kernel of it are in front of the user part. */
	struct perf_frame_now now[PERF_STACK_MAX];
	size_t n_kernel;
	struct perf_last last[PERF_LASTS];         /* by thread */
	struct perf_last last_of_sums[PERF_LASTS]; /* of perf_stack_frames() */
	VEC(stackid) leaves; /* [frame]: the stack of it alone; 0: not made yet */
	VEC(frameid) alike;  /* [frame]: what is in stacks in its place; 0: not asked for yet */
};

void perf_stacks_init(struct perf *p);
struct perf_stack perf_stack_of(struct perf *p, struct perf_space *space, const struct perf_attr *a,
				const struct perf_sample *s);
/* The same, of a thread's chain alone, where it does not go into the profile. */
struct perf_frames perf_stack_frames(struct perf *p, struct perf_space *space, uint32_t tid,
				     const struct perf_chain *chain);
/* A hint that its chain comes soon: it is in the core's cache. */
void perf_stack_prefetch(const struct perf *p, const struct perf_record *r);
/* Whether it takes no more than the chain, and is known as a whole. */
bool perf_stack_is_of_chain(const struct perf *p, const struct perf_sample *s);
/* What the mode of addresses is behind a marker (PERF_CONTEXT_). */
unsigned perf_mode_of_marker(uint64_t marker, unsigned mode);
/* The stack of that address alone. */
stackid perf_stack_leaf(struct perf *p, struct perf_space *user, unsigned mode, uint64_t ip);
/* The stack of n_above frames, leaf first, that were called from the `n` addresses of user code. */
stackid perf_stack_join(struct perf *p, struct perf_space *space, const uint8_t *chain, size_t n,
			const frameid *above, size_t n_above);
/* The frame of a single address: user code if something is mapped there, else the kernel's. */
frameid perf_frame_at(struct perf *p, struct perf_space *user, uint64_t ip);
void perf_stacks_done(struct perf *p);

/* The address space that the mode's addresses are of; NULL: none is known. */
struct perf_space *perf_space_of(struct perf *p, struct perf_space *user, unsigned mode);

/* ---- leaves (perf_leaves.c) ---- */

struct perf_leaf;

/* Adds up a sample that has a place in the table; false: it has none, and once it is in the
 * profile, as the sample of that number, perf_leaf_keep() gives it one. */
bool perf_leaf_add(struct perf *p, const struct perf_leaf_sample *s, const struct perf_space *space,
		   taskid task, uint16_t event);
void perf_leaf_keep(struct perf *p, const struct perf_leaf_sample *s,
		    const struct perf_space *space, const struct sample *x, size_t sample);
/* A hint that it comes soon. */
void perf_leaf_prefetch(const struct perf *p, const struct perf_leaf_sample *s);
void perf_leaves_start(struct perf *p);
/* Adds what was added up to the profile's samples. */
void perf_leaves_finish(struct perf *p);

/* ---- samples without times, added up (perf_sums.c) ---- */

void perf_sums_start(struct perf *p);
/* x: all but its stack. It may go into the profile later: */
void perf_sums_add(struct perf *p, uint32_t tid, const struct perf_frames *frames,
		   const struct sample *x);
void perf_sums_settle(struct perf *p); /* now */
void perf_sums_done(struct perf *p);

/* ---- details (perf_details.c) ---- */

struct perf_details {
	bool wanted;
	bool cpu_state; /* registers and branches, too */
	enum input_branches branches;
	bool by_branch;    /* once it is known: samples are branches */
	uint32_t *sockets; /* [n_sockets], by processor */
	size_t n_sockets;
	struct map64 cgroup_ids; /* id -> strid of its path */
};

/* u64 id, path. */
void perf_details_cgroup(struct perf *p, struct bytes b);
/* u32 pid, tid, u64 nr, {u64 device, inode}. */
void perf_details_namespaces(struct perf *p, struct bytes b);
/* The feature CPU_TOPOLOGY. */
void perf_details_topology(struct perf *p, struct bytes b);
/* What a sample says beside its stack; 0: nothing. */
detailid perf_details_of(struct perf *p, struct perf_space *space, const struct perf_attr *a,
			 const struct perf_thread *t, const struct perf_sample *s);
/* The i-th branch: where it went to as a stack of its own, and the rest as a detail. */
stackid perf_details_branch(struct perf *p, struct perf_space *space, const struct perf_thread *t,
			    const struct perf_sample *s, size_t i, detailid *detail);
void perf_details_done(struct perf *p);

/* ---- trace points (perf_trace.c) ---- */

struct trace_format;

struct perf_traces {
	bool wanted;
	VEC(struct trace_format *) formats;
	struct map64 by_id; /* the kernel's number of a trace point -> index */
	FILE *out;          /* what is being printed: text */
	char *text;
	size_t size;
};

/* The feature TRACING_DATA, or what is behind the record of that name. */
void perf_traces_read(struct perf *p, struct bytes b);
/* The fields of a sample; 0: it has none, or nobody says what they are. */
strid perf_traces_text(struct perf *p, const struct perf_attr *a, const struct perf_sample *s);
void perf_traces_done(struct perf_traces *t);

/* ---- stack dumps (perf_dwarf.c) ---- */

struct perf_dwarf;
/* Addresses of user code, leaf first, all but the first return addresses; how many. *cut: they do
 * not lead to where the thread began. */
size_t perf_dwarf_walk(struct perf *p, struct perf_space *space, const struct perf_attr *a,
		       const struct perf_sample *s, uint64_t *pcs, size_t max, bool *cut);
void perf_dwarf_object_done(struct perf_object *o);
void perf_dwarf_done(struct perf_dwarf *d); /* NULL is fine */

/* ---- records in turn (perf_machine.c) ---- */

struct perf_waiting { /* a sample that waits for the rest of its stack, or behind one that does */
	struct sample sample;
	detailid detail;
	bool is_deferred;
	uint64_t cookie;
	uint32_t tid;
	frameid *above; /* n_above frames, leaf first; owned */
	size_t n_above;
};

struct perf_machine {
	VEC(struct perf_waiting) waiting;
	size_t n_deferred;              /* of those */
	uint64_t first_time, last_time; /* of samples; 0: none */
	uint64_t lost_records, lost_samples;
	int64_t running;   /* threads, as far as switches tell */
	bool has_switches; /* of the threads that were recorded: not of all on a CPU */
	bool has_off_cpu;  /* the next two are events of the profile */
	uint16_t blocked, runnable;
	const struct machine *walked; /* of the stack dumps */
	detailid detail;              /* of the sample at hand */
};

void perf_machine_deliver(struct perf *p, const struct perf_record *r);
void perf_machine_finish(struct perf *p);

/* ---- one file being read ---- */

struct perf;
struct perf_record;

/* Who looks at a file as it is read, in place of a profile that is made of it. */
struct perf_watcher {
	bool only_header; /* it is told of no records */
	/* The header of a file, before its features. */
	void (*file)(struct perf *p, uint64_t data, uint64_t size);
	/* A feature, as it comes; a record as it lies in the file; one in the order of time. */
	void (*feature)(struct perf *p, unsigned feature, struct bytes data);
	void (*record)(struct perf *p, const uint8_t *record);
	void (*deliver)(struct perf *p, const struct perf_record *r);
	void (*finish)(struct perf *p);
};

struct perf {
	const char *name;
	const char *symfs; /* as in input_opts */
	struct profile_builder *into;
	struct source *source;
	bool swap, big_endian;
	struct arena arena;
	struct strtab *strings; /* paths and build ids, for ids of their own */
	struct perf_attrs attrs;
	struct perf_queue queue;
	struct map64 build_ids; /* path -> build id, both in strings */
	struct map64 object_ids;
	VEC(struct perf_object) objects;
	struct map64 process_ids, thread_ids;
	VEC(struct perf_process) processes;
	VEC(struct perf_thread) threads;
	VEC(struct perf_named) named;
	uint32_t last_thread; /* index of the one asked for last; the newest of its number */
	struct perf_space kernel, guest_kernel;
	uint32_t n_owners, n_generations;
	uint64_t n_nodes;
	struct perf_chains chains;
	struct input_needs needs;
	struct perf_sums *sums;   /* NULL: samples have times, or no callers */
	struct perf_leaf *leaves; /* NULL: samples are not added up, or have callers */
	struct perf_dwarf *dwarf;
	struct perf_machine machine;
	struct perf_details details;
	struct perf_traces traces;
	struct perf_watcher *watcher; /* NULL: a profile is made; else it is told of the file */
	unsigned n_cpus;              /* 0: not known */
	bool leaves_only;             /* callers are not looked at */
	bool other_host;       /* files here are not those of the machine that was recorded */
	bool own_kernel;       /* the one that runs here has the release of the recorded one */
	bool is_directory;     /* the records are in files beside this one */
	char machine_name[16]; /* "x86_64" */
	bool told_machine;     /* that its stacks cannot be followed */
	struct kin_error *err; /* the first thing that was wrong */
};

/* Takes note of damage at an offset; the first counts. */
void perf_damaged(struct perf *p, uint64_t offset, const char *what);

static inline uint64_t perf_u64(const struct perf *p, const uint8_t *at)
{
	return bytes_load(at, 8, p->swap);
}

static inline uint32_t perf_u32(const struct perf *p, const uint8_t *at)
{
	return (uint32_t)bytes_load(at, 4, p->swap);
}

static inline uint16_t perf_u16(const struct perf *p, const uint8_t *at)
{
	return (uint16_t)bytes_load(at, 2, p->swap);
}

/* Reads a perf.data for a watcher, as struct perf's `watcher`. */
MUST_CHECK struct kin_error *perf_file_watch(struct window *w, struct perf_watcher *watcher);

/* ---- the file about itself (perf_features.c, perf_records.c) ---- */

void perf_feature(struct perf *p, unsigned feature, struct bytes data);
void perf_build_id_record(struct perf *p, struct bytes record);

/* All records in [start, end) of a file, and those of the files beside it. */
void perf_records_read(struct perf *p, struct window *w, uint64_t end);

#endif

/* perf.h - declarations shared by the files of the perf.data reader. Only they include this.
 *
 * A file goes through four stages:
 *
 *	perf_file.c     header, events, features: what the file says about itself
 *	perf_records.c  the records, unpacked and sorted by time (perf_queue.c)
 *	perf_machine.c  each record in turn: processes, threads (perf_tasks.c), mappings
 *	                (perf_space.c)
 *	perf_stacks.c   each sample's addresses as a stack of the profile (perf_object.c,
 *	                perf_dwarf.c)
 *
 * The format is described in tools/perf/Documentation/perf.data-file-format.txt and in the kernel's
 * include/uapi/linux/perf_event.h. Numbers have the byte order of the recorded machine. */
#ifndef INPUT_PERF_H
#define INPUT_PERF_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/map64.h"
#include "base/vec.h"
#include "formats/perfdata/perf_format.h"
#include "formats/perfdata/perf_sample.h"
#include "input/input.h"
#include "input/window.h"
#include "object/object.h"
#include "profile/detail.h"
#include "unwind/made_frames.h"
#include "unwind/unwinder.h"

struct perf;

/* ---- events of the file (perf_attrs.c) ---- */

struct perf_attr {
	uint32_t type;
	uint64_t config, flags, address;
	uint64_t frequency, period;       /* one of them is 0 */
	const char *name;                 /* given by the file, or NULL */
	uint32_t group;                   /* number of its group + 1; 0: alone */
	struct perf_sample_layout layout; /* of its samples */
	/* Offsets in bytes from the end of other records; -1: missing. */
	int trailer_tid, trailer_time, trailer_id;
	enum event_unit unit;
	enum event_kind kind;
	bool off_cpu_raw; /* perf's off-CPU event with the stack in its RAW field */
	bool has_event;
	uint16_t event; /* id in the profile, if it has one */
};

struct perf_id {        /* one counter of an event: per CPU or thread */
	uint64_t value; /* last read */
	uint64_t lost;  /* of its samples, as last read */
	uint32_t attr;
};

struct perf_attrs {
	VEC(struct perf_attr) at;
	VEC(struct perf_id) ids;
	struct map64 by_id; /* index into ids */
	uint64_t last_id;   /* the last one looked up, and its index */
	uint32_t last;
	bool identified; /* records carry the id of their event */
	bool declared;   /* in the profile */
	uint16_t on_cpu; /* the profile's event of the first attribute that has one, if it counts
			    time on a CPU; UINT16_MAX: none */
};

/* Adds an attribute of `size` bytes (any) as the next event. False if it is implausible. */
bool perf_attrs_add(struct perf *p, struct bytes attr);
void perf_attrs_add_id(struct perf *p, uint64_t id, uint32_t attr);
/* Index into ids; NONE: not known. */
uint32_t perf_attrs_find(struct perf_attrs *a, uint64_t id);
/* The event of a record and its id (index, or NONE); NULL if the record refers to an unknown event.
 */
struct perf_attr *perf_attrs_of(struct perf *p, const uint8_t *record, size_t size, uint32_t *id);
/* The time of a record; PERF_NO_TIME if it has none. */
uint64_t perf_attrs_time(struct perf *p, const struct perf_attr *a, const uint8_t *record,
			 size_t size);
/* The name of the i-th event, from the file or made up; lives as long as p. */
const char *perf_attrs_name(const struct perf *p, size_t i);
/* The bits of an attribute's flags at `at`, first one first. */
uint64_t perf_attrs_flags(const struct perf *p, const uint8_t *at);
/* Adds all events to the profile, in the order of the file; "dummy", which only carries records
 * that are no samples, is added once a sample refers to it. */
void perf_attrs_declare(struct perf *p);
void perf_attr_declare(struct perf *p, struct perf_attr *a);
void perf_attrs_done(struct perf_attrs *a);

/* A sample of which only the leaf is needed. */
struct perf_leaf_sample {
	uint64_t ip, period; /* ip: the first address that perf_stack_of() would use */
	uint32_t pid, tid, cpu;
	uint16_t attr;     /* index */
	uint8_t mode, own; /* PERF_MODE_: of ip; of the record */
};

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
	size_t sorted;
	size_t bytes; /* of the records, and of the chunks in use */
	struct perf_chunk *fill, *unused;
};

/* Reads a file into the queue's memory, so that its records need not be copied (window_room). */
struct perf_reader {
	struct perf_queue *queue;
	struct perf_chunk *chunk;  /* the one being filled; NULL: none yet */
	struct perf_chunk *passed; /* the chunk before it; NULL: none */
};
uint8_t *perf_reader_take(void *reader, size_t n, size_t *cap);
void perf_reader_done(struct perf_reader *r);
/* The chunk that contains data of the file; NULL: it is elsewhere. */
struct perf_chunk *perf_reader_chunk(const struct perf_reader *r, const uint8_t *data);

/* Keeps r->data: in r->chunk, or a copy if that is NULL. */
void perf_queue_add(struct perf_queue *q, const struct perf_record *r);
/* Delivers the records up to `limit`, oldest first, equally old ones in the order of addition:
 * deliver(arg, record). May leave them for later if few were added since the last time. */
void perf_queue_flush(struct perf_queue *q, uint64_t limit,
		      void (*deliver)(struct perf *p, const struct perf_record *r), struct perf *p);
/* Whether so many records wait that some must be flushed, whatever the limit. */
bool perf_queue_is_full(const struct perf_queue *q);
void perf_queue_done(struct perf_queue *q);

/* ---- mappings (perf_space.c) ---- */

struct perf_map {
	uint64_t start, end; /* [start, end) */
	uint64_t offset;     /* file offset of start */
	uint32_t object;     /* index into perf.objects */
	strid name; /* the one name of all its addresses (kernel symbols); 0: look up in the object
		     */
	bool is_data; /* not mapped as code; if it becomes code, it is mapped anew */
};

/* An address space: a tree of disjoint mappings. Copies share the tree until one changes. Spaces of
 * equal generation give equal answers. */
struct perf_space {
	struct perf_node *root;
	struct perf_node *before; /* mappings before exec; NULL: that call has returned */
	uint32_t after;           /* the generation after that */
	uint32_t owner;           /* id of nodes that no other space shares */
	uint32_t generation;      /* unique; changes when an earlier answer may have changed */
	bool missed;              /* a lookup found no mapping */
	bool shared;              /* a copy has the same generation */
	bool has_main;            /* its executable is known */
};

void perf_space_init(struct perf *p, struct perf_space *s);
/* Another program is executed and will map its files. Until an address in the new mappings is
 * found, the exec call is still running, and addresses are found in the old ones. */
void perf_space_exec(struct perf *p, struct perf_space *s);
void perf_space_copy(struct perf *p, struct perf_space *s, struct perf_space *from);
/* Replaces the mappings in [m.start, m.end). An object of NONE only removes them. */
void perf_space_map(struct perf *p, struct perf_space *s, struct perf_map m);
bool perf_space_find(struct perf_space *s, uint64_t addr, struct perf_map *ret);
/* The first mapping that starts at addr or above; false if there is none. */
bool perf_space_next(const struct perf_space *s, uint64_t addr, struct perf_map *ret);

/* ---- objects (perf_object.c) ---- */

struct perf_name { /* a piece of JIT code */
	uint64_t start, end;
	strid name;
	uint32_t frames; /* + 1, index in struct perf_made; 0: no call-frame information */
};

struct perf_made {
	struct perf_name *names; /* n_names, by address, disjoint */
	size_t n_names;
	struct perf_made_frames { /* call-frame information of the code at its creation */
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
	bool by_address; /* frames have run-time addresses: kernel, JIT */
	bool is_loaded;
	uint32_t symbols; /* of the data, if the file is not available (perf_symbols.c); NONE: none
			   */
	struct object_segment *segments; /* PT_LOAD of the file, if it is available */
	size_t n_segments;
	struct perf_made made;
	const char *dump; /* the jitdump of the process whose memory it represents; NULL: none */
	/* owned by perf_dwarf.c */
	bool has_table; /* the table was looked for */
	struct unwind_table *table;
	struct object_file *file;
};

enum perf_mapped { PERF_MAP_CODE, PERF_MAP_DATA, PERF_MAP_KERNEL };
/* Index of the object mapped with that path into a process. */
uint32_t perf_object_add(struct perf *p, const char *path, const char *build_id, uint32_t pid,
			 enum perf_mapped as);
/* Whether the path of a mapping means anonymous memory, by perf's rule. */
bool perf_is_anonymous(const char *path);
/* The path of the object for JIT code: its names are there, by convention. */
const char *perf_jit_path(struct perf *p, uint32_t pid);
/* The kernel's build id. If the file has none (perf record -z, or through a pipe), that of the
 * running kernel, if host and release match and its code begins at the same address. Else "". */
const char *perf_kernel_build_id(struct perf *p, const char *path, uint64_t text);
/* The names of JIT code if the object represents that; NULL: it does not. */
const struct perf_made *perf_object_made(struct perf *p, uint32_t object);
/* The frame of an address within a mapping. */
struct frame perf_object_frame(struct perf *p, const struct perf_map *m, uint64_t ip);
/* The bias (run-time minus link-time address) at an address. */
uint64_t perf_object_bias(struct perf *p, const struct perf_map *m, uint64_t ip);
/* Adds a doubt that something could not be read: its consequence, and the reason. Frees the error.
 */
void perf_unread(struct perf *p, const char *what, struct kin_error *err);
/* Opens the object's file; NULL if there is none or, with build_id, it is another build. */
struct object_file *perf_object_open(struct perf *p, const struct perf_object *o,
				     const char *build_id);
void perf_object_add_build_id(struct perf *p, const char *path, const uint8_t *id, size_t size);
/* The kernel's function at the address; NULL: not known, or the file is of another kernel. */
const char *perf_kernel_function(struct perf *p, uint64_t addr, uint64_t *start);
void perf_objects_done(struct perf *p);

/* Reads names of JIT code from /tmp/perf-PID.map and the jitdump (perf_jit.c). Either may be NULL
 * or missing. */
struct perf_made perf_jit_read(struct perf *p, const char *map, const char *dump);
void perf_made_free(struct perf_made *made);
/* The piece at the address; NULL: none. */
const struct perf_name *perf_made_at(const struct perf_made *made, uint64_t addr);

/* ---- functions in the data (perf_symbols.c) ---- */

struct perf_symbols { /* of one file */
	uint32_t kind;
	uint64_t addr, offset;       /* link-time address at an offset in the file */
	VEC(struct perf_name) names; /* by address, disjoint */
};

/* Reads simpleperf's feature FILE, or FILE2, whose lists are messages. False: it is damaged. */
bool perf_symbols_read(struct perf *p, struct bytes b, bool is_message);
/* An index into p->symbols; NONE: the data has no functions of the file with that path. */
uint32_t perf_symbols_find(struct perf *p, const char *path);
/* The function at a mapped address, which is *addr in the file; 0: none is known. */
strid perf_symbols_name(const struct perf *p, uint32_t symbols, const struct perf_map *m,
			uint64_t ip, uint64_t *addr);
void perf_symbols_done(struct perf *p);

/* ---- processes and threads (perf_tasks.c) ---- */

struct perf_process {
	uint32_t pid;
	bool is_new; /* another program was executed: its mappings replace the old ones */
	struct perf_space space;
};

struct perf_thread {
	uint32_t tid, process; /* process: index */
	const char *comm;
	bool is_nameless;      /* called ":TID", as by perf */
	taskid task;           /* 0: not in the profile yet */
	stackid stack;         /* the last known stack of user code */
	uint64_t start, end;   /* 0: not known */
	uint64_t in, out;      /* time since when it runs, or does not; 0: not known */
	bool preempted;        /* when it was switched out */
	uint64_t cgroup_inode; /* of its cgroup namespace; 0: not known */
	uint32_t cgroup_device;
};

struct perf_named { /* a name that a thread had for some time */
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
void perf_tasks_finish(struct perf *p); /* Call it when no name changes any more. */
void perf_tasks_done(struct perf *p);

/* ---- stacks (perf_stacks.c) ---- */

enum { PERF_CHAIN_MAX = 8192 }; /* the most that fits a record */

enum { PERF_STACK_MAX = PERF_CHAIN_MAX + 1024 };

struct perf_chain {        /* a stack as recorded by the kernel */
	uint64_t ip;       /* address of the sample, which may be more precise; 0: not known */
	const uint8_t *at; /* n addresses, leaf first, with markers (PERF_CONTEXT_) among them */
	size_t n;
	unsigned mode; /* PERF_MODE_: of ip, and of addresses up to the first marker */
};

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

struct perf_hash { /* hash of a stack's frames, from the root on */
	uint64_t hash;
	uint32_t check;
};

static inline struct perf_hash perf_hash_add(struct perf_hash h, uint64_t x)
{
	uint64_t a = (h.hash ^ x) * 0x9e3779b97f4a7c15u, b = (h.check ^ x) * 0xd6e8feb86659fd93u;
	return (struct perf_hash){ a ^ a >> 29, (uint32_t)(b >> 32 ^ b) };
}

/* A stack that is not in the profile yet; valid until the next call. */
struct perf_frames {
	const frameid *at; /* n, root first */
	size_t n;
	struct perf_hash hash, callers; /* callers: of all frames except the leaf */
};

/* A thread's last stack. The common part of the next one, from the root on, needs no lookup. */
struct perf_last {
	size_t n;
	frameid frames[PERF_STACK_MAX]; /* root first */
	union {                         /* of the stacks up to each frame */
		stackid ids[PERF_STACK_MAX];
		struct perf_hash hashes[PERF_STACK_MAX]; /* in last_of_sums */
	};
	uint8_t modes[PERF_STACK_MAX]; /* as in perf_frame_now */
	/* The chain that it was made of; n_words 0: none. */
	size_t n_words;
	uint64_t words[PERF_CHAIN_MAX];         /* at the end */
	uint16_t frames_in[PERF_CHAIN_MAX + 1]; /* [n]: number of frames in the last n words, if the
						   first of these words is a frame; else 0 */
	uint32_t user, kernel, guest;           /* generations of the address spaces */
};

struct perf_frame_now { /* a frame of the stack just made */
	frameid frame;
	uint16_t n_words; /* length of the chain from this frame's word to the end; 0: not from the
			     chain */
	uint8_t mode;     /* PERF_MODE_, and whether it is a return address */
};

struct perf_chains {
	struct perf_known *known; /* recently seen chains */
	uint32_t looked, found,
		rest; /* statistics of lookups; samples until chains are looked up again */
	struct perf_frame *frames; /* recently seen addresses */
	uint32_t generation;       /* generation of the user space of the last chain */
	/* The stack just made, leaf first; its first n_kernel frames are the kernel's. */
	struct perf_frame_now now[PERF_STACK_MAX];
	size_t n_kernel;
	struct perf_last last[PERF_LASTS];         /* by thread */
	struct perf_last last_of_sums[PERF_LASTS]; /* for perf_stack_frames() */
	VEC(stackid) leaves; /* [frame]: the stack of that frame alone; 0: not made yet */
	VEC(frameid) alike;  /* [frame]: the frame used in its place; 0: not looked up yet */
};

void perf_stacks_init(struct perf *p);
struct perf_stack perf_stack_of(struct perf *p, struct perf_space *space, const struct perf_attr *a,
				const struct perf_sample *s);
/* The same from the sample's chain only, if the stack is not added to the profile. */
struct perf_frames perf_stack_frames(struct perf *p, struct perf_space *space,
				     const struct perf_sample *s);
/* A hint that the sample's chain is needed soon; the record itself must be in the cache already. */
void perf_stack_prefetch(const struct perf *p, const struct perf_record *r);
/* Whether the stack comes from the chain alone, and is complete. */
bool perf_stack_is_of_chain(const struct perf *p, const struct perf_sample *s);
/* The mode of addresses after a marker (PERF_CONTEXT_). */
unsigned perf_mode_of_marker(uint64_t marker, unsigned mode);
/* The stack of a single address. */
stackid perf_stack_leaf(struct perf *p, struct perf_space *user, unsigned mode, uint64_t ip);
/* The stack of n_above frames, leaf first, called from the `n` addresses of user code. */
stackid perf_stack_join(struct perf *p, struct perf_space *space, const uint8_t *chain, size_t n,
			const frameid *above, size_t n_above);
/* The frame of a single address: user code if something is mapped there, otherwise the kernel's. */
frameid perf_frame_at(struct perf *p, struct perf_space *user, uint64_t ip);
void perf_stacks_done(struct perf *p);

/* The address space of a mode's addresses; NULL: none is known. */
struct perf_space *perf_space_of(struct perf *p, struct perf_space *user, unsigned mode);

/* ---- leaves (perf_leaves.c) ---- */

struct perf_leaf;

/* Sums a sample into the table if it has an entry there. False if not: once the sample is in the
 * profile, perf_leaf_keep() adds an entry with its number. */
bool perf_leaf_add(struct perf *p, const struct perf_leaf_sample *s, const struct perf_space *space,
		   taskid task, uint16_t event);
void perf_leaf_keep(struct perf *p, const struct perf_leaf_sample *s,
		    const struct perf_space *space, const struct sample *x, size_t sample);
/* False: finding the leaf takes more than the first addresses of its chain, or the record is
 * damaged. */
bool perf_leaf_parse(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
		     size_t size, struct perf_leaf_sample *ret);
/* A hint that perf_leaf_add() follows soon. */
void perf_leaf_prefetch(const struct perf *p, const struct perf_leaf_sample *s);
void perf_leaves_start(struct perf *p);
/* Adds the sums to the profile's samples. */
void perf_leaves_finish(struct perf *p);

/* ---- sums of samples without times (perf_sums.c) ---- */

void perf_sums_start(struct perf *p, uint64_t file_size);
/* x: the sample without its stack. It may be added to the profile later: */
void perf_sums_add(struct perf *p, uint32_t tid, const struct perf_frames *frames,
		   const struct sample *x);
void perf_sums_settle(struct perf *p); /* adds all to the profile now */
void perf_sums_done(struct perf *p);

/* ---- details (perf_details.c) ---- */

struct perf_details {
	bool wanted;
	bool cpu_state; /* registers and branches, too */
	enum input_branches branches;
	bool by_branch;    /* samples are branches; valid once it is known */
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
/* The attributes of a sample; 0: none. */
detailid perf_details_of(struct perf *p, struct perf_space *space, const struct perf_attr *a,
			 const struct perf_thread *t, const struct perf_sample *s);
/* The i-th branch: its target as a stack of its own, and the rest as a detail. */
stackid perf_details_branch(struct perf *p, struct perf_space *space, const struct perf_thread *t,
			    const struct perf_sample *s, size_t i, detailid *detail);
void perf_details_done(struct perf *p);

/* ---- trace points (perf_trace.c) ---- */

struct trace_points;

struct perf_traces {
	bool wanted;
	struct trace_points *points; /* NULL: not described */
	FILE *out;                   /* the text being printed */
	char *text;
	size_t size;
};

/* Reads the feature TRACING_DATA, or the data after the record of that name. */
void perf_traces_read(struct perf *p, struct bytes b);
/* The fields of a sample as text; 0: it has none, or their format is unknown. */
strid perf_traces_text(struct perf *p, const struct perf_attr *a, const struct perf_sample *s);
void perf_traces_done(struct perf_traces *t);

/* ---- stack dumps (perf_dwarf.c) ---- */

/* The machine that data was recorded on, which defines the samples' registers; NULL: not known. */
const struct machine *perf_machine_of(const struct perf *p, const struct perf_attr *a);

struct perf_dwarf;
/* Walks a stack: addresses of user code, leaf first; returns how many. *w says what they are, and
 * whether the walk reached the thread's start. */
size_t perf_dwarf_walk(struct perf *p, struct perf_space *space, const struct perf_attr *a,
		       const struct perf_sample *s, uint64_t *pcs, size_t max,
		       struct unwind_walk *w);
/* Says, too, what of the object's file could not be read meanwhile. */
void perf_dwarf_object_done(struct perf *p, struct perf_object *o);
void perf_dwarf_done(struct perf_dwarf *d); /* NULL is fine */

/* ---- records in turn (perf_machine.c) ---- */

struct perf_waiting { /* waits for the rest of its stack, or behind such a sample */
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
	size_t n_deferred;              /* number of those with a deferred stack */
	uint64_t first_time, last_time; /* of samples; 0: none */
	uint64_t lost_records, lost_samples;
	uint64_t undelivered; /* samples whose deferred stack never came */
	/* Records of kinds that are not known, and the first such kind. */
	uint64_t n_unknown;
	uint32_t unknown_kind;
	int64_t running;   /* number of running threads, by the switches */
	bool has_switches; /* threads stop where they were last seen: so their stacks are kept */
	bool is_cpu_wide;  /* the switches are of all threads on a CPU, recorded or not */
	bool has_off_cpu;  /* the next two are events of the profile */
	uint16_t blocked, runnable;
	const struct machine *walked; /* the machine of stack dumps */
	detailid detail;              /* of the current sample */
};

/* Notes a record of a kind that is not known. */
void perf_machine_note_unknown(struct perf *p, uint32_t kind);
void perf_machine_deliver(struct perf *p, const struct perf_record *r);
void perf_machine_finish(struct perf *p);

/* ---- one file being read ---- */

struct perf;
struct perf_record;

/* Callbacks that see a file as it is read, instead of a profile being made. */
struct perf_watcher {
	bool only_header; /* no records are delivered */
	/* The header of a file, before its features. */
	void (*file)(struct perf *p, uint64_t data, uint64_t size);
	/* A feature; a record in file order; a record in time order. */
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
	struct strtab *strings; /* interns paths and build ids */
	struct perf_attrs attrs;
	struct perf_queue queue;
	struct map64 build_ids; /* path -> build id, both in strings */
	struct map64 object_ids;
	VEC(struct perf_object) objects;
	struct map64 symbols_of; /* path in strings -> index */
	VEC(struct perf_symbols) symbols;
	bool kernel_asked;           /* names of the kernel were looked for */
	struct kernel *kernel_names; /* NULL: those of the running one are of another */
	struct map64 process_ids, thread_ids;
	VEC(struct perf_process) processes;
	VEC(struct perf_thread) threads;
	VEC(struct perf_named) named;
	uint32_t last_thread; /* index of the one looked up last; the newest with its tid */
	struct perf_space kernel, guest_kernel;
	uint32_t n_owners, n_generations;
	uint64_t n_nodes;
	struct perf_chains chains;
	struct input_needs needs;
	struct perf_sums *sums;   /* NULL: samples have times, or no callers */
	struct perf_leaf *leaves; /* NULL: samples are not summed, or have callers */
	struct perf_dwarf *dwarf;
	struct perf_machine machine;
	struct perf_details details;
	struct perf_traces traces;
	struct perf_watcher
		*watcher;  /* NULL: a profile is made; otherwise it gets the file's contents */
	unsigned n_cpus;   /* 0: not known */
	bool leaves_only;  /* ignore callers */
	bool other_host;   /* the file was recorded on another machine: its files are not here */
	bool own_kernel;   /* the running kernel has the recorded release */
	bool is_directory; /* the records are in files beside this one */
	char machine_name[16]; /* "x86_64" */
	bool told_machine;     /* reported that its stacks cannot be walked */
	uint64_t end;          /* of what the header says where it is */
	struct kin_error *err; /* the first error */
};

/* Says that another file begins at an offset, unless there was an error. */
void perf_another(struct perf *p, uint64_t offset);
/* Notes damage at an offset; the first counts. */
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

/* ---- header information (perf_features.c, perf_records.c) ---- */

void perf_feature(struct perf *p, unsigned feature, struct bytes data);
void perf_build_id_record(struct perf *p, struct bytes record);

/* Reads all records in [start, end) of a file, and those in files beside it. */
void perf_records_read(struct perf *p, struct window *w, uint64_t end);

#endif

/* format.h - the .kin file: what the collection runtime and "kin record" write.
 *
 * A file is a header page and blocks. It is valid from the first instant and at every prefix: there
 * is no index and no footer, and its writer may die at any time. It has two kinds of writers:
 *
 * - the runtime, inside the profiled process, maps the file shared and counts *in place*: a block
 *   of counters is reserved once, and its numbers are valid at any instant (KINF_ARCS, KINF_STACKS,
 *   KINF_COUNTS, KINF_THREADS, ...). Addresses there are those of the running process; KINF_MODULES
 *   says what was mapped where, and when.
 * - the recorder, outside of it, appends *sealed* blocks of interned, delta-coded, compressed
 *   records (KINF_STREAM), at least one a second.
 *
 * Host byte order; everything is 8-byte aligned. A reader compares every size with the bytes that
 * are left, and skips blocks of unknown types with a warning. This is the only header that runtime/
 * and src/ share. */
#ifndef KIN_FORMAT_H
#define KIN_FORMAT_H

#include <stdint.h>

#define KINF_MAGIC   0x0a0d464e494b0089ull /* bytes 89 00 "KINF" CR LF, in memory order */
#define KINF_VERSION 1u
#define KINF_PAGE    4096u /* size of the header; blocks of the runtime start at multiples of 64 */

/* ---- header: the first KINF_PAGE bytes ---- */

enum kinf_writer { KINF_BY_RUNTIME = 1, KINF_BY_RECORDER = 2, KINF_BY_TOOL = 3 /* kin merge */ };

enum kinf_end { /* how the process, or the recording, ended */
		KINF_RUNNING =
			0, /* not at all, as far as the file knows: still running, or killed */
		KINF_EXITED = 1,         /* exit(), or return from main */
		KINF_EXITED_AT_ONCE = 2, /* _exit(), quick_exit() */
		KINF_SIGNALLED = 3,      /* of end_detail, a signal number */
		KINF_EXECED = 4,         /* became another program; that one has its own file */
		KINF_STOPPED = 5,        /* recorder: orderly */
};

/* Kinds of data that were not collected. All are counts; reports show those that are not 0. */
enum kinf_loss {
	KINF_LOST_ARCS,    /* calls not counted: no memory or disk space */
	KINF_LOST_SAMPLES, /* dropped by the kernel or the recorder */
	KINF_LOST_STACKS,  /* samples kept with only their program counter */
	KINF_LOST_BLOCKS,  /* executions of basic blocks */
	KINF_LOST_THREADS, /* threads without tables of their own */
	KINF_LOST_MODULES, /* mapped objects that are missing from the list */
	KINF_THROTTLED,    /* times the kernel throttled sampling */
	KINF_TRUNCATED,    /* stacks that could not be walked to their end */
	KINF_N_LOSSES = 16 /* room for more */
};

struct kinf_header {
	uint64_t magic;
	uint32_t version; /* a reader refuses a larger one */
	uint32_t page;    /* KINF_PAGE */
	uint32_t writer;  /* enum kinf_writer */
	uint32_t pid, ppid;
	uint32_t end;        /* enum kinf_end; written last */
	uint64_t end_detail; /* exit status or signal; KINF_EXECED: KINF_EXEC_* */
	uint64_t size; /* bytes of the file in use, including blocks: a reader stops there; 0: up to
			  the end of the file. Updated atomically */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end_ns is 0 while running */
	uint64_t start_time_ns;    /* CLOCK_REALTIME at start_ns */
	uint64_t cpu_ns; /* the process's CPU time, by the kernel's clock; updated now and then */
	uint64_t sampled_ns; /* the part of cpu_ns that samples represent */
	uint64_t period_ns;  /* requested time between samples; 0: no sampling */
	uint64_t losses[KINF_N_LOSSES];
	uint32_t sealed;      /* 1: every block has its checksum */
	uint32_t machine;     /* e_machine of ELF */
	char error[240];      /* the first error, in words; NUL-terminated; or "" */
	uint32_t crc;         /* sealed: CRC-32C of the whole page, with 0 here; else 0 */
	uint32_t rank, ranks; /* the process's rank in a parallel job, plus 1; number of ranks; 0:
				 not known */
	char job[64];         /* id of the job; NUL-terminated; or "" */
	uint32_t hook_ps;     /* picoseconds that counting adds to a call, measured when the first
				 call was counted; 0: not known */
	uint64_t hooks_start, hooks_end; /* run-time addresses of the code that counts calls,
					    [start, end); 0: not known */
	char became[256]; /* KINF_EXECED: the program, as passed to exec; NUL-terminated, may be
			     truncated; or "" */
	uint64_t own_start, own_end; /* run-time addresses of the runtime's code, [start, end); 0:
					not known */
	char reserved[];             /* zero, up to page */
};
/* Where a gmon.out of the runtime identifies its run: start_time_ns and pid of the run's .kin file.
 * The format leaves these bytes unused, and other writers leave them 0. */
#define KINF_GMON_RUN    8u
#define KINF_GMON_HEADER 20u

/* The runtime was preloaded, but the environment passed to exec lacks it. */
#define KINF_EXEC_WITHOUT 1u

/* ---- blocks ---- */

enum kinf_type {
	KINF_END = 0,  /* unused space from here on (a block that was reserved and never filled). A
			  hole in the middle of a file is a KINF_INFO block with no bytes used */
	KINF_INFO = 1, /* text: "key=value" lines: exe, cwd, command (NUL -> space), host, ... */
	KINF_MODULES = 2,            /* struct kinf_module, one after the other */
	KINF_THREADS = 3,            /* struct kinf_thread, one after the other */
	KINF_ARCS = 4,               /* struct kinf_arc[]: unused where to == 0 */
	KINF_RETIRED_ARCS = 5,       /* struct kinf_retired_arc[]: arcs of unmapped modules */
	KINF_STACKS = 6,             /* struct kinf_stack, one after the other */
	KINF_COUNTS = 7,             /* struct kinf_counts: executions of basic blocks */
	KINF_LATENCIES = 8,          /* struct kinf_latency, one after the other */
	KINF_STREAM = 9,             /* records, see below; sealed */
	KINF_RETIRED_COUNTS = 10,    /* struct kinf_retired_count[]: counts of unmapped modules */
	KINF_RETIRED_LATENCIES = 11, /* struct kinf_retired_latency[] */
	KINF_NAMES = 12,             /* names of sampled code, see below; sealed */
	KINF_MADE = 13,              /* struct kinf_made, one after the other */
	KINF_CALLS = 14,             /* struct kinf_call[]: an open-addressing table of arcs */
	KINF_TWICE = 15,             /* struct kinf_call[]: arcs to ignore, see there */
	KINF_N_TYPES
};

enum kinf_block_flags {
	KINF_SEALED = 1, /* the block does not change any more; crc is that of the stored payload */
	KINF_ZSTD = 2,   /* the payload is one zstd frame; `used` is its compressed size */
};

/* In the runtime's "options" in KINF_INFO, after "run=ID": the number of the repetition, from 0, if
 * the program is run several times. */
#define KINF_REPETITION ",repetition="

#define KINF_BLOCK_MAGIC 0x4b4c424bu /* "KBLK" */

struct kinf_block {
	uint32_t magic;  /* KINF_BLOCK_MAGIC; written last: until then the block does not exist */
	uint32_t type;   /* enum kinf_type */
	uint64_t size;   /* size of the whole block, a multiple of 8: the next one starts there */
	uint64_t used;   /* bytes of payload in use; grows */
	uint32_t thread; /* index of the struct kinf_thread that the block belongs to; 0: none */
	uint32_t flags;  /* enum kinf_block_flags */
	uint32_t crc;    /* CRC-32C of payload[0..used), when sealed */
	uint32_t plain_size; /* KINF_ZSTD: bytes when unpacked; else 0 */
	uint64_t own[3];     /* for the writer only; the payload starts at a cache line */
	uint8_t payload[];
};

/* An ELF file mapped into the process. Variable size; path and build id follow, each padded to 8.
 * Epochs count the times that modules were unmapped: a run-time address in a record of epoch e
 * belongs to the module with mapped_at <= e < unmapped_at. */
struct kinf_module {
	uint32_t size;       /* size of the whole record, a multiple of 8; written last; 0: no more
				records */
	uint32_t id;         /* 1.. */
	uint64_t start, end; /* run-time addresses, [start, end) */
	uint64_t bias;       /* run-time address minus link-time address */
	uint32_t mapped_at, unmapped_at;   /* epochs; unmapped_at is UINT32_MAX while mapped */
	uint32_t flags;                    /* KINF_MODULE_* */
	uint16_t path_size, build_id_size; /* bytes, without padding; the path has no NUL */
};
#define KINF_MODULE_MAIN 1u /* the executable */
#define KINF_MODULE_VDSO 2u
#define KINF_MODULE_MADE 4u /* JIT code, which has no file, or the jitdump that describes it */

struct kinf_thread {
	uint32_t index; /* 1.. in order of appearance; written last; 0: no more records */
	uint32_t tid;
	char name[16];             /* NUL-terminated; as last seen */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end_ns is 0 while it lives */
	uint64_t cpu_ns;           /* by the thread's own clock, when last read */
	uint64_t sampled_ns;       /* the part of cpu_ns that samples represent */
	uint64_t samples;
	uint64_t losses[4]; /* as in the header, the first four */
};

struct kinf_arc {       /* calls from one call site to one function, made by one thread */
	uint64_t from;  /* return address: the byte after the call; 0: not known */
	uint64_t to;    /* an address within the callee, at its entry; 0: unused slot */
	uint64_t count; /* 0: ignore the entry. One pair may have several slots and blocks, even of
			   one thread: their counts add up */
	uint64_t unused;
};

/* An arc in half the space, for addresses of 48 bits. The part of a count beyond 32 bits is in a
 * KINF_ARCS block of the same thread. */
struct kinf_call {
	uint64_t key;     /* `from`, and above it the low 16 bits of `to`; KINF_CALL_TAKEN and less:
			     ignore the entry */
	uint32_t to_high; /* bits 16 to 47 of `to` */
	uint32_t count;   /* low 32 bits of the count; 0: ignore the entry */
};
/* Functions compiled with both -pg and -finstrument-functions count each call twice: along an arc
 * to the function's entry, and along one to an address after the entry. The latter arcs are listed
 * in KINF_TWICE blocks, with a count of 1. Ignore their calls in other blocks. */
#define KINF_CALL_GONE  1u /* key: the entry's calls were moved away */
#define KINF_CALL_TAKEN 2u /* key: the entry is being written */
#define KINF_CALL_BITS  48u

static inline uint64_t kinf_call_key(uint64_t from, uint64_t to)
{
	return from | to << KINF_CALL_BITS;
}

/* The return address; all 48 bits set: the caller is not known. */
static inline uint64_t kinf_call_from(const struct kinf_call *c)
{
	return c->key & (((uint64_t)1 << KINF_CALL_BITS) - 1);
}

static inline uint64_t kinf_call_to(const struct kinf_call *c)
{
	return (uint64_t)c->to_high << 16 | c->key >> KINF_CALL_BITS;
}

struct kinf_retired_arc { /* addresses are link-time addresses within modules */
	uint64_t from, to, count;
	uint32_t from_module, to_module; /* ids; 0: the address is still the run-time address */
};

/* Samples with the same stack, leaf first: pc[0] is the sampled address, the others are return
 * addresses. */
struct kinf_stack {
	uint32_t depth; /* written last; 0: no more records */
	uint32_t epoch;
	uint16_t end;       /* enum kinf_stack_end */
	uint16_t doubtful;  /* index of the first frame found by guessing; 0: none was guessed */
	uint32_t hash;      /* for the writer only */
	uint64_t count;     /* samples */
	uint64_t weight_ns; /* CPU time that the samples represent, by the thread's clock */
	uint64_t pc[];      /* `depth` addresses, some with KINF_PC_INTERRUPTED */
};
/* In an address of a stack, but never the first: a signal interrupted the program exactly there,
 * and the frame before it is the code by which the signal's handler returns. */
#define KINF_PC_INTERRUPTED ((uint64_t)1 << 63)
/* Leaf only: callers were not requested. In files of kin 0.1.0 also: none were found; those files
 * count each such sample in KINF_LOST_STACKS. */
enum kinf_stack_end { KINF_STACK_LEAF_ONLY, KINF_STACK_COMPLETE, KINF_STACK_CUT };

/* Names JIT code at run-time addresses. Written by the process that started the program, once the
 * program has ended. Python functions have addresses from KINF_PYTHON to KINF_PYTHON_END, where no
 * memory is mapped; the runtime writes their names when it first meets them. Variable size: the
 * name follows, without NUL, padded to 8. */
#define KINF_PYTHON     0x1000u
#define KINF_PYTHON_END 0x10000u
struct kinf_made {
	uint32_t size;       /* size of the whole record, a multiple of 8 */
	uint32_t name_size;  /* bytes, without padding */
	uint64_t start, end; /* [start, end) */
};

/* Executions of basic blocks: pairs of address and count. The block is identified by the return
 * address of its call of a hook, a run-time address. Earlier versions of the runtime wrote them. A
 * pair with address 0 is unused. */
struct kinf_counts {
	struct kinf_count {
		uint64_t addr, count;
	} at[1];
};

/* Durations of calls along an arc, in log-linear buckets. Bucket i < 16 is i ns; then 8 buckets per
 * power of two: bucket 16 + 8 * (e - 4) + m holds [2^e * (1 + m/8), 2^e * (1 + (m+1)/8)) ns. */
#define KINF_LATENCY_BUCKETS 304u /* up to 2^40 ns */
struct kinf_latency {
	uint64_t from, to; /* as in struct kinf_arc; to == 0: unused */
	uint64_t count, sum_ns, min_ns, max_ns;
	uint64_t probes_ns; /* measuring cost that was subtracted from these calls: their own, and
			       that of all calls below them */
	uint32_t bucket[KINF_LATENCY_BUCKETS]; /* saturate at the largest value */
};

struct kinf_retired_count { /* addr is a link-time address within the module; count 0: unused */
	uint64_t addr, count;
	uint32_t module, unused;
};

struct kinf_retired_latency { /* addresses as in struct kinf_retired_arc */
	uint32_t from_module, to_module;
	struct kinf_latency of;
};

/* ---- KINF_STREAM: the recorder's records ----
 *
 * After unpacking, a sequence of records, each a byte (enum kinf_record) and fields. A field is an
 * unsigned LEB128 number unless it says otherwise; "signed" is zigzag; "text" is a length and that
 * many bytes. Ids are given out from 1 in the order of the defining records, over the whole file;
 * 0 means none. A frame is defined before the stack that uses it, and so on: a reader goes through
 * the file once. The time base is reset to 0 in each block, so a damaged block affects only itself
 * and samples elsewhere that use ids defined in it; those are counted as lost. */
enum kinf_record {
	KINF_R_MODULE = 1, /* kind (enum kinf_module_kind, + KINF_KIND_MAIN), path text, build id
			      text (raw bytes) */
	KINF_R_FRAME = 2,  /* module, address in it (link-time), name (string id or 0), flags */
	KINF_R_STACK = 3,  /* caller's stack, frame */
	KINF_R_TASK = 4,   /* pid, tid, run, comm text */
	KINF_R_EVENT = 5,  /* unit (enum kinf_unit), name text, period or frequency, flags; with
			      KINF_EVENT_MORE: period, group */
	KINF_R_STRING = 6, /* text */
	KINF_R_SAMPLE = 7, /* event, task, stack, cpu + 1, time - last time (signed), weight, mode
			      (of KINF_MODE_*); with KINF_MODE_SUM: count, parallelism */
	KINF_R_SWITCH = 8, /* task, cpu + 1, time - last time (signed), what (enum kinf_switch) */
	KINF_R_TASK_END =
		9,          /* task, time - last time (signed), cpu ns, status of wait() + 1 or 0 */
	KINF_R_LOSS = 10,   /* enum kinf_loss, number lost, in addition to the header's */
	KINF_R_UNWIND = 11, /* module, number of stacks that could not be walked beyond it: audit */
	KINF_R_INFO = 12,   /* text "key=value" */
	KINF_R_FIRST_ID =
		13, /* kind of definition (record number), id of the next such definition: if blocks
		       can be lost, each block starts with these. An id smaller than expected
		       invalidates all definitions with that id or a larger one */

	/* Further records that "kin merge" writes (a recorder writes a KINF_R_AUDIT, too): all
	 * addresses are link-time addresses in modules. */
	KINF_R_ARC = 14, /* module, address of the call (within it, not behind), module, address in
			    the callee, task or 0: sum over all, count */
	KINF_R_COUNT = 15,     /* executions of a basic block: module, address, count */
	KINF_R_LATENCY = 16,   /* module, address of the call, module, address in the callee, count,
				  sum ns, min ns, max ns; non-empty buckets: how many, then for each
				  its number - the previous number, and its count */
	KINF_R_HISTOGRAM = 17, /* module, low, high, bins, rate, dimension text, abbreviation;
				  non-empty bins, as above */
	KINF_R_TASK_TIMES = 18, /* task, start ns, end ns, cpu ns, sampled ns */
	/* Trace points, as written by a recorder. */
	KINF_R_TRACE_FORMAT = 20, /* event, the kernel's description of its fields: text */
	KINF_R_TRACE_FIELDS =
		21, /* fields of the preceding sample as the kernel wrote them, text */
	KINF_R_TRACE_FUNCTION = 22, /* an address that occurs in fields, start of the kernel's
				       function there, its name: text */

	KINF_R_TRACE_STRINGS = 29, /* constant texts of the kernel that fields point to, as in its
				      file printk_formats: text */

	KINF_R_HEADER = 23, /* text: the final struct kinf_header of a file that was written to a
			       pipe, whose own header has neither size nor end */

	/* A task of one rank of a parallel job: rank, then the fields of KINF_R_TASK, whose ids it
	 * shares. Only merged files need it: in others the header has the rank of all tasks. */
	KINF_R_RANK_TASK = 26,
	/* In a file that sums ranks: the ranks. Number of ranges, and for each the first rank - the
	 * last rank of the previous range, number of ranks - 1. */
	KINF_R_RANKS = 27,
	/* Differences between ranks: enum kinf_spread, event (string, 0 for calls), unit (enum
	 * kinf_unit), the caller and the function (each 0: none; else 1, or 3 if only its inlined
	 * instances count; module, its start address or 0, name string); number of ranks with more
	 * than 0, the sum and the sum of squares (each 64 low bits, 64 high bits), minimum, the
	 * lowest rank with it, maximum, the lowest rank with it. */
	KINF_R_SPREAD = 28,

	/* Latencies and trace points in a merged file. */
	KINF_R_PROBES = 24, /* module, address of the call, module, address in the callee, measuring
			       cost in ns that was subtracted from the sum */
	KINF_R_TRACE_TEXT = 25, /* fields of the preceding sample, text */

	KINF_R_MARKER = 30, /* time - last time (signed), name text: an event that a user marked */

	KINF_R_AUDIT = 19, /* number of values, then that many: enum kinf_audit. In a merged file
			      losses are here and not in the header */

	/* Attributes of the preceding sample, after the fields of its trace point. Text: a bit mask
	 * of the enum kinf_detail present, then the numbers of each, in this order. Values unknown
	 * to a reader come after all that it knows. */
	KINF_R_DETAILS = 31,
};
enum kinf_detail {              /* numeric attributes of a sample */
		   KINF_D_ADDR, /* run-time address of the data; a frame there or 0 */
		   KINF_D_PHYS_ADDR,
		   KINF_D_DATA_SRC, /* perf_mem_data_src of the kernel */
		   KINF_D_WEIGHT, /* cost by the CPU of the access, of the whole instruction, and of
				     a pipeline stage: cycles */
		   KINF_D_TRANSACTION, /* PERF_TXN_ flags and the abort code */
		   KINF_D_DATA_PAGE,   /* page size in bytes; 0: not known */
		   KINF_D_CODE_PAGE,
		   KINF_D_CGROUP,    /* path: a string */
		   KINF_D_NAMESPACE, /* of the control group: device, inode */
		   KINF_D_REGISTERS, /* registers when the sample was taken: names ("AX BX", a
					string), PERF_SAMPLE_REGS_ABI_, mask of the names present,
					and the value of each of those */
		   KINF_D_BRANCHES, /* branches before the sample, the last one first: how many, and
				       for each from, to, flags of perf_branch_entry, and a frame or
				       0 for both addresses */
		   KINF_N_DETAILS
};
enum kinf_audit {
	KINF_AUDIT_LOST,
	KINF_AUDIT_THROTTLED,
	KINF_AUDIT_TRUNCATED,
	KINF_AUDIT_COMPLETE,
	KINF_AUDIT_UNRESOLVED,
	KINF_AUDIT_SWITCHES,
	KINF_AUDIT_PREEMPTIONS,
	KINF_AUDIT_CPU_NS,
	KINF_AUDIT_SAMPLED_NS,
	KINF_AUDIT_DURATION_NS,
	KINF_AUDIT_LOST_ARCS,
	KINF_AUDIT_LOST_BLOCKS,
	KINF_AUDIT_LOST_THREADS,
	KINF_AUDIT_LOST_MODULES,
	KINF_AUDIT_SATURATED, /* 1: some sum exceeds 64 bits */
	KINF_AUDIT_GUESSED,
	KINF_AUDIT_HOOKS_NS, /* calls times hook_ps, in ns */
	KINF_AUDIT_BEYOND,   /* those of TRUNCATED with KINF_MODE_BEYOND */
	KINF_AUDIT_CHECKED,  /* stacks that were walked in two ways: by tables, by frame pointers */
	KINF_AUDIT_CONTRADICTED, /* those of CHECKED for which these differ */
	KINF_N_AUDIT
};
enum kinf_spread {                        /* values compared between ranks */
		   KINF_SPREAD_ALL,       /* rank: all its time */
		   KINF_SPREAD_WORK,      /* rank: time outside of MPI calls */
		   KINF_SPREAD_MPI,       /* rank: time in MPI calls */
		   KINF_SPREAD_SELF,      /* function: self time */
		   KINF_SPREAD_OWN_WORK,  /* function: self time, not on behalf of MPI */
		   KINF_SPREAD_INCLUSIVE, /* function: inclusive time */
		   KINF_SPREAD_CALLS,     /* function: counted calls */
		   KINF_SPREAD_ARC,       /* arc: inclusive time of the function under that caller
					   */
		   KINF_SPREAD_ARC_CALLS, /* arc: counted calls */
		   KINF_N_SPREADS
};
enum kinf_module_kind {
	KINF_ELF,
	KINF_KERNEL,
	KINF_KERNEL_MODULE,
	KINF_VDSO,
	KINF_JIT,
	KINF_OTHER
};
enum kinf_unit { KINF_COUNT_UNIT, KINF_NS };
enum kinf_switch { KINF_SWITCH_IN, KINF_SWITCH_OUT, KINF_SWITCH_PREEMPTED, KINF_SWITCH_WOKEN };
#define KINF_FRAME_RETURN     1u /* flags: the address is a return address */
#define KINF_FRAME_KERNEL     2u
#define KINF_FRAME_GUEST      4u
#define KINF_FRAME_HYPERVISOR 8u
#define KINF_FRAME_GUESSED    16u  /* found by a heuristic, not by call-frame information */
#define KINF_FRAME_INLINED    32u  /* `name` was inlined into the frame before it */
#define KINF_FRAME_MARK       64u  /* not a frame but a note about the stack, by its name: [cut] */
#define KINF_FRAME_HOOK       128u /* code of the runtime that counts calls */
#define KINF_FRAME_SIGNAL     512u /* code by which a signal's handler returns to its caller */
#define KINF_MODE_KERNEL      2u   /* mode of the leaf, as for frames */
#define KINF_MODE_GUEST       4u
#define KINF_MODE_HYPERVISOR  8u
#define KINF_MODE_CUT         64u  /* the stack could not be walked to its end */
#define KINF_MODE_COMPLETE    128u /* the stack was walked to its end */
#define KINF_MODE_SUM         256u
#define KINF_MODE_GUESSED     512u  /* walked to an end, but some callers are guessed */
#define KINF_MODE_BEYOND      1024u /* with _CUT: it goes beyond what the kernel copied of it */
#define KINF_KIND_MAIN        64u   /* the executable of a process */
#define KINF_EVENT_OFF_CPU    1u    /* weights are time not spent on a CPU: blocked */
#define KINF_EVENT_WAITING    2u    /* ... runnable, but waiting for a CPU */
#define KINF_EVENT_FREQUENCY  4u    /* the number is samples per second, not a period */
#define KINF_EVENT_MORE       8u
#define KINF_EVENT_TRACE      16u /* a trace point: samples have fields */
#define KINF_EVENT_ASSEMBLED  32u /* stacks are assembled from measured calls */

/* ---- KINF_NAMES: names of sampled code ----
 *
 * Written at the end of a recording, *behind* the `size` of the header: measured data does not
 * change, and readers that do not know names ignore them. Each block is self-contained: records as
 * in KINF_STREAM, with the fields below. Addresses are link-time addresses. Records after a
 * KINF_N_OBJECT belong to that object; other blocks may continue it. Differences are to the
 * previous entry of the same record; for the first, to 0.
 *
 * A "string" is a number: 0 for none, the number of an earlier string of the block (counted from
 * 1), or the next unused number, followed by the text of the new string. */
enum kinf_name_record {
	KINF_N_OBJECT =
		1, /* flags (enum kinf_object_flags), e_machine, path string, build id in
		      hexadecimal string; size and time of the file in bytes and ns since 1970 (to
		      distinguish builds without an id); start and size of .text, and of the range
		      that mcount's runtime covers; number of functions in it */
	KINF_N_SYMBOLS =
		2, /* how many; each: address - last address (signed), size, name string, flags
		      (enum kinf_symbol_flags), address - address of the function that it was split
		      from (signed), position in the symbol table - last (signed) */
	KINF_N_ALIASES = 3, /* how many; each: address - last address (signed), name string */
	KINF_N_LINES = 4, /* how many; each: address - end of the last (signed), size, file string,
			     line - last line (signed), function string */
	KINF_N_INLINES = 5, /* how many; each: address - last address (signed), depth (larger:
			       further in), name string; read only */
	KINF_N_CODE = 6,    /* address, bytes text: instructions */
	KINF_N_SOURCE = 7,  /* path string as in debug information, path string where it was found;
			       text: the next KINF_SOURCE_PIECE bytes of that source file; only the
			       last piece of a file is smaller */
	KINF_N_CALLED = 8,  /* as KINF_N_INLINES; each further: where it is called, file string
			       and line - last line (signed) */
	KINF_N_TAIL_CALLS = 9, /* how many; each: where a call returns to - last (signed), that -
				  the start of the function that runs (signed), number of jumps on
				  the way from the function called (0: not known; KINF_N_NO_WAY:
				  it does not lead there), the address of
				  each - last (signed; of the first: - where the call returns to) */
};
enum { KINF_N_NO_WAY = 255 };
enum kinf_object_flags {
	KINF_N_64BIT = 1,
	KINF_N_BIG_ENDIAN = 2,
	KINF_N_HAS_LINES = 4, /* it had line information, whether or not any of it was sampled */
	KINF_N_HAS_CODE = 8,  /* all code of the functions is here ("kin pack") */
	KINF_N_HAS_TAIL_CALLS = 32, /* all tail calls on stacks are here */
};
enum kinf_symbol_flags {
	KINF_N_FUNCTION = 1,
	KINF_N_STATIC = 2,
	KINF_N_WEAK = 4,
	KINF_N_PLT = 8,       /* an entry of the procedure linkage table */
	KINF_N_COLD = 16,     /* a split part of another function */
	KINF_N_NAMELESS = 32, /* known only from call-frame information */
};
#define KINF_SOURCE_PIECE (1u << 20)

_Static_assert(sizeof(struct kinf_header) <= KINF_PAGE, "file format");
_Static_assert(sizeof(struct kinf_block) == 64, "file format");
_Static_assert(sizeof(struct kinf_module) == 48, "file format");
_Static_assert(sizeof(struct kinf_thread) == 96, "file format");
_Static_assert(sizeof(struct kinf_arc) == 32, "file format");
_Static_assert(sizeof(struct kinf_call) == 16, "file format");
_Static_assert(sizeof(struct kinf_retired_arc) == 32, "file format");
_Static_assert(sizeof(struct kinf_retired_count) == 24, "file format");
_Static_assert(sizeof(struct kinf_stack) == 32, "file format");
_Static_assert(sizeof(struct kinf_latency) == 56 + 4 * KINF_LATENCY_BUCKETS, "file format");

#endif

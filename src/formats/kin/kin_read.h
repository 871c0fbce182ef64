/* kin_read.h - declarations shared by the files that read .kin files: kin.c iterates over the
 * blocks, kin_tables.c reads the runtime's tables, kin_stream.c the recorder's records. */
#ifndef INPUT_KIN_READ_H
#define INPUT_KIN_READ_H

#include "base/map64.h"
#include "base/vec.h"
#include "input/input.h"
#include "input/window.h"
#include "kin/format.h"

struct kinfile_module {
	uint64_t start, end, bias;
	uint32_t mapped_at, unmapped_at, id;
	objid object;
};

/* Mappings and when they existed. */
struct kinfile_modules {
	VEC(struct kinfile_module) at; /* by start and time, once sorted */
	struct map64 by_id;            /* id -> object */
	bool sorted;
};

struct kinfile_made { /* a piece of JIT code */
	uint64_t start, end;
	strid name;
};

/* File ids of one kind of definition. They ascend without gaps, except where data was damaged. */
struct kinfile_ids {
	VEC(struct kinfile_stretch {
		uint32_t first; /* id */
		uint32_t at;    /* index of its value in `values`; further values follow */
	})
	stretches;
	VEC(uint32_t) values; /* ids in the profile, or NONE: unknown */
	uint32_t next;        /* id of the next definition */
};

struct kinfile {
	struct window *w;
	struct profile_builder *into;
	struct source *source;
	bool calls_alone;      /* the program was recorded without samples */
	uint64_t end;          /* offset of the end of the blocks */
	struct kin_error *err; /* the first error; reading goes on */
	struct kinfile_modules modules;
	VEC(struct kinfile_made) made; /* by start, disjoint */
	struct map64 threads;          /* index in the file -> task */
	VEC(struct kinf_call) twice;   /* arcs counted twice; sorted when needed */
	bool twice_sorted;
	struct kinfile_ids ids[KINF_R_STRING + 1];
	struct kinfile_traces *traces; /* kin_trace.c; NULL: fields of trace points are skipped */
	bool details;                  /* read details except registers and branches; */
	bool cpu_state;                /* read these, too */
	bool by_branch;                /* each branch taken before a sample becomes a sample; ... */
	bool by_first;                 /* ... if the first sample has branches: not known yet */
	bool stacks_only;              /* ignore the recorder's samples */
	bool leaves_only;              /* ignore callers in the recorder's stacks */
	VEC(stackid)
	leaves; /* with leaves_only, [frame]: the stack of that frame alone; 0: not made yet; NONE:
		   keeps its caller, because it is a note about that */
	uint16_t event; /* event of the runtime's samples, once has_event */
	bool has_event;
	bool has_task;                  /* there is a task, maybe without a sample */
	struct kept *kept;              /* names; NULL: none yet */
	struct spread_set *spreads;     /* differences between ranks; NULL: none yet */
	uint64_t first_ns, last_ns;     /* range of records' times; 0: none */
	uint64_t seen_sampled_ns;       /* weights of samples on a CPU, in ns */
	uint64_t threads_cpu_ns;        /* CPU time of the threads in the table of the runtime */
	uint32_t run;                   /* repetition of the program, from 0 */
	uint64_t calls;                 /* counted by the runtime */
	uint64_t switches, preemptions; /* numbers of their records; not used if */
	bool has_switches;              /* a record has the totals */
	struct kinf_header
		header; /* last member: bytes after a file's header are not read into it */
};

struct kinfile_block { /* the block being read */
	uint64_t at;   /* offset of the header */
	uint64_t used; /* bytes of payload in the file */
	struct kinf_block head;
};

/* Notes an error at an offset, unless there was one before: FORMAT, "file: damaged at offset 0x...:
 * what". */
void kinfile_damaged(struct kinfile *f, uint64_t offset, const char *what);

/* kin_tables.c: each reads a payload, which starts at w->b.pos. */
void kinfile_read_modules(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_made(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_threads(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_info(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_arcs(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_calls(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_twice(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_retired(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_stacks(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_counts(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_latencies(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_retired_counts(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_retired_latencies(struct kinfile *f, const struct kinfile_block *b);
void kinfile_add_fact(struct kinfile *f, const char *text, size_t n); /* "key=value" */
/* Defines the event of the runtime's samples if a program used CPU time but has no samples. */
void kinfile_note_unsampled(struct kinfile *f);

/* kin_modules.c */
enum { KIN_NOW = -1 }; /* as an epoch: what is mapped now, or was last */
/* The object of a run-time address, which is converted to a link-time address; object 0 if there is
 * none. */
objid kinfile_module_place(struct kinfile_modules *m, uint64_t *addr, uint32_t epoch);

/* kin_stream.c: reads the records of an unpacked block; `at` is the block's offset, for messages.
 */
void kinfile_read_records(struct kinfile *f, const uint8_t *plain, size_t n, uint64_t at);

/* kin_names.c: reads a block of names; and finishes after the last one. */
void kinfile_read_names(struct kinfile *f, const uint8_t *plain, size_t n, uint64_t at);
void kinfile_names_done(struct kinfile *f);

/* kin_ids.c */
/* The next definition gets this id; existing ones with this id or a larger one are forgotten. */
void kinfile_ids_continue(struct kinfile_ids *ids, uint32_t first);
void kinfile_ids_add(struct kinfile_ids *ids, uint32_t value);
/* The profile's id; 0 for 0, NONE if unknown. */
uint32_t kinfile_ids_find(const struct kinfile_ids *ids, uint32_t id);
void kinfile_ids_free(struct kinfile_ids *ids);

#endif

/* kin_read.h - what the files that read .kin files share: kin.c walks through the blocks,
 * kin_tables.c reads those that the runtime counts in, kin_stream.c the recorder's records. */
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

/* What was mapped where, and when. */
struct kinfile_modules {
	VEC(struct kinfile_module) at; /* by start and time, once sorted */
	struct map64 by_id;            /* object */
	bool sorted;
};

struct kinfile_made { /* a piece of code made at run time */
	uint64_t start, end;
	strid name;
};

/* Ids in the file of one kind of definition. They come in order, but for what damage took away. */
struct kinfile_ids {
	VEC(struct kinfile_stretch {
		uint32_t first; /* id */
		uint32_t at;    /* index into values of it; the others follow */
	})
	stretches;
	VEC(uint32_t) values; /* the profile's id, or NONE: of something that is not known */
	uint32_t next;        /* id of the next definition */
};

struct kinfile {
	struct window *w;
	struct profile_builder *into;
	struct source *source;
	uint64_t end;          /* of the blocks: offset */
	struct kin_error *err; /* the first; reading goes on */
	struct kinfile_modules modules;
	VEC(struct kinfile_made) made; /* by start; they do not overlap */
	struct map64 threads;          /* index in the file: task */
	struct kinfile_ids ids[KINF_R_STRING + 1];
	struct kinfile_traces
		*traces;  /* kin_trace.c; NULL: fields of trace points are passed over */
	bool details;     /* of samples: all but registers and branches; */
	bool cpu_state;   /* and these */
	bool leaves_only; /* of the recorder's stacks the callers are not looked at */
	VEC(stackid)
	leaves;         /* with that, [frame]: the stack of it alone; 0: not made yet; NONE: it
			 * goes with its caller, as it says something of that */
	uint16_t event; /* of the runtime's samples, once has_event */
	bool has_event;
	struct kept *kept;          /* names; NULL: none so far */
	struct spread_set *spreads; /* over ranks; NULL: none so far */
	uint64_t first_ns, last_ns; /* times of records; 0: none */
	uint64_t seen_sampled_ns;   /* weights of samples on a CPU, in ns */
	struct kinf_header header;  /* last: what follows it in a file does not here */
};

struct kinfile_block { /* one that is being read */
	uint64_t at;   /* offset of the header */
	uint64_t used; /* bytes of payload that are there */
	struct kinf_block head;
};

/* Notes an error at an offset, unless there was one before: FORMAT, "file: damaged at offset 0x...:
 * what". */
void kinfile_damaged(struct kinfile *f, uint64_t offset, const char *what);

/* kin_tables.c: each from w->b.pos on, where the payload starts. */
void kinfile_read_modules(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_made(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_threads(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_info(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_arcs(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_retired(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_stacks(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_counts(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_latencies(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_retired_counts(struct kinfile *f, const struct kinfile_block *b);
void kinfile_read_retired_latencies(struct kinfile *f, const struct kinfile_block *b);
void kinfile_add_fact(struct kinfile *f, const char *text, size_t n); /* "key=value" */
/* Defines the event of which there should have been samples, where a program used CPU time. */
void kinfile_note_unsampled(struct kinfile *f);

/* kin_modules.c */
enum { KIN_NOW = -1 }; /* as an epoch: what is mapped, or was last */
/* The object of a run-time address, which becomes a link-time address; object 0 if there is none.
 */
objid kinfile_module_place(struct kinfile_modules *m, uint64_t *addr, uint32_t epoch);

/* kin_stream.c: the records of an unpacked block; `at` is the block's offset, for messages. */
void kinfile_read_records(struct kinfile *f, const uint8_t *plain, size_t n, uint64_t at);

/* kin_names.c: the same of a block of names; and when all were read. */
void kinfile_read_names(struct kinfile *f, const uint8_t *plain, size_t n, uint64_t at);
void kinfile_names_done(struct kinfile *f);

/* kin_ids.c */
/* The next definition gets this id; those from it on, if there are any, are no more. */
void kinfile_ids_continue(struct kinfile_ids *ids, uint32_t first);
void kinfile_ids_add(struct kinfile_ids *ids, uint32_t value);
/* The profile's id; 0 for 0, NONE if it is not known. */
uint32_t kinfile_ids_find(const struct kinfile_ids *ids, uint32_t id);
void kinfile_ids_free(struct kinfile_ids *ids);

#endif

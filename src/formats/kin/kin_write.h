/* kin_write.h - incremental writer of .kin files (kin/format.h), for recorders.
 *
 *	kinfile_writer_open("prog.kin", &opts, &w);
 *	sample.task = kinfile_writer_task(w, pid, tid, 0, "prog");
 *	sample.stack = kinfile_writer_stack(w, &stack);
 *	kinfile_writer_sample(w, &sample, KINF_MODE_COMPLETE, NULL);    ... for each
 *	err = kinfile_writer_tick(w, now_ns);        ... several times a second
 *	err = kinfile_writer_close(w, KINF_STOPPED, 0, now_ns);
 *
 * Records are encoded at once into a buffer. Full buffers, and those older than a second, are
 * compressed and appended as one sealed block with one write, after which the header is updated.
 * The file is valid at every instant; a killed recorder loses the records since the last block.
 *
 * Adding cannot fail. After a failed write (no space, file gone) the file stays as it was after the
 * last good block, further records are counted as lost, and kinfile_writer_tick() and _close()
 * return the error.
 *
 * A writer may be used by one thread at a time. */
#ifndef INPUT_KIN_WRITE_H
#define INPUT_KIN_WRITE_H

#include "base/base.h"
#include "kin/format.h"
#include "profile/detail.h"
#include "profile/profile_samples.h"

struct kept;
struct kin_error;
struct kinfile_writer;
struct profile;

struct kinfile_writer_opts {
	enum kinf_writer writer;
	uint32_t pid, ppid;     /* of the recorded process; 0: several, or not known */
	uint32_t machine;       /* e_machine of ELF */
	uint64_t start_ns;      /* CLOCK_MONOTONIC, which is the clock of records, too */
	uint64_t start_time_ns; /* CLOCK_REALTIME at that time */
	uint64_t period_ns;     /* requested time between samples; 0: none, or not by time */
	uint32_t rank, ranks;   /* rank + 1 and number of ranks of a parallel job; 0: not known */
	const char *job;        /* id of the job; NULL: not known */
	int level;              /* zstd level; 0: 1 */
	size_t memory; /* bytes for interned data, roughly; 0: 64 MiB, or 2 MiB if nothing is
			  written */
};

/* Creates a file of mode 0600 with a valid header. An existing file is replaced only if it is
 * regular and empty or a .kin file; processes that are reading the old one keep it unchanged. */
MUST_CHECK struct kin_error *kinfile_writer_open(const char *path,
						 const struct kinfile_writer_opts *opts,
						 struct kinfile_writer **ret);
/* Writes into a pipe, which is closed at the end. */
MUST_CHECK struct kin_error *kinfile_writer_to_pipe(int fd, const struct kinfile_writer_opts *opts,
						    struct kinfile_writer **ret);
/* A writer that assigns ids and writes nothing, for recorders that keep no file. */
struct kinfile_writer *kinfile_writer_to_nowhere(const struct kinfile_writer_opts *opts);

/* ---- definitions: each returns an id for use with this writer; 0 means none ---- */

/* Equal modules have equal ids, for as long as the writer lives. build_id: n raw bytes, or NULL. */
uint32_t kinfile_writer_module(struct kinfile_writer *w, enum kinf_module_kind kind, bool is_main,
			       const char *path, const void *build_id, size_t n);
/* A thread while it has one name: add a new one after exec and prctl. Each call makes a new task.
 */
uint32_t kinfile_writer_task(struct kinfile_writer *w, uint32_t pid, uint32_t tid, uint32_t run,
			     const char *comm);
/* The same for a rank of a parallel job (rank + 1; 0: none), in a file of several ranks. */
uint32_t kinfile_writer_task_of(struct kinfile_writer *w, uint32_t rank, uint32_t pid, uint32_t tid,
				uint32_t run, const char *comm);
/* flags: KINF_EVENT_*; `rate` is a frequency with KINF_EVENT_FREQUENCY, else a period. */
uint32_t kinfile_writer_event(struct kinfile_writer *w, const char *name, enum kinf_unit unit,
			      uint64_t rate, uint32_t flags);
/* Sets the kernel's description of a trace point's fields. */
void kinfile_writer_trace_format(struct kinfile_writer *w, uint32_t event, const char *text);
void kinfile_writer_trace_strings(struct kinfile_writer *w, const char *text);
/* Adds the kernel function at an address that some sample's fields contain. */
void kinfile_writer_trace_function(struct kinfile_writer *w, uint64_t addr, uint64_t start,
				   const char *name);
/* For names of frames. Equal strings have equal ids, until kinfile_writer_tick() says that they
 * were forgotten. A NUL ends the string. */
uint32_t kinfile_writer_string(struct kinfile_writer *w, const char *s, size_t n);

/* ---- measured data ---- */

struct kinfile_frame {
	uint64_t addr;   /* link-time address in the module */
	uint32_t module; /* 0: addr is a run-time address */
	uint32_t name;   /* string id if the name is not in the module's file: the kernel, JIT */
	uint32_t flags;  /* KINF_FRAME_* */
};

struct kinfile_stack {
	const struct kinfile_frame *frames; /* leaf first */
	size_t n_frames;
	uint32_t caller; /* the stack that called the last of frames[]; 0: none */
	uint32_t *ids;   /* set to the stacks from the outermost of frames[] to the leaf; or NULL */
};

/* What a sample may have besides its numbers and its stack. */
struct kinfile_beside {
	const uint8_t *fields; /* fields of a trace point; NULL: none */
	size_t n_fields;
	/* Attributes, with frames and strings of the file; NULL: none. */
	const struct detail *details;
	const uint64_t *words; /* for its registers and branches */
};

/* A frame that a sample's details refer to. Equal frames have equal ids until kinfile_writer_tick()
 * reports that strings were forgotten. */
uint32_t kinfile_writer_frame(struct kinfile_writer *w, const struct kinfile_frame *f);
/* Equal stacks have equal ids until kinfile_writer_tick() reports that strings were forgotten. 0:
 * there are no frames, or a write has failed; `ids` are then not set. */
uint32_t kinfile_writer_stack(struct kinfile_writer *w, const struct kinfile_stack *s);
/* Event, task and stack of the sample are ids of this writer, and its source is not written.
 * `end`: KINF_MODE_COMPLETE, _GUESSED or _CUT; 0: not known. `beside` may be NULL. */
void kinfile_writer_sample(struct kinfile_writer *w, const struct sample *s, uint32_t end,
			   const struct kinfile_beside *beside);
/* Whether that stack, which came with an earlier sample, may still be the caller of others. */
bool kinfile_writer_knows_stack(const struct kinfile_writer *w, uint32_t stack);
void kinfile_writer_switch(struct kinfile_writer *w, uint32_t task, uint32_t cpu, uint64_t time_ns,
			   enum kinf_switch what);
/* status: as of wait(), or -1. The id must not be used any more. */
void kinfile_writer_task_end(struct kinfile_writer *w, uint32_t task, uint64_t time_ns,
			     uint64_t cpu_ns, int status);
void kinfile_writer_lost(struct kinfile_writer *w, enum kinf_loss what, uint64_t n);
/* Counts stacks that could not be walked beyond a frame of the module. */
void kinfile_writer_unwind_failed(struct kinfile_writer *w, uint32_t module, uint64_t n);
/* Adds n to a count that the header has no place for: KINF_AUDIT_SWITCHES and _PREEMPTIONS, of all
 * threads together beyond the calls of kinfile_writer_switch(), _CHECKED and _CONTRADICTED. */
void kinfile_writer_count(struct kinfile_writer *w, enum kinf_audit what, uint64_t n);
/* Adds a named moment. */
void kinfile_writer_marker(struct kinfile_writer *w, uint64_t time_ns, const char *name);
/* "key=value": exe, cwd, command, host, ... */
void kinfile_writer_info(struct kinfile_writer *w, const char *key, const char *value);
/* Sets totals so far, for the header: CPU time by the kernel's accounting, and the part that
 * samples represent. */
void kinfile_writer_clock(struct kinfile_writer *w, uint64_t cpu_ns, uint64_t sampled_ns);

/* ---- the file ---- */

/* Writes records older than 0.6 seconds. To be called a few times a second, even if nothing
 * happens. Sets *forgot, if not NULL, to whether strings were forgotten: their ids stay good in the
 * file, but equal strings get new ones. That happens only here, when interned data exceeds its
 * memory. */
MUST_CHECK struct kin_error *kinfile_writer_tick(struct kinfile_writer *w, uint64_t now_ns,
						 bool *forgot);
/* Writes all records so far. */
MUST_CHECK struct kin_error *kinfile_writer_flush(struct kinfile_writer *w);
uint64_t kinfile_writer_size(const struct kinfile_writer *w); /* bytes so far */
uint64_t kinfile_writer_samples(
	const struct kinfile_writer *w); /* added so far, without lost ones; 0 to nowhere */
/* Ends the recording; consumes w, even on failure. */
MUST_CHECK struct kin_error *kinfile_writer_close(struct kinfile_writer *w, enum kinf_end end,
						  uint64_t end_detail, uint64_t end_ns);
/* Frees the writer without an end, as if killed: for a child of fork(), which must not write its
 * parent's file. NULL is fine. */
void kinfile_writer_abandon(struct kinfile_writer *w);

/* Why names cannot be appended to that file; NULL: they can. */
MUST_CHECK struct kin_error *kinfile_names_check(const char *path);
/* Appends names to a finished recording, replacing earlier ones; *n is their size in bytes. `to`
 * NULL: changes the file; otherwise writes a copy. Fails without changing the file if it is no .kin
 * file, or is being written. */
MUST_CHECK struct kin_error *kinfile_names_put(const char *path, const char *to,
					       const struct kept *k, uint64_t *n);

/* An error if a living recorder or process is writing the file of that name. */
MUST_CHECK struct kin_error *kinfile_file_check_busy(const char *path);

/* Reads from the header whether a file is a .kin file, its rank and job, and its end. */
struct kinfile_rank {
	uint32_t rank, ranks; /* rank + 1; 0: no job */
	uint32_t writer;      /* enum kinf_writer */
	char job[64];
	bool unfinished; /* the writer has not finished it */
	int signal;      /* the signal that killed the program; 0: none */
	int status;      /* exit status of the program; -1: not known, or it did not exit */
};
bool kinfile_rank_of(const char *path, struct kinfile_rank *ret);

/* ---- a whole profile ---- */

/* Writes a whole profile as one .kin file, atomically. Equal profiles (profile_canonical) give
 * equal bytes. `names`: appended; NULL: none. */
MUST_CHECK struct kin_error *kinfile_write_profile(const char *path, const struct profile *p,
						   const struct kept *names);

/* What went wrong while the file was recorded, to be freed; NULL: nothing. The runtime writes the
 * system's errors as numbers: "gmon.out: error 40". */
char *kinfile_trouble(const struct kinf_header *h);

#endif

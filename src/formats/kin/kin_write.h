/* kin_write.h - .kin files (kin/format.h) as they grow: the recorder's pen.
 *
 *	kinfile_writer_open("prog.kin", &opts, &w);
 *	task = kinfile_writer_task(w, pid, tid, 0, "prog");
 *	kinfile_writer_sample(w, &sample);           ... for each
 *	err = kinfile_writer_tick(w, now_ns);        ... several times a second
 *	err = kinfile_writer_close(w, KINF_STOPPED, 0, now_ns);
 *
 * What is added is encoded at once into a buffer; full buffers, and those older than a second, are
 * compressed and appended as one sealed block with one write, after which the header says so. The
 * file is valid at every instant; who is killed loses what was added since the last block.
 *
 * Adding cannot fail. When a write has failed (no space, no file any more) the file stays as it was
 * after the last good block, what is added from then on is counted as lost, and
 *kinfile_writer_tick() and _close() return the error.
 *
 * Not to be used by several threads at once. */
#ifndef INPUT_KIN_WRITE_H
#define INPUT_KIN_WRITE_H

#include "base/base.h"
#include "kin/format.h"
#include "profile/detail.h"

struct kept;
struct kin_error;
struct kinfile_writer;
struct profile;

struct kinfile_writer_opts {
	enum kinf_writer writer;
	uint32_t pid, ppid;     /* of the process that is recorded; 0: several, or not known */
	uint32_t machine;       /* e_machine of ELF */
	uint64_t start_ns;      /* CLOCK_MONOTONIC; what times of records are on, too */
	uint64_t start_time_ns; /* CLOCK_REALTIME at that time */
	uint64_t period_ns;     /* asked for between samples; 0: none, or not in time */
	uint32_t rank, ranks;   /* of a parallel job: rank + 1, how many; 0: not known */
	const char *job;        /* what tells it from others; NULL: not known */
	int level;              /* of compression, as zstd counts; 0: 1 */
	size_t memory; /* for what is interned, in bytes, about; 0: 64 MiB, or 2 to nowhere */
};

/* A new file, of mode 0600, with a valid header. One that is there is replaced only if it is an
 * ordinary file that is empty or a .kin file, and is not shared with anybody who is reading the old
 * one: that stays as it is for them. */
MUST_CHECK struct kin_error *kinfile_writer_open(const char *path,
						 const struct kinfile_writer_opts *opts,
						 struct kinfile_writer **ret);
/* Into a pipe, which is closed at the end. */
MUST_CHECK struct kin_error *kinfile_writer_to_pipe(int fd, const struct kinfile_writer_opts *opts,
						    struct kinfile_writer **ret);
/* One that gives ids and writes nowhere: for who records, but keeps no file. */
struct kinfile_writer *kinfile_writer_to_nowhere(const struct kinfile_writer_opts *opts);

/* ---- definitions: each returns an id for use with this writer; 0 stands for none ---- */

/* Equal ones have equal ids, for as long as the writer lives. build_id: n raw bytes, or NULL. */
uint32_t kinfile_writer_module(struct kinfile_writer *w, enum kinf_module_kind kind, bool is_main,
			       const char *path, const void *build_id, size_t n);
/* A thread while it has one name: a new one after exec and prctl. Each call makes a new one. */
uint32_t kinfile_writer_task(struct kinfile_writer *w, uint32_t pid, uint32_t tid, uint32_t run,
			     const char *comm);
/* The same, of a rank of a parallel job (rank + 1; 0: of none), in a file of several ranks. */
uint32_t kinfile_writer_task_of(struct kinfile_writer *w, uint32_t rank, uint32_t pid, uint32_t tid,
				uint32_t run, const char *comm);
/* flags: KINF_EVENT_*; `rate` is a frequency with KINF_EVENT_FREQUENCY, else a period. */
uint32_t kinfile_writer_event(struct kinfile_writer *w, const char *name, enum kinf_unit unit,
			      uint64_t rate, uint32_t flags);
/* Of a trace point: the kernel's description of its fields. */
void kinfile_writer_trace_format(struct kinfile_writer *w, uint32_t event, const char *text);
/* The kernel's function at an address that stands in the fields of some sample. */
void kinfile_writer_trace_function(struct kinfile_writer *w, uint64_t addr, uint64_t start,
				   const char *name);
/* Equal ones have equal ids, until kinfile_writer_tick() says that they were forgotten. For names
 * of frames. A NUL ends it. */
uint32_t kinfile_writer_string(struct kinfile_writer *w, const char *s, size_t n);

/* ---- what happened ---- */

struct kinfile_frame {
	uint64_t addr;   /* link-time address in the module */
	uint32_t module; /* 0: addr is one of the process */
	uint32_t name;   /* string id if the name is not in the module's file: the kernel, JIT */
	uint32_t flags;  /* KINF_FRAME_* */
};

struct kinfile_sample {
	uint32_t event, task;
	uint32_t cpu;         /* UINT32_MAX: not known */
	uint32_t mode;        /* KINF_MODE_* but KINF_MODE_SUM */
	uint16_t parallelism; /* threads that ran at that time; 0: not known */
	uint64_t time_ns;
	uint64_t weight;                    /* in the event's unit */
	const struct kinfile_frame *frames; /* leaf first */
	size_t n_frames;
	const uint8_t *fields; /* of a trace point; NULL: none */
	size_t n_fields;
	/* What it says beside its stack, with the file's frames and strings; NULL: nothing. */
	const struct detail *details;
	const uint64_t *words; /* of its registers and branches */
};

/* Of a place that a sample's details name; equal ones have equal ids until kinfile_writer_tick()
 * says that strings were forgotten. */
uint32_t kinfile_writer_frame(struct kinfile_writer *w, const struct kinfile_frame *f);
void kinfile_writer_sample(struct kinfile_writer *w, const struct kinfile_sample *s);
void kinfile_writer_switch(struct kinfile_writer *w, uint32_t task, uint32_t cpu, uint64_t time_ns,
			   enum kinf_switch what);
/* status: as of wait(), or -1. The id is not to be used any more. */
void kinfile_writer_task_end(struct kinfile_writer *w, uint32_t task, uint64_t time_ns,
			     uint64_t cpu_ns, int status);
void kinfile_writer_lost(struct kinfile_writer *w, enum kinf_loss what, uint64_t n);
/* Stacks that could not be walked beyond a frame of the module. */
void kinfile_writer_unwind_failed(struct kinfile_writer *w, uint32_t module, uint64_t n);
/* Of all threads together: how often they left a CPU, and how often they had to. Added to what
 * kinfile_writer_switch() says. */
void kinfile_writer_switches(struct kinfile_writer *w, uint64_t switches, uint64_t preemptions);
/* What somebody says happened then. */
void kinfile_writer_marker(struct kinfile_writer *w, uint64_t time_ns, const char *name);
/* "key=value": exe, cwd, command, host, ... */
void kinfile_writer_info(struct kinfile_writer *w, const char *key, const char *value);
/* Totals so far, for the header: CPU time by the kernel's accounting, and what samples stand for.
 */
void kinfile_writer_clock(struct kinfile_writer *w, uint64_t cpu_ns, uint64_t sampled_ns);

/* ---- the file ---- */

/* Commits what is older than 0.6 seconds. To be called a few times a second, also when nothing
 * happens. Sets *forgot, if not NULL, to whether ids of strings are not valid any more, which
 * happens here alone, when what is interned takes more memory than it may. */
MUST_CHECK struct kin_error *kinfile_writer_tick(struct kinfile_writer *w, uint64_t now_ns,
						 bool *forgot);
/* Commits what there is. */
MUST_CHECK struct kin_error *kinfile_writer_flush(struct kinfile_writer *w);
uint64_t kinfile_writer_size(const struct kinfile_writer *w);    /* of the file so far, in bytes */
uint64_t kinfile_writer_samples(const struct kinfile_writer *w); /* added so far and not lost */
/* The end of the recording; consumes w, also on failure. */
MUST_CHECK struct kin_error *kinfile_writer_close(struct kinfile_writer *w, enum kinf_end end,
						  uint64_t end_detail, uint64_t end_ns);
/* Without an end, as if killed: for a child of fork(), which must not write what is its parent's.
 * NULL is fine. */
void kinfile_writer_abandon(struct kinfile_writer *w);

/* Why that file can have no names put behind it; NULL: it can. */
MUST_CHECK struct kin_error *kinfile_names_check(const char *path);
/* Puts names behind a recording that has ended, in place of those that it has; *n bytes of them.
 * `to` NULL: in that file, else in a copy. Fails, and leaves the file as it was, if it is no .kin
 * file, or is being written. */
MUST_CHECK struct kin_error *kinfile_names_put(const char *path, const char *to,
					       const struct kept *k, uint64_t *n);

/* An error, which says so, if a living recorder or process writes the file of that name. */
MUST_CHECK struct kin_error *kinfile_file_check_busy(const char *path);

/* Of a file, without reading the rest of it: whether it is a .kin file, of which rank of which job.
 */
struct kinfile_rank {
	uint32_t rank, ranks; /* rank + 1; 0: of no job */
	char job[64];
	bool unfinished; /* its writer has not ended it */
	int signal;      /* that killed the program; 0: none */
};
bool kinfile_rank_of(const char *path, struct kinfile_rank *ret);

/* ---- a whole profile ---- */

/* All of a profile as one .kin file, which appears whole or not at all. Profiles that hold the same
 * (profile_canonical) give the same bytes. `names`: what follows it; NULL: nothing. */
MUST_CHECK struct kin_error *kinfile_write_profile(const char *path, const struct profile *p,
						   const struct kept *names);

#endif

/* recording.h - adds names to samples and writes them into the .kin file.
 *
 * Names of the kernel and of JIT code go into the file. Names of JIT code may become known later
 * than the sample: a limited number of such samples wait, and are written without names if none
 * come. */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "formats/kin/kin_write.h"
#include "object/kernel.h"
#include "record/jit.h"
#include "record/record.h"
#include "record/spaces.h"
#include "record/unwinding.h"

struct recording;

/* Takes ownership of w. The rest is borrowed; `watch` may be NULL. */
struct recording *recording_new(struct kinfile_writer *w, struct jit *jit, struct kernel *kernel,
				const struct record_watch *watch);

/* Keeps the most recent samples in that many bytes of memory; only recording_write_recent() writes
 * them. */
void recording_keep_recent(struct recording *r, size_t bytes);

/* The writer, for other records. */
struct kinfile_writer *recording_writer(struct recording *r);

/* Sets the kernel's description of a trace point's fields, for its event. */
void recording_trace_format(struct recording *r, uint32_t event, const char *text);

/* The id of the thread in the file, assigned at the first call. */
uint32_t recording_task(struct recording *r, struct thread *t);

/* A sample and its walked stack, with addresses of the process, before they are written to the
 * file. */
struct walked_sample {
	struct sample sample;            /* with ids of the file; the stack's is set when written */
	const struct record_event *what; /* NULL: off-CPU time, then: */
	bool waiting;                    /* waiting for a CPU; otherwise blocked */
	pid_t pid, tid;
	uint32_t run; /* repetition of the program, from 0 */
	char comm[16];
	const struct stack_frame *frames; /* leaf first */
	size_t n;
	enum stack_end end;
	/* As in struct unwound. serial 0: not known which later stacks share frames with this
	 * one. */
	uint64_t serial, same_as;
	size_t n_same, n_user;
	const uint8_t *fields; /* fields of a trace point; NULL: none */
	size_t n_fields;
	/* The sample's details other than the stack; NULL: none. */
	const struct perf_sample *details;
	/* Frames for the details: of the data address, then of source and target of each branch;
	 * NULL: none. */
	const struct stack_frame *places;
	size_t n_places;
};
void recording_sample(struct recording *r, const struct walked_sample *s);

/* To be called a few times a second. */
struct kin_error *recording_tick(struct recording *r, uint64_t now_ns)
	__attribute__((warn_unused_result));
/* Writes everything, and the audit of how stacks ended in modules; closes the file. Call
 * recording_go_on() or recording_free() next. */
struct kin_error *recording_end_file(struct recording *r, struct modules *m, enum kinf_end end,
				     uint64_t detail, uint64_t end_ns)
	__attribute__((warn_unused_result));
struct recording_samples {
	uint64_t all;     /* on a CPU or off it */
	uint64_t written; /* to finished files */
};
struct recording_samples recording_samples(const struct recording *r);
/* Drops the unfinished file, and the samples that waited. */
void recording_abandon_file(struct recording *r);
/* Goes on with another file, and takes ownership of w. Events must be defined in it again, in the
 * same order, and ids of threads requested again. */
void recording_go_on(struct recording *r, struct kinfile_writer *w, struct modules *m);
/* Writes the samples kept in memory, and drops them. Returns the sum of weights of the samples of
 * `event`. */
uint64_t recording_write_recent(struct recording *r, uint32_t event);
/* The time of the oldest sample in memory; 0: there is none. */
uint64_t recording_recent_ns(const struct recording *r);
uint64_t
recording_recent_dropped(const struct recording *r); /* samples dropped for lack of memory */
void recording_free(struct recording *r);

#endif

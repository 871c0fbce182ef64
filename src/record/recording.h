/* recording.h - samples with their names, on the way into the .kin file.
 *
 * Names of the kernel and of code made at run time go into the file; the latter may become known
 * later than the sample: such samples wait, a limited number of them, and are written without names
 * if none comes. */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "formats/kin/kin_write.h"
#include "object/kernel.h"
#include "record/jit.h"
#include "record/record.h"
#include "record/spaces.h"
#include "record/unwinding.h"

struct recording;

/* Takes over w. The rest is borrowed; `watch` may be NULL. */
struct recording *recording_new(struct kinfile_writer *w, struct jit *jit, struct kernel *kernel,
				const struct record_watch *watch);

/* The most recent samples are kept in so many bytes of memory, and are written by
 * recording_write_recent() alone. */
void recording_keep_recent(struct recording *r, size_t bytes);

/* For the rest of what the file holds. */
struct kinfile_writer *recording_writer(struct recording *r);

/* Of an event that is a trace point: its samples' fields come with this description. */
void recording_trace_format(struct recording *r, uint32_t event, const char *text);

/* The id of the thread in the file, given when it is first asked for. */
uint32_t recording_task(struct recording *r, struct thread *t);

/* A sample on its way to the file: its frames are still those of the process. */
struct recorded_sample {
	struct kinfile_sample sample;    /* without mode and frames */
	const struct record_event *what; /* NULL: time that the thread did not run: */
	bool waiting;                    /* for a CPU; else blocked */
	pid_t pid, tid;
	uint32_t run; /* of several, from 0 */
	char comm[16];
	const struct stack_frame *frames; /* leaf first */
	size_t n;
	enum stack_end end;
	struct ring_details details;
	/* Of details: at its address, then where each branch comes from and goes to; NULL: it says
	 * nothing of the kind. */
	const struct stack_frame *places;
	size_t n_places;
};
void recording_sample(struct recording *r, const struct recorded_sample *s);

/* To be called a few times a second. */
struct kin_error *recording_tick(struct recording *r, uint64_t now_ns)
	__attribute__((warn_unused_result));
/* Everything is written, and how stacks ended in modules; then the file is closed. What follows is
 * recording_go_on() or recording_free(). */
struct kin_error *recording_end_file(struct recording *r, struct modules *m, enum kinf_end end,
				     uint64_t detail, uint64_t end_ns)
	__attribute__((warn_unused_result));
/* A file without an end, with what was waiting for it; nothing of it is kept. */
void recording_abandon_file(struct recording *r);
/* With another file, which it takes over: events are to be defined in it anew, in the same order,
 * and threads asked for anew. */
void recording_go_on(struct recording *r, struct kinfile_writer *w, struct modules *m);
/* Writes the samples that were kept, and keeps them no longer; the sum of the weights of those of
 * that event. */
uint64_t recording_write_recent(struct recording *r, uint32_t event);
/* The time of the oldest one that is kept; 0: there is none. */
uint64_t recording_recent_ns(const struct recording *r);
uint64_t recording_recent_dropped(const struct recording *r); /* for want of memory */
void recording_free(struct recording *r);

#endif

/* recording.h - samples with their names, on the way into the .kin file.
 *
 * Names of the kernel and of code made at run time go into the file; the latter may become known
 * later than the sample: such samples wait, a limited number of them, and are written without names
 * if none comes. */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "input/kin_write.h"
#include "object/kernel.h"
#include "record/jit.h"
#include "record/record.h"
#include "record/spaces.h"
#include "record/unwinding.h"

struct recording;

/* Takes over w. The rest is borrowed; `watch` may be NULL. */
struct recording *recording_new(struct kin_writer *w, struct jit *jit, struct kernel *kernel,
				const struct record_watch *watch);

/* For the rest of what the file holds. */
struct kin_writer *recording_writer(struct recording *r);

/* The id of the thread in the file, given when it is first asked for. */
uint32_t recording_task(struct recording *r, struct thread *t);

struct recorded_sample {
	uint32_t event, task;
	const struct record_event *what; /* NULL: time that the thread did not run: */
	bool waiting;                    /* for a CPU; else blocked */
	pid_t pid, tid;
	char comm[16];
	uint32_t cpu;         /* UINT32_MAX: not known */
	uint16_t parallelism; /* threads that ran at that time; 0: not known */
	uint64_t time_ns, weight;
	const struct stack_frame *frames; /* leaf first */
	size_t n;
	bool cut, complete;
};
void recording_sample(struct recording *r, const struct recorded_sample *s);

/* To be called a few times a second. */
struct kin_error *recording_tick(struct recording *r, uint64_t now_ns)
	__attribute__((warn_unused_result));
/* Everything is written, and how stacks ended in modules; then the file is closed. Consumes r. */
struct kin_error *recording_close(struct recording *r, const struct modules *m, enum kinf_end end,
				  uint64_t detail, uint64_t end_ns)
	__attribute__((warn_unused_result));

#endif

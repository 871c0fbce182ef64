/* samples_builder.h - the part of a profile's builder that holds samples. */
#ifndef PROFILE_SAMPLES_BUILDER_H
#define PROFILE_SAMPLES_BUILDER_H

#include "base/map64.h"
#include "base/pairs.h"
#include "base/records.h"
#include "base/vec.h"
#include "profile/detail.h"
#include "profile/profile_samples.h"

struct stack_callees { /* of a stack: the first one, and that which was looked up last; 0: none */
	frameid first_frame, latest_frame;
	stackid first, latest;
};

struct sample_kind { /* what tells samples of one stack apart, but for times and processors */
	taskid task;
	uint32_t source;
	uint16_t event, parallelism, flags;
};

/* On its way into a sum: its place in memory is fetched while others come. */
struct coming_sample {
	struct sample x;
	uint32_t kind;
	uint32_t id; /* that it is added to; NONE: it is a new one, and there */
};

enum { SAMPLES_COMING = 16 };

struct samples_builder {
	VEC(struct frame) frames;
	struct records frame_ids;
	VEC(struct stack) stacks;
	/* [stack]; shorter than stacks where some were pushed that nobody looked for yet */
	VEC(struct stack_callees) callees;
	struct pairs stack_ids; /* (caller, frame) of all but the first callees */
	size_t pushed_max;      /* stacks from which on pushed ones are looked up, too */
	VEC(struct task) tasks;
	struct records task_ids;
	VEC(struct event) events;
	VEC(struct sample) at;
	bool sums;   /* those that differ in time and processor alone are one */
	bool is_sum; /* what was added last */
	/* With `sums`: */
	VEC(struct sample_kind) kinds;
	struct records kind_ids;
	struct pairs sample_ids;                     /* (stack, kind) */
	struct coming_sample coming[SAMPLES_COMING]; /* the i-th at i % SAMPLES_COMING */
	uint64_t n_came, n_found, n_added;           /* of these so far */
	VEC(struct detail) details;
	VEC(uint64_t) words;
	struct records detail_ids;
	VEC(detailid) detail_of; /* of the first so many samples; the others have none */
	VEC(struct task_arc) task_arcs;
	struct records task_arc_ids;
	VEC(struct latency) latencies;
	struct records latency_ids;
	VEC(struct unwind_failure) failures;
	struct map64 failure_ids; /* by object */
	VEC(struct marker) markers;
	struct audit audit;
	bool saturated;
};

/* What is none is there from the start. */
void samples_builder_init(struct samples_builder *s);
void samples_builder_done(struct samples_builder *s);

/* Gives back what is only needed to add to it. */
void samples_builder_seal(struct samples_builder *s);

/* A view into what was built; valid as long as that does not grow. */
struct samples samples_builder_view(struct samples_builder *s);

/* Adds all of `from`, whose strings and objects have the given ids in `into`, and whose sources
 * begin at first_source there. */
void samples_builder_merge(struct samples_builder *into, struct samples_builder *from,
			   const strid *strings, const objid *objects, uint32_t first_source);

frameid samples_add_frame(struct samples_builder *s, struct frame f);
stackid samples_add_stack(struct samples_builder *s, stackid caller, frameid frame);
stackid samples_push_stack(struct samples_builder *s, stackid caller, frameid frame);
taskid samples_add_task(struct samples_builder *s, struct task t);
uint16_t samples_add_event(struct samples_builder *s, struct event e);
uint64_t *samples_add_words(struct samples_builder *s, size_t n, uint64_t *at);
size_t samples_add_sample(struct samples_builder *s, struct sample x, detailid detail);
size_t samples_push_sample(struct samples_builder *s, struct sample x); /* it is no other one */
/* The same where nobody asks which it becomes. */
void samples_sum_sample(struct samples_builder *s, struct sample x, detailid detail);
void samples_add_to_sample(struct samples_builder *s, size_t sample, uint32_t count,
			   uint64_t weight);
detailid samples_add_detail(struct samples_builder *s, const struct detail *d);
void samples_set_detail(struct samples_builder *s, detailid detail);
void samples_add_task_arc(struct samples_builder *s, struct task_arc a);
void samples_add_latency(struct samples_builder *s, struct latency l);
void samples_add_failure(struct samples_builder *s, objid object, uint64_t count);
void samples_add_marker(struct samples_builder *s, struct marker m);

#endif

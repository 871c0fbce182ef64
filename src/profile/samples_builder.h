/* samples_builder.h - the part of a profile's builder that holds samples. */
#ifndef PROFILE_SAMPLES_BUILDER_H
#define PROFILE_SAMPLES_BUILDER_H

#include "base/map64.h"
#include "base/pairs.h"
#include "base/records.h"
#include "base/vec.h"
#include "profile/detail.h"
#include "profile/profile_samples.h"
#include "profile/stack_tree.h"

struct sample_kind { /* what distinguishes samples with equal stacks, besides time and processor */
	taskid task;
	uint32_t source;
	uint16_t event, parallelism, flags;
};

/* A sample about to be summed: its memory is prefetched while others come. */
struct coming_sample {
	struct sample x;
	uint32_t kind;
	uint32_t id; /* the sample to add to; NONE: this one was appended as a new sample */
};

enum { SAMPLES_COMING = 16 };

struct samples_builder {
	const struct strtab *strings;
	VEC(struct frame) frames;
	struct records frame_ids;
	struct stack_tree stacks;
	size_t pushed_max; /* from this number of stacks on, pushed stacks are looked up, too */
	VEC(struct task) tasks;
	struct records task_ids;
	VEC(struct event) events;
	VEC(struct sample) at;
	bool sums;   /* merge samples that differ only in time and processor */
	bool is_sum; /* the sample added last was merged */
	/* With `sums`: */
	VEC(struct sample_kind) kinds;
	struct records kind_ids;
	struct pairs sample_ids;                     /* (stack, kind) */
	struct coming_sample coming[SAMPLES_COMING]; /* the i-th at i % SAMPLES_COMING */
	uint64_t n_came, n_found, n_added; /* how many samples came, were looked up, were added */
	VEC(struct detail) details;
	VEC(uint64_t) words;
	struct records detail_ids;
	VEC(detailid) detail_of; /* [i]: detail of sample i; samples behind its end have none */
	VEC(struct task_arc) task_arcs;
	struct records task_arc_ids;
	VEC(struct latency) latencies;
	struct records latency_ids;
	VEC(struct unwind_failure) failures;
	struct map64 failure_ids; /* by object */
	VEC(struct marker) markers;
	struct audit audit;
	uint64_t n_weights, any_weight; /* weights that were added, and all of their bits */
	bool saturated;
};

/* Adds the entries 0. `strings`: the table of all names, borrowed; NULL: names are never
 * compared. */
void samples_builder_init(struct samples_builder *s, const struct strtab *strings);
void samples_builder_done(struct samples_builder *s);

/* See profile_revise_samples(). */
void samples_builder_revise(struct samples_builder *s, bool (*revise)(struct sample *s, void *arg),
			    void *arg);

/* Frees what is only needed for adding. */
void samples_builder_seal(struct samples_builder *s);

/* A view of the samples so far; valid until more is added. */
struct samples samples_builder_view(struct samples_builder *s);

/* Adds all of `from`. strings[] and objects[] map its ids to those of `into`, where its sources
 * begin at first_source. */
void samples_builder_merge(struct samples_builder *into, struct samples_builder *from,
			   const strid *strings, const objid *objects, uint32_t first_source);

frameid samples_add_frame(struct samples_builder *s, struct frame f);
void samples_reserve_frames(struct samples_builder *s, size_t n); /* room for n more */
stackid samples_add_stack(struct samples_builder *s, stackid caller, frameid frame);
stackid samples_push_stack(struct samples_builder *s, stackid caller, frameid frame);
taskid samples_add_task(struct samples_builder *s, struct task t);
uint16_t samples_add_event(struct samples_builder *s, struct event e);
uint64_t *samples_add_words(struct samples_builder *s, size_t n, uint64_t *at);
size_t samples_add_sample(struct samples_builder *s, struct sample x, detailid detail);
size_t samples_push_sample(struct samples_builder *s,
			   struct sample x); /* without checking for an equal one */
/* Like samples_add_sample(), but does not return the sample's index. */
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

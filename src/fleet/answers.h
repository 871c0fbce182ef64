/* answers.h - what a store answers: sums per stack, and what they refer to, as RowBinary.
 *
 * The bytes of several shards are taken one after the other, in any order; sums of the same stack
 * are added up, and a row that is there already is dropped. */
#ifndef FLEET_ANSWERS_H
#define FLEET_ANSWERS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/map64.h"
#include "fleet/fleet_rows.h"
#include "fleet/stack_tree.h"
#include "fleet/store.h"

struct answers_sum {
	uint64_t event, weight, count;
	uint32_t stack; /* index of stacks */
};

struct answers_stack { /* one that a sum refers to, or that the store sent */
	uint64_t id;
	const char *comm; /* as in struct rows_stack */
	uint32_t node;    /* of the tree; NONE: the store has not said what it is */
	uint32_t sum;     /* the first one; NONE: none */
	uint32_t shard;   /* that has its names */
	uint8_t flags;
};

struct answers_frame { /* one that a stack refers to, or that the store sent */
	struct rows_frame row;
	bool known; /* the store sent it; else only its id is set */
};

struct answers {
	struct arena arena;    /* of the texts */
	const char *last_text; /* NULL: none yet */
	size_t last_length;
	VEC(struct answers_sum) sums;
	VEC(struct rows_event) events;
	VEC(struct rows_function) functions;
	VEC(struct answers_frame) frames;
	VEC(struct answers_stack) stacks;
	struct stack_tree tree; /* of indices of frames, outermost first */
	struct map64 event_ids, function_ids, frame_ids, stack_ids;
	struct map64 sum_ids; /* by hash of event and stack: all but the first of each stack */
	/* Of the answer that is being taken, until its stacks are in the tree. */
	VEC(struct answers_path) paths;
	VEC(uint32_t) path; /* indices of frames */
};

void answers_done(struct answers *a);

enum answers_table {
	ANSWERS_SUMS,   /* event, stack, low and high 32 bits of the weight (sums of them), count */
	ANSWERS_EVENTS, /* columns as in doc/fleet.md, in that order */
	ANSWERS_STACKS, /* without functions */
	ANSWERS_FRAMES,
	ANSWERS_FUNCTIONS,
	/* What is kept here, as these write it: */
	ANSWERS_KEPT_TREE,   /* answers_put_node(), all frames of which were taken before */
	ANSWERS_KEPT_STACKS, /* answers_put_stack(); of these only what sums refer to */
};
/* False: the bytes are damaged or cut off; what came before that is there. */
MUST_CHECK bool answers_take(struct answers *a, enum answers_table table, uint32_t shard,
			     struct bytes bytes);

/* A stack as it is kept here: by its node, and the nodes by the index of their frames. */
struct answers_kept {
	uint64_t id;
	struct bytes comm;
	uint32_t node;
	uint8_t flags;
};
void answers_put_node(struct stack_node x, struct http_bytes *ret);
void answers_put_stack(const struct answers_kept *s, struct http_bytes *ret);
/* The next one; what is damaged fails as bytes do. */
struct answers_kept answers_next_kept(struct bytes *b);

/* NULL: the store did not have it. */
const struct rows_event *answers_event(const struct answers *a, uint64_t id);
const struct rows_function *answers_function(const struct answers *a, uint64_t id);
static inline const struct rows_frame *answers_frame(const struct answers *a, uint32_t index)
{
	return a->frames.at[index].known ? &a->frames.at[index].row : NULL;
}

#endif

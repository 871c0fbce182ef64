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
#include "fleet/store.h"

struct answers_sum {
	uint64_t event, stack, weight, count;
	uint32_t shard; /* that has its names */
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
	VEC(struct rows_stack) stacks; /* their parts of: */
	VEC(uint32_t) path;            /* indices of frames */
	struct map64 sum_ids;          /* by hash of event and stack */
	struct map64 event_ids, function_ids, frame_ids, stack_ids;
	const struct map64 *wanted; /* stacks that are taken of those kept here; NULL: all */
};

void answers_done(struct answers *a);

enum answers_table {
	ANSWERS_SUMS,   /* event, stack, low and high 32 bits of the weight (sums of them), count */
	ANSWERS_EVENTS, /* columns as in doc/fleet.md, in that order */
	ANSWERS_STACKS, /* without functions */
	ANSWERS_FRAMES,
	ANSWERS_FUNCTIONS,
	ANSWERS_KEPT_STACKS, /* as answers_put_stack() writes them */
};
/* False: the bytes are damaged or cut off; what came before that is there. */
MUST_CHECK bool answers_take(struct answers *a, enum answers_table table, uint32_t shard,
			     struct bytes bytes);

/* A stack as it is kept here: its frames by their place among those that there are. */
void answers_put_stack(const struct answers *a, const struct rows_stack *s, struct http_bytes *ret);
/* Steps over one. */
uint64_t answers_skip_stack(struct bytes *b);

/* NULL: the store did not have it. */
const struct rows_event *answers_event(const struct answers *a, uint64_t id);
const struct rows_function *answers_function(const struct answers *a, uint64_t id);
static inline const struct rows_frame *answers_frame(const struct answers *a, uint32_t index)
{
	return a->frames.at[index].known ? &a->frames.at[index].row : NULL;
}

#endif

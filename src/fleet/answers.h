/* answers.h - reads a store's answers in RowBinary: sums per stack, and the rows they refer to.
 *
 * Answers of several shards are read one after the other, in any order. Sums of the same stack are
 * added up, and duplicate rows are dropped. */
#ifndef FLEET_ANSWERS_H
#define FLEET_ANSWERS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "fleet/store.h"
#include "formats/rows/sum_rows.h"
#include "profile/stack_tree.h"

struct answers_sum {
	uint64_t event, weight, count;
	uint32_t stack; /* index in stacks */
};

struct answers_stack { /* a stack that a sum refers to, or that the store sent */
	uint64_t id;
	const char *comm; /* the thread's name, as in struct rows_stack */
	uint32_t node;    /* node in the tree; NONE: its frames are not known yet */
	uint32_t sum;     /* its first sum; NONE: none */
	uint32_t shard;   /* the shard to ask for its names */
	uint8_t flags;
};

struct answers_frame { /* a frame that a stack refers to, or that the store sent */
	struct rows_frame row;
	bool known; /* the store sent it; otherwise only its id is set */
};

struct answers {
	struct arena arena;    /* memory of the strings */
	const char *last_text; /* NULL: none yet */
	size_t last_length;
	struct strtab *files; /* interned names of files and objects, and build ids; NULL: none
				 yet */
	VEC(struct answers_sum) sums;
	VEC(struct rows_event) events;
	VEC(struct rows_function) functions;
	VEC(struct answers_frame) frames;
	VEC(struct answers_stack) stacks;
	struct stack_tree tree; /* its frames are indices of frames, outermost first */
	struct map64 event_ids, function_ids, frame_ids, stack_ids;
	struct map64 sum_ids; /* sums by hash of event and stack, except the first sum of each
				 stack */
	bool marked;          /* the sums read last had the marker row */
	uint64_t n_damaged;   /* recordings that were damaged when they were sent, so part of them
				 is missing */
	/* While an answer is read, before its stacks are in the tree: */
	VEC(struct answers_path) paths;
	VEC(uint32_t) path; /* indices of frames */
};

void answers_done(struct answers *a);

enum answers_table {
	/* Columns: event, stack, sums of the low and of the high 32 bits of the weight, count.
	 * Anywhere among the rows is a marker without event, stack and count, whose low bits are
	 * the number of damaged recordings. It distinguishes an answer without sums from no
	 * answer. */
	ANSWERS_SUMS,
	ANSWERS_EVENTS, /* columns as in doc/fleet.md, in that order */
	ANSWERS_STACKS, /* in the order of doc/fleet.md; functions are not sent */
	ANSWERS_FRAMES,
	ANSWERS_FUNCTIONS,
	/* Rows of the local cache, written by: */
	ANSWERS_KEPT_TREE,   /* answers_put_node(); read all frames before */
	ANSWERS_KEPT_STACKS, /* answers_put_stack(); only stacks that sums refer to are taken */
};
/* Reads a table. False: the bytes are damaged or truncated; rows before that are kept. */
MUST_CHECK bool answers_take(struct answers *a, enum answers_table table, uint32_t shard,
			     struct bytes bytes);

/* A stack in the local cache refers to its node; a node refers to its frame's index. */
struct answers_kept {
	uint64_t id;
	struct bytes comm;
	uint32_t node;
	uint8_t flags;
};
void answers_put_node(struct stack x, struct row_buffer *ret);
void answers_put_stack(const struct answers_kept *s, struct row_buffer *ret);
/* The next cached stack; damage sets b->failed. */
struct answers_kept answers_next_kept(struct bytes *b);

/* The row with that id; NULL: the store did not send it. */
const struct rows_event *answers_event(const struct answers *a, uint64_t id);
const struct rows_function *answers_function(const struct answers *a, uint64_t id);
static inline const struct rows_frame *answers_frame(const struct answers *a, uint32_t index)
{
	return a->frames.at[index].known ? &a->frames.at[index].row : NULL;
}

#endif

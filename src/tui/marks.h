/* marks.h - marks of functions beside their names: the call cycle of a function with its verdict,
 * and a sparkline of when the function was on the stack. */
#ifndef TUI_MARKS_H
#define TUI_MARKS_H

#include "base/arena.h"
#include "base/vec.h"
#include "kin/samples.h"
#include "tui/page.h"

enum { SPARK_SLOTS = 32 };

struct cycle_mark {
	const char *function;
	uint64_t cycle;
	char verdict; /* 'c' confirmed, 'p' phantom: it recurs on no stack, '?' unknown */
};

struct spark { /* for a function in an object, for threads of one name in processes of one name */
	const char *name, *object, *comm, *command;
	uint64_t slots[SPARK_SLOTS]; /* weight of samples with it on their stack, by time */
	uint64_t faded;              /* for marks_next(): the remaining weight of the total */
	size_t last;                 /* last sample that was added, + 1 */
};

struct marks {
	struct arena texts;
	VEC(struct cycle_mark) cycles; /* by function */
	VEC(struct spark) sparks; /* by name, object, comm, command; empty: samples have no times */
};

/* The marks for samples of the n-th event with samples. Ends soon, with those found so far, once
 * another thread sets *stop. */
MUST_CHECK struct kin_error *marks_new(struct kin_profile *p, size_t event, const bool *stop,
				       struct marks *ret);
/* The marks for a profile without times whose weights are those of `before` times `keep`,
 * `refreshes` times, plus new ones: the slots of `before`, which may be all zero, followed by one
 * for each refresh, with the new weights. Cycles are not searched. */
MUST_CHECK struct kin_error *marks_next(struct kin_profile *p, size_t event,
					const struct marks *before, double keep, size_t refreshes,
					struct marks *ret);
void marks_done(struct marks *m); /* leaves it all zero */

/* " ↻2", " ↻2?", " (↻2)" for a phantom; "" if the function is in no cycle. */
const char *marks_cycle(const struct marks *m, const char *function, bool ascii, char text[32]);

/* The sparkline of a row of a page of functions in `width` characters; "" if it is not known. */
const char *marks_spark(const struct marks *m, const struct page *p, const struct page_row *r,
			unsigned width, bool ascii, char text[4 * SPARK_SLOTS + 1]);

#endif

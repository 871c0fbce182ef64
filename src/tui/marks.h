/* marks.h - what rows of functions have beside their names: the cycle of calls that a function is
 * in, with what stacks say of it, and when it was on the stack, as a sparkline. */
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
	char verdict; /* 'c' confirmed, 'p' phantom: no stack goes round it, '?' nobody knows */
};

struct spark { /* of a function in an object, of threads of one name */
	const char *name, *object, *comm;
	uint64_t slots[SPARK_SLOTS]; /* weight of samples with it on their stack, by time */
	uint64_t faded;              /* of marks_next(): the weight that is left of all */
	size_t last;                 /* sample that was added, + 1 */
};

struct marks {
	struct arena texts;
	VEC(struct cycle_mark) cycles; /* by function */
	VEC(struct spark) sparks;      /* by name, object, comm; none: samples have no times */
};

/* Of the samples of the n-th event that has any. Ends soon, with what there is by then, once *stop
 * is set by another thread. */
MUST_CHECK struct kin_error *marks_new(struct kin_profile *p, size_t event, const bool *stop,
				       struct marks *ret);
/* Of a profile whose samples have no times, and whose weights are those of `before` times `keep`,
 * `refreshes` times, and what is new: the slots of `before`, which may be all zero, and as many at
 * the end as there were refreshes, with what is new. Cycles are not looked for. */
MUST_CHECK struct kin_error *marks_next(struct kin_profile *p, size_t event,
					const struct marks *before, double keep, size_t refreshes,
					struct marks *ret);
void marks_done(struct marks *m); /* all zero again */

/* " ↻2", " ↻2?", " (↻2)" of a phantom; "" if the function is in no cycle. */
const char *marks_cycle(const struct marks *m, const char *function, bool ascii, char text[32]);

/* The time of the row of a page of functions in `width` characters; "" if it is not known. */
const char *marks_spark(const struct marks *m, const struct page *p, const struct page_row *r,
			unsigned width, bool ascii, char text[4 * SPARK_SLOTS + 1]);

#endif

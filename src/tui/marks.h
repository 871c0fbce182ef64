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
	char verdict; /* 'c' confirmed, 'p' phantom: no stack recurs, '?' unknown */
};

struct spark { /* one function in one object, in threads of one name within processes of one name */
	const char *name, *object, *comm, *command;
	uint64_t slots[SPARK_SLOTS]; /* weight of samples with the function on their stack, by
					time */
	uint64_t faded;              /* for marks_next(): what remained of the total weight */
	size_t last;                 /* number of the last sample added, + 1 */
};

struct marks {
	struct arena texts;
	VEC(struct cycle_mark) cycles; /* sorted by function */
	VEC(struct spark) sparks; /* by name, object, comm, command; empty: samples have no times */
};

/* Makes the marks for samples of the n-th event that has samples. Ends early, with the marks found
 * so far, once another thread sets *stop. */
MUST_CHECK struct kin_error *marks_new(struct kin_profile *p, size_t event, const bool *stop,
				       struct marks *ret);
/* Makes the next marks of a profile without times whose weights fade: they are the weights of
 * `before`, multiplied by `keep` `refreshes` times, plus new ones. The slots of `before`, which may
 * be all zero, move by one slot for each refresh, and the new weights fill the last slot. Cycles
 * are not searched. */
MUST_CHECK struct kin_error *marks_next(struct kin_profile *p, size_t event,
					const struct marks *before, double keep, size_t refreshes,
					struct marks *ret);
void marks_done(struct marks *m); /* leaves it all zero */

/* " ↻2", " ↻2?", " (↻2)" for a phantom; "" if the function is in no cycle. */
const char *marks_cycle(const struct marks *m, const char *function, bool ascii, char text[32]);

/* The sparkline of a row of a page of functions, `width` characters wide; "" if it is not known. */
const char *marks_spark(const struct marks *m, const struct page *p, const struct page_row *r,
			unsigned width, bool ascii, char text[4 * SPARK_SLOTS + 1]);

#endif

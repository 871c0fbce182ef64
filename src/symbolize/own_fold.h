/* own_fold.h - folds the code of others into the own code that called it.
 *
 * Of a stack only own functions stay (own_code.h): a function of a library is charged to the
 * nearest own caller. So the total stays, an own function's Children do not change, and its Self
 * grows by what others do on its behalf, of which frames keep a name: frame.paid_for. A stack
 * without any own function becomes one of libraries, "[libc.so.6]".
 *
 * Which functions are own depends on their source files, so debug information is read for each
 * function on a stack. */
#ifndef SYMBOLIZE_OWN_FOLD_H
#define SYMBOLIZE_OWN_FOLD_H

#include "base/vec.h"
#include "symbolize/own_code.h"
#include "symbolize/program.h"

/* Decides about all functions of a program, by the functions of its frames. */
struct own_fold;

/* Borrows all. */
struct own_fold *own_fold_new(struct program *g, struct profile *p, const struct own_code *c);
void own_fold_free(struct own_fold *f); /* NULL is fine */

struct own_shares {    /* of an event's weight, 0..1 */
	double own;    /* on stacks with an own function */
	double folded; /* of these, what others do on behalf of own functions */
};
struct own_shares own_fold_shares(struct own_fold *f, uint16_t event);

/* Writes, for each stack, the frame that the fold charges it to, [n_stacks]; 0: it has no own
 * function. */
void own_fold_owners(struct own_fold *f, frameid *ret);
/* The line in the innermost own function of a frame that has one. False if it is not known. */
bool own_fold_line(struct own_fold *f, frameid frame, struct srcloc *ret);

/* Rewrites the profile's stacks. Then `g` does not fit it any more: a new program is needed, whose
 * frames own_fold_names() completes. */
void own_fold_stacks(struct own_fold *f);

/* Leaves only own functions in the frames on which others are inlined. `f`: of that program. */
void own_fold_names(struct own_fold *f);

/* Whether a frame is a note about the stack or about time, and no function: it stays. */
bool own_fold_is_note(const struct own_fold *f, frameid frame);

/* The verdict on the function of a frame that `depth` others are inlined into: 0 is the innermost.
 */
struct own_verdict own_fold_verdict(struct own_fold *f, frameid frame, size_t depth);

/* The compiler that made the code of a frame: object_producer(). */
const char *own_fold_producer(struct own_fold *f, frameid frame);

/* Which rule decided about the code in a directory of sources or, where the source is not known, in
 * an object. */
struct own_ruling {
	struct own_verdict verdict;
	const char *where;
	double share; /* of the event's weight, by the functions it was spent in, 0..1 */
};
struct own_rulings {
	struct strtab *strings;
	VEC(struct own_ruling) at; /* by share, largest first */
};
void own_fold_rule(struct own_fold *f, uint16_t event, struct own_rulings *ret);
void own_rulings_done(struct own_rulings *r);

/* Whether the data has names of scripts' functions. */
bool own_fold_has_scripts(const struct profile *p);
/* The path of the recorded program; "": not known. */
const char *own_fold_program(const struct profile *p);

#endif

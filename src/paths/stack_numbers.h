/* stack_numbers.h - a number for each pair of a root and a stack, initially 0.
 *
 * Most profiles have few roots, so each of the first roots has an array. Of the later roots, a
 * stack is mostly below only one. */
#ifndef PATHS_STACK_NUMBERS_H
#define PATHS_STACK_NUMBERS_H

#include "base/map64.h"
#include "profile/profile.h"

enum { STACK_ARRAYS = 16 };

struct stack_numbers {
	size_t n_stacks;
	uint32_t *arrays[STACK_ARRAYS]; /* [root][stack]; NULL: all are 0 */
	struct stack_number *first;     /* [stack]: its first later root, and the number below that;
					   NULL: all are 0 */
	struct map64 more;              /* (stack, root) -> number */
};

void stack_numbers_init(struct stack_numbers *x, size_t n_stacks);
uint32_t *stack_numbers_later(struct stack_numbers *x, uint32_t root, stackid stack);
void stack_numbers_done(struct stack_numbers *x);

/* The address of the number; valid until the next call. Large arrays take memory only where they
 * were touched. */
static inline uint32_t *stack_numbers_at(struct stack_numbers *x, uint32_t root, stackid stack)
{
	return root < STACK_ARRAYS && x->arrays[root] ? &x->arrays[root][stack]
						      : stack_numbers_later(x, root, stack);
}

#endif

/* stack_numbers.h - a number for each stack below each of some roots, 0 at first.
 *
 * Most profiles have a few roots: each of these has an array. Of the others a stack is mostly below
 * one alone. */
#ifndef PATHS_STACK_NUMBERS_H
#define PATHS_STACK_NUMBERS_H

#include "base/map64.h"
#include "profile/profile.h"

enum { STACK_ARRAYS = 16 };

struct stack_numbers {
	size_t n_stacks;
	uint32_t *arrays[STACK_ARRAYS]; /* [root][stack]; NULL: all are 0 */
	struct stack_number *first;     /* [stack]: below the first further root; NULL: all are 0 */
	struct map64 more;              /* (stack, root) -> number */
};

void stack_numbers_init(struct stack_numbers *x, size_t n_stacks);
uint32_t *stack_numbers_later(struct stack_numbers *x, uint32_t root, stackid stack);
void stack_numbers_done(struct stack_numbers *x);

/* Where the number is kept; valid until the next is asked for. Large arrays cost by what is touched
 * of them. */
static inline uint32_t *stack_numbers_at(struct stack_numbers *x, uint32_t root, stackid stack)
{
	return root < STACK_ARRAYS && x->arrays[root] ? &x->arrays[root][stack]
						      : stack_numbers_later(x, root, stack);
}

#endif

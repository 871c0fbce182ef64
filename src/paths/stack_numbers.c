/* stack_numbers.c - makes arrays for the first roots, and other entries for later ones. */
#include "paths/stack_numbers.h"

#include <stdlib.h>

struct stack_number {
	uint32_t root; /* 0: none yet */
	uint32_t number;
};

void stack_numbers_init(struct stack_numbers *x, size_t n_stacks)
{
	*x = (struct stack_numbers){ .n_stacks = n_stacks };
}

void stack_numbers_done(struct stack_numbers *x)
{
	for (size_t i = 0; i < STACK_ARRAYS; i++)
		free(x->arrays[i]);
	free(x->first);
	map64_free(&x->more);
}

uint32_t *stack_numbers_later(struct stack_numbers *x, uint32_t root, stackid stack)
{
	if (root < STACK_ARRAYS) {
		x->arrays[root] = xalloc((x->n_stacks + 1) * sizeof(**x->arrays));
		return &x->arrays[root][stack];
	}
	if (!x->first)
		x->first = xalloc((x->n_stacks + 1) * sizeof(*x->first));
	struct stack_number *first = &x->first[stack];
	if (!first->root)
		first->root = root;
	if (first->root == root)
		return &first->number;
	uint32_t *at = map64_at(&x->more, MAP64_PAIR(stack, root));
	*at = *at == NONE ? 0 : *at;
	return at;
}

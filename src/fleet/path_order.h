/* path_order.h - sorts stacks so that those with common callers are adjacent: a stack's common
 * beginning with any earlier stack is also common with the previous one. */
#ifndef FLEET_PATH_ORDER_H
#define FLEET_PATH_ORDER_H

#include "base/base.h"

struct path_of_stack {
	const uint32_t *at; /* [n], outermost first */
	uint32_t n, index;
};

void path_order(struct path_of_stack *list, size_t n);

#endif

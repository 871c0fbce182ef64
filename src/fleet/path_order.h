/* path_order.h - stacks in an order in which those that have callers in common lie together: each
 * has in common with the one before it all that it has in common with any before. */
#ifndef FLEET_PATH_ORDER_H
#define FLEET_PATH_ORDER_H

#include "base/base.h"

struct path_of_stack {
	const uint32_t *at; /* [n], outermost first */
	uint32_t n, index;
};

void path_order(struct path_of_stack *list, size_t n);

#endif

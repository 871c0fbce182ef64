/* fleet_profile.h - makes a profile from a store's answers. */
#ifndef FLEET_FLEET_PROFILE_H
#define FLEET_FLEET_PROFILE_H

#include "fleet/stack_order.h"
#include "profile/profile.h"

/* Adds the sums as samples with their names. `order` is the order of the stacks of `a`. Returns the
 * number of samples without names, because the store lacks their stacks. */
uint64_t fleet_profile(const struct answers *a, const struct stack_order *order,
		       struct profile_builder *into);

#endif

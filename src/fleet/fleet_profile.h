/* fleet_profile.h - makes a profile from a store's answers. */
#ifndef FLEET_FLEET_PROFILE_H
#define FLEET_FLEET_PROFILE_H

#include "fleet/answers.h"
#include "profile/profile.h"

/* Adds the sums as samples with their names, in an order that does not depend on that of the
 * answers. Returns the number of samples without names, because the store lacks their stacks. */
uint64_t fleet_profile(const struct answers *a, struct profile_builder *into);

#endif

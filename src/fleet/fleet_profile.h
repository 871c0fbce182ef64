/* fleet_profile.h - a profile of what a store answered. */
#ifndef FLEET_FLEET_PROFILE_H
#define FLEET_FLEET_PROFILE_H

#include "fleet/answers.h"
#include "profile/profile.h"

/* Adds the sums, in an order that does not depend on that of the answers, as samples with their
 * names. Returns the number of samples that have none, as the store did not have their stacks. */
uint64_t fleet_profile(const struct answers *a, struct profile_builder *into);

#endif

/* upkeep.h - upkeep of a store: sums of whole hours, and removal of old days.
 *
 * A rollup is the sum of all recordings of one service and version within one hour. The server
 * computes it, and it counts once it has a receipt of its own. The summed recordings are listed,
 * and queries for that hour no longer add them up. Recordings that arrive later count as usual. */
#ifndef FLEET_UPKEEP_H
#define FLEET_UPKEEP_H

#include "base/base.h"

struct kin_error;
struct store_url;

struct upkeep_opts {
	uint64_t before_s;    /* sum up hours that ended before this, since 1970 */
	uint64_t keep_from_s; /* drop days that ended before this; 0: none */
};

struct upkeep_result {
	uint64_t rollups, recordings; /* rollups made, and recordings in them */
	uint64_t days;                /* days dropped, over all shards */
};

/* Goes from shard to shard. Error: part of it is not done; repeating it is right. */
MUST_CHECK struct kin_error *upkeep_do(const struct store_url *url, const struct upkeep_opts *opts,
				       struct upkeep_result *ret);

#endif

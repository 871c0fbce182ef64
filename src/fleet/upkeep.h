/* upkeep.h - upkeep of a store: sums of whole hours and days, and removal of old days.
 *
 * A rollup is the sum of all recordings of one service and version within one hour or one day. The
 * server computes it, and it counts once it has a receipt of its own. The summed recordings are
 * listed, and queries for that time no longer add them up. Recordings that arrive later count as
 * usual. */
#ifndef FLEET_UPKEEP_H
#define FLEET_UPKEEP_H

#include "fleet/store.h"

struct upkeep_opts {
	uint64_t before_s;    /* sum up hours and days that ended before this, since 1970 */
	uint64_t keep_from_s; /* drop days that ended before this; 0: none */
};

struct upkeep_result {
	uint64_t rollups[N_ROLLUP_SPANS]; /* rollups made */
	uint64_t recordings;              /* recordings in hourly rollups, plus recordings in daily
					     rollups */
	uint64_t days;                    /* days dropped, over all shards */
	size_t shards;                    /* shards that have a database */
};

/* Maintains one shard, and adds what it did to *result. Error: part of it is not done; calling it
 * again is right. */
MUST_CHECK struct kin_error *upkeep_do(struct store *store, const struct store_url *url,
				       size_t shard, const struct upkeep_opts *opts,
				       struct upkeep_result *result);

#endif

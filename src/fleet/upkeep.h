/* upkeep.h - a store's upkeep: sums of whole hours, and days that go.
 *
 * A rollup is the sum of all recordings of one service and version that lie in one hour. It is made
 * by the server, and counts once it has a receipt of its own; what it is the sum of is listed, and
 * is then not added up anew by who asks for that hour. Recordings that come later count as ever. */
#ifndef FLEET_UPKEEP_H
#define FLEET_UPKEEP_H

#include "base/base.h"

struct kin_error;
struct store_url;

struct upkeep_opts {
	uint64_t before_s;    /* hours that ended before are summed up; since 1970 */
	uint64_t keep_from_s; /* days that ended before are dropped; 0: none */
};

struct upkeep_result {
	uint64_t rollups, recordings; /* made, of so many */
	uint64_t days;                /* dropped, of all shards */
};

/* Shard after shard. Error: some of it is not done; doing it again is right. */
MUST_CHECK struct kin_error *upkeep_do(const struct store_url *url, const struct upkeep_opts *opts,
				       struct upkeep_result *ret);

#endif

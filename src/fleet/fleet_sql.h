/* fleet_sql.h - what kin asks a store for, as SQL: sums of samples, and of which recordings.
 *
 * Each returns one query, to be freed. {db} in it is the database; its table `ids` comes with it,
 * as the part of that name. */
#ifndef FLEET_FLEET_SQL_H
#define FLEET_FLEET_SQL_H

#include "fleet/store.h"

struct fleet_sums {                   /* what is asked for sums */
	const uint64_t *events;       /* ascending: those that there are one by one; */
	size_t n;                     /* and what else there may be; 0: all together */
	bool rollups[N_ROLLUP_SPANS]; /* those in the table `ids` */
	bool without;                 /* no rollups, and not the recordings in the table `ids` */
};

static inline bool fleet_sums_have_rollups(const struct fleet_sums *of)
{
	return of->rollups[ROLLUP_HOURS] || of->rollups[ROLLUP_DAYS];
}

static inline bool fleet_sums_have_ids(const struct fleet_sums *of)
{
	return fleet_sums_have_rollups(of) || of->without;
}

/* Whether the time that is asked for has a whole span, and its rollup knows all that is filtered
 * by. */
bool fleet_sql_may_use_rollups(const struct store_url *u, const struct rollup_span *span);

/* The rollups of the span that lie in the time that is asked for. Of two that are of the same
 * recording the smaller one counts. `after_days`: none of those of which the days in the table
 * `ids` have a part. */
char *fleet_sql_rollups(const struct store_url *u, const struct rollup_span *span, bool after_days);

/* The sums. Clears of->rollups if there is no room for them: single recordings give the same sums.
 */
char *fleet_sql_sums(const struct store_url *u, struct fleet_sums *of);

/* The recordings that are asked for, the smallest numbers first: as they are hashes, those that two
 * shards have come up in both. And a row of 0, without which no recordings would be no answer. */
char *fleet_sql_contents(const struct store_url *u);
/* At most so many recordings of a shard are compared with those of the others. */
size_t fleet_sql_contents_most(const struct store_url *u);

/* Whether it may have a table beside it: the query is a part of the URL then, of which servers take
 * 16 KB. */
bool fleet_sql_fits_url(const char *sql);

#endif

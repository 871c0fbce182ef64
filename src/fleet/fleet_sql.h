/* fleet_sql.h - SQL queries to a store: sums of samples, and lists of recordings.
 *
 * Each function returns one query, to be freed. {db} in it stands for the database. If the query
 * uses the table `ids`, it must be sent along as the part of that name. */
#ifndef FLEET_FLEET_SQL_H
#define FLEET_FLEET_SQL_H

#include "fleet/store.h"

struct fleet_sums {                   /* what the query for sums asks for */
	const uint64_t *events;       /* ascending: known events, each summed by a query of its
					 own; */
	size_t n;                     /* another one sums all other events; 0: one query for all */
	bool rollups[N_ROLLUP_SPANS]; /* use the rollups of this span in the table `ids` */
	bool without;                 /* use no rollups, and leave out the recordings in the table
					 `ids` */
};

static inline bool fleet_sums_have_rollups(const struct fleet_sums *of)
{
	return of->rollups[ROLLUP_HOURS] || of->rollups[ROLLUP_DAYS];
}

static inline bool fleet_sums_have_ids(const struct fleet_sums *of)
{
	return fleet_sums_have_rollups(of) || of->without;
}

/* Whether the requested time contains a whole span, and its rollups have the columns of all
 * filters. */
bool fleet_sql_may_use_rollups(const struct store_url *u, const struct rollup_span *span);

/* The rollups of the span within the requested time. If two contain the same recording, the smaller
 * id counts. `after_days`: without rollups that share recordings with the days in the table
 * `ids`. */
char *fleet_sql_rollups(const struct store_url *u, const struct rollup_span *span, bool after_days);

/* The query for sums. Clears of->rollups if the query would be too long: single recordings give the
 * same sums. */
char *fleet_sql_sums(const struct store_url *u, struct fleet_sums *of);

/* The selected recordings, smallest ids first: ids are hashes, so recordings on two shards appear
 * in both lists. A row of 0 distinguishes no recordings from no answer. */
char *fleet_sql_contents(const struct store_url *u);
/* The number of a shard's recordings that are compared with those of other shards. */
size_t fleet_sql_contents_most(const struct store_url *u);

/* Whether the query may be sent with a table: it is then part of the URL, which servers limit to 16
 * KB. */
bool fleet_sql_fits_url(const char *sql);

#endif

/* store.h - a ClickHouse database of profiles: its tables, and queries to its shards.
 *
 * External values enter SQL only as numbers and as strings from store_quoted(). Rows are sent in
 * request bodies as RowBinary. Each shard is queried directly: servers need not know each other. */
#ifndef FLEET_STORE_H
#define FLEET_STORE_H

#include "base/bytes.h"
#include "fleet/http.h"
#include "fleet/store_url.h"

struct store;
/* Sends no request yet. Borrows the URL. */
MUST_CHECK struct kin_error *store_new(const struct store_url *url, struct store **ret);
void store_free(struct store *s); /* NULL is fine */

const char *store_shard_name(const struct store *s, size_t shard); /* "host:port" */

/* The number of the shard that stores a host's recordings. */
size_t store_shard_of(const struct store *s, const char *host);

struct store_query {
	const char *sql;              /* with "{db}" in place of the database's name */
	const struct http_part *part; /* a table of ids sent along: "id UInt64", RowBinary */
	const void *rows;             /* rows for an INSERT ... FORMAT RowBinary */
	size_t n;
	unsigned timeout_s; /* 0: 300 */
};

enum store_outcome {
	STORE_DONE,
	STORE_REFUSED,     /* the server refused: nothing happened */
	STORE_NOT_REACHED, /* no server answered: nothing happened */
	STORE_UNKNOWN,     /* the query may have had an effect */
};

struct store_answer {
	enum store_outcome outcome;
	bool timed_out;          /* a retry would time out, too */
	unsigned code;           /* STORE_REFUSED: ClickHouse's error number; 0: not known */
	struct row_buffer bytes; /* to be freed */
};

/* Sends a query. Only one thread at a time may query a shard. After an error ret->outcome tells
 * more. The first query to a shard is preceded by another one, limited to 30 seconds, that checks
 * that it is a store. */
MUST_CHECK struct kin_error *store_ask(struct store *s, size_t shard, const struct store_query *q,
				       struct store_answer *ret);

/* The error for an unexpected answer. */
struct kin_error *store_odd_answer(const struct store *s, size_t shard);

/* Whether the shard has a database with any tables: they are created when the first recording is
 * sent. */
MUST_CHECK struct kin_error *store_is_begun(struct store *s, size_t shard, bool *ret);

enum store_code { /* ClickHouse's error numbers */
		  STORE_NO_TABLE = 60,
		  STORE_NO_DATABASE = 81,
		  STORE_TOO_MANY_PARTS = 252,
};

/* Creates the database and missing tables. */
MUST_CHECK struct kin_error *store_create(struct store *s, size_t shard);

/* Periods that rollups cover; each has tables of its own. */
struct rollup_span {
	const char *prefix; /* prefix of the tables' names, before "rollups" */
	const char *word;
	uint32_t seconds;
};

enum { ROLLUP_HOURS, ROLLUP_DAYS, N_ROLLUP_SPANS };
extern const struct rollup_span rollup_spans[N_ROLLUP_SPANS];

/* 'text' as an SQL string, with special characters escaped; to be freed. */
char *store_quoted(const char *text);

#endif

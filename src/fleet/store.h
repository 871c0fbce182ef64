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

/* The shard for a host's recordings. */
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
	STORE_NOT_REACHED, /* nothing happened */
	STORE_UNKNOWN,     /* it may have happened */
};

struct store_answer {
	enum store_outcome outcome;
	bool timed_out;          /* and so would it be the next time */
	unsigned code;           /* STORE_REFUSED: ClickHouse's error number; 0: not known */
	struct http_bytes bytes; /* to be freed */
};

/* A shard may be queried by one thread at a time. On errors the outcome tells more. The first time
 * a shard is asked a number, too, which shows that it is one, and within 30 seconds. */
MUST_CHECK struct kin_error *store_ask(struct store *s, size_t shard, const struct store_query *q,
				       struct store_answer *ret);

/* The error for an answer that is not what was asked for. */
struct kin_error *store_odd_answer(const struct store *s, size_t shard);

/* Whether the shard has a database with any tables: none is made before the first recording comes.
 */
MUST_CHECK struct kin_error *store_is_begun(struct store *s, size_t shard, bool *ret);

enum store_code { /* error numbers */
		  STORE_NO_TABLE = 60,
		  STORE_NO_DATABASE = 81,
		  STORE_TOO_MANY_PARTS = 252,
};

/* Creates the database and missing tables. */
MUST_CHECK struct kin_error *store_create(struct store *s, size_t shard);

/* Times that rollups are of, each with tables of its own. */
struct rollup_span {
	const char *prefix; /* of the tables' names, before "rollups" */
	const char *word;
	uint32_t seconds;
};

enum { ROLLUP_HOURS, ROLLUP_DAYS, N_ROLLUP_SPANS };
extern const struct rollup_span rollup_spans[N_ROLLUP_SPANS];

/* 'text' as an SQL string, with special characters escaped; to be freed. */
char *store_quoted(const char *text);

/* ---- rows as RowBinary ---- */

void row_u8(struct http_bytes *b, uint8_t v);
void row_u32(struct http_bytes *b, uint32_t v);
void row_u64(struct http_bytes *b, uint64_t v);
void row_length(struct http_bytes *b, uint64_t n); /* of an array, before its elements */
void row_text(struct http_bytes *b, const char *text);
void row_bytes(struct http_bytes *b, const void *bytes, size_t n); /* as they are */

#endif

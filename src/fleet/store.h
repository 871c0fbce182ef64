/* store.h - a ClickHouse database with profiles in it: its tables, and asking its shards.
 *
 * What goes into SQL from outside are numbers, and texts that store_quoted() made. Rows travel in
 * bodies, as RowBinary. Each shard is asked itself: no server has to know of the others. */
#ifndef FLEET_STORE_H
#define FLEET_STORE_H

#include "base/bytes.h"
#include "fleet/http.h"
#include "fleet/store_url.h"

struct store;
/* Nothing is asked yet. Borrows the URL. */
MUST_CHECK struct kin_error *store_new(const struct store_url *url, struct store **ret);
void store_free(struct store *s); /* NULL is fine */

/* Which shard keeps what a host sent. */
size_t store_shard_of(const struct store *s, const char *host);

struct store_query {
	const char *sql;              /* with "{db}" where the database's name belongs */
	const struct http_part *part; /* a table of ids beside it: "id UInt64", RowBinary */
	const void *rows;             /* of an INSERT ... FORMAT RowBinary */
	size_t n;
};

enum store_outcome {
	STORE_DONE,
	STORE_REFUSED,     /* the server said no: nothing happened */
	STORE_NOT_REACHED, /* nothing happened */
	STORE_UNKNOWN,     /* it may have happened */
};

struct store_answer {
	enum store_outcome outcome;
	unsigned code;           /* STORE_REFUSED: ClickHouse's number of the error; 0: not known */
	struct http_bytes bytes; /* to be freed */
};

/* A shard is asked by one thread at a time. Error: the outcome says more. */
MUST_CHECK struct kin_error *store_ask(struct store *s, size_t shard, const struct store_query *q,
				       struct store_answer *ret);

enum store_code { /* of errors */
		  STORE_NO_TABLE = 60,
		  STORE_NO_DATABASE = 81,
		  STORE_TOO_MANY_PARTS = 252,
};

/* Makes database and tables that are not there. */
MUST_CHECK struct kin_error *store_create(struct store *s, size_t shard);

/* 'text', with all that could mean something else than itself escaped; to be freed. */
char *store_quoted(const char *text);

/* ---- rows as RowBinary ---- */

void row_u8(struct http_bytes *b, uint8_t v);
void row_u32(struct http_bytes *b, uint32_t v);
void row_u64(struct http_bytes *b, uint64_t v);
void row_length(struct http_bytes *b, uint64_t n); /* of an array, before its elements */
void row_text(struct http_bytes *b, const char *text);

#endif

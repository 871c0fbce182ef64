/* store.c - the tables of a store, and queries to its servers. */
#include "fleet/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "formats/rows/rows_hash.h"

struct shard {
	struct http *http;
	char *base; /* "http://host:port/?..." */
	bool greeted;
};

struct store {
	const struct store_url *url;
	struct http_login login;
	struct shard *shards; /* [url->shards.n] */
};

/* ---- opening ---- */

/* Makes errors arrive as a status, not as text at the end of a partial answer. */
#define SETTINGS "wait_end_of_query=1&enable_http_compression=0"

struct kin_error *store_new(const struct store_url *url, struct store **ret)
{
	struct store *s = xalloc(sizeof(*s));
	s->url = url;
	s->shards = xalloc(url->shards.n * sizeof(*s->shards));
	struct kin_error *err = http_login_find(&s->login);
	for (size_t i = 0; i < url->shards.n && !err; i++) {
		s->shards[i].base = xprintf("%s://%s/?" SETTINGS, url->scheme, url->shards.at[i]);
		err = http_new(&s->login, &s->shards[i].http);
	}
	if (err)
		store_free(s);
	else
		*ret = s;
	return err;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->url->shards.n; i++) {
		http_free(s->shards[i].http);
		free(s->shards[i].base);
	}
	free(s->shards);
	http_login_done(&s->login);
	free(s);
}

const char *store_shard_name(const struct store *s, size_t shard)
{
	return s->url->shards.at[shard];
}

size_t store_shard_of(const struct store *s, const char *host)
{
	return rows_hash_end(rows_hash_text(ROWS_HASH_START, host)) % s->url->shards.n;
}

/* ---- asking ---- */

static char *with_database(const struct store *s, const char *sql)
{
	static const char mark[] = "{db}";
	char *text = NULL;
	size_t size;
	FILE *f = xopen_memstream(&text, &size);
	for (const char *at; (at = strstr(sql, mark)); sql = at + strlen(mark))
		fprintf(f, "%.*s%s", (int)(at - sql), sql, s->url->database);
	fputs(sql, f);
	xclose_memstream(f, &text);
	return text;
}

static char *url_of(const struct shard *shard, const char *sql, const struct http_part *part)
{
	char *query = http_escaped(sql);
	char *url = part ? xprintf("%s&%s_structure=id%%20UInt64&%s_format=RowBinary&query=%s",
				   shard->base, part->name, part->name, query)
			 : xprintf("%s&query=%s", shard->base, query);
	free(query);
	return url;
}

/* An error with the first line of the server's message, without the exception's prefix. */
static struct kin_error *refused(const struct store *s, size_t shard, long status,
				 struct store_answer *a)
{
	enum { MOST = 300 };
	vec_push(&a->bytes, '\0');
	char *text = a->bytes.at;
	if (!strncmp(text, "Code: ", 6))
		a->code = (unsigned)strtoul(text + 6, NULL, 10);
	const char *message = strstr(text, "DB::Exception: ");
	message = message ? message + strlen("DB::Exception: ") : text;
	size_t n = strcspn(message, "\r\n");
	const char *end = strstr(message, ", e.what()");
	if (end && (size_t)(end - message) < n)
		n = (size_t)(end - message);
	const char *name = s->url->shards.at[shard];
	if (status == 401 || status == 403 || a->code == 192 || a->code == 193 || a->code == 194 ||
	    a->code == 516)
		return err_new(KIN_ERROR_OS,
			       "%s does not let %s in: the user or the password is wrong; they "
			       "come from KIN_STORE_USER and KIN_STORE_PASSWORD, or the file that "
			       "KIN_STORE_LOGIN names",
			       name, s->login.user ? s->login.user : "this user");
	if (status / 100 == 3)
		return err_new(KIN_ERROR_OS,
			       "%s sends kin on to another address (HTTP %ld), which could be "
			       "anybody's: name that of the server itself",
			       name, status);
	return err_new(KIN_ERROR_OS, "%s: %.*s (HTTP %ld)", name, (int)(n < MOST ? n : MOST),
		       message, status);
}

static struct kin_error *request(struct store *s, size_t shard, const struct store_query *q,
				 struct store_answer *ret)
{
	const struct shard *to = &s->shards[shard];
	char *sql = with_database(s, q->sql);
	bool in_url = q->part || q->rows;
	char *url = in_url ? url_of(to, sql, q->part) : NULL;
	struct http_request r = { .url = url ? url : to->base,
				  .body = q->rows ? q->rows : sql,
				  .n = q->rows ? q->n : strlen(sql),
				  .part = q->part,
				  .timeout_s = q->timeout_s };
	struct http_answer answer;
	bool sent = false;
	struct kin_error *err = http_ask(to->http, &r, &answer, &sent);
	*ret = (struct store_answer){ .bytes = answer.bytes, .timed_out = answer.timed_out };
	if (err) {
		ret->outcome = sent ? STORE_UNKNOWN : STORE_NOT_REACHED;
		err = err_wrap(err, "%s", s->url->shards.at[shard]);
	} else if (answer.status != 200) {
		ret->outcome = STORE_REFUSED;
		err = refused(s, shard, answer.status, ret);
	}
	free(url);
	free(sql);
	return err;
}

struct kin_error *store_odd_answer(const struct store *s, size_t shard)
{
	return err_new(KIN_ERROR_OS,
		       "%s does not answer as ClickHouse does: look at the address, and at a "
		       "proxy before the server",
		       s->url->shards.at[shard]);
}

/* A proxy or another kind of server may confirm anything. An answer to a query for a number shows
 * that this is a store. Such a query takes no time, so it has a short timeout: a server that
 * accepts connections and says nothing does not delay us as long as a query may take. */
static struct kin_error *greet(struct store *s, size_t shard, struct store_answer *ret)
{
	enum { LONGEST_S = 30 };
	uint64_t number = clock_now_ns();
	char *sql = xprintf("SELECT toUInt64(%" PRIu64 ") FORMAT RowBinary", number);
	const struct store_query query = { .sql = sql, .timeout_s = LONGEST_S };
	struct kin_error *err = request(s, shard, &query, ret);
	struct bytes all = bytes_of("", ret->bytes.at, ret->bytes.n);
	if (!err && (ret->bytes.n != sizeof(number) || bytes_u64(&all) != number))
		err = store_odd_answer(s, shard);
	if (err && ret->outcome != STORE_REFUSED)
		ret->outcome = STORE_NOT_REACHED;
	free(sql);
	return err;
}

struct kin_error *store_ask(struct store *s, size_t shard, const struct store_query *q,
			    struct store_answer *ret)
{
	struct kin_error *err = s->shards[shard].greeted ? NULL : greet(s, shard, ret);
	if (err)
		return err;
	if (!s->shards[shard].greeted)
		vec_free(&ret->bytes);
	s->shards[shard].greeted = true;
	return request(s, shard, q, ret);
}

struct kin_error *store_is_begun(struct store *s, size_t shard, bool *ret)
{
	struct store_answer a = { 0 };
	char *sql = xprintf("SELECT count() FROM system.tables WHERE database = '%s' FORMAT "
			    "RowBinary",
			    s->url->database);
	struct kin_error *err = store_ask(s, shard, &(struct store_query){ .sql = sql }, &a);
	struct bytes all = bytes_of("", a.bytes.at, a.bytes.n);
	if (!err && a.bytes.n != sizeof(uint64_t))
		err = store_odd_answer(s, shard);
	*ret = !err && bytes_u64(&all) > 0;
	vec_free(&a.bytes);
	free(sql);
	return err;
}

/* ---- tables ---- */

const struct rollup_span rollup_spans[N_ROLLUP_SPANS] = {
	[ROLLUP_HOURS] = { "", "hour", 3600 },
	[ROLLUP_DAYS] = { "day_", "day", 86400 },
};

/* Without codecs, TTL, LowCardinality and other features that servers of 2018 lack.
 * old_parts_lifetime: merged parts are removed soon, so that a dropped partition does not come back
 * with them (doc/fleet.md). */
#define ROLLUP_TABLES(prefix)                                                                      \
	"CREATE TABLE IF NOT EXISTS {db}." prefix                                                  \
	"rollups (bucket DateTime, service UInt64, event UInt64, stack UInt64, rollup UInt64, "    \
	"low UInt64, high UInt64, count UInt64) ENGINE = MergeTree PARTITION BY toDate(bucket) "   \
	"ORDER BY (service, event, bucket, stack, rollup) SETTINGS old_parts_lifetime = 1",        \
		"CREATE TABLE IF NOT EXISTS {db}." prefix                                          \
		"rollup_batches (bucket DateTime, rollup UInt64, content UInt64, batch UInt64) "   \
		"ENGINE = MergeTree PARTITION BY toDate(bucket) "                                  \
		"ORDER BY (bucket, rollup, content) SETTINGS old_parts_lifetime = 1",              \
		"CREATE TABLE IF NOT EXISTS {db}." prefix                                          \
		"rollup_receipts (bucket DateTime, rollup UInt64, service String, "                \
		"version String, recordings UInt64) ENGINE = MergeTree "                           \
		"PARTITION BY toDate(bucket) ORDER BY (bucket, rollup) "                           \
		"SETTINGS old_parts_lifetime = 1"

static const char *const tables[] = {
	"CREATE DATABASE IF NOT EXISTS {db}",
	"CREATE TABLE IF NOT EXISTS {db}.samples (bucket DateTime, service UInt64, event UInt64, "
	"stack UInt64, batch UInt64, weight UInt64, count UInt64) ENGINE = MergeTree "
	"PARTITION BY toDate(bucket) ORDER BY (service, event, bucket, stack, batch) "
	"SETTINGS old_parts_lifetime = 1",
	"CREATE TABLE IF NOT EXISTS {db}.stacks (stack UInt64, comm String, flags UInt8, "
	"frames Array(UInt64), functions Array(UInt64)) ENGINE = ReplacingMergeTree ORDER BY stack",
	"CREATE TABLE IF NOT EXISTS {db}.frames (frame UInt64, function UInt64, file String, "
	"line UInt32, flags UInt8, address UInt64) ENGINE = ReplacingMergeTree ORDER BY frame",
	"CREATE TABLE IF NOT EXISTS {db}.functions (function UInt64, name String, file String, "
	"line UInt32, object String, build_id String, kind UInt8, flags UInt8, address UInt64) "
	"ENGINE = ReplacingMergeTree ORDER BY function",
	"CREATE TABLE IF NOT EXISTS {db}.events (event UInt64, name String, unit String, "
	"kind UInt8, period UInt64, frequency UInt64) ENGINE = ReplacingMergeTree ORDER BY event",
	"CREATE TABLE IF NOT EXISTS {db}.receipts (low DateTime, high DateTime, content UInt64, "
	"batch UInt64, service String, version String, host String, labels Array(String), "
	"rows UInt64, samples UInt64, doubts Array(String)) ENGINE = MergeTree "
	"PARTITION BY toDate(low) ORDER BY (service, low, host, content, batch) "
	"SETTINGS old_parts_lifetime = 1",
	ROLLUP_TABLES(""),
	ROLLUP_TABLES("day_"),
};

struct kin_error *store_create(struct store *s, size_t shard)
{
	struct kin_error *err = NULL;
	for (size_t i = 0; i < ARRAY_LEN(tables) && !err; i++) {
		struct store_answer a;
		err = store_ask(s, shard, &(struct store_query){ .sql = tables[i] }, &a);
		vec_free(&a.bytes);
	}
	return err ? err_wrap(err, "making the tables") : NULL;
}

char *store_quoted(const char *text)
{
	char *ret = xalloc(4 * strlen(text) + 3), *p = ret;
	*p++ = '\'';
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			     (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.' || c == ' ';
		p += plain ? sprintf(p, "%c", c) : sprintf(p, "\\x%02x", c);
	}
	*p++ = '\'';
	return ret;
}

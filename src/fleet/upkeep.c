/* upkeep.c - makes rollups, and drops days.
 *
 * The list of what a rollup is of comes first, then its rows, last its receipt: one that was
 * interrupted has none, and does not count. Of two that were made at the same time of the same
 * recordings one counts (fleet_read.c). */
#include "fleet/upkeep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/err.h"
#include "fleet/fleet_rows_hash.h"
#include "fleet/store.h"

enum { HOUR_S = 3600 };

struct hour { /* of one service and version */
	uint32_t begin_s;
	char *service, *version; /* as SQL has them; owned */
	uint64_t service_id;
};

struct upkeep {
	const struct store_url *url;
	const struct upkeep_opts *opts;
	struct store *store;
	size_t shard;
	struct upkeep_result *result;
};

/* ---- the store's answers ---- */

/* *ret is to be freed, also after an error; NULL: nobody needs it. */
static struct kin_error *ask(struct upkeep *t, const char *sql, struct http_bytes *ret)
{
	struct store_answer a = { 0 };
	struct kin_error *err =
		store_ask(t->store, t->shard, &(struct store_query){ .sql = sql }, &a);
	if (ret && !err)
		*ret = a.bytes;
	else
		vec_free(&a.bytes);
	return err;
}

/* Frees sql. */
static struct kin_error *ask_own(struct upkeep *t, char *sql, struct http_bytes *ret)
{
	struct kin_error *err = ask(t, sql, ret);
	free(sql);
	return err;
}

static struct kin_error *damaged(const struct upkeep *t)
{
	return err_new(KIN_ERROR_FORMAT, "%s: its answer is cut off, or damaged",
		       t->url->shards.at[t->shard]);
}

static char *read_text(struct bytes *b)
{
	struct bytes text = bytes_take(b, bytes_uleb(b));
	return xprintf("%.*s", (int)bytes_left(&text), (const char *)text.pos);
}

/* ---- rollups ---- */

/* Recordings of whole hours that are in no rollup yet. */
#define LEFT                                                                                       \
	"intDiv(toUInt32(low), 3600) = intDiv(toUInt32(high), 3600) AND content NOT IN (SELECT "   \
	"content FROM {db}.rollup_batches WHERE rollup IN (SELECT rollup FROM "                    \
	"{db}.rollup_receipts))"

static struct kin_error *put_list(struct upkeep *t, const struct hour *h, uint64_t rollup)
{
	return ask_own(t,
		       xprintf("INSERT INTO {db}.rollup_batches SELECT toDateTime(%" PRIu32
			       "), toUInt64(%" PRIu64 "), content, min(batch) FROM {db}.receipts "
			       "WHERE low >= toDateTime(%" PRIu32 ") AND high < toDateTime(%" PRIu32
			       ") AND service = %s AND version = %s AND " LEFT " GROUP BY content",
			       h->begin_s, rollup, h->begin_s, h->begin_s + HOUR_S, h->service,
			       h->version),
		       NULL);
}

static struct kin_error *put_sums(struct upkeep *t, const struct hour *h, uint64_t rollup)
{
	return ask_own(
		t,
		xprintf("INSERT INTO {db}.rollups SELECT toDateTime(%" PRIu32 "), service, event, "
			"stack, toUInt64(%" PRIu64 "), sum(bitAnd(weight, toUInt64(4294967295))), "
			"sum(bitShiftRight(weight, 32)), sum(count) FROM {db}.samples WHERE bucket "
			">= toDateTime(%" PRIu32 ") AND bucket < toDateTime(%" PRIu32
			") AND service = %" PRIu64
			" AND batch IN (SELECT batch FROM {db}.rollup_batches WHERE bucket = "
			"toDateTime(%" PRIu32 ") AND rollup = %" PRIu64
			") GROUP BY service, event, stack",
			h->begin_s, rollup, h->begin_s, h->begin_s + HOUR_S, h->service_id,
			h->begin_s, rollup),
		NULL);
}

/* Whether it has all samples that its recordings' receipts speak of; how many these are. */
static struct kin_error *check(struct upkeep *t, const struct hour *h, uint64_t rollup,
			       uint64_t *recordings)
{
	struct http_bytes answer = { 0 };
	struct kin_error *err = ask_own(
		t,
		xprintf("SELECT n, samples, counted FROM (SELECT 1 AS one, count() AS n, "
			"sum(samples) AS samples FROM {db}.receipts WHERE low >= "
			"toDateTime(%" PRIu32 ") AND low < toDateTime(%" PRIu32
			") AND batch IN (SELECT batch FROM {db}.rollup_batches WHERE bucket = "
			"toDateTime(%" PRIu32 ") AND rollup = %" PRIu64
			")) ALL INNER JOIN (SELECT 1 AS one, sum(count) AS counted FROM "
			"{db}.rollups WHERE bucket = toDateTime(%" PRIu32 ") AND rollup = %" PRIu64
			") USING one FORMAT RowBinary",
			h->begin_s, h->begin_s + HOUR_S, h->begin_s, rollup, h->begin_s, rollup),
		&answer);
	struct bytes all = bytes_of("", answer.at, answer.n);
	if (!err) {
		*recordings = bytes_u64(&all);
		uint64_t samples = bytes_u64(&all), counted = bytes_u64(&all);
		if (all.failed)
			err = damaged(t);
		else if (samples != counted)
			err = err_new(KIN_ERROR_FORMAT,
				      "%s: an hour's rollup has %" PRIu64 " samples of %" PRIu64
				      ", and does not count",
				      t->url->shards.at[t->shard], counted, samples);
	}
	vec_free(&answer);
	return err;
}

static struct kin_error *put_receipt(struct upkeep *t, const struct hour *h, uint64_t rollup,
				     uint64_t recordings)
{
	return ask_own(t,
		       xprintf("INSERT INTO {db}.rollup_receipts SELECT toDateTime(%" PRIu32
			       "), toUInt64(%" PRIu64 "), %s, %s, toUInt64(%" PRIu64 ")",
			       h->begin_s, rollup, h->service, h->version, recordings),
		       NULL);
}

static struct kin_error *roll_up(struct upkeep *t, const struct hour *h)
{
	uint64_t rollup, recordings = 0;
	if (getrandom(&rollup, sizeof(rollup), 0) != sizeof(rollup))
		rollup = rows_hash_number((uint64_t)time(NULL), h->begin_s);
	struct kin_error *err;
	if ((err = put_list(t, h, rollup)) || (err = put_sums(t, h, rollup)) ||
	    (err = check(t, h, rollup, &recordings)) ||
	    (err = put_receipt(t, h, rollup, recordings)))
		return err;
	t->result->rollups++;
	t->result->recordings += recordings;
	return NULL;
}

/* One recording is its own sum. */
static struct kin_error *roll_up_hours(struct upkeep *t)
{
	struct http_bytes answer = { 0 };
	struct kin_error *err =
		ask_own(t,
			xprintf("SELECT intDiv(toUInt32(low), 3600) AS hour, service, version FROM "
				"{db}.receipts WHERE high < toDateTime(%" PRIu64 ") AND " LEFT
				" GROUP BY hour, service, version HAVING uniqExact(content) > 1 "
				"ORDER BY hour FORMAT RowBinary",
				t->opts->before_s - t->opts->before_s % HOUR_S),
			&answer);
	struct bytes all = bytes_of("", answer.at, answer.n);
	while (!err && bytes_left(&all)) {
		struct hour h = { .begin_s = bytes_u32(&all) * HOUR_S };
		char *service = read_text(&all), *version = read_text(&all);
		h.service = store_quoted(service);
		h.version = store_quoted(version);
		h.service_id = rows_hash_end(rows_hash_text(ROWS_HASH_START, service));
		err = all.failed ? damaged(t) : roll_up(t, &h);
		free(h.service);
		free(h.version);
		free(service);
		free(version);
	}
	vec_free(&answer);
	return err;
}

/* ---- days ---- */

/* What says that rows count goes before the rows. */
static struct kin_error *drop_day(struct upkeep *t, const char *day)
{
	static const char *const tables[] = { "rollup_receipts", "receipts", "rollups",
					      "rollup_batches", "samples" };
	struct kin_error *err = NULL;
	for (size_t i = 0; i < ARRAY_LEN(tables) && !err; i++)
		err = ask_own(t, xprintf("ALTER TABLE {db}.%s DROP PARTITION '%s'", tables[i], day),
			      NULL);
	t->result->days += !err;
	return err;
}

static bool is_day(const char *text)
{
	static const char form[] = "dddd-dd-dd";
	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return false;
	return true;
}

static struct kin_error *drop_days(struct upkeep *t)
{
	struct http_bytes answer = { 0 };
	char *quoted = store_quoted(t->url->database);
	struct kin_error *err = ask_own(
		t,
		xprintf("SELECT DISTINCT partition FROM system.parts WHERE active AND database = "
			"%s AND table IN ('samples', 'receipts') AND partition < "
			"toString(toDate(toDateTime(%" PRIu64
			"))) ORDER BY partition FORMAT RowBinary",
			quoted, t->opts->keep_from_s),
		&answer);
	struct bytes all = bytes_of("", answer.at, answer.n);
	while (!err && bytes_left(&all)) {
		char *day = read_text(&all);
		err = all.failed || !is_day(day) ? damaged(t) : drop_day(t, day);
		free(day);
	}
	vec_free(&answer);
	free(quoted);
	return err;
}

/* ---- all of it ---- */

struct kin_error *upkeep_do(const struct store_url *url, const struct upkeep_opts *opts,
			    struct upkeep_result *ret)
{
	*ret = (struct upkeep_result){ 0 };
	struct upkeep t = { .url = url, .opts = opts, .result = ret };
	struct kin_error *err = store_new(url, &t.store);
	for (; !err && t.shard < url->shards.n; t.shard++) {
		err = store_create(t.store, t.shard); /* what an older kin did not make */
		if (!err && opts->keep_from_s)
			err = drop_days(&t);
		if (!err)
			err = roll_up_hours(&t);
	}
	store_free(t.store);
	return err;
}

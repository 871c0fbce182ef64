/* upkeep.c - makes rollups, and drops old days.
 *
 * For a rollup the list of its recordings is written first, then its rows, and its receipt last. An
 * interrupted rollup has no receipt and does not count. If two rollups made at the same time
 * contain the same recordings, one of them counts (fleet_sql.c). */
#include "fleet/upkeep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/err.h"
#include "formats/rows/rows_hash.h"

struct rollup { /* a rollup to be made, of one service and version */
	const struct rollup_span *span;
	uint32_t begin_s;
	char *service, *version; /* SQL strings; owned */
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

/* Runs a query. Free *ret, also after an error; NULL: the answer is not needed. */
static struct kin_error *ask(struct upkeep *t, const char *sql, struct row_buffer *ret)
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

/* The same, and frees sql. */
static struct kin_error *ask_own(struct upkeep *t, char *sql, struct row_buffer *ret)
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

static uint32_t end_of(const struct rollup *r) { return r->begin_s + r->span->seconds; }

static char *read_text(struct bytes *b)
{
	struct bytes text = bytes_take(b, bytes_uleb(b));
	return xprintf("%.*s", (int)bytes_left(&text), (const char *)text.pos);
}

/* ---- rollups ---- */

/* The condition for recordings within one hour or day that are in no rollup of that span yet. A
 * format; its arguments: the seconds twice, the prefix of the tables twice. */
#define LEFT                                                                                       \
	"intDiv(toUInt32(low), %" PRIu32 ") = intDiv(toUInt32(high), %" PRIu32                     \
	") AND content NOT IN (SELECT content FROM {db}.%srollup_batches WHERE rollup IN (SELECT " \
	"rollup FROM {db}.%srollup_receipts))"
#define LEFT_OF(span) (span)->seconds, (span)->seconds, (span)->prefix, (span)->prefix

static struct kin_error *put_list(struct upkeep *t, const struct rollup *r, uint64_t id)
{
	return ask_own(t,
		       xprintf("INSERT INTO {db}.%srollup_batches SELECT toDateTime(%" PRIu32
			       "), toUInt64(%" PRIu64 "), content, min(batch) FROM {db}.receipts "
			       "WHERE low >= toDateTime(%" PRIu32 ") AND high < toDateTime(%" PRIu32
			       ") AND service = %s AND version = %s AND " LEFT " GROUP BY content",
			       r->span->prefix, r->begin_s, id, r->begin_s, end_of(r), r->service,
			       r->version, LEFT_OF(r->span)),
		       NULL);
}

static struct kin_error *put_sums(struct upkeep *t, const struct rollup *r, uint64_t id)
{
	return ask_own(
		t,
		xprintf("INSERT INTO {db}.%srollups SELECT toDateTime(%" PRIu32 "), service, "
			"event, stack, toUInt64(%" PRIu64 "), "
			"sum(bitAnd(weight, toUInt64(4294967295))), "
			"sum(bitShiftRight(weight, 32)), sum(count) FROM {db}.samples WHERE bucket "
			">= toDateTime(%" PRIu32 ") AND bucket < toDateTime(%" PRIu32
			") AND service = %" PRIu64
			" AND batch IN (SELECT batch FROM {db}.%srollup_batches WHERE bucket = "
			"toDateTime(%" PRIu32 ") AND rollup = %" PRIu64
			") GROUP BY service, event, stack",
			r->span->prefix, r->begin_s, id, r->begin_s, end_of(r), r->service_id,
			r->span->prefix, r->begin_s, id),
		NULL);
}

/* Checks that the rollup has all samples that its recordings' receipts promise. *recordings: how
 * many recordings it has. */
static struct kin_error *check(struct upkeep *t, const struct rollup *r, uint64_t id,
			       uint64_t *recordings)
{
	struct row_buffer answer = { 0 };
	const char *prefix = r->span->prefix;
	struct kin_error *err = ask_own(
		t,
		xprintf("SELECT n, samples, counted FROM (SELECT 1 AS one, count() AS n, "
			"sum(samples) AS samples FROM {db}.receipts WHERE low >= "
			"toDateTime(%" PRIu32 ") AND low < toDateTime(%" PRIu32
			") AND batch IN (SELECT batch FROM {db}.%srollup_batches WHERE bucket = "
			"toDateTime(%" PRIu32 ") AND rollup = %" PRIu64
			")) ALL INNER JOIN (SELECT 1 AS one, sum(count) AS counted FROM "
			"{db}.%srollups WHERE bucket = toDateTime(%" PRIu32
			") AND rollup = %" PRIu64 ") USING one FORMAT RowBinary",
			r->begin_s, end_of(r), prefix, r->begin_s, id, prefix, r->begin_s, id),
		&answer);
	struct bytes all = bytes_of("", answer.at, answer.n);
	if (!err) {
		*recordings = bytes_u64(&all);
		uint64_t samples = bytes_u64(&all), counted = bytes_u64(&all);
		if (all.failed)
			err = damaged(t);
		else if (samples != counted)
			err = err_new(KIN_ERROR_FORMAT,
				      "%s: the rollup of a%s %s has %" PRIu64 " samples of %" PRIu64
				      ", and does not count",
				      t->url->shards.at[t->shard],
				      r->span == &rollup_spans[ROLLUP_HOURS] ? "n" : "",
				      r->span->word, counted, samples);
	}
	vec_free(&answer);
	return err;
}

static struct kin_error *put_receipt(struct upkeep *t, const struct rollup *r, uint64_t id,
				     uint64_t recordings)
{
	return ask_own(t,
		       xprintf("INSERT INTO {db}.%srollup_receipts SELECT toDateTime(%" PRIu32
			       "), toUInt64(%" PRIu64 "), %s, %s, toUInt64(%" PRIu64 ")",
			       r->span->prefix, r->begin_s, id, r->service, r->version, recordings),
		       NULL);
}

static struct kin_error *roll_up(struct upkeep *t, const struct rollup *r)
{
	uint64_t id, recordings = 0;
	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		id = rows_hash_number((uint64_t)time(NULL), r->begin_s);
	struct kin_error *err;
	if ((err = put_list(t, r, id)) || (err = put_sums(t, r, id)) ||
	    (err = check(t, r, id, &recordings)) || (err = put_receipt(t, r, id, recordings)))
		return err;
	t->result->rollups[r->span - rollup_spans]++;
	t->result->recordings += recordings;
	return NULL;
}

/* A single recording needs no rollup. */
static struct kin_error *roll_up_all(struct upkeep *t, const struct rollup_span *span)
{
	struct row_buffer answer = { 0 };
	struct kin_error *err = ask_own(
		t,
		xprintf("SELECT intDiv(toUInt32(low), %" PRIu32
			") AS begin, service, version FROM {db}.receipts WHERE high < "
			"toDateTime(%" PRIu64 ") AND " LEFT
			" GROUP BY begin, service, version HAVING uniqExact(content) > 1 "
			"ORDER BY begin FORMAT RowBinary",
			span->seconds, t->opts->before_s - t->opts->before_s % span->seconds,
			LEFT_OF(span)),
		&answer);
	struct bytes all = bytes_of("", answer.at, answer.n);
	while (!err && bytes_left(&all)) {
		struct rollup r = { .span = span, .begin_s = bytes_u32(&all) * span->seconds };
		char *service = read_text(&all), *version = read_text(&all);
		r.service = store_quoted(service);
		r.version = store_quoted(version);
		r.service_id = rows_hash_end(rows_hash_text(ROWS_HASH_START, service));
		err = all.failed ? damaged(t) : roll_up(t, &r);
		free(r.service);
		free(r.version);
		free(service);
		free(version);
	}
	vec_free(&answer);
	return err;
}

/* ---- old days ---- */

/* Receipts are dropped before the rows that they make count. */
static struct kin_error *drop_day(struct upkeep *t, const char *day)
{
	static const char *const tables[] = {
		"day_rollup_receipts", "rollup_receipts", "receipts", "day_rollups", "rollups",
		"day_rollup_batches",  "rollup_batches",  "samples",
	};
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
	struct row_buffer answer = { 0 };
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

/* ---- upkeep of a shard ---- */

struct kin_error *upkeep_do(struct store *store, const struct store_url *url, size_t shard,
			    const struct upkeep_opts *opts, struct upkeep_result *result)
{
	struct upkeep t = {
		.url = url, .opts = opts, .store = store, .shard = shard, .result = result
	};
	bool begun;
	struct kin_error *err = store_is_begun(store, shard, &begun);
	if (err || !begun)
		return err;
	result->shards++;
	err = store_create(store, shard); /* tables that an older kin did not create */
	if (!err && opts->keep_from_s)
		err = drop_days(&t);
	for (size_t i = 0; i < N_ROLLUP_SPANS && !err; i++)
		err = roll_up_all(&t, &rollup_spans[i]);
	return err;
}

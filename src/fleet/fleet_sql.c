/* fleet_sql.c - writes the queries, from the filters and times of a store's URL. */
#include "fleet/fleet_sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/http.h"
#include "formats/rows/rows_hash.h"

static const char *column_of(const char *key)
{
	static const char *const columns[] = { "service", "version", "host" };
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (!strcmp(key, columns[i]))
			return columns[i];
	return NULL;
}

static bool is_first_of_key(const struct store_url *u, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(u->filters.at[k].key, u->filters.at[i].key))
			return false;
	return true;
}

static void add_value(FILE *f, const struct store_filter *filter)
{
	const char *column = column_of(filter->key);
	char *text = column ? xprintf("%s", filter->value)
			    : xprintf("%s=%s", filter->key, filter->value);
	char *quoted = store_quoted(text);
	fprintf(f, column ? "%s" : "has(labels, %s)", quoted);
	free(quoted);
	free(text);
}

/* Filters of the same key are alternatives; different keys must all match. */
static void add_filters(FILE *f, const struct store_url *u)
{
	for (size_t i = 0; i < u->filters.n; i++) {
		const char *column = column_of(u->filters.at[i].key), *between = "";
		if (!is_first_of_key(u, i))
			continue;
		fprintf(f, " AND %s%s(", column ? column : "", column ? " IN " : "");
		for (size_t k = i; k < u->filters.n; k++) {
			if (strcmp(u->filters.at[k].key, u->filters.at[i].key) != 0)
				continue;
			fputs(between, f);
			add_value(f, &u->filters.at[k]);
			between = column ? ", " : " OR ";
		}
		fputs(")", f);
	}
}

/* Rows without a receipt do not count. If a recording has several receipts one of them counts. */
static void add_receipts(FILE *f, const struct store_url *u, const char *what)
{
	fprintf(f,
		"SELECT %s FROM {db}.receipts WHERE high >= toDateTime(%" PRIu64
		") AND low < toDateTime(%" PRIu64 ")",
		what, u->from_s, u->to_s);
	add_filters(f, u);
}

static void add_services(FILE *f, const struct store_url *u)
{
	const char *between = " AND service IN (";
	for (size_t i = 0; i < u->filters.n; i++) {
		if (strcmp(u->filters.at[i].key, "service") != 0)
			continue;
		fprintf(f, "%s%" PRIu64, between,
			rows_hash_end(rows_hash_text(ROWS_HASH_START, u->filters.at[i].value)));
		between = ", ";
	}
	if (*between == ',')
		fputs(")", f);
}

/* Rollups cover whole hours or days, and a short time contains none. */
static bool has_whole(const struct store_url *u, const struct rollup_span *span)
{
	uint64_t before = u->from_s % span->seconds;
	uint64_t first = before ? u->from_s - before + span->seconds : u->from_s;

	return first + span->seconds <= u->to_s;
}

bool fleet_sql_may_use_rollups(const struct store_url *u, const struct rollup_span *span)
{
	for (size_t i = 0; i < u->filters.n; i++)
		if (strcmp(u->filters.at[i].key, "service") != 0 &&
		    strcmp(u->filters.at[i].key, "version") != 0)
			return false;
	return has_whole(u, span);
}

/* A rollup sums recordings of one hour or day, so rollups outside the requested time need not be
 * read. */
static void add_span(FILE *f, const struct store_url *u, const struct rollup_span *span)
{
	fprintf(f, "bucket >= toDateTime(%" PRIu64 ") AND bucket <= toDateTime(%" PRIu64 ")",
		u->from_s, u->to_s - span->seconds);
}

/* The recordings in the rollups that the table `ids` lists. */
static void add_contents(FILE *f, const struct store_url *u, const struct rollup_span *span)
{
	fprintf(f, "(SELECT content FROM {db}.%srollup_batches WHERE ", span->prefix);
	add_span(f, u, span);
	fputs(" AND rollup IN (SELECT id FROM ids))", f);
}

/* Two rollups made at the same time may both contain one recording; the one with the smaller id
 * counts. ALL, because since 20.1 servers return only one row per key for ANY. */
char *fleet_sql_rollups(const struct store_url *u, const struct rollup_span *span, bool after_days)
{
	char *sql = NULL, *within = NULL;
	size_t size;
	FILE *f = xopen_memstream(&within, &size);
	add_span(f, u, span);
	xclose_memstream(f, &within);
	const char *p = span->prefix;
	f = xopen_memstream(&sql, &size);
	fprintf(f, "SELECT rollup FROM {db}.%srollup_receipts WHERE %s", p, within);
	add_filters(f, u);
	fprintf(f,
		" AND rollup NOT IN (SELECT rollup FROM (SELECT content, rollup FROM "
		"{db}.%srollup_batches WHERE %s AND rollup IN (SELECT rollup FROM "
		"{db}.%srollup_receipts WHERE %s)) ALL INNER JOIN (SELECT content, min(rollup) AS "
		"smallest FROM {db}.%srollup_batches WHERE %s AND rollup IN (SELECT rollup FROM "
		"{db}.%srollup_receipts WHERE %s) GROUP BY content HAVING count() > 1) USING "
		"content WHERE rollup != smallest)",
		p, within, p, within, p, within, p, within);
	if (after_days) {
		fprintf(f,
			" AND rollup NOT IN (SELECT rollup FROM {db}.%srollup_batches WHERE %s AND "
			"content IN ",
			p, within);
		add_contents(f, u, &rollup_spans[ROLLUP_DAYS]);
		fputs(")", f);
	}
	fputs(" FORMAT RowBinary", f);
	xclose_memstream(f, &sql);
	free(within);
	return sql;
}

/* Adds up single recordings. Sums may exceed 64 bits, where the server would wrap; low and high
 * halves are summed separately, so that kin can saturate instead. Recordings in the chosen rollups
 * are left out. PREWHERE drops the columns of its conditions once they are checked, so that only
 * the summed columns are filtered and passed on: it takes 0.9 of the time. */
static void add_samples(FILE *f, const struct store_url *u, const struct fleet_sums *of)
{
	fprintf(f,
		"stack, sum(bitAnd(weight, toUInt64(4294967295))), sum(bitShiftRight(weight, 32)), "
		"sum(count) FROM {db}.samples PREWHERE bucket >= toDateTime(%" PRIu64
		") AND bucket < toDateTime(%" PRIu64 ")",
		u->from_s, u->to_s);
	add_services(f, u);
	fputs(" AND batch IN (", f);
	add_receipts(f, u, "min(batch)");
	for (size_t i = 0; i < N_ROLLUP_SPANS; i++) {
		if (!of->rollups[i])
			continue;
		fputs(" AND content NOT IN ", f);
		add_contents(f, u, &rollup_spans[i]);
	}
	if (of->without)
		fputs(" AND content NOT IN (SELECT id FROM ids)", f);
	fputs(" GROUP BY content)", f);
}

static void add_rollups(FILE *f, const struct store_url *u, const struct rollup_span *span)
{
	fprintf(f, "stack, sum(low), sum(high), sum(count) FROM {db}.%srollups PREWHERE ",
		span->prefix);
	add_span(f, u, span);
	add_services(f, u);
	fputs(" AND rollup IN (SELECT id FROM ids)", f);
}

/* The condition for any other event, in a form for which the server can use an index. */
static void add_others(FILE *f, const struct fleet_sums *of)
{
	fprintf(f, " AND (event < %" PRIu64, of->events[0]);
	for (size_t i = 1; i < of->n; i++)
		fprintf(f, " OR (event > %" PRIu64 " AND event < %" PRIu64 ")", of->events[i - 1],
			of->events[i]);
	fprintf(f, " OR event > %" PRIu64 ")", of->events[of->n - 1]);
}

/* Sums grouped by one number take the server half as long as by two, so known events are queried
 * one by one. The last query covers all other events, such as new ones. `span` NULL: single
 * recordings. */
static void add_selects(FILE *f, const struct store_url *u, const struct fleet_sums *of,
			const struct rollup_span *span)
{
	for (size_t i = 0; i <= of->n; i++) {
		bool one = i < of->n;
		fputs(i || span ? " UNION ALL SELECT " : "SELECT ", f);
		if (one)
			fprintf(f, "toUInt64(%" PRIu64 "), ", of->events[i]);
		else
			fputs("event, ", f);
		if (span)
			add_rollups(f, u, span);
		else
			add_samples(f, u, of);
		if (one)
			fprintf(f, " AND event = %" PRIu64, of->events[i]);
		else if (of->n)
			add_others(f, of);
		fputs(one ? " GROUP BY stack" : " GROUP BY event, stack", f);
	}
}

/* The marker row, which shows that the answer is complete even if it has no recordings. */
static void add_mark(FILE *f, const struct store_url *u, const struct fleet_sums *of)
{
	fputs(" UNION ALL ", f);
	add_receipts(f, u,
		     "toUInt64(0), toUInt64(0), uniqExact(content), toUInt64(0), toUInt64(0)");
	fputs(" AND notEmpty(doubts)", f);
	if (of->without)
		fputs(" AND content NOT IN (SELECT id FROM ids)", f);
	fputs(" FORMAT RowBinary", f);
}

static char *sums_sql(const struct store_url *u, const struct fleet_sums *of)
{
	char *sql = NULL;
	size_t size;
	FILE *f = xopen_memstream(&sql, &size);
	add_selects(f, u, of, NULL);
	for (size_t i = 0; i < N_ROLLUP_SPANS; i++)
		if (of->rollups[i])
			add_selects(f, u, of, &rollup_spans[i]);
	add_mark(f, u, of);
	xclose_memstream(f, &sql);
	return sql;
}

bool fleet_sql_fits_url(const char *sql)
{
	enum { MOST = 14000 };
	char *escaped = http_escaped(sql);
	bool fits = strlen(escaped) < MOST;
	free(escaped);
	return fits;
}

char *fleet_sql_sums(const struct store_url *u, struct fleet_sums *of)
{
	enum { EVENTS_MAX = 8 };
	of->n = of->n <= EVENTS_MAX ? of->n : 0;
	char *sql = sums_sql(u, of);
	if (fleet_sums_have_ids(of) && of->n && !fleet_sql_fits_url(sql)) {
		struct fleet_sums together = *of;
		together.n = 0;
		free(sql);
		sql = sums_sql(u, &together);
	}
	if (fleet_sums_have_rollups(of) && !fleet_sql_fits_url(sql)) {
		memset(of->rollups, 0, sizeof(of->rollups));
		free(sql);
		sql = sums_sql(u, of);
	}
	return sql;
}

size_t fleet_sql_contents_most(const struct store_url *u)
{
	enum { OF_A_SHARD = 1 << 16, OF_ALL = 1 << 20 };
	size_t n = OF_ALL / u->shards.n;
	return n < OF_A_SHARD ? n : OF_A_SHARD;
}

char *fleet_sql_contents(const struct store_url *u)
{
	char *sql = NULL;
	size_t size;
	FILE *f = xopen_memstream(&sql, &size);
	fputs("SELECT content FROM (", f);
	add_receipts(f, u, "DISTINCT content");
	fprintf(f,
		" ORDER BY content LIMIT %zu) UNION ALL SELECT toUInt64(0) AS content "
		"FORMAT RowBinary",
		fleet_sql_contents_most(u));
	xclose_memstream(f, &sql);
	return sql;
}

/* fleet_export.c - the formats "jsonl", "csv" and "rowbinary": sums of samples by stack and minute,
 * a row each, for databases that read such files (doc/fleet.md).
 *
 * A row needs no other table: its stack is there in lists that belong together, outermost first. */
#include <stdlib.h>
#include <time.h>

#include "base/csv.h"
#include "base/err.h"
#include "base/json.h"
#include "base/map64.h"
#include "base/num.h"
#include "fleet/fleet_rows.h"
#include "fleet/store.h"
#include "formats/formats.h"

/* What a stack has a list of. */
enum export_list {
	LIST_FUNCTIONS,
	LIST_FILES,
	LIST_LINES,
	LIST_OBJECTS,
	LIST_BUILD_IDS,
	LIST_INLINED
};

static const char *const list_names[] = {
	[LIST_FUNCTIONS] = "functions", [LIST_FILES] = "files",         [LIST_LINES] = "lines",
	[LIST_OBJECTS] = "objects",     [LIST_BUILD_IDS] = "build_ids", [LIST_INLINED] = "inlined",
};

struct exporter {
	struct rows rows;
	struct map64 functions; /* by id: index of rows */
	struct sink sink;
	struct http_bytes bytes; /* of a row of RowBinary */
};

struct export_row {
	const struct rows_sum *sum;
	const struct rows_event *event;
	const struct rows_stack *stack;
};

/* ---- what is in a row ---- */

static const struct rows_frame *frame_at(const struct exporter *e, const struct export_row *r,
					 size_t i)
{
	return &e->rows.frames.at[e->rows.path.at[r->stack->first + i]];
}

static const struct rows_function *function_at(const struct exporter *e, const struct export_row *r,
					       size_t i)
{
	return &e->rows.functions.at[map64_get(&e->functions, frame_at(e, r, i)->function)];
}

static const char *text_at(const struct exporter *e, const struct export_row *r,
			   enum export_list list, size_t i)
{
	switch (list) {
	case LIST_FUNCTIONS:
		return function_at(e, r, i)->name;
	case LIST_OBJECTS:
		return function_at(e, r, i)->object;
	case LIST_BUILD_IDS:
		return function_at(e, r, i)->build_id;
	case LIST_FILES:
		return frame_at(e, r, i)->file;
	case LIST_LINES:
	case LIST_INLINED:
		break;
	}
	return "";
}

static bool is_number(enum export_list list) { return list == LIST_LINES || list == LIST_INLINED; }

static uint32_t number_at(const struct exporter *e, const struct export_row *r,
			  enum export_list list, size_t i)
{
	const struct rows_frame *x = frame_at(e, r, i);
	return list == LIST_LINES ? x->line : (x->flags & ROWS_INLINED) != 0;
}

/* ---- as text ---- */

static void put_number(struct sink *s, uint64_t v) { s->n += num_u64(sink_room(s, NUM_MAX), v); }

/* "2026-01-31 12:00:00", UTC */
static void put_time(struct sink *s, uint32_t seconds)
{
	char text[32];
	time_t t = (time_t)seconds;
	struct tm tm;
	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	sink_str(s, text);
}

static void put_list(const struct exporter *e, struct sink *s, const struct export_row *r,
		     enum export_list list)
{
	sink_char(s, '[');
	for (size_t i = 0; i < r->stack->n; i++) {
		if (i)
			sink_char(s, ',');
		if (is_number(list))
			put_number(s, number_at(e, r, list, i));
		else
			json_string(s, text_at(e, r, list, i));
	}
	sink_char(s, ']');
}

static void put_jsonl(struct exporter *e, const struct export_row *r)
{
	struct sink *s = &e->sink;
	sink_str(s, "{\"time\":\"");
	put_time(s, r->sum->bucket);
	sink_str(s, "\",\"event\":");
	json_string(s, r->event->name);
	sink_str(s, ",\"unit\":");
	json_string(s, r->event->unit);
	sink_str(s, ",\"comm\":");
	json_string(s, r->stack->comm);
	sink_str(s, ",\"weight\":");
	put_number(s, r->sum->weight);
	sink_str(s, ",\"count\":");
	put_number(s, r->sum->count);
	for (enum export_list list = 0; list < ARRAY_LEN(list_names); list++) {
		sink_str(s, ",\"");
		sink_str(s, list_names[list]);
		sink_str(s, "\":");
		put_list(e, s, r, list);
	}
	sink_str(s, "}\n");
}

static void begin_csv(struct exporter *e)
{
	sink_str(&e->sink, "time,event,unit,comm,weight,count");
	for (enum export_list list = 0; list < ARRAY_LEN(list_names); list++) {
		sink_char(&e->sink, ',');
		sink_str(&e->sink, list_names[list]);
	}
	sink_char(&e->sink, '\n');
}

/* As JSON in a field. */
static void put_csv_list(struct exporter *e, const struct export_row *r, enum export_list list)
{
	char *text = NULL;
	size_t size;
	FILE *f = xopen_memstream(&text, &size);
	struct sink own;
	sink_init(&own, f);
	put_list(e, &own, r, list);
	sink_flush(&own);
	xclose_memstream(f, &text);
	csv_text(&e->sink, text);
	free(text);
}

static void put_csv(struct exporter *e, const struct export_row *r)
{
	struct sink *s = &e->sink;
	put_time(s, r->sum->bucket);
	sink_char(s, ',');
	csv_text(s, r->event->name);
	sink_char(s, ',');
	csv_text(s, r->event->unit);
	sink_char(s, ',');
	csv_text(s, r->stack->comm);
	sink_char(s, ',');
	put_number(s, r->sum->weight);
	sink_char(s, ',');
	put_number(s, r->sum->count);
	for (enum export_list list = 0; list < ARRAY_LEN(list_names); list++) {
		sink_char(s, ',');
		put_csv_list(e, r, list);
	}
	sink_char(s, '\n');
}

/* ---- as RowBinary ---- */

static void put_rowbinary(struct exporter *e, const struct export_row *r)
{
	struct http_bytes *b = &e->bytes;
	b->n = 0;
	row_u32(b, r->sum->bucket);
	row_text(b, r->event->name);
	row_text(b, r->event->unit);
	row_text(b, r->stack->comm);
	row_u64(b, r->sum->weight);
	row_u64(b, r->sum->count);
	for (enum export_list list = 0; list < ARRAY_LEN(list_names); list++) {
		row_length(b, r->stack->n);
		for (size_t i = 0; i < r->stack->n; i++) {
			if (list == LIST_INLINED)
				row_u8(b, (uint8_t)number_at(e, r, list, i));
			else if (list == LIST_LINES)
				row_u32(b, number_at(e, r, list, i));
			else
				row_text(b, text_at(e, r, list, i));
		}
	}
	sink_bytes(&e->sink, b->at, b->n);
}

/* ---- all rows ---- */

static void put_rows(struct exporter *e, void (*put)(struct exporter *, const struct export_row *))
{
	const struct rows *r = &e->rows;
	struct map64 stacks = { 0 }, events = { 0 };
	for (size_t i = 0; i < r->stacks.n; i++)
		*map64_at(&stacks, r->stacks.at[i].id) = (uint32_t)i;
	for (size_t i = 0; i < r->events.n; i++)
		*map64_at(&events, r->events.at[i].id) = (uint32_t)i;
	for (size_t i = 0; i < r->functions.n; i++)
		*map64_at(&e->functions, r->functions.at[i].id) = (uint32_t)i;
	for (size_t i = 0; i < r->sums.n; i++) {
		const struct rows_sum *x = &r->sums.at[i];
		put(e,
		    &(struct export_row){ .sum = x,
					  .event = &r->events.at[map64_get(&events, x->event)],
					  .stack = &r->stacks.at[map64_get(&stacks, x->stack)] });
	}
	map64_free(&stacks);
	map64_free(&events);
}

/* `begin`, which may be NULL, comes before the first row. */
static struct kin_error *write_rows(struct kin_profile *profile, FILE *out,
				    void (*begin)(struct exporter *),
				    void (*put)(struct exporter *, const struct export_row *))
{
	const struct rows_opts opts = { .shown_names = true };
	struct exporter *e = xalloc(sizeof(*e));
	struct kin_error *err = rows_of(profile, &opts, &e->rows);
	if (!err) {
		sink_init(&e->sink, out);
		if (begin)
			begin(e);
		put_rows(e, put);
		sink_flush(&e->sink);
		map64_free(&e->functions);
		vec_free(&e->bytes);
		rows_done(&e->rows);
	}
	free(e);
	return err;
}

static struct kin_error *write_jsonl(struct kin_profile *profile,
				     const struct kin_export_opts *opts, FILE *out)
{
	(void)opts;
	return write_rows(profile, out, NULL, put_jsonl);
}

static struct kin_error *write_csv(struct kin_profile *profile, const struct kin_export_opts *opts,
				   FILE *out)
{
	(void)opts;
	return write_rows(profile, out, begin_csv, put_csv);
}

static struct kin_error *write_rowbinary(struct kin_profile *profile,
					 const struct kin_export_opts *opts, FILE *out)
{
	(void)opts;
	return write_rows(profile, out, NULL, put_rowbinary);
}

const struct format jsonl_format = {
	.about = { .name = "jsonl",
		   .what = "sums by stack and minute, an object on each line, for DuckDB, "
			   "ClickHouse and others",
		   .endings = (const char *const[]){ ".jsonl", ".ndjson", NULL },
		   .is_written = true },
	.write = write_jsonl,
};

const struct format csv_format = {
	.about = { .name = "csv",
		   .what = "the same as comma-separated values, lists as JSON",
		   .endings = (const char *const[]){ ".csv", NULL },
		   .is_written = true },
	.write = write_csv,
};

const struct format rowbinary_format = {
	.about = { .name = "rowbinary",
		   .what = "the same as ClickHouse's RowBinary",
		   .endings = (const char *const[]){ ".rowbinary", NULL },
		   .is_binary = true,
		   .is_written = true },
	.write = write_rowbinary,
};

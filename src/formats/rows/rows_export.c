/* rows_export.c - the formats "jsonl", "csv" and "rowbinary": one row for each sum of samples by
 * stack and minute, for databases that read such files (doc/fleet.md).
 *
 * A row is self-contained. Its stack consists of parallel lists, outermost function first. */
#include <stdlib.h>
#include <time.h>

#include "base/csv.h"
#include "base/err.h"
#include "base/json.h"
#include "base/map64.h"
#include "base/num.h"
#include "formats/formats.h"
#include "formats/rows/row_binary.h"
#include "formats/rows/sum_rows.h"

/* The lists that make up a stack. */
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

#define N_LISTS ARRAY_LEN(list_names)

struct exporter {
	struct rows rows;
	uint32_t *function_of; /* for each frame: index in rows.functions */
	/* List items in the output format, made once because a function occurs in many stacks: for
	 * each function (for LIST_FILES: each frame) the offset of its item in `texts`; the item
	 * ends where the next one begins. NULL for lists of numbers, and for RowBinary. */
	size_t *items[N_LISTS];
	char *texts;
	struct sink sink;
	struct row_buffer bytes; /* the current row in RowBinary */
};

struct export_row {
	const struct rows_sum *sum;
	const struct rows_event *event;
	const struct rows_stack *stack;
};

/* ---- contents of a row ---- */

static const struct rows_frame *frame_at(const struct exporter *e, const struct export_row *r,
					 size_t i)
{
	return &e->rows.frames.at[e->rows.path.at[r->stack->first + i]];
}

static uint32_t function_at(const struct exporter *e, const struct export_row *r, size_t i)
{
	return e->function_of[e->rows.path.at[r->stack->first + i]];
}

static const char *text_of(const struct exporter *e, enum export_list list, size_t id)
{
	switch (list) {
	case LIST_FUNCTIONS:
		return e->rows.functions.at[id].name;
	case LIST_OBJECTS:
		return e->rows.functions.at[id].object;
	case LIST_BUILD_IDS:
		return e->rows.functions.at[id].build_id;
	case LIST_FILES:
		return e->rows.frames.at[id].file;
	case LIST_LINES:
	case LIST_INLINED:
		break;
	}
	return "";
}

/* The `id` argument of text_of(). */
static size_t id_at(const struct exporter *e, const struct export_row *r, enum export_list list,
		    size_t i)
{
	return list == LIST_FILES ? e->rows.path.at[r->stack->first + i] : function_at(e, r, i);
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

static void put_list(struct exporter *e, const struct export_row *r, enum export_list list)
{
	struct sink *s = &e->sink;
	const size_t *items = e->items[list];
	sink_char(s, '[');
	for (size_t i = 0; i < r->stack->n; i++) {
		size_t id = id_at(e, r, list, i);
		if (i)
			sink_char(s, ',');
		if (items)
			sink_bytes(s, e->texts + items[id], items[id + 1] - items[id]);
		else
			put_number(s, number_at(e, r, list, i));
	}
	sink_char(s, ']');
}

/* Writes a list as a field of CSV; items have their quotation marks doubled already. */
static void put_field(struct exporter *e, const struct export_row *r, enum export_list list)
{
	bool quoted = r->stack->n > !e->items[list]; /* the field contains a comma or a quotation
							mark */
	if (quoted)
		sink_char(&e->sink, '"');
	put_list(e, r, list);
	if (quoted)
		sink_char(&e->sink, '"');
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
		put_list(e, r, list);
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
		put_field(e, r, list);
	}
	sink_char(s, '\n');
}

/* ---- as RowBinary ---- */

static void put_rowbinary(struct exporter *e, const struct export_row *r)
{
	struct row_buffer *b = &e->bytes;
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
				row_text(b, text_of(e, list, id_at(e, r, list, i)));
		}
	}
	sink_bytes(&e->sink, b->at, b->n);
}

/* ---- all rows ---- */

/* A JSON string inside a quoted CSV field. */
static void put_csv_item(struct sink *to, const char *text)
{
	char *json = NULL;
	size_t size;
	FILE *f = xopen_memstream(&json, &size);
	struct sink own;
	sink_init(&own, f);
	json_string(&own, text);
	sink_flush(&own);
	xclose_memstream(f, &json);
	csv_quoted(to, json);
	free(json);
}

static void make_texts(struct exporter *e, void (*put_item)(struct sink *to, const char *text))
{
	size_t size = 0;
	FILE *f = xopen_memstream(&e->texts, &size);
	struct sink s;
	sink_init(&s, f);
	for (enum export_list list = 0; list < N_LISTS; list++) {
		size_t n_ids = list == LIST_FILES ? e->rows.frames.n : e->rows.functions.n;
		if (is_number(list))
			continue;
		e->items[list] = xalloc((n_ids + 1) * sizeof(*e->items[list]));
		for (size_t i = 0; i < n_ids; i++) {
			e->items[list][i] = size;
			put_item(&s, text_of(e, list, i));
			sink_flush(&s);
			fflush(f); /* updates size */
		}
		e->items[list][n_ids] = size;
	}
	xclose_memstream(f, &e->texts);
}

static void find_functions(struct exporter *e)
{
	const struct rows *r = &e->rows;
	struct map64 functions = { 0 };
	for (size_t i = 0; i < r->functions.n; i++)
		*map64_at(&functions, r->functions.at[i].id) = (uint32_t)i;
	e->function_of = xalloc((r->frames.n + 1) * sizeof(*e->function_of));
	for (size_t i = 0; i < r->frames.n; i++)
		e->function_of[i] = map64_get(&functions, r->frames.at[i].function);
	map64_free(&functions);
}

static void put_rows(struct exporter *e, void (*put)(struct exporter *, const struct export_row *))
{
	const struct rows *r = &e->rows;
	struct map64 stacks = { 0 }, events = { 0 };
	for (size_t i = 0; i < r->stacks.n; i++)
		*map64_at(&stacks, r->stacks.at[i].id) = (uint32_t)i;
	for (size_t i = 0; i < r->events.n; i++)
		*map64_at(&events, r->events.at[i].id) = (uint32_t)i;
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

struct row_format {
	void (*begin)(struct exporter *e); /* before the first row; NULL: nothing to write */
	void (*put_item)(struct sink *to, const char *text); /* NULL: texts are written unchanged */
	void (*put)(struct exporter *e, const struct export_row *r);
};

static struct kin_error *write_rows(struct kin_profile *profile, FILE *out,
				    const struct row_format *how)
{
	const struct rows_opts opts = { .shown_names = true };
	struct exporter *e = xalloc(sizeof(*e));
	struct kin_error *err = rows_of(profile, &opts, &e->rows);
	if (!err) {
		sink_init(&e->sink, out);
		find_functions(e);
		if (how->put_item)
			make_texts(e, how->put_item);
		if (how->begin)
			how->begin(e);
		put_rows(e, how->put);
		sink_flush(&e->sink);
		for (enum export_list list = 0; list < N_LISTS; list++)
			free(e->items[list]);
		free(e->texts);
		free(e->function_of);
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
	return write_rows(profile, out, &(struct row_format){ NULL, json_string, put_jsonl });
}

static struct kin_error *write_csv(struct kin_profile *profile, const struct kin_export_opts *opts,
				   FILE *out)
{
	(void)opts;
	return write_rows(profile, out, &(struct row_format){ begin_csv, put_csv_item, put_csv });
}

static struct kin_error *write_rowbinary(struct kin_profile *profile,
					 const struct kin_export_opts *opts, FILE *out)
{
	(void)opts;
	return write_rows(profile, out, &(struct row_format){ NULL, NULL, put_rowbinary });
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

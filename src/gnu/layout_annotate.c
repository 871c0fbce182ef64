/* layout_annotate.c - GNU gprof's annotated source: a field before each line, and a summary. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/sort.h"
#include "base/vec.h"
#include "gnu/cells.h"
#include "table/table_build.h"

enum { LINE, SOURCE, COUNTS, TOTAL, EXECUTABLE, EXECUTED, NEVER, N_KEYS };

static const char *const keys[N_KEYS] = { "line",       "source",   "counts", "total",
					  "executable", "executed", "never" };

enum { FIELD = 16, ROOM = 12 }; /* for the counts, before the arrow */

static const char arrow[] = " -> ";

struct busy {
	uint64_t line, total;
};

struct summary {
	uint64_t executable, executed;
	VEC(struct busy) busy; /* lines that were executed */
};

/* ---- lines ---- */

/* The length of a list that was truncated to whole counts and two dots. */
static size_t cut_list(const char *list)
{
	size_t n = ROOM - 2;
	while (n && list[n - 1] != ',')
		n--;
	return n ? n : strcspn(list, ",") + 1;
}

/* GNU gprof truncates long counts together with the arrow; we show that counts are left out. */
static void put_counts(struct line *l, const char *counts, const struct render_opts *o)
{
	size_t n = strlen(counts);

	if (o->exact) {
		struct line field = { 0 };
		line_text(&field, counts);
		line_text(&field, arrow);
		line_fieldn(l, field.buf, field.n, FIELD, FIELD);
		line_done(&field);
		return;
	}
	if (n <= ROOM || !strchr(counts, ',')) {
		line_fieldn(l, counts, n, ROOM, 0);
	} else {
		struct line field = { 0 };
		line_fieldn(&field, counts, cut_list(counts), 0, 0);
		line_text(&field, "..");
		line_fieldn(l, field.buf, field.n, ROOM, 0);
		line_done(&field);
	}
	line_text(l, arrow);
}

static bool is_plain_byte(char c) { return c == '\t' || c == '\f' || (c >= ' ' && c < 0x7f); }

/* Not 0 if one of eight bytes is neither printable ASCII nor a tab. */
static uint64_t odd_in_source(const char *s)
{
	const uint64_t ones = UINT64_MAX / 0xff;
	uint64_t v;
	memcpy(&v, s, sizeof(v));
	uint64_t is_other = ((v & 0x7f * ones) ^ '\t' * ones) + 0x7f * ones; /* other than a tab */
	return escape_odd_bytes(s) & (is_other | v);
}

static size_t plain_length(const char *text, size_t n)
{
	size_t k = 0;
	while (k + sizeof(uint64_t) <= n && !odd_in_source(text + k))
		k += sizeof(uint64_t);
	while (k < n && is_plain_byte(text[k]))
		k++;
	return k;
}

static void put_escaped(struct line *l, const char *text, size_t n, const struct render_opts *o)
{
	while (n) {
		size_t k = plain_length(text, n);
		line_fieldn(l, text, k, 0, 0);
		text += k, n -= k;
		if (n && *text == '\n') { /* represents a NUL */
			line_text(l, "\\x00");
			text++, n--;
			continue;
		}
		for (k = 0; k < n && !strchr("\t\f\n", text[k]); k++)
			;
		if (!k)
			continue;
		char *piece = xprintf("%.*s", (int)k, text);
		line_name(l, piece, o);
		free(piece);
		text += k, n -= k;
	}
}

/* Writes the text byte by byte for --compat. Otherwise bytes that could take over a terminal are
 * escaped, except for tabs, form feeds and a final carriage return, which are common in sources. */
static void put_source(struct line *l, const char *text, size_t n, const struct render_opts *o)
{
	size_t start = l->n;

	if (o->raw) {
		line_fieldn(l, text, n, 0, 0);
		for (size_t i = start; i < l->n; i++)
			l->buf[i] = l->buf[i] == '\n' ? '\0' : l->buf[i];
		return;
	}
	bool returns = n && text[n - 1] == '\r';
	put_escaped(l, text, n - returns, o);
	line_text(l, returns ? "\r" : "");
}

static void put_line(struct line *l, const struct kin_row *row, const size_t *at,
		     const struct render_opts *o)
{
	const struct kin_cell *counts = &row->cells[at[COUNTS]], *source = &row->cells[at[SOURCE]];

	if (counts->type != KIN_CELL_TEXT)
		line_field(l, "", FIELD, 0);
	else
		put_counts(l, row->cells[at[NEVER]].count ? "#####" : counts->text, o);
	put_source(l, source->text, source->length, o);
}

/* Adds a line to the summary. For GNU gprof lines after the end of the source are not executable,
 * but may be the busiest. */
static void add_up(struct summary *s, const struct kin_row *row, const size_t *at,
		   const struct render_opts *o)
{
	uint64_t total = row->cells[at[TOTAL]].count;
	bool has_text = row->cells[at[SOURCE]].type == KIN_CELL_TEXT;

	if (has_text || !o->exact) {
		s->executable += row->cells[at[EXECUTABLE]].count;
		s->executed += row->cells[at[EXECUTED]].count;
	}
	if (total)
		vec_push(&s->busy, ((struct busy){ row->cells[at[LINE]].count, total }));
}

/* ---- summary ---- */

static int busiest_first(const void *l, const void *r)
{
	const struct busy *a = l, *b = r;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return ORDER(a->line, b->line);
}

static void put_busy(const struct kin_table *t, struct summary *s, FILE *out)
{
	uint64_t n = render_count(t, "top");

	if (!n)
		return;
	fprintf(out, "\n\nTop %d Lines:\n\n     Line      Count\n\n", (int)n);
	if (s->busy.n)
		qsort(s->busy.at, s->busy.n, sizeof(*s->busy.at), busiest_first);
	for (size_t i = 0; i < s->busy.n && i < n; i++)
		fprintf(out, "%9d %10lu\n", (int)s->busy.at[i].line,
			(unsigned long)s->busy.at[i].total);
}

static void put_summary(const struct kin_table *t, const struct summary *s, FILE *out)
{
	uint64_t total = render_count(t, "total");
	double lines = (double)s->executable;

	fputs("\nExecution Summary:\n\n", out);
	fprintf(out, "%9ld   Executable lines in this file\n", (long)s->executable);
	fprintf(out, "%9ld   Lines executed\n", (long)s->executed);
	fprintf(out, "%9.2f   Percent of the file executed\n",
		s->executable ? 100.0 * (double)s->executed / lines : 100.0);
	fprintf(out, "\n%9lu   Total number of line executions\n", (unsigned long)total);
	fprintf(out, "%9.2f   Average executions per line\n",
		s->executable ? (double)total / lines : 0.0);
}

static void put_heading(const struct kin_table *t, const struct render_opts *o, FILE *out)
{
	const struct kin_cell *separate = kin_table_property(t, "separate");
	struct line l = { 0 };

	if (separate && separate->count)
		return;
	line_text(&l, "*** File ");
	line_name(&l, gnu_text(t, "file"), o);
	line_text(&l, ":");
	line_end(&l, out);
	line_done(&l);
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	size_t at[N_KEYS];
	struct kin_error *err = gnu_columns(t, "gnu-annotate", keys, N_KEYS, at);
	if (err)
		return err;

	bool ended = !kin_table_property(t, "unterminated"), any = false;
	struct summary s = { 0 };
	struct line l = { 0 };
	struct kin_row row;
	put_heading(t, o, out);
	for (kin_table_rewind(t); table_next(t, &row);) {
		add_up(&s, &row, at, o);
		if (row.cells[at[SOURCE]].type != KIN_CELL_TEXT)
			continue;
		if (any)
			line_end(&l, out);
		any = true;
		put_line(&l, &row, at, o);
	}
	if (any && ended)
		line_end(&l, out);
	else if (any)
		line_end_bare(&l, out);
	line_done(&l);
	put_busy(t, &s, out);
	put_summary(t, &s, out);
	vec_free(&s.busy);
	return NULL;
}

const struct renderer gnu_annotate_renderer = { "gnu-annotate", "GNU gprof's annotated source",
						render };

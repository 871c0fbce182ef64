/* listing.c - rows of source lines, pulled part by part. */
#include "report/listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "base/search.h"
#include "base/vec.h"

enum {
	SHARE,
	FUNCTION_SHARE,
	SELF,
	INCLUSIVE,
	COUNT,
	PER_COUNT,
	LINE,
	SOURCE,
	FILE_NAME,
	COUNTS,
	TOTAL,
	CALLS,
	EXECUTABLE,
	EXECUTED,
	NEVER,
	N_COLUMNS
};

static const struct kin_column columns[] = {
	[SHARE] = { "share", "% time", "the line's time as a share of the total", KIN_CELL_SHARE },
	[FUNCTION_SHARE] = { "function_share", "% function",
			     "the line's time as a share of that of its function; in a listing of "
			     "files, of the file's",
			     KIN_CELL_SHARE, .hidden = true },
	[SELF] = { "self", "self", "time in the code of this line, seconds", KIN_CELL_TIME },
	[INCLUSIVE] = { "inclusive", "inclusive",
			"time of the samples with the line anywhere on their stack, each once; "
			"shown where there are stacks",
			KIN_CELL_TIME, .hidden = true },
	[PER_COUNT] = { "per_count", "time/count",
			"the line's time by its count; shown where there are counts of the run "
			"whose "
			"time was measured",
			KIN_CELL_TIME, .hidden = true, .si = true },
	[COUNT] = { "count", "count",
		    "how often it was executed: as gcov counts, where the compiler put counters; "
		    "else calls of the function that starts here, or the most executed block on "
		    "the line",
		    KIN_CELL_COUNT },
	[LINE] = { "line", "line", "its number in the file", KIN_CELL_COUNT },
	[SOURCE] = { "source", "source", "the line's text", KIN_CELL_TEXT, .tree = true },
	[FILE_NAME] = { "file", "file", "the source file, as the debug information names it",
			KIN_CELL_TEXT, .hidden = true },
	[COUNTS] = { "counts", "counts",
		     "the counts of each block on the line, by address; ? if it was executed an "
		     "unknown number of times",
		     KIN_CELL_TEXT, .hidden = true },
	[TOTAL] = { "total", "total",
		    "sum of the counts of calls and blocks that start on the line", KIN_CELL_COUNT,
		    .hidden = true },
	[CALLS] = { "calls", "calls",
		    "calls of functions that start on the line, recursion included", KIN_CELL_COUNT,
		    .hidden = true },
	[EXECUTABLE] = { "executable", "executable", "1 if there is code of this line",
			 KIN_CELL_COUNT, .hidden = true },
	[EXECUTED] = { "executed", "executed", "1 if the line is known to have been executed",
		       KIN_CELL_COUNT, .hidden = true },
	[NEVER] = { "never", "never",
		    "1 if its counts are known, and add up to less than the least count asked for",
		    KIN_CELL_COUNT, .hidden = true },
};

enum { TAB = 8, MAX_TAB_COLUMN = 400 }; /* a tab further to the right becomes one blank */

struct listed_part {
	const struct coverage *coverage;
	const struct coverage_file *file;
	const char *heading;
	double whole;
	uint32_t from, to;
	uint32_t first;      /* first of the file's lines with data at or after `from` */
	const char **counts; /* texts of counts of the lines up to `to`; NULL until shown; owned */
	const char *text;    /* lines, each ended by NUL */
	uint32_t n_text;     /* number of lines in text: from, from + 1, ... */
	uint32_t counted;    /* index of the file in opts.line_counts, or NONE */
	char *owned;
};

struct listing {
	struct listing_opts opts;
	VEC(struct listed_part) parts;
	struct arena arena;
	bool unterminated;

	/* Position of the reader. */
	size_t part;
	bool headed;
	uint32_t n_shown; /* lines of text so far */
	uint32_t next;    /* index into the file's coverage lines */
	const char *pos;
	struct kin_cell cells[N_COLUMNS];
};

/* ---- rows ---- */

/* "2001,1,256" */
static const char *counts_text(struct listing *l, const struct coverage *c,
			       const struct coverage_line *line, const char **made)
{
	if (*made || !line->is_known)
		return *made ? *made : line->is_unsure ? "?" : NULL;

	VEC(char) text = { 0 };
	for (uint32_t i = 0; i < line->n_counts; i++) {
		vec_reserve(&text, NUM_MAX + 1);
		if (i)
			text.at[text.n++] = ',';
		text.n += num_u64(text.at + text.n, c->counts.at[line->first_count + i]);
	}
	char *copy = arena_alloc_bytes(&l->arena, text.n + 1);
	memcpy(copy, text.at, text.n);
	vec_free(&text);
	return *made = copy;
}

static void fill_measured(struct listing *l, const struct listed_part *p, uint32_t index)
{
	const struct coverage_line *line = &p->coverage->lines[p->file->first_line + index];
	const char *counts = counts_text(l, p->coverage, line, &p->counts[index - p->first]);
	struct kin_cell *c = l->cells;

	if (line->self > 0) {
		c[SELF] = cell_time(line->self);
		c[SHARE] = cell_share(l->opts.total > 0 ? line->self / l->opts.total : 0);
		if (p->whole > 0)
			c[FUNCTION_SHARE] = cell_share(line->self / p->whole);
	}
	if (line->inclusive > 0)
		c[INCLUSIVE] = cell_time(line->inclusive);
	if (line->self > 0 && line->is_known && !line->is_unsure && line->most &&
	    !l->opts.counts_of_other_runs)
		c[PER_COUNT] = cell_time(line->self / (double)line->most);
	if (line->is_known && !line->is_unsure)
		c[COUNT] = cell_count(line->most);
	if (counts)
		c[COUNTS] = cell_text(counts);
	c[TOTAL] = cell_count(line->total);
	if (line->calls)
		c[CALLS] = cell_count(line->calls);
	c[EXECUTABLE] = cell_count(1);
	c[EXECUTED] = cell_count(line->is_executed);
	c[NEVER] = cell_count(line->is_known && !line->is_unsure && line->sum < l->opts.min_count);
}

static void fill_line(struct listing *l, const struct listed_part *p, uint32_t line)
{
	const struct coverage_line *lines = p->coverage->lines + p->file->first_line;

	l->cells[LINE] = cell_count(line);
	uint64_t count;
	if (l->next < p->file->n_lines && lines[l->next].line == line)
		fill_measured(l, p, l->next++);
	else if (l->opts.line_counts &&
		 line_counts_find(l->opts.line_counts, p->counted, line, &count))
		l->cells[COUNT] = cell_count(count);
}

/* The next row of a part: its heading, its lines of text, then lines that have data but no text. */
static bool next_in_part(struct listing *l, const struct listed_part *p, struct kin_row *row)
{
	const struct coverage_line *lines = p->coverage->lines + p->file->first_line;

	l->cells[FILE_NAME] = cell_text(p->file->path);
	if (p->heading && !l->headed) {
		l->headed = true;
		l->cells[SOURCE] = cell_text(p->heading);
		row->kind = KIN_ROW_FUNCTION;
		return true;
	}
	if (l->n_shown < p->n_text) {
		l->cells[SOURCE] = cell_text(l->pos);
		l->pos += l->cells[SOURCE].length + 1;
		fill_line(l, p, p->from + l->n_shown++);
		return true;
	}
	if (l->next == p->file->n_lines || lines[l->next].line > p->to)
		return false;
	fill_line(l, p, lines[l->next].line);
	return true;
}

static void start_part(struct listing *l)
{
	if (l->part == l->parts.n)
		return;
	l->next = l->parts.at[l->part].first;
	l->headed = false;
	l->n_shown = 0;
	l->pos = l->parts.at[l->part].text;
}

static void rewind_rows(void *state)
{
	struct listing *l = state;
	l->part = 0;
	start_part(l);
}

static bool next_row(void *state, struct kin_row *row)
{
	struct listing *l = state;
	for (; l->part < l->parts.n; l->part++, start_part(l)) {
		*row = (struct kin_row){ .kind = KIN_ROW_PLAIN,
					 .group = (uint32_t)l->part,
					 .cells = l->cells };
		memset(l->cells, 0, sizeof(l->cells));
		if (next_in_part(l, &l->parts.at[l->part], row)) {
			row->depth = row->kind == KIN_ROW_PLAIN && l->parts.at[l->part].heading;
			return true;
		}
	}
	return false;
}

static void listing_free(void *state)
{
	struct listing *l = state;
	for (size_t i = 0; i < l->parts.n; i++) {
		free(l->parts.at[i].owned);
		free(l->parts.at[i].counts);
	}
	vec_free(&l->parts);
	arena_release(&l->arena);
	free(l);
}

static const struct table_source rows = { rewind_rows, next_row, listing_free };

/* ---- adding text ---- */

/* Replaces line ends by NUL, in place. A NUL in the file becomes a newline. */
static void mark_lines(uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		data[i] = data[i] == '\n' ? '\0' : data[i] ? data[i] : '\n';
}

struct plain_listing {
	VEC(char) text;
};

static void add_plain_line(struct plain_listing *p, const uint8_t *line, size_t n)
{
	static const char nul[] = "\xe2\x90\x80"; /* U+2400, the symbol for NUL */
	size_t column = 0;

	if (n && line[n - 1] == '\r')
		n--;
	vec_reserve(&p->text, n + 1);
	for (size_t i = 0; i < n; i++) {
		size_t blanks = column < MAX_TAB_COLUMN ? TAB - column % TAB : 1;
		vec_reserve(&p->text, n - i + 1 + TAB);
		char *to = p->text.at + p->text.n;
		if (line[i] == '\t') {
			memset(to, ' ', blanks);
			p->text.n += blanks;
			column += blanks;
		} else if (!line[i]) {
			memcpy(to, nul, sizeof(nul) - 1);
			p->text.n += sizeof(nul) - 1;
			column++;
		} else {
			*to = (char)line[i];
			p->text.n++;
			column += (line[i] & 0xc0) != 0x80; /* not the rest of a UTF-8 character */
		}
	}
	vec_push(&p->text, '\0');
}

static void take_plain(struct listed_part *p, struct listing_source *src)
{
	const struct file *f = &src->text.file;
	struct plain_listing plain = { 0 };
	const uint8_t *line;
	size_t n;

	if (src->line >= p->from)
		src->line = 0, src->at = 0;
	while (src->line < p->to && source_line(f->data, f->size, &src->at, &line, &n)) {
		if (++src->line < p->from)
			continue;
		add_plain_line(&plain, line, n);
		p->n_text++;
	}
	p->text = p->owned = plain.text.at;
}

static void take_raw(struct listing *l, struct listed_part *p, struct source_text *text)
{
	struct file *f = &text->file;

	p->n_text = listing_count_lines(text);
	l->unterminated = f->size && f->data[f->size - 1] != '\n';
	mark_lines(f->data, f->size); /* there is a NUL after the last byte */
	p->text = p->owned = (char *)TAKE(f->data);
}

/* ---- life ---- */

uint32_t listing_count_lines(const struct source_text *text)
{
	const uint8_t *line;
	size_t at = 0, n;
	uint32_t lines = 0;

	while (source_line(text->file.data, text->file.size, &at, &line, &n))
		lines++;
	return lines;
}

struct listing *listing_new(const struct listing_opts *opts)
{
	struct listing *l = xalloc(sizeof(*l));
	l->opts = *opts;
	return l;
}

/* The index of the file's first line with data that is not before `line`. */
static uint32_t find_line(const struct coverage *c, const struct coverage_file *f, uint64_t line)
{
	return COUNT_WHILE(f->n_lines, i, c->lines[f->first_line + i].line < line);
}

void listing_add(struct listing *l, struct listing_part part, struct listing_source *source)
{
	struct listed_part p = { .coverage = part.coverage,
				 .file = part.file,
				 .from = part.from,
				 .to = part.to,
				 .whole = part.whole };

	p.counted =
		l->opts.line_counts ? line_counts_file(l->opts.line_counts, part.file->path) : NONE;
	p.first = find_line(p.coverage, p.file, p.from);
	p.counts = xalloc((find_line(p.coverage, p.file, (uint64_t)p.to + 1) - p.first) *
			  sizeof(*p.counts));
	if (part.heading)
		p.heading = arena_printf(&l->arena, "%s", part.heading);
	if (source->text.path && l->opts.raw)
		take_raw(l, &p, &source->text);
	else if (source->text.path)
		take_plain(&p, source);
	vec_push(&l->parts, p);
}

struct kin_table *listing_table(struct listing *l, const char *name, const char *title)
{
	struct kin_table *t = table_new(name, title, columns, ARRAY_LEN(columns));

	start_part(l);
	table_set_source(t, &rows, l);
	if (l->unterminated)
		table_property(t, "unterminated", cell_count(1));
	return t;
}

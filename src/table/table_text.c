/* table_text.c - aligned columns for people.
 *
 * Rows are pulled twice: once to learn how wide the columns are, once to write them, so a table of
 * any length takes no memory. Times are in the table's unit, with as many decimals as a tick needs
 * (more in a column of smaller times). */
#include <math.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/num.h"
#include "base/people_name.h"
#include "base/short_name.h"
#include "base/sink.h"
#include "base/vec.h"
#include "table/render.h"
#include "table/table_build.h"

enum {
	GAP = 2,         /* spaces between columns */
	MAX_INDENT = 80, /* rows nested deeper than 40 are shown as if they were not */
	MAX_PADDED = 64, /* a longer cell shifts its own row instead of padding all others */
	MIN_CUT = 12,    /* the last text column is never made narrower */
	MIN_NAME = 24,   /* other texts are cut to leave the last text column this much */
	MIN_TEXT = 10,   /* but never to less than this */
	MIN_SEEN = 16,   /* other columns are left out to leave the last text column this much */
	MIN_WORD = 4,    /* smallest width of a column in a table of texts alone */
	CELL_MAX = NUM_MAX + 32,
};

#define RED   "\033[31m"
#define GREEN "\033[32m"
#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RESET "\033[0m"

struct extremes {
	bool seen;
	double low, high;
};

struct col {
	size_t index; /* in the table */
	const struct kin_column *column;
	size_t width;
	bool left;
	bool cut;      /* cells longer than width have an ellipsis */
	bool left_out; /* it does not fit */
	unsigned decimals;
	struct extremes time, share, number;
	uint64_t count; /* the largest */
	char *header;
};

/* A rendering under way. */
struct text_page {
	struct kin_table *t;
	const struct render_opts *o;
	struct sink s;
	struct col *cols;
	size_t n;
	double rate;
	const char *unit; /* unit of times: "s" */
	size_t object;    /* the column with the objects of functions; NONE: there is none */
	struct people_names *names; /* forms for people; NULL: names are whole */
	VEC(char) scratch;          /* an escaped text */
	size_t pending;             /* spaces to write before the next text on the line */
	uint64_t n_rows;
};

struct text_piece { /* a cell ready to be written */
	const char *text;
	size_t length, width;
};

/* ---- cells as text ---- */

/* How many bytes of s, which has `length` of them or more, are certainly printable ASCII. */
static size_t printable(const char *s, size_t length)
{
	size_t n = 0;
	while (n + sizeof(uint64_t) <= length && !escape_odd_bytes(s + n))
		n += sizeof(uint64_t);
	return n;
}

/* A text as a piece; `length`: its bytes, 0: not known. */
static struct text_piece plain_text(struct text_page *p, const char *s, size_t length)
{
	size_t n = printable(s, length);
	while (s[n] >= 0x20 && s[n] < 0x7f)
		n++;
	if (!s[n])
		return (struct text_piece){ s, n, n };
	if (escape_is_plain(s))
		return (struct text_piece){ s, strlen(s), escape_width(s) };
	size_t need = escape_text(NULL, 0, s);
	p->scratch.n = 0;
	vec_reserve(&p->scratch, need + 1);
	escape_text(p->scratch.at, need + 1, s);
	return (struct text_piece){ p->scratch.at, need, escape_width(p->scratch.at) };
}

static struct text_piece text_piece_of(struct text_page *p, const struct col *col,
				       const struct kin_row *row)
{
	const struct kin_cell *c = &row->cells[col->index];
	if (!p->names || !col->column->function)
		return plain_text(p, c->text, c->length);
	const struct kin_cell *of = p->object == NONE ? NULL : &row->cells[p->object];
	const char *object = of && of->type == KIN_CELL_TEXT ? of->text : NULL;
	return plain_text(p, people_names_in(p->names, c->text, object), 0);
}

static size_t fixed(char *buf, double v, unsigned decimals)
{
	if (!isfinite(v)) {
		strcpy(buf, "-");
		return 1;
	}
	return num_fixed(buf, v, decimals);
}

static size_t share_text(char *buf, double v)
{
	size_t n = fixed(buf, 100 * v, 2);
	buf[n++] = '%';
	return n;
}

/* Three digits and the unit with one to three digits before the point: "157us", "8.10ns". */
static size_t si_text(char *buf, double v, const char *unit)
{
	static const char prefixes[] = "\0munp";
	double scale = 1;
	size_t i = 0;

	if (!(v > 0) || !isfinite(v))
		return fixed(buf, v, 0);
	for (; i + 2 < sizeof(prefixes) && v * scale < 0.9995; i++)
		scale *= 1000;
	v *= scale;
	size_t n = fixed(buf, v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0);
	return n + (size_t)sprintf(buf + n, "%.1s%.20s", prefixes + i, unit);
}

static bool is_more(const struct col *col, const struct kin_cell *c)
{
	return col->column->change && (c->type == KIN_CELL_TIME || c->type == KIN_CELL_SHARE) &&
	       c->number > 0;
}

static struct text_piece cell_piece(struct text_page *p, const struct col *col,
				    const struct kin_row *row, char buf[CELL_MAX])
{
	const struct kin_cell *c = &row->cells[col->index];
	char *at = buf;
	size_t n = 0;
	if (is_more(col, c))
		*at++ = '+';
	switch (c->type) {
	case KIN_CELL_NONE:
		break;
	case KIN_CELL_TEXT:
		return text_piece_of(p, col, row);
	case KIN_CELL_COUNT:
		n = num_u64(at, c->count);
		break;
	case KIN_CELL_TIME:
		n = col->column->si ? si_text(at, c->number / p->rate, p->unit)
				    : fixed(at, c->number / p->rate, col->decimals);
		break;
	case KIN_CELL_SHARE:
		n = share_text(at, c->number);
		break;
	case KIN_CELL_NUMBER:
		n = fixed(at, c->number, 2);
		break;
	case KIN_CELL_ADDRESS:
		n = (size_t)snprintf(at, NUM_MAX, "0x%llx", (unsigned long long)c->count);
		break;
	case KIN_CELL_OF:
	case KIN_CELL_PLUS:
		n = num_u64(at, c->pair.a);
		at[n++] = c->type == KIN_CELL_OF ? '/' : '+';
		n += num_u64(at + n, c->pair.b);
		break;
	}
	n += (size_t)(at - buf);
	return (struct text_piece){ buf, n, n };
}

/* ---- first pass: how wide ---- */

static size_t indent_of(const struct col *c, const struct kin_row *row)
{
	if (!c->column->tree)
		return 0;
	return row->depth < MAX_INDENT / 2 ? 2 * row->depth : MAX_INDENT;
}

static void widen(struct col *c, size_t width)
{
	if (width > c->width)
		c->width = width;
}

static void stretch(struct extremes *e, double v)
{
	if (!e->seen || v < e->low)
		e->low = v;
	if (!e->seen || v > e->high)
		e->high = v;
	e->seen = true;
}

static unsigned digits(uint64_t v)
{
	unsigned n = 1;
	while (v >= 10)
		v /= 10, n++;
	return n;
}

/* Numbers are not formatted here: the widest number of a kind is its largest or its smallest. */
static void measure_cell(struct text_page *p, struct col *c, const struct kin_row *row)
{
	const struct kin_cell *cell = &row->cells[c->index];
	switch (cell->type) {
	case KIN_CELL_NONE:
		break;
	case KIN_CELL_COUNT:
		c->count = cell->count > c->count ? cell->count : c->count;
		break;
	case KIN_CELL_TIME: {
		char buf[CELL_MAX];
		if (c->column->si)
			widen(c, cell_piece(p, c, row, buf).width);
		else
			stretch(&c->time, cell->number);
		break;
	}
	case KIN_CELL_SHARE:
		stretch(&c->share, cell->number);
		break;
	case KIN_CELL_NUMBER:
		stretch(&c->number, cell->number);
		break;
	case KIN_CELL_ADDRESS: {
		char buf[CELL_MAX];
		widen(c, cell_piece(p, c, row, buf).width);
		break;
	}
	case KIN_CELL_TEXT:
		widen(c, indent_of(c, row) + text_piece_of(p, c, row).width);
		break;
	case KIN_CELL_OF:
	case KIN_CELL_PLUS:
		widen(c, digits(cell->pair.a) + 1 + digits(cell->pair.b));
		break;
	}
}

/* Enough decimals for one tick. If the largest time would then have fewer than two digits, enough
 * to give it three. */
static unsigned decimals_for(double rate, double high)
{
	unsigned n = 2;
	double scale = 100;
	for (; scale < rate && n < 6; n++)
		scale *= 10;
	if (!(high > 0) || high / rate * scale >= 10)
		return n;
	for (; high / rate * scale < 100 && n < 9; n++)
		scale *= 10;
	return n;
}

static void measure_numbers(struct text_page *p, struct col *c)
{
	char buf[CELL_MAX];
	c->decimals = decimals_for(p->rate, c->time.high);
	for (int k = 0; k < 2; k++) {
		double time = k ? c->time.high : c->time.low;
		double share = k ? c->share.high : c->share.low;
		if (c->time.seen)
			widen(c, fixed(buf, time / p->rate, c->decimals) +
					 (c->column->change && time > 0));
		if (c->share.seen)
			widen(c, share_text(buf, share) + (c->column->change && share > 0));
		if (c->number.seen)
			widen(c, fixed(buf, k ? c->number.high : c->number.low, 2));
	}
	widen(c, c->count ? digits(c->count) : 0);
}

/* The table's property "dimension", abbreviated if it is "seconds". The text comes from a file, so
 * it may not be printable. */
static const char *unit_of(const struct kin_table *t)
{
	const char *dimension = render_text(t, "dimension");
	if (!dimension || !strcmp(dimension, "seconds"))
		return "s";
	return escape_is_plain(dimension) ? dimension : "?";
}

/* "self (s)": the header of a time column needs the unit, unless the cells have it. */
static char *header_of(struct text_page *p, const struct kin_column *column)
{
	char *raw = column->type == KIN_CELL_TIME && !column->si
			    ? xprintf("%s (%s)", column->title, p->unit)
			    : xprintf("%s", column->title);
	char *safe = escape_copy(raw);
	free(raw);
	return safe;
}

/* Narrows text columns other than the last one, to gain `over` columns of width. */
static void cut_others(struct text_page *p, const struct col *last, size_t over)
{
	size_t given = 0;
	for (size_t i = 0; i < p->n && given < over; i++) {
		struct col *c = &p->cols[i];
		size_t least = escape_width(c->header), spare;
		least = least < MIN_TEXT ? MIN_TEXT : least;
		if (!c->left || c == last || c->width <= least)
			continue;
		spare = c->width - least < over - given ? c->width - least : over - given;
		c->width -= spare;
		c->cut = true;
		given += spare;
	}
}

/* Width of the columns and the gaps between them, without `last`. */
static size_t width_of_others(const struct text_page *p, const struct col *last)
{
	size_t sum = 0;
	for (size_t i = 0; i < p->n; i++)
		if (&p->cols[i] != last && !p->cols[i].left_out)
			sum += p->cols[i].width + GAP;
	return sum;
}

/* Whether the column tells the row's place in the source, or the rank that it describes. Reports
 * that have such a column are about these places. */
static bool is_place(const struct col *c)
{
	return !strcmp(c->column->key, "file") || !strcmp(c->column->key, "line") ||
	       !strcmp(c->column->key, "max_rank");
}

static const struct col *first_number(const struct text_page *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->cols[i].left)
			return &p->cols[i];
	return NULL;
}

/* Leaves out texts from the first one on, or numbers from the last one on, until the last text has
 * `room` columns. */
static void leave_out_kind(struct text_page *p, const struct col *last, bool texts, bool places,
			   size_t room)
{
	const struct col *first = first_number(p);
	for (size_t k = 0; k < p->n && width_of_others(p, last) + room > p->o->width; k++) {
		struct col *c = &p->cols[texts ? k : p->n - 1 - k];
		if (c->left == texts && is_place(c) == places && c != last && c != first)
			c->left_out = true;
	}
}

/* What a reader misses least: running sums, and what a row was spent on. */
static bool is_extra(const struct col *c)
{
	return !strcmp(c->column->key, "cumulative") || !strcmp(c->column->key, "paid_for");
}

static void leave_out_extras(struct text_page *p, const struct col *last, size_t room)
{
	const struct col *first = first_number(p);
	for (size_t i = 0; i < p->n && width_of_others(p, last) + room > p->o->width; i++)
		if (is_extra(&p->cols[i]) && &p->cols[i] != first)
			p->cols[i].left_out = true;
}

/* Leaves out columns until the rest fits: texts first, then numbers; the first number stays. */
static void leave_out(struct text_page *p, const struct col *last)
{
	size_t seen = last->width < MIN_SEEN ? last->width : MIN_SEEN;
	size_t least = last->width < MIN_CUT ? last->width : MIN_CUT;
	leave_out_extras(p, last, seen);
	leave_out_kind(p, last, true, false, seen);
	leave_out_kind(p, last, false, false, seen);
	leave_out_kind(p, last, true, true, least);
	leave_out_kind(p, last, false, true, least);
}

/* Narrows the columns of a table of texts, the widest first: all of them are needed. */
static void narrow_texts(struct text_page *p)
{
	for (size_t over = width_of_others(p, NULL); over > p->o->width + GAP; over--) {
		struct col *widest = &p->cols[0];
		for (size_t i = 1; i < p->n; i++)
			if (p->cols[i].width > widest->width)
				widest = &p->cols[i];
		if (widest->width <= MIN_WORD)
			return;
		widest->width--;
		widest->cut = true;
	}
}

static bool has_numbers(const struct text_page *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->cols[i].left)
			return true;
	return false;
}

/* The column that names the subject of a row, or else its place. */
static struct col *last_text(struct text_page *p)
{
	struct col *place = NULL;
	for (size_t i = p->n; i-- > 0;) {
		struct col *c = &p->cols[i];
		if (c->left && !is_place(c) && !is_extra(c))
			return c;
		if (c->left && !place)
			place = c;
	}
	return place;
}

static void limit_padding(struct text_page *p)
{
	for (size_t i = 0; i + 1 < p->n; i++) {
		struct col *c = &p->cols[i];
		if (!c->left || c->width <= MAX_PADDED)
			continue;
		c->width = MAX_PADDED;
		c->cut = p->o->width;
	}
}

/* Gives the last text column the width that the others leave. */
static void fit(struct text_page *p)
{
	struct col *last = last_text(p);
	limit_padding(p);
	if (!p->o->width || !last || width_of_others(p, NULL) <= p->o->width + GAP)
		return;
	size_t others = width_of_others(p, last);
	size_t wanted = others + (last->width < MIN_NAME ? last->width : MIN_NAME);
	if (wanted > p->o->width)
		cut_others(p, last, wanted - p->o->width);
	if (has_numbers(p))
		leave_out(p, last);
	others = width_of_others(p, last);
	size_t left = p->o->width > others + MIN_CUT ? p->o->width - others : MIN_CUT;
	last->cut |= left < last->width;
	last->width = left < last->width ? left : last->width;
	if (!has_numbers(p))
		narrow_texts(p);
}

static void measure(struct text_page *p)
{
	struct kin_row row;
	table_rewind_extremes(p->t);
	for (; table_next(p->t, &row); p->n_rows++)
		for (size_t i = 0; i < p->n; i++)
			measure_cell(p, &p->cols[i], &row);
	for (size_t i = 0; i < p->n; i++) {
		struct col *c = &p->cols[i];
		measure_numbers(p, c);
		c->header = header_of(p, c->column);
		widen(c, escape_width(c->header));
	}
	fit(p);
}

/* ---- second pass: writing ---- */

static void color(struct text_page *p, const char *sgr)
{
	if (p->o->color && sgr)
		sink_str(&p->s, sgr);
}

/* Texts whose beginning says most: lines of source code, lists by weight. */
static bool is_line(const struct kin_column *c)
{
	return (c->tree && !strcmp(c->key, "source")) || !strcmp(c->key, "paid_for");
}

/* Cuts lines of source code at the end. Other texts are shortened like names of functions, which
 * differ at both ends. Returns the columns written. */
static size_t put_narrowed(struct text_page *p, const struct col *c, struct text_piece piece,
			   size_t width)
{
	char *text = is_line(c->column) ? cut_text(piece.text, width, false)
		     : p->names && c->column->function
			     ? people_names_fit(p->names, piece.text, width)
			     : short_name(piece.text, width);
	if (escape_width(text) > width) {
		char *less = cut_text(text, width, true);
		free(text);
		text = less;
	}
	size_t used = escape_width(text);
	sink_str(&p->s, text);
	free(text);
	return used;
}

static void put(struct text_page *p, const struct col *c, struct text_piece piece, size_t indent,
		const char *sgr)
{
	if (c->left_out)
		return;
	if (c->cut && indent > c->width / 2)
		indent = c->width / 2;
	size_t width = indent + piece.width;
	size_t pad = width < c->width ? c->width - width : 0;

	p->pending += c->left ? indent : pad;
	if (piece.length) {
		sink_pad(&p->s, p->pending);
		p->pending = 0;
		color(p, sgr);
		if (c->cut && width > c->width) {
			size_t room = c->width > indent + 2 ? c->width - indent : 2;
			size_t used = put_narrowed(p, c, piece, room);
			pad = room - used;
		} else {
			sink_bytes(&p->s, piece.text, piece.length);
		}
		color(p, sgr ? RESET : NULL);
	}
	p->pending += (c->left ? pad : 0) + GAP;
}

static void end_line(struct text_page *p)
{
	sink_char(&p->s, '\n');
	p->pending = 0;
}

static bool is_zero(const struct text_page *p, const struct kin_row *row)
{
	bool any = false;
	for (size_t i = 0; i < p->n; i++) {
		const struct kin_cell *c = &row->cells[p->cols[i].index];
		if (c->type != KIN_CELL_SHARE && c->type != KIN_CELL_TIME)
			continue;
		any = true;
		if (c->number != 0)
			return false;
	}
	return any;
}

static const char *cell_color(const struct col *c, const struct kin_row *row)
{
	const struct kin_cell *cell = &row->cells[c->index];
	if (c->column->change && cell->type != KIN_CELL_NONE)
		return cell->number > 0 ? RED : GREEN;
	if (cell->type == KIN_CELL_SHARE)
		return cell->number >= 0.05 ? RED : cell->number >= 0.005 ? GREEN : NULL;
	if (cell->type == KIN_CELL_TEXT && c->column->tree &&
	    (row->kind == KIN_ROW_FUNCTION || row->kind == KIN_ROW_CYCLE))
		return BOLD;
	return NULL;
}

static void put_row(struct text_page *p, const struct kin_row *row)
{
	char buf[CELL_MAX];
	bool dim = p->o->color && is_zero(p, row);
	for (size_t i = 0; i < p->n; i++) {
		const struct col *c = &p->cols[i];
		if (row->cells[c->index].type == KIN_CELL_NONE) {
			p->pending += c->left_out ? 0 : c->width + GAP;
			continue;
		}
		struct text_piece piece = cell_piece(p, c, row, buf);
		const char *sgr = !p->o->color ? NULL : dim ? DIM : cell_color(c, row);
		put(p, c, piece, indent_of(c, row), sgr);
	}
	end_line(p);
}

static void put_header(struct text_page *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct col *c = &p->cols[i];
		struct text_piece piece = { c->header, strlen(c->header), escape_width(c->header) };
		put(p, c, piece, 0, BOLD);
	}
	end_line(p);
}

/* A sentence, broken between words at the table's width. */
static void put_note(struct text_page *p, const char *note)
{
	size_t at = 0;
	struct text_piece text = plain_text(p, note, 0);
	for (const char *word = text.text; *word;) {
		size_t n = strcspn(word, " "), width = n; /* exact for ASCII, wide enough for all */
		if (at && p->o->width && at + 1 + width > p->o->width) {
			sink_char(&p->s, '\n');
			at = 0;
		}
		sink_str(&p->s, at ? " " : "  ");
		sink_bytes(&p->s, word, n);
		at += width + (at ? 1 : 2);
		word += n + (word[n] == ' ');
	}
	sink_char(&p->s, '\n');
}

static void put_left_out(struct text_page *p)
{
	VEC(char) names = { 0 };
	for (size_t i = 0; i < p->n; i++) {
		const char *title = p->cols[i].column->title;
		if (!p->cols[i].left_out)
			continue;
		for (const char *c = names.n ? ", " : ""; *c; c++)
			vec_push(&names, *c);
		for (; *title; title++)
			vec_push(&names, *title);
	}
	if (names.n) {
		char *note = xprintf("no room for: %.*s", (int)names.n, names.at);
		put_note(p, note);
		free(note);
	}
	vec_free(&names);
}

static void put_heading(struct text_page *p)
{
	color(p, BOLD);
	sink_str(&p->s, plain_text(p, kin_table_title(p->t), 0).text);
	color(p, RESET);
	sink_char(&p->s, '\n');
	for (size_t i = 0; i < kin_table_n_notes(p->t); i++)
		put_note(p, kin_table_note_at(p->t, i));
	put_left_out(p);
	sink_char(&p->s, '\n');
}

static void put_rows(struct text_page *p)
{
	struct kin_row row;
	uint32_t group = 0;
	kin_table_rewind(p->t);
	for (bool first = true; table_next(p->t, &row); first = false) {
		if (!first && row.group != group)
			sink_char(&p->s, '\n');
		group = row.group;
		put_row(p, &row);
	}
}

static size_t object_column(const struct kin_table *t)
{
	size_t n = kin_table_n_columns(t), object = kin_table_find_column(t, "object");
	object = object < n ? object : kin_table_find_column(t, "dso");
	return object < n ? object : NONE;
}

static struct text_page *page_new(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	struct text_page *p = xalloc(sizeof(*p));
	struct columns shown = render_shown(t);
	p->t = t;
	p->o = o;
	p->object = object_column(t);
	p->names = o->full_names ? NULL : people_names_new();
	p->rate = kin_table_rate(t);
	p->unit = unit_of(t);
	p->n = shown.n;
	p->cols = xalloc((shown.n + 1) * sizeof(*p->cols));
	sink_init(&p->s, out);
	for (size_t i = 0; i < p->n; i++) {
		const struct kin_column *column = kin_table_column(t, shown.at[i]);
		p->cols[i].index = shown.at[i];
		p->cols[i].column = column;
		p->cols[i].left = column->tree || column->type == KIN_CELL_TEXT;
	}
	columns_free(&shown);
	return p;
}

static void page_free(struct text_page *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->cols[i].header);
	free(p->cols);
	people_names_free(p->names);
	vec_free(&p->scratch);
	free(p);
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	struct text_page *p = page_new(t, o, out);
	measure(p);
	put_heading(p);
	if (p->n_rows) {
		put_header(p);
		put_rows(p);
	} else {
		const char *nothing = render_text(t, "nothing");
		sink_str(&p->s, "  ");
		sink_str(&p->s, nothing ? nothing : "Nothing to show.");
		sink_char(&p->s, '\n');
	}
	sink_flush(&p->s);
	page_free(p);
	return NULL;
}

const struct renderer text_renderer = { "text", "aligned columns, for people", render };

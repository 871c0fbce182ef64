#include "tui/browse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/vec.h"
#include "tui/list.h"
#include "tui/page.h"
#include "tui/term.h"

enum { HEAD = 2, FOOT = 1, GAP = 2, FILTER_MAX = 128, LOOK_MS = 200, MAX_TEXT = 512 };
enum { TEXT_MOST = 24, TEXT_LEAST = 10, NAME_LEAST = 24, WIDE = 80 }; /* columns of the terminal */

struct place {          /* where we were, to go back to */
	char *function; /* NULL: all functions */
	struct list list;
};

struct browser {
	const struct browse_opts *opts;
	struct term *term;
	struct kin_profile *profile;
	bool owned; /* profile is ours to free */
	struct page page;
	bool has_page;
	VEC(size_t) shown;        /* rows of the page that pass the filter */
	VEC(struct place) places; /* the last one is where we are */
	char filter[FILTER_MAX];
	bool typing; /* a filter */
	size_t event;
	bool by_own, paused, help, over, quit;
	unsigned shift; /* of names, to the left */
	size_t refreshes;
	uint64_t asked_ns;
	char message[MAX_TEXT / 2]; /* until the next key */
};

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct place *here(struct browser *b) { return &b->places.at[b->places.n - 1]; }

static const struct page_row *selected(struct browser *b)
{
	return b->shown.n ? &b->page.rows.at[b->shown.at[here(b)->list.selected]] : NULL;
}

/* ---- rows ---- */

static size_t lines_for_rows(const struct browser *b)
{
	unsigned rows = term_rows(b->term);
	return rows > HEAD + FOOT ? rows - HEAD - FOOT : 1;
}

static bool passes(const struct browser *b, const struct page_row *r)
{
	if (!b->filter[0] || r->kind == KIN_ROW_FUNCTION || strcasestr(r->name, b->filter))
		return true;
	for (size_t i = 0; i < b->page.n_columns; i++)
		if (b->page.columns[i].left && strcasestr(r->cells[i], b->filter))
			return true;
	return false;
}

static bool is_same_row(const struct page *p, const struct page_row *a, const struct page_row *b,
			const struct page *of_b)
{
	if (a->kind != b->kind || strcmp(a->name, b->name) != 0 || p->n_columns != of_b->n_columns)
		return false;
	for (size_t i = 0; i < p->n_columns; i++)
		if (p->columns[i].left && strcmp(a->cells[i], b->cells[i]) != 0)
			return false;
	return true;
}

static void choose_rows(struct browser *b)
{
	struct list *l = &here(b)->list;
	b->shown.n = 0;
	for (size_t i = 0; i < b->page.rows.n; i++)
		if (passes(b, &b->page.rows.at[i]))
			vec_push(&b->shown, i);
	list_fit(l, b->shown.n, lines_for_rows(b));
}

static void select_same(struct browser *b, const struct page *old, const struct page_row *row)
{
	for (size_t i = 0; i < b->shown.n; i++)
		if (is_same_row(&b->page, &b->page.rows.at[b->shown.at[i]], row, old)) {
			list_select(&here(b)->list, i);
			return;
		}
}

static struct kin_error *make_page(struct browser *b, struct page *ret)
{
	const char *function = here(b)->function;
	struct page_opts o = { .hists = b->opts->hists, .event = b->event };
	struct kin_error *err = function ? page_of_function(b->profile, function, ret)
					 : page_of_functions(b->profile, &o, ret);
	if (!err && !function && ret->has_children)
		page_sort(ret, b->by_own);
	return err;
}

/* The page anew, with the same row selected unless that is the first one: who looks at the top of
 * the list wants to see its top. */
static bool load(struct browser *b)
{
	struct page made, old = b->page;
	bool had = b->has_page;
	const struct page_row *row = had && here(b)->list.selected ? selected(b) : NULL;
	struct kin_error *err = make_page(b, &made);
	if (err) {
		snprintf(b->message, sizeof(b->message), "%s", kin_error_message(err));
		kin_error_free(err);
		return false;
	}
	b->page = made;
	b->has_page = true;
	struct page_row kept = { 0 };
	if (row)
		kept = *row;
	choose_rows(b);
	if (row)
		select_same(b, &old, &kept);
	if (had)
		page_done(&old);
	return true;
}

/* ---- going places ---- */

static void select_function(struct browser *b)
{
	for (size_t i = 0; i < b->shown.n; i++)
		if (b->page.rows.at[b->shown.at[i]].kind == KIN_ROW_FUNCTION)
			list_select(&here(b)->list, i);
}

static void enter(struct browser *b)
{
	const struct page_row *r = selected(b);
	if (!r || !r->function || (r->kind == KIN_ROW_FUNCTION && here(b)->function))
		return;
	char *function = xprintf("%s", r->function);
	vec_push(&b->places, ((struct place){ .function = function }));
	char filter[FILTER_MAX];
	memcpy(filter, b->filter, sizeof(filter));
	b->filter[0] = '\0';
	b->shift = 0;
	struct page left = b->page; /* its rows are not to be looked for in the new one */
	b->has_page = false;
	if (load(b)) {
		page_done(&left);
		select_function(b);
		return;
	}
	b->page = left;
	b->has_page = true;
	memcpy(b->filter, filter, sizeof(filter));
	free(function);
	b->places.n--;
	choose_rows(b);
}

static void leave(struct browser *b)
{
	if (b->filter[0]) {
		b->filter[0] = '\0';
		choose_rows(b);
		return;
	}
	if (b->places.n == 1)
		return;
	struct page left = b->page;
	bool loaded;
	b->has_page = false;
	b->shift = 0;
	do { /* what changes may have lost a function that we came by */
		free(here(b)->function);
		b->places.n--;
		loaded = load(b);
	} while (!loaded && b->places.n > 1);
	if (loaded) {
		page_done(&left);
		return;
	}
	b->page = left;
	b->has_page = b->quit = true;
}

/* Where several were counted. */
static void next_event(struct browser *b)
{
	if (here(b)->function || b->page.n_events < 2)
		return;
	b->event = (b->event + 1) % b->page.n_events;
	load(b);
}

static void change_order(struct browser *b)
{
	if (here(b)->function || !b->page.has_children)
		return;
	b->by_own = !b->by_own;
	page_sort(&b->page, b->by_own);
	choose_rows(b);
	list_select(&here(b)->list, 0);
}

/* ---- drawing ---- */

static void put_bar(struct browser *b, unsigned row, const char *left, const char *right)
{
	unsigned columns = term_columns(b->term), n = (unsigned)escape_width(right);
	bool both = n && n + 2 < columns;
	term_put(b->term, row, 0, both ? columns - n - 2 : columns, left, TERM_BAR);
	if (both)
		term_put(b->term, row, columns - n - 2, n + 2, "", TERM_BAR);
	if (both)
		term_put(b->term, row, columns - n - 1, n + 1, right, TERM_BAR);
}

static void draw_head(struct browser *b)
{
	const struct place *p = here(b);
	char left[MAX_TEXT + 16], right[64];
	const char *order = p->function || !b->page.has_children ? ""
			    : b->by_own                          ? "by Self"
								 : "by Children";
	snprintf(left, sizeof(left), " %s  %s%s%s", b->opts->title, p->function ? p->function : "",
		 p->function ? "  " : "", b->page.title);
	snprintf(right, sizeof(right), "%s%s%s ", b->over ? "ended  " : "",
		 b->paused ? "paused  " : "", order);
	put_bar(b, 0, left, right);
}

static void draw_foot(struct browser *b)
{
	char left[MAX_TEXT + 16], right[64];
	size_t n = b->shown.n;
	if (b->typing)
		snprintf(left, sizeof(left), " /%s_", b->filter);
	else if (b->message[0])
		snprintf(left, sizeof(left), " %s", b->message);
	else if (b->filter[0])
		snprintf(left, sizeof(left), " only /%s   Esc all", b->filter);
	else if (here(b)->function)
		snprintf(left, sizeof(left), " Enter go there  Esc back  / filter  ? help  q quit");
	else
		snprintf(left, sizeof(left), " Enter callers%s  s sort  / filter  %s? help  q quit",
			 term_columns(b->term) >= WIDE ? " and callees" : "",
			 b->opts->next ? "p pause  " : "");
	snprintf(right, sizeof(right), "%zu of %zu", n ? here(b)->list.selected + 1 : 0, n);
	put_bar(b, term_rows(b->term) - 1, left, right);
}

/* The name is indented in callers and callees, as in the call graph. */
static unsigned indent_of(const struct browser *b, const struct page_row *r)
{
	(void)b;
	bool inner = r->kind == KIN_ROW_CALLER || r->kind == KIN_ROW_CALLEE;
	return inner ? 2 : 0;
}

static const char *shifted(const char *name, unsigned by)
{
	for (; by && *name; by--) /* a character, not a byte */
		do
			name++;
		while ((*name & 0xc0) == 0x80);
	return name;
}

/* The function must be seen: where the terminal is narrow, other texts are cut, and then left out,
 * the first ones first; 0: not shown. */
static void fit_columns(const struct browser *b, unsigned width[PAGE_COLUMNS])
{
	unsigned columns = term_columns(b->term), sum = NAME_LEAST;
	for (size_t i = 0; i < b->page.n_columns; i++) {
		const struct page_column *c = &b->page.columns[i];
		width[i] = c->left && c->width > TEXT_MOST ? TEXT_MOST : c->width;
		sum += width[i] + GAP;
	}
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < b->page.n_columns && sum > columns; i++) {
			unsigned least = round ? 0 : TEXT_LEAST;
			unsigned spare = width[i] > least ? width[i] - least : 0;
			if (!b->page.columns[i].left)
				continue;
			if (!round && spare > sum - columns)
				spare = sum - columns;
			width[i] -= spare;
			sum -= spare + (round ? GAP : 0);
		}
}

static unsigned draw_cells(struct browser *b, unsigned line, const char *const *cells, int style)
{
	unsigned at = 0, width[PAGE_COLUMNS];
	fit_columns(b, width);
	for (size_t i = 0; i < b->page.n_columns; i++) {
		bool left = b->page.columns[i].left;
		unsigned n = (unsigned)escape_width(cells[i]);
		unsigned pad = left || n > width[i] ? 0 : width[i] - n;
		if (!width[i])
			continue;
		term_put(b->term, line, at, width[i] + GAP, "", style);
		term_put(b->term, line, at + pad, width[i] - pad, cells[i], style);
		at += width[i] + GAP;
	}
	return at;
}

static int style_of(const struct browser *b, const struct page_row *r)
{
	double share = b->page.has_children ? r->with_callees : r->own;
	if (r->kind == KIN_ROW_FUNCTION && here(UNCONST(struct browser *, b))->function)
		return TERM_BOLD;
	return share >= 0.05 ? TERM_HOT : share > 0.005 ? TERM_WARM : TERM_PLAIN;
}

static void draw_row(struct browser *b, unsigned line, const struct page_row *r, bool is_selected)
{
	int style = style_of(b, r) | (is_selected ? TERM_SELECTED : 0);
	unsigned columns = term_columns(b->term);
	unsigned at = draw_cells(b, line, r->cells, style), indent = indent_of(b, r);
	if (at >= columns)
		return;
	term_put(b->term, line, at, columns - at, "", style);
	if (at + indent < columns)
		term_put(b->term, line, at + indent, columns - at - indent,
			 shifted(r->name, b->shift), style);
}

static void draw_titles(struct browser *b)
{
	const char *titles[PAGE_COLUMNS] = { 0 };
	for (size_t i = 0; i < b->page.n_columns; i++)
		titles[i] = b->page.columns[i].title;
	unsigned at = draw_cells(b, 1, titles, TERM_BOLD);
	term_put(b->term, 1, at, term_columns(b->term), b->page.name_title, TERM_BOLD);
}

static void draw_rows(struct browser *b)
{
	struct list *l = &here(b)->list;
	list_fit(l, b->shown.n, lines_for_rows(b));
	for (size_t i = 0; i < l->height && l->top + i < l->n; i++)
		draw_row(b, (unsigned)(HEAD + i), &b->page.rows.at[b->shown.at[l->top + i]],
			 l->top + i == l->selected);
}

static void draw_help(struct browser *b)
{
	static const char *const lines[] = {
		"Up, Down, j, k          the next row",
		"Page Up, Page Down      a screen; also Ctrl-B, Ctrl-F, Space",
		"Home, End, g, G         the first and the last one",
		"Left, Right             the rest of long names",
		"Enter                   who calls the function, and what it calls",
		"Esc, Backspace          back; ends a filter",
		"/                       only rows with a text in them; Enter keeps, Esc ends it",
		"s                       sort by Children, or by Self",
		"e                       the next event, where several were counted",
		"p                       hold the picture, or let it go on",
		"h, ?                    this page",
		"q                       quit",
		"",
		"Self is time in the function itself, Children that with all it called.",
	};
	for (unsigned i = 0; i < ARRAY_LEN(lines); i++)
		term_put(b->term, HEAD + i, 2, term_columns(b->term), lines[i], TERM_PLAIN);
}

static void draw(struct browser *b)
{
	term_clear(b->term);
	draw_head(b);
	if (b->help) {
		draw_help(b);
	} else {
		draw_titles(b);
		draw_rows(b);
	}
	draw_foot(b);
	term_show(b->term);
}

/* ---- keys ---- */

static void type(struct browser *b, uint32_t key)
{
	size_t n = strlen(b->filter);
	if (key == TERM_ENTER) {
		b->typing = false;
	} else if (key == TERM_ESCAPE) {
		b->typing = false;
		b->filter[0] = '\0';
	} else if (key == TERM_BACKSPACE) {
		while (n && (b->filter[n - 1] & 0xc0) == 0x80)
			n--;
		b->filter[n ? n - 1 : 0] = '\0';
	} else if (key >= ' ' && key < TERM_UP && n + 5 < FILTER_MAX) {
		char *to = b->filter + n;
		if (key < 0x80) {
			*to++ = (char)key;
		} else if (key < 0x800) {
			*to++ = (char)(0xc0 | key >> 6);
			*to++ = (char)(0x80 | (key & 0x3f));
		} else if (key < 0x10000) {
			*to++ = (char)(0xe0 | key >> 12);
			*to++ = (char)(0x80 | (key >> 6 & 0x3f));
			*to++ = (char)(0x80 | (key & 0x3f));
		} else {
			*to++ = (char)(0xf0 | key >> 18);
			*to++ = (char)(0x80 | (key >> 12 & 0x3f));
			*to++ = (char)(0x80 | (key >> 6 & 0x3f));
			*to++ = (char)(0x80 | (key & 0x3f));
		}
		*to = '\0';
	}
	choose_rows(b);
}

static bool move(struct browser *b, uint32_t key)
{
	struct list *l = &here(b)->list;
	ptrdiff_t page = (ptrdiff_t)l->height;
	switch (key) {
	case TERM_UP:
	case 'k':
		list_move(l, -1);
		return true;
	case TERM_DOWN:
	case 'j':
		list_move(l, 1);
		return true;
	case TERM_PAGE_UP:
	case 2: /* Ctrl-B */
		list_move(l, -page);
		return true;
	case TERM_PAGE_DOWN:
	case 6: /* Ctrl-F */
	case ' ':
		list_move(l, page);
		return true;
	case TERM_HOME:
	case 'g':
		list_select(l, 0);
		return true;
	case TERM_LAST:
	case 'G':
		list_select(l, l->n);
		return true;
	case TERM_RIGHT:
		b->shift += 8;
		return true;
	case TERM_LEFT:
		b->shift = b->shift > 8 ? b->shift - 8 : 0;
		return true;
	default:
		return false;
	}
}

static void command(struct browser *b, uint32_t key)
{
	switch (key) {
	case TERM_ENTER:
		enter(b);
		break;
	case TERM_ESCAPE:
	case TERM_BACKSPACE:
		leave(b);
		break;
	case '/':
		b->typing = true;
		b->filter[0] = '\0';
		choose_rows(b);
		break;
	case 's':
		change_order(b);
		break;
	case 'e':
		next_event(b);
		break;
	case 'p':
		b->paused = b->opts->next && !b->over && !b->paused;
		break;
	case 'h':
	case '?':
		b->help = true;
		break;
	case 'q':
		b->quit = true;
		break;
	}
}

static void take_key(struct browser *b, uint32_t key)
{
	if (key == TERM_END) {
		b->quit = true;
		return;
	}
	if (key == TERM_RESIZED)
		return;
	b->message[0] = '\0';
	if (b->typing) {
		type(b, key);
	} else if (b->help) {
		b->help = false;
		b->quit = key == 'q';
	} else if (!move(b, key)) {
		command(b, key);
	}
}

/* ---- a profile that changes ---- */

static void renew(struct browser *b)
{
	const char *note = NULL;
	struct kin_profile *p = b->opts->next(b->opts->arg, &note);
	b->asked_ns = now_ns();
	b->refreshes++;
	if (note)
		snprintf(b->message, sizeof(b->message), "%s", note);
	if (!p) {
		b->over = true;
		b->paused = false;
		return;
	}
	if (b->paused) {
		kin_profile_free(p);
		return;
	}
	if (b->owned)
		kin_profile_free(b->profile);
	b->profile = p;
	b->owned = true;
	load(b); /* a function that is not there any more stays as it was */
}

static int time_left(const struct browser *b)
{
	if (!b->opts->next || b->over)
		return LOOK_MS;
	uint64_t passed = (now_ns() - b->asked_ns) / 1000000;
	uint64_t left = passed < b->opts->delay_ms ? b->opts->delay_ms - passed : 0;
	return left < LOOK_MS ? (int)left : LOOK_MS;
}

static void run(struct browser *b)
{
	b->asked_ns = now_ns();
	draw(b);
	while (!b->quit) {
		uint32_t key = term_key(b->term, time_left(b));
		if (key != TERM_NONE)
			take_key(b, key);
		bool due = b->opts->next && !b->over && !time_left(b);
		if (due)
			renew(b);
		if (b->opts->refreshes && b->refreshes >= b->opts->refreshes)
			b->quit = true;
		if (due || key != TERM_NONE)
			draw(b);
	}
}

static void done(struct browser *b)
{
	for (size_t i = 0; i < b->places.n; i++)
		free(b->places.at[i].function);
	vec_free(&b->places);
	vec_free(&b->shown);
	if (b->has_page)
		page_done(&b->page);
	if (b->owned)
		kin_profile_free(b->profile);
}

struct kin_error *browse(struct kin_profile *profile, const struct browse_opts *opts)
{
	struct browser b = { .opts = opts, .profile = profile, .by_own = opts->by_own };
	struct kin_error *err;
	vec_push(&b.places, ((struct place){ .list = { .height = 1 } }));
	if (!(err = make_page(&b, &b.page))) {
		b.has_page = true;
		err = term_open(&b.term);
	}
	if (!err) {
		choose_rows(&b);
		run(&b);
		term_close(b.term);
	}
	done(&b);
	return err;
}

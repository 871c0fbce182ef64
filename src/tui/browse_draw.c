/* browse_draw.c - the screen of the browser: a bar, rows, and a line of key hints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/short_name.h"
#include "base/utf8.h"
#include "tui/browse_private.h"
#include "tui/columns.h"
#include "tui/jumps.h"
#include "tui/tui_menu.h"

enum { WIDE = 80, WIDER = 92 }; /* columns of the terminal */

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

static const char *title_of_order(struct browser *b)
{
	const struct page *p = page(b);
	bool changes = here(b)->what == CHANGES;
	return b->order == p->children && !changes ? "Children"
	       : b->order == p->own && !changes    ? "Self"
	       : b->order < p->n_columns           ? p->columns[b->order].title
						   : p->name_title;
}

/* Names the side on its own pages. These sum the runs, while the comparison shows means: so say
 * it. */
static void put_side(const struct browser *b, char *ret, size_t size)
{
	const struct kin_cell *runs =
		kin_table_property(b->opts->changes, b->is_before ? "runs_before" : "runs_after");
	const char *side = b->is_before ? "BEFORE" : "AFTER";
	if (runs && runs->count > 1)
		snprintf(ret, size, "%s, sum of %llu runs  ", side,
			 (unsigned long long)runs->count);
	else
		snprintf(ret, size, "%s  ", side);
}

/* What is known of a changing profile. */
static void put_measured(const struct browser *b, char *ret, size_t size)
{
	const struct browse_measured *m = &b->measured;
	char seen[32] = "";
	if (m->seen >= 0)
		snprintf(seen, sizeof(seen), ", %.0f %% seen", 100 * m->seen);
	if (m->seconds < BROWSE_ENOUGH)
		snprintf(ret, size, "measuring, %.1f s so far  ", m->seconds);
	else if (m->cores > 0)
		snprintf(ret, size, "%.2f of %ld cores busy%s  ", m->cores,
			 sysconf(_SC_NPROCESSORS_ONLN), seen);
}

static void draw_head(struct browser *b)
{
	const struct browse_place *p = here(b);
	char left[BROWSE_TEXT_MAX + 16], right[64];
	char order[48] = "", cores[64] = "";
	if (b->opts->measured)
		put_measured(b, cores, sizeof(cores));
	if (b->opts->changes && p->what != CHANGES)
		put_side(b, cores, sizeof(cores));
	if ((p->what == FUNCTIONS || p->what == CHANGES) && b->order != NONE)
		snprintf(order, sizeof(order), "by %.40s", title_of_order(b));
	else if (p->what == FUNCTIONS && p->page.is_overview)
		snprintf(order, sizeof(order), "%s",
			 term_columns(b->term) >= WIDER ? "most Self, then most Children"
							: "by Self");
	const char *list = p->what == THREADS   ? "Threads  "
			   : p->what == OBJECTS ? "Programs and libraries  "
						: "";
	snprintf(left, sizeof(left), " %s  %s%s%s%s%s%s%s", b->opts->title, cores, list,
		 b->part ? b->part : "", b->part ? "  " : "", p->function ? p->function : "",
		 p->function ? "  " : "", p->page.title);
	snprintf(right, sizeof(right), "%s%s%s ", b->over ? "ended  " : "",
		 b->paused ? "paused  " : "", order);
	put_bar(b, 0, left, right);
}

/* The key hints for the current page. */
static const char *hints(struct browser *b)
{
	bool wide = term_columns(b->term) >= WIDE, wider = term_columns(b->term) >= WIDER;
	if (b->in_menu)
		return "Enter do it  Esc back  q quit";
	switch (here(b)->what) {
	case FUNCTIONS:
		if (!b->opts->next && !kin_profile_is_sampled(b->profile))
			return "Enter callers  a source  s sort  / filter  y cycles  ? menu  q "
			       "quit";
		if (b->opts->next)
			return wider  ? "Enter callers  a source  f flame  s sort  / filter  p "
					"pause  ? menu  q quit"
			       : wide ? "Enter callers  a source  f flame  s sort  p pause  ? menu "
					" "
					"q quit"
				      : "Enter callers  s sort  / filter  p pause  ? menu  q quit";
		return wider ? "Enter callers  + unfold  a source  f flame  s sort  / filter  ? "
			       "menu  q "
			       "quit"
			     : "Enter callers  a source  f flame  s sort  / filter  ? menu  q quit";
	case CHANGES:
		return wider ? "Enter callers, callees  a source  f flame  > sort  / filter  ? "
			       "menu  q quit"
			     : "Enter callers  a source  f flame  / filter  ? menu  q quit";
	case CALLS:
		if (b->opts->changes)
			return "Enter go there  Esc back  b before, after  / filter  ? menu  q "
			       "quit";
		return "Enter go there  Esc back  a source  / filter  ? menu  q quit";
	case SOURCE:
		return "a instructions  Esc back  H hottest  / filter  ? menu  q quit";
	case FLAME:
		if (b->opts->changes)
			return "Enter zoom  b before, after  Esc back  i turn  / find  ? menu  q "
			       "quit";
		return "Enter zoom  Esc back  i turn  c callers  / find  ? menu  q quit";
	case CYCLES:
		return "Enter callers, callees  Esc back  / filter  ? menu  q quit";
	case THREADS:
	case OBJECTS:
		return "Enter only that  Esc back  / filter  ? menu  q quit";
	case INSTRUCTIONS:
		return browse_jump_target(b) != NONE
			       ? "Enter follow  Esc back  a source  H hottest  ? menu  q quit"
			       : "a source  Esc back  H hottest  / filter  ? menu  q quit";
	}
	return "";
}

/* Keeps as many hints as fit. The menu and how to quit, at the end, are left out last. */
static void fit_hints(const char *text, size_t room, char *ret, size_t size)
{
	const char *tail = strstr(text, "? menu");
	size_t n = tail ? (size_t)(tail - text) : strlen(text), rest = tail ? strlen(tail) : 0;
	while (n && n + rest > room) {
		n -= n > 1 ? 2 : n; /* the blanks after the last hint */
		while (n && (text[n - 1] != ' ' || n < 2 || text[n - 2] != ' '))
			n--;
	}
	snprintf(ret, size, " %.*s%s", (int)n, text, tail ? tail : "");
}

static void draw_foot(struct browser *b)
{
	char left[BROWSE_TEXT_MAX + 16], right[64];
	size_t n = b->shown.n;
	const char *filter = here(b)->filter;
	left[0] = '\0';
	if (b->typing == TYPING_FILTER)
		snprintf(left, sizeof(left), " /%s_   Enter keep  Esc all", b->typed);
	else if (b->typing)
		snprintf(left, sizeof(left), " at least %s_ %%   Enter keep  Esc all", b->typed);
	else if (b->message[0])
		snprintf(left, sizeof(left), " %s", b->message);
	else if (filter[0] && !b->in_menu)
		snprintf(left, sizeof(left), " only /%s   Esc all", filter);
	else if (here(b)->min_share > 0 && !b->in_menu)
		snprintf(left, sizeof(left), " only %g %% and more   Esc all",
			 100 * here(b)->min_share);
	bool is_list = !b->in_menu && here(b)->what != FLAME;
	snprintf(right, sizeof(right), "%zu of %zu", n ? here(b)->list.selected + 1 : 0, n);
	if (!left[0]) {
		size_t taken = is_list ? strlen(right) + 3 : 1, columns = term_columns(b->term);
		fit_hints(hints(b), columns > taken ? columns - taken : 0, left, sizeof(left));
	}
	put_bar(b, term_rows(b->term) - 1, left, is_list ? right : "");
}

/* The end of a name that fits in `width` columns. */
static const char *end_of(const char *name, size_t width)
{
	size_t left = escape_width(name);
	for (;;) {
		uint32_t c = 0;
		size_t n = utf8_decode((const unsigned char *)name, &c);
		unsigned wide = n ? utf8_width(c) : 1;
		if (left <= width && wide) /* not a combining mark of the character before */
			return name;
		left -= wide;
		name += n ? n : 1;
	}
}

static unsigned draw_cells(struct browser *b, unsigned line, const char *const *cells, int style)
{
	unsigned at = 0, width[PAGE_COLUMNS];
	browse_fit(b, term_columns(b->term) - browse_spark_columns(b), width);
	for (size_t i = 0; i < page(b)->n_columns; i++) {
		bool left = page(b)->columns[i].left;
		unsigned n = (unsigned)escape_width(cells[i]);
		unsigned pad = left || n > width[i] ? 0 : width[i] - n;
		if (!width[i])
			continue;
		term_put(b->term, line, at, width[i] + COLUMNS_GAP, "", style);
		term_put(b->term, line, at + pad, width[i] - pad, cells[i], style);
		at += width[i] + COLUMNS_GAP;
	}
	return at;
}

static int style_of(struct browser *b, const struct page_row *r)
{
	if (here(b)->what == CHANGES)
		return r->with_callees > 0 ? TERM_HOT : TERM_WARM;
	double share = page(b)->has_children ? r->with_callees : r->own;
	if (r->kind == KIN_ROW_FUNCTION && here(b)->function)
		return TERM_BOLD;
	return share >= 0.05 ? TERM_HOT : share > 0.005 ? TERM_WARM : TERM_PLAIN;
}

/* The name as it is shown: its full form once it is scrolled. To be freed; NULL: r->name. The name
 * stands behind the mark of an unfolded row, and before remarks. */
static char *shown_name(struct browser *b, const struct page_row *r)
{
	const char *at = r->function && b->names && !b->shift ? strstr(r->name, r->function) : NULL;
	const char *shown = at ? people_names_in(b->names, at, r->object) : NULL;
	return at ? xprintf("%.*s%s", (int)(at - r->name), r->name, shown) : NULL;
}

/* Draws the name, shortened where it matters least if room is short. Scrolling shows all of it, and
 * leaves names that fit in place. The mark of its cycle is always visible. */
static void draw_name(struct browser *b, unsigned line, unsigned at, const struct page_row *r,
		      int style)
{
	char text[32];
	bool is_marked = b->marked == b->profile || here(b)->what == CHANGES;
	char *shown = shown_name(b, r);
	const char *name = shown ? shown : r->name;
	const char *mark =
		is_marked && here(b)->what != CYCLES
			? marks_cycle(&b->marks, r->function, term_is_ascii(b->term), text)
			: "";
	unsigned room = term_columns(b->term) - at, n = (unsigned)escape_width(mark);
	unsigned most = room > n ? room - n : 0, all = (unsigned)escape_width(r->name);
	unsigned beyond = all > most ? all - most : 0;
	b->beyond = beyond > b->beyond ? beyond : b->beyond;
	if (b->shift && beyond)
		name = end_of(name, b->shift < beyond ? all - b->shift : most);
	bool whole = b->shift || !r->function || term_is_ascii(b->term);
	char *fitting = whole      ? NULL
			: b->names ? people_names_fit(b->names, name, most)
				   : short_name(name, most);
	name = fitting ? fitting : name;
	unsigned width = (unsigned)escape_width(name);
	width = width <= most ? width : most;
	term_put(b->term, line, at, width, name, style);
	term_put(b->term, line, at + width, room - width, mark, style);
	free(fitting);
	free(shown);
}

/* `arrow`: this row's part of the jump arrow, drawn before the name; "": none here; NULL: the page
 * has no arrows. */
static void draw_row(struct browser *b, unsigned line, const struct page_row *r, bool is_selected,
		     const char *arrow)
{
	int style = style_of(b, r) | (is_selected ? TERM_SELECTED : 0);
	unsigned columns = term_columns(b->term);
	unsigned at = draw_cells(b, line, r->cells, style), indent = page_indent(r);
	if (at >= columns)
		return;
	term_put(b->term, line, at, columns - at, arrow ? arrow : "", style);
	if (browse_spark_columns(b)) {
		char spark[4 * SPARK_SLOTS + 1];
		unsigned width = browse_spark_width(b);
		marks_spark(browse_sparks(b), page(b), r, width, term_is_ascii(b->term), spark);
		term_put(b->term, line, at, width, spark, style & TERM_SELECTED);
		at += browse_spark_columns(b);
	}
	if (arrow && r->kind == KIN_ROW_PLAIN)
		indent += JUMPS_WIDTH;
	if (at + indent < columns)
		draw_name(b, line, at + indent, r, style);
}

static void draw_titles(struct browser *b)
{
	const char *titles[PAGE_COLUMNS] = { 0 };
	for (size_t i = 0; i < page(b)->n_columns; i++)
		titles[i] = page(b)->columns[i].title;
	unsigned at = draw_cells(b, 1, titles, TERM_BOLD);
	if (browse_spark_columns(b)) {
		unsigned width = browse_spark_width(b);
		term_put(b->term, 1, at, width, width < strlen("over time") ? "time" : "over time",
			 TERM_BOLD);
		at += browse_spark_columns(b);
	}
	term_put(b->term, 1, at, term_columns(b->term), page(b)->name_title, TERM_BOLD);
}

static void draw_rows(struct browser *b)
{
	struct list *l = &here(b)->list;
	list_fit(l, b->shown.n, lines_for_rows(b));
	size_t to = browse_jump_target(b);
	b->beyond = 0;
	for (size_t i = 0, k = l->top; i < l->height && k < l->n; i++, k++) {
		const char *arrow =
			here(b)->what != INSTRUCTIONS ? NULL
			: to == NONE                  ? ""
				     : jumps_arrow(k, l->selected, to, term_is_ascii(b->term));
		draw_row(b, (unsigned)(BROWSE_HEAD + i), row_at(b, k), k == l->selected, arrow);
	}
}

void browse_draw(struct browser *b)
{
	term_clear(b->term);
	draw_head(b);
	if (b->in_menu) {
		menu_draw(b);
	} else if (here(b)->what == FLAME) {
		flame_draw(&here(b)->flame, b->term, 1, lines_for_rows(b) + 1);
	} else {
		draw_titles(b);
		draw_rows(b);
	}
	draw_foot(b);
	term_show(b->term);
}

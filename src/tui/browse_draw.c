/* browse_draw.c - the screen of the browser: a bar, rows, and what the keys do. */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "tui/browse_private.h"
#include "tui/columns.h"
#include "tui/tui_help.h"

enum { WIDE = 80 }; /* columns of the terminal */

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
	const struct browse_place *p = here(b);
	char left[BROWSE_TEXT_MAX + 16], right[64];
	const char *order = p->function || !p->page.has_children ? ""
			    : b->by_own                          ? "by Self"
								 : "by Children";
	snprintf(left, sizeof(left), " %s  %s%s%s", b->opts->title, p->function ? p->function : "",
		 p->function ? "  " : "", p->page.title);
	snprintf(right, sizeof(right), "%s%s%s ", b->over ? "ended  " : "",
		 b->paused ? "paused  " : "", order);
	put_bar(b, 0, left, right);
}

/* What the keys do here. */
static const char *hints(struct browser *b)
{
	bool wide = term_columns(b->term) >= WIDE;
	if (b->help)
		return "any key: back  q quit";
	switch (here(b)->what) {
	case FUNCTIONS:
		if (b->opts->next)
			return wide ? "Enter callers, callees  s sort  / filter  p pause  ? help  "
				      "q quit"
				    : "Enter callers  s sort  / filter  p pause  ? help  q quit";
		return wide ? "Enter callers, callees  a source  s sort  / filter  ? help  q quit"
			    : "Enter callers  a source  s sort  / filter  ? help  q quit";
	case CALLS:
		if (b->opts->next)
			return "Enter go there  Esc back  / filter  ? help  q quit";
		return "Enter go there  a source  Esc back  / filter  ? help  q quit";
	case SOURCE:
		return "a instructions  Esc back  / filter  ? help  q quit";
	case INSTRUCTIONS:
		return "a source  Esc back  / filter  ? help  q quit";
	}
	return "";
}

static void draw_foot(struct browser *b)
{
	char left[BROWSE_TEXT_MAX + 16], right[64];
	size_t n = b->shown.n;
	const char *filter = here(b)->filter;
	if (b->typing)
		snprintf(left, sizeof(left), " /%s_   Enter keep  Esc all", filter);
	else if (b->message[0])
		snprintf(left, sizeof(left), " %s", b->message);
	else if (filter[0] && !b->help)
		snprintf(left, sizeof(left), " only /%s   Esc all", filter);
	else
		snprintf(left, sizeof(left), " %s", hints(b));
	snprintf(right, sizeof(right), "%zu of %zu", n ? here(b)->list.selected + 1 : 0, n);
	put_bar(b, term_rows(b->term) - 1, left, b->help ? "" : right);
}

static const char *shifted(const char *name, unsigned by)
{
	for (; by && *name; by--) /* a character, not a byte */
		do
			name++;
		while ((*name & 0xc0) == 0x80);
	return name;
}

static unsigned draw_cells(struct browser *b, unsigned line, const char *const *cells, int style)
{
	unsigned at = 0, width[PAGE_COLUMNS];
	columns_fit(page(b), term_columns(b->term), width);
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
	double share = page(b)->has_children ? r->with_callees : r->own;
	if (r->kind == KIN_ROW_FUNCTION && here(b)->function)
		return TERM_BOLD;
	return share >= 0.05 ? TERM_HOT : share > 0.005 ? TERM_WARM : TERM_PLAIN;
}

static void draw_row(struct browser *b, unsigned line, const struct page_row *r, bool is_selected)
{
	int style = style_of(b, r) | (is_selected ? TERM_SELECTED : 0);
	unsigned columns = term_columns(b->term);
	unsigned at = draw_cells(b, line, r->cells, style), indent = page_indent(r);
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
	for (size_t i = 0; i < page(b)->n_columns; i++)
		titles[i] = page(b)->columns[i].title;
	unsigned at = draw_cells(b, 1, titles, TERM_BOLD);
	term_put(b->term, 1, at, term_columns(b->term), page(b)->name_title, TERM_BOLD);
}

static void draw_rows(struct browser *b)
{
	struct list *l = &here(b)->list;
	list_fit(l, b->shown.n, lines_for_rows(b));
	for (size_t i = 0; i < l->height && l->top + i < l->n; i++)
		draw_row(b, (unsigned)(BROWSE_HEAD + i), &page(b)->rows.at[b->shown.at[l->top + i]],
			 l->top + i == l->selected);
}

void browse_draw(struct browser *b)
{
	term_clear(b->term);
	draw_head(b);
	if (b->help) {
		help_draw(b->term, BROWSE_HEAD, page(b)->title);
	} else {
		draw_titles(b);
		draw_rows(b);
	}
	draw_foot(b);
	term_show(b->term);
}

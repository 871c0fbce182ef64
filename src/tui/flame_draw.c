/* flame_draw.c - the flame graph on the terminal: a line for each level, a block for each function.
 */
#include "tui/flame_draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/short_name.h"

/* ---- position of blocks ---- */

struct span { /* columns from begin to before end */
	unsigned begin, end;
};

static uint32_t at_depth(const struct flame *f, uint32_t node, uint32_t depth)
{
	while (f->nodes.at[node].depth > depth)
		node = f->nodes.at[node].parent;
	return node;
}

static bool is_below(const struct flame *f, uint32_t node, uint32_t above)
{
	return f->nodes.at[node].depth >= f->nodes.at[above].depth &&
	       at_depth(f, node, f->nodes.at[above].depth) == above;
}

static unsigned column_at(uint64_t weight, uint64_t all, unsigned columns)
{
	return all ? (unsigned)((double)weight / (double)all * columns + 0.5) : 0;
}

/* ---- drawing ---- */

static int style_of(const struct flame_view *v, uint32_t node)
{
	const struct flame_node *n = &v->flame.nodes.at[node];
	if (v->text[0] && node != FLAME_ROOT && strcasestr(n->name, v->text))
		return TERM_BLOCK_FOUND;
	if (node == FLAME_ROOT || n->kind == KIN_OBJECT_OTHER)
		return TERM_BLOCK_OTHER;
	return n->kind == KIN_OBJECT_KERNEL              ? TERM_BLOCK_KERNEL
	       : n->kind == KIN_OBJECT_JIT || n->is_main ? TERM_BLOCK_MAIN
							 : TERM_BLOCK_LIBRARY;
}

/* The name in at most `width` columns if it can be as short, or, for a terminal without ellipses,
 * whole; to be freed. */
static char *text_of(const struct flame_view *v, uint32_t node, size_t width, bool is_ascii)
{
	const struct flame_node *n = &v->flame.nodes.at[node];
	char times[16] = "";
	if (n->times > 1)
		snprintf(times, sizeof(times), " %s%" PRIu32, is_ascii ? "x" : "\u00d7", n->times);
	size_t used = escape_width(times);
	const char *shown = v->names ? people_names_in(v->names, n->name, n->object) : n->name;
	char *name = short_name(shown, is_ascii ? SIZE_MAX : width > used ? width - used : 0);
	char *text = xprintf("%s%s", name, times);
	free(name);
	return text;
}

static void draw_block(const struct flame_view *v, struct term *t, unsigned line, struct span s,
		       uint32_t node)
{
	int style = style_of(v, node) | (node == v->selected ? TERM_SELECTED : 0);
	term_put(t, line, s.begin, s.end - s.begin, term_is_ascii(t) ? "|" : "▏", style);
	unsigned width = s.end - s.begin;
	if (width > 3) {
		char *text = text_of(v, node, width - 1, term_is_ascii(t));
		term_put(t, line, s.begin + 1, width - 1, text, style);
		free(text);
	}
}

struct drawing {
	const struct flame_view *view;
	struct term *term;
	unsigned first, lines; /* lines of the screen */
	uint32_t top;          /* depth of the first line */
};

/* Draws a node and the visible nodes below it, down to the last line. Nodes too narrow to be
 * visible are left out with everything below them; the selected node is always visible. */
static void draw_node(const struct drawing *d, uint32_t node, struct span s)
{
	const struct flame *f = &d->view->flame;
	const struct flame_node *n = &f->nodes.at[node];
	uint64_t before = 0;
	if (n->depth >= d->top + d->lines)
		return;
	if (n->depth >= d->top)
		draw_block(d->view, d->term, d->first + n->depth - d->top, s, node);
	for (uint32_t c = n->child; c != NONE; c = f->nodes.at[c].next) {
		const struct flame_node *child = &f->nodes.at[c];
		unsigned wide = s.end - s.begin;
		struct span at = { s.begin + column_at(before, n->weight, wide),
				   s.begin + column_at(before + child->weight, n->weight, wide) };
		before += child->weight;
		if (at.begin == at.end && is_below(f, d->view->selected, c))
			at.begin == s.end ? at.begin-- : at.end++;
		if (at.end > at.begin)
			draw_node(d, c, at);
	}
}

/* Draws the callers of the zoomed node over the full width. */
static void draw_way(const struct drawing *d, unsigned columns)
{
	const struct flame_view *v = d->view;
	uint32_t depth = v->flame.nodes.at[v->zoomed].depth;
	for (uint32_t i = d->top; i < depth && i < d->top + d->lines; i++)
		draw_block(v, d->term, d->first + i - d->top, (struct span){ 0, columns },
			   at_depth(&v->flame, v->zoomed, i));
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static void draw_words(const struct flame_view *v, struct term *t, unsigned line)
{
	const struct flame *f = &v->flame;
	const struct flame_node *n = &f->nodes.at[v->selected];
	uint64_t all = f->nodes.at[FLAME_ROOT].weight;
	char found[128] = "", time[48] = "", text[1024];
	if (v->text[0])
		snprintf(found, sizeof(found), "%.2f%% with %.64s   ",
			 percent(flame_weight_of(f, v->text), all), v->text);
	if (f->is_time)
		snprintf(time, sizeof(time), " (%.3f s)", (double)n->weight / 1e9);
	snprintf(text, sizeof(text), "%s%.2f%%%s, %.2f%% Self  %s", found, percent(n->weight, all),
		 time, percent(n->self, all), n->name);
	term_put(t, line, 0, term_columns(t), text, TERM_BOLD);
}

void flame_draw(const struct flame_view *v, struct term *t, unsigned first, unsigned lines)
{
	const struct flame *f = &v->flame;
	struct drawing d = { v, t, first + 1, lines > 1 ? lines - 1 : 1, 0 };
	uint32_t depth = f->nodes.at[v->selected].depth;
	if (depth + 2 > d.lines) /* keep one level below the selection visible */
		d.top = depth + 2 - d.lines;
	draw_words(v, t, first);
	draw_way(&d, term_columns(t));
	draw_node(&d, v->zoomed, (struct span){ 0, term_columns(t) });
}

/* ---- moving ---- */

static uint32_t previous(const struct flame *f, uint32_t node)
{
	uint32_t i = f->nodes.at[f->nodes.at[node].parent].child;
	while (f->nodes.at[i].next != node)
		i = f->nodes.at[i].next;
	return i;
}

/* The nearest node to the left or right, at the same depth or, if there is none, less deep. */
static uint32_t beside(const struct flame_view *v, bool left)
{
	const struct flame *f = &v->flame;
	for (uint32_t i = v->selected; i != v->zoomed; i = f->nodes.at[i].parent) {
		bool first = f->nodes.at[f->nodes.at[i].parent].child == i;
		uint32_t found = left ? (first ? NONE : previous(f, i)) : f->nodes.at[i].next;
		while (found != NONE && f->nodes.at[found].depth < f->nodes.at[v->selected].depth &&
		       f->nodes.at[found].child != NONE)
			found = f->nodes.at[found].child;
		if (found != NONE)
			return found;
	}
	return v->selected;
}

bool flame_move(struct flame_view *v, uint32_t key)
{
	const struct flame_node *n = &v->flame.nodes.at[v->selected];
	switch (key) {
	case TERM_UP:
	case 'k':
		v->selected = v->selected == v->zoomed ? v->selected : n->parent;
		return true;
	case TERM_DOWN:
	case 'j':
		v->selected = n->child == NONE ? v->selected : n->child;
		return true;
	case TERM_LEFT:
		v->selected = beside(v, true);
		return true;
	case TERM_RIGHT:
		v->selected = beside(v, false);
		return true;
	case TERM_HOME:
	case 'g':
		v->selected = v->zoomed;
		return true;
	default:
		return false;
	}
}

void flame_zoom(struct flame_view *v) { v->zoomed = v->selected; }

bool flame_unzoom(struct flame_view *v)
{
	if (v->zoomed == FLAME_ROOT)
		return false;
	v->selected = v->zoomed;
	v->zoomed = FLAME_ROOT;
	return true;
}

void flame_renew(struct flame_view *v, struct flame *newer)
{
	v->selected = flame_same(&v->flame, v->selected, newer);
	v->zoomed = flame_same(&v->flame, v->zoomed, newer);
	if (!is_below(newer, v->selected, v->zoomed))
		v->selected = v->zoomed;
	flame_done(&v->flame);
	v->flame = *newer;
}

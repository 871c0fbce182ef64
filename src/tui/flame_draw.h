/* flame_draw.h - draws a flame graph on the terminal, with selection and zoom. */
#ifndef TUI_FLAME_DRAW_H
#define TUI_FLAME_DRAW_H

#include "base/people_name.h"
#include "tui/flame.h"
#include "tui/term.h"

struct flame_view {
	struct flame flame;
	uint32_t selected, zoomed;  /* selected is zoomed, or a node below it */
	struct people_names *names; /* borrowed: forms for people; NULL: names are whole */
	const char *text;           /* highlight functions whose name contains this; "": none */
};

/* Draws from line `first` on; that line describes the selection. */
void flame_draw(const struct flame_view *v, struct term *t, unsigned first, unsigned lines);

/* Handles keys. Up: to the caller; down: to the heaviest callee; left and right: to the neighbours.
 * Returns whether the key is one of these. */
bool flame_move(struct flame_view *v, uint32_t key);
void flame_zoom(struct flame_view *v);   /* into the selected node */
bool flame_unzoom(struct flame_view *v); /* false: the graph was not zoomed */

/* Replaces the graph by a newer one, which v then owns; selection and zoom stay as far as their
 * nodes still exist. */
void flame_renew(struct flame_view *v, struct flame *newer);

#endif

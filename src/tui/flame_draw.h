/* flame_draw.h - a flame graph on the terminal: what is selected, and zoomed into. */
#ifndef TUI_FLAME_DRAW_H
#define TUI_FLAME_DRAW_H

#include "tui/flame.h"
#include "tui/term.h"

struct flame_view {
	struct flame flame;
	uint32_t selected, zoomed; /* selected is zoomed, or below it */
	const char *text;          /* functions with it in their names are marked; "": none */
};

/* From the first line on, which says what is selected. */
void flame_draw(const struct flame_view *v, struct term *t, unsigned first, unsigned lines);

/* Up: to the caller; down: to the heaviest callee; left and right: to the neighbours. Returns
 * whether the key is one of these. */
bool flame_move(struct flame_view *v, uint32_t key);
void flame_zoom(struct flame_view *v);   /* into what is selected */
bool flame_unzoom(struct flame_view *v); /* false: it was not zoomed */

/* The newer graph, which is v's then, at the same place as far as that is there. */
void flame_renew(struct flame_view *v, struct flame *newer);

#endif

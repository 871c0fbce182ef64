/* tui_menu.h - the list of what can be done on a page, with the keys for it. */
#ifndef TUI_TUI_MENU_H
#define TUI_TUI_MENU_H

struct browser;

/* Below the head: what the page says of itself, the commands, one of them selected, and how to
 * move. */
void menu_draw(struct browser *b);

#endif

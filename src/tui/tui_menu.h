/* tui_menu.h - the menu of commands available on a page, with their keys. */
#ifndef TUI_TUI_MENU_H
#define TUI_TUI_MENU_H

struct browser;

/* Draws below the head: the page's description, the commands, one of them selected, and how to
 * move. */
void menu_draw(struct browser *b);

#endif

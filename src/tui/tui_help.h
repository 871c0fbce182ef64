/* tui_help.h - what the keys do, and what the page says of itself, as far as the terminal has
 * lines. */
#ifndef TUI_TUI_HELP_H
#define TUI_TUI_HELP_H

struct term;

void help_draw(struct term *t, unsigned from, const char *about);

#endif

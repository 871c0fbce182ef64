/* term.h - the terminal: a screen of characters, keys, and a reliable reset of its state.
 *
 * The terminal is /dev/tty, so that standard input and output may be anything. While it is open,
 * signals that would end the process are delivered as a key (TERM_END), so that it is closed
 * properly; term_close() then raises them. If that fails, because the terminal is not read (a
 * stalled ssh) or the program is busy, the process nevertheless ends within a second, and the
 * terminal is reset as well as possible.
 *
 * Texts are UTF-8 and are visibly truncated to their columns; in an ASCII locale other characters
 * become '?'. There are no colours if NO_COLOR is set or the terminal has none. */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include "base/base.h"

struct kin_error;
struct term;

/* Whether the environment says that the terminal can only print one line after the other. */
bool term_is_dumb(void);

MUST_CHECK struct kin_error *term_open(struct term **ret);
void term_close(struct term *t); /* NULL is fine */

/* The number of rows of a terminal that is not open yet. */
unsigned term_rows_expected(void);

unsigned term_rows(const struct term *t);
unsigned term_columns(const struct term *t);
bool term_is_ascii(const struct term *t); /* the locale is ASCII only */

enum term_style {
	TERM_PLAIN,
	TERM_BOLD,
	TERM_DIM,
	TERM_BAR, /* first and last line */
	TERM_HOT,
	TERM_WARM,
	/* Blocks of a flame graph, by kind of object. */
	TERM_BLOCK_MAIN,
	TERM_BLOCK_LIBRARY,
	TERM_BLOCK_KERNEL,
	TERM_BLOCK_OTHER,
	TERM_BLOCK_FOUND,
	TERM_SELECTED = 1 << 4, /* may be combined with any of these */
};

/* Begins a new screen, which becomes visible at term_show(). */
void term_clear(struct term *t);
/* Writes a text in at most `width` columns, and fills the rest of them with blanks. */
void term_put(struct term *t, unsigned row, unsigned column, unsigned width, const char *text,
	      int style);
void term_show(struct term *t);

enum term_key { /* others are Unicode characters */
		TERM_NONE = 0,
		TERM_ENTER = '\n',
		TERM_ESCAPE = 27,
		TERM_BACKSPACE = 127,
		TERM_UP = 0x110000,
		TERM_DOWN,
		TERM_LEFT,
		TERM_RIGHT,
		TERM_PAGE_UP,
		TERM_PAGE_DOWN,
		TERM_HOME,
		TERM_LAST,
		TERM_HELP,
		TERM_QUIT,
		TERM_RESIZED,
		TERM_END, /* a signal came, or the terminal is gone */
};

/* Waits up to timeout_ms for a key; TERM_NONE: there was none. */
uint32_t term_key(struct term *t, int timeout_ms);

#endif

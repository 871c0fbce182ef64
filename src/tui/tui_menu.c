/* tui_menu.c - draws the menu: the page's own notes, commands, and keys for moving. */
#include "tui/tui_menu.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "tui/browse_private.h"

enum { MARGIN = 2, KEYS = 16, FEW_KEYS = 7, ABOUT_LINES = 3, NARROW = 80, NARROW_LINES = 2 };

static const char *const moving[] = {
	"Up, Down, j, k          the next row",
	"Page Up, Page Down      a screen; also Ctrl-B, Ctrl-F, Space",
	"Home, End, g, G         the first and the last one",
	"Left, Right             the rest of long names",
	"Ctrl-L                  the screen anew",
	"",
	"Self is time in the function itself, Children that with all it called.",
	"A number behind a name is its cycle of calls: in brackets if no stack goes",
	"round it, with a ? if that is not known.",
};

static size_t bytes_of(const char *word) { return strcspn(word, " "); }

/* Draws the part of the text that fits in a line, cut at a blank if there is one; returns the rest
 * of the text. */
static const char *draw_line(struct term *t, unsigned row, unsigned at, unsigned width,
			     const char *text, int style)
{
	size_t end = 0;
	char line[512];
	while (text[end] && end + 1 + bytes_of(text + end + 1) <= width)
		end += 1 + bytes_of(text + end + 1);
	if (!end)
		end = strlen(text);
	if (end >= sizeof(line))
		end = sizeof(line) - 1;
	memcpy(line, text, end);
	line[end] = '\0';
	term_put(t, row, at, width, line, style);
	return text + end + strspn(text + end, " ");
}

/* Returns the first row after the text. */
static unsigned draw_about(struct term *t, unsigned row, const char *about)
{
	unsigned columns = term_columns(t), last = row + ABOUT_LINES;
	unsigned width = columns > 2 * MARGIN ? columns - 2 * MARGIN : 1;
	for (const char *rest = about; *rest && row < last;)
		rest = draw_line(t, row++, MARGIN, width, rest, TERM_DIM);
	return row;
}

/* In a narrow terminal only the first of the command's keys is shown, and its text is wrapped. */
static void draw_command(struct browser *b, unsigned row, unsigned lines, size_t i)
{
	const char *named, *what;
	char first[KEYS];
	unsigned columns = term_columns(b->term), keys = lines > 1 ? FEW_KEYS : KEYS;
	int style = i == b->menu.selected ? TERM_SELECTED : TERM_PLAIN;
	if (!browse_menu_row(b, i, &named, &what))
		return;
	snprintf(first, sizeof(first), "%.*s", lines > 1 ? (int)strcspn(named, ",") : KEYS - 1,
		 named);
	for (unsigned k = 0; k < lines; k++)
		term_put(b->term, row + k, 0, columns, "", style);
	term_put(b->term, row, MARGIN, keys, first, TERM_BOLD | style);
	for (unsigned k = 0; k < lines && *what && columns > MARGIN + keys; k++)
		what = draw_line(b->term, row + k, MARGIN + keys, columns - MARGIN - keys, what,
				 style);
}

void menu_draw(struct browser *b)
{
	unsigned row = draw_about(b->term, BROWSE_HEAD - 1, page(b)->title);
	unsigned end = term_rows(b->term) - BROWSE_FOOT, columns = term_columns(b->term);
	unsigned lines = columns < NARROW ? NARROW_LINES : 1;
	list_fit(&b->menu, b->menu.n, end > row + lines ? (end - row) / lines : 1);
	for (size_t i = b->menu.top; i < b->menu.n && row + lines <= end; i++, row += lines)
		draw_command(b, row, lines, i);
	for (size_t i = 0; i < ARRAY_LEN(moving) && row + 1 < end; i++)
		term_put(b->term, ++row, MARGIN, columns > MARGIN ? columns - MARGIN : 1, moving[i],
			 TERM_PLAIN);
}

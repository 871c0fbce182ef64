/* tui_help.c - draws the list of keys, and the page's own notes. */
#include "tui/tui_help.h"

#include <string.h>

#include "base/base.h"
#include "tui/term.h"

enum { MARGIN = 2 };

static const char *const lines[] = {
	"Up, Down, j, k          the next row",
	"Page Up, Page Down      a screen; also Ctrl-B, Ctrl-F, Space",
	"Home, End, g, G         the first and the last one",
	"Left, Right             the rest of long names",
	"Enter                   who calls the function, and what it calls",
	"a                       its source, its instructions",
	"Esc, Backspace          back; ends a filter",
	"/                       only rows with a text in them",
	"s                       sort by Children, or by Self",
	"e                       the next event, where several were counted",
	"p                       hold the picture, or let it go on",
	"h, ?, F1                this page; Ctrl-L: the screen anew",
	"q, F10                  quit",
	"",
	"Self is time in the function itself, Children that with all it called.",
};

static size_t bytes_of(const char *word) { return strcspn(word, " "); }

/* The line that fits, at a blank if there is one; returns what is left of the text. */
static const char *draw_line(struct term *t, unsigned row, unsigned width, const char *text)
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
	term_put(t, row, MARGIN, width, line, TERM_PLAIN);
	return text + end + strspn(text + end, " ");
}

void help_draw(struct term *t, unsigned from, const char *about)
{
	unsigned columns = term_columns(t), row = from;
	unsigned width = columns > 2 * MARGIN ? columns - 2 * MARGIN : 1;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		term_put(t, row++, MARGIN, width, lines[i], TERM_PLAIN);
	for (const char *rest = about; *rest && row < term_rows(t);)
		rest = draw_line(t, row++, width, rest);
}

/* wrap.c - wraps text between words. */
#include "cli/wrap.h"

#include <string.h>

#include "base/escape.h"

/* How much of a word of n characters goes on this line: all, or up to the last comma that fits. */
static size_t piece_of(const char *word, size_t n, size_t room)
{
	for (size_t i = room; n > room && i > 0; i--)
		if (word[i - 1] == ',')
			return i;
	return n;
}

void wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width)
{
	size_t room = width > indent ? width - indent : 1;
	bool is_first = true, within = false; /* inside a word that is too long for a line */
	while (*text) {
		size_t gap = strspn(text, " "), word = strcspn(text + gap, " ");
		size_t n = piece_of(text + gap, word, room);
		size_t columns = escape_width(text + gap) - escape_width(text + gap + n);
		text += gap;
		if (within || (!is_first && at + gap + columns > width)) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
			gap = 0;
		}
		fprintf(out, "%*s%.*s", (int)gap, "", (int)n, text);
		at += gap + columns;
		is_first = false;
		within = n < word;
		text += n;
	}
	fputc('\n', out);
}

/* places.c - makes places from symbols and source lines as GNU gprof 2.40 does. It requests the
 * line of each symbol as it reads them, before it requests all lines. With symbols from elsewhere
 * (-S) it requests none for them. */
#include "gnu/rules.h"
#include "symbolize/symbols.h"

static bool has_fewer_underscores(const char *a, const char *b)
{
	return b[0] == '_' && (a[0] != '_' || (a[1] != '_' && b[1] == '_'));
}

/* The choice among symbols at one address. Lines are symbols that are no functions and come
 * first. */
static bool line_wins(const struct symbol *function, const struct symbol *line)
{
	if (function->is_static != line->is_static)
		return function->is_static;
	return !function->is_function && !has_fewer_underscores(function->name, line->name);
}

/* The last symbol ends with .text. When lines are added, symbols that end before they start are
 * removed, such as a weak variable at the end of the table. */
static void drop_empty_last(struct symbol_table *t, struct address_range text)
{
	if (t->n > 1 && t->at[t->n - 1].addr >= text.high)
		t->n--;
}

const struct place_rules gnu_place_rules = {
	.lines = &gnu_line_rules,
	.line_wins = line_wins,
	.trim = drop_empty_last,
	.in_file_order = true,
	.bare_lists = true,
	.one_name = true,
};

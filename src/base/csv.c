/* csv.c - quotes fields, and makes formulas texts. */
#include "base/csv.h"

#include <stdlib.h>

#include "base/escape.h"

static bool is_number(const char *s)
{
	char *end;
	strtod(s, &end);
	return end != s && !*end;
}

/* A spreadsheet would take it for a formula, and run it. Tabs and returns are escaped before. */
static bool is_formula(const char *s)
{
	static const char *const signs[] = {
		"=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"
	};
	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (!strncmp(s, signs[i], strlen(signs[i])))
			return !is_number(s);
	return false;
}

static void put_doubled(struct sink *s, const char *text)
{
	for (; *text; text++) {
		if (*text == '"')
			sink_char(s, '"');
		sink_char(s, *text);
	}
}

static void plain_text(struct sink *s, const char *field)
{
	bool formula = is_formula(field);
	if (!field[strcspn(field, ",\"")] && field[0] != ' ') {
		if (formula)
			sink_char(s, '\'');
		sink_str(s, field);
		return;
	}
	sink_char(s, '"');
	if (formula)
		sink_char(s, '\'');
	put_doubled(s, field);
	sink_char(s, '"');
}

void csv_text(struct sink *s, const char *text)
{
	if (escape_is_plain(text)) {
		plain_text(s, text);
		return;
	}
	char *safe = escape_copy(text);
	plain_text(s, safe);
	free(safe);
}

void csv_quoted(struct sink *s, const char *text)
{
	char *safe = escape_is_plain(text) ? NULL : escape_copy(text);
	put_doubled(s, safe ? safe : text);
	free(safe);
}

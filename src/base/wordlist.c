/* wordlist.c - finds the ends of words; a name ends only behind the brackets opened in it. */
#include "base/wordlist.h"

#include <string.h>

#include "base/short_name.h"

bool words_next(const char **list, const char *separators, struct word *ret)
{
	if (!*list)
		return false;
	*list += strspn(*list, separators);
	*ret = (struct word){ *list, strcspn(*list, separators) };
	*list += ret->n;
	return ret->n;
}

/* The end of the signs of an operator at p; p: there is none. A comma is the operator's own only if
 * the list, parameters or template arguments follow it. */
static const char *behind_operator(const char *list, const char *p)
{
	const char *end = name_operator_end(list, p);
	while (end > p && end[-1] == ',')
		end--;
	return end > p && end[0] == ',' && (!end[1] || strchr(",(<", end[1])) ? end + 1 : end;
}

/* The end of the bracket that opens at p; p: it is never closed. */
static const char *behind_bracket(const char *list, const char *p)
{
	static const char opening[] = "(<[{", closing[] = ")>]}";
	char open[64];
	size_t depth = 0;
	for (const char *at = p; *at;) {
		const char *end = behind_operator(list, at), *kind = strchr(opening, *at);
		if (end > at) {
			at = end;
			continue;
		}
		if (kind && depth == sizeof(open))
			return p;
		if (kind)
			open[depth++] = closing[kind - opening];
		else if (depth && *at == open[depth - 1] && !(*at == '>' && at[-1] == '-'))
			depth--;
		at++;
		if (!depth)
			return at;
	}
	return p;
}

bool words_next_name(const char **list, struct word *ret)
{
	if (!*list)
		return false;
	const char *start = *list + strspn(*list, ","), *p = start;
	while (*p && *p != ',') {
		const char *end = behind_operator(start, p);
		end = end > p ? end : strchr("(<[{", *p) ? behind_bracket(start, p) : p;
		p = end > p ? end : p + 1;
	}
	*ret = (struct word){ start, (size_t)(p - start) };
	*list = p;
	return ret->n;
}

char *word_copy(struct arena *a, struct word w) { return arena_printf(a, "%.*s", (int)w.n, w.s); }

char *words_next_copy(struct arena *a, const char **list, const char *separators)
{
	struct word w;
	return words_next(list, separators, &w) ? word_copy(a, w) : NULL;
}

bool word_is(struct word w, const char *text)
{
	return strlen(text) == w.n && !memcmp(w.s, text, w.n);
}

bool words_have(const char *const *list, const char *word)
{
	while (list && *list && strcmp(*list, word))
		list++;
	return list && *list;
}

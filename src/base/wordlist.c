/* wordlist.c - finds the ends of words; those of names are behind all brackets that are closed. */
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

/* Behind the signs of an operator at p; else p. Of commas one is its own, where a list or the
 * operator's parameters go on. */
static const char *behind_operator(const char *list, const char *p)
{
	const char *end = name_operator_end(list, p);
	while (end > p && end[-1] == ',')
		end--;
	return end > p && end[0] == ',' && (!end[1] || strchr(",(<", end[1])) ? end + 1 : end;
}

/* Behind the bracket that closes the one at p; p: none does. */
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

bool word_is(struct word w, const char *text)
{
	return strlen(text) == w.n && !memcmp(w.s, text, w.n);
}

#include "base/function_name.h"

#include <stdio.h>
#include <string.h>

/* What may follow a function's name: its parameters, or those of its template. */
static bool ends_name(char c) { return c == '\0' || c == '(' || c == '<' || c == '!'; }

/* What compilers put behind a dot, where Go and D have an inner name. */
static bool is_suffix(const char *name)
{
	return !strcmp(name, "cold") || !name[strspn(name, "0123456789")];
}

bool function_name_is(const char *display, const char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t n = strlen(name), depth = 0, arguments = 0; /* of a template, <...> and !(...) */
	bool starts = true, suffix = is_suffix(name);

	for (const char *p = display; n && *p; p++) {
		if (starts && !strncmp(p, name, n) && ends_name(p[n]))
			return true;
		if (arguments || (*p == '!' && p[1] == '(')) {
			p += !arguments;
			arguments += *p == '(';
			arguments -= *p == ')';
			starts = false;
			continue;
		}
		if (*p == '(') {
			if (strncmp(p, anonymous, sizeof(anonymous) - 1))
				return false; /* its parameters */
			p += sizeof(anonymous) - 2;
		}
		depth += *p == '<';
		depth -= *p == '>' && depth;
		starts = !depth &&
			 (*p == ' ' || (*p == ':' && p[1] != ':') || (*p == '.' && !suffix));
	}
	return false;
}

struct function_hint function_hint_for(const char *name)
{
	return (struct function_hint){ .nearest = suggestion_for(name, strlen(name)) };
}

bool function_hint_is_best(const struct function_hint *h) { return h->nearest.distance <= 1; }

void function_hint_try(struct function_hint *h, const char *display)
{
	char whole[64];
	unsigned before = h->nearest.distance;
	size_t n = strcspn(display, "(<");

	while (n && display[n - 1] == ' ')
		n--; /* "f (inlined)" */
	snprintf(whole, sizeof(whole), "%.*s", (int)n, display);
	const char *colon = strrchr(whole, ':');
	suggestion_try(&h->nearest, whole);
	if (colon)
		suggestion_try(&h->nearest, colon + 1);
	if (h->nearest.distance < before)
		snprintf(h->text, sizeof(h->text), ": did you mean '%s'?", h->nearest.best);
	h->nearest.best = NULL; /* was in `whole` */
}

/* Names in the form for people: never longer but for the brackets of a mark, valid UTF-8 where the
 * full name is, and two names that are shown together never alike. Lines are names. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/people_name.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_utf8(const char *s)
{
	uint32_t c;
	for (size_t n; *s; s += n)
		if (!(n = utf8_decode((const unsigned char *)s, &c)))
			return false;
	return true;
}

static void check_form(const char *name, enum people_form form)
{
	char *text = people_name(name, form);
	size_t marks = strstr(name, " -> ") ? 2 : 1; /* caller and callee */
	if (text && (!*text || strlen(text) > strlen(name) + 2 * marks || !strcmp(text, name) ||
		     (is_utf8(name) && !is_utf8(text))))
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { MOST = 32 };
	const char *names[MOST], *shown[MOST];
	size_t n = 0;
	if (memchr(data, '\0', size))
		return 0;
	char *lines = xalloc(size + 1), *rest = memcpy(lines, data, size);
	struct people_names *p = people_names_new();
	while (rest && n < MOST) {
		names[n] = strsep(&rest, "\n");
		check_form(names[n], PEOPLE_SHORT);
		check_form(names[n], PEOPLE_WITH_PARAMETERS);
		people_names_at(p, names[n++]);
	}
	for (size_t i = 0; i < n; i++)
		shown[i] = people_names_at(p, names[i]);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(shown[i], shown[k]) != !strcmp(names[i], names[k]))
				abort();
	people_names_free(p);
	free(lines);
	return 0;
}

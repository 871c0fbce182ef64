/* source_url.c - checks templates of links: only the web's schemes, nothing that a browser would
 * run. */
#include "base/source_url.h"

#include <string.h>

bool source_url_is_valid(const char *text)
{
	bool is_web = !strncmp(text, "https://", 8) || !strncmp(text, "http://", 7);
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return false;
	return is_web && strstr(text, "{file}");
}

/* store_name.h - what kin knows of stores of many recordings: the names of them. The program
 * kin-fleet, made of src/fleet, reads them; kin starts it (cli/fleet.h). */
#ifndef FORMATS_STORE_NAME_H
#define FORMATS_STORE_NAME_H

#include <stdbool.h>
#include <strings.h>

/* Whether the text is a store's URL, valid or not. */
static inline bool store_is_named(const char *text)
{
	return !strncasecmp(text, "http://", 7) || !strncasecmp(text, "https://", 8);
}

#define STORE_ABOUT(reads)                                                                         \
	{                                                                                          \
		.name = "store",                                                                   \
		.what = "a store of many recordings: http://HOST:PORT/DATABASE?service=NAME",      \
		.is_read = (reads)                                                                 \
	}

#endif

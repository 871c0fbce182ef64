/* wordlist.h - lists of words as users write them: "f,n::g<int, char>".
 *
 *	struct word w;
 *	while (words_next(&list, ",", &w))
 *		... w.s[0 .. w.n) ...
 *
 * Empty words are none. */
#ifndef BASE_WORDLIST_H
#define BASE_WORDLIST_H

#include "base/base.h"

struct word { /* of the list, not terminated */
	const char *s;
	size_t n;
};

/* The next word up to one of the separators; false: there are no more. `list` goes on behind it;
 * NULL is an empty list. */
bool words_next(const char **list, const char *separators, struct word *ret);

/* The same of names with commas between them. Commas within brackets, and that of "operator,", are
 * part of a name. A bracket that is not closed is none: "operator<,f". */
bool words_next_name(const char **list, struct word *ret);

bool word_is(struct word w, const char *text);

#endif

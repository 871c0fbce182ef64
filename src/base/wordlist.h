/* wordlist.h - lists of words as users write them: "f,n::g<int, char>".
 *
 *	struct word w;
 *	while (words_next(&list, ",", &w))
 *		... w.s[0 .. w.n) ...
 *
 * Empty words are skipped. */
#ifndef BASE_WORDLIST_H
#define BASE_WORDLIST_H

#include "base/arena.h"

struct word { /* a part of the list, not terminated */
	const char *s;
	size_t n;
};

/* The next word up to one of the separators; false: there are no more. Moves *list behind the word.
 * *list NULL is an empty list. */
bool words_next(const char **list, const char *separators, struct word *ret);

/* The next name of a list separated by commas. Commas within brackets, and the comma of
 * "operator,", are part of a name. A bracket that is never closed does not count as one:
 * "operator<,f". */
bool words_next_name(const char **list, struct word *ret);

/* The word, terminated, in the arena. */
char *word_copy(struct arena *a, struct word w);
/* A copy of the next word, as by words_next(); NULL: there are no more. */
char *words_next_copy(struct arena *a, const char **list, const char *separators);

bool word_is(struct word w, const char *text);

/* Whether the word is in the list, which ends with NULL; a list of NULL is empty. */
bool words_have(const char *const *list, const char *word);

#endif

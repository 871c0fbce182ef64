/* suggest.h - "did you mean ...?": the candidate nearest to a word, if any is near. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include "base/base.h"

struct suggestion {
	const char *word;
	size_t len;
	unsigned distance; /* distance of the best so far; only smaller ones count */
	const char *best;  /* NULL: none is near */
};

struct suggestion suggestion_for(const char *word, size_t len);
void suggestion_try(struct suggestion *s, const char *candidate);

/* Whether fewer than `limit` insertions, deletions, replacements and swaps of neighbours turn a[n]
 * into b[m]. Very long words are near to none. */
bool suggest_is_near(const char *a, size_t n, const char *b, size_t m, unsigned limit);

#endif

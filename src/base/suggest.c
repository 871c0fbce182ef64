/* suggest.c - the nearest word by edit distance. */
#include "base/suggest.h"

#include <string.h>

enum { LONGEST = 40 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;
	return m < c ? m : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b; `limit` or more,
 * as soon as that is certain. */
static unsigned edit_distance(const char *a, size_t n, const char *b, size_t m, unsigned limit)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= m; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned least = row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = min3(above[j] + 1, row[j - 1] + 1,
				      above[j - 1] + (a[i - 1] != b[j - 1]));
			bool swapped =
				i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
			if (swapped && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
			least = row[j] < least ? row[j] : least;
		}
		if (least >= limit)
			return least; /* rows below have no less, nor have swaps across this one */
		unsigned *oldest = before;
		before = above;
		above = row;
		row = oldest;
	}
	return above[m];
}

bool suggest_is_near(const char *a, size_t n, const char *b, size_t m, unsigned limit)
{
	return n <= LONGEST && m <= LONGEST && n < m + limit && m < n + limit &&
	       edit_distance(a, n, b, m, limit) < limit;
}

struct suggestion suggestion_for(const char *word, size_t len)
{
	return (struct suggestion){ .word = word,
				    .len = len,
				    .distance = 1 + (unsigned)(len > 3) + 1 };
}

void suggestion_try(struct suggestion *s, const char *candidate)
{
	size_t n = strlen(candidate);
	if (s->len > LONGEST || n > LONGEST)
		return;
	/* A word that is cut short counts as one mistyped letter. */
	bool begins = s->len >= 3 && s->len < n && !memcmp(candidate, s->word, s->len);
	unsigned d = begins ? 1 : edit_distance(s->word, s->len, candidate, n, s->distance);
	/* Half of the letters wrong is another word. */
	if (d < s->distance && 2 * d < n + 1) {
		s->distance = d;
		s->best = candidate;
	}
}

/* sort.c - radix sort of numbers, and of names by eight bytes at a time. */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers: a radix sort, from the lowest digit on ---- */

/* Larger digits need fewer passes, but below MANY keys counting them costs more than it saves. */
enum { SMALL_DIGIT = 8, LARGE_DIGIT = 11, FEW = 48, SOME = 256, MANY = 2048 };

static void sort_few(struct sort_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sort_key moving = keys[i];
		size_t k = i;
		for (; k && keys[k - 1].key > moving.key; k--)
			keys[k] = keys[k - 1];
		keys[k] = moving;
	}
}

static bool is_sorted(const struct sort_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (keys[i - 1].key > keys[i].key)
			return false;
	return true;
}

/* One stable pass by the digit that starts at bit `shift`. */
static void sort_digit(const struct sort_key *from, struct sort_key *to, size_t n, unsigned shift,
		       unsigned bits)
{
	const uint64_t mask = (1u << bits) - 1;
	uint32_t at[1 << LARGE_DIGIT];

	memset(at, 0, sizeof(*at) << bits);
	for (size_t i = 0; i < n; i++)
		at[from[i].key >> shift & mask]++;
	for (uint32_t d = 0, sum = 0; d <= mask; d++) {
		uint32_t count = at[d];
		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i].key >> shift & mask]++] = from[i];
}

/* Sorts up to SOME keys by the highest digit in which they differ, as few agree in it. */
static void sort_some(struct sort_key *keys, size_t n, uint64_t differ)
{
	struct sort_key by_digit[SOME];
	unsigned top = 64 - (unsigned)__builtin_clzll(differ);

	sort_digit(keys, by_digit, n, top > SMALL_DIGIT ? top - SMALL_DIGIT : 0, SMALL_DIGIT);
	sort_few(by_digit, n);
	memcpy(keys, by_digit, n * sizeof(*keys));
}

/* Only digits that differ at all need a pass: some two for the addresses of a program. */
void sort_keys(struct sort_key *keys, size_t n)
{
	if (n <= FEW) {
		sort_few(keys, n);
		return;
	}
	if (is_sorted(keys, n))
		return;

	uint64_t differ = 0;
	for (size_t i = 0; i < n; i++)
		differ |= keys[i].key ^ keys[0].key;
	if (n <= SOME) {
		sort_some(keys, n, differ);
		return;
	}
	struct sort_key *from = keys, *other = xrealloc(NULL, n, sizeof(*other)), *to = other;
	unsigned bits = n < MANY ? SMALL_DIGIT : LARGE_DIGIT;
	for (unsigned shift = 0; shift < 64; shift += bits) {
		if (!(differ >> shift & ((1u << bits) - 1)))
			continue;
		sort_digit(from, to, n, shift, bits);
		struct sort_key *swap = from;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
	free(other);
}

size_t sort_unique(uint64_t *numbers, size_t n)
{
	struct sort_key *keys = xrealloc(NULL, n + 1, sizeof(*keys));
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ numbers[i], (uint32_t)i };
	sort_keys(keys, n);
	for (size_t i = 0; i < n; i++)
		if (!left || numbers[left - 1] != keys[i].key)
			numbers[left++] = keys[i].key;
	free(keys);
	return left;
}

uint64_t sort_key_of_double(double v)
{
	const uint64_t sign = 1ull << 63;
	uint64_t bits;

	v += 0.0; /* -0 to 0 */
	memcpy(&bits, &v, sizeof(bits));
	return bits & sign ? ~bits : bits | sign;
}

/* ---- names: eight bytes at a time as numbers; those that agree in them by what follows ---- */

/* The next eight bytes as a number, with zeros behind the end: names that agree in a piece with a
 * zero are equal. */
static uint64_t piece_of(const char *name)
{
	uint64_t piece = 0;
	for (size_t i = 0; i < sizeof(piece); i++) {
		piece = piece << 8 | (unsigned char)*name;
		name += *name != '\0';
	}
	return piece;
}

static bool has_end(uint64_t piece) { return (piece & 0xff) == 0; }

static void sort_few_names(struct sort_name *names, size_t n, size_t agreed)
{
	for (size_t i = 1; i < n; i++) {
		struct sort_name moving = names[i];
		size_t k = i;
		for (; k && strcmp(names[k - 1].name + agreed, moving.name + agreed) > 0; k--)
			names[k] = names[k - 1];
		names[k] = moving;
	}
}

/* The first `agreed` bytes of all are the same. Each level of recursion has fewer names, so that
 * long ones that agree for long do not make it deep. */
static void sort_from(struct sort_name *names, size_t n, size_t agreed, struct sort_key *keys,
		      struct sort_name *scratch)
{
	enum { FEW_NAMES = 12 };
	for (;; agreed += sizeof(keys->key)) {
		if (n <= FEW_NAMES) {
			sort_few_names(names, n, agreed);
			return;
		}
		for (size_t i = 0; i < n; i++)
			keys[i] =
				(struct sort_key){ piece_of(names[i].name + agreed), (uint32_t)i };
		sort_keys(keys, n);
		if (keys[0].key != keys[n - 1].key)
			break;
		if (has_end(keys[0].key))
			return;
	}
	memcpy(scratch, names, n * sizeof(*names));
	for (size_t i = 0; i < n; i++)
		names[i] = scratch[keys[i].index];
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && keys[end].key == keys[i].key; end++)
			;
		if (end - i > 1 && !has_end(keys[i].key))
			sort_from(names + i, end - i, agreed + sizeof(keys->key), keys + i,
				  scratch + i);
	}
}

void sort_names(struct sort_name *names, size_t n)
{
	struct sort_key *keys = xrealloc(NULL, n, sizeof(*keys));
	struct sort_name *scratch = xrealloc(NULL, n, sizeof(*scratch));

	sort_from(names, n, 0, keys, scratch);
	free(keys);
	free(scratch);
}

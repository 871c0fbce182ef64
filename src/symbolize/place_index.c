/* place_index.c - buckets of addresses, and a search inside of one. */
#include "symbolize/place_index.h"

#include <stdlib.h>

/* end[k]: where place first + k ends, in bytes from the bucket's low address; ENDS_LATER: there or
 * behind. Ends behind a gap between places, or behind ENDS_LATER, are not known: there the end
 * before is repeated (0 if there is none), so that no address seems to be in those places. */
enum { KNOWN = 4, ENDS_LATER = UINT8_MAX };

struct place_bucket {
	uint32_t first; /* the first place that ends after the bucket's low address; n: none */
	uint8_t end[KNOWN];
};

/* Ends do not fit into larger buckets, and there would be more smaller ones than needed. */
enum { BEST_SHIFT = 8, BUCKETS_PER_PLACE = 4 };

static unsigned choose_shift(uint64_t span, size_t n)
{
	unsigned shift = BEST_SHIFT;

	if (span >> shift > (uint64_t)n * BUCKETS_PER_PLACE)
		while (span >> shift > n)
			shift++;
	return shift;
}

static void set_ends(const struct place_index *x, struct place_bucket *b, uint64_t low)
{
	const struct symbol *place = &x->at[b->first], *end = &x->at[x->n];
	uint64_t known = low; /* all ends up to this address are known */

	for (size_t k = 0; k < KNOWN; k++) {
		if (place < end && place->addr <= known && known - low < ENDS_LATER)
			known = place++->end;
		b->end[k] = (uint8_t)(known - low < ENDS_LATER ? known - low : ENDS_LATER);
	}
}

static void set_buckets(struct place_index *x)
{
	size_t b = 0;

	for (size_t i = 0; i < x->n; i++) {
		size_t last = (size_t)((x->at[i].end - x->at[0].addr) >> x->shift);
		for (; b <= last && b < x->n_buckets; b++)
			x->buckets[b].first = (uint32_t)i;
	}
	for (; b <= x->n_buckets; b++)
		x->buckets[b].first = (uint32_t)x->n;
	for (b = 0; x->shift == BEST_SHIFT && b < x->n_buckets; b++)
		set_ends(x, &x->buckets[b], x->at[0].addr + ((uint64_t)b << x->shift));
}

static bool is_plain(const struct place_index *x, size_t i)
{
	return x->plain[i / 64] >> i % 64 & 1;
}

void place_index_init(struct place_index *x, const struct symbol *at, size_t n)
{
	*x = (struct place_index){ .at = at, .n = n };
	if (!n)
		return;
	uint64_t span = at[n - 1].end - at[0].addr;

	x->shift = choose_shift(span, n);
	x->n_buckets = (size_t)(span >> x->shift) + 1;
	x->buckets = xalloc((x->n_buckets + 1) * sizeof(*x->buckets));
	x->plain = xalloc((n / 64 + 1) * sizeof(*x->plain));
	set_buckets(x);
	for (size_t i = 0; i < n; i++)
		x->plain[i / 64] |= (uint64_t)(at[i].is_function && at[i].owner == i) << i % 64;
}

void place_index_done(struct place_index *x)
{
	free(x->buckets);
	free(x->plain);
	*x = (struct place_index){ 0 };
}

/* For addresses that the bucket cannot answer: the first place in it that ends after addr, if it
 * starts there. */
static symid search(const struct place_index *x, const struct place_bucket *b, uint64_t addr)
{
	enum { FEW = 4 };
	size_t low = b[0].first, high = b[1].first + (size_t)1;

	if (high > x->n)
		high = x->n;
	/* It is one of the first, if places are spread evenly. */
	for (size_t i = 0; i < FEW && low < high && x->at[low].end <= addr; i++)
		low++;
	while (low < high && x->at[low].end <= addr) {
		size_t mid = low + (high - low) / 2;
		if (x->at[mid].end > addr)
			high = mid;
		else
			low = mid + 1;
	}
	return low < x->n && x->at[low].addr <= addr && addr < x->at[low].end ? (symid)low : NONE;
}

symid place_index_find(const struct place_index *x, uint64_t addr)
{
	if (!x->n_buckets || addr < x->at[0].addr)
		return NONE;
	uint64_t offset = addr - x->at[0].addr, i = offset >> x->shift;
	if (i >= x->n_buckets)
		return NONE;

	const struct place_bucket *b = &x->buckets[i];
	unsigned k = 0; /* places that end before addr; counted without unpredictable branches */
	offset &= ((uint64_t)1 << x->shift) - 1;
	for (unsigned j = 0; j < KNOWN; j++)
		k += offset >= b->end[j];
	return k < KNOWN ? b->first + k : search(x, b, addr);
}

symid place_index_find_function(const struct place_index *x, uint64_t addr)
{
	symid id = place_index_find(x, addr);

	if (id == NONE || is_plain(x, id))
		return id;
	while (id != NONE && !x->at[id].is_function)
		id--; /* from 0 to NONE */
	return id == NONE ? NONE : x->at[id].owner;
}

void place_index_prefetch(const struct place_index *x, uint64_t addr)
{
	if (!x->n_buckets || addr < x->at[0].addr)
		return;
	uint64_t i = (addr - x->at[0].addr) >> x->shift;

	if (i < x->n_buckets)
		prefetch_line(&x->buckets[i]);
}

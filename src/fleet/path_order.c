/* path_order.c - sorts stacks like words, letter by letter from the outermost caller: multikey
 * quicksort (Bentley and Sedgewick, "Fast Algorithms for Sorting and Searching Strings", SODA
 * 1997). It examines a common beginning once and not in every comparison. */
#include "fleet/path_order.h"

/* The frame + 1; 0: the path has ended. */
static uint64_t letter(const struct path_of_stack *p, uint32_t depth)
{
	return depth < p->n ? (uint64_t)p->at[depth] + 1 : 0;
}

static void swap(struct path_of_stack *a, struct path_of_stack *b)
{
	struct path_of_stack t = *a;
	*a = *b;
	*b = t;
}

static uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;
	return c < low ? low : c > high ? high : c;
}

struct path_range {
	struct path_of_stack *at;
	size_t n;
	uint32_t depth; /* length of the common beginning */
};

/* Moves the largest part to the end. */
static void put_largest_last(struct path_range part[3])
{
	for (int i = 0; i < 2; i++)
		if (part[i].n > part[2].n) {
			struct path_range t = part[i];
			part[i] = part[2];
			part[2] = t;
		}
}

/* Splits into less than, equal to and greater than the pivot. */
static void split(const struct path_range *r, struct path_range part[3])
{
	uint64_t pivot = median(letter(&r->at[0], r->depth), letter(&r->at[r->n / 2], r->depth),
				letter(&r->at[r->n - 1], r->depth));
	size_t low = 0, high = r->n;
	for (size_t i = 0; i < high;) {
		uint64_t x = letter(&r->at[i], r->depth);
		if (x < pivot)
			swap(&r->at[low++], &r->at[i++]);
		else if (x > pivot)
			swap(&r->at[i], &r->at[--high]);
		else
			i++;
	}
	part[0] = (struct path_range){ r->at, low, r->depth };
	part[1] = (struct path_range){ r->at + low, pivot ? high - low : 0, r->depth + 1 };
	part[2] = (struct path_range){ r->at + high, r->n - high, r->depth };
}

/* Recurses into the two smaller parts only, so the depth is at most the number of bits in n. */
static void order(struct path_range r)
{
	while (r.n > 1) {
		struct path_range part[3];
		split(&r, part);
		put_largest_last(part);
		order(part[0]);
		order(part[1]);
		r = part[2];
	}
}

void path_order(struct path_of_stack *list, size_t n) { order((struct path_range){ list, n, 0 }); }

/* interval.c - sweeps over the intervals with a heap of the open ones. */
#include "object/interval.h"
#include "base/sort.h"

static int by_low(const void *a, const void *b)
{
	const struct interval *l = a, *r = b;
	if (l->low != r->low)
		return l->low < r->low ? -1 : 1;
	return ORDER(l->order, r->order);
}

static bool counts_more(const struct interval *a, const struct interval *b)
{
	return a->rank != b->rank ? a->rank > b->rank : a->order > b->order;
}

/* ---- a heap of the intervals open at an address, with the one that counts on top ---- */

static void heap_push(struct intervals *h, const struct interval *v)
{
	vec_push(h, *v);
	size_t i = h->n - 1;
	while (i && counts_more(v, &h->at[(i - 1) / 2])) {
		h->at[i] = h->at[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->at[i] = *v;
}

static void heap_pop(struct intervals *h)
{
	struct interval v = h->at[--h->n];
	size_t i = 0, n = h->n;
	for (size_t child; (child = i * 2 + 1) < n; i = child) {
		if (child + 1 < n && counts_more(&h->at[child + 1], &h->at[child]))
			child++;
		if (!counts_more(&h->at[child], &v))
			break;
		h->at[i] = h->at[child];
	}
	if (n)
		h->at[i] = v;
}

/* ---- flattening ---- */

static void emit(struct intervals *out, const struct interval *top, uint64_t low, uint64_t high)
{
	struct interval *last = out->n ? &out->at[out->n - 1] : NULL;
	if (last && last->high == low && last->value == top->value) {
		last->high = high;
		return;
	}
	struct interval piece = *top;
	piece.low = low;
	piece.high = high;
	vec_push(out, piece);
}

static bool is_sorted(const struct intervals *v)
{
	for (size_t i = 1; i < v->n; i++)
		if (by_low(&v->at[i - 1], &v->at[i]) > 0)
			return false;
	return true;
}

void intervals_flatten(struct intervals *in)
{
	struct intervals heap = { 0 }, out = { 0 };
	uint64_t pos = 0;
	size_t i = 0, n = in->n;

	if (!is_sorted(in))
		qsort(in->at, n, sizeof(*in->at), by_low);
	while (i < n || heap.n) {
		if (!heap.n && in->at[i].low > pos)
			pos = in->at[i].low;
		for (; i < n && in->at[i].low <= pos; i++)
			heap_push(&heap, &in->at[i]);
		while (heap.n && heap.at[0].high <= pos)
			heap_pop(&heap);
		if (!heap.n)
			continue;
		struct interval *top = &heap.at[0];
		uint64_t end = top->high;
		if (i < n && in->at[i].low < end)
			end = in->at[i].low;
		emit(&out, top, pos, end);
		pos = end;
	}
	vec_free(in);
	vec_free(&heap);
	*in = out;
}

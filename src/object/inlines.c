/* inlines.c - which functions were inlined at given addresses: the entries of the debug information
 * that hold them. Units are found by their own ranges; those that give none are left out. */
#include <stdlib.h>

#include "object/lines_private.h"

struct search {
	struct object_lines *lines;
	const uint64_t *addrs;
	size_t n;
	bool *answered; /* [n]: by an earlier unit */
	struct {
		struct object_inline *at;
		size_t n, cap;
	} found;
	struct dwarf_functions functions;
};

static size_t first_from(const struct search *s, uint64_t low)
{
	size_t from = 0, to = s->n;
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		if (s->addrs[mid] < low)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* An inlined function in all addresses that its ranges hold. */
static void add_function(struct search *s, const struct unit_entries *e,
			 const struct dwarf_function *f)
{
	const char *name = NULL;
	for (uint32_t k = 0; k < f->n_ranges; k++) {
		struct address_range r = s->functions.ranges.at[f->first_range + k];
		for (size_t i = first_from(s, r.low); i < s->n && s->addrs[i] < r.high; i++) {
			if (s->answered[i])
				continue;
			if (!name && !(name = unit_entries_name(s->lines, e, f)))
				return;
			vec_push(&s->found,
				 ((struct object_inline){ (uint32_t)i, f->depth, name }));
		}
	}
}

static void mark_answered(struct search *s, const struct dwarf_unit *u)
{
	for (uint32_t k = 0; k < u->n_ranges; k++) {
		struct address_range r = s->lines->info->ranges.at[u->first_range + k];
		for (size_t i = first_from(s, r.low); i < s->n && s->addrs[i] < r.high; i++)
			s->answered[i] = true;
	}
}

static bool holds_any(const struct search *s, const struct dwarf_unit *u)
{
	for (uint32_t k = 0; k < u->n_ranges; k++) {
		struct address_range r = s->lines->info->ranges.at[u->first_range + k];
		for (size_t i = first_from(s, r.low); i < s->n && s->addrs[i] < r.high; i++)
			if (!s->answered[i])
				return true;
	}
	return false;
}

static void search_unit(struct search *s, size_t unit)
{
	const struct dwarf_unit *u = &s->lines->info->file.units.at[unit];
	uint64_t work = u->end - u->offset;
	if (!u->n_ranges || !holds_any(s, u) || work > s->lines->work_left)
		return;
	s->lines->work_left -= work;
	struct unit_entries e = object_entries(s->lines, u);
	dwarf_functions_read(e.info, e.unit, false, &s->functions);
	for (size_t i = 0; i < s->functions.at.n; i++)
		if (s->functions.at.at[i].is_inlined)
			add_function(s, &e, &s->functions.at.at[i]);
	mark_answered(s, u);
}

static int innermost_first(const void *a, const void *b)
{
	const struct object_inline *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->depth > y->depth ? -1 : x->depth < y->depth;
}

struct object_inline *object_inlines(struct object_file *o, const uint64_t *addrs, size_t n,
				     size_t *count)
{
	if (o->kept)
		return kept_inlines(o->kept, addrs, n, count);
	struct search s = { .lines = object_lines(o), .addrs = addrs, .n = n };

	*count = 0;
	if (!s.lines->info || !n)
		return NULL;
	s.answered = xalloc(n * sizeof(*s.answered));
	for (size_t i = 0; i < s.lines->info->file.units.n; i++)
		search_unit(&s, i);
	if (s.found.n)
		qsort(s.found.at, s.found.n, sizeof(*s.found.at), innermost_first);
	dwarf_functions_free(&s.functions);
	free(s.answered);
	*count = s.found.n;
	return s.found.at;
}

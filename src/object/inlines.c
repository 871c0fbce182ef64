/* inlines.c - finds the functions inlined at given addresses: entries of the debug information that
 * contain the addresses. Units are found by their own ranges; units without ranges are left out. */
#include <stdlib.h>

#include "base/search.h"
#include "object/answered.h"
#include "object/lines_private.h"

struct inline_search {
	struct object_lines *lines;
	const uint64_t *addrs;
	size_t n;
	struct address_ranges in; /* the addresses as ranges */
	bool *answered;           /* [n]: by an earlier unit */
	/* [n]: the range around each address with the same answer. Until remember() it may be too
	 * large beyond the neighbouring addresses. NULL: not needed. */
	struct address_range *reach;
	bool is_vague; /* units were left out or are in other files: answers may change */
	struct {
		struct object_inline *at;
		size_t n, cap;
	} found;
	struct dwarf_functions functions;
	struct line_table table; /* the files of the current unit */
	bool has_table, sought_table;
};

static size_t first_from(const struct inline_search *s, uint64_t low)
{
	return COUNT_WHILE(s->n, i, s->addrs[i] < low);
}

/* Shortens the reach of the addresses beside the ends of r, where answers may change. */
static void bound(struct inline_search *s, struct address_range r)
{
	const uint64_t ends[] = { r.low, r.high };
	for (size_t k = 0; s->reach && r.low < r.high && k < ARRAY_LEN(ends); k++) {
		size_t i = first_from(s, ends[k]);
		if (i && s->reach[i - 1].high > ends[k])
			s->reach[i - 1].high = ends[k];
		if (i < s->n && s->reach[i].low < ends[k])
			s->reach[i].low = ends[k];
	}
}

static void bound_all(struct inline_search *s, const struct address_range *r, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		bound(s, r[k]);
}

/* A function's name may be in a file that is missing today. */
static void note_nameless(struct inline_search *s)
{
	struct object_file *o = s->lines->object;
	if (!o->missing_alt)
		return;
	s->is_vague = true;
	o->missing = o->missing_alt;
}

static const char *call_file(struct inline_search *s, const struct unit_entries *e,
			     const struct dwarf_function *f)
{
	if (!s->sought_table)
		s->has_table =
			e->unit->has_lines && line_table_read_files(e->info, e->unit, &s->table);
	s->sought_table = true;
	return f->call_line && s->has_table ? unit_path(s->lines, &s->table, f->call_file) : NULL;
}

/* Adds an inlined function to all addresses in its ranges. */
static void add_function(struct inline_search *s, const struct unit_entries *e,
			 const struct dwarf_function *f)
{
	const char *name = NULL, *file = NULL;
	for (uint32_t k = 0; k < f->n_ranges; k++) {
		struct address_range r = s->functions.ranges.at[f->first_range + k];
		for (size_t i = first_from(s, r.low); i < s->n && s->addrs[i] < r.high; i++) {
			if (s->answered[i])
				continue;
			if (!name && !(name = unit_entries_name(s->lines, e, f))) {
				note_nameless(s);
				return;
			}
			file = file ? file : call_file(s, e, f);
			vec_push(&s->found,
				 ((struct object_inline){ (uint32_t)i, f->depth, name, file,
							  file ? f->call_line : 0 }));
		}
	}
}

static void mark_answered(struct inline_search *s, const struct dwarf_unit *u)
{
	for (uint32_t k = 0; k < u->n_ranges; k++) {
		struct address_range r = s->lines->info->ranges.at[u->first_range + k];
		for (size_t i = first_from(s, r.low); i < s->n && s->addrs[i] < r.high; i++)
			s->answered[i] = true;
	}
}

static bool holds_any(const struct inline_search *s, const struct dwarf_unit *u)
{
	for (uint32_t k = 0; k < u->n_ranges; k++) {
		struct address_range r = s->lines->info->ranges.at[u->first_range + k];
		for (size_t i = first_from(s, r.low); i < s->n && s->addrs[i] < r.high; i++)
			if (!s->answered[i])
				return true;
	}
	return false;
}

static void search_unit(struct inline_search *s, size_t unit)
{
	const struct dwarf_unit *u = &s->lines->info->file.units.at[unit];
	uint64_t work = u->end - u->offset;
	bound_all(s, s->lines->info->ranges.at + u->first_range, u->n_ranges);
	if (!u->n_ranges || !holds_any(s, u))
		return;
	s->is_vague |= work > s->lines->work_left || u->split_name;
	if (work > s->lines->work_left)
		return;
	s->lines->work_left -= work;
	struct unit_entries e = object_entries(s->lines, u);
	s->sought_table = false;
	dwarf_functions_read(e.info, e.unit, e.is_split ? NULL : &s->in, false, &s->functions);
	for (size_t i = 0; i < s->functions.at.n; i++) {
		const struct dwarf_function *f = &s->functions.at.at[i];
		/* Functions inlined into this one may not have been read: its ends are bounds. */
		bound_all(s, s->functions.ranges.at + f->first_range, f->n_ranges);
		if (f->is_inlined)
			add_function(s, &e, f);
	}
	mark_answered(s, u);
}

static int innermost_first(const void *a, const void *b)
{
	const struct object_inline *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->depth > y->depth ? -1 : x->depth < y->depth;
}

/* Lower bounds also hold for the later addresses, upper bounds for the earlier ones. */
static void remember(struct inline_search *s, struct answered *answered)
{
	if (s->is_vague || !s->lines->work_left)
		return;
	for (size_t i = 1; i < s->n; i++)
		if (s->reach[i].low < s->reach[i - 1].low)
			s->reach[i].low = s->reach[i - 1].low;
	for (size_t i = s->n - 1; i > 0; i--)
		if (s->reach[i - 1].high > s->reach[i].high)
			s->reach[i - 1].high = s->reach[i].high;
	answered_add_inlines(answered, s->addrs, s->reach, s->n, s->found.at, s->found.n);
}

static void search_units(struct inline_search *s, struct answered *answered)
{
	s->answered = xalloc(s->n * sizeof(*s->answered));
	if (answered)
		s->reach = xalloc(s->n * sizeof(*s->reach));
	for (size_t i = 0; s->reach && i < s->n; i++)
		s->reach[i] = (struct address_range){ 0, UINT64_MAX };
	vec_reserve(&s->in, s->n);
	for (size_t i = 0; i < s->n; i++)
		vec_push(&s->in, ((struct address_range){ s->addrs[i], s->addrs[i] + 1 }));
	for (size_t i = 0; i < s->lines->info->file.units.n; i++)
		search_unit(s, i);
	if (s->found.n)
		qsort(s->found.at, s->found.n, sizeof(*s->found.at), innermost_first);
	if (answered)
		remember(s, answered);
	dwarf_functions_free(&s->functions);
	line_table_done(&s->table);
	vec_free(&s->in);
	free(s->answered);
	free(s->reach);
}

struct object_inline *object_inlines(struct object_file *o, const uint64_t *addrs, size_t n,
				     size_t *count)
{
	if (o->kept)
		return kept_inlines(o->kept, addrs, n, count);
	struct answered *answered = n && object_dwarf(o) ? object_answered(o) : NULL;
	struct object_inline *ret;
	if (answered && answered_inlines(answered, addrs, n, &ret, count))
		return ret;
	struct inline_search s = { .lines = object_lines(o), .addrs = addrs, .n = n };

	*count = 0;
	if (!s.lines->info || !n)
		return NULL;
	search_units(&s, answered);
	*count = s.found.n;
	return s.found.at;
}

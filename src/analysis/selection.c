/* selection.c - sets of symbols and arcs, filled by id. */
#include "analysis/selection.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

const char *const selection_profiler_functions[] = {
	"_gprof_mcount",     "mcount",     "_mcount",    "__mcount",
	"__mcount_internal", "__mcleanup", "__fentry__", NULL,
};

void selection_init(struct selection *s, size_t n_symbols)
{
	*s = (struct selection){ .n_symbols = n_symbols };
}

void selection_add(struct selection *s, enum sel which, symid id)
{
	if (!s->bits)
		s->bits = xalloc(s->n_symbols * sizeof(*s->bits));
	s->bits[id] |= (uint16_t)(1u << which);
	s->any[which] = true;
}

void selection_add_arc(struct selection *s, bool include, struct sel_arc arc)
{
	uint8_t bit = include ? 1 : 2;

	if (!s->arc_from)
		s->arc_from = xalloc(s->n_symbols);
	for (size_t i = 0; arc.from && i < arc.n_from; i++)
		s->arc_from[arc.from[i]] |= bit;
	if (!arc.from)
		for (size_t i = 0; i < s->n_symbols; i++)
			s->arc_from[i] |= bit;
	if (include)
		vec_push(&s->incl_arcs, arc);
	else
		vec_push(&s->excl_arcs, arc);
	s->any_incl_arc |= include;
}

void selection_exclude_profiler(struct selection *s, const struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->n; i++) {
		const char *name = symbols->at[i].name;
		if (name[0] != '_' && name[0] != 'm')
			continue;
		for (const char *const *p = selection_profiler_functions; *p; p++) {
			if (strcmp(name, *p) != 0)
				continue;
			selection_add(s, SEL_EXCL_TIME, (symid)i);
			selection_add(s, SEL_EXCL_GRAPH, (symid)i);
			selection_add(s, SEL_EXCL_FLAT, (symid)i);
		}
	}
}

static bool holds(const symid *ids, size_t n, symid id)
{
	if (!ids)
		return true;
	size_t low = COUNT_WHILE(n, i, ids[i] < id);
	return low < n && ids[low] == id;
}

static bool matches(const struct sel_arc *arcs, size_t n, symid from, symid to)
{
	for (size_t i = 0; i < n; i++)
		if (holds(arcs[i].from, arcs[i].n_from, from) &&
		    holds(arcs[i].to, arcs[i].n_to, to))
			return true;
	return false;
}

bool selection_wants_arc(const struct selection *s, symid from, symid to)
{
	uint8_t in = s->arc_from ? s->arc_from[from] : 0;

	if (s->any_incl_arc)
		return in & 1 && matches(s->incl_arcs.at, s->incl_arcs.n, from, to);
	return !(in & 2) || !matches(s->excl_arcs.at, s->excl_arcs.n, from, to);
}

static void free_arcs(struct sel_arc *arcs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(arcs[i].from);
		free(arcs[i].to);
	}
}

void selection_done(struct selection *s)
{
	free(s->bits);
	free(s->arc_from);
	free_arcs(s->incl_arcs.at, s->incl_arcs.n);
	free_arcs(s->excl_arcs.at, s->excl_arcs.n);
	vec_free(&s->incl_arcs);
	vec_free(&s->excl_arcs);
}

/* uncounted.c - marks object files by the samples of recordings without calls, by calls, and by
 * facts. */
#include "profile/uncounted.h"

#include <stdlib.h>
#include <string.h>

/* For each source whether it counted no calls; NULL unless there are both kinds of sources. */
static bool *find_sources(const struct profile *p)
{
	size_t n = 0;
	bool *without = xalloc(p->n_sources + 1);
	for (size_t i = 0; i < p->n_sources; i++)
		n += without[i] = !p->sources[i].n_arcs;
	if (n && n < p->n_sources)
		return without;
	free(without);
	return NULL;
}

static void mark_sampled(const struct profile *p, const bool *without, bool *marked)
{
	const struct samples *s = &p->samples;
	bool *is_hit = xalloc(s->n_stacks + 1);
	for (size_t i = 0; i < s->n; i++)
		is_hit[s->at[i].stack] |= without[s->at[i].source];
	for (size_t i = s->n_stacks; i-- > 1;) {
		if (!is_hit[i])
			continue;
		is_hit[s->stacks[i].caller] = true;
		marked[s->frames[s->stacks[i].frame].object] = true;
	}
	free(is_hit);
}

/* A histogram is a sum over files, so each one may have time of a file without calls. */
static void mark_histograms(const struct profile *p, const bool *without, bool *marked)
{
	bool any = false;
	for (size_t i = 0; i < p->n_sources; i++)
		any |= without[i] && p->sources[i].n_histograms;
	for (size_t i = 0; i < p->n_histograms && any; i++)
		marked[p->histograms[i].object] = true;
}

static bool has_untimed(const struct profile *p)
{
	for (size_t i = 0; i < p->n_objects; i++)
		if (p->objects[i].untimed)
			return true;
	return false;
}

/* An arc is a sum over files, so each one may have calls from a file without samples. */
static void mark_called(const struct profile *p, bool *marked)
{
	for (size_t i = 0; i < p->n_arcs; i++)
		marked[arc_at(&p->arcs, i).to_object] = true;
}

static bool is_named(const struct profile *p, const char *fact, objid object)
{
	const char *path = strtab_get(p->strings, p->objects[object].path);
	for (size_t i = 0; i < p->n_facts; i++)
		if (!strcmp(strtab_get(p->strings, p->facts[i].name), fact) &&
		    !strcmp(strtab_get(p->strings, p->facts[i].value), path))
			return true;
	return false;
}

static bool has_facts(const struct profile *p, const char *fact)
{
	for (size_t i = 0; i < p->n_facts; i++)
		if (!strcmp(strtab_get(p->strings, p->facts[i].name), fact))
			return true;
	return false;
}

static void mark_named(const struct profile *p, const char *fact, bool *marked)
{
	for (objid i = 0; i < p->n_objects; i++)
		marked[i] |= is_named(p, fact, i);
}

/* Builds with the same path are one object. An object without a path, as in gmon.out, may be any
 * program. */
static void join_paths(const struct profile *p, bool *marked)
{
	for (size_t i = 0; i < p->n_objects; i++)
		for (size_t k = 0; k < p->n_objects && marked[i]; k++)
			marked[k] |= p->objects[k].path ? p->objects[k].path == p->objects[i].path
							: p->objects[i].is_main;
}

bool *uncounted_objects(const struct profile *p)
{
	bool *without = find_sources(p), facts = has_facts(p, FACT_UNCOUNTED);
	if (!without && !facts)
		return NULL;
	bool *marked = xalloc(p->n_objects + 1);
	if (without) {
		mark_sampled(p, without, marked);
		mark_histograms(p, without, marked);
	}
	if (facts)
		mark_named(p, FACT_UNCOUNTED, marked);
	join_paths(p, marked);
	free(without);
	return marked;
}

bool *untimed_objects(const struct profile *p, bool histograms_left_out)
{
	bool facts = has_facts(p, FACT_UNTIMED);
	if (!histograms_left_out && !has_untimed(p) && !facts)
		return NULL;
	bool *marked = xalloc(p->n_objects + 1);
	for (size_t i = 0; i < p->n_objects; i++)
		marked[i] = p->objects[i].untimed;
	if (histograms_left_out)
		mark_called(p, marked);
	if (facts)
		mark_named(p, FACT_UNTIMED, marked);
	join_paths(p, marked);
	return marked;
}

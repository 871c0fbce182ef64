/* canonical.c - puts a profile in an order that depends only on its sums. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sort.h"
#include "profile/builder.h"
#include "profile/canonical.h"
#include "profile/job_ranks.h"
#include "profile/spreads.h"
#include "profile/uncounted.h"

static int by_name(const void *a, const void *b, void *profile)
{
	const struct profile *p = profile;
	const struct object *x = &p->objects[*(const objid *)a];
	const struct object *y = &p->objects[*(const objid *)b];
	int order = strcmp(strtab_get(p->strings, x->path), strtab_get(p->strings, y->path));

	return order ? order
		     : strcmp(strtab_get(p->strings, x->build_id),
			      strtab_get(p->strings, y->build_id));
}

/* Adds all objects to b. Returns their ids in b; object 0, the one without a name, comes first in
 * every profile. */
static objid *add_objects(struct profile_builder *b, const struct profile *p)
{
	objid *all = xrealloc(NULL, p->n_objects, sizeof(*all));
	objid *ids = xrealloc(NULL, p->n_objects, sizeof(*ids));

	for (size_t i = 0; i < p->n_objects; i++)
		all[i] = (objid)i;
	qsort_r(all + 1, p->n_objects - 1, sizeof(*all), by_name, UNCONST(void *, p));
	for (size_t i = 0; i < p->n_objects; i++)
		ids[all[i]] = profile_copy_object(b, p->strings, &p->objects[all[i]]);
	free(all);
	return ids;
}

static int by_ends(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;
	int order = ORDER(x->from, y->from);

	if (!order)
		order = ORDER(x->to, y->to);
	if (!order)
		order = ORDER(x->from_object, y->from_object);
	return order ? order : ORDER(x->to_object, y->to_object);
}

static int by_range(const void *a, const void *b)
{
	const struct histogram *x = a, *y = b;
	int order = ORDER(x->object, y->object);

	if (!order)
		order = ORDER(x->low, y->low);
	return order ? order : ORDER(x->high, y->high);
}

static int by_address(const void *a, const void *b)
{
	const struct block *x = a, *y = b;
	int order = ORDER(x->object, y->object);

	return order ? order : ORDER(x->addr, y->addr);
}

/* A copy; n may be 0. */
static void *copy(const void *at, size_t n, size_t size)
{
	void *ret = xrealloc(NULL, n, size);

	return n ? memcpy(ret, at, n * size) : ret;
}

static void add_arcs(struct profile_builder *b, const struct profile *p, const objid *ids)
{
	struct arc *arcs = xrealloc(NULL, p->n_arcs, sizeof(*arcs));

	for (size_t i = 0; i < p->n_arcs; i++) {
		arcs[i] = arc_at(&p->arcs, i);
		arcs[i].from_object = ids[arcs[i].from_object];
		arcs[i].to_object = ids[arcs[i].to_object];
	}
	qsort(arcs, p->n_arcs, sizeof(*arcs), by_ends);
	profile_add_arcs(b, arcs, p->n_arcs);
	free(arcs);
}

static void add_histograms(struct profile_builder *b, const struct profile *p, const objid *ids)
{
	struct histogram *all = copy(p->histograms, p->n_histograms, sizeof(*all));

	for (size_t i = 0; i < p->n_histograms; i++)
		all[i].object = ids[all[i].object];
	qsort(all, p->n_histograms, sizeof(*all), by_range);
	for (size_t i = 0; i < p->n_histograms; i++)
		builder_add_hits(b, builder_put_histogram(b, all[i]), &all[i]);
	free(all);
}

static bool add_blocks(struct profile_builder *b, const struct profile *p, const objid *ids)
{
	struct block *all = copy(p->blocks, p->n_blocks, sizeof(*all));
	bool saturated = false;
	size_t next;

	for (size_t i = 0; i < p->n_blocks; i++)
		all[i].object = ids[all[i].object];
	qsort(all, p->n_blocks, sizeof(*all), by_address);
	for (size_t i = 0; i < p->n_blocks; i = next) {
		struct block sum = all[i];
		for (next = i + 1; next < p->n_blocks && by_address(&all[i], &all[next]) == 0;
		     next++) {
			if (__builtin_add_overflow(sum.count, all[next].count, &sum.count)) {
				sum.count = UINT64_MAX;
				saturated = true;
			}
		}
		profile_add_block(b, sum);
	}
	if (p->n_blocks)
		profile_add_block_record(b);
	free(all);
	return saturated;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct values { /* values of all facts with one name */
	const char **at;
	size_t n;
};

static struct values values_of(const struct profile *p, const char *name)
{
	struct values v = { .at = xalloc((p->n_facts + p->n_sources + 1) * sizeof(*v.at)) };

	for (size_t i = 0; i < p->n_facts; i++)
		if (!strcmp(strtab_get(p->strings, p->facts[i].name), name))
			v.at[v.n++] = strtab_get(p->strings, p->facts[i].value);
	return v;
}

/* Adds each distinct value as a fact. */
static void add_values(struct profile_builder *b, const char *name, struct values v)
{
	qsort(v.at, v.n, sizeof(*v.at), by_text);
	for (size_t i = 0; i < v.n; i++)
		if (!i || strcmp(v.at[i - 1], v.at[i]) != 0)
			profile_add_fact(b, name, v.at[i]);
	free(v.at);
}

/* Adds a trouble. If its file belongs to one rank, the text names that rank; this text is in
 * `a`. */
static void add_trouble(struct values *v, struct arena *a, const struct profile *p, uint32_t source,
			const char *text)
{
	const char *rank = job_rank_of_source(p, source);

	v->at[v->n++] = rank ? arena_printf(a, "rank %s: %s", rank, text) : text;
}

/* Troubles of the single files are troubles of the sum. */
static void add_troubles(struct profile_builder *b, const struct profile *p)
{
	struct values v = { .at = xalloc((p->n_facts + p->n_sources + 1) * sizeof(*v.at)) };
	struct arena a = { 0 };

	for (size_t i = 0; i < p->n_facts; i++) {
		const char *name = strtab_get(p->strings, p->facts[i].name);
		if (!strcmp(name, FACT_TROUBLE) || !strcmp(name, FACT_UNREAD))
			add_trouble(&v, &a, p, p->facts[i].source,
				    strtab_get(p->strings, p->facts[i].value));
	}
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].unfinished)
			add_trouble(&v, &a, p, (uint32_t)i,
				    "it was not ended: its recorder was killed, or was still at "
				    "work");
	add_values(b, FACT_TROUBLE, v);
	arena_release(&a);
}

static void add_programs(struct profile_builder *b, const struct profile *p, const char *program)
{
	struct values v = values_of(p, FACT_PROGRAM);

	if (program)
		v.at[v.n++] = program;
	add_values(b, FACT_PROGRAM, v);
}

/* Adds a fact with the path of each marked object. Frees `marked`. */
static void add_marked(struct profile_builder *b, const struct profile *p, const char *fact,
		       bool *marked)
{
	struct values v = { .at = xalloc((p->n_objects + 1) * sizeof(*v.at)) };

	for (size_t i = 0; i < p->n_objects && marked; i++)
		if (marked[i] && p->objects[i].path)
			v.at[v.n++] = strtab_get(p->strings, p->objects[i].path);
	free(marked);
	add_values(b, fact, v);
}

static void add_spreads(struct profile_builder *b, const struct spread_set *sums, const objid *ids)
{
	struct spread_set *sorted = spread_set_new();

	spread_set_join(sorted, sums, ids);
	spread_set_sort(sorted);
	profile_add_spreads(b, sorted);
}

static void add_jobs(struct profile_builder *b, const struct profile *p)
{
	add_values(b, FACT_JOB, values_of(p, FACT_JOB));
	add_values(b, FACT_RANKS, values_of(p, FACT_RANKS));
	add_values(b, FACT_KILLED, values_of(p, FACT_KILLED));
	struct values v = values_of(p, FACT_NOT_ENDED);
	for (size_t i = 0; i < p->n_sources; i++) {
		const char *rank =
			p->sources[i].unfinished ? job_rank_of_source(p, (uint32_t)i) : NULL;
		if (rank)
			v.at[v.n++] = rank;
	}
	add_values(b, FACT_NOT_ENDED, v);
}

struct profile *profile_canonical(const struct profile *p, const char *program,
				  const struct spread_set *sums)
{
	struct profile_builder *b = profile_builder_new();
	objid *ids = add_objects(b, p);

	add_arcs(b, p, ids);
	add_histograms(b, p, ids);
	bool saturated = add_blocks(b, p, ids);
	canonical_add_samples(b, p, ids, sums);
	if (sums)
		add_spreads(b, sums, ids);
	free(ids);
	add_troubles(b, p);
	add_programs(b, p, program);
	add_marked(b, p, FACT_UNCOUNTED, uncounted_objects(p));
	add_marked(b, p, FACT_UNTIMED, untimed_objects(p, false));
	add_jobs(b, p);
	for (size_t i = 0; i < p->n_sources; i++)
		profile_add_source(b, strtab_get(p->strings, p->sources[i].path), p->sources[i]);

	profile_add_kept(b, p->kept);

	struct profile *ret = profile_finish(b);
	ret->saturated |= saturated || p->saturated;
	return ret;
}

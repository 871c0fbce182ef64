/* job_ranks.c - finds the gaps of a job in the facts that its files state. */
#include "profile/job_ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/job.h"
#include "base/sort.h"
#include "base/vec.h"
#include "profile/spreads.h"

static bool is_fact(const struct profile *p, const struct fact *f, const char *name)
{
	return !strcmp(strtab_get(p->strings, f->name), name);
}

const char *job_rank_of_source(const struct profile *p, uint32_t source)
{
	for (size_t i = 0; i < p->n_facts; i++)
		if (p->facts[i].source == source && is_fact(p, &p->facts[i], FACT_RANK))
			return strtab_get(p->strings, p->facts[i].value);
	return NULL;
}

/* The number of ranks in the job. 0: no file tells, or the files disagree. */
static uint32_t size_of_job(const struct profile *p)
{
	uint32_t ranks = 0, n;

	for (size_t i = 0; i < p->n_facts; i++) {
		if (!is_fact(p, &p->facts[i], FACT_RANKS))
			continue;
		if (!job_number(strtab_get(p->strings, p->facts[i].value), &n) ||
		    (ranks && ranks != n))
			return 0;
		ranks = n;
	}
	return ranks;
}

/* The ranks in sums and the single ranks; to be freed. */
static struct spread_set *all_ranks(const struct profile *p)
{
	struct spread_set *all = spread_set_new();

	for (size_t i = 0; p->spreads && i < p->spreads->ranks.n; i++)
		spread_set_add_ranks(all, p->spreads->ranks.at[i]);
	for (size_t i = 0; i < p->n_ranks; i++) {
		uint32_t rank = p->ranks[i].rank;
		if (!spread_set_has(all, rank))
			spread_set_add_ranks(all, (struct rank_range){ rank, rank });
	}
	return all;
}

uint64_t job_ranks_count(const struct profile *p)
{
	struct spread_set *all = all_ranks(p);
	uint64_t n = spread_set_count(all);

	spread_set_free(all);
	return n;
}

char *job_ranks_missing(const struct profile *p)
{
	struct spread_set *all = all_ranks(p);
	char *missing = spread_set_missing(all, size_of_job(p));

	spread_set_free(all);
	return missing;
}

/* ---- gaps ---- */

struct gap { /* a rank and the text of a gap: "3 (11)" */
	uint32_t rank;
	const char *text;
};

struct gaps {
	VEC(struct gap) at;
};

static bool is_left_out(const struct profile *p, uint32_t rank)
{
	for (size_t i = 0; i < p->n_ranks; i++)
		if (p->ranks[i].rank == rank)
			return p->ranks[i].left_out;
	return false;
}

static void add_gap(struct gaps *g, const struct profile *p, const char *text)
{
	uint32_t rank = text ? (uint32_t)strtoul(text, NULL, 10) : 0;

	if (text && !is_left_out(p, rank))
		vec_push(&g->at, ((struct gap){ rank, text }));
}

static int by_rank_and_text(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->rank != y->rank ? ORDER(x->rank, y->rank) : strcmp(x->text, y->text);
}

/* "rank 0 (15), rank 3 (11), and 2 more"; NULL: none. A rank with several processes is named
 * once. */
static char *list_gaps(struct gaps *g)
{
	enum { NAMED = 8 };
	char *list = NULL;
	size_t n = 0;

	if (g->at.n)
		qsort(g->at.at, g->at.n, sizeof(*g->at.at), by_rank_and_text);
	for (size_t i = 0; i < g->at.n; i++) {
		char *before = list;
		if ((i && !strcmp(g->at.at[i].text, g->at.at[i - 1].text)) || ++n > NAMED)
			continue;
		list = xprintf("%s%srank %s", before ? before : "", before ? ", " : "",
			       g->at.at[i].text);
		free(before);
	}
	vec_free(&g->at);
	if (n <= NAMED)
		return list;
	char *all = xprintf("%s, and %zu more", list, n - NAMED);
	free(list);
	return all;
}

static void add_facts(struct gaps *g, const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->n_facts; i++)
		if (is_fact(p, &p->facts[i], name))
			add_gap(g, p, strtab_get(p->strings, p->facts[i].value));
}

static char *killed_ranks(const struct profile *p)
{
	struct gaps g = { 0 };

	add_facts(&g, p, FACT_KILLED);
	return list_gaps(&g);
}

static char *ranks_not_ended(const struct profile *p)
{
	struct gaps g = { 0 };

	add_facts(&g, p, FACT_NOT_ENDED);
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].unfinished)
			add_gap(&g, p, job_rank_of_source(p, (uint32_t)i));
	return list_gaps(&g);
}

static char *missing_ranks(const struct profile *p)
{
	for (size_t i = 0; i < p->n_ranks; i++)
		if (p->ranks[i].left_out)
			return NULL;
	char *missing = job_ranks_missing(p);
	if (!missing)
		return NULL;
	bool many = strpbrk(missing, "-,");
	char *line = xprintf("rank%s %s of %" PRIu32 " %s missing", many ? "s" : "", missing,
			     size_of_job(p), many ? "are" : "is");
	free(missing);
	return line;
}

static void add_line(const char *what, char *ranks, struct remarks *to)
{
	if (ranks)
		remarks_add(to, KIN_REMARK_GAP, "%s%s", what, ranks);
	free(ranks);
}

void job_ranks_gaps(const struct profile *p, struct remarks *to)
{
	add_line("", missing_ranks(p), to);
	add_line("killed by a signal: ", killed_ranks(p), to);
	add_line("not ended (killed, or still running): ", ranks_not_ended(p), to);
}

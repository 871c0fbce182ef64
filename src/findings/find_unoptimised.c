/* find_unoptimised.c - finds time in code that was compiled without optimisation, as its debug
 * information says. */
#include <stdlib.h>
#include <string.h>

#include "findings/evidence.h"

/* GCC and gfortran say all their options, Go's compiler those that are not usual; others say none,
 * and nothing is said of their code. */
static bool is_unoptimised(const char *producer)
{
	const char *level = NULL;

	if (!strncmp(producer, "Go cmd/compile", strlen("Go cmd/compile")))
		return strstr(producer, " -N");
	if (strncmp(producer, "GNU ", 4) != 0 || !strncmp(producer, "GNU AS", 6) ||
	    !strstr(producer, " -"))
		return false;
	for (const char *p = producer; (p = strstr(p, " -O")); p += 3)
		level = p + 3; /* the last one counts */
	return !level || (level[0] == '0' && (!level[1] || level[1] == ' '));
}

/* Whether the code of each frame that samples were taken in was; to be freed. */
static bool *unoptimised_frames(const struct evidence *e)
{
	const struct samples *s = e->samples;
	double *weights = xalloc((s->n_frames + 1) * sizeof(*weights));
	bool *ret = xalloc(s->n_frames + 1);
	const double least = 0.001; /* debug information of less is not read for it */

	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].event == e->event)
			weights[s->stacks[s->at[i].stack].frame] += (double)s->at[i].weight;
	for (frameid f = 1; f < s->n_frames && e->in->producer; f++) {
		const char *producer =
			weights[f] >= least * e->weight ? e->in->producer(e->in->arg, f) : NULL;
		ret[f] = producer && is_unoptimised(producer);
	}
	free(weights);
	return ret;
}

/* That of libraries and the kernel, too, if it was compiled with own code: templates. */
void find_unoptimised(const struct evidence *e, struct findings *into)
{
	const struct samples *s = e->samples;
	size_t n_symbols = program_symbols(e->in->program)->n, n = 0;
	double *by = xalloc((n_symbols + 1) * sizeof(*by)), sum = 0; /* [own function] */
	struct own_share *shares = xalloc((n_symbols + 1) * sizeof(*shares));
	bool *is_it = unoptimised_frames(e);

	for (size_t i = 0; i < s->n; i++) {
		stackid stack = s->at[i].stack;
		if (s->at[i].event != e->event || !is_it[s->stacks[stack].frame] ||
		    e->own[stack] >= n_symbols)
			continue;
		by[e->own[stack]] += (double)s->at[i].weight;
		sum += (double)s->at[i].weight;
	}
	for (symid i = 0; i < n_symbols; i++)
		if (by[i] > 0)
			shares[n++] = (struct own_share){ i, by[i] / e->weight };
	double share = sum / e->weight;
	if (share - evidence_points(e, share) >= EVIDENCE_LEAST) {
		char *words = evidence_share(e, share), *whose = evidence_owners(e, shares, n);
		vec_push(&into->at,
			 ((struct finding){
				 .kind = "unoptimised",
				 .share = share,
				 .points = evidence_points(e, share),
				 .text = xprintf(
					 "code compiled without optimisation (-O) takes %s%s%s",
					 words, *whose ? ": for " : "", whose),
				 .view = "annotate",
				 .function = evidence_function(e, shares[0].function),
			 }));
		free(words);
		free(whose);
	}
	free(is_it);
	free(by);
	free(shares);
}

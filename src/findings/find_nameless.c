/* find_nameless.c - finds time in code that has no names: who spends it is not known. */
#include <stdlib.h>

#include "findings/evidence.h"

void find_nameless(const struct evidence *e, struct findings *into)
{
	const struct samples *s = e->samples;
	const struct profile *p = e->in->profile;
	double *by = xalloc((p->n_objects + 1) * sizeof(*by)), all = 0;
	objid worst = 0;

	for (size_t i = 0; i < s->n; i++) {
		frameid leaf = s->stacks[s->at[i].stack].frame;
		if (s->at[i].event != e->event || !leaf ||
		    !program_is_unnamed(e->in->program, leaf))
			continue;
		all += (double)s->at[i].weight;
		by[s->frames[leaf].object] += (double)s->at[i].weight;
	}
	for (objid i = 1; i < p->n_objects; i++)
		worst = by[i] > by[worst] ? i : worst;
	double share = all / e->weight;
	if (share >= EVIDENCE_LEAST) {
		char *words = evidence_share(e, share);
		vec_push(&into->at,
			 ((struct finding){
				 .kind = "nameless",
				 .share = share,
				 .points = evidence_points(e, share),
				 .text = xprintf("code without names takes %s, %.0f %% in "
						 "%s",
						 words, 100 * by[worst] / e->weight,
						 program_object_name(e->in->program, worst)),
				 .view = "info",
			 }));
		free(words);
	}
	free(by);
}

/* find_waits.c - finds time that threads waited: for locks, and for a CPU. */
#include <stdlib.h>

#include "findings/evidence.h"

static double weight_of(const struct evidence *e, enum event_kind kind, bool for_locks,
			symid *worst, double *worst_weight)
{
	const struct samples *s = e->samples;
	struct symbols *symbols = program_symbols(e->in->program);
	double *by = xalloc((symbols->n + 1) * sizeof(*by)), sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		if (s->events[x->event].kind != kind ||
		    (for_locks && !(e->spent[x->stack] >> EFFORT_LOCKS & 1)))
			continue;
		sum += (double)x->weight;
		if (e->own[x->stack] < symbols->n)
			by[e->own[x->stack]] += (double)x->weight;
	}
	*worst = NONE;
	*worst_weight = 0;
	for (symid i = 0; i < symbols->n; i++)
		if (by[i] > *worst_weight) {
			*worst = i;
			*worst_weight = by[i];
		}
	free(by);
	return sum;
}

static void find_one(const struct evidence *e, struct findings *into, enum event_kind kind,
		     bool for_locks)
{
	symid worst;
	double most, waited = weight_of(e, kind, for_locks, &worst, &most);
	double share = waited / (waited + e->weight); /* of the time on a CPU and that waited */

	if (e->samples->events[e->event].unit != EVENT_NS || share < EVIDENCE_LEAST)
		return;
	char *name = worst != NONE ? evidence_name(e, worst) : NULL;
	char *whose = name ? xprintf(", %.1f s of it in %s", most / 1e9, name) : xprintf("%s", "");
	free(name);
	vec_push(&into->at,
		 ((struct finding){
			 .kind = for_locks ? "lock-waits" : "cpu-waits",
			 .share = share,
			 .text = xprintf("threads waited %.1f s for %s, beside %.1f s on a "
					 "CPU%s",
					 waited / 1e9, for_locks ? "locks" : "a CPU",
					 e->weight / 1e9, whose),
			 .view = for_locks ? "graph --event blocked" : "info",
			 .function = for_locks ? evidence_function(e, worst) : NULL,
		 }));
	free(whose);
}

void find_waits(const struct evidence *e, struct findings *into)
{
	find_one(e, into, EVENT_BLOCKED, true);
	find_one(e, into, EVENT_WAITING, false);
}

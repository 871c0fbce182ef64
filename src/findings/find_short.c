/* find_short.c - finds many processes that are so short that each has a single sample. */
#include <stdlib.h>

#include "analysis/audit.h"
#include "base/map64.h"
#include "findings/evidence.h"

struct process_sum {
	uint64_t count;
	double weight;
};

struct process_sums {
	struct map64 index; /* (pid, run) */
	VEC(struct process_sum) at;
};

static void add_processes(const struct evidence *e, struct process_sums *into)
{
	const struct samples *s = e->samples;

	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		const struct task *t = &s->tasks[x->task];
		if (x->event != e->event || !x->task || !x->count)
			continue;
		uint32_t *at = map64_at(&into->index, MAP64_PAIR(t->pid, t->run));
		if (*at == NONE) {
			*at = (uint32_t)into->at.n;
			vec_push(&into->at, ((struct process_sum){ 0 }));
		}
		into->at.at[*at].count += x->count;
		into->at.at[*at].weight += (double)x->weight;
	}
}

void find_short_processes(const struct evidence *e, struct findings *into)
{
	struct process_sums p = { 0 };
	double sum = 0;
	size_t n = 0;

	add_processes(e, &p);
	for (size_t i = 0; i < p.at.n; i++)
		if (p.at.at[i].count == 1) {
			sum += p.at.at[i].weight;
			n++;
		}
	double share = sum / e->weight;
	if (n >= AUDIT_FEW && share - evidence_points(e, share) >= EVIDENCE_LEAST) {
		char *words = evidence_share(e, share);
		vec_push(
			&into->at,
			((struct finding){
				.kind = "short-processes",
				.share = share,
				.points = evidence_points(e, share),
				.text = xprintf("%zu of %zu processes are so short that each has a "
						"single sample, with %s",
						n, p.at.n, words),
				.view = "info --threads=all",
			}));
		free(words);
	}
	map64_free(&p.index);
	vec_free(&p.at);
}

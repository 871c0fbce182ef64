/* find_efforts.c - finds time that libraries and the kernel take for the program: allocating,
 * copying, page faults ... and who makes them. */
#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "findings/evidence.h"

struct effort_owner {
	enum effort effort;
	struct own_share of;
};

struct effort_sums {
	double all[N_EFFORTS];
	struct map64 index; /* (effort, own function): index in `owners` */
	VEC(struct effort_owner) owners;
};

static void add_effort(struct effort_sums *s, enum effort effort, symid own, double share)
{
	s->all[effort] += share;
	if (own == NONE)
		return;
	uint32_t *at = map64_at(&s->index, MAP64_PAIR((uint32_t)effort, own));
	if (*at == NONE) {
		*at = (uint32_t)s->owners.n;
		vec_push(&s->owners, ((struct effort_owner){ effort, { own, 0 } }));
	}
	s->owners.at[*at].of.share += share;
}

static void say(const struct evidence *e, struct findings *into, const struct effort_sums *s,
		enum effort effort)
{
	struct own_share *owners = xrealloc(NULL, s->owners.n + 1, sizeof(*owners));
	size_t n = 0;
	for (size_t i = 0; i < s->owners.n; i++)
		if (s->owners.at[i].effort == effort)
			owners[n++] = s->owners.at[i].of;
	char *share = evidence_share(e, s->all[effort]), *whose = evidence_owners(e, owners, n);
	vec_push(&into->at, ((struct finding){
				    .kind = effort_kind(effort),
				    .share = s->all[effort],
				    .points = evidence_points(e, s->all[effort]),
				    .text = xprintf("%s %s%s%s", effort_words(effort), share,
						    *whose ? ": for " : "", whose),
				    .view = "graph",
				    .function = n ? evidence_function(e, owners[0].function) : NULL,
			    }));
	free(whose);
	free(share);
	free(owners);
}

void find_efforts(const struct evidence *e, struct findings *into)
{
	struct effort_sums s = { 0 };

	for (size_t i = 0; i < e->samples->n; i++) {
		const struct sample *x = &e->samples->at[i];
		uint8_t spent = x->event == e->event ? e->spent[x->stack] : 0;
		for (enum effort effort = 0; effort < N_EFFORTS && spent >> effort; effort++)
			if (spent >> effort & 1)
				add_effort(&s, effort, e->own[x->stack],
					   (double)x->weight / e->weight);
	}
	for (enum effort effort = 0; effort < N_EFFORTS; effort++)
		if (s.all[effort] - evidence_points(e, s.all[effort]) >= EVIDENCE_LEAST)
			say(e, into, &s, effort);
	map64_free(&s.index);
	vec_free(&s.owners);
}

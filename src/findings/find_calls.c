/* find_calls.c - finds a function that another one calls a million times, and that takes much of
 * the time for it. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/map64.h"
#include "findings/evidence.h"

enum { MANY = 1000000 };

struct call_sum {
	symid from, to;
	uint64_t count;
};

static symid function_of(const struct evidence *e, symid place)
{
	return place == NONE ? NONE : program_symbols(e->in->program)->at[place].owner;
}

/* The time with the call on the stack. */
static double time_of(const struct evidence *e, const struct call_sum *c)
{
	const struct samples *s = e->samples;
	symid *runs = xrealloc(NULL, s->n_stacks + 1, sizeof(*runs));
	bool *is_on = xalloc(s->n_stacks + 1);
	double sum = 0;

	runs[0] = NONE;
	for (size_t i = 1; i < s->n_stacks; i++) {
		stackid caller = s->stacks[i].caller;
		runs[i] = function_of(e, program_place(e->in->program, s->stacks[i].frame));
		is_on[i] = is_on[caller] || (runs[i] == c->to && runs[caller] == c->from);
	}
	for (size_t i = 0; i < s->n; i++)
		sum += s->at[i].event == e->event && is_on[s->at[i].stack] ? (double)s->at[i].weight
									   : 0;
	free(runs);
	free(is_on);
	return sum;
}

/* The call that was counted most often, from wherever in its caller; to NONE: there is none. */
static struct call_sum most_calls(const struct evidence *e)
{
	const struct profile *p = e->in->profile;
	struct call_sum most = { NONE, NONE, 0 };
	struct map64 index = { 0 }; /* (from, to): index in `sums` */
	VEC(struct call_sum) sums = { 0 };

	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc a = arc_at(&p->arcs, i);
		symid from = function_of(e, program_find(e->in->program, a.from_object, a.from));
		symid to = function_of(e, program_find(e->in->program, a.to_object, a.to));
		if (from == NONE || to == NONE || from == to)
			continue;
		uint32_t *at = map64_at(&index, MAP64_PAIR(from, to));
		if (*at == NONE) {
			*at = (uint32_t)sums.n;
			vec_push(&sums, ((struct call_sum){ from, to, 0 }));
		}
		sums.at[*at].count += a.count;
		if (sums.at[*at].count > most.count)
			most = sums.at[*at];
	}
	map64_free(&index);
	vec_free(&sums);
	return most;
}

void find_many_calls(const struct evidence *e, struct findings *into)
{
	struct call_sum most = most_calls(e);
	double share = most.count >= MANY ? time_of(e, &most) / e->weight : 0;
	if (share - evidence_points(e, share) < EVIDENCE_LEAST)
		return;
	char *words = evidence_share(e, share), *caller = evidence_name(e, most.from),
	     *callee = evidence_name(e, most.to);
	vec_push(&into->at, ((struct finding){
				    .kind = "many-calls",
				    .share = share,
				    .points = evidence_points(e, share),
				    .text = xprintf("%s calls %s %" PRIu64 " times, which takes %s",
						    caller, callee, most.count, words),
				    .view = "graph",
				    .function = evidence_function(e, most.to),
			    }));
	free(words);
	free(caller);
	free(callee);
}

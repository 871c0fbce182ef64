/* find_calls.c - finds a function that one caller calls a million times, and that takes much of the
 * time for it. */
#include <inttypes.h>
#include <stdlib.h>

#include "findings/evidence.h"

#define LEAST 0.1

enum { MANY = 1000000 };

/* The time with the function on the stack. */
static double inclusive(const struct evidence *e, symid function)
{
	const struct samples *s = e->samples;
	const struct symbols *symbols = program_symbols(e->in->program);
	bool *is_on = xalloc(s->n_stacks + 1);
	double sum = 0;

	for (size_t i = 1; i < s->n_stacks; i++) {
		symid place = program_place(e->in->program, s->stacks[i].frame);
		is_on[i] = is_on[s->stacks[i].caller] ||
			   (place != NONE && symbols->at[place].owner == function);
	}
	for (size_t i = 0; i < s->n; i++)
		sum += s->at[i].event == e->event && is_on[s->at[i].stack] ? (double)s->at[i].weight
									   : 0;
	free(is_on);
	return sum;
}

static symid function_at(const struct evidence *e, objid object, uint64_t addr)
{
	symid id = program_find(e->in->program, object, addr);
	return id == NONE ? NONE : program_symbols(e->in->program)->at[id].owner;
}

void find_many_calls(const struct evidence *e, struct findings *into)
{
	const struct profile *p = e->in->profile;
	struct arc most = { 0 };

	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc a = arc_at(&p->arcs, i);
		if (a.count > most.count)
			most = a;
	}
	symid from = most.count >= MANY ? function_at(e, most.from_object, most.from) : NONE;
	symid to = from != NONE ? function_at(e, most.to_object, most.to) : NONE;
	double share = to != NONE && to != from ? inclusive(e, to) / e->weight : 0;
	if (share - evidence_points(e, share) < LEAST)
		return;
	char *words = evidence_share(e, share), *caller = evidence_name(e, from),
	     *callee = evidence_name(e, to);
	vec_push(&into->at, ((struct finding){
				    .kind = "many-calls",
				    .share = share,
				    .points = evidence_points(e, share),
				    .text = xprintf("%s calls %s %" PRIu64 " times, which takes %s",
						    caller, callee, most.count, words),
				    .view = "graph",
				    .function = evidence_function(e, to),
			    }));
	free(words);
	free(caller);
	free(callee);
}

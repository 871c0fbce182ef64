/* find_cycles.c - finds cycles of counted calls: one that stacks go round, in which times include
 * each other, and one that none goes round, which listings by counts alone show as if it were one.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/callgraph.h"
#include "findings/evidence.h"

/* The two members with most time. */
static char *members_of(const struct evidence *e, const struct callgraph *g,
			const struct cg_node *cycle)
{
	symid most[2] = { NONE, NONE };
	for (uint32_t i = 0; i < cycle->n_members; i++) {
		symid id = g->members[cycle->first_out + i];
		if (most[0] == NONE || g->nodes[id].self > g->nodes[most[0]].self) {
			most[1] = most[0];
			most[0] = id;
		} else if (most[1] == NONE || g->nodes[id].self > g->nodes[most[1]].self) {
			most[1] = id;
		}
	}
	char *one = evidence_name(e, most[0]), *other = evidence_name(e, most[1]);
	char *ret = xprintf("%s, %s%s", one, other, cycle->n_members > 2 ? ", ..." : "");
	free(one);
	free(other);
	return ret;
}

static void say_cycle(const struct evidence *e, const struct callgraph *g, size_t cycle,
		      struct findings *into)
{
	const struct cg_node *node = &g->nodes[g->n_symbols + cycle - 1];
	const struct cg_cycle *seen = &g->cycles[cycle - 1];
	struct cg_interval interval;
	enum cg_verdict verdict = callgraph_verdict(g, cycle, &interval);
	bool is_real = verdict == CG_CONFIRMED;
	double time = is_real ? seen->going_round : seen->inclusive;
	double all = callgraph_all(g), share = all > 0 ? time / all : 0;

	if (verdict == CG_UNKNOWN || share - evidence_points(e, share) < EVIDENCE_LEAST)
		return;
	char *words = evidence_share(e, share), *names = members_of(e, g, node);
	vec_push(&into->at,
		 ((struct finding){
			 .kind = is_real ? "cycle" : "phantom-cycle",
			 .share = share,
			 .points = evidence_points(e, share),
			 .text = xprintf("%s a cycle of %" PRIu32
					 " functions by its counted calls (%s), %s %s",
					 is_real ? "stacks go round" : "no stack goes round",
					 node->n_members, names, is_real ? "in" : "which has",
					 words),
			 .view = "cycles",
		 }));
	free(words);
	free(names);
}

/* Without counts there is no listing that a cycle makes wrong: time is measured along stacks. */
void find_cycles(const struct evidence *e, struct findings *into)
{
	if (!e->in->profile->n_arcs)
		return;
	struct profile *flat = program_flatten(e->in->program, e->in->profile);
	const struct callgraph_opts opts = { .samples = &e->in->profile->samples,
					     .program = e->in->program,
					     .consume = flat };
	struct callgraph *g = callgraph_new(flat, program_symbols(e->in->program), &opts);
	for (size_t i = 1; i <= g->n_cycles && g->cycles; i++)
		say_cycle(e, g, i, into);
	callgraph_free(g);
	profile_free(flat);
}

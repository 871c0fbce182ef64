/* The attribution laws for times measured on stacks, on random programs and on those that gprof
 * gets wrong. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/callgraph.h"
#include "symbolize/program.h"

struct made {
	struct profile *profile;
	struct program *program;
	struct callgraph *graph;
};

/* ---- making profiles ---- */

static stackid push(struct profile_builder *b, stackid caller, const char *name)
{
	struct frame f = { .name = profile_add_string(b, name, strlen(name)),
			   .flags = FRAME_RETURN };
	return profile_add_stack(b, caller, profile_add_frame(b, f));
}

/* "main;f;g": the leaf last. */
static stackid stack_of(struct profile_builder *b, const char *folded)
{
	char copy[256], *save = NULL;
	stackid s = 0;
	snprintf(copy, sizeof(copy), "%s", folded);
	for (char *name = strtok_r(copy, ";", &save); name; name = strtok_r(NULL, ";", &save))
		s = push(b, s, name);
	return s;
}

static struct profile_builder *begin(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "cpu-clock", 9),
					     .unit = EVENT_NS });
	return b;
}

static void add(struct profile_builder *b, stackid stack, uint64_t weight)
{
	profile_add_sample(b, (struct sample){ .stack = stack, .count = 1, .weight = weight });
}

static struct made finish(struct profile_builder *b)
{
	struct made m = { .profile = profile_finish(b) };
	m.program = program_new(m.profile, NULL, &(struct program_opts){ .style = DEMANGLE_NONE });
	struct profile *flat = program_flatten(m.program, m.profile);
	m.graph = callgraph_new(flat, program_symbols(m.program),
				&(struct callgraph_opts){ .samples = &m.profile->samples,
							  .places = program_places(m.program) });
	profile_free(flat);
	return m;
}

static void done(struct made *m)
{
	callgraph_free(m->graph);
	program_free(m->program);
	profile_free(m->profile);
}

static symid named(const struct made *m, const char *name)
{
	for (symid i = 0; i < m->graph->n_symbols; i++)
		if (!strcmp(m->graph->symbols->at[i].name, name))
			return i;
	return NONE;
}

static double inclusive(const struct made *m, const char *name)
{
	const struct cg_node *n = &m->graph->nodes[named(m, name)];
	return n->self + n->child;
}

static const struct cg_measured *between(const struct made *m, const char *from, const char *to)
{
	for (size_t i = 0; i < m->graph->n_arcs; i++)
		if (m->graph->arcs[i].from == named(m, from) &&
		    m->graph->arcs[i].to == named(m, to))
			return &m->graph->measured[i];
	return NULL;
}

/* ---- the laws ---- */

static double sum(struct cg_time t) { return t.self + t.child; }

static bool same(double a, double b) { return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + 1); }

static bool laws_hold(const struct callgraph *g)
{
	double self = g->outside;
	bool good = true;
	double *in = calloc(g->n_symbols, sizeof(*in)), *out = calloc(g->n_symbols, sizeof(*out));
	for (size_t i = 0; i < g->n_arcs; i++) {
		in[g->arcs[i].to] += sum(g->measured[i].entered);
		out[g->arcs[i].from] += sum(g->measured[i].called);
	}
	for (symid i = 0; i < g->n_symbols; i++) {
		const struct cg_node *n = &g->nodes[i];
		double all = n->self + n->child;
		self += n->self;
		good &= all <= g->total * (1 + 1e-12);       /* law 2 */
		good &= same(in[i] + sum(g->roots[i]), all); /* law 3, callers */
		good &= same(out[i] + n->self, all);         /* law 3, callees */
	}
	free(in);
	free(out);
	return good && same(self, g->total); /* law 1 */
}

static void test_random(void)
{
	static const char names[] = "abcdefgh";
	bool good = true;
	srand(7);
	for (int round = 0; round < 400; round++) {
		struct profile_builder *b = begin();
		int samples = 1 + rand() % 60, functions = 1 + rand() % 8;
		for (int i = 0; i < samples; i++) {
			stackid s = 0;
			for (int depth = 1 + rand() % 12; depth > 0; depth--)
				s = push(b, s, (const char[]){ names[rand() % functions], 0 });
			add(b, s, 1 + (uint64_t)(rand() % 1000));
		}
		struct made m = finish(b);
		good &= m.graph->total > 0 && (!m.graph->measured || laws_hold(m.graph));
		done(&m);
	}
	OK(good);
}

/* ---- examples ---- */

/* Two callers whose calls cost 1:94: gprof would share by counts. */
static void test_easy_and_hard(void)
{
	struct profile_builder *b = begin();
	add(b, stack_of(b, "main;easy;work"), 10);
	add(b, stack_of(b, "main;hard;work"), 940);
	struct made m = finish(b);
	OK(sum(between(&m, "easy", "work")->entered) == 10);
	OK(sum(between(&m, "hard", "work")->entered) == 940);
	OK(inclusive(&m, "hard") == 940 && inclusive(&m, "main") == 950);
	done(&m);
}

static void test_recursion(void)
{
	struct profile_builder *b = begin();
	add(b, stack_of(b, "main;f;f;g;f"), 5);
	add(b, stack_of(b, "main;f;g"), 3);
	struct made m = finish(b);
	OK(inclusive(&m, "f") == 8);
	OK(m.graph->nodes[named(&m, "f")].self == 5);
	OK(sum(between(&m, "main", "f")->entered) == 8);
	OK(sum(between(&m, "f", "g")->called) == 3);
	OK(sum(between(&m, "f", "g")->entered) == 8);
	done(&m);
}

/* parse -> eval -> parse is in the graph of calls; on no stack is it gone round. */
static void test_phantom(void)
{
	struct profile_builder *b = begin();
	for (int i = 0; i < 50; i++) {
		add(b, stack_of(b, "main;a;b"), 1);
		add(b, stack_of(b, "main;b;a"), 1);
	}
	struct made m = finish(b);
	OK(m.graph->n_cycles == 1);
	OK(m.graph->cycles[0].samples == 100 && m.graph->cycles[0].reentered == 0);
	done(&m);
}

static void test_confirmed(void)
{
	struct profile_builder *b = begin();
	add(b, stack_of(b, "main;a;b;a"), 1);
	add(b, stack_of(b, "main;a;a;b"), 1); /* direct recursion does not go round the cycle */
	add(b, stack_of(b, "main"), 1);
	struct made m = finish(b);
	OK(m.graph->n_cycles == 1);
	OK(m.graph->cycles[0].samples == 2 && m.graph->cycles[0].reentered == 1);
	done(&m);
}

static void test_leaves_only(void)
{
	struct profile_builder *b = begin();
	add(b, stack_of(b, "f"), 4);
	struct made m = finish(b);
	OK(!m.graph->measured && m.graph->nodes[named(&m, "f")].self == 4);
	OK(m.graph->rate == 1e9);
	done(&m);
}

int main(void)
{
	test_random();
	test_easy_and_hard();
	test_recursion();
	test_phantom();
	test_confirmed();
	test_leaves_only();
	return DONE();
}

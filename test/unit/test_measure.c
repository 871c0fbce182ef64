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
	m.graph = callgraph_new(
		flat, program_symbols(m.program),
		&(struct callgraph_opts){ .samples = &m.profile->samples, .program = m.program });
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

/* The node that stands for a function where times add up: itself, or its cycle. */
static nodeid head_of(const struct callgraph *g, symid id)
{
	uint32_t cycle = g->nodes[id].cycle;
	return cycle ? (nodeid)(g->n_symbols + cycle - 1) : id;
}

static double all_of(const struct cg_node *n) { return n->self + n->child; }

static bool laws_hold(const struct callgraph *g)
{
	double self = g->outside;
	bool good = true;
	size_t n = g->n_symbols + g->n_cycles;
	double *in = calloc(n, sizeof(*in)), *out = calloc(n, sizeof(*out));
	for (size_t i = 0; i < g->n_arcs; i++) {
		const struct cg_arc *a = &g->arcs[i];
		double time = sum(g->measured[i].along);
		nodeid from = head_of(g, a->from), to = head_of(g, a->to);
		good &= time <= all_of(&g->nodes[a->from]) * (1 + 1e-12);
		good &= time <= all_of(&g->nodes[a->to]) * (1 + 1e-12);
		in[to] += from != to ? time : 0;
		out[from] += from != to ? time : 0;
	}
	for (symid i = 0; i < g->n_symbols; i++) {
		self += g->nodes[i].self;
		good &= all_of(&g->nodes[i]) <= g->total * (1 + 1e-12); /* law 2 */
		in[head_of(g, i)] += sum(g->roots[i]);
	}
	for (nodeid i = 0; i < n; i++) {
		if (i < g->n_symbols && g->nodes[i].cycle)
			continue;
		good &= same(in[i], all_of(&g->nodes[i]));                     /* law 3, callers */
		good &= same(out[i] + g->nodes[i].self, all_of(&g->nodes[i])); /* law 3, callees */
	}
	free(in);
	free(out);
	return good && same(self, g->total); /* law 1 */
}

/* Law 4: of each sample the time of the calls on its stack, each once, by looking at all of them.
 */
static double time_along(const struct made *m, symid from, symid to)
{
	const struct samples *s = &m->profile->samples;
	const symid *places = program_places(m->program);
	double time = 0;
	for (size_t i = 0; i < s->n; i++)
		for (stackid k = s->at[i].stack; s->stacks[k].caller; k = s->stacks[k].caller)
			if (places[s->stacks[k].frame] == to &&
			    places[s->stacks[s->stacks[k].caller].frame] == from) {
				time += (double)s->at[i].weight;
				break;
			}
	return time;
}

static bool arcs_are_measured(const struct made *m)
{
	const struct callgraph *g = m->graph;
	struct cg_listed list[64];
	bool good = true;
	for (symid id = 0; id < g->n_symbols; id++) {
		callgraph_list_callers(g, id, list);
		for (uint32_t k = 0; k < g->nodes[id].n_in; k++)
			good &= list[k].class == CG_RECURSION ||
				same(list[k].total, time_along(m, list[k].other, id));
		callgraph_list_callees(g, id, list);
		for (uint32_t k = 0; k < g->nodes[id].n_out; k++)
			good &= list[k].class == CG_RECURSION ||
				same(list[k].total, time_along(m, id, list[k].other));
	}
	return good;
}

/* Nothing is left out: all functions and cycles are shown. */
static bool all_is_shown(const struct callgraph *g)
{
	double total = 0;
	bool good = true;
	for (nodeid i = 0; i < g->n_symbols + g->n_cycles; i++) {
		const struct cg_node *n = &g->nodes[i];
		good &= n->shown && callgraph_shown_self(n) == n->self &&
			n->shown_child == n->child;
		total += i < g->n_symbols ? n->self : 0;
	}
	for (symid i = 0; i < g->n_symbols; i++)
		good &= g->share[i].wanted && g->part[i].fraction == 1 && g->part[i].shown;
	return good && same(total, g->shown_total);
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
		good &= m.graph->total > 0 &&
			(!m.graph->measured ||
			 (laws_hold(m.graph) && arcs_are_measured(&m) && all_is_shown(m.graph)));
		done(&m);
	}
	OK(good);
}

/* Each arc is once in the list of its callee's callers. */
static bool callers_are_listed(const struct callgraph *g)
{
	bool good = true, *listed = calloc(g->n_arcs, sizeof(*listed));
	size_t n = 0;
	for (symid to = 0; to < g->n_symbols; to++)
		for (uint32_t k = 0; k < g->nodes[to].n_in; k++, n++) {
			const struct cg_in *in = &g->in[g->nodes[to].first_in + k];
			const struct cg_arc *arc = &g->arcs[in->arc];
			good &= arc->to == to && arc->from == in->from && !listed[in->arc];
			listed[in->arc] = true;
		}
	free(listed);
	return good && n == g->n_arcs;
}

/* A graph that is large enough for two threads. */
static void test_large(bool has_cycles)
{
	enum { FUNCTIONS = 400, SAMPLES = 20000 };
	struct profile_builder *b = begin();
	char name[16];
	srand(8);
	for (int i = 0; i < SAMPLES; i++) {
		stackid s = 0;
		for (int f = rand() % 100, depth = 1 + rand() % 40; depth && f < FUNCTIONS;
		     depth--) {
			snprintf(name, sizeof(name), "f%d", f);
			s = push(b, s, name);
			f = has_cycles ? rand() % FUNCTIONS : f + 1 + rand() % 150;
		}
		add(b, s, 1 + (uint64_t)(rand() % 1000));
	}
	struct made m = finish(b);
	OK(m.graph->n_arcs > 1 << 15);
	OK((m.graph->n_cycles > 0) == has_cycles);
	OK(laws_hold(m.graph));
	OK(callers_are_listed(m.graph));
	done(&m);
}

/* ---- examples ---- */

/* Two callers whose calls cost 1:94: gprof would share by counts. */
static void test_easy_and_hard(void)
{
	struct profile_builder *b = begin();
	add(b, stack_of(b, "main;easy;work"), 10);
	add(b, stack_of(b, "main;hard;work"), 940);
	struct made m = finish(b);
	OK(sum(between(&m, "easy", "work")->along) == 10);
	OK(sum(between(&m, "hard", "work")->along) == 940);
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
	OK(sum(between(&m, "main", "f")->along) == 8);
	OK(sum(between(&m, "f", "g")->along) == 8 && between(&m, "f", "g")->along.self == 3);
	OK(sum(between(&m, "g", "f")->along) == 5 && between(&m, "g", "f")->samples == 1);
	done(&m);
}

/* a -> b -> a is in the graph of calls; on no stack is it gone round. */
static struct made not_going_round(int samples)
{
	struct profile_builder *b = begin();
	for (int i = 0; i < samples; i++)
		add(b, stack_of(b, i & 1 ? "main;a;b" : "main;b;a"), 1);
	return finish(b);
}

static void test_not_seen(void)
{
	struct cg_interval round = { 0, 0 };
	struct made m = not_going_round(100);
	OK(m.graph->n_cycles == 1);
	OK(m.graph->cycles[0].samples == 100 && m.graph->cycles[0].reentered == 0);
	OK(callgraph_verdict(m.graph, 1, &round) == CG_NOT_SEEN && same(round.high, 0.03));
	done(&m);
	m = not_going_round(60);
	OK(callgraph_verdict(m.graph, 1, &round) == CG_NOT_SEEN && same(round.high, 0.05));
	done(&m);
}

/* Of 59 samples, or 2, the bound says nothing. */
static void test_unknown(void)
{
	for (int n = 2; n < 60; n += 57) {
		struct cg_interval round = { 0, 0 };
		struct made m = not_going_round(n);
		OK(m.graph->n_cycles == 1 && callgraph_verdict(m.graph, 1, &round) == CG_UNKNOWN);
		OK(round.high == 0);
		done(&m);
	}
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
	struct cg_interval round = { 0, 0 };
	OK(callgraph_verdict(m.graph, 1, &round) == CG_CONFIRMED &&
	   same(round.low + round.high, 1) && round.low > 0.0945 && round.low < 0.0946);
	done(&m);
}

/* A mark in place of missing callers has times on its arcs, but is no function with an entry. */
static void test_cut(void)
{
	struct profile_builder *b = begin();
	stackid cut = profile_add_stack(b, 0, profile_add_mark(b, MARK_CUT));
	add(b, push(b, push(b, push(b, cut, "a"), "b"), "a"), 3);
	add(b, stack_of(b, "main;a"), 4);
	struct made m = finish(b);
	symid mark = named(&m, MARK_CUT);
	OK(program_is_no_caller(m.program, mark) && !m.graph->nodes[mark].shown);
	OK(!program_is_no_caller(m.program, named(&m, "a")) &&
	   m.graph->nodes[named(&m, "a")].shown);
	OK(sum(between(&m, MARK_CUT, "a")->along) == 3 && m.graph->cycles[0].going_round == 3);
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

/* The letters of the functions that have entries, if one function is requested and one excluded. */
static const char *shown_of(char wanted, char unwanted)
{
	static char text[20];
	struct profile_builder *b = begin();
	add(b, stack_of(b, "m;a;b;d"), 4);
	add(b, stack_of(b, "m;c;b"), 2);
	struct made m = { .profile = profile_finish(b) };
	m.program = program_new(m.profile, NULL, &(struct program_opts){ .style = DEMANGLE_NONE });
	struct symbols *s = program_symbols(m.program);
	struct selection sel;
	selection_init(&sel, s->n);
	for (symid i = 0; i < s->n; i++) {
		if (s->at[i].name[0] == wanted)
			selection_add(&sel, SEL_INCL_GRAPH, i);
		if (s->at[i].name[0] == unwanted)
			selection_add(&sel, SEL_EXCL_GRAPH, i);
	}
	m.graph = callgraph_new(m.profile, s,
				&(struct callgraph_opts){ .samples = &m.profile->samples,
							  .program = m.program,
							  .selection = &sel });
	OK(inclusive(&m, "b") == 6 && inclusive(&m, "m") == 6); /* whatever is shown */
	char *to = text;
	for (const char *name = "mabcd"; *name; name++)
		if (m.graph->nodes[named(&m, (const char[]){ *name, 0 })].shown)
			*to++ = *name;
	*to = '\0';
	done(&m);
	selection_done(&sel);
	return text;
}

/* The requested function, and all functions that it calls. */
static void test_selected(void)
{
	OK_STR(shown_of(0, 0), "mabcd");
	OK_STR(shown_of('c', 0), "bcd");
	OK_STR(shown_of('b', 0), "bd");
	OK_STR(shown_of(0, 'b'), "macd");
	OK_STR(shown_of('a', 'b'), "ad");
	OK_STR(shown_of('b', 'b'), "bd"); /* a requested function stays */
}

int main(void)
{
	test_random();
	test_large(true);
	test_large(false);
	test_easy_and_hard();
	test_recursion();
	test_not_seen();
	test_unknown();
	test_confirmed();
	test_cut();
	test_leaves_only();
	test_selected();
	return DONE();
}

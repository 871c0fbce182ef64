/* callgrind_stacks.c - makes stacks from the costs of calls.
 *
 * Cost flows along calls, from functions without callers to where it arises. Functions are visited
 * callers first. The cost that arrived at a function is divided between its own cost and its calls,
 * in the order of the file; each portion keeps its stack. So there are no more stacks than costs
 * and calls, and sums over the stacks equal those of the file.
 *
 * Functions that call each other in a circle form a group. Cost that arrives at a member goes, on
 * the shortest way, to where it arises or leaves the group. */
#include <stdlib.h>
#include <string.h>

#include "formats/callgrind/callgrind_calls.h"

/* Bounds the frames of all stacks, by the number of costs. */
#ifdef KIN_SMALL_TABLES
enum { STEPS_PER_COST = 16, FEW_STEPS = 1 << 12, MOST_STEPS = 1 << 14 };
#else
enum { STEPS_PER_COST = 64, FEW_STEPS = 1 << 20, MOST_STEPS = 1 << 24 };
#endif

struct portion {
	stackid stack; /* of the callers */
	uint64_t weight;
};

struct cost_node {
	uint32_t first; /* index of its first cost in by_function[] */
	uint32_t group, next_in_group;
	uint32_t reached_from; /* member of its group from which it was last reached */
	uint32_t way;          /* the call by which it was reached; NONE: it is that member */
	uint32_t low, seen;    /* for the search for groups */
	bool is_open;
	VEC(struct portion) arrived;
};

struct cost_flow {
	const struct callgrind_calls *c;
	struct profile_builder *into;
	struct cost_node *nodes; /* [n_functions + 1] */
	uint32_t *by_function;   /* indices of costs, by function, in the file's order */
	uint32_t *groups;        /* first member of each group, callees first */
	size_t n_groups;
	size_t event;
	taskid task;
	uint64_t *left; /* by cost: the part that is not divided yet */
	VEC(uint32_t) todo, path;
	size_t steps_left; /* frames that may be pushed, and functions looked at, over all stacks */
};

static const struct callgrind_cost *cost_at(const struct cost_flow *f, uint32_t i)
{
	return &f->c->at.at[i];
}

/* ---- order ---- */

static void sort_costs(struct cost_flow *f)
{
	size_t n = f->c->n_functions;
	for (size_t i = 0; i < f->c->at.n; i++)
		f->nodes[cost_at(f, (uint32_t)i)->function + 1].first++;
	for (size_t i = 0; i < n; i++)
		f->nodes[i + 1].first += f->nodes[i].first;
	uint32_t *next = xalloc((n + 1) * sizeof(*next));
	for (size_t i = 0; i < n; i++)
		next[i] = f->nodes[i].first;
	for (size_t i = 0; i < f->c->at.n; i++)
		f->by_function[next[cost_at(f, (uint32_t)i)->function]++] = (uint32_t)i;
	free(next);
}

struct cost_step { /* a level of the depth-first search */
	uint32_t function, at;
};

static void close_group(struct cost_flow *f, uint32_t first)
{
	uint32_t group = (uint32_t)f->n_groups, last = NONE, member;
	do {
		member = f->todo.at[--f->todo.n];
		f->nodes[member].is_open = false;
		f->nodes[member].group = group;
		f->nodes[member].next_in_group = last;
		last = member;
	} while (member != first);
	f->groups[f->n_groups++] = first;
}

/* Tarjan's strongly connected components, without recursion. */
static void find_groups_from(struct cost_flow *f, uint32_t root, uint32_t *counter)
{
	VEC(struct cost_step) steps = { 0 };
	vec_push(&steps, ((struct cost_step){ root, f->nodes[root].first }));
	f->nodes[root].seen = f->nodes[root].low = ++*counter;
	f->nodes[root].is_open = true;
	vec_push(&f->todo, root);
	while (steps.n) {
		struct cost_step *s = &steps.at[steps.n - 1];
		struct cost_node *n = &f->nodes[s->function];
		if (s->at < f->nodes[s->function + 1].first) {
			uint32_t callee = cost_at(f, f->by_function[s->at++])->callee;
			struct cost_node *to = callee == NONE ? NULL : &f->nodes[callee];
			if (to && !to->seen) {
				to->seen = to->low = ++*counter;
				to->is_open = true;
				vec_push(&f->todo, callee);
				vec_push(&steps, ((struct cost_step){ callee, to->first }));
			} else if (to && to->is_open && to->seen < n->low) {
				n->low = to->seen;
			}
			continue;
		}
		if (n->low == n->seen)
			close_group(f, s->function);
		uint32_t low = n->low;
		steps.n--;
		if (steps.n && low < f->nodes[steps.at[steps.n - 1].function].low)
			f->nodes[steps.at[steps.n - 1].function].low = low;
	}
	vec_free(&steps);
}

static void find_groups(struct cost_flow *f)
{
	uint32_t counter = 0;
	for (uint32_t i = 0; i < f->c->n_functions; i++)
		if (!f->nodes[i].seen)
			find_groups_from(f, i, &counter);
}

/* ---- dividing costs ---- */

static void add_sample(struct cost_flow *f, stackid stack, uint64_t weight)
{
	uint64_t n = f->c->period ? weight / f->c->period : 1;
	profile_add_sample(f->into,
			   (struct sample){ .stack = stack,
					    .task = f->task,
					    .event = f->c->events[f->event],
					    .cpu = CPU_NONE,
					    .count = (uint32_t)min_u64(n ? n : 1, UINT32_MAX),
					    .weight = weight });
}

static void count_step(struct cost_flow *f) { f->steps_left -= f->steps_left > 0; }

static stackid push(struct cost_flow *f, stackid callers, frameid frame)
{
	count_step(f);
	return profile_add_stack(f->into, callers, frame);
}

static void hand_out(struct cost_flow *f, uint32_t id, stackid callers, uint64_t weight)
{
	const struct callgrind_cost *cost = cost_at(f, id);
	bool is_nobody = cost->function == f->c->no_caller;
	stackid stack = is_nobody ? callers : push(f, callers, cost->frame);
	f->left[id] -= weight;
	if (cost->callee == NONE)
		add_sample(f, stack, weight);
	else
		vec_push(&f->nodes[cost->callee].arrived, ((struct portion){ stack, weight }));
}

static bool is_inside(const struct cost_flow *f, uint32_t id)
{
	const struct callgrind_cost *cost = cost_at(f, id);
	return cost->callee != NONE &&
	       f->nodes[cost->callee].group == f->nodes[cost->function].group;
}

/* The callers' stack, extended by the calls within the group that lead to the function. */
static stackid way_to(struct cost_flow *f, uint32_t function, stackid stack)
{
	f->path.n = 0;
	for (uint32_t at = function; f->nodes[at].way != NONE;) {
		vec_push(&f->path, f->nodes[at].way);
		at = cost_at(f, f->nodes[at].way)->function;
	}
	while (f->path.n) {
		const struct callgrind_cost *call = cost_at(f, f->path.at[--f->path.n]);
		if (call->function != f->c->no_caller)
			stack = push(f, stack, call->frame);
	}
	return stack;
}

/* Divides the portions from *at on between the function's own cost and its calls out of the group.
 * *rest is what is left of portion *at. */
static void serve(struct cost_flow *f, uint32_t function, const struct portion *from, size_t *at,
		  size_t n, uint64_t *rest)
{
	for (uint32_t i = f->nodes[function].first; i < f->nodes[function + 1].first; i++) {
		uint32_t id = f->by_function[i];
		if (is_inside(f, id))
			continue;
		while (f->left[id] && *at < n && f->steps_left) {
			uint64_t part = f->left[id] < *rest ? f->left[id] : *rest;
			if (part)
				hand_out(f, id, way_to(f, function, from[*at].stack), part);
			*rest -= part;
			if (!*rest && ++*at < n)
				*rest = from[*at].weight;
		}
	}
}

/* Appends the members of the group that the function calls, and that were not reached from `entry`
 * yet. */
static void look_around(struct cost_flow *f, uint32_t function, uint32_t entry)
{
	for (uint32_t i = f->nodes[function].first; i < f->nodes[function + 1].first; i++) {
		uint32_t id = f->by_function[i];
		count_step(f);
		struct cost_node *to = is_inside(f, id) ? &f->nodes[cost_at(f, id)->callee] : NULL;
		if (!to || to->reached_from == entry)
			continue;
		to->reached_from = entry;
		to->way = id;
		vec_push(&f->todo, cost_at(f, id)->callee);
	}
}

/* Divides the portions that arrived at a member between all members of its group, nearest first. */
static void pass_on(struct cost_flow *f, uint32_t entry, const struct portion *from, size_t n)
{
	size_t at = 0;
	uint64_t rest = n ? from[0].weight : 0;
	f->todo.n = 0;
	vec_push(&f->todo, entry);
	f->nodes[entry].reached_from = entry;
	f->nodes[entry].way = NONE;
	for (size_t i = 0; i < f->todo.n && at < n && f->steps_left; i++) {
		serve(f, f->todo.at[i], from, &at, n, &rest);
		look_around(f, f->todo.at[i], entry);
	}
}

/* Makes stacks that begin at the function, for costs that no caller explains. Long chains of
 * functions below many callers would need more stacks than memory holds: without steps left, all
 * callers are cut. */
static void begin(struct cost_flow *f, uint32_t function)
{
	stackid callers = 0;
	if (!f->steps_left)
		callers = profile_add_stack(f->into, 0, profile_add_mark(f->into, MARK_CUT));
	for (uint32_t i = f->nodes[function].first; i < f->nodes[function + 1].first; i++) {
		uint32_t id = f->by_function[i];
		if (f->left[id] && !is_inside(f, id))
			hand_out(f, id, callers, f->left[id]);
	}
}

static void go_through(struct cost_flow *f, uint32_t first)
{
	for (uint32_t i = first; i != NONE; i = f->nodes[i].next_in_group) {
		pass_on(f, i, f->nodes[i].arrived.at, f->nodes[i].arrived.n);
		vec_free(&f->nodes[i].arrived);
	}
	for (uint32_t i = first; i != NONE; i = f->nodes[i].next_in_group)
		begin(f, i);
}

void callgrind_add_stacks(const struct callgrind_calls *c, struct profile_builder *into,
			  taskid task)
{
	struct cost_flow f = { .c = c, .into = into, .task = task };
	f.steps_left = min_u64(FEW_STEPS + STEPS_PER_COST * c->at.n, MOST_STEPS);
	f.nodes = xalloc((c->n_functions + 2) * sizeof(*f.nodes));
	f.by_function = xalloc((c->at.n + 1) * sizeof(*f.by_function));
	f.groups = xalloc((c->n_functions + 1) * sizeof(*f.groups));
	f.left = xalloc((c->at.n + 1) * sizeof(*f.left));
	sort_costs(&f);
	find_groups(&f);
	for (f.event = 0; f.event < c->n_events; f.event++) {
		for (size_t i = 0; i < c->n_functions; i++)
			f.nodes[i].reached_from = NONE;
		for (size_t i = 0; i < c->at.n; i++)
			f.left[i] = c->values.at[i * c->n_events + f.event];
		for (size_t g = f.n_groups; g--;)
			go_through(&f, f.groups[g]);
	}
	vec_free(&f.todo);
	vec_free(&f.path);
	free(f.nodes);
	free(f.by_function);
	free(f.groups);
	free(f.left);
}

/* The tree of paths on random stacks, against looking at each sample alone. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paths/path_maker.h"
#include "paths/path_tree.h"
#include "paths/stack_groups.h"
#include "profile/canonical.h"

enum { PLACES = 7, FRAMES = 12, STACKS = 80, SAMPLES = 120, EVENTS = 2, MOST = 3 };

struct made {
	struct profile *profile;
	struct path_frames frames, leaves;
	struct path_tree *tree;
	bool leaves_differ;
};

/* ---- making ---- */

static struct path_frames random_frames(size_t n_frames, uint32_t least)
{
	struct path_frames f = { calloc(n_frames + 1, sizeof(*f.first)),
				 calloc(n_frames * MOST + 1, sizeof(*f.places)) };
	uint32_t n = 0;
	for (size_t i = 0; i < n_frames; i++) {
		for (uint32_t k = i ? least + (uint32_t)rand() % MOST : 0;
		     k > 0 && n < n_frames * MOST; k--)
			f.places[n++] = (symid)(rand() % PLACES);
		f.first[i + 1] = n;
	}
	return f;
}

static struct profile *random_profile(void)
{
	struct profile_builder *b = profile_builder_new();
	frameid frames[FRAMES];
	stackid stacks[STACKS] = { 0 };
	for (uint64_t i = 0; i < FRAMES; i++)
		frames[i] = profile_add_frame(b, (struct frame){ .addr = i + 1 });
	for (size_t i = 1; i < STACKS; i++)
		stacks[i] =
			profile_push_stack(b, stacks[(size_t)rand() % i], frames[rand() % FRAMES]);
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "asleep", 6),
					     .kind = EVENT_BLOCKED });
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "cycles", 6) });
	for (int i = 0; i < SAMPLES; i++)
		profile_add_sample(b, (struct sample){ .stack = stacks[rand() % STACKS],
						       .event = (uint16_t)(rand() % EVENTS),
						       .count = 1 + (uint32_t)rand() % 3,
						       .weight = (uint64_t)rand() % 1000 });
	return profile_finish(b);
}

static struct made make(bool leaves_differ)
{
	struct made m = { .profile = random_profile(), .leaves_differ = leaves_differ };
	m.frames = random_frames(m.profile->samples.n_frames, 0);
	if (leaves_differ)
		m.leaves = random_frames(m.profile->samples.n_frames, 0);
	m.tree = path_tree_new(&m.profile->samples, &m.frames, leaves_differ ? &m.leaves : NULL);
	return m;
}

static void done(struct made *m)
{
	path_tree_free(m->tree);
	path_frames_free(&m->frames);
	path_frames_free(&m->leaves);
	profile_free(m->profile);
}

/* ---- one sample alone ---- */

/* A stack as places, the leaf first. */
struct path {
	symid at[STACKS * MOST];
	size_t n;
};

static void add_frame(struct path *p, const struct path_frames *f, frameid frame)
{
	for (uint32_t i = f->first[frame + 1]; i-- > f->first[frame];)
		p->at[p->n++] = f->places[i];
}

static struct path path_of(const struct made *m, stackid stack)
{
	const struct samples *s = &m->profile->samples;
	struct path p = { .n = 0 };
	stackid leaf = stack;
	while (m->leaves_differ && !p.n && leaf) {
		add_frame(&p, &m->leaves, s->stacks[leaf].frame);
		leaf = s->stacks[leaf].caller;
	}
	if (!p.n) /* no frame of it is a leaf */
		leaf = stack;
	for (; leaf; leaf = s->stacks[leaf].caller)
		add_frame(&p, &m->frames, s->stacks[leaf].frame);
	return p;
}

static bool is_path(const struct path_tree *t, pathid end, const struct path *p)
{
	size_t i = 0;
	for (; end; end = t->nodes[end].caller, i++)
		if (i == p->n || p->at[i] != t->nodes[end].place)
			return false;
	return i == p->n;
}

static bool ends_are_right(const struct made *m)
{
	const struct samples *s = &m->profile->samples;
	for (size_t i = 0; i < s->n; i++) {
		struct path p = path_of(m, s->at[i].stack);
		if (!is_path(m->tree, m->tree->ends[s->at[i].stack], &p))
			return false;
	}
	return true;
}

/* Callers before those below them, each of these listed once, no two alike. */
static bool is_tree(const struct path_tree *t)
{
	size_t listed = 1;
	bool good = t->nodes[0].place == NONE && !t->nodes[0].caller;
	for (pathid i = 0; i < t->n; i++) {
		good &= !i || t->nodes[i].caller < i;
		for (pathid k = t->nodes[i].first; k; k = t->nodes[k].next, listed++) {
			good &= t->nodes[k].caller == i;
			for (pathid l = t->nodes[k].next; l; l = t->nodes[l].next)
				good &= t->nodes[l].place != t->nodes[k].place;
		}
	}
	return good && listed == t->n;
}

/* Of each event the weights add up to its samples' (laws 1 and 7). */
static bool weights_add_up(const struct made *m)
{
	const struct samples *s = &m->profile->samples;
	bool good = true;
	for (uint16_t event = 0; event < EVENTS; event++) {
		struct path_weights w = path_weights_of(m->tree, s, event);
		double sum = 0, own = 0;
		uint64_t count = 0;
		for (size_t i = 0; i < s->n; i++) {
			sum += s->at[i].event == event ? (double)s->at[i].weight : 0;
			count += s->at[i].event == event ? s->at[i].count : 0;
		}
		for (size_t i = 0; i < m->tree->n; i++)
			own += w.own[i].sum;
		good &= own == sum && w.below[0].sum == sum && w.below[0].count == count;
		path_weights_free(&w);
	}
	return good;
}

/* Law 2: each sample once, however deep the recursion. */
static bool times_are_right(const struct made *m)
{
	static const uint32_t group_of[PLACES] = { 0, 1, 2, NONE, 1, 3, 0 };
	enum { GROUPS = 4 };
	const struct samples *s = &m->profile->samples;
	double want[GROUPS] = { 0 };
	bool good = true;
	for (size_t i = 0; i < s->n; i++) {
		struct path p = path_of(m, s->at[i].stack);
		for (uint32_t g = 0; g < GROUPS && s->at[i].event == samples_event(s); g++)
			for (size_t k = 0; k < p.n; k++)
				if (group_of[p.at[k]] == g) {
					want[g] += (double)s->at[i].weight;
					break;
				}
	}
	struct path_weights w = path_weights_of(m->tree, s, samples_event(s));
	double *times = path_times(m->tree, &w, group_of, GROUPS);
	for (uint32_t g = 0; g < GROUPS; g++)
		good &= times[g] == want[g] && times[g] <= w.below[0].sum;
	free(times);
	path_weights_free(&w);
	return good;
}

/* The same without a tree, where a frame has one place, or none. */
static bool times_of_places_are_right(const struct made *m)
{
	static const uint32_t group_of[] = { 0, 1, NONE, 0 };
	enum { GROUPS = 2, NO_PLACE = ARRAY_LEN(group_of) };
	const struct samples *s = &m->profile->samples;
	uint32_t *groups = xalloc(s->n_frames * sizeof(*groups));
	double want[GROUPS] = { 0 };
	bool good = true;
	for (size_t i = 0; i < s->n_frames; i++)
		groups[i] = i % (NO_PLACE + 1) == NO_PLACE ? NONE : group_of[i % (NO_PLACE + 1)];
	for (size_t i = 0; i < s->n; i++) {
		bool met[GROUPS] = { false };
		for (stackid k = s->at[i].stack; k; k = s->stacks[k].caller) {
			uint32_t group = groups[s->stacks[k].frame];
			if (group != NONE)
				met[group] = true;
		}
		for (uint32_t g = 0; g < GROUPS && s->at[i].event == samples_event(s); g++)
			want[g] += met[g] ? (double)s->at[i].weight : 0;
	}
	double *times = stack_times(s, NULL, groups, GROUPS);
	for (uint32_t g = 0; g < GROUPS; g++)
		good &= times[g] == want[g];
	free(times);
	free(groups);
	return good;
}

/* ---- visiting ---- */

struct visit {
	const struct path_tree *tree;
	size_t entered, left;
	pathid at;
	bool good;
};

static void enter(pathid node, void *arg)
{
	struct visit *v = arg;
	v->good &= v->tree->nodes[node].caller == v->at;
	v->at = node;
	v->entered++;
}

static void leave(pathid node, void *arg)
{
	struct visit *v = arg;
	v->good &= v->at == node;
	v->at = v->tree->nodes[node].caller;
	v->left++;
}

static bool is_visited(const struct path_tree *t)
{
	struct visit v = { .tree = t, .good = true };
	path_tree_visit(t, &(struct path_visitor){ enter, leave, &v });
	return v.good && !v.at && v.entered == t->n - 1 && v.left == v.entered;
}

static void test_random(void)
{
	bool tree = true, ends = true, weights = true, times = true, visits = true;
	srand(3);
	for (int round = 0; round < 400; round++) {
		struct made m = make(round & 1);
		tree &= is_tree(m.tree);
		ends &= ends_are_right(&m);
		weights &= weights_add_up(&m);
		times &= times_are_right(&m) && times_of_places_are_right(&m);
		visits &= is_visited(m.tree);
		done(&m);
	}
	OK(tree);
	OK(ends);
	OK(weights);
	OK(times);
	OK(visits);
}

/* ---- stack by stack ---- */

enum { ROOTS = 40 };

static struct path_places places_of(void *arg, frameid frame)
{
	const struct path_frames *f = arg;
	return (struct path_places){ &f->places[f->first[frame]],
				     f->first[frame + 1] - f->first[frame] };
}

/* Places of roots are above all others. */
static bool is_path_below(const struct path_tree *t, pathid end, const struct path *p,
			  uint32_t root)
{
	size_t i = 0;
	for (; t->nodes[end].caller; end = t->nodes[end].caller, i++)
		if (i == p->n || p->at[i] != t->nodes[end].place)
			return false;
	return i == p->n && t->nodes[end].place == PLACES + root;
}

/* Below one caller the ranks go up. */
static bool is_sorted(const struct path_tree *t, const uint32_t *ranks)
{
	for (size_t i = 0; i < t->n; i++)
		for (pathid k = t->nodes[i].first; k && t->nodes[k].next; k = t->nodes[k].next)
			if (ranks[t->nodes[k].place] >= ranks[t->nodes[t->nodes[k].next].place])
				return false;
	return true;
}

struct turns { /* of a visit */
	const struct path_tree *tree;
	const struct listed_paths *list;
	const pathid *numbers;
	pathid n;
	bool good;
};

static void enter_listed(pathid node, void *arg)
{
	struct turns *v = arg;
	const struct path_node *x = &v->tree->nodes[node];
	const struct listed_path *l = &v->list->at[++v->n];
	v->good &= v->numbers[node] == v->n && l->place == x->place &&
		   l->caller == v->numbers[x->caller];
}

static void leave_listed(pathid node, void *arg)
{
	struct turns *v = arg;
	v->good &= v->list->at[v->numbers[node]].end == v->n + 1;
}

/* Each node has its caller and place, and the number of its turn. */
static bool is_list_of(const struct path_tree *t, const struct listed_paths *list,
		       const pathid *numbers)
{
	struct turns v = { t, list, numbers, 0, true };
	path_tree_visit(t, &(struct path_visitor){ enter_listed, leave_listed, &v });
	return v.good && list->n == t->n && v.n + 1 == t->n && !numbers[0] &&
	       list->at[0].place == NONE && list->at[0].end == t->n;
}

static void add_paths(struct path_maker *maker, struct made *m, const uint32_t *roots,
		      pathid *found)
{
	const struct samples *s = &m->profile->samples;
	path_maker_init(maker, s, places_of, &m->frames);
	for (size_t i = 0; i < s->n; i++) {
		path_maker_root(maker, roots[i], PLACES + roots[i]);
		found[i] = path_maker_stack(maker, roots[i], s->at[i].stack);
	}
}

static void test_maker(void)
{
	bool tree = true, ends = true, sorted = true, listed = true;
	srand(5);
	for (int round = 0; round < 100; round++) {
		struct made m = make(false);
		const struct samples *s = &m.profile->samples;
		uint32_t roots[SAMPLES], ranks[PLACES + ROOTS];
		pathid found[SAMPLES];
		struct path_maker maker;
		for (size_t i = 0; i < s->n; i++)
			roots[i] = (uint32_t)rand() % (round & 1 ? ROOTS : 2);
		struct listed_paths list;
		add_paths(&maker, &m, roots, found);
		pathid *numbers = path_maker_list(&maker, &list);
		add_paths(&maker, &m, roots, found);
		struct path_tree *t = path_maker_end(&maker);
		for (uint32_t i = 0; i < PLACES + ROOTS; i++)
			ranks[i] = round & 2 ? i : PLACES + ROOTS - i;
		tree &= is_tree(t);
		listed &= is_list_of(t, &list, numbers);
		path_tree_sort(t, ranks);
		sorted &= is_tree(t) && is_visited(t) && is_sorted(t, ranks);
		for (size_t i = 0; i < s->n; i++) {
			struct path p = path_of(&m, s->at[i].stack);
			ends &= is_path_below(t, found[i], &p, roots[i]);
		}
		free(numbers);
		free(list.at);
		path_tree_free(t);
		done(&m);
	}
	OK(tree);
	OK(ends);
	OK(sorted);
	OK(listed);
}

static void test_empty(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "e", 1) });
	profile_add_sample(b, (struct sample){ .count = 2, .weight = 5 });
	struct profile *p = profile_finish(b);
	struct path_frames none = { .first = xalloc((p->samples.n_frames + 1) * sizeof(uint32_t)) };
	struct path_tree *t = path_tree_new(&p->samples, &none, NULL);
	struct path_weights w = path_weights_of(t, &p->samples, 0);
	OK(t->n == 1 && w.own[0].sum == 5 && w.below[0].count == 2);
	OK(is_visited(t));
	path_weights_free(&w);
	path_tree_free(t);
	path_frames_free(&none);
	profile_free(p);
}

struct shown_event {
	const char *name;
	enum event_unit unit;
	enum event_kind kind;
	bool is_beside, has_samples;
};

static struct profile *with_events(const struct shown_event *events, size_t n)
{
	struct profile_builder *b = profile_builder_new();
	for (size_t i = 0; i < n; i++)
		profile_add_event(
			b, (struct event){ .name = profile_add_string(b, events[i].name,
								      strlen(events[i].name)),
					   .unit = events[i].unit,
					   .kind = events[i].kind,
					   .is_beside = events[i].is_beside });
	for (size_t i = 0; i < n; i++)
		if (events[i].has_samples)
			profile_add_sample(
				b,
				(struct sample){ .event = (uint16_t)i, .count = 1, .weight = 1 });
	return profile_finish(b);
}

/* An event of time is shown rather than others, at any place in the file: sums order events anew.
 */
static void test_shown_event(void)
{
	static const struct {
		struct shown_event events[3];
		const char *shown;
	} cases[] = {
		{ { { "faults", .has_samples = true }, { "clock", EVENT_NS, .has_samples = true } },
		  "clock" },
		{ { { "faults", .has_samples = true }, { "clock", EVENT_NS } }, "faults" },
		{ { { "faults" }, { "clock", EVENT_NS } }, "clock" },
		{ { { "instructions", .has_samples = true },
		    { "cpu_core/cycles/u", .has_samples = true } },
		  "cpu_core/cycles/u" },
		{ { { "bus-cycles", .has_samples = true },
		    { "cpu-cycles:u", .has_samples = true } },
		  "cpu-cycles:u" },
		{ { { "stalled-cycles-frontend", .has_samples = true },
		    { "bus-cycles", .has_samples = true } },
		  "stalled-cycles-frontend" },
		{ { { "blocked", EVENT_NS, EVENT_BLOCKED, .has_samples = true },
		    { "faults", .has_samples = true } },
		  "faults" },
		{ { { "blocked", EVENT_NS, EVENT_BLOCKED, .has_samples = true } }, "blocked" },
		{ { { "objects", .has_samples = true },
		    { "delay", EVENT_NS, .is_beside = true, .has_samples = true } },
		  "objects" },
		{ { { "cycles", .has_samples = true }, { "clock", EVENT_NS, .has_samples = true } },
		  "cycles" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = 0;
		while (n < 3 && cases[i].events[n].name)
			n++;
		struct profile *p = with_events(cases[i].events, n);
		const struct samples *s = &p->samples;
		OK_STR(strtab_get(p->strings, s->events[samples_event(s)].name), cases[i].shown);
		profile_free(p);
	}
}

/* The shown event is the same in a recording by -e NAME,NAME and in its sum. */
static void test_shown_after_sum(void)
{
	static const struct shown_event events[] = { { "cycles", .has_samples = true },
						     { "branches", .has_samples = true },
						     { "a", EVENT_NS, EVENT_BLOCKED, false,
						       true } };
	struct profile *p = with_events(events, 3), *sum = profile_canonical(p, NULL, NULL);
	const struct samples *s = &sum->samples;
	OK_STR(strtab_get(sum->strings, s->events[0].name), "cycles");
	OK_STR(strtab_get(sum->strings, s->events[1].name), "a");
	OK_STR(strtab_get(sum->strings, s->events[2].name), "branches");
	OK(samples_event(s) == 0);
	profile_free(p);
	profile_free(sum);
}

int main(void)
{
	test_shown_event();
	test_shown_after_sum();
	test_random();
	test_maker();
	test_empty();
	return DONE();
}

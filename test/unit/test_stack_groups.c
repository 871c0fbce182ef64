/* Sums over the groups on stacks: as adding up each stack's groups for itself gives them, whatever
 * the order of stacks and roots. */
#include "paths/stack_groups.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* More roots than have arrays of their own. */
enum { FRAMES = 9, STACKS = 120, ROOTS = STACK_ARRAYS + 4, BELOW = 5, MOST = 2, VISITS = 400 };
enum { GROUPS = ROOTS * BELOW, EVENTS_MOST = 3 };

struct world {
	struct samples samples;
	struct stack stacks[STACKS];
	uint32_t n_groups[FRAMES], groups[FRAMES][MOST]; /* below a root */
	uint32_t answer[MOST];
};

static void make(struct world *w)
{
	memset(w, 0, sizeof(*w));
	for (size_t i = 1; i < STACKS; i++)
		w->stacks[i] =
			(struct stack){ (stackid)((size_t)rand() % i), (frameid)(rand() % FRAMES) };
	for (size_t f = 0; f < FRAMES; f++) {
		w->n_groups[f] = (uint32_t)rand() % (MOST + 1);
		for (size_t k = 0; k < w->n_groups[f]; k++)
			w->groups[f][k] = (uint32_t)rand() % BELOW;
	}
	w->samples =
		(struct samples){ .stacks = w->stacks, .n_stacks = STACKS, .n_frames = FRAMES };
}

static struct path_places groups_of(void *arg, uint32_t root, frameid frame)
{
	struct world *w = arg;
	for (size_t k = 0; k < w->n_groups[frame]; k++)
		w->answer[k] = root * BELOW + w->groups[frame][k];
	return (struct path_places){ w->answer, w->n_groups[frame] };
}

static void mark(const struct world *w, uint32_t root, stackid stack, bool on[GROUPS])
{
	memset(on, 0, GROUPS * sizeof(*on));
	for (; stack; stack = w->stacks[stack].caller) {
		frameid frame = w->stacks[stack].frame;
		for (size_t k = 0; k < w->n_groups[frame]; k++)
			on[root * BELOW + w->groups[frame][k]] = true;
	}
}

/* Whether the groups on the stack are these, each once. */
static bool are_on(const struct stack_groups *s, uint32_t root, const bool on[GROUPS])
{
	const struct path_places listed = stack_groups_on(s, root);
	size_t n = 0;
	bool good = true;
	for (uint32_t g = root * BELOW; g < (root + 1) * BELOW; g++) {
		n += on[g];
		good &= stack_groups_has(s, g) == on[g];
	}
	for (size_t i = 0; i < listed.n; i++)
		good &= on[listed.at[i]];
	return good && listed.n == n;
}

static bool is_leaf(const struct world *w, const struct stack_groups *s, uint32_t root,
		    stackid stack)
{
	uint32_t leaf = stack_groups_leaf(s, root, stack);
	frameid frame = w->stacks[stack].frame;
	if (leaf == NONE)
		return !stack || root >= STACK_ARRAYS || w->n_groups[frame] != 1;
	return w->n_groups[frame] == 1 && leaf == root * BELOW + w->groups[frame][0];
}

static stackid next_stack(size_t visit, bool in_order)
{
	return (stackid)(in_order ? visit * STACKS / VISITS : (size_t)rand() % STACKS);
}

static bool sums_are_right(size_t n_events, bool in_order)
{
	static struct world w;
	static struct path_sum want[GROUPS * EVENTS_MOST];
	struct stack_groups s;
	bool on[GROUPS], good = true;
	make(&w);
	memset(want, 0, sizeof(want));
	stack_groups_init(&s, &w.samples, n_events, groups_of, &w);
	for (size_t i = 0; i < VISITS; i++) {
		uint32_t root = (uint32_t)rand() % (in_order ? 2 : ROOTS);
		stackid stack = next_stack(i, in_order);
		struct path_sum *totals = stack_groups_at(&s, root, stack);
		size_t event = (size_t)rand() % n_events;
		uint64_t weight = (uint64_t)rand() << 40; /* totals may wrap */
		totals[event].weight += weight;
		totals[event].count++;
		mark(&w, root, stack, on);
		good &= are_on(&s, root, on) && is_leaf(&w, &s, root, stack);
		for (size_t g = 0; g < GROUPS; g++) {
			want[g * n_events + event].weight += on[g] ? weight : 0;
			want[g * n_events + event].count += on[g];
		}
	}
	stack_groups_finish(&s);
	good &= s.sums.n <= GROUPS * n_events;
	for (size_t i = 0; i < GROUPS * n_events; i++) {
		const struct path_sum none = { 0, 0 }, *is = i < s.sums.n ? &s.sums.at[i] : &none;
		good &= is->weight == want[i].weight && is->count == want[i].count;
	}
	stack_groups_done(&s);
	return good;
}

int main(void)
{
	bool one = true, several = true, in_order = true;
	srand(5);
	for (int round = 0; round < 100; round++) {
		one &= sums_are_right(1, false);
		several &= sums_are_right(2 + (size_t)round % 2, false);
		in_order &= sums_are_right(1, true) && sums_are_right(2, true);
	}
	OK(one);
	OK(several);
	OK(in_order);
	return DONE();
}

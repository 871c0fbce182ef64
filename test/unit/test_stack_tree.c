/* Stacks as a tree of frames: equal ones are one node, pushed ones are their own. */
#include "profile/stack_tree.h"

#include <stdlib.h>

#include "tap.h"

static bool is(const struct stack_tree *t, uint32_t node, uint32_t caller, uint32_t frame)
{
	return t->nodes.at[node].caller == caller && t->nodes.at[node].frame == frame;
}

static void equal_stacks_are_one(void)
{
	struct stack_tree t = { 0 };
	OK(stack_tree_add(&t, 0, 7) == 1); /* 0 is the empty stack */
	OK(stack_tree_add(&t, 0, 7) == 1);
	OK(stack_tree_add(&t, 0, 8) == 2 && stack_tree_add(&t, 0, 9) == 3);
	OK(stack_tree_add(&t, 0, 7) == 1 && stack_tree_add(&t, 0, 8) == 2);
	OK(stack_tree_add(&t, 0, 9) == 3 && stack_tree_add(&t, 0, 9) == 3);
	OK(stack_tree_add(&t, 1, 8) == 4 && stack_tree_add(&t, 2, 8) == 5); /* of its caller */
	OK(stack_tree_add(&t, 1, 7) == 6 && stack_tree_add(&t, 6, 7) == 7); /* recursion */
	OK(stack_tree_add(&t, 0, 0) == 8 &&
	   stack_tree_add(&t, 0, 0) == 8); /* a frame like others */
	OK(t.nodes.n == 9);
	OK(is(&t, 0, 0, 0) && is(&t, 1, 0, 7) && is(&t, 2, 0, 8) && is(&t, 3, 0, 9));
	OK(is(&t, 4, 1, 8) && is(&t, 5, 2, 8) && is(&t, 6, 1, 7) && is(&t, 7, 6, 7));
	stack_tree_free(&t);
	OK(!t.nodes.n);
}

static void pushed_stacks_are_their_own(void)
{
	struct stack_tree t = { 0 };
	OK(stack_tree_push(&t, (struct stack){ 0, 7 }) && t.nodes.n == 2);
	OK(stack_tree_push(&t, (struct stack){ 0, 7 }) && t.nodes.n == 3);
	OK(stack_tree_push(&t, (struct stack){ 2, 8 }) && is(&t, 3, 2, 8));
	OK(!stack_tree_push(&t, (struct stack){ 4, 9 })); /* not there yet */
	OK(!stack_tree_push(&t, (struct stack){ NONE, 9 }) && t.nodes.n == 4);
	OK(stack_tree_push(&t, (struct stack){ 3, 9 }) && is(&t, 4, 3, 9));
	OK(stack_tree_add(&t, 0, 7) == 1); /* of equal ones the first */
	OK(stack_tree_add(&t, 2, 8) == 3 && stack_tree_add(&t, 3, 9) == 4);
	OK(stack_tree_add(&t, 1, 8) == 5);
	OK(stack_tree_push(&t, (struct stack){ 0, 6 }) && stack_tree_add(&t, 0, 6) == 6);
	OK(stack_tree_push(&t, (struct stack){ 0, 6 }) && stack_tree_add(&t, 0, 6) == 6);
	OK(stack_tree_add(&t, 0, 5) == 8);
	stack_tree_free(&t);
}

/* As a look at all nodes says: the first with that caller and frame. */
static uint32_t find(const struct stack_tree *t, uint32_t caller, uint32_t frame)
{
	for (uint32_t i = 1; i < t->nodes.n; i++)
		if (is(t, i, caller, frame))
			return i;
	return t->nodes.n ? (uint32_t)t->nodes.n : 1;
}

static void random_stacks(void)
{
	size_t wrong = 0;
	srand(7);
	for (int round = 0; round < 200; round++) {
		struct stack_tree t = { 0 };
		uint32_t frames = 1 + (uint32_t)rand() % 9;
		for (int i = 0; i < 200; i++) {
			uint32_t n = t.nodes.n ? (uint32_t)t.nodes.n : 1;
			uint32_t caller = (uint32_t)rand() % (i % 2 ? n : (n + 7) / 8);
			uint32_t frame = (uint32_t)rand() % frames, want = find(&t, caller, frame);
			if (rand() % 4 == 0) {
				wrong += !stack_tree_push(&t, (struct stack){ caller, frame });
				wrong += !is(&t, n, caller, frame) || t.nodes.n != n + 1;
				continue;
			}
			wrong += stack_tree_add(&t, caller, frame) != want;
			wrong += !is(&t, want, caller, frame) || t.nodes.n != n + (want == n);
		}
		stack_tree_free(&t);
	}
	OK(!wrong);
}

int main(void)
{
	equal_stacks_are_one();
	pushed_stacks_are_their_own();
	random_stacks();
	return DONE();
}

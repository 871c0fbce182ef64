/* Functions that ended in a jump are put back between the one that called them and the one that
 * runs: on stacks of this program, with the functions below. */
#include "symbolize/tail_calls.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/program_bias.h"
#include "tap.h"

#ifdef __x86_64__

#define CODE(name, code)                                                                           \
	".type " name ", @function\n" name ":\n" code ".size " name ", . - " name "\n"

/* once_ goes to leaf_ alone, over two functions; twice_ in two ways; anywhere_ by a pointer. */
__asm__(".text\n" CODE("leaf_", "nop; ret\n") CODE("last_", "nop; jmp leaf_\n")
		CODE("once_", "test %eax, %eax; je last_; jne last_; nop; jmp last_\n")
			CODE("twice_", "test %eax, %eax; je leaf_; jmp last_\n") CODE(
				"anywhere_", "test %eax, %eax; je leaf_; jmp *%rax\n")
				CODE("round_", "je once_; jmp round_\n") ".globl calls_\n" CODE(
					"calls_", "call once_; nop; call twice_; nop; call "
						  "anywhere_; nop; call leaf_; nop; "
						  "call round_; nop; ret\n"));
extern const char calls_[];
enum { CALL = 5, NEXT = 6 }; /* bytes of a call; from call to call */

struct made {
	struct profile *p;
	struct program_files *files;
	struct tail_calls_found found;
	size_t depth; /* of the sample's stack */
};

static uint64_t place(const char *code) { return (uint64_t)(uintptr_t)code - program_bias(); }

static stackid put_back(void *t, struct revised_stacks *r, stackid stack, stackid caller)
{
	return tail_calls_put_back(t, r, stack, caller);
}

/* The n-th call of calls_ leads, it seems, to the first instruction of leaf_. */
static struct made stack_of(int n, uint64_t leaf)
{
	struct profile_builder *b = profile_builder_new();
	char self[PATH_MAX] = "";
	OK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	objid us = profile_add_object(b, self, NULL);
	profile_add_event(b, (struct event){ .unit = EVENT_NS });
	frameid caller = profile_add_frame(
		b, (struct frame){ .addr = place(calls_) + (uint64_t)n * NEXT + CALL,
				   .object = us,
				   .flags = FRAME_RETURN });
	frameid callee = profile_add_frame(b, (struct frame){ .addr = leaf, .object = us });
	stackid s = profile_add_stack(b, profile_add_stack(b, 0, caller), callee);
	profile_add_sample(b, (struct sample){ .stack = s, .count = 1, .weight = 1 });
	struct made m = { .p = profile_finish(b) };
	m.files = program_files_new(m.p);
	bool changes[3] = { 0 };
	struct tail_calls *t =
		tail_calls_find(m.p, m.files, &(struct recorded_opts){ 0 }, 0, changes, &m.found);
	if (t)
		profile_revise_callers(m.p, changes, put_back, t);
	tail_calls_free(t);
	for (s = m.p->samples.at[0].stack; s; s = m.p->samples.stacks[s].caller)
		m.depth++;
	return m;
}

static void done(struct made *m)
{
	program_files_free(m->files);
	profile_free(m->p);
}

static uint64_t address_of_leaf(void)
{
	uint64_t addr;
	__asm__("lea leaf_(%%rip), %0" : "=r"(addr));
	return addr - program_bias();
}

int main(void)
{
	static const struct {
		size_t depth;
		double put_back, unknown;
	} expected[] = { { 4, 1, 0 }, { 2, 0, 1 }, { 2, 0, 1 }, { 2, 0, 0 }, { 5, 1, 0 } };

	for (int i = 0; i < (int)ARRAY_LEN(expected); i++) {
		struct made m = stack_of(i, address_of_leaf());
		printf("# call %d: %zu frames, %g, %g\n", i, m.depth, m.found.put_back,
		       m.found.unknown);
		OK(m.depth == expected[i].depth);
		OK(m.found.put_back == expected[i].put_back &&
		   m.found.unknown == expected[i].unknown);
		done(&m);
	}
	return DONE();
}

#else
int main(void)
{
	OK(true); /* written for x86-64 alone */
	return DONE();
}
#endif

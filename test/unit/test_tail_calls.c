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

/* once_ goes to leaf_ alone, over two functions; twice_ in two ways; anywhere_ by a pointer; split_
 * by its cold part. returns_ does not; thunk_ returns to anywhere, and on_ has no end. */
__asm__(".text\n" CODE("leaf_", "nop; ret\n") CODE("last_", "nop; jmp leaf_\n")
		CODE("once_", "test %eax, %eax; je last_; jne last_; nop; jmp last_\n")
			CODE("twice_", "test %eax, %eax; je leaf_; jmp last_\n")
				CODE("anywhere_", "test %eax, %eax; je leaf_; jmp *%rax\n")
					CODE("round_", "je once_; jmp round_\n"));
__asm__(CODE("returns_", "push %rbx; pop %rbx; ret\n")
		CODE("thunk_", "call 2f; 1: pause; jmp 1b; 2: mov %rax, (%rsp); ret\n")
			CODE("on_", "nop\n") "nop\n" CODE("split_", "je split_.cold; ret\n")
				CODE("split_.cold", "nop; jmp leaf_\n"));
__asm__(".globl calls_\n" CODE(
	"calls_", "call once_; nop; call twice_; nop; call anywhere_; nop; call leaf_; nop; "
		  "call round_; nop; call returns_; nop; call thunk_; nop; call on_; nop; "
		  "call split_; nop; ret\n"));
extern const char calls_[];
enum { CALL = 5, NEXT = 6 }; /* bytes of a call; from call to call */

struct made {
	struct profile *p;
	struct program_files *files;
	struct tail_calls_found found;
	size_t depth; /* of the sample's stack */
};

static uint64_t place(const char *code) { return (uint64_t)(uintptr_t)code - program_bias(); }

static stackid correct(void *t, struct revised_stacks *r, stackid stack, stackid caller)
{
	return tail_calls_correct(t, r, stack, caller);
}

/* The n-th call of calls_ leads, it seems, to the first instruction of leaf_. */
static struct made stack_of(int n, bool is_walked, uint64_t leaf)
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
	profile_audit(b)->complete = is_walked;
	profile_add_sample(b, (struct sample){ .stack = s, .count = 1, .weight = 1 });
	struct made m = { .p = profile_finish(b) };
	m.files = program_files_new(m.p);
	bool changes[3] = { 0 };
	struct tail_calls *t =
		tail_calls_find(m.p, m.files, &(struct recorded_opts){ 0 }, 0, changes, &m.found);
	if (t)
		profile_revise_callers(m.p, changes, correct, t);
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
		double put_back, unknown, cut;
	} expected[] = { { 4, 1, 0, 0 }, { 2, 0, 1, 0 }, { 2, 0, 1, 0 },
			 { 2, 0, 0, 0 }, { 5, 1, 0, 0 }, { 2, 0, 0, 1 },
			 { 2, 0, 1, 0 }, { 2, 0, 1, 0 }, { 3, 1, 0, 0 } };

	for (int i = 0; i < (int)ARRAY_LEN(expected); i++) {
		struct made m = stack_of(i, true, address_of_leaf());
		printf("# call %d: %zu frames, %g, %g, %g\n", i, m.depth, m.found.put_back,
		       m.found.unknown, m.found.cut);
		OK(m.depth == expected[i].depth);
		OK(m.found.put_back == expected[i].put_back &&
		   m.found.unknown == expected[i].unknown && m.found.cut == expected[i].cut);
		OK(m.p->samples.audit.truncated == expected[i].cut &&
		   m.p->samples.audit.complete == 1 - expected[i].cut);
		done(&m);
	}
	/* Frame pointers leave out callers. */
	struct made m = stack_of(5, false, address_of_leaf());
	OK(m.depth == 2 && !m.found.cut);
	done(&m);
	return DONE();
}

#else
int main(void)
{
	OK(true); /* written for x86-64 alone */
	return DONE();
}
#endif

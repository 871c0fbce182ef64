/* shadow_stack.h - the return addresses that a process's threads have on their stacks, from its
 * calls and returns.
 *
 * A call adds the word that it pushes. A word is gone when the stack pointer is above it. Stacks
 * are told apart by the addresses that the stack pointer was seen at: where it is set to a place
 * that no stack has, a stack begins, of which nothing is known before its first call. For signals
 * there are two words, the address that the handler returns to and the interrupted one, which may
 * lie on another stack.
 *
 * Nothing is known here of functions, symbols, call-frame information or frame pointers. */
#ifndef SHADOW_STACK_H
#define SHADOW_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/vec.h"

enum instruction {
	DO_OTHER,
	DO_CALL,
	DO_RETURN,
	DO_SET_SP,  /* copies a register to the stack pointer, or adds to one */
	DO_LOAD_SP, /* loads it from memory */
	DO_SYSCALL,
	DO_JUMP, /* to an address that is not in the instruction */
};
enum instruction instruction_at(const uint8_t *code, size_t n);

struct pushed { /* a return address in memory */
	uint64_t at, word;
	uint32_t caller; /* index of the next one; NO_WORD: the stack's base */
	uint32_t stack;
};

struct stack {
	uint64_t low, high; /* where the stack pointer has been seen */
	uint32_t top;       /* when it was last left */
	bool is_whole;      /* nothing lies beyond its words */
	uint64_t start;     /* the instruction that the thread began with, if so */
	/* What lies beyond its words, if a walk has said so and nothing has contradicted it. */
	VEC(uint64_t) claimed;
	bool has_claim, claim_is_whole;
};

struct shadow {
	VEC(struct pushed) words;
	VEC(struct stack) stacks;
	uint64_t refuted; /* claims that returns contradicted */
	uint64_t confirmed;
};

enum { NO_WORD = UINT32_MAX };

struct shadow_thread {
	bool known;
	uint32_t top, stack;
	bool has_changed; /* since then it has neither returned nor jumped: its function was called
			     on another stack */
	bool has_skipped; /* the same, and the stack pointer was set to beyond all that is known:
			     a jump may lead to any frame there */
	uint32_t popped;  /* a word that the function took off its stack by hand, and may take
			     back; NO_WORD: none */
	struct user_regs_struct last;
};

void shadow_clear(struct shadow *s);
/* The thread is at these registers, and nothing is known of its callers; `whole`: it has none. */
void shadow_begin(struct shadow *s, struct shadow_thread *t, const struct user_regs_struct *now,
		  bool whole);
/* The thread has executed the instruction at its last registers. `signalled`: a signal was
 * delivered to it instead. */
enum left {
	LEFT_NOT,
	LEFT_BY_RETURN, /* through a word that a call had pushed, or to the base's caller */
	LEFT_BY_WORD,   /* by a return through any other word, which is a jump */
};
enum left shadow_step(struct shadow *s, struct shadow_thread *t, const struct user_regs_struct *now,
		      enum instruction did, bool signalled);

#endif

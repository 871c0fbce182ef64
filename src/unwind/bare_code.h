/* bare_code.h - rows of functions without call-frame information, from their instructions.
 *
 * C libraries like musl, assembly, and code compiled without tables say nothing of their frames.
 * But at the first instruction of a function its frame is known, and each instruction tells what it
 * changes. All paths from there are followed, through branches, tables of jumps, and calls that
 * return. A row is made where nothing is left to doubt:
 *
 * - A function starts at its symbol, or where a call leads. A symbol that nothing calls, whose code
 *   never returns but jumps to an unknown place, is none: operations of interpreters are like that.
 * - Paths that meet have the same stack pointer, or another register tells the frame.
 * - The code behind a call belongs to the function if the callee is seen to return, or if a return
 *   is reached from there with the stack as it was at the start: behind a call that does not return
 *   a compiler puts anything, or the next function.
 * - Code is left out if it leads to a return with another stack than at the start, to a jump to an
 *   unknown place, or to bytes that are no instruction. So are two pieces of code that would need
 *   different stacks at one instruction.
 *
 * Where code that is left out keeps a frame pointer, and its function's symbol covers it, the row
 * is by that, and flagged UNWIND_GUESSED.
 *
 * x86-64 alone (machine_effects()). The bytes are not trusted: work and memory are bounded by
 * BARE_CODE_MAX bytes of code; what lies behind it, by address, has no rows. */
#ifndef UNWIND_BARE_CODE_H
#define UNWIND_BARE_CODE_H

#include "base/vec.h"
#include "unwind/code_file.h"
#include "unwind/row.h"

enum {
	BARE_CODE_MAX = 4 << 20,   /* bytes without call-frame information that are looked at, */
	BARE_CALLS_MAX = 16 << 20, /* and of the rest of the module, for calls, */
	BARE_CALLED_MIN = 1024,    /* if there is more than the start-up code of every file */
};

struct bare_row {
	uint64_t low, high; /* [low, high) */
	struct unwind_row row;
};
struct bare_rows { /* a VEC, by address, disjoint */
	struct bare_row *at;
	size_t n, cap;
};

struct bare_input {
	const struct code_file *file;
	/* Code that has no call-frame information, by address, disjoint. */
	const struct code_span *bare;
	size_t n_bare;
	/* Functions with call-frame information: their calls lead to others. */
	const struct code_span *functions;
	size_t n_functions;
};

/* ret->at is to be freed. Pieces of `bare` without any rule are left out; others are covered as a
 * whole, with UNWIND_CFA_NONE where there is no rule. */
void bare_code_rows(const struct bare_input *in, struct bare_rows *ret);

#endif

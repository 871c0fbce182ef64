/* branch_code.h - prints the instructions that ran between the branches of a sample, like perf
 * script:
 *
 *    parse+24:
 *    0000000000400318  insn: 75 ea                     # PRED 17 cycles [17]
 *    0000000000400304  insn: 48 89 e5
 *
 * Oldest first, up to the sample itself. A label marks the start of each new function. A branch is
 * followed by the CPU's information about it and, in brackets, the cycles so far. Code is read from
 * the files as they are now. */
#ifndef EXPORT_BRANCH_CODE_H
#define EXPORT_BRANCH_CODE_H

#include "base/sink.h"
#include "profile/detail.h"
#include "symbolize/program.h"

/* Begins with a newline and has none at its end; writes nothing if the sample has no branches.
 * `lengths`: print the length of each instruction. */
void branch_code_put(struct sink *out, struct program *g, const struct profile *p,
		     const struct sample *x, bool lengths);

#endif

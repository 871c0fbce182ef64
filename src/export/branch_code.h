/* branch_code.h - the instructions that ran between the branches of a sample, as perf script prints
 * them:
 *
 *		parse+24:
 *		0000000000400318	insn: 75 ea                   	# PRED 17 cycles [17]
 *		0000000000400304	insn: 48 89 e5
 *
 * Oldest first, up to the sample itself: a label where another function begins, at each branch what
 * the CPU said of it, the cycles so far in brackets. Code is that of the files as they are now. */
#ifndef EXPORT_BRANCH_CODE_H
#define EXPORT_BRANCH_CODE_H

#include "base/sink.h"
#include "profile/detail.h"
#include "symbolize/program.h"

/* Begins with a newline and ends without the last one; nothing if the sample has no branches.
 * `lengths`: behind each instruction how long it is. */
void branch_code_put(struct sink *out, struct program *g, const struct profile *p,
		     const struct sample *x, bool lengths);

#endif

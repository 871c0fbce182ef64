/* flow_lines.h - executions of source lines, counted like gcov: how often control came to the line
 * from elsewhere, plus the iterations of loops that lie on the line alone. */
#ifndef ANALYSIS_FLOW_LINES_H
#define ANALYSIS_FLOW_LINES_H

#include "analysis/flow.h"

struct flow_line {
	uint64_t count;
	bool is_measured;  /* the line has code in functions of the flow ... */
	bool is_elsewhere; /* ... and in other functions of their objects */
	bool is_known;     /* the count is known, or estimated */
	bool is_estimated; /* the count is that of blocks of optimized code */
	bool is_executed;  /* some code of the line was executed */
	bool starts_block; /* a counted block starts with the line */
};

/* The executions of each of n lines; to be freed. line_of [n_symbols]: the line of each place, or
 * NONE. */
struct flow_line *flow_lines(const struct flow *f, const struct symbols *s, const uint32_t *line_of,
			     size_t n);

#endif

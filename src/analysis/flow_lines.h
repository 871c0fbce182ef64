/* flow_lines.h - how often source lines were executed, counted as gcov does: how often control came
 * to the line from elsewhere, and how often it went round in a loop that lies on it alone. */
#ifndef ANALYSIS_FLOW_LINES_H
#define ANALYSIS_FLOW_LINES_H

#include "analysis/flow.h"

struct flow_line {
	uint64_t count;
	bool is_measured;  /* code of the line is in functions of the flow ... */
	bool is_elsewhere; /* ... and in others of their objects */
	bool is_known;     /* so is the count */
	bool is_executed;  /* some code of the line was */
	bool starts_block; /* a counted block begins with it */
};

/* Of each of n lines; to be freed. line_of [n_symbols]: the line of each place, or NONE. */
struct flow_line *flow_lines(const struct flow *f, const struct symbols *s, const uint32_t *line_of,
			     size_t n);

#endif

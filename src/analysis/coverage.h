/* coverage.h - what was measured, by source file and line: time, calls and executions of blocks.
 *
 * A line may hold several places (the parts of a for statement), and a place several blocks, so a
 * line has a list of counts: of the calls, if a function starts there, and of each block that does.
 * A line in the middle of a block has none of its own, but the block's is passed on to it where
 * that is asked for. */
#ifndef ANALYSIS_COVERAGE_H
#define ANALYSIS_COVERAGE_H

#include "analysis/blocks.h"
#include "analysis/callgraph.h"
#include "base/vec.h"
#include "profile/line_counts.h"

/* Which lines within a block are given the block's count. What holds in a function without counted
 * blocks is only that it was called so often, not that each line was executed. */
enum coverage_carry {
	CARRY_NONE,     /* only lines that a block starts on */
	CARRY_MEASURED, /* in functions with counted blocks, lines that none starts on */
	CARRY_CALLS,    /* the same; and all lines of other functions: that of their calls */
	CARRY_ALL,      /* all lines of all functions, to what their blocks say of them: gprof -x */
};

struct coverage_line {
	uint32_t line;
	uint32_t first_place, n_places; /* places[]: by address */
	uint32_t first_count, n_counts; /* counts[]: as they are to be listed */
	uint64_t sum;                   /* of the listed counts */
	uint64_t total;   /* of the calls and blocks that start here: how often it was executed */
	uint64_t most;    /* of the listed counts */
	uint64_t calls;   /* of functions that start here, recursion included */
	double self;      /* ticks */
	double inclusive; /* ticks of samples with the line on their stack; 0 without stacks */
	bool is_known;    /* counts are listed */
	bool is_executed;
	bool is_unsure; /* a function starts here that was executed, but its calls were not counted
			 */
};

struct coverage_file {
	const char *path; /* as in the debug information; lives as long as the symbols */
	uint32_t first_line, n_lines; /* lines[]: by number */
	uint64_t total;               /* of its lines */
	double self;                  /* ticks */
	bool is_executed;             /* some line of it is known to have been */
};

struct coverage {
	struct coverage_file *files; /* the newest in the symbol table first */
	size_t n_files;
	struct coverage_line *lines;
	size_t n_lines;
	symid *places; /* those with a source line */
	size_t n_places;
	VEC(uint64_t) counts;
	struct blocks *blocks;
	const struct callgraph *graph; /* borrowed */
};

/* How often lines were executed, for programs that have it otherwise. */
struct coverage_rules {
	const struct block_rules *blocks;
	void (*count)(struct coverage *c); /* fills in counts and times of all lines */
};

struct coverage_opts {
	const struct coverage_rules *rules; /* NULL: ours */
	enum coverage_carry carry;
	const uint8_t *wanted; /* [n_symbols] booleans: which places count; NULL: all */
	/* Sampled stacks and the places of their frames, for inclusive times; NULL: none. */
	const struct samples *samples;
	const struct line_counts *line_counts; /* in place of the profile's own; NULL: none */
	const symid *frame_places;
};

/* Looks up the source line of every symbol. Cannot fail. O(n log n) in places and blocks. */
struct coverage *coverage_new(const struct profile *p, struct symbols *s, const struct callgraph *g,
			      const struct coverage_opts *opts);
void coverage_free(struct coverage *c); /* NULL is fine */

/* Whether anything was measured in a function, whose own calls may not have been counted. */
bool coverage_was_executed(const struct callgraph *g, const struct blocks *b, symid function);

#endif

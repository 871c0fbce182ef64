/* coverage.h - measurements by source file and line: time, calls and executions of blocks.
 *
 * A line may have several places (the parts of a for statement), and a place several blocks. So a
 * line has a list of counts: the calls, if a function starts there, and the count of each block
 * that starts there. A line in the middle of a block has no count of its own, but can get the
 * block's. */
#ifndef ANALYSIS_COVERAGE_H
#define ANALYSIS_COVERAGE_H

#include "analysis/blocks.h"
#include "analysis/callgraph.h"
#include "base/vec.h"
#include "profile/line_counts.h"

/* Which lines within a block get the block's count. In a function without counted blocks only the
 * number of calls is known, not that each line was executed. */
enum coverage_carry {
	CARRY_NONE,     /* none: only lines with the start of a block have counts */
	CARRY_MEASURED, /* in functions with counted blocks: lines on which no block starts */
	CARRY_CALLS,    /* the same; all lines of other functions get the number of calls */
	CARRY_ALL,      /* all lines of all functions, whatever their blocks show: gprof -x */
};

struct coverage_line {
	uint32_t line;
	uint32_t first_place, n_places; /* range in places[]: by address */
	uint32_t first_count, n_counts; /* range in counts[]: in listing order */
	uint64_t sum;                   /* sum of the listed counts */
	uint64_t total;   /* executions: sum of calls and blocks that start on the line */
	uint64_t most;    /* largest of the listed counts */
	uint64_t calls;   /* calls of functions that start here, including recursion */
	double self;      /* ticks */
	double inclusive; /* ticks of samples with the line on their stack; 0 without stacks */
	bool is_known;    /* counts are listed */
	bool is_executed;
	bool is_unsure; /* a function that was executed starts here, but its calls were not counted
			 */
};

struct coverage_file {
	const char *path; /* as in the debug information; lives as long as the symbols */
	uint32_t first_line, n_lines; /* range in lines[]: by number */
	uint64_t total;               /* sum over its lines */
	double self;                  /* ticks */
	bool is_executed;             /* some line of it is known to have been executed */
	bool is_uncounted; /* a function of it was executed, and calls of none were counted: it was
			      compiled without counting */
};

struct coverage {
	struct coverage_file *files; /* in reverse order of the symbol table */
	size_t n_files;
	struct coverage_line *lines;
	size_t n_lines;
	symid *places; /* places with a source line */
	size_t n_places;
	VEC(uint64_t) counts;
	struct blocks *blocks;
	const struct callgraph *graph; /* borrowed */
};

/* Rules for executions of lines, for programs that differ from kin. */
struct coverage_rules {
	const struct block_rules *blocks;
	void (*count)(struct coverage *c); /* sets counts and times of all lines */
};

struct coverage_opts {
	const struct coverage_rules *rules; /* NULL: kin's own */
	enum coverage_carry carry;
	const uint8_t *wanted; /* [n_symbols] booleans: places that count; NULL: all */
	/* Sampled stacks and the program with their lines, for inclusive times; NULL: none. */
	const struct samples *samples;
	const struct program *program;
	const struct line_counts *line_counts; /* used instead of the profile's own; NULL: none */
};

/* Looks up the source line of every symbol. Cannot fail. O(n log n) in places and blocks. */
struct coverage *coverage_new(const struct profile *p, struct symbols *s, const struct callgraph *g,
			      const struct coverage_opts *opts);
void coverage_free(struct coverage *c); /* NULL is fine */

/* [n_places]: whether a sample has the place on its stack; to be freed. frame_places: of each
 * frame, or NONE. */
bool *coverage_on_stacks(const struct samples *s, const symid *frame_places, size_t n_places);

/* Whether a function has samples, calls or executed blocks, or is on a stack. Its own calls need
 * not have been counted. on_stacks: see coverage_on_stacks(); NULL: there are no stacks. */
bool coverage_was_executed(const struct callgraph *g, const struct blocks *b, const bool *on_stacks,
			   symid function);

#endif

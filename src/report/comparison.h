/* comparison.h - two sides, each of one recording or several, function by function.
 *
 *	struct comparison *c = comparison_new(&opts);
 *	... comparison_add(c, REPEATS_BEFORE, &recording), again for each, and of the other side ...
 *	comparison_finish(c);
 *	... c->at.at[i], comparison_effect(c, &c->at.at[i]) ...
 *
 * Recordings may be freed once they are added: names and numbers are kept, no samples. */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "analysis/repeats.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "kin/table.h"

struct kin_error;
struct report_input;

/* One recording. The tables are the report "flat" with the columns of comparison_columns, or, by
 * line, "lines" with those of comparison_line_columns. */
struct comparison_recording {
	struct kin_table *flat;
	struct kin_table *by_run;         /* the same by run; NULL if there is one run only */
	size_t n_runs;                    /* >= 1 */
	const struct report_input *calls; /* whose graph says who called whom; NULL: not known */
	double per_sample;                /* what a sample stands for, in ticks */
	bool sampled; /* it is of a program that ran, and took a time that another run may not */
	const char *started; /* when, as text that sorts by time; NULL: not known */
};

struct comparison_opts {
	bool inclusive; /* times with callees */
	bool shares;    /* of each side's total, instead of times */
	bool paired;    /* recording i of both sides were made one after the other: A B B A ... */
	bool by_line;
};

extern const char *const comparison_columns[], *const comparison_line_columns[];

/* A function of one side. */
struct compared_side {
	uint32_t slot;                    /* whose times it has; NONE: it is not there */
	double time;                      /* of all runs */
	double calls;                     /* a run, on average */
	uint64_t least_calls, most_calls; /* in a recording, divided by its runs */
};

enum function_fate { /* what became of it, as far as names and counts say */
		     FATE_SAME,
		     FATE_NEW, /* called or seen after, and not before */
		     FATE_GONE,
		     FATE_RENAMED,  /* `other` is what it was called */
		     FATE_SPLIT,    /* a part of `other`, which was one before */
		     FATE_JOINED,   /* it was a part of `other`, which is one now */
		     FATE_INLINED,  /* inlined wherever it is called, and was not before */
		     FATE_OUTLINED, /* the other way round */
};

struct compared_function {
	strid name, object;
	struct compared_side of[REPEATS_SIDES];
	enum function_fate fate;
	strid other;
};

struct measured { /* of a function (its slot) in one run */
	uint32_t slot, run;
	double time;
};

struct compared_call { /* from a function, and what the callee took in these calls; of a run */
	uint32_t callee, caller; /* slots; caller NONE: not known */
	double calls, time;
};

struct compared_recording {
	size_t first_run, n_runs;
	char *started; /* NULL: not known */
};

struct comparison_side {
	VEC(struct measured) times;      /* by slot, when finished */
	VEC(double) totals;              /* of each run */
	VEC(struct compared_call) calls; /* by callee and caller, when finished */
	VEC(struct compared_recording) recordings;
	double samples, weight; /* sum over recordings: how many, and what a sample stands for */
	bool sampled;           /* all of them were */
	bool counted;           /* all of them count calls */
	double rate;
	bool traced; /* counted, and what went along each call was measured, of all of them */
};

struct comparison {
	struct comparison_opts o;
	struct strtab *strings;
	struct map64 index; /* of name and object */
	VEC(struct compared_function) at;
	struct comparison_side side[REPEATS_SIDES];
	char *unit; /* "seconds"; NULL: not the same for all */
	struct repeats repeats;
	bool *first;                    /* of repeats */
	double *scratch[REPEATS_SIDES]; /* values of one function */
};

struct comparison *comparison_new(const struct comparison_opts *o);
void comparison_free(struct comparison *c);

/* KIN_ERROR_MISMATCH if it does not count what those before it do, KIN_ERROR_UNSUPPORTED if it has
 * not what is asked for. */
MUST_CHECK struct kin_error *comparison_add(struct comparison *c, int side,
					    const struct comparison_recording *r);
/* When all are added, at least one of each side. KIN_ERROR_USAGE if they are to be paired and
 * cannot be. */
MUST_CHECK struct kin_error *comparison_finish(struct comparison *c);

struct effect {
	double before, after;     /* of a run on average; or shares of the total */
	struct contrast change;   /* after - before */
	struct contrast relative; /* after / before - 1; value NAN if there is nothing before */
};

/* Of a function; or of all together. */
struct effect comparison_effect(struct comparison *c, const struct compared_function *f);
struct effect comparison_total(struct comparison *c);

/* Why the time of a function is another one: it is that of its calls from each caller, which is how
 * many calls there are, times the part that is from there, times what one from there takes. The
 * first factor, then the second, then the third becomes that of after; so the three parts add up
 * to the change. `caller`: of the second, the one that makes most of it. */
struct causes {
	double by_calls, by_callers, by_cost;
	bool traced;      /* else callers are not known, and what they make is in by_cost */
	strid caller;     /* 0: none */
	double of_caller; /* how much of by_callers is due to it */
	double more;      /* by how much its part of the calls grew, -1 to 1 */
};
/* False where calls of both sides are not known, or there are none. */
bool comparison_causes(const struct comparison *c, const struct compared_function *f,
		       const struct effect *e, struct causes *ret);

/* For comparison_add() and comparison_finish(). */
uint32_t comparison_slot(struct comparison *c, strid name, strid object);
void comparison_add_calls(struct comparison *c, int side, const struct comparison_recording *r);
void comparison_order_calls(struct comparison *c);

/* Runs of a side, and the number of values that its means are of. */
size_t comparison_runs(const struct comparison *c, int side);
double comparison_mean_total(const struct comparison *c, int side);
/* Whether chance is known from repetitions on both sides, and not from sampling alone. */
bool comparison_is_repeated(const struct comparison *c);
static inline bool comparison_is_counted(const struct comparison *c)
{
	return c->side[REPEATS_BEFORE].counted && c->side[REPEATS_AFTER].counted;
}
/* How many samples there are of a function on both sides. */
double comparison_samples(const struct comparison *c, const struct compared_function *f);
static inline bool compared_is_there(const struct compared_function *f)
{
	return f->of[REPEATS_BEFORE].slot != NONE || f->of[REPEATS_AFTER].slot != NONE;
}

/* How often chance explains each of these effects, all of them together considered; for those with
 * fewer samples than any test could tell from chance: 1. */
void comparison_correct(double *p, const double *samples, size_t n);

#endif

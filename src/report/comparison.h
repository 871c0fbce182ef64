/* comparison.h - compares two sides of one or several recordings, function by function.
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

struct kept;
struct kept_object;
struct kin_error;
struct report_input;

/* One recording. The tables are the report "flat" with the columns of comparison_columns, or, by
 * line, "lines" with those of comparison_line_columns. */
struct comparison_recording {
	struct kin_table *flat;
	struct kin_table *by_run; /* the same with a row per function and run; NULL if there is only
				     one run */
	size_t n_runs;            /* >= 1 */
	const struct report_input *calls; /* its graph has the calls; NULL: they are not known */
	double per_sample;                /* weight of a sample in ticks */
	bool sampled; /* samples of a program that ran: another run may take another time */
	bool is_sum;  /* several recordings were added up; if n_runs is 1, nothing tells how many */
	const char *started; /* its start, as text that sorts by time; NULL: not known */
	const char *event;   /* what was counted, "cycles:u"; NULL: time, or not known */
	bool inner_only;     /* the data has no calls from outside of the program: gmon.out */
};

struct comparison_opts {
	bool inclusive; /* inclusive times */
	bool shares;    /* shares of each side's total, instead of times */
	bool paired; /* the i-th recordings of both sides were made one after the other: A B B A ...
		      */
	bool by_line;
};

extern const char *const comparison_columns[], *const comparison_line_columns[];

struct call_counts {
	double mean; /* per run */
	/* Of a run. Of runs of one recording the sum is known: what they differ by at least. */
	uint64_t least, most;
	uint64_t now; /* of the recording that is being read */
};

/* A function of one side. */
struct compared_side {
	uint32_t slot; /* the slot with its times; NONE: the side does not have it */
	double time;   /* over all runs */
	struct call_counts calls;
	struct call_counts inner_calls; /* those from functions of its own object */
};

enum function_fate { /* how a function differs between the sides, by names, counts and code */
		     FATE_SAME,
		     FATE_NEW, /* called or sampled only after */
		     FATE_GONE,
		     FATE_RENAMED,   /* `other` is its former name */
		     FATE_SAME_CODE, /* the same, by its instructions: there is no other likeness */
		     FATE_SPLIT,     /* a part of `other`, which was one function before */
		     FATE_JOINED,    /* formerly a part of `other`, which is one function now */
		     FATE_INLINED,   /* now inlined wherever it is called, and not before */
		     FATE_OUTLINED,  /* the reverse */
};

struct compared_function {
	strid name, object;
	struct compared_side of[REPEATS_SIDES];
	enum function_fate fate;
	strid other;
	bool added_up; /* calls of several functions of that name in the object */
};

struct measured { /* of a function (its slot) in one run */
	uint32_t slot, run;
	double time;
};

struct compared_call { /* calls of a function from another in one run, and the time of the callee in
			  these calls */
	uint32_t callee, caller; /* slots; caller NONE: not known */
	double calls, time;
};

struct compared_code { /* where the code of a function is */
	uint32_t slot;
	strid path, build_id; /* of the file that it is in; 0: it is in none; it has none */
	/* In `kept` of the side. Without a path: what has the code; NULL: it is nowhere. With one:
	 * what tells whether the file is still the same; NULL: its build id does. */
	const struct kept_object *kept;
	uint64_t low, high; /* addresses of the file */
};

struct compared_recording {
	size_t first_run, n_runs;
	char *started; /* NULL: not known */
};

struct comparison_side {
	VEC(struct measured) times;      /* by slot, once finished */
	VEC(double) totals;              /* by run */
	VEC(struct compared_call) calls; /* by callee and caller, once finished */
	VEC(struct compared_recording) recordings;
	VEC(struct compared_code) code; /* of the first recording */
	struct kept *kept;              /* what that keeps; NULL: nothing */
	size_t unread; /* functions that the other side lacks and whose code is nowhere, if both
			  sides have some that the other lacks */
	double samples, weight; /* sums over recordings: number of samples, weight of a sample */
	bool sampled;           /* all recordings have samples */
	bool is_sum;            /* one of them is a sum of an unknown number of recordings */
	bool counted;           /* all recordings count calls */
	bool inner_only;        /* one of them has none from outside of the program */
	double rate;
	bool traced; /* all recordings count calls and measure the time along each */
};

struct comparison {
	struct comparison_opts o;
	struct strtab *strings;
	struct map64 index; /* key: name and object */
	VEC(struct compared_function) at;
	struct comparison_side side[REPEATS_SIDES];
	char *unit;  /* "seconds"; NULL: recordings differ */
	char *event; /* the first one that is known; NULL: none is */
	struct repeats repeats;
	bool *first;                    /* of repeats */
	bool inner_only;                /* calls from outside are left out, on both sides */
	double *scratch[REPEATS_SIDES]; /* scratch: values of one function */
};

struct comparison *comparison_new(const struct comparison_opts *o);
void comparison_free(struct comparison *c);

/* Adds a recording. KIN_ERROR_MISMATCH if it counts something else than the previous ones,
 * KIN_ERROR_UNSUPPORTED if it lacks the data needed. */
MUST_CHECK struct kin_error *comparison_add(struct comparison *c, int side,
					    const struct comparison_recording *r);
/* Call it when all are added, at least one on each side. KIN_ERROR_USAGE if they should be paired
 * and cannot be. */
MUST_CHECK struct kin_error *comparison_finish(struct comparison *c);

struct effect {
	double before, after;   /* averages per run; or shares of the total */
	struct contrast change; /* after - before */
	double growth;          /* after / before - 1; NAN if there is nothing before */
	double single;          /* standard deviation that a pair adds to it, as a share of after */
};

/* The effect on a function; f NULL: on the total. */
struct effect comparison_effect(struct comparison *c, const struct compared_function *f);
/* The interval that has the true growth in it with this confidence (0..1). There must be something
 * before. It leaves out 0 if, and only if, that of the change does. */
struct growth_interval {
	double low, high; /* high: INFINITY if before may be nothing */
};
struct growth_interval comparison_growth(struct comparison *c, const struct compared_function *f,
					 double confidence);
/* after - (1 + limit) * before: above 0 if it has grown by more than the limit. */
struct contrast comparison_beyond(struct comparison *c, const struct compared_function *f,
				  double limit);

/* Causes of a changed time. The time is summed over callers: number of calls, times the caller's
 * share of them, times the cost of one call from there. The first factor, then the second, then the
 * third are changed to those of `after`, so the three parts add up to the whole change. `caller`:
 * the one with the largest part of the second. */
struct causes {
	double by_calls, by_callers, by_cost;
	bool traced;      /* otherwise callers are not known, and their part is in by_cost */
	strid caller;     /* 0: none */
	double of_caller; /* its part of by_callers */
	double more;      /* change of its share of the calls, -1 to 1 */
};
/* False if calls of either side are not known, or there are none. */
bool comparison_causes(const struct comparison *c, const struct compared_function *f,
		       const struct effect *e, struct causes *ret);

/* Used by comparison_add() and comparison_finish(). */
uint32_t comparison_slot(struct comparison *c, strid name, strid object);
void comparison_add_calls(struct comparison *c, int side, const struct comparison_recording *r);
void comparison_order_calls(struct comparison *c);
struct calls_by_kind {  /* of a function */
	uint64_t outer; /* from other objects, or from code without a place */
	uint64_t own;   /* by itself */
};
/* [slot] of *n; to be freed. */
struct calls_by_kind *comparison_kinds_of_calls(struct comparison *c,
						const struct comparison_recording *r, size_t *n);
void comparison_add_code(struct comparison *c, int side, const struct comparison_recording *r);
void comparison_match_code(struct comparison *c);
/* Whether this side alone has the function. */
static inline bool comparison_is_alone(const struct compared_function *f, int side)
{
	return f->of[side].slot != NONE && f->of[!side].slot == NONE;
}
/* Makes one function of two that are alone; it has the name of `after`. */
void comparison_join(struct comparison *c, uint32_t before, uint32_t after,
		     enum function_fate fate);

/* The number of runs of a side, and the number of values that its means are made of. */
size_t comparison_runs(const struct comparison *c, int side);
double comparison_mean_total(const struct comparison *c, int side);
/* Whether errors come from repetitions on both sides, and not from sampling alone. */
bool comparison_is_repeated(const struct comparison *c);
static inline bool comparison_is_counted(const struct comparison *c)
{
	return c->side[REPEATS_BEFORE].counted && c->side[REPEATS_AFTER].counted;
}
/* The number of samples of a function on both sides. */
double comparison_samples(const struct comparison *c, const struct compared_function *f);
static inline bool compared_is_there(const struct compared_function *f)
{
	return f->of[REPEATS_BEFORE].slot != NONE || f->of[REPEATS_AFTER].slot != NONE;
}

/* Corrects the probabilities that chance explains these effects for the number of effects; for
 * effects with too few samples for any test: 1. */
void comparison_correct(double *p, const double *samples, size_t n);

#endif

/* comparison.h - compares two sides of one or several recordings, function by function.
 *
 *	struct comparison *c = comparison_new(&opts);
 *	... comparison_add(c, REPEATS_BEFORE, &recording), for each recording of both sides ...
 *	comparison_finish(c);
 *	... c->at.at[i], comparison_effect(c, &c->at.at[i]) ...
 *
 * Recordings may be freed once they are added: names and numbers are kept, samples are not. */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "analysis/repeats.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "kin/table.h"
#include "symbolize/symbols.h"

struct kept;
struct kept_object;
struct kin_error;
struct report_input;

/* One recording. The tables are those of the report "flat" with the columns comparison_columns, or,
 * by line, of "lines" with the columns comparison_line_columns. */
struct comparison_recording {
	struct kin_table *flat;
	struct kin_table *by_run; /* the same with a row per function and run; NULL if there is only
				     one run */
	size_t n_runs;            /* >= 1 */
	const struct report_input *calls; /* its graph has the calls; NULL: they are not known */
	double per_sample;                /* weight of a sample in ticks */
	bool sampled;        /* made of samples of a program: another run may take another time */
	bool is_sum;         /* a sum of recordings; if n_runs is 1, their number is not known */
	const char *started; /* its start, as text that sorts by time; NULL: not known */
	const char *event;   /* the counted event, "cycles:u"; NULL: time, or not known */
	bool inner_only;     /* the data has no calls from outside the program: gmon.out */
	bool lacks_time;     /* much of the CPU time was not sampled: its row counts, on both sides;
			      * otherwise it is left out */
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
	/* Calls in one run. Of runs in one recording only the sum is known; these are then the
	 * closest numbers that have that sum. */
	uint64_t least, most;
	uint64_t now; /* calls in the recording that is being read */
};

/* A function on one side. */
struct compared_side {
	uint32_t slot; /* the slot with its times; NONE: the side lacks the function */
	double time;   /* over all runs */
	struct call_counts calls;
	struct call_counts inner_calls; /* calls from functions of the same object */
};

enum function_fate { /* how a function differs between the sides, by names, counts and code */
		     FATE_SAME,
		     FATE_NEW, /* called or sampled only after */
		     FATE_GONE,
		     FATE_RENAMED,   /* `other` is its former name */
		     FATE_SAME_CODE, /* found by equal instructions; the name does not tell */
		     FATE_SPLIT,     /* part of `other`, which was one function before */
		     FATE_JOINED,    /* was part of `other`, which is one function now */
		     FATE_INLINED,   /* now inlined wherever it is called, and not before */
		     FATE_OUTLINED,  /* the reverse */
};

struct compared_function {
	strid name, object;
	strid apart; /* the name with the source file, of a static function; 0: not known */
	struct compared_side of[REPEATS_SIDES];
	enum function_fate fate;
	strid other;
	bool added_up; /* sums over several functions of that name in the object */
};

struct measured { /* time of a function (its slot) in one run */
	uint32_t slot, run;
	double time;
};

/* Calls from one function to another in one run, and the time of the callee in them. */
struct compared_call {
	uint32_t callee, caller; /* slots; caller NONE: not known */
	double calls, time;
};

struct compared_code { /* location of a function's code */
	uint32_t slot;
	strid path, build_id; /* of the file with the code; path 0: not in a file; build_id 0: the
				 file has none */
	/* An object in `kept` of the side. Without a path: it has the code; NULL: the code is not
	 * available. With a path: it tells whether the file is still the same; NULL: the build id
	 * tells that. */
	const struct kept_object *kept;
	uint64_t low, high; /* addresses in the file */
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
	VEC(struct compared_code) code; /* code of the first recording's functions */
	struct kept *kept;              /* objects kept in that recording; NULL: none */
	/* If both sides have functions that the other lacks: the number of those whose code is not
	 * available. */
	size_t unread;
	double samples, weight; /* sums over recordings: number of samples; weight of a sample */
	bool sampled;           /* all recordings have samples */
	bool is_sum;            /* one recording is a sum of an unknown number of recordings */
	bool counted;           /* all recordings count calls */
	bool inner_only;        /* one recording has no calls from outside the program */
	double rate;
	bool traced; /* all recordings count calls and measure the time of each arc */
};

struct comparison {
	struct comparison_opts o;
	struct strtab *strings;
	struct map64 index; /* key: name and object */
	VEC(struct compared_function) at;
	struct comparison_side side[REPEATS_SIDES];
	char *unit;  /* "seconds"; NULL: recordings have different units */
	char *event; /* the first event that is known; NULL: none is */
	struct repeats repeats;
	bool *first;                    /* repeats.first */
	bool inner_only;                /* calls from outside are left out, on both sides */
	bool lacks_time;                /* some recording does */
	double *scratch[REPEATS_SIDES]; /* scratch: values of one function */
};

struct comparison *comparison_new(const struct comparison_opts *o);
void comparison_free(struct comparison *c);

/* Adds a recording. KIN_ERROR_MISMATCH: it counts something else than the previous ones.
 * KIN_ERROR_UNSUPPORTED: it lacks needed data. */
MUST_CHECK struct kin_error *comparison_add(struct comparison *c, int side,
					    const struct comparison_recording *r);
/* Ends adding; there must be at least one recording on each side. KIN_ERROR_USAGE: recordings
 * should be paired and cannot be. */
MUST_CHECK struct kin_error *comparison_finish(struct comparison *c);

struct effect {
	double before, after;   /* means over runs; or shares of the total */
	struct contrast change; /* after - before */
	double growth;          /* after / before - 1; NAN if before is 0 */
	double single; /* standard deviation that a pair adds to the change, as a share of after */
};

/* The effect on a function; f NULL: on the total. */
struct effect comparison_effect(struct comparison *c, const struct compared_function *f);
/* The interval that contains the true growth with this confidence (0..1). The time before must be
 * above 0. The interval excludes 0 if, and only if, the interval of the change does. */
struct growth_interval {
	double low, high; /* high: INFINITY if the true time before may be 0 */
};
struct growth_interval comparison_growth(struct comparison *c, const struct compared_function *f,
					 double confidence);
/* after - (1 + limit) * before: above 0 if the function has grown by more than the limit. */
struct contrast comparison_beyond(struct comparison *c, const struct compared_function *f,
				  double limit);

/* Causes of a changed time. A function's time is a sum over its callers: (number of calls) * (the
 * caller's share of the calls) * (cost of one call by that caller). The first, second and third
 * factor are replaced by their values in `after`, one after the other, so the three parts add up to
 * the whole change. `caller`: the one with the largest part of the second. */
struct causes {
	double by_calls, by_callers, by_cost;
	bool traced;      /* false: callers are not known, and their part is in by_cost */
	strid caller;     /* 0: none */
	double of_caller; /* the caller's part of by_callers */
	double more;      /* change of the caller's share of the calls, -1 to 1 */
};
/* False if one side did not count calls, or has none. */
bool comparison_causes(const struct comparison *c, const struct compared_function *f,
		       const struct effect *e, struct causes *ret);

/* ---- for the files of comparison.c: used by comparison_add() and comparison_finish() ---- */
/* file: of a static function, which it tells from others of its name; NULL: not known. */
uint32_t comparison_slot(struct comparison *c, strid name, strid object, const char *file);
/* That of a symbol of r->calls. */
uint32_t comparison_slot_of(struct comparison *c, const struct comparison_recording *r, symid id);
/* Gives functions that share name and object names with their files. */
void comparison_tell_apart(struct comparison *c);
void comparison_add_calls(struct comparison *c, int side, const struct comparison_recording *r);
void comparison_order_calls(struct comparison *c);
struct calls_by_kind {  /* calls of a function */
	uint64_t outer; /* from other objects, or from outside the known code */
	uint64_t own;   /* from itself */
};
/* Returns [*n], by slot; to be freed. */
struct calls_by_kind *comparison_kinds_of_calls(struct comparison *c,
						const struct comparison_recording *r, size_t *n);
void comparison_add_code(struct comparison *c, int side, const struct comparison_recording *r);
void comparison_match_code(struct comparison *c);
/* Whether only this side has the function. */
static inline bool comparison_is_alone(const struct compared_function *f, int side)
{
	return f->of[side].slot != NONE && f->of[!side].slot == NONE;
}
/* Joins two functions, each of which only one side has, into one with the name of `after`. */
void comparison_join(struct comparison *c, uint32_t before, uint32_t after,
		     enum function_fate fate);

/* The number of runs of a side, and the mean of their totals. */
size_t comparison_runs(const struct comparison *c, int side);
double comparison_mean_total(const struct comparison *c, int side);
/* Whether errors are derived from repetitions on both sides, and not from sampling alone. */
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

/* Corrects p-values for the number of effects that are tested. Effects with too few samples for any
 * test get 1. */
void comparison_correct(double *p, const double *samples, size_t n);

#endif

/* sum_rows.h - a profile as table rows: sums of its samples by stack and time, and the rows they
 * refer to, each with an id computed from its contents.
 *
 * Equal stacks have the same id on every host and in every recording, so that recordings are summed
 * by id. Stacks do not consist of addresses but of functions, source lines and inlined functions,
 * so stacks that no report distinguishes are one. doc/fleet.md describes the tables. */
#ifndef FORMATS_SUM_ROWS_H
#define FORMATS_SUM_ROWS_H

#include "base/vec.h"
#include "kin/samples.h"

struct rows_event {
	uint64_t id;
	const char *name, *unit; /* as in struct kin_event */
	uint8_t kind;            /* enum kin_event_kind */
	uint64_t period, frequency;
};

enum rows_function_flags {
	ROWS_UNNAMED = 1, /* `name` is what reports show for code without a name */
	ROWS_MAIN = 2,    /* the object is the executable of a process */
};

struct rows_function {
	uint64_t id;
	const char *name; /* linkage name, or as shown by reports: rows_opts */
	const char *file; /* source file of `line`; "": not known */
	uint32_t line;    /* first line; 0: not known */
	const char *object, *build_id;
	uint8_t kind;     /* enum kin_object_kind */
	uint8_t flags;    /* enum rows_function_flags */
	uint64_t address; /* start address in the file; 0: not known, or not in a file */
};

enum rows_frame_flags {
	ROWS_INLINED = 1, /* inlined into its caller, the frame before it */
	ROWS_KERNEL = 2,
	ROWS_CALLER_GUESSED = 4, /* its caller was found by a heuristic */
};

struct rows_frame { /* a location within a function */
	uint64_t id, function;
	const char *file; /* source file of `line`; "": not known */
	uint32_t line;    /* 0: not known, or an inlined call is made here */
	uint8_t flags;    /* enum rows_frame_flags */
	uint64_t address; /* for code without a name; otherwise 0 */
};

enum rows_stack_flags {
	ROWS_CUT = 1, /* the stack is incomplete, as in struct kin_sample */
	ROWS_GUESSED = 2,
};

struct rows_stack {
	uint64_t id;
	const char *comm; /* the thread's name */
	uint8_t flags;    /* enum rows_stack_flags */
	size_t first, n;  /* range in rows.path, outermost first */
};

struct rows_sum {
	uint32_t bucket; /* start of the time bucket, in seconds since 1970 */
	uint64_t event, stack;
	uint64_t weight, count; /* saturate at the largest number */
};

struct rows {
	VEC(struct rows_event) events;
	VEC(struct rows_function) functions;
	VEC(struct rows_frame) frames;
	VEC(struct rows_stack) stacks;
	VEC(uint32_t) path;          /* indices of frames */
	VEC(struct rows_sum) sums;   /* by event, bucket and stack, distinct */
	struct kin_samples *samples; /* owns the strings */
	uint64_t made_of;            /* hash of all summed data */
};

struct rows_opts {
	uint32_t bucket_s; /* time buckets of sums: multiples of this many seconds since 1970; 0: 60
			    */
	uint32_t now_s;    /* since 1970, for samples without a time */
	bool shown_names;  /* function names as shown by reports */
};

/* Errors: there are no samples, no memory; or names are missing that should exist. Keeps the
 * profile alive. */
MUST_CHECK struct kin_error *rows_of(struct kin_profile *profile, const struct rows_opts *opts,
				     struct rows *ret);
void rows_done(struct rows *r);

/* Append a row in RowBinary, columns in the order of doc/fleet.md. */
struct row_buffer;
void rows_put_function(const struct rows_function *f, struct row_buffer *ret);
void rows_put_frame(const struct rows_frame *f, struct row_buffer *ret);

#endif

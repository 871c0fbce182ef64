/* fleet_rows.h - a profile as rows of tables: sums of its samples by stack and time, and what they
 * refer to, each with an id made of its contents.
 *
 * The same stack has the same id on every host and in every recording, so that sums of many
 * recordings are sums by id. What a stack is made of are not addresses but what they mean: the
 * function, its source line, what was inlined there. So stacks that no report tells apart are one.
 * doc/fleet.md describes the tables. */
#ifndef FLEET_FLEET_ROWS_H
#define FLEET_FLEET_ROWS_H

#include "base/vec.h"
#include "kin/samples.h"

struct rows_event {
	uint64_t id;
	const char *name, *unit; /* as in struct kin_event */
	uint8_t kind;            /* enum kin_event_kind */
	uint64_t period, frequency;
};

enum rows_function_flags {
	ROWS_UNNAMED = 1, /* no name: `name` is what reports show instead of one */
	ROWS_MAIN = 2,    /* the object is the executable of its process */
};

struct rows_function {
	uint64_t id;
	const char *name; /* as the linker knows it, or as reports show it: rows_opts */
	const char *file; /* of its first line; "": not known */
	uint32_t line;    /* 0: not known */
	const char *object, *build_id;
	uint8_t kind;     /* enum kin_object_kind */
	uint8_t flags;    /* enum rows_function_flags */
	uint64_t address; /* where it begins in a file; 0: not known, or not in one */
};

enum rows_frame_flags {
	ROWS_INLINED = 1, /* into the frame before it, its caller */
	ROWS_KERNEL = 2,
	ROWS_CALLER_GUESSED = 4, /* its caller was found by a heuristic */
};

struct rows_frame { /* a place in a function */
	uint64_t id, function;
	const char *file; /* of the line; "": not known */
	uint32_t line;    /* 0: not known, or an inlined call is there */
	uint8_t flags;    /* enum rows_frame_flags */
	uint64_t address; /* of code without a name; else 0 */
};

enum rows_stack_flags {
	ROWS_CUT = 1, /* as in struct kin_sample */
	ROWS_GUESSED = 2,
};

struct rows_stack {
	uint64_t id;
	const char *comm; /* the thread's name */
	uint8_t flags;    /* enum rows_stack_flags */
	size_t first, n;  /* of rows.path, outermost first */
};

struct rows_sum {
	uint32_t bucket; /* seconds since 1970 at which the stretch of time begins */
	uint64_t event, stack;
	uint64_t weight, count; /* the largest number stands for all that are larger */
};

struct rows {
	VEC(struct rows_event) events;
	VEC(struct rows_function) functions;
	VEC(struct rows_frame) frames;
	VEC(struct rows_stack) stacks;
	VEC(uint32_t) path;          /* indices of frames */
	VEC(struct rows_sum) sums;   /* by event, bucket and stack, each once */
	struct kin_samples *samples; /* owns the texts */
	uint64_t made_of; /* a hash of what was summed: the same only for the same data */
};

struct rows_opts {
	uint32_t bucket_s; /* of sums: multiples of so many seconds since 1970; 0: 60 */
	uint32_t now_s;    /* the time of samples that do not say when, since 1970 */
	bool shown_names;  /* of functions: as reports show them */
};

/* Errors: there are no samples, no memory; or why there are no names though there should be. Keeps
 * the profile. */
MUST_CHECK struct kin_error *rows_of(struct kin_profile *profile, const struct rows_opts *opts,
				     struct rows *ret);
void rows_done(struct rows *r);

/* As RowBinary, in the order of doc/fleet.md. */
struct http_bytes;
void rows_put_function(const struct rows_function *f, struct http_bytes *ret);
void rows_put_frame(const struct rows_frame *f, struct http_bytes *ret);

#endif

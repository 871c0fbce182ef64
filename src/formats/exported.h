/* exported.h - properties of a profile that every writer needs before it goes through the samples.
 */
#ifndef FORMATS_EXPORTED_H
#define FORMATS_EXPORTED_H

#include "base/base.h"
#include "base/map64.h"
#include "base/vec.h"
#include "kin/samples.h"

struct exported {
	struct kin_samples *samples; /* rewound */
	uint32_t *events;            /* [n_events]: events with samples, in the data's order */
	size_t n_events;             /* at least 1 */
	uint32_t *column;            /* by event id: index in events[] */
	size_t main; /* index in events[] of the event whose times are exported: the first that
			counts time on a CPU, or else the first */
	char *title; /* title of the profile; "" if it is not known */
};

/* The error of a profile without samples, KIN_ERROR_UNSUPPORTED. With n_events not 0 its events
 * have no samples, or none are left; otherwise it has only counts. */
MUST_CHECK struct kin_error *exported_nothing(size_t n_events);

/* KIN_ERROR_UNSUPPORTED: the profile has no samples. */
MUST_CHECK struct kin_error *exported_open(struct kin_profile *profile,
					   const struct kin_export_opts *opts,
					   struct exported *ret);
/* Returns why existing names could not be read, or NULL. */
MUST_CHECK struct kin_error *exported_close(struct exported *x);

/* Opens the profile, calls `write` to go through it, and closes it. `own` is the writer's struct of
 * `size` bytes, zero except for the struct exported at its start. */
MUST_CHECK struct kin_error *exported_write(struct kin_profile *profile,
					    const struct kin_export_opts *opts, size_t size,
					    void (*write)(void *own, FILE *out), FILE *out);

/* ---- places: an address with the functions inlined there ---- */

struct exported_place { /* a location of kin's samples */
	uint32_t location;
	uint32_t into; /* index of the one that its outermost function is inlined into, as data may
			  have inlined functions as locations of their own; 0: none */
	uint32_t id;   /* 0: nothing but what is inlined into it was asked for */
};

struct exported_places { /* zero: none yet */
	VEC(struct exported_place) at;
	struct map64 index;  /* MAP64_PAIR(location, into) */
	VEC(uint32_t) by_id; /* index of each place; ids begin with 1 */
	VEC(uint32_t) chain;
	uint32_t *alone; /* [location]: id of its place if it is not inlined; 0: not known yet */
};

/* exported_place_of() of a place that is new, or has inlined functions in frames of their own. */
uint32_t exported_new_place(struct exported *x, struct exported_places *p, uint32_t stack,
			    uint32_t *caller);

/* The id of the place that a stack ends in; *caller: the stack that called its outermost function.
 */
static inline uint32_t exported_place_of(struct exported *x, struct exported_places *p,
					 uint32_t stack, uint32_t *caller)
{
	const struct kin_stack *at = kin_samples_stack(x->samples, stack);
	uint32_t id = p->alone ? p->alone[at->location] : 0;
	*caller = at->caller;
	return id ? id : exported_new_place(x, p, stack, caller);
}

void exported_places_done(struct exported_places *p);

static inline const struct kin_event *exported_event(const struct exported *x, size_t column)
{
	return kin_samples_event(x->samples, x->events[column]);
}

/* The object's short name: "make", "[unknown]". */
const char *exported_object_name(const struct exported *x, uint32_t object);
/* "make/1234", or the part that is known. To be freed. */
char *exported_thread_name(const struct exported *x, uint32_t thread);

#endif

/* exported.h - properties of a profile that every writer needs before it goes through the samples.
 */
#ifndef FORMATS_EXPORTED_H
#define FORMATS_EXPORTED_H

#include "base/base.h"
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

static inline const struct kin_event *exported_event(const struct exported *x, size_t column)
{
	return kin_samples_event(x->samples, x->events[column]);
}

/* The object's short name: "make", "[unknown]". */
const char *exported_object_name(const struct exported *x, uint32_t object);
/* "make/1234", or the part that is known. To be freed. */
char *exported_thread_name(const struct exported *x, uint32_t thread);

#endif

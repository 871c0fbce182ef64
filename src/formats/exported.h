/* exported.h - what every writer needs to know of a profile before it goes through the samples. */
#ifndef FORMATS_EXPORTED_H
#define FORMATS_EXPORTED_H

#include "base/base.h"
#include "kin/samples.h"

struct exported {
	struct kin_samples *samples; /* rewound */
	uint32_t *events;            /* [n_events]: those that have samples, in the data's order */
	size_t n_events;             /* at least 1 */
	uint32_t *column;            /* by event id: its place in events[] */
	size_t main; /* of events[]: what times are of: the first that counts time on a CPU, or the
			first */
	char *title; /* of what was profiled; "" if that is not known */
};

/* KIN_ERROR_UNSUPPORTED: there are no samples. */
MUST_CHECK struct kin_error *exported_open(struct kin_profile *profile,
					   const struct kin_export_opts *opts,
					   struct exported *ret);
/* Returns why names are missing though they are there, or NULL. */
MUST_CHECK struct kin_error *exported_close(struct exported *x);

/* Opens the profile, lets `write` go through it, and closes it. `own` is the writer's struct of
 * `size` bytes, zero but for the struct exported that it begins with. */
MUST_CHECK struct kin_error *exported_write(struct kin_profile *profile,
					    const struct kin_export_opts *opts, size_t size,
					    void (*write)(void *own, FILE *out), FILE *out);

static inline const struct kin_event *exported_event(const struct exported *x, size_t column)
{
	return kin_samples_event(x->samples, x->events[column]);
}

/* "make", "[unknown]": the object, for people. */
const char *exported_object_name(const struct exported *x, uint32_t object);
/* "make/1234", as much as is known. To be freed. */
char *exported_thread_name(const struct exported *x, uint32_t thread);

#endif

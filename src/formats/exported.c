/* exported.c - finds the events of a profile by one pass over its samples. */
#include "formats/exported.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static char *title_of(struct kin_samples *s)
{
	for (uint32_t i = 0; i < kin_samples_n_objects(s); i++)
		if (kin_samples_object(s, i)->is_main && *kin_samples_object(s, i)->path)
			return xprintf("%s", base_name(kin_samples_object(s, i)->path));
	return xprintf("%s", "");
}

static void find_events(struct exported *x)
{
	const struct kin_sample *sample;
	size_t n = kin_samples_n_events(x->samples);
	x->column = xalloc((n + 1) * sizeof(*x->column));
	x->events = xalloc((n + 1) * sizeof(*x->events));
	while ((sample = kin_samples_next(x->samples)))
		x->column[sample->event] = 1;
	kin_samples_rewind(x->samples);
	for (uint32_t i = 0; i < n; i++)
		if (x->column[i]) {
			x->column[i] = (uint32_t)x->n_events;
			x->events[x->n_events++] = i;
		}
	for (size_t i = x->n_events; i--;) {
		const struct kin_event *e = exported_event(x, i);
		bool counts_time = exported_event(x, x->main)->counts_time;
		if (e->kind == KIN_EVENT_ON_CPU && (e->counts_time || !counts_time))
			x->main = i;
	}
}

struct kin_error *exported_nothing(size_t n_events)
{
	return n_events ? err_new(KIN_ERROR_UNSUPPORTED,
				  "there are no samples in the data, or none that was asked for")
			: err_new(KIN_ERROR_UNSUPPORTED,
				  "there are no samples with stacks in the data, only counts");
}

struct kin_error *exported_open(struct kin_profile *profile, const struct kin_export_opts *opts,
				struct exported *ret)
{
	struct exported x = { 0 };
	struct kin_error *err = kin_samples_new(profile, &x.samples);
	if (err)
		return err;
	if (!kin_samples_n(x.samples)) {
		err = exported_nothing(kin_samples_n_events(x.samples));
		kin_samples_free(x.samples);
		return err;
	}
	find_events(&x);
	x.title = opts->title ? xprintf("%s", opts->title) : title_of(x.samples);
	*ret = x;
	return NULL;
}

struct kin_error *exported_close(struct exported *x)
{
	const struct kin_error *bad = kin_samples_error(x->samples);
	struct kin_error *err =
		bad ? err_new(kin_error_kind(bad), "%s", kin_error_message(bad)) : NULL;
	kin_samples_free(x->samples);
	free(x->events);
	free(x->column);
	free(x->title);
	return err;
}

struct kin_error *exported_write(struct kin_profile *profile, const struct kin_export_opts *opts,
				 size_t size, void (*write)(void *own, FILE *out), FILE *out)
{
	struct exported *own = xalloc(size);
	struct kin_error *err = exported_open(profile, opts, own);
	if (!err) {
		write(own, out);
		err = exported_close(own);
	}
	free(own);
	return err;
}

const char *exported_object_name(const struct exported *x, uint32_t object)
{
	const char *path = kin_samples_object(x->samples, object)->path;
	return *path ? base_name(path) : "[unknown]";
}

char *exported_thread_name(const struct exported *x, uint32_t thread)
{
	const struct kin_thread *t = kin_samples_thread(x->samples, thread);
	if (!t->tid)
		return xprintf("%s", *t->name ? t->name : "[unknown]");
	return *t->name ? xprintf("%s/%" PRIu32, t->name, t->tid) : xprintf("%" PRIu32, t->tid);
}

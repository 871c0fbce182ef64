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
	kin_samples_show_marks(x.samples);
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

/* ---- places ---- */

static bool is_inlined_into_caller(struct exported *x, uint32_t location)
{
	size_t n;
	const struct kin_line *lines = kin_samples_lines(x->samples, location, &n);
	return n && lines[n - 1].is_inlined;
}

static uint32_t add_place(struct exported_places *p, uint32_t location, uint32_t into)
{
	uint32_t *index = map64_at(&p->index, MAP64_PAIR(location, into));
	if (*index != NONE)
		return *index;
	*index = (uint32_t)p->at.n;
	vec_push(&p->at, ((struct exported_place){ location, into, 0 }));
	return *index;
}

uint32_t exported_new_place(struct exported *x, struct exported_places *p, uint32_t stack,
			    uint32_t *caller)
{
	uint32_t innermost = kin_samples_stack(x->samples, stack)->location, index = 0;
	bool is_inlined = true;
	if (!p->at.n) {
		size_t n = kin_samples_n_locations(x->samples) + 1;
		vec_reserve(&p->at, n);
		vec_reserve(&p->by_id, n);
		vec_push(&p->at, (struct exported_place){ 0 });
		vec_push(&p->by_id, 0);
		p->alone = xalloc(n * sizeof(*p->alone));
	}
	p->chain.n = 0;
	while (stack && is_inlined) {
		const struct kin_stack at = *kin_samples_stack(x->samples, stack);
		vec_push(&p->chain, at.location);
		stack = at.caller;
		is_inlined = is_inlined_into_caller(x, at.location);
	}
	*caller = stack;
	for (size_t i = p->chain.n; i--;)
		index = add_place(p, p->chain.at[i], index);
	struct exported_place *place = &p->at.at[index];
	if (!place->id) {
		place->id = (uint32_t)p->by_id.n;
		vec_push(&p->by_id, index);
	}
	if (p->chain.n == 1 && !is_inlined)
		p->alone[innermost] = place->id;
	return place->id;
}

void exported_places_done(struct exported_places *p)
{
	vec_free(&p->at);
	vec_free(&p->by_id);
	vec_free(&p->chain);
	map64_free(&p->index);
	free(p->alone);
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

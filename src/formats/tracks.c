/* tracks.c - sorts samples by thread and event. */
#include "formats/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "base/map64.h"

#define NO_NAME "[unknown]" /* as in exported_thread_name() */

static int by_thread(const void *x, const void *y)
{
	const struct track *a = x, *b = y;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

struct tracks tracks_of(struct exported *x)
{
	const struct kin_sample *s;
	struct map64 ids = { 0 };
	VEC(struct track) all = { 0 };
	uint64_t first = UINT64_MAX;
	while ((s = kin_samples_next(x->samples))) {
		uint32_t *id = map64_at(&ids, MAP64_PAIR(s->thread, s->event));
		if (*id == NONE) {
			*id = (uint32_t)all.n;
			vec_push(&all, ((struct track){ .thread = s->thread,
							.event = x->column[s->event] }));
		}
		struct track *t = &all.at[*id];
		vec_push(&t->at, ((struct track_sample){ s->time_ns, s->weight, s->count, s->stack,
							 s->cpu }));
		t->weight += s->weight;
		if (s->time_ns && s->time_ns < first)
			first = s->time_ns;
	}
	map64_free(&ids);
	qsort(all.at, all.n, sizeof(*all.at), by_thread);
	return (struct tracks){ all.at, all.n, first };
}

void tracks_done(struct tracks *t)
{
	for (size_t i = 0; i < t->n; i++)
		vec_free(&t->at[i].at);
	free(t->at);
}

#define reverse(v)                                                                                 \
	for (size_t i_ = 0, k_ = (v)->n; i_ + 1 < k_; i_++) {                                      \
		__typeof__(*(v)->at) t_ = (v)->at[i_];                                             \
		(v)->at[i_] = (v)->at[--k_];                                                       \
		(v)->at[k_] = t_;                                                                  \
	}

void track_path_of(struct exported *x, uint32_t stack, struct track_path *ret)
{
	ret->functions.n = ret->locations.n = ret->lines.n = 0;
	while (stack) {
		const struct kin_stack at = *kin_samples_stack(x->samples, stack);
		size_t n;
		const struct kin_line *lines = kin_samples_lines(x->samples, at.location, &n);
		for (size_t i = 0; i < n; i++) {
			vec_push(&ret->functions, lines[i].function);
			vec_push(&ret->locations, at.location);
			vec_push(&ret->lines, &lines[i]);
		}
		stack = at.caller;
	}
	reverse(&ret->functions);
	reverse(&ret->locations);
	reverse(&ret->lines);
}

void track_path_done(struct track_path *p)
{
	vec_free(&p->functions);
	vec_free(&p->locations);
	vec_free(&p->lines);
}

size_t track_thread_length(const char *title, const char *event)
{
	size_t n = strlen(title), tail = event ? strlen(event) + 2 : 0;
	bool is_named = event && n > tail && !memcmp(title + n - tail, ": ", 2) &&
			!strcmp(title + n - tail + 2, event);
	n = is_named ? n - tail : n;
	return n == strlen(NO_NAME) && !memcmp(title, NO_NAME, n) ? 0 : n;
}

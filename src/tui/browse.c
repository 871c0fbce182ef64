/* browse.c - the browser's loop: keys, a profile that changes, and its end. */
#include "tui/browse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tui/browse_private.h"

enum { LOOK_MS = 200 };

static void renew(struct browser *b)
{
	const char *note = NULL;
	struct kin_profile *p = b->opts->next(b->opts->arg, &note);
	b->asked_ns = clock_now_ns();
	b->refreshes++;
	b->missed++;
	if (note)
		browse_say(b, note);
	if (!p) {
		b->over = true;
		b->paused = false;
		return;
	}
	if (b->paused || b->left.work) { /* the background work uses the current profile */
		kin_profile_free(p);
		return;
	}
	if (b->owned)
		kin_profile_free(b->profile);
	b->profile = p;
	b->owned = true;
	b->loads++;
	browse_go_on(b);
	if (!browse_is_at_code(b)) /* it shows the moment when it was opened */
		browse_load(b);    /* a function that is gone keeps its page */
}

static int time_left(const struct browser *b)
{
	if (!b->opts->next || b->over)
		return LOOK_MS;
	/* What the first moment showed is replaced as soon as there is enough. */
	double missing_ms = 1000 * (BROWSE_ENOUGH - b->measured.seconds);
	uint64_t passed = (clock_now_ns() - b->asked_ns) / 1000000, delay = b->opts->delay_ms;
	if (missing_ms > 0 && delay > (uint64_t)missing_ms)
		delay = (uint64_t)missing_ms + 1;
	uint64_t left = passed < delay ? delay - passed : 0;
	return left < LOOK_MS ? (int)left : LOOK_MS;
}

/* Keys typed during background work come first. */
static uint32_t next_key(struct browser *b)
{
	if (!b->typed_ahead.n)
		return term_key(b->term, time_left(b));
	uint32_t key = b->typed_ahead.at[0];
	memmove(b->typed_ahead.at, b->typed_ahead.at + 1,
		--b->typed_ahead.n * sizeof(*b->typed_ahead.at));
	return key;
}

static void browse_run(struct browser *b)
{
	b->asked_ns = clock_now_ns();
	b->missed = 1;
	if (b->opts->next)
		browse_go_on(b);
	browse_mark(b);
	browse_draw(b);
	while (!b->quit) {
		uint32_t key = next_key(b);
		bool ended = browse_look_at_left(b);
		if (key != TERM_NONE)
			browse_take_key(b, key);
		bool due = b->opts->next && !b->over && !time_left(b);
		if (due)
			renew(b);
		if (b->opts->refreshes && b->refreshes >= b->opts->refreshes)
			b->quit = true;
		if (due || ended || key != TERM_NONE) {
			browse_mark(b);
			browse_draw(b);
		}
	}
}

static void done(struct browser *b)
{
	for (size_t i = 0; i < b->places.n; i++)
		browse_forget(&b->places.at[i]);
	vec_free(&b->places);
	vec_free(&b->shown);
	vec_free(&b->typed_ahead);
	marks_done(&b->marks);
	browse_forget_history(b);
	free(b->chosen_event);
	free(b->part);
	people_names_free(b->names);
	kin_profile_free(b->code);
	if (b->whole)
		kin_profile_free(b->profile);
	kin_profile_free(b->made);
	if (b->owned)
		kin_profile_free(b->whole ? b->whole : b->profile);
}

/* On quitting, do not wait for background work. It uses all of the browser's data, so nothing can
 * be freed and the process ends here. */
static void leave_work(struct browser *b)
{
	if (!b->left.work || browse_look_at_left(b))
		return;
	fflush(NULL);
	_exit(b->opts->status);
}

struct kin_error *browse(struct kin_profile *profile, const struct browse_opts *opts)
{
	struct browser b = { .opts = opts, .profile = profile, .after = profile, .order = NONE };
	b.all_rows = opts->hists && opts->hists->all_rows;
	b.names = opts->full_names ? NULL : people_names_new();
	struct kin_error *err;
	vec_push(&b.places, ((struct browse_place){ .what = opts->changes ? CHANGES : FUNCTIONS,
						    .list = { .height = 1 } }));
	struct browse_place *first = &b.places.at[0];
	if (!(err = browse_make_page(&b, &first->page))) {
		first->has_page = true;
		if (first->page.n_events > 1)
			b.event_name = first->page.event;
		err = term_open(&b.term);
	}
	if (!err) {
		browse_choose_rows(&b);
		browse_run(&b);
		term_close(b.term);
		leave_work(&b);
	}
	done(&b);
	return err;
}

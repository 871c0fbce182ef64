/* browse_work.c - long work of the browser: keys are still read meanwhile, and Esc breaks the work
 * off.
 *
 * Work that was broken off continues in the background, because it cannot be stopped. Later work
 * waits for its end, because only one thread may use a profile at a time. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tui/browse_private.h"

enum { QUICK_MS = 15, STEP_MS = 15 };

/* Shows that the work continues, and what is being waited for. */
static void say_progress(struct browser *b, const char *what, uint64_t since_ns)
{
	char text[BROWSE_TEXT_MAX];
	uint64_t s = (clock_now_ns() - since_ns) / 1000000000;
	if (s)
		snprintf(text, sizeof(text), " %s ... %llu s   Esc breaks it off", what,
			 (unsigned long long)s);
	else
		snprintf(text, sizeof(text), " %s ...   Esc breaks it off", what);
	term_put(b->term, term_rows(b->term) - 1, 0, term_columns(b->term), text, TERM_BAR);
	term_show(b->term);
}

/* Whether the key breaks off the wait. Other keys are kept for later. */
static bool breaks_off(struct browser *b, uint32_t key)
{
	if (key == TERM_END || key == TERM_QUIT || key == 'q')
		b->quit = true;
	else if (key != TERM_ESCAPE && key != TERM_NONE)
		vec_push(&b->typed_ahead, key);
	return b->quit || key == TERM_ESCAPE;
}

/* `since_ns`: when waiting for this key began. Progress is shown after QUICK_MS since then, even if
 * this work has just started. */
static bool wait_for(struct browser *b, struct work *w, const char *what, uint64_t since_ns)
{
	uint64_t waited_ms = (clock_now_ns() - since_ns) / 1000000;
	if (work_wait(w, waited_ms < QUICK_MS ? QUICK_MS - (int)waited_ms : 0))
		return true;
	while (!work_wait(w, 0)) {
		say_progress(b, what, since_ns);
		if (breaks_off(b, term_key(b->term, STEP_MS)))
			return false;
	}
	return true;
}

static void drop_left(struct browser *b)
{
	struct browse_work left = b->left;
	b->left = (struct browse_work){ 0 };
	work_end(left.work);
	left.end(b, left.arg);
}

static bool is_idle(struct browser *b, uint64_t since_ns)
{
	if (b->left.work && b->left.stop)
		__atomic_store_n(b->left.stop, true, __ATOMIC_RELAXED);
	if (!b->left.work ||
	    !wait_for(b, b->left.work, "what was begun before comes to its end", since_ns))
		return !b->left.work;
	drop_left(b);
	return true;
}

bool browse_idle(struct browser *b) { return is_idle(b, clock_now_ns()); }

bool browse_look_at_left(struct browser *b)
{
	if (!b->left.work || !work_wait(b->left.work, 0))
		return false;
	drop_left(b);
	return true;
}

bool browse_do(struct browser *b, const char *what, void (*run)(void *arg),
	       void (*end)(struct browser *b, void *arg), void *arg)
{
	uint64_t since_ns = clock_now_ns();
	if (!is_idle(b, since_ns)) {
		end(b, arg);
		return false;
	}
	struct work *w = b->term ? work_begin(run, arg) : NULL;
	if (!w) { /* no terminal to read keys from, or no thread */
		run(arg);
		return true;
	}
	if (wait_for(b, w, what, since_ns)) {
		work_end(w);
		return true;
	}
	b->left = (struct browse_work){ w, end, arg, NULL };
	return false;
}

void browse_do_later(struct browser *b, void (*run)(void *arg),
		     void (*end)(struct browser *b, void *arg), void *arg, bool *stop)
{
	struct work *w = work_begin(run, arg);
	if (w)
		b->left = (struct browse_work){ w, end, arg, stop };
	else
		end(b, arg);
}

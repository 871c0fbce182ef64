/* browse.c - the browser: its pages, its keys, and the way from one page to the next. */
#include "tui/browse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/escape.h"
#include "tui/browse_private.h"

enum { LOOK_MS = 200, SLOW_MS = 100 };

/* ---- rows ---- */

static bool passes(const struct browse_place *at, const struct page_row *r)
{
	const struct page *p = &at->page;
	if (!at->filter[0] || r->kind == KIN_ROW_FUNCTION || strcasestr(r->name, at->filter))
		return true;
	for (size_t i = 0; i < p->n_columns; i++)
		if (p->columns[i].left && strcasestr(r->cells[i], at->filter))
			return true;
	return false;
}

static bool is_same_row(const struct page *p, const struct page_row *a, const struct page_row *b,
			const struct page *of_b)
{
	if (a->kind != b->kind || strcmp(a->name, b->name) != 0 || p->n_columns != of_b->n_columns)
		return false;
	for (size_t i = 0; i < p->n_columns; i++)
		if (p->columns[i].left && strcmp(a->cells[i], b->cells[i]) != 0)
			return false;
	return true;
}

static void choose_rows(struct browser *b)
{
	struct list *l = &here(b)->list;
	b->shown.n = 0;
	for (size_t i = 0; i < page(b)->rows.n; i++)
		if (passes(here(b), &page(b)->rows.at[i]))
			vec_push(&b->shown, i);
	list_fit(l, b->shown.n, lines_for_rows(b));
}

static void select_same(struct browser *b, const struct page *old, const struct page_row *row)
{
	for (size_t i = 0; i < b->shown.n; i++)
		if (is_same_row(page(b), &page(b)->rows.at[b->shown.at[i]], row, old)) {
			list_select(&here(b)->list, i);
			return;
		}
}

/* ---- pages ---- */

static bool has_text(const struct page *p)
{
	for (size_t i = 0; i < p->rows.n; i++)
		if (p->rows.at[i].kind == KIN_ROW_PLAIN && *p->rows.at[i].name)
			return true;
	return false;
}

static bool is_of_chosen(const struct browser *b, const struct page *p)
{
	return !b->chosen_event || !p->event || !strcmp(p->event, b->chosen_event);
}

/* Of the event that was chosen, whatever its number is now; while it has no samples, of the first.
 */
static struct kin_error *make_functions(struct browser *b, struct page_opts *o, struct page *ret)
{
	struct kin_error *err = page_of_functions(b->profile, o, ret);
	size_t i = err ? 0 : ret->n_events;
	while (!err && i-- > 0 && !is_of_chosen(b, ret)) {
		page_done(ret);
		b->event = o->event = i;
		err = page_of_functions(b->profile, o, ret);
	}
	return err;
}

static struct kin_error *make_page(struct browser *b, struct page *ret)
{
	const struct browse_place *at = here(b);
	struct page_opts o = { b->opts->hists, b->event, b->event_name, b->opts->source_dirs };
	struct kin_error *err = NULL;
	switch (at->what) {
	case FUNCTIONS:
		err = make_functions(b, &o, ret);
		if (!err && ret->has_children)
			page_sort(ret, b->by_own);
		return err;
	case CALLS:
		return page_of_function(b->profile, &o, at->function, ret);
	case SOURCE:
		return page_of_source(b->profile, &o, at->function, ret);
	case INSTRUCTIONS:
		return page_of_instructions(b->profile, &o, at->function, ret);
	}
	return err;
}

static void say(struct browser *b, const char *text)
{
	snprintf(b->message, sizeof(b->message), "%s", text);
}

/* Who waits wants to know that it goes on. */
static void say_wait(struct browser *b)
{
	if (b->longest_ms < SLOW_MS)
		return;
	term_put(b->term, term_rows(b->term) - 1, 0, term_columns(b->term), " one moment ...",
		 TERM_BAR);
	term_show(b->term);
}

static struct kin_error *make_page_timed(struct browser *b, struct page *ret)
{
	uint64_t before = clock_now_ns();
	struct kin_error *err = make_page(b, ret);
	uint64_t ms = (clock_now_ns() - before) / 1000000;
	b->longest_ms = ms > b->longest_ms ? ms : b->longest_ms;
	return err;
}

/* The page anew, with the same row selected unless that is the first one: who looks at the top of
 * the list wants to see its top. */
static bool load(struct browser *b)
{
	struct browse_place *at = here(b);
	struct page made, old = at->page;
	bool had = at->has_page;
	const struct page_row *row = had && at->list.selected ? selected(b) : NULL;
	struct kin_error *err = make_page_timed(b, &made);
	if (err) {
		say(b, kin_error_message(err));
		kin_error_free(err);
		return false;
	}
	at->page = made;
	at->has_page = true;
	at->of = b->loads;
	if (at->what == FUNCTIONS)
		b->event_name = made.n_events > 1 ? made.event : NULL;
	struct page_row kept = { 0 };
	if (row)
		kept = *row;
	choose_rows(b);
	if (row)
		select_same(b, &old, &kept);
	if (had)
		page_done(&old);
	return true;
}

/* ---- going places ---- */

/* With what is above and below: callers and callees. */
static void select_function(struct browser *b)
{
	for (size_t i = 0; i < b->shown.n; i++)
		if (page(b)->rows.at[b->shown.at[i]].kind == KIN_ROW_FUNCTION) {
			list_centre(&here(b)->list, i);
			return;
		}
}

/* Where most of its time is. */
static void select_hottest(struct browser *b)
{
	size_t hottest = 0;
	double most = 0;
	for (size_t i = 0; i < b->shown.n; i++) {
		const struct page_row *r = &page(b)->rows.at[b->shown.at[i]];
		if (r->kind == KIN_ROW_PLAIN && r->own > most) {
			most = r->own;
			hottest = i;
		}
	}
	list_centre(&here(b)->list, hottest);
}

static void forget(struct browse_place *p)
{
	free(p->function);
	if (p->has_page)
		page_done(&p->page);
}

static void leave_for_last(struct browser *b)
{
	forget(here(b));
	b->places.n--;
	choose_rows(b);
}

static bool enter(struct browser *b, enum browse_what what, const char *function)
{
	say_wait(b);
	vec_push(&b->places,
		 ((struct browse_place){ .what = what, .function = xprintf("%s", function) }));
	b->shown.n = 0;
	if (!load(b)) {
		leave_for_last(b);
		return false;
	}
	b->shift = 0;
	if (what == CALLS)
		select_function(b);
	else
		select_hottest(b);
	return true;
}

static void enter_calls(struct browser *b)
{
	const struct page_row *r = selected(b);
	if (!r || !r->function || (r->kind == KIN_ROW_FUNCTION && here(b)->function))
		return;
	enter(b, CALLS, r->function);
}

static void enter_instructions(struct browser *b, const char *function)
{
	if (enter(b, INSTRUCTIONS, function) && !page(b)->rows.n) {
		leave_for_last(b);
		say(b, "neither source nor instructions are known of it");
	}
}

/* The source of the selected function, or its instructions where there is none; from the one to
 * the other. */
static void enter_source(struct browser *b)
{
	const struct page_row *r = selected(b);
	enum browse_what was = here(b)->what;
	if (was == SOURCE || was == INSTRUCTIONS) {
		char *function = xprintf("%s", here(b)->function);
		leave_for_last(b);
		if (was == SOURCE)
			enter_instructions(b, function);
		else if (enter(b, SOURCE, function) && !has_text(page(b)))
			say(b, page(b)->title);
		free(function);
		return;
	}
	if (!r || !r->function)
		return;
	if (b->opts->next) { /* names are all that is kept of samples */
		say(b, "source is shown of recordings: kin record, then kin browse");
		return;
	}
	char *function = xprintf("%s", r->function);
	if (enter(b, SOURCE, function) && !has_text(page(b))) {
		char *why = xprintf("%s", page(b)->title);
		leave_for_last(b);
		enter_instructions(b, function);
		say(b, why);
		free(why);
	}
	free(function);
}

static void leave(struct browser *b)
{
	if (here(b)->filter[0]) {
		here(b)->filter[0] = '\0';
		choose_rows(b);
		return;
	}
	if (b->places.n == 1)
		return;
	b->shift = 0;
	leave_for_last(b);
	if (here(b)->of == b->loads)
		return;
	say_wait(b);
	while (!load(b) && b->places.n > 1)
		leave_for_last(b); /* what changes may have lost a function that we came by */
}

/* Where several were counted. */
static void next_event(struct browser *b)
{
	if (here(b)->function || page(b)->n_events < 2)
		return;
	say_wait(b);
	b->event = (b->event + 1) % page(b)->n_events;
	free(TAKE(b->chosen_event));
	if (load(b) && page(b)->event)
		b->chosen_event = xprintf("%s", page(b)->event);
}

static void change_order(struct browser *b)
{
	if (here(b)->function || !page(b)->has_children)
		return;
	b->by_own = !b->by_own;
	page_sort(page(b), b->by_own);
	choose_rows(b);
	list_select(&here(b)->list, 0);
}

/* ---- keys ---- */

static void type(struct browser *b, uint32_t key)
{
	char *filter = here(b)->filter;
	size_t n = strlen(filter);
	if (key == TERM_ENTER) {
		b->typing = false;
	} else if (key == TERM_ESCAPE) {
		b->typing = false;
		filter[0] = '\0';
	} else if (key == TERM_BACKSPACE) {
		while (n && (filter[n - 1] & 0xc0) == 0x80)
			n--;
		filter[n ? n - 1 : 0] = '\0';
	} else if (key >= ' ' && key < TERM_UP && n + 5 < BROWSE_FILTER_MAX) {
		char *to = filter + n;
		if (key < 0x80) {
			*to++ = (char)key;
		} else if (key < 0x800) {
			*to++ = (char)(0xc0 | key >> 6);
			*to++ = (char)(0x80 | (key & 0x3f));
		} else if (key < 0x10000) {
			*to++ = (char)(0xe0 | key >> 12);
			*to++ = (char)(0x80 | (key >> 6 & 0x3f));
			*to++ = (char)(0x80 | (key & 0x3f));
		} else {
			*to++ = (char)(0xf0 | key >> 18);
			*to++ = (char)(0x80 | (key >> 12 & 0x3f));
			*to++ = (char)(0x80 | (key >> 6 & 0x3f));
			*to++ = (char)(0x80 | (key & 0x3f));
		}
		*to = '\0';
	}
	choose_rows(b);
}

static bool move(struct browser *b, uint32_t key)
{
	struct list *l = &here(b)->list;
	ptrdiff_t screen = (ptrdiff_t)l->height;
	switch (key) {
	case TERM_UP:
	case 'k':
		list_move(l, -1);
		return true;
	case TERM_DOWN:
	case 'j':
		list_move(l, 1);
		return true;
	case TERM_PAGE_UP:
	case 2: /* Ctrl-B */
		list_move(l, -screen);
		return true;
	case TERM_PAGE_DOWN:
	case 6: /* Ctrl-F */
	case ' ':
		list_move(l, screen);
		return true;
	case TERM_HOME:
	case 'g':
		list_select(l, 0);
		return true;
	case TERM_LAST:
	case 'G':
		list_select(l, l->n);
		return true;
	case TERM_RIGHT:
		b->shift += 8;
		return true;
	case TERM_LEFT:
		b->shift = b->shift > 8 ? b->shift - 8 : 0;
		return true;
	default:
		return false;
	}
}

static void command(struct browser *b, uint32_t key)
{
	switch (key) {
	case TERM_ENTER:
		enter_calls(b);
		break;
	case 'a':
		enter_source(b);
		break;
	case TERM_ESCAPE:
	case TERM_BACKSPACE:
		leave(b);
		break;
	case '/':
		b->typing = true;
		here(b)->filter[0] = '\0';
		choose_rows(b);
		break;
	case 's':
		change_order(b);
		break;
	case 'e':
		next_event(b);
		break;
	case 'p':
		b->paused = b->opts->next && !b->over && !b->paused;
		break;
	case 'h':
	case '?':
	case TERM_HELP:
		b->help = true;
		break;
	case 'q':
	case TERM_QUIT:
		b->quit = true;
		break;
	}
}

static void take_key(struct browser *b, uint32_t key)
{
	if (key == TERM_END) {
		b->quit = true;
		return;
	}
	if (key == TERM_RESIZED)
		return;
	b->message[0] = '\0';
	if (b->typing) {
		if (key < TERM_UP || !move(b, key))
			type(b, key);
	} else if (b->help) {
		b->help = false;
		b->quit = key == 'q' || key == TERM_QUIT;
	} else if (!move(b, key)) {
		command(b, key);
	}
}

/* ---- a profile that changes ---- */

static void renew(struct browser *b)
{
	const char *note = NULL;
	struct kin_profile *p = b->opts->next(b->opts->arg, &note);
	b->asked_ns = clock_now_ns();
	b->refreshes++;
	if (note)
		say(b, note);
	if (!p) {
		b->over = true;
		b->paused = false;
		return;
	}
	if (b->paused) {
		kin_profile_free(p);
		return;
	}
	if (b->owned)
		kin_profile_free(b->profile);
	b->profile = p;
	b->owned = true;
	b->loads++;
	load(b); /* a function that is not there any more stays as it was */
}

static int time_left(const struct browser *b)
{
	if (!b->opts->next || b->over)
		return LOOK_MS;
	uint64_t passed = (clock_now_ns() - b->asked_ns) / 1000000;
	uint64_t left = passed < b->opts->delay_ms ? b->opts->delay_ms - passed : 0;
	return left < LOOK_MS ? (int)left : LOOK_MS;
}

static void run(struct browser *b)
{
	b->asked_ns = clock_now_ns();
	browse_draw(b);
	while (!b->quit) {
		uint32_t key = term_key(b->term, time_left(b));
		if (key != TERM_NONE)
			take_key(b, key);
		bool due = b->opts->next && !b->over && !time_left(b);
		if (due)
			renew(b);
		if (b->opts->refreshes && b->refreshes >= b->opts->refreshes)
			b->quit = true;
		if (due || key != TERM_NONE)
			browse_draw(b);
	}
}

static void done(struct browser *b)
{
	for (size_t i = 0; i < b->places.n; i++)
		forget(&b->places.at[i]);
	vec_free(&b->places);
	vec_free(&b->shown);
	free(b->chosen_event);
	if (b->owned)
		kin_profile_free(b->profile);
}

struct kin_error *browse(struct kin_profile *profile, const struct browse_opts *opts)
{
	struct browser b = { .opts = opts, .profile = profile, .by_own = opts->by_own };
	struct kin_error *err;
	vec_push(&b.places, ((struct browse_place){ .list = { .height = 1 } }));
	struct browse_place *first = &b.places.at[0];
	if (!(err = make_page_timed(&b, &first->page))) {
		first->has_page = true;
		if (first->page.n_events > 1)
			b.event_name = first->page.event;
		err = term_open(&b.term);
	}
	if (!err) {
		choose_rows(&b);
		run(&b);
		term_close(b.term);
	}
	done(&b);
	return err;
}

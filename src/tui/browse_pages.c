/* browse_pages.c - the pages of the browser, and the way from one to the next. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "tui/browse_private.h"
#include "tui/columns.h"
#include "tui/jumps.h"

enum { SLOW_MS = 100 };

/* ---- rows ---- */

static bool has_word(const struct page *p, const struct page_row *r, const char *word)
{
	if (strcasestr(r->name, word))
		return true;
	for (size_t i = 0; i < p->n_columns; i++)
		if (p->columns[i].left && strcasestr(r->cells[i], word))
			return true;
	return false;
}

/* All words of the filter are in it, wherever. */
static bool passes(const struct browse_place *at, const struct page_row *r)
{
	char words[BROWSE_FILTER_MAX], *rest = words, *word;
	if (r->kind == KIN_ROW_FUNCTION)
		return true;
	if (fabs(r->with_callees) < at->min_share && r->own < at->min_share)
		return false;
	memcpy(words, at->filter, sizeof(words));
	while ((word = strsep(&rest, " ")))
		if (*word && !has_word(&at->page, r, word))
			return false;
	return true;
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

/* And what is unfolded below it. */
static void show_row(struct browser *b, size_t i)
{
	struct unfold *u = &here(b)->unfold;
	vec_push(&b->shown, i);
	size_t n = unfold_put(u, page(b), &page(b)->rows.at[i]);
	for (size_t k = u->rows.n - n; k < u->rows.n; k++)
		vec_push(&b->shown, page(b)->rows.n + k);
}

void browse_choose_rows(struct browser *b)
{
	struct list *l = &here(b)->list;
	b->shown.n = 0;
	unfold_begin(&here(b)->unfold);
	for (size_t i = 0; i < page(b)->rows.n; i++)
		if (passes(here(b), &page(b)->rows.at[i]))
			show_row(b, i);
	list_fit(l, b->shown.n, lines_for_rows(b));
}

static void select_same(struct browser *b, const struct page *old, const struct page_row *row)
{
	for (size_t i = 0; i < b->shown.n; i++)
		if (is_same_row(page(b), row_at(b, i), row, old)) {
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

/* By the column that was chosen; by the usual one as long as none was. */
static void sort(struct browser *b, struct page *p)
{
	size_t usual = b->opts->by_own ? p->own : p->children;
	if (b->order == NONE && p->has_children)
		b->order = usual;
	if (b->order != NONE)
		page_sort(p, b->order);
}

static struct kin_profile *whole(struct browser *b) { return b->whole ? b->whole : b->profile; }

/* It has no rows, but blocks. */
static struct kin_error *make_flame(struct browser *b, struct page *ret)
{
	struct flame_view *v = &here(b)->flame;
	struct flame made;
	struct kin_error *err = flame_new(b->profile, b->event, b->callers, &made);
	if (err)
		return err;
	if (v->flame.nodes.n)
		flame_renew(v, &made);
	else
		v->flame = made;
	v->text = here(b)->filter;
	v->flame.is_time &= !b->opts->next; /* faded times say nothing */
	*ret = (struct page){ .title = b->callers
					       ? "Flame graph, from where time was spent to callers"
					       : "Flame graph, from callers to callees",
			      .name_title = "" };
	return NULL;
}

static struct kin_error *make_page(struct browser *b, struct page *ret)
{
	const struct browse_place *at = here(b);
	struct page_opts o = { b->opts->hists, b->event, b->event_name, b->opts->source_dirs };
	struct kin_error *err = NULL;
	switch (at->what) {
	case FUNCTIONS:
		err = make_functions(b, &o, ret);
		if (!err && b->opts->cores)
			b->cores = b->opts->cores(b->opts->arg, ret->event);
		if (!err && b->cores > 0)
			page_add_cores(ret, b->cores);
		if (!err)
			sort(b, ret);
		return err;
	case CALLS:
		return page_of_function(b->profile, &o, at->function, ret);
	case SOURCE:
		return page_of_source(b->profile, &o, at->function, ret);
	case INSTRUCTIONS:
		return page_of_instructions(b->profile, &o, at->function, ret);
	case FLAME:
		return make_flame(b, ret);
	case THREADS:
		return page_of_parts(whole(b), &o, "tid", ret);
	case OBJECTS:
		return page_of_parts(whole(b), &o, "dso", ret);
	case CYCLES:
		return page_of_cycles(b->profile, ret);
	case CHANGES:
		page_of_changes(b->opts->changes, ret);
		if (b->order != NONE)
			page_sort(ret, b->order);
		return NULL;
	}
	return err;
}

void browse_say(struct browser *b, const char *text)
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

struct kin_error *browse_make_page(struct browser *b, struct page *ret)
{
	uint64_t before = clock_now_ns();
	struct kin_error *err = make_page(b, ret);
	uint64_t ms = (clock_now_ns() - before) / 1000000;
	b->longest_ms = ms > b->longest_ms ? ms : b->longest_ms;
	return err;
}

/* The page anew, with the same row selected unless that is the first one: who looks at the top of
 * the list wants to see its top. */
bool browse_load(struct browser *b)
{
	struct browse_place *at = here(b);
	struct page made, old = at->page;
	bool had = at->has_page;
	const struct page_row *row = had && at->list.selected ? selected(b) : NULL;
	row = row && row->depth ? NULL : row; /* what is unfolded is of the old page */
	struct kin_error *err = browse_make_page(b, &made);
	if (err) {
		browse_say(b, kin_error_message(err));
		kin_error_free(err);
		return false;
	}
	unfold_done(&at->unfold);
	at->page = made;
	at->has_page = true;
	at->of = b->loads;
	if (at->what == FUNCTIONS)
		b->event_name = made.n_events > 1 ? made.event : NULL;
	struct page_row kept = { 0 };
	if (row)
		kept = *row;
	browse_choose_rows(b);
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
		if (row_at(b, i)->kind == KIN_ROW_FUNCTION) {
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
		const struct page_row *r = row_at(b, i);
		if (r->kind == KIN_ROW_PLAIN && r->own > most) {
			most = r->own;
			hottest = i;
		}
	}
	list_centre(&here(b)->list, hottest);
}

void browse_forget(struct browse_place *p)
{
	free(p->function);
	flame_done(&p->flame.flame);
	unfold_done(&p->unfold);
	if (p->has_page)
		page_done(&p->page);
}

static void leave_for_last(struct browser *b)
{
	browse_forget(here(b));
	b->places.n--;
	browse_choose_rows(b);
}

static bool enter(struct browser *b, enum browse_what what, const char *function)
{
	say_wait(b);
	vec_push(&b->places,
		 ((struct browse_place){ .what = what,
					 .function = function ? xprintf("%s", function) : NULL }));
	b->shown.n = 0;
	if (!browse_load(b)) {
		leave_for_last(b);
		return false;
	}
	b->shift = 0;
	if (what == CALLS)
		select_function(b);
	else if (what == CYCLES)
		list_select(&here(b)->list, 0);
	else
		select_hottest(b);
	return true;
}

/* Of the row, or of the block. */
static const char *selected_function(struct browser *b)
{
	const struct flame_view *v = &here(b)->flame;
	const struct page_row *r = selected(b);
	if (here(b)->what == FLAME)
		return v->selected == FLAME_ROOT ? NULL : v->flame.nodes.at[v->selected].name;
	return r && !(r->kind == KIN_ROW_FUNCTION && here(b)->function) ? r->function : NULL;
}

bool browse_has_function(struct browser *b) { return selected_function(b) != NULL; }

/* Of a comparison: the profile before, or the one after. */
static void change_side(struct browser *b)
{
	b->is_before = !b->is_before;
	b->profile = b->is_before ? b->opts->before : b->after;
}

/* Of a function that is in one profile alone the other one's page is empty. */
void browse_other_side(struct browser *b)
{
	bool had = here(b)->what == FLAME || page(b)->rows.n;
	say_wait(b);
	change_side(b);
	bool loaded = browse_load(b);
	if (loaded && (here(b)->what == FLAME || page(b)->rows.n || !had))
		return;
	const char *side = b->is_before ? "before" : "after";
	change_side(b);
	if (loaded)
		browse_load(b);
	char *why = xprintf("there is nothing of it %s", side);
	browse_say(b, why);
	free(why);
}

void browse_enter_calls(struct browser *b)
{
	const char *function = selected_function(b);
	bool entered = enter(b, CALLS, function);
	if (!b->opts->changes || (entered && page(b)->rows.n))
		return;
	if (entered)
		leave_for_last(b);
	change_side(b);
	if (enter(b, CALLS, function))
		b->message[0] = '\0';
}

static void enter_instructions(struct browser *b, const char *function)
{
	if (enter(b, INSTRUCTIONS, function) && !page(b)->rows.n) {
		leave_for_last(b);
		browse_say(b, "neither source nor instructions are known of it");
	}
}

/* The source of the selected function, or its instructions where there is none; from the one to
 * the other. */
void browse_enter_source(struct browser *b)
{
	enum browse_what was = here(b)->what;
	if (was == SOURCE || was == INSTRUCTIONS) {
		char *function = xprintf("%s", here(b)->function);
		leave_for_last(b);
		if (was == SOURCE)
			enter_instructions(b, function);
		else if (enter(b, SOURCE, function) && !has_text(page(b)))
			browse_say(b, page(b)->title);
		free(function);
		return;
	}
	if (b->opts->next) { /* names are all that is kept of samples */
		browse_say(b, "source is shown of recordings: kin record, then kin browse");
		return;
	}
	char *function = xprintf("%s", selected_function(b));
	if (enter(b, SOURCE, function) && !has_text(page(b))) {
		char *why = xprintf("%s", page(b)->title);
		leave_for_last(b);
		enter_instructions(b, function);
		browse_say(b, why);
		free(why);
	}
	free(function);
}

/* ---- parts of a profile ---- */

void browse_enter_threads(struct browser *b) { enter(b, THREADS, NULL); }
void browse_enter_objects(struct browser *b) { enter(b, OBJECTS, NULL); }

static void leave_for_first(struct browser *b)
{
	while (b->places.n > 1)
		leave_for_last(b);
	b->shift = 0;
	b->loads++;
	say_wait(b);
	browse_load(b);
}

/* All again. */
static void leave_part(struct browser *b)
{
	kin_profile_free(b->profile);
	b->profile = TAKE(b->whole);
	free(TAKE(b->part));
	leave_for_first(b);
}

/* "123:name" is thread 123. */
void browse_enter_part(struct browser *b)
{
	bool is_thread = here(b)->what == THREADS;
	const char *name = selected(b)->name;
	char *thread = is_thread ? xprintf("%.*s", (int)strcspn(name, ":"), name) : NULL;
	struct kin_profile *part = NULL;
	say_wait(b);
	struct kin_error *err = b->opts->part(b->opts->arg, thread, is_thread ? NULL : name, &part);
	free(thread);
	if (err) {
		browse_say(b, kin_error_message(err));
		kin_error_free(err);
		kin_profile_free(part);
		return;
	}
	if (b->whole)
		kin_profile_free(b->profile);
	else
		b->whole = b->profile;
	free(b->part);
	b->part = xprintf("%s %s", is_thread ? "thread" : "in", name);
	b->profile = part;
	leave_for_first(b);
}

void browse_leave(struct browser *b)
{
	if (here(b)->filter[0] || here(b)->min_share > 0) {
		here(b)->filter[0] = '\0';
		here(b)->min_share = 0;
		browse_choose_rows(b);
		return;
	}
	if (here(b)->what == FLAME && flame_unzoom(&here(b)->flame))
		return;
	if (b->places.n == 1 && b->whole)
		leave_part(b);
	if (b->places.n == 1)
		return;
	b->shift = 0;
	leave_for_last(b);
	if (here(b)->of == b->loads)
		return;
	say_wait(b);
	while (!browse_load(b) && b->places.n > 1)
		leave_for_last(b); /* what changes may have lost a function that we came by */
}

void browse_enter_flame(struct browser *b) { enter(b, FLAME, NULL); }

void browse_enter_cycles(struct browser *b)
{
	if (!enter(b, CYCLES, NULL) || page(b)->rows.n)
		return;
	char *why = xprintf("no cycles of calls: %s", page(b)->title);
	leave_for_last(b);
	browse_say(b, why);
	free(why);
}

/* By Self it is of interest who called, otherwise what is called. */
void browse_unfold(struct browser *b)
{
	const struct page_row *r = selected(b);
	size_t at = b->shown.at[here(b)->list.selected], n = page(b)->rows.n;
	bool callers = b->order != NONE && b->order == page(b)->own, found = true;
	struct kin_error *err = NULL;
	if (at >= n) {
		found = unfold_toggle(&here(b)->unfold, at - n);
	} else {
		if (!unfold_is_open(&here(b)->unfold, r))
			say_wait(b);
		err = unfold_open(&here(b)->unfold, b->profile, b->event, callers, page(b), r,
				  &found);
	}
	if (err)
		browse_say(b, kin_error_message(err));
	else if (!found)
		browse_say(b, callers ? "nobody called it" : "it called nothing");
	kin_error_free(err);
	browse_choose_rows(b);
}

void browse_turn_flame(struct browser *b)
{
	struct flame_view *v = &here(b)->flame;
	b->callers = !b->callers;
	say_wait(b);
	v->selected = v->zoomed = FLAME_ROOT;
	browse_load(b);
}

/* Where several were counted. */
void browse_next_event(struct browser *b)
{
	say_wait(b);
	b->event = (b->event + 1) % page(b)->n_events;
	free(TAKE(b->chosen_event));
	if (browse_load(b) && page(b)->event)
		b->chosen_event = xprintf("%s", page(b)->event);
}

static void sort_anew(struct browser *b)
{
	page_sort(page(b), b->order);
	browse_choose_rows(b);
	list_select(&here(b)->list, 0);
}

/* Between the two orders that answer most questions. */
void browse_toggle_order(struct browser *b)
{
	const struct page *p = page(b);
	b->order = b->order == p->children ? p->own : p->children;
	sort_anew(b);
}

/* One column on, or back: all that are seen, and the name. */
void browse_next_order(struct browser *b, bool back)
{
	const struct page *p = page(b);
	size_t n = p->n_columns + 1, at = b->order == NONE ? 0 : b->order;
	unsigned width[PAGE_COLUMNS];
	columns_fit(p, term_columns(b->term), width);
	do
		at = (at + (back ? n - 1 : 1)) % n;
	while (at < p->n_columns && !width[at]);
	b->order = at;
	sort_anew(b);
}

/* The next one in the order of time; from the last on to the first. */
void browse_next_hottest(struct browser *b)
{
	const struct page_row *now = selected(b), *rows = page(b)->rows.at;
	size_t next = NONE, hottest = NONE;
	for (size_t i = 0; now && i < b->shown.n; i++) {
		const struct page_row *r = &rows[b->shown.at[i]];
		bool after = r->own < now->own || (r->own == now->own && r > now);
		if (r->kind != KIN_ROW_PLAIN || r->own <= 0)
			continue;
		if (hottest == NONE || r->own > rows[b->shown.at[hottest]].own)
			hottest = i;
		if (after && (next == NONE || r->own > rows[b->shown.at[next]].own))
			next = i;
	}
	if (next != NONE || hottest != NONE)
		list_centre(&here(b)->list, next != NONE ? next : hottest);
}

size_t browse_jump_target(struct browser *b)
{
	const struct page_row *r = selected(b);
	uint64_t address;
	if (here(b)->what != INSTRUCTIONS || !r || !jumps_target(r, &address))
		return NONE;
	for (size_t i = 0; i < b->shown.n; i++)
		if (i != here(b)->list.selected && jumps_is_at(page(b), row_at(b, i), address))
			return i;
	return NONE;
}

void browse_follow_jump(struct browser *b) { list_centre(&here(b)->list, browse_jump_target(b)); }

enum { FILES_MAX = 1000 };

/* A new one, never one that is there. */
static FILE *create_file(mode_t mode, char *name, size_t size)
{
	for (int i = 1; i <= FILES_MAX; i++) {
		snprintf(name, size, "kin-view-%d.txt", i);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd >= 0)
			return fdopen(fd, "w");
		if (errno != EEXIST)
			return NULL;
	}
	return NULL;
}

void browse_print(struct browser *b)
{
	char name[32];
	FILE *out = create_file(kin_profile_file_mode(b->profile), name, sizeof(name));
	VEC(const struct page_row *) rows = { 0 };
	for (size_t i = 0; i < b->shown.n; i++)
		vec_push(&rows, row_at(b, i));
	bool written = out && page_print(page(b), rows.at, rows.n, out);
	vec_free(&rows);
	int why = errno;
	if (out && fclose(out))
		written = false;
	if (written)
		snprintf(b->message, sizeof(b->message), "%zu rows are in %s", b->shown.n, name);
	else
		snprintf(b->message, sizeof(b->message), "%s: %s", name, strerror(why));
}

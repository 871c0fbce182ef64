/* browse_pages.c - the pages of the browser, and navigation between them. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/escape.h"
#include "tui/browse_private.h"
#include "tui/columns.h"
#include "tui/jumps.h"

/* ---- rows ---- */

/* Names match as they are, and as they are shown. */
static bool has_word(struct people_names *names, const struct page *p, const struct page_row *r,
		     const char *word)
{
	if (strcasestr(r->name, word) ||
	    (names && r->function && strcasestr(people_names_at(names, r->function), word)))
		return true;
	for (size_t i = 0; i < p->n_columns; i++)
		if (p->columns[i].left && strcasestr(r->cells[i], word))
			return true;
	return false;
}

/* Whether the row contains all words of the filter, in any column. */
static bool passes(struct people_names *names, const struct browse_place *at,
		   const struct page_row *r)
{
	char words[BROWSE_FILTER_MAX], *rest = words, *word;
	if (r->kind == KIN_ROW_FUNCTION)
		return true;
	if (r->group == KIN_OVERVIEW_FOLDED && !at->filter[0])
		return false;
	if (fabs(r->with_callees) < at->min_share && r->own < at->min_share)
		return false;
	memcpy(words, at->filter, sizeof(words));
	while ((word = strsep(&rest, " ")))
		if (*word && !has_word(names, &at->page, r, word))
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

/* Shows the row and the rows unfolded below it. */
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
		if (passes(b->names, here(b), &page(b)->rows.at[i]))
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

struct page_job { /* everything needed to make a page */
	enum browse_what what;
	struct kin_profile *profile;
	const struct browse_opts *opts;
	char *function, *event_name, *chosen_event; /* owned; or NULL */
	size_t event;
	enum flame_order order;
	size_t first_rows;
	bool all_rows;
	/* Results: */
	struct kin_error *err;
	struct page page;
	struct flame flame; /* FLAME */
	bool has_page;
};

static char *copy(const char *text) { return text ? xprintf("%s", text) : NULL; }

static struct kin_profile *whole(struct browser *b) { return b->whole ? b->whole : b->profile; }

static bool is_code(enum browse_what what) { return what == SOURCE || what == INSTRUCTIONS; }

bool browse_is_at_code(const struct browser *b)
{
	return is_code(b->places.at[b->places.n - 1].what) && b->code;
}

static struct page_job *new_job(struct browser *b)
{
	struct page_job *j = xalloc(sizeof(*j));
	bool parts = here(b)->what == THREADS || here(b)->what == OBJECTS;
	j->what = here(b)->what;
	j->profile = parts ? whole(b) : is_code(j->what) && b->code ? b->code : b->profile;
	j->opts = b->opts;
	j->function = copy(here(b)->function);
	j->event_name = copy(b->event_name);
	j->chosen_event = copy(b->chosen_event);
	j->event = b->event;
	j->order = b->flame_order;
	j->first_rows = lines_for_rows(b);
	j->all_rows = b->all_rows;
	return j;
}

static void free_job(struct browser *b, void *arg)
{
	struct page_job *j = arg;
	(void)b;
	if (j->has_page)
		page_done(&j->page);
	flame_done(&j->flame);
	kin_error_free(j->err);
	free(j->function);
	free(j->event_name);
	free(j->chosen_event);
	free(j);
}

static bool is_of_chosen(const struct page_job *j, const struct page *p)
{
	return !j->chosen_event || !p->event || !strcmp(p->event, j->chosen_event);
}

/* Shows the chosen event, whatever its number is now; the first event while the chosen one has no
 * samples. */
static struct kin_error *make_functions(struct page_job *j, struct page_opts *o)
{
	struct kin_error *err = page_of_functions(j->profile, o, &j->page);
	size_t i = err ? 0 : j->page.n_events;
	while (!err && i-- > 0 && !is_of_chosen(j, &j->page)) {
		page_done(&j->page);
		j->event = o->event = i;
		err = page_of_functions(j->profile, o, &j->page);
	}
	return err;
}

/* The page of a flame graph has blocks instead of rows. */
static struct kin_error *make_flame(struct page_job *j)
{
	static const char *const titles[N_FLAME_ORDERS] = {
		[FLAME_CALLEES] = "Flame graph, from callers to callees",
		[FLAME_FOLDED] = "Flame graph, from callers to callees, recursion folded",
		[FLAME_INVERTED] = "Flame graph, from where time was spent to callers",
	};
	struct kin_error *err = flame_new(j->profile, j->event, j->order, &j->flame);
	j->page = (struct page){ .title = titles[j->order], .name_title = "" };
	return err;
}

static struct kin_error *make_page(struct page_job *j)
{
	struct page_opts o = { j->opts->hists,       j->event,      j->event_name,
			       j->opts->source_dirs, j->first_rows, j->all_rows };
	switch (j->what) {
	case FUNCTIONS:
		return make_functions(j, &o);
	case CALLS:
		return page_of_function(j->profile, &o, j->function, &j->page);
	case SOURCE:
		return page_of_source(j->profile, &o, j->function, &j->page);
	case INSTRUCTIONS:
		return page_of_instructions(j->profile, &o, j->function, &j->page);
	case FLAME:
		return make_flame(j);
	case THREADS:
		return page_of_parts(j->profile, &o, "tid", &j->page);
	case OBJECTS:
		return page_of_parts(j->profile, &o, "dso", &j->page);
	case CYCLES:
		return page_of_cycles(j->profile, &j->page);
	case CHANGES:
		page_of_changes(j->opts->changes, &j->page);
		return NULL;
	}
	return NULL;
}

static void run_job(void *arg)
{
	struct page_job *j = arg;
	j->err = make_page(j);
	j->has_page = !j->err;
}

/* Sorts by the chosen column. An overview keeps the report's order until the user chooses a
 * column. */
static void sort(struct browser *b, struct page *p)
{
	if (b->order == NONE && !p->is_overview && p->has_children && here(b)->what == FUNCTIONS)
		b->order = p->children;
	if (b->order != NONE)
		page_sort(p, b->order);
}

/* Adapts a new page to this terminal and the current state. */
static void finish_page(struct browser *b, struct page_job *j)
{
	struct flame_view *v = &here(b)->flame;
	v->names = b->names;
	b->event = j->event;
	if (b->opts->measured)
		b->measured = b->opts->measured(b->opts->arg, j->what == FUNCTIONS
								      ? j->page.event
								      : b->chosen_event);
	if (j->what == FUNCTIONS && b->measured.cores > 0)
		page_add_cores(&j->page, b->measured.cores);
	if (j->what == FUNCTIONS || j->what == CHANGES)
		sort(b, &j->page);
	if (j->what != FLAME)
		return;
	if (v->flame.nodes.n)
		flame_renew(v, &j->flame);
	else
		v->flame = j->flame;
	j->flame = (struct flame){ 0 };
	v->text = here(b)->filter;
	v->flame.is_time &= !b->opts->next; /* faded times mean nothing to the user */
}

static const char *name_of_work(enum browse_what what)
{
	static const char *const names[] = {
		[FUNCTIONS] = "functions",
		[CALLS] = "callers and callees",
		[SOURCE] = "source",
		[INSTRUCTIONS] = "instructions",
		[FLAME] = "the flame graph",
		[THREADS] = "threads",
		[OBJECTS] = "programs and libraries",
		[CYCLES] = "cycles of calls",
		[CHANGES] = "what changed",
	};
	return names[what];
}

void browse_say(struct browser *b, const char *text)
{
	snprintf(b->message, sizeof(b->message), "%s", text);
}

struct kin_error *browse_make_page(struct browser *b, struct page *ret)
{
	struct page_job *j = new_job(b);
	if (!browse_do(b, name_of_work(j->what), run_job, free_job, j))
		return err_new(KIN_ERROR_USAGE, "broken off");
	struct kin_error *err = TAKE(j->err);
	if (!err) {
		finish_page(b, j);
		*ret = j->page;
		j->has_page = false;
	}
	free_job(b, j);
	return err;
}

/* ---- marks ---- */

struct mark_job {
	struct kin_profile *profile;
	size_t event;
	struct marks marks;
	bool stop;
	struct kin_error *err;
};

static void run_marks(void *arg)
{
	struct mark_job *j = arg;
	j->err = marks_new(j->profile, j->event, &j->stop, &j->marks);
}

/* Without marks the rows are still useful. If they were stopped for other work they are computed
 * another time. */
static void take_marks(struct browser *b, void *arg)
{
	struct mark_job *j = arg;
	marks_done(&b->marks);
	b->marks = j->marks;
	b->marked = j->stop ? NULL : j->profile;
	b->marked_event = j->event;
	kin_error_free(j->err);
	free(j);
}

static size_t n_samples(struct kin_profile *p)
{
	struct kin_samples *s;
	struct kin_error *err = kin_samples_new(p, &s);
	size_t n = err ? 0 : kin_samples_n(s);
	if (!err)
		kin_samples_free(s);
	kin_error_free(err);
	return n;
}

static bool has_marks(const struct browser *b)
{
	return b->marked == b->profile && b->marked_event == b->event;
}

void browse_mark(struct browser *b)
{
	enum { MANY = 100000 };
	if (b->opts->next || has_marks(b) || b->left.work || b->quit)
		return;
	struct mark_job *j = xalloc(sizeof(*j));
	j->profile = b->profile;
	j->event = b->event;
	if (n_samples(b->profile) > MANY) {
		browse_do_later(b, run_marks, take_marks, j, &j->stop);
		return;
	}
	run_marks(j);
	take_marks(b, j);
}

/* ---- history of a changing profile ---- */

struct history_job {
	struct kin_profile *profile;
	const struct browser *b; /* its history is only read */
	size_t refreshes;
	VEC(struct browse_history) next;
	struct kin_error *err;
};

static const struct marks *history_of(const struct browser *b, const char *event)
{
	static const struct marks none;
	for (size_t i = 0; i < b->history.n; i++)
		if (!strcmp(b->history.at[i].event, event))
			return &b->history.at[i].marks;
	return &none;
}

static struct kin_error *events_with_samples(struct history_job *j)
{
	struct kin_samples *s;
	struct kin_error *err = kin_samples_new(j->profile, &s);
	uint32_t event;
	if (err)
		return err;
	while ((event = flame_event(s, j->next.n)) != NONE)
		vec_push(&j->next, ((struct browse_history){
					   .event = copy(kin_samples_event(s, event)->name) }));
	kin_samples_free(s);
	return NULL;
}

static void run_history(void *arg)
{
	struct history_job *j = arg;
	j->err = events_with_samples(j);
	for (size_t i = 0; !j->err && i < j->next.n; i++)
		j->err = marks_next(j->profile, i, history_of(j->b, j->next.at[i].event),
				    j->b->opts->keep, j->refreshes, &j->next.at[i].marks);
}

static void free_histories(struct browse_history *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(at[i].event);
		marks_done(&at[i].marks);
	}
}

static void free_history_job(struct browser *b, void *arg)
{
	struct history_job *j = arg;
	(void)b;
	free_histories(j->next.at, j->next.n);
	vec_free(&j->next);
	kin_error_free(j->err);
	free(j);
}

void browse_forget_history(struct browser *b)
{
	free_histories(b->history.at, b->history.n);
	vec_free(&b->history);
}

/* If this cannot run now the rows are still useful, and the next refresh adds what is missing. */
void browse_go_on(struct browser *b)
{
	struct history_job *j = xalloc(sizeof(*j));
	j->profile = b->profile;
	j->b = b;
	j->refreshes = b->missed;
	if (!browse_do(b, "times of functions", run_history, free_history_job, j))
		return;
	if (!j->err) {
		browse_forget_history(b);
		for (size_t i = 0; i < j->next.n; i++)
			vec_push(&b->history, j->next.at[i]);
		j->next.n = 0;
		b->missed = 0;
	}
	free_history_job(b, j);
}

const struct marks *browse_sparks(struct browser *b)
{
	const struct marks *m = &b->marks;
	if (here(b)->what != FUNCTIONS || (!b->opts->next && !has_marks(b)))
		return NULL;
	if (b->opts->next)
		m = page(b)->event ? history_of(b, page(b)->event)
		    : b->history.n ? &b->history.at[0].marks
				   : NULL;
	return m && m->sparks.n ? m : NULL;
}

unsigned browse_spark_columns(struct browser *b)
{
	unsigned n = browse_spark_width(b);
	return n ? n + COLUMNS_GAP : 0;
}

/* Keeps the column that the page is sorted by visible on the narrowest terminal. */
void browse_fit(struct browser *b, unsigned columns, unsigned width[PAGE_COLUMNS])
{
	const struct page *p = page(b);
	bool sorted = here(b)->what == FUNCTIONS || here(b)->what == CHANGES;
	size_t usual = p->is_overview ? p->own : NONE;
	columns_fit(p, columns, sorted && b->order != NONE ? b->order : usual, width);
}

static unsigned widest_spark(const struct browser *b)
{
	enum { WIDE = 100, WIDEST = 160, LEAST = 60 };
	unsigned columns = term_columns(b->term);
	if (columns >= WIDEST)
		return SPARK_SLOTS;
	if (columns >= WIDE)
		return SPARK_SLOTS / 2;
	return columns >= LEAST && b->sparks == ALWAYS ? SPARK_SLOTS / 4 : 0;
}

unsigned browse_spark_width(struct browser *b)
{
	unsigned columns = term_columns(b->term), n = widest_spark(b);
	unsigned without[PAGE_COLUMNS] = { 0 }, with[PAGE_COLUMNS] = { 0 };
	if (!browse_sparks(b) || b->sparks == NEVER || !n)
		return 0;
	browse_fit(b, columns, without);
	browse_fit(b, columns - n - COLUMNS_GAP, with);
	return b->sparks == ALWAYS || !memcmp(without, with, sizeof(with)) ? n : 0;
}

void browse_switch_sparks(struct browser *b)
{
	b->sparks = browse_spark_width(b) ? NEVER : ALWAYS;
	if (b->sparks == ALWAYS && !browse_spark_width(b))
		browse_say(b, "no room for the times of functions, or the samples have none");
}

/* Makes the page again, with the same row selected unless it was the first one: users at the top of
 * the list want to see its top. */
bool browse_load(struct browser *b)
{
	struct browse_place *at = here(b);
	struct page made, old = at->page;
	bool had = at->has_page;
	const struct page_row *row = had && at->list.selected ? selected(b) : NULL;
	row = row && row->depth ? NULL : row; /* unfolded rows belong to the old page */
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

/* ---- navigation ---- */

/* Selects the page's own function, centred so that callers and callees are visible. */
static void select_function(struct browser *b)
{
	for (size_t i = 0; i < b->shown.n; i++)
		if (row_at(b, i)->kind == KIN_ROW_FUNCTION) {
			list_centre(&here(b)->list, i);
			return;
		}
}

/* Selects the row with most self time. */
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

/* The function of the selected row, or of the selected block. */
static const char *selected_function(struct browser *b)
{
	const struct flame_view *v = &here(b)->flame;
	const struct page_row *r = selected(b);
	if (here(b)->what == FLAME)
		return v->selected == FLAME_ROOT ? NULL : v->flame.nodes.at[v->selected].name;
	return r && !(r->kind == KIN_ROW_FUNCTION && here(b)->function) ? r->function : NULL;
}

bool browse_has_function(struct browser *b) { return selected_function(b) != NULL; }

/* In a comparison: switches between the profiles before and after. */
static void change_side(struct browser *b)
{
	b->is_before = !b->is_before;
	b->profile = b->is_before ? b->opts->before : b->after;
}

/* If only one profile has the function, the other one's page would be empty: stays here. */
void browse_other_side(struct browser *b)
{
	bool had = here(b)->what == FLAME || page(b)->rows.n;
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

/* Opens the source of the selected function, or its instructions if there is no source. On either
 * page, switches to the other one. */
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
	if (b->opts->code && browse_idle(b)) {
		kin_profile_free(b->code);
		b->code = b->opts->code(b->opts->arg);
	}
	const char *of_row = selected_function(b);
	char *function = copy(of_row ? of_row : here(b)->function);
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
	b->marked = NULL;
	browse_load(b);
}

/* Returns to the whole profile. */
static void leave_part(struct browser *b)
{
	if (!browse_idle(b))
		return;
	kin_profile_free(b->profile);
	b->profile = TAKE(b->whole);
	free(TAKE(b->part));
	leave_for_first(b);
}

struct part_job {
	const struct browse_opts *opts;
	bool own;
	char *thread, *object;
	struct kin_profile *part;
	struct kin_error *err;
};

static void run_part(void *arg)
{
	struct part_job *j = arg;
	j->err = j->opts->part(j->opts->arg, j->own, j->thread, j->object, &j->part);
}

static void free_part(struct browser *b, void *arg)
{
	struct part_job *j = arg;
	(void)b;
	kin_profile_free(j->part);
	kin_error_free(j->err);
	free(j->thread);
	free(j->object);
	free(j);
}

static void take_part(struct browser *b, struct kin_profile *part, char *name)
{
	if (b->whole)
		kin_profile_free(b->profile);
	else
		b->whole = b->profile;
	free(b->part);
	b->part = name;
	b->profile = part;
	leave_for_first(b);
}

/* A row named "123:name" is thread 123. */
void browse_enter_part(struct browser *b)
{
	bool is_thread = here(b)->what == THREADS;
	const char *name = selected(b)->name;
	struct part_job *j = xalloc(sizeof(*j));
	j->opts = b->opts;
	j->own = kin_profile_is_own(whole(b));
	if (is_thread)
		j->thread = xprintf("%.*s", (int)strcspn(name, ":"), name);
	else
		j->object = copy(name);
	if (!browse_do(b, name, run_part, free_part, j)) {
		browse_say(b, "broken off");
		return;
	}
	if (j->err)
		browse_say(b, kin_error_message(j->err));
	else
		take_part(b, TAKE(j->part), xprintf("%s %s", is_thread ? "thread" : "in", name));
	free_part(b, j);
}

/* ---- own code ---- */

/* Makes the other profile. False: a message says why it is not there. */
static bool make_other(struct browser *b)
{
	struct part_job *j = xalloc(sizeof(*j));
	j->opts = b->opts;
	j->own = !kin_profile_is_own(whole(b));
	if (!browse_do(b, j->own ? "own code" : "all functions", run_part, free_part, j)) {
		browse_say(b, "broken off");
		return false;
	}
	if (j->err)
		browse_say(b, kin_error_message(j->err));
	b->made = b->other = TAKE(j->part);
	free_part(b, j);
	return b->other;
}

static void choose_own_live(struct browser *b)
{
	struct kin_profile *p = b->opts->choose_own(b->opts->arg, !kin_profile_is_own(b->profile));
	if (!p) {
		browse_say(b, "no own code was seen yet");
		return;
	}
	if (b->owned)
		kin_profile_free(b->profile);
	b->profile = p;
	b->owned = true;
	leave_for_first(b);
}

/* Parts are left: they were opened with the same choice. */
void browse_toggle_own(struct browser *b)
{
	if (b->opts->choose_own) {
		if (browse_idle(b))
			choose_own_live(b);
		return;
	}
	if (!browse_idle(b) || (!b->other && !make_other(b)))
		return;
	if (b->whole)
		leave_part(b);
	struct kin_profile *shown = b->profile;
	b->profile = b->other;
	b->other = shown;
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
	while (!browse_load(b) && b->places.n > 1)
		leave_for_last(b); /* in a changing profile, functions of earlier pages may have
				      vanished */
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

struct unfold_job {
	struct kin_profile *profile;
	size_t event;
	bool callers;
	char *function, *comm; /* comm NULL: all */
	bool by_process;       /* comm is the name of a process */
	struct flame flame;
	uint64_t total;
	struct kin_error *err;
};

static void run_unfold(void *arg)
{
	struct unfold_job *j = arg;
	j->err = flame_of_function(j->profile, j->event, j->callers, j->function, j->comm,
				   j->by_process, &j->flame, &j->total);
}

static void free_unfold(struct browser *b, void *arg)
{
	struct unfold_job *j = arg;
	(void)b;
	flame_done(&j->flame);
	kin_error_free(j->err);
	free(j->function);
	free(j->comm);
	free(j);
}

/* Rows sorted by Self unfold into callers, others into callees. */
static bool is_by_self(struct browser *b, const struct page_row *r)
{
	const struct page *p = page(b);
	return b->order == NONE ? p->is_overview && r->group == KIN_OVERVIEW_SELF
				: b->order == p->own;
}

static void unfold_row(struct browser *b, const struct page_row *r)
{
	bool callers = is_by_self(b, r);
	struct unfold_job *j = xalloc(sizeof(*j));
	j->profile = b->profile;
	j->event = b->event;
	j->callers = callers;
	j->function = copy(r->function);
	j->comm = page(b)->comm == NONE ? NULL : copy(r->cells[page(b)->comm]);
	j->by_process = page(b)->is_overview;
	if (!browse_do(b, "calls", run_unfold, free_unfold, j)) {
		browse_say(b, "broken off");
		return;
	}
	if (j->err)
		browse_say(b, kin_error_message(j->err));
	else if (!unfold_open(&here(b)->unfold, r, callers, &j->flame, j->total))
		browse_say(b, callers ? "nobody called it" : "it called nothing");
	j->flame = (struct flame){ 0 };
	free_unfold(b, j);
}

void browse_unfold(struct browser *b)
{
	const struct page_row *r = selected(b);
	size_t at = b->shown.at[here(b)->list.selected], n = page(b)->rows.n;
	if (at >= n) {
		if (!unfold_toggle(&here(b)->unfold, at - n))
			browse_say(b, is_by_self(b, r) ? "nobody called it" : "it called nothing");
	} else if (unfold_is_open(&here(b)->unfold, r)) {
		unfold_close(&here(b)->unfold, r);
	} else {
		unfold_row(b, r);
	}
	browse_choose_rows(b);
}

/* Switches to that order, or back. */
static void order_flame(struct browser *b, enum flame_order order)
{
	struct flame_view *v = &here(b)->flame;
	b->flame_order = b->flame_order == order ? FLAME_CALLEES : order;
	v->selected = v->zoomed = FLAME_ROOT;
	browse_load(b);
}

void browse_turn_flame(struct browser *b) { order_flame(b, FLAME_INVERTED); }

void browse_fold_flame(struct browser *b) { order_flame(b, FLAME_FOLDED); }

/* Only if there are several events. */
void browse_next_event(struct browser *b)
{
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

/* Switches between the two orders that answer most questions. */
void browse_toggle_order(struct browser *b)
{
	const struct page *p = page(b);
	if (b->order == p->own && p->is_overview)
		b->order = NONE;
	else
		b->order = b->order == p->children ? p->own : p->children;
	sort_anew(b);
}

/* Other rows have other columns, so the chosen column may move. */
void browse_toggle_rows(struct browser *b)
{
	const struct page *p = page(b);
	if (b->order != p->children && b->order != p->own)
		b->order = NONE;
	b->all_rows = !b->all_rows;
	if (browse_load(b))
		list_select(&here(b)->list, 0);
}

/* Sorts by the next visible column, or the previous one; the name is one of them. */
void browse_next_order(struct browser *b, bool back)
{
	const struct page *p = page(b);
	size_t n = p->n_columns + 1, at = b->order == NONE ? 0 : b->order;
	unsigned width[PAGE_COLUMNS];
	browse_fit(b, term_columns(b->term) - browse_spark_columns(b), width);
	do
		at = (at + (back ? n - 1 : 1)) % n;
	while (at < p->n_columns && !width[at]);
	b->order = at;
	sort_anew(b);
}

/* Selects the row with the next smaller time; after the last one, the first. */
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

/* Creates a new file, never over an existing one. */
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

/* browse_private.h - the browser's state: navigation history and current view. */
#ifndef TUI_BROWSE_PRIVATE_H
#define TUI_BROWSE_PRIVATE_H

#include "base/people_name.h"
#include "base/vec.h"
#include "tui/browse.h"
#include "tui/flame_draw.h"
#include "tui/marks.h"
#include "tui/page.h"
#include "tui/term.h"
#include "tui/tui_list.h"
#include "tui/tui_work.h"
#include "tui/unfold.h"

enum { BROWSE_HEAD = 2, BROWSE_FOOT = 1, BROWSE_FILTER_MAX = 128, BROWSE_TEXT_MAX = 512 };

enum browse_what {
	FUNCTIONS,
	CALLS,
	SOURCE,
	INSTRUCTIONS,
	FLAME,
	THREADS,
	OBJECTS,
	CYCLES,
	CHANGES
};

struct browse_place { /* a page of the navigation history; the last one is the current page */
	enum browse_what what;
	char *function;          /* NULL: all functions */
	struct flame_view flame; /* for FLAME; without nodes: not made yet */
	struct page page;
	bool has_page;
	size_t of; /* number of the refresh that the page was made from */
	struct list list;
	char filter[BROWSE_FILTER_MAX]; /* the words typed */
	double min_share;               /* 0..1 */
	struct unfold unfold;           /* for FUNCTIONS */
};

struct browser;

struct browse_history { /* for one event of a changing profile: when functions were on the stack */
	char *event;
	struct marks marks;
};

struct browse_work {       /* background work */
	struct work *work; /* NULL: none */
	void (*end)(struct browser *b, void *arg);
	void *arg;
	bool *stop; /* set to end it soon; NULL: it cannot be stopped */
};

enum browse_typing { TYPING_NOTHING, TYPING_FILTER, TYPING_LIMIT };

struct browser {
	const struct browse_opts *opts;
	struct term *term;
	struct people_names *names; /* forms for people; NULL: names are whole */
	struct kin_profile *profile;
	bool owned;                /* we free the profile */
	struct kin_profile *whole; /* the whole of which profile is a part; NULL: it is no part */
	/* The profile with code of others folded where `profile` is without, or the other way
	 * round, and the one of both that we made; NULL: not made yet. */
	struct kin_profile *other, *made;
	struct kin_profile *after; /* the newer profile of a comparison */
	bool is_before;            /* profile is the older one of the comparison */
	char *part;                /* the thread or object shown, for the head; NULL: the whole
				      profile */
	struct kin_profile *code;  /* profile of source and instruction pages; NULL: profile
				      itself */
	VEC(size_t)
	shown; /* visible rows: numbers of the page's rows that pass the filter; numbers beyond
		  those are rows of here(b)->unfold */
	VEC(struct browse_place) places; /* the last one is the current page */
	enum browse_typing typing;
	char typed[BROWSE_FILTER_MAX];
	size_t event;       /* the event's number in this profile */
	char *chosen_event; /* by name, because numbers change with the profile; NULL: the first */
	struct browse_measured measured;
	const char *event_name; /* the event's name if there are several events; set by the first
				   page */
	enum flame_order flame_order;
	size_t order;  /* column that functions are sorted by; NONE: the report's order */
	bool all_rows; /* functions that only lead to another one have rows, too */
	bool paused, over, quit;
	bool in_menu;
	struct list menu; /* the commands available here */
	struct browse_work left;
	VEC(uint32_t) typed_ahead;              /* keys typed during work */
	struct marks marks;                     /* computed from `marked`, */
	const struct kin_profile *marked;       /* NULL: none yet */
	size_t marked_event;                    /* and this event of it */
	VEC(struct browse_history) history;     /* for a changing profile */
	size_t missed;                          /* refreshes that are missing from the history */
	enum { AS_WIDE, NEVER, ALWAYS } sparks; /* when sparklines are shown */
	unsigned shift;                         /* how far names are scrolled to the left, in
						   columns */
	unsigned beyond;                        /* columns missing to show the longest drawn name */
	size_t refreshes;
	size_t loads; /* number of newer profiles */
	uint64_t asked_ns;
	char message[BROWSE_TEXT_MAX / 2]; /* shown until the next key */
};

static inline struct browse_place *here(struct browser *b)
{
	return &b->places.at[b->places.n - 1];
}

static inline struct page *page(struct browser *b) { return &here(b)->page; }

/* The i-th visible row. */
static inline const struct page_row *row_at(struct browser *b, size_t i)
{
	size_t n = page(b)->rows.n, at = b->shown.at[i];
	return at < n ? &page(b)->rows.at[at] : &here(b)->unfold.rows.at[at - n];
}

static inline const struct page_row *selected(struct browser *b)
{
	return b->shown.n ? row_at(b, here(b)->list.selected) : NULL;
}

/* Also works before the terminal is open. */
static inline size_t lines_for_rows(const struct browser *b)
{
	unsigned rows = b->term ? term_rows(b->term) : term_rows_expected();
	return rows > BROWSE_HEAD + BROWSE_FOOT ? rows - BROWSE_HEAD - BROWSE_FOOT : 1;
}

/* ---- browse_draw.c ---- */

/* Draws the whole screen. */
void browse_draw(struct browser *b);

/* ---- browse_keys.c ---- */

void browse_take_key(struct browser *b, uint32_t key);
/* The n-th row of the menu: a command's keys and description. Returns whether there is one. */
bool browse_menu_row(struct browser *b, size_t n, const char **named, const char **what);

/* ---- browse_work.c ---- */

/* Runs work in a thread of its own; if it takes long, the last line shows progress. True: the work
 * is done, and the caller owns `arg`. False: the user broke it off, and `end` is called with `arg`
 * when it is done. Without a terminal it runs in this thread. */
bool browse_do(struct browser *b, const char *what, void (*run)(void *arg),
	       void (*end)(struct browser *b, void *arg), void *arg);
/* Like browse_do(), but does not wait; only while no other work runs: see browse_idle(). The work
 * must end soon once *stop is set, and must read *stop atomically. */
void browse_do_later(struct browser *b, void (*run)(void *arg),
		     void (*end)(struct browser *b, void *arg), void *arg, bool *stop);
/* Waits until no work runs. False: the user broke off the waiting. */
bool browse_idle(struct browser *b);
/* Whether background work has just ended. */
bool browse_look_at_left(struct browser *b);

/* ---- browse_pages.c ---- */

/* Computes cycles and times of functions for the current page, if missing: at once or, with many
 * samples, in the background. */
void browse_mark(struct browser *b);
/* Adds the latest refresh of a changing profile to its history, in the background. */
void browse_go_on(struct browser *b);
void browse_forget_history(struct browser *b);
/* Times of the functions on this page; NULL: none. */
const struct marks *browse_sparks(struct browser *b);
void browse_switch_sparks(struct browser *b);
/* Columns that sparklines take on this page, without and with the gap after them; 0: no
 * sparklines. */
unsigned browse_spark_width(struct browser *b);
unsigned browse_spark_columns(struct browser *b);

/* Makes the current page. */
MUST_CHECK struct kin_error *browse_make_page(struct browser *b, struct page *ret);
/* Makes the page again, with the same row selected unless that is the first one, because at the top
 * of the list users want to see the top. Returns whether it could be made; if not, the message says
 * why. */
bool browse_load(struct browser *b);
/* Chooses columns and their widths for the page and its order, as columns_fit() does. */
void browse_fit(struct browser *b, unsigned columns, unsigned width[PAGE_COLUMNS]);
void browse_choose_rows(struct browser *b); /* selects the page's rows that pass the filter */
void browse_forget(struct browse_place *p);
void browse_say(struct browser *b, const char *text);

/* Whether the page is source or instructions of a changing profile: such a page shows one
 * moment. */
bool browse_is_at_code(const struct browser *b);

/* Whether the selected function is not the page's own. */
bool browse_has_function(struct browser *b);

/* The visible row that the selected instruction jumps to; NONE: no jump to another visible row. */
size_t browse_jump_target(struct browser *b);

/* Implementations of commands; only to be called where the command is available. */
void browse_enter_calls(struct browser *b);
void browse_enter_source(struct browser *b);
void browse_leave(struct browser *b);
void browse_next_event(struct browser *b);
void browse_toggle_order(struct browser *b);
void browse_toggle_rows(struct browser *b);
void browse_next_order(struct browser *b, bool back);
void browse_next_hottest(struct browser *b);
void browse_enter_flame(struct browser *b);
void browse_unfold(struct browser *b);
void browse_enter_cycles(struct browser *b);
void browse_follow_jump(struct browser *b);
void browse_turn_flame(struct browser *b);
void browse_fold_flame(struct browser *b);
void browse_enter_threads(struct browser *b);
void browse_enter_objects(struct browser *b);
void browse_enter_part(struct browser *b);
void browse_toggle_own(struct browser *b);
void browse_print(struct browser *b);
void browse_other_side(struct browser *b);

#endif

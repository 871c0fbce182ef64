/* browse_private.h - the browser's state: navigation history and current view. */
#ifndef TUI_BROWSE_PRIVATE_H
#define TUI_BROWSE_PRIVATE_H

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

struct browse_place { /* where we are, or were and go back to */
	enum browse_what what;
	char *function;          /* NULL: all functions */
	struct flame_view flame; /* FLAME; without nodes: not made yet */
	struct page page;
	bool has_page;
	size_t of; /* the refresh that the page is of */
	struct list list;
	char filter[BROWSE_FILTER_MAX]; /* words */
	double min_share;               /* 0..1 */
	struct unfold unfold;           /* FUNCTIONS */
};

struct browser;

struct browse_history { /* of an event of a profile that changes: when functions were on the stack
			 */
	char *event;
	struct marks marks;
};

struct browse_work {       /* that goes on while something else is done */
	struct work *work; /* NULL: none */
	void (*end)(struct browser *b, void *arg);
	void *arg;
	bool *stop; /* set, it ends soon; NULL: it cannot */
};

enum browse_typing { TYPING_NOTHING, TYPING_FILTER, TYPING_LIMIT };

struct browser {
	const struct browse_opts *opts;
	struct term *term;
	struct kin_profile *profile;
	bool owned;                /* profile is ours to free */
	struct kin_profile *whole; /* of which profile is a part; NULL: it is no part */
	struct kin_profile *after; /* of a comparison: the newer one, */
	bool is_before;            /* and whether profile is the older one */
	char *part;                /* what it is of, for the head */
	struct kin_profile *code;  /* of source and instructions that are shown; NULL: profile */
	VEC(size_t)
	shown;                           /* rows of the page that pass the filter; from their
					  * number on those that are unfolded below them */
	VEC(struct browse_place) places; /* the last one is where we are */
	enum browse_typing typing;
	char typed[BROWSE_FILTER_MAX];
	size_t event;           /* its number in this profile */
	char *chosen_event;     /* by name, as numbers change with the profile; NULL: the first */
	double cores;           /* that it kept busy; 0: not known */
	const char *event_name; /* of it, where there are several; in the first place's page */
	bool callers;           /* flame graphs begin where time was spent */
	size_t order;           /* column that functions are sorted by; NONE: as usual */
	bool paused, over, quit;
	bool in_menu;
	struct list menu; /* of the commands that can be run here */
	struct browse_work left;
	VEC(uint32_t) typed_ahead;              /* keys */
	struct marks marks;                     /* of marked, */
	const struct kin_profile *marked;       /* NULL: there are none yet */
	size_t marked_event;                    /* and this event of it */
	VEC(struct browse_history) history;     /* of a profile that changes */
	size_t missed;                          /* refreshes that are not in it yet */
	enum { AS_WIDE, NEVER, ALWAYS } sparks; /* whether sparklines are shown */
	unsigned shift;                         /* of names, to the left */
	size_t refreshes;
	size_t loads; /* of newer profiles */
	uint64_t asked_ns;
	char message[BROWSE_TEXT_MAX / 2]; /* until the next key */
};

static inline struct browse_place *here(struct browser *b)
{
	return &b->places.at[b->places.n - 1];
}

static inline struct page *page(struct browser *b) { return &here(b)->page; }

/* The i-th that is shown. */
static inline const struct page_row *row_at(struct browser *b, size_t i)
{
	size_t n = page(b)->rows.n, at = b->shown.at[i];
	return at < n ? &page(b)->rows.at[at] : &here(b)->unfold.rows.at[at - n];
}

static inline const struct page_row *selected(struct browser *b)
{
	return b->shown.n ? row_at(b, here(b)->list.selected) : NULL;
}

static inline size_t lines_for_rows(const struct browser *b)
{
	unsigned rows = term_rows(b->term);
	return rows > BROWSE_HEAD + BROWSE_FOOT ? rows - BROWSE_HEAD - BROWSE_FOOT : 1;
}

/* ---- browse_draw.c ---- */

/* All of the screen. */
void browse_draw(struct browser *b);

/* ---- browse_keys.c ---- */

void browse_take_key(struct browser *b, uint32_t key);
/* The n-th row of the menu: a command's keys, and what it does. Returns whether there is one. */
bool browse_menu_row(struct browser *b, size_t n, const char **named, const char **what);

/* ---- browse_work.c ---- */

/* Runs it in a thread of its own, with the progress in the last line if it takes long. True: it is
 * through, and `arg` the caller's. False: it was broken off, and `end` is called with it some time
 * later. Before there is a terminal it just runs it. */
bool browse_do(struct browser *b, const char *what, void (*run)(void *arg),
	       void (*end)(struct browser *b, void *arg), void *arg);
/* The same without waiting for it; only while nothing else goes on: see browse_idle(). It ends soon
 * once *stop is set, which it reads atomically. */
void browse_do_later(struct browser *b, void (*run)(void *arg),
		     void (*end)(struct browser *b, void *arg), void *arg, bool *stop);
/* Waits until nothing goes on. False: that was broken off, too. */
bool browse_idle(struct browser *b);
/* Whether what went on has ended just now. */
bool browse_look_at_left(struct browser *b);

/* ---- browse_pages.c ---- */

/* The cycles and times of functions, for what is shown, if they are not there yet: at once, or, of
 * many samples, some time later. */
void browse_mark(struct browser *b);
/* The same of a profile that has changed: its next moment. */
void browse_go_on(struct browser *b);
void browse_forget_history(struct browser *b);
/* Times of functions that are shown here; NULL: there are none. */
const struct marks *browse_sparks(struct browser *b);
void browse_switch_sparks(struct browser *b);
/* Columns of the terminal that sparklines have here, without and with the gap behind them; 0: none.
 */
unsigned browse_spark_width(struct browser *b);
unsigned browse_spark_columns(struct browser *b);

/* The page of where we are, timed. */
MUST_CHECK struct kin_error *browse_make_page(struct browser *b, struct page *ret);
/* The page anew, with the same row selected unless that is the first one: who looks at the top of
 * the list wants to see its top. Returns whether it could be made; else the message says why. */
bool browse_load(struct browser *b);
void browse_choose_rows(struct browser *b); /* those that pass the filter */
void browse_forget(struct browse_place *p);
void browse_say(struct browser *b, const char *text);

/* Whether source or instructions of a profile that changes are shown: those of one moment. */
bool browse_is_at_code(const struct browser *b);

/* Whether one is selected that is not the page's own. */
bool browse_has_function(struct browser *b);

/* Which row that is shown the selected instruction jumps to; NONE: it is no jump out of itself to a
 * row that is shown. */
size_t browse_jump_target(struct browser *b);

/* What the commands of these names do; each only where it can be done. */
void browse_enter_calls(struct browser *b);
void browse_enter_source(struct browser *b);
void browse_leave(struct browser *b);
void browse_next_event(struct browser *b);
void browse_toggle_order(struct browser *b);
void browse_next_order(struct browser *b, bool back);
void browse_next_hottest(struct browser *b);
void browse_enter_flame(struct browser *b);
void browse_unfold(struct browser *b);
void browse_enter_cycles(struct browser *b);
void browse_follow_jump(struct browser *b);
void browse_turn_flame(struct browser *b);
void browse_enter_threads(struct browser *b);
void browse_enter_objects(struct browser *b);
void browse_enter_part(struct browser *b);
void browse_print(struct browser *b);
void browse_other_side(struct browser *b);

#endif

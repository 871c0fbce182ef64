/* browse_private.h - the browser's state: navigation history and current view. */
#ifndef TUI_BROWSE_PRIVATE_H
#define TUI_BROWSE_PRIVATE_H

#include "base/vec.h"
#include "tui/browse.h"
#include "tui/page.h"
#include "tui/term.h"
#include "tui/tui_list.h"

enum { BROWSE_HEAD = 2, BROWSE_FOOT = 1, BROWSE_FILTER_MAX = 128, BROWSE_TEXT_MAX = 512 };

enum browse_what { FUNCTIONS, CALLS, SOURCE, INSTRUCTIONS };

struct browse_place { /* where we are, or were and go back to */
	enum browse_what what;
	char *function; /* NULL: all functions */
	struct page page;
	bool has_page;
	size_t of; /* the refresh that the page is of */
	struct list list;
	char filter[BROWSE_FILTER_MAX];
};

struct browser {
	const struct browse_opts *opts;
	struct term *term;
	struct kin_profile *profile;
	bool owned;                      /* profile is ours to free */
	VEC(size_t) shown;               /* rows of the page that pass the filter */
	VEC(struct browse_place) places; /* the last one is where we are */
	bool typing;                     /* a filter */
	size_t event;                    /* its number in this profile */
	char *chosen_event;     /* by name, as numbers change with the profile; NULL: the first */
	const char *event_name; /* of it, where there are several; in the first place's page */
	bool by_own, paused, help, over, quit;
	uint64_t longest_ms; /* that a page took */
	unsigned shift;      /* of names, to the left */
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

static inline const struct page_row *selected(struct browser *b)
{
	return b->shown.n ? &page(b)->rows.at[b->shown.at[here(b)->list.selected]] : NULL;
}

static inline size_t lines_for_rows(const struct browser *b)
{
	unsigned rows = term_rows(b->term);
	return rows > BROWSE_HEAD + BROWSE_FOOT ? rows - BROWSE_HEAD - BROWSE_FOOT : 1;
}

/* All of the screen. */
void browse_draw(struct browser *b);

#endif

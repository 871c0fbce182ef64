/* browse_keys.c - keys of the browser: moving, typing, and the commands, which the menu lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/browse_private.h"

/* ---- typing ---- */

/* Adds a character to the typed text, or removes the last one. */
static void edit(char *text, uint32_t key)
{
	size_t n = strlen(text);
	if (key == TERM_BACKSPACE) {
		while (n && (text[n - 1] & 0xc0) == 0x80)
			n--;
		text[n ? n - 1 : 0] = '\0';
	} else if (key >= ' ' && key < TERM_UP && n + 5 < BROWSE_FILTER_MAX) {
		char *to = text + n;
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
}

static void take_text(struct browser *b)
{
	struct browse_place *p = here(b);
	if (b->typing == TYPING_FILTER)
		memcpy(p->filter, b->typed, sizeof(p->filter));
	else
		p->min_share = strtod(b->typed, NULL) / 100;
	browse_choose_rows(b);
}

static void type(struct browser *b, uint32_t key)
{
	if (key == TERM_ESCAPE)
		b->typed[0] = '\0';
	else if (key != TERM_ENTER)
		edit(b->typed, key);
	take_text(b);
	if (key == TERM_ESCAPE || key == TERM_ENTER)
		b->typing = TYPING_NOTHING;
}

static void begin_typing(struct browser *b, enum browse_typing what)
{
	b->typing = what;
	b->typed[0] = '\0';
	take_text(b);
}

/* ---- moving ---- */

static bool move(struct browser *b, struct list *l, uint32_t key)
{
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
		b->shift = b->shift + 8 < b->beyond ? b->shift + 8 : b->beyond;
		return true;
	case TERM_LEFT:
		b->shift = b->shift < b->beyond ? b->shift : b->beyond;
		b->shift -= b->shift < 8 ? b->shift : 8;
		return true;
	default:
		return false;
	}
}

static bool go(struct browser *b, uint32_t key)
{
	struct browse_place *p = here(b);
	return p->what == FLAME ? flame_move(&p->flame, key) : move(b, &p->list, key);
}

/* ---- commands ---- */

static void filter(struct browser *b) { begin_typing(b, TYPING_FILTER); }
static void limit(struct browser *b) { begin_typing(b, TYPING_LIMIT); }
static void pause(struct browser *b) { b->paused = !b->paused; }
static void quit(struct browser *b) { b->quit = true; }
static void next_column(struct browser *b) { browse_next_order(b, false); }
static void last_column(struct browser *b) { browse_next_order(b, true); }

static void zoom(struct browser *b) { flame_zoom(&here(b)->flame); }

static bool has_source(struct browser *b)
{
	const struct page_row *r = selected(b);
	return here(b)->what == SOURCE || here(b)->what == INSTRUCTIONS || browse_has_function(b) ||
	       (r && r->function);
}

static bool has_children(struct browser *b) { return page(b)->has_children; }
static bool is_overview(struct browser *b) { return page(b)->is_overview; }
static bool has_rows(struct browser *b) { return b->shown.n > 0; }
static bool has_stacks(struct browser *b) { return kin_profile_is_sampled(b->profile); }
static bool is_jump(struct browser *b) { return browse_jump_target(b) != NONE; }
static bool is_recorded(struct browser *b) { return !b->opts->next; }
static bool can_unfold(struct browser *b)
{
	return has_stacks(b) && selected(b) && selected(b)->function &&
	       (!b->opts->next || b->paused || b->over);
}
static bool is_compared(struct browser *b) { return b->opts->changes != NULL; }
static bool has_parts(struct browser *b) { return b->opts->part && has_stacks(b); }
static bool tells_own(struct browser *b)
{
	return has_stacks(b) && (b->opts->part || b->opts->choose_own);
}
static bool has_events(struct browser *b) { return page(b)->n_events > 1; }
static bool is_live(struct browser *b) { return b->opts->next && !b->over; }
static bool can_go_back(struct browser *b)
{
	return b->places.n > 1 || b->whole || here(b)->flame.zoomed != FLAME_ROOT ||
	       here(b)->filter[0] || here(b)->min_share > 0;
}

enum { /* pages on which a command works */
       AT_FUNCTIONS = 1 << FUNCTIONS,
       AT_CALLS = 1 << CALLS,
       AT_FLAME = 1 << FLAME,
       AT_CHANGES = 1 << CHANGES,
       AT_SORTED = AT_FUNCTIONS | AT_CHANGES,
       AT_STACKS = AT_FUNCTIONS | AT_CALLS | AT_FLAME,
       AT_CODE = 1 << SOURCE | 1 << INSTRUCTIONS,
       AT_PARTS = 1 << THREADS | 1 << OBJECTS,
       AT_CYCLES = 1 << CYCLES,
       AT_ROWS = AT_FUNCTIONS | AT_CALLS | AT_CODE | AT_PARTS | AT_CYCLES | AT_CHANGES,
       ANYWHERE = AT_ROWS | AT_FLAME,
};

static const struct browse_command {
	uint32_t keys[4];
	const char *named, *what;
	unsigned places;
	bool (*is_there)(struct browser *b); /* whether it can run now; NULL: always */
	void (*run)(struct browser *b);
	const char *lacks; /* message if it cannot */
} commands[] = {
	{ { TERM_ENTER },
	  "Enter",
	  "who calls the function, and what it calls",
	  AT_FUNCTIONS | AT_CALLS | AT_CYCLES | AT_CHANGES,
	  browse_has_function,
	  browse_enter_calls,
	  "no function is selected" },
	{ { TERM_ENTER },
	  "Enter",
	  "only the samples of that",
	  AT_PARTS,
	  has_rows,
	  browse_enter_part,
	  "there are no rows" },
	{ { TERM_ENTER }, "Enter", "zoom into the block", AT_FLAME, NULL, zoom },
	{ { 'c' },
	  "c",
	  "who calls the function, and what it calls",
	  AT_FLAME,
	  browse_has_function,
	  browse_enter_calls,
	  "no function is selected" },
	{ { '+', '-' },
	  "+, -",
	  "what it calls, below it (by Self: its callers); again: no more",
	  AT_FUNCTIONS,
	  can_unfold,
	  browse_unfold,
	  "its stacks are not known; kin top must be held for them (p)" },
	{ { 'a' },
	  "a",
	  "its source, then its instructions",
	  ANYWHERE,
	  has_source,
	  browse_enter_source,
	  "no function is selected" },
	{ { 'f' },
	  "f",
	  "the flame graph: all stacks, as wide as their time",
	  AT_FUNCTIONS | AT_CALLS | AT_CHANGES,
	  has_stacks,
	  browse_enter_flame,
	  "no stacks were sampled" },
	{ { 'b' },
	  "b",
	  "the same before the change, or after it",
	  AT_CALLS | AT_CODE | AT_FLAME | AT_CYCLES,
	  is_compared,
	  browse_other_side,
	  "nothing is compared here: kin diff --tui does" },
	{ { 'i' },
	  "i",
	  "the flame graph turned: from where time was spent to callers",
	  AT_FLAME,
	  NULL,
	  browse_turn_flame },
	{ { 'r' },
	  "r",
	  "recursion folded in the flame graph; again: not",
	  AT_FLAME,
	  NULL,
	  browse_fold_flame },
	{ { 't' },
	  "t",
	  "the threads: one of them alone",
	  AT_STACKS,
	  has_parts,
	  browse_enter_threads,
	  "one part alone is shown of recordings with stacks" },
	{ { 'd' },
	  "d",
	  "programs and libraries: one of them alone",
	  AT_STACKS,
	  has_parts,
	  browse_enter_objects,
	  "one part alone is shown of recordings with stacks" },
	{ { TERM_ENTER },
	  "Enter",
	  "where the jump goes",
	  1 << INSTRUCTIONS,
	  is_jump,
	  browse_follow_jump,
	  "it does not jump to another instruction of the function" },
	{ { 'y' },
	  "y",
	  "cycles of calls, and whether stacks go round them",
	  AT_FUNCTIONS | AT_CALLS | AT_CHANGES,
	  is_recorded,
	  browse_enter_cycles,
	  "cycles are found in recordings: kin browse" },
	{ { 'H', '\t' },
	  "H, Tab",
	  "the next hottest line",
	  AT_CODE,
	  has_rows,
	  browse_next_hottest,
	  "there are no rows" },
	{ { TERM_ESCAPE, TERM_BACKSPACE },
	  "Esc, Backspace",
	  "back; ends a filter",
	  ANYWHERE,
	  can_go_back,
	  browse_leave,
	  "this is the first page: q quits" },
	{ { '/' }, "/", "only rows with all of some words in them", AT_ROWS, NULL, filter },
	{ { '/' },
	  "/",
	  "mark functions with a text in their names, add up their time",
	  AT_FLAME,
	  NULL,
	  filter },
	{ { 'l' },
	  "l",
	  "only rows with at least some share of the time, in percent",
	  AT_ROWS,
	  NULL,
	  limit },
	{ { 's' },
	  "s",
	  "sort by Children, by Self, or by most Self, then most Children",
	  AT_FUNCTIONS,
	  has_children,
	  browse_toggle_order,
	  "there is Self alone" },
	{ { 'A' },
	  "A",
	  "all rows: also functions that only lead to one other; or not",
	  AT_FUNCTIONS,
	  is_overview,
	  browse_toggle_rows,
	  "no function is folded here" },
	{ { 'o' },
	  "o",
	  "own code, with what it calls of others' in its Self; or all functions",
	  AT_STACKS,
	  tells_own,
	  browse_toggle_own,
	  "own code is told from that of others in recordings with stacks" },
	{ { '>' },
	  ">",
	  "sort by the next column",
	  AT_SORTED,
	  has_rows,
	  next_column,
	  "there are no rows" },
	{ { '<' },
	  "<",
	  "sort by the column before",
	  AT_SORTED,
	  has_rows,
	  last_column,
	  "there are no rows" },
	{ { 'T' },
	  "T",
	  "when functions were on the stack, from left to right; or not",
	  AT_FUNCTIONS,
	  NULL,
	  browse_switch_sparks },
	{ { 'e' },
	  "e",
	  "the next event",
	  AT_FUNCTIONS,
	  has_events,
	  browse_next_event,
	  "there is one event" },
	{ { 'p' },
	  "p",
	  "hold the picture, or let it go on",
	  ANYWHERE,
	  is_live,
	  pause,
	  "nothing is going on: kin top can be held" },
	{ { 'P' },
	  "P",
	  "write these rows to a file, kin-view-N.txt",
	  AT_ROWS,
	  has_rows,
	  browse_print,
	  "there are no rows" },
	{ { 'q', TERM_QUIT }, "q, F10", "quit", ANYWHERE, NULL, quit },
};

static bool can_run(struct browser *b, const struct browse_command *c)
{
	return c->places >> here(b)->what & 1 && (!c->is_there || c->is_there(b));
}

static const struct browse_command *command_of(struct browser *b, uint32_t key)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		for (size_t k = 0; k < ARRAY_LEN(commands[i].keys); k++)
			if (commands[i].keys[k] && commands[i].keys[k] == key &&
			    can_run(b, &commands[i]))
				return &commands[i];
	return NULL;
}

/* Tells why a key did nothing. */
static void say_why(struct browser *b, uint32_t key)
{
	char name[2] = { (char)key, '\0' };
	if (key != TERM_ENTER && (key <= ' ' || key > '~'))
		return;
	const char *why = "does nothing here (? says what does)";
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		for (size_t k = 0; k < ARRAY_LEN(commands[i].keys); k++)
			if (commands[i].keys[k] == key && commands[i].places >> here(b)->what & 1)
				why = commands[i].lacks;
	snprintf(b->message, sizeof(b->message), "%s: %s", key == TERM_ENTER ? "Enter" : name, why);
}

/* Runs the command, unless NULL; returns whether there was one. */
static bool run_command(struct browser *b, const struct browse_command *c)
{
	if (c)
		c->run(b);
	return c != NULL;
}

/* ---- the menu ---- */

/* The n-th command that can run here; NULL: there are no more. */
static const struct browse_command *menu_at(struct browser *b, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (can_run(b, &commands[i]) && !n--)
			return &commands[i];
	return NULL;
}

bool browse_menu_row(struct browser *b, size_t n, const char **named, const char **what)
{
	const struct browse_command *c = menu_at(b, n);
	*named = c ? c->named : NULL;
	*what = c ? c->what : NULL;
	return c != NULL;
}

static void open_menu(struct browser *b)
{
	size_t n = 0;
	while (menu_at(b, n))
		n++;
	b->menu = (struct list){ 0 };
	list_fit(&b->menu, n, 1);
	b->in_menu = true;
}

static void take_menu_key(struct browser *b, uint32_t key)
{
	const struct browse_command *chosen = menu_at(b, b->menu.selected);
	if (key != TERM_LEFT && key != TERM_RIGHT && move(b, &b->menu, key))
		return;
	b->in_menu = false;
	if (key == TERM_ENTER)
		run_command(b, chosen);
	else if (key != TERM_ESCAPE && key != TERM_BACKSPACE)
		run_command(b, command_of(b, key));
}

void browse_take_key(struct browser *b, uint32_t key)
{
	if (key == TERM_END) {
		b->quit = true;
		return;
	}
	if (key == TERM_RESIZED)
		return;
	b->message[0] = '\0';
	if (b->typing) {
		if (key < TERM_UP || !go(b, key))
			type(b, key);
	} else if (b->in_menu) {
		take_menu_key(b, key);
	} else if (key == '?' || key == 'h' || key == TERM_HELP) {
		open_menu(b);
	} else if (!run_command(b, command_of(b, key)) && !go(b, key)) {
		say_why(b, key);
	}
}

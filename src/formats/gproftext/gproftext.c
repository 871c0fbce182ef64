/* gproftext.c - reads what gprof prints, GNU's and BSD's: the flat profile, the call graph, or
 *both.
 *
 * Lines are read by their fields, not by columns, as large numbers and long names shift these:
 *
 *	 33.34      0.02     0.02     7208     0.00     0.00  open
 *
 *	                0.14    0.00      20/100         caller [4]
 *	[1]    100.0    0.71    0.00     100         function [1]
 *	                0.57    0.00      80/100         callee <cycle 2> [3]
 *	-----------------------------------------------
 *
 * Numbers are optional, but for the first ones of a function. A name is what follows them, so it
 *may contain blanks. Each call stands twice, with its caller and with its callee, one of which may
 *have been left out. "<cycle 2 as a whole>" is no function: its members have the same calls.
 *
 * Stacks are assembled from the times of calls (callgrind_calls.h). Without a call graph there are
 * only functions, and numbers of calls from nobody. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/err.h"
#include "base/map64.h"
#include "base/vec.h"
#include "formats/callgrind/callgrind_calls.h"
#include "formats/formats.h"
#include "formats/given_places.h"
#include "input/input.h"

#define SPONTANEOUS "<spontaneous>"

enum { NS_DIGITS = 9 };

struct listing_text {
	const char *at, *end;
};

struct listed_function {      /* by given_function() */
	uint64_t flat, graph; /* own time, by the flat profile and by the call graph */
	bool has_flat;
};

struct listing_line { /* of a call graph */
	strid name;
	uint32_t index; /* as printed behind the name; NONE: none */
	uint64_t own, children, calls, recursive;
};

enum gproftext_part { LISTING_NONE, LISTING_FLAT, LISTING_GRAPH };

struct gproftext {
	struct bytes b;
	struct profile_builder *into;
	struct given_places *places;
	struct strtab *strings;
	uint32_t object;
	enum gproftext_part part;
	bool has_graph, is_time; /* times are seconds, not samples */
	struct callgrind_calls calls;
	VEC(struct listed_function) functions;
	VEC(struct listing_line) callers, callees; /* of the current entry */
	struct listing_line primary;
	bool has_primary, is_cycle; /* "<cycle N as a whole>" */
	struct map64 seen;          /* pairs of indices: calls that were added */
	uint64_t period_ns;         /* 0: not said */
	size_t n_lines, bad_line;   /* 0: none */
};

/* ---- fields ---- */

static bool next_line(struct gproftext *l, struct listing_text *ret)
{
	size_t n = bytes_left(&l->b);
	if (!n)
		return false;
	const uint8_t *end = memchr(l->b.pos, '\n', n);
	*ret = (struct listing_text){ (const char *)l->b.pos,
				      (const char *)(end ? end : l->b.end) };
	l->b.pos = end ? end + 1 : l->b.end;
	while (ret->end > ret->at && isspace((unsigned char)ret->end[-1]))
		ret->end--;
	l->n_lines++;
	return true;
}

static bool has(struct listing_text t, const char *word)
{
	return t.at && t.end > t.at && memmem(t.at, (size_t)(t.end - t.at), word, strlen(word));
}

static void skip_blanks(struct listing_text *t)
{
	while (t->at < t->end && isspace((unsigned char)*t->at))
		t->at++;
}

static bool take_digits(struct listing_text *t, uint64_t *ret)
{
	const char *start = t->at;
	for (*ret = 0; t->at < t->end && isdigit((unsigned char)*t->at); t->at++)
		if (__builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, (uint64_t)(*t->at - '0'), ret))
			*ret = UINT64_MAX;
	return t->at > start;
}

static bool is_at_blank(const struct listing_text *t)
{
	return t->at == t->end || isspace((unsigned char)*t->at);
}

/* Takes a number with a point, in units of 10^-9; false and nothing taken if there is none. */
static bool take_decimal(struct listing_text *t, uint64_t *ret)
{
	struct listing_text x = *t;
	uint64_t whole, part = 0;
	int digits = 0;
	skip_blanks(&x);
	bool negative = x.at < x.end && *x.at == '-'; /* of a rounding error */
	x.at += negative;
	if (!take_digits(&x, &whole) || x.at == x.end || *x.at != '.')
		return false;
	for (x.at++; x.at < x.end && isdigit((unsigned char)*x.at); x.at++)
		if (digits++ < NS_DIGITS)
			part = part * 10 + (uint64_t)(*x.at - '0');
	if (!is_at_blank(&x))
		return false;
	for (; digits < NS_DIGITS; digits++)
		part *= 10;
	if (__builtin_mul_overflow(whole, 1000000000u, &whole) ||
	    __builtin_add_overflow(whole, part, &whole))
		whole = UINT64_MAX;
	*ret = negative ? 0 : whole;
	*t = x;
	return true;
}

/* Takes "7", "7/9" of calls by the caller and of all, or "7+2", of which 2 are recursive. */
static bool take_calls(struct listing_text *t, uint64_t *calls, uint64_t *recursive)
{
	struct listing_text x = *t;
	uint64_t other = 0;
	skip_blanks(&x);
	if (!take_digits(&x, calls))
		return false;
	bool plus = x.at < x.end && *x.at == '+', slash = x.at < x.end && *x.at == '/';
	x.at += plus || slash;
	if (((plus || slash) && !take_digits(&x, &other)) || !is_at_blank(&x))
		return false;
	*recursive = plus ? other : 0;
	*t = x;
	return true;
}

/* Removes " [7]", or " (7)" of a function without an entry. */
static uint32_t take_index(struct listing_text *t)
{
	struct listing_text x = *t;
	uint64_t index;
	if (x.end == x.at || (x.end[-1] != ']' && x.end[-1] != ')'))
		return NONE;
	for (x.at = x.end - 1; x.at > t->at && isdigit((unsigned char)x.at[-1]);)
		x.at--;
	const char *open = x.at - 1;
	if (open <= t->at || (*open != '[' && *open != '(') || open[-1] != ' ' ||
	    !take_digits(&x, &index) || index >= NONE)
		return NONE;
	t->end = open - 1;
	return (uint32_t)index;
}

/* Removes " <cycle 2>". */
static void drop_cycle(struct listing_text *t)
{
	static const char word[] = " <cycle ";
	const char *p = t->end;
	uint64_t number;
	if (t->end == t->at || t->end[-1] != '>')
		return;
	while (p > t->at && *--p != '<') {
	}
	struct listing_text x = { p - 1, t->end };
	if (p <= t->at || !has(x, word))
		return;
	x.at += strlen(word);
	if (take_digits(&x, &number) && x.at + 1 == x.end)
		t->end = p - 1;
}

/* The rest of a line; false: there is no name. */
static bool take_name(struct gproftext *l, struct listing_text t, strid *name, uint32_t *index)
{
	skip_blanks(&t);
	*index = take_index(&t);
	drop_cycle(&t);
	if (t.at == t.end || memchr(t.at, '\0', (size_t)(t.end - t.at)))
		return false;
	*name = strtab_addn(l->strings, t.at, (size_t)(t.end - t.at));
	return true;
}

/* ---- what it says ---- */

static uint32_t add_function(struct gproftext *l, strid name)
{
	uint32_t id = given_function(l->places, l->object, name, 0);
	while (l->functions.n <= id)
		vec_push(&l->functions, (struct listed_function){ 0 });
	return id;
}

static void add_cost(struct gproftext *l, uint32_t function, uint32_t callee, uint64_t value)
{
	frameid frame = given_frame(l->places, function, 0, 0);
	vec_push(&l->calls.at, ((struct callgrind_cost){ function, callee, frame }));
	vec_push(&l->calls.values, l->is_time ? value : value / 1000000000);
}

/* from NONE: by nobody. */
static void add_count(struct gproftext *l, uint32_t from, uint32_t to, uint64_t count)
{
	struct arc a = { .count = count };
	if (!count)
		return;
	a.to = given_entry(l->places, to, &a.to_object);
	a.from_object = a.to_object;
	if (from != NONE)
		a.from = given_entry(l->places, from, &a.from_object);
	profile_add_arc(l->into, a);
}

static void add_call(struct gproftext *l, const struct listing_line *from,
		     const struct listing_line *to, const struct listing_line *call)
{
	bool known = from->index != NONE && to->index != NONE;
	uint32_t *seen = known ? map64_at(&l->seen, MAP64_PAIR(from->index, to->index)) : NULL;
	if (seen && *seen != NONE)
		return;
	if (seen)
		*seen = 0;
	uint32_t caller = add_function(l, from->name), callee = add_function(l, to->name);
	add_cost(l, caller, callee, capped_sum(call->own, call->children));
	add_count(l, caller, callee, call->calls);
}

static void end_entry(struct gproftext *l)
{
	const struct listing_line *p = &l->primary;
	if (l->has_primary && !l->is_cycle) {
		uint32_t id = add_function(l, p->name);
		capped_add(&l->functions.at[id].graph, p->own);
		for (size_t i = 0; i < l->callers.n; i++)
			add_call(l, &l->callers.at[i], p, &l->callers.at[i]);
		for (size_t i = 0; i < l->callees.n; i++)
			add_call(l, p, &l->callees.at[i], &l->callees.at[i]);
		/* Mostly the function is among its callers, with that number of calls. */
		if (p->index == NONE || map64_get(&l->seen, MAP64_PAIR(p->index, p->index)) == NONE)
			add_count(l, id, id, p->recursive);
	}
	l->has_primary = l->is_cycle = false;
	l->callers.n = l->callees.n = 0;
}

/* "[SELF CHILDREN] CALLS NAME [INDEX]" */
static bool read_relative(struct gproftext *l, struct listing_text t)
{
	struct listing_line x = { 0 };
	if (take_decimal(&t, &x.own) && !take_decimal(&t, &x.children))
		return false;
	if (!take_calls(&t, &x.calls, &x.recursive) || !take_name(l, t, &x.name, &x.index))
		return false;
	if (l->has_primary)
		vec_push(&l->callees, x);
	else
		vec_push(&l->callers, x);
	return true;
}

/* "[INDEX] SHARE SELF CHILDREN [CALLS] NAME [INDEX]" */
static bool read_primary(struct gproftext *l, struct listing_text t)
{
	struct listing_line x = { 0 };
	uint64_t share;
	const char *end = memchr(t.at, ']', (size_t)(t.end - t.at));
	if (!end || l->has_primary)
		return false;
	t.at = end + 1;
	if (!take_decimal(&t, &share) || !take_decimal(&t, &x.own) ||
	    !take_decimal(&t, &x.children))
		return false;
	take_calls(&t, &x.calls, &x.recursive);
	l->is_cycle = has(t, "<cycle ") && has(t, " as a whole>");
	l->has_primary = take_name(l, t, &x.name, &x.index);
	l->primary = x;
	return l->has_primary;
}

/* Returns false if the table is over. */
static bool read_graph_line(struct gproftext *l, struct listing_text t)
{
	bool in_entry = l->has_primary || l->callers.n, good = true;
	if (t.end - t.at > 3 && !memcmp(t.at, "---", 3)) {
		end_entry(l);
		return true;
	}
	if (t.end > t.at && *t.at == '[')
		good = read_primary(l, t);
	else if (!has(t, SPONTANEOUS))
		good = read_relative(l, t);
	if (!good && in_entry && !l->bad_line)
		l->bad_line = l->n_lines;
	return good || in_entry;
}

/* "SHARE CUMULATIVE SELF [CALLS SELF/CALL TOTAL/CALL] NAME" */
static bool read_flat_line(struct gproftext *l, struct listing_text t)
{
	uint64_t number, own, calls = 0, recursive;
	strid name;
	uint32_t index;
	if (!take_decimal(&t, &number) || !take_decimal(&t, &number) || !take_decimal(&t, &own))
		return false;
	struct listing_text counted = t;
	if (take_calls(&counted, &calls, &recursive) && take_decimal(&counted, &number) &&
	    take_decimal(&counted, &number))
		t = counted;
	else
		calls = 0;
	if (!take_name(l, t, &name, &index))
		return false;
	uint32_t id = add_function(l, name);
	capped_add(&l->functions.at[id].flat, own);
	l->functions.at[id].has_flat = true;
	if (!l->has_graph)
		add_count(l, NONE, id, calls);
	return true;
}

static bool is_flat_heading(struct listing_text t)
{
	skip_blanks(&t);
	return t.end - t.at > 4 && !memcmp(t.at, "time", 4) && has(t, "calls") && has(t, "name");
}

static bool is_graph_heading(struct listing_text t)
{
	return t.end > t.at && *t.at == 'i' && has(t, "index") && has(t, "time") &&
	       has(t, "self") && has(t, "called");
}

/* "Each sample counts as 0.01 seconds." */
static void read_period(struct gproftext *l, struct listing_text t)
{
	static const char words[] = "Each sample counts as ";
	if (!has(t, words) || t.end - t.at < (ptrdiff_t)strlen(words))
		return;
	t.at += strlen(words);
	if (!take_decimal(&t, &l->period_ns))
		l->period_ns = 0;
}

static void read_line(struct gproftext *l, struct listing_text t)
{
	if (l->part == LISTING_NONE)
		read_period(l, t);
	if (is_flat_heading(t)) {
		l->part = LISTING_FLAT;
		l->is_time = !has(t, "samples");
		return;
	}
	if (is_graph_heading(t)) {
		l->part = LISTING_GRAPH;
		return;
	}
	skip_blanks(&t);
	bool is_second = has(t, "called/total") && has(t, "children"); /* line of BSD's heading */
	if (t.at == t.end || is_second)
		return;
	if ((l->part == LISTING_FLAT && !read_flat_line(l, t)) ||
	    (l->part == LISTING_GRAPH && !read_graph_line(l, t)))
		l->part = LISTING_NONE; /* an explanation follows */
}

/* ---- the file ---- */

static bool any_graph(struct bytes b)
{
	struct gproftext l = { .b = b };
	struct listing_text t;
	while (next_line(&l, &t))
		if (is_graph_heading(t))
			return true;
	return false;
}

static void add_samples(struct gproftext *l)
{
	const uint64_t usual_ns = 10000000;
	uint64_t period = !l->is_time ? 1 : l->period_ns ? l->period_ns : usual_ns;
	struct event e = { .unit = l->is_time ? EVENT_NS : EVENT_COUNT,
			   .period = period,
			   .stacks = true,
			   .is_timeless = true,
			   .is_assembled = true };
	const char *name = l->is_time ? "time" : "samples";
	e.name = profile_add_string(l->into, name, strlen(name));
	uint16_t event = profile_add_event(l->into, e);
	for (uint32_t i = 0; i < l->functions.n; i++) {
		const struct listed_function *f = &l->functions.at[i];
		add_cost(l, i, NONE, f->has_flat ? f->flat : f->graph);
	}
	l->calls.n_functions = given_n_functions(l->places);
	l->calls.n_events = 1;
	l->calls.period = period;
	l->calls.events = &event;
	callgrind_add_stacks(&l->calls, l->into, 0);
}

static struct kin_error *gproftext_read(struct bytes all, const struct input_opts *o,
					struct profile_builder *into, struct source *source)
{
	struct gproftext l = { .b = all, .into = into, .is_time = true };
	struct listing_text t;
	(void)o;
	(void)source;
	l.calls.no_caller = NONE;
	l.places = given_new(into, &all);
	l.strings = given_strings(l.places);
	l.object = given_object(l.places, strtab_add(l.strings, "[unknown]"), false);
	l.has_graph = any_graph(all);
	while (next_line(&l, &t))
		read_line(&l, t);
	bool is_cut = l.has_primary || l.callers.n;
	end_entry(&l);
	add_samples(&l);
	bool empty = !l.functions.n;
	size_t bad = l.bad_line, last = l.n_lines;
	given_finish(l.places);
	map64_free(&l.seen);
	vec_free(&l.calls.at);
	vec_free(&l.calls.values);
	vec_free(&l.functions);
	vec_free(&l.callers);
	vec_free(&l.callees);
	if (bad)
		return err_new(KIN_ERROR_FORMAT,
			       "%s: line %zu is no line of gprof's call graph: what could be "
			       "understood was read",
			       all.name, bad);
	if (is_cut)
		return err_new(KIN_ERROR_FORMAT, "%s: cut off in line %zu, in gprof's call graph",
			       all.name, last);
	return empty ? err_new(KIN_ERROR_FORMAT, "%s: gprof's tables have no functions", all.name)
		     : NULL;
}

static bool gproftext_recognise(struct bytes head, const struct input_opts *o)
{
	struct gproftext l = { .b = head };
	struct listing_text t;
	(void)o;
	l.b.end = head.pos + min_u64(bytes_left(&head), FORMAT_HEAD);
	if (memchr(head.pos, '\0', bytes_left(&l.b)))
		return false;
	while (next_line(&l, &t)) /* BSD's explanation may be longer than the head */
		if (has(t, "call graph profile:") || is_flat_heading(t) || is_graph_heading(t))
			return true;
	return false;
}

const struct format gproftext_format = {
	.about = { .name = "gprof text",
		   .what = "what gprof prints: flat profile, call graph",
		   .is_read = true },
	.recognise = gproftext_recognise,
	.is_vague = true,
	.read = gproftext_read,
};

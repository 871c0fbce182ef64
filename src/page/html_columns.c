/* html_columns.c - chooses the nodes to keep, and writes nodes and samples as columns. */
#include "page/html_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/sort.h"

const char *const html_column_keys[N_HTML_COLUMNS] = {
	[COLUMN_NODE_UP] = "node_up",
	[COLUMN_NODE_FUNCTION] = "node_function",
	[COLUMN_SAMPLE_TIME] = "sample_time",
	[COLUMN_SAMPLE_THREAD] = "sample_thread",
	[COLUMN_SAMPLE_EVENT] = "sample_event",
	[COLUMN_SAMPLE_NODE] = "sample_node",
	[COLUMN_SAMPLE_WEIGHT] = "sample_weight",
	[COLUMN_SAMPLE_COUNT] = "sample_count",
	[COLUMN_SAMPLE_OBJECT] = "sample_object",
	[COLUMN_SAMPLE_PLACE] = "sample_place",
	[COLUMN_PLACE_OBJECT] = "place_object",
	[COLUMN_PLACE_ADDRESS] = "place_address",
	[COLUMN_PLACE_FILE] = "place_file",
	[COLUMN_PLACE_LINE] = "place_line",
	[COLUMN_LOST_EVENT] = "lost_event",
	[COLUMN_LOST_FUNCTION] = "lost_function",
	[COLUMN_LOST_SELF] = "lost_self",
	[COLUMN_LOST_TOTAL] = "lost_total",
	[COLUMN_LOST_OWN] = "lost_own",
};

static void put(struct html_columns *c, enum html_column_key key, uint64_t v)
{
	struct html_column *to = &c->at[key];
	to->n++;
	for (; v >= 0x80; v >>= 7)
		vec_push(&to->bytes, (uint8_t)(v | 0x80));
	vec_push(&to->bytes, (uint8_t)v);
}

static void put_signed(struct html_columns *c, enum html_column_key key, int64_t v)
{
	put(c, key, v < 0 ? (uint64_t)-v * 2 - 1 : (uint64_t)v * 2);
}

/* ---- choosing nodes ---- */

struct cut {
	const struct html_paths *t;
	struct html_columns *c;
	uint64_t *own, *total;  /* [nodes]: weights for one event and side */
	bool *kept;             /* [nodes]: kept nodes have kept callers */
	uint32_t *first, *next; /* [nodes]: first node below it; next sibling; 0: none */
	uint32_t *id;           /* [nodes]: number in the file; for a node that was dropped, the
				   number of the node that stands for it */
	bool *is_whole;         /* [nodes]: no node directly below was dropped */
	bool places;            /* keep places */
};

static void weigh(struct cut *x, uint32_t event, uint32_t side)
{
	const struct html_paths *t = x->t;
	memset(x->own, 0, t->nodes.n * sizeof(*x->own));
	for (size_t i = 0; i < t->samples.n; i++)
		if (t->samples.at[i].event == event && t->samples.at[i].side == side)
			capped_add(&x->own[t->samples.at[i].node], t->samples.at[i].weight);
	memcpy(x->total, x->own, t->nodes.n * sizeof(*x->own));
	for (size_t i = t->nodes.n; i-- > 1;)
		capped_add(&x->total[t->nodes.at[i].caller], x->total[i]);
}

/* A node's width is its largest share of any event. It is at most its caller's width, because each
 * share of the caller is at least as large. */
static float *widths_of(struct cut *x)
{
	const struct html_paths *t = x->t;
	float *widths = xalloc(t->nodes.n * sizeof(*widths));
	for (uint32_t event = 0; event < t->events.n; event++)
		for (uint32_t side = 0; side < HTML_SIDES && t->runs[side]; side++) {
			weigh(x, event, side);
			for (size_t i = 0; i < t->nodes.n && x->total[0]; i++) {
				float w = (float)((double)x->total[i] / (double)x->total[0]);
				widths[i] = w > widths[i] ? w : widths[i];
			}
		}
	return widths;
}

enum { HALF = 16 }; /* bits of half a float */

static uint32_t bits_of(float width)
{
	uint32_t bits;
	memcpy(&bits, &width, sizeof(bits));
	return bits;
}

/* Finds the half of the bits of the value that `*rank` others exceed, among the values that begin
 * with the half `above`. *rank becomes the value's rank among those that share the found half,
 * too. */
static uint32_t digit_at(const float *widths, size_t n, unsigned shift, uint32_t above,
			 size_t *rank)
{
	enum { DIGITS = 1 << HALF };
	size_t *count = xalloc(DIGITS * sizeof(*count));
	for (size_t i = 0; i < n; i++)
		if (bits_of(widths[i]) >> shift >> HALF == above)
			count[bits_of(widths[i]) >> shift & (DIGITS - 1)]++;
	uint32_t digit = DIGITS - 1;
	for (; digit && *rank >= count[digit]; digit--)
		*rank -= count[digit];
	free(count);
	return digit;
}

/* The value that `rank` others exceed or equal. None is negative, so the bits, as integers, sort
 * like the values. */
static float width_at(const float *widths, size_t n, size_t rank)
{
	uint32_t high = digit_at(widths, n, HALF, 0, &rank);
	uint32_t bits = high << HALF | digit_at(widths, n, 0, high, &rank);
	float width;
	memcpy(&width, &bits, sizeof(width));
	return width;
}

static void choose(struct cut *x, const struct html_limits *limits)
{
	size_t n = x->t->nodes.n;
	memset(x->kept, true, n * sizeof(*x->kept));
	if (n <= limits->max_nodes && limits->min_width <= 0)
		return;
	float *widths = widths_of(x), min_width = (float)limits->min_width;
	float below = n > limits->max_nodes ? width_at(widths, n, limits->max_nodes) : -1;
	for (size_t i = 1; i < n; i++)
		x->kept[i] = x->kept[x->t->nodes.at[i].caller] && widths[i] > below &&
			     widths[i] >= min_width;
	free(widths);
}

/* ---- nodes ---- */

static void link_nodes(struct cut *x)
{
	for (size_t i = x->t->nodes.n; i-- > 1;) {
		uint32_t caller = x->t->nodes.at[i].caller;
		x->next[i] = x->first[caller];
		x->first[caller] = (uint32_t)i;
	}
}

static void put_node(struct cut *x, uint32_t depth, uint32_t *before, uint32_t function)
{
	put(x->c, COLUMN_NODE_UP, *before - (depth - 1));
	put(x->c, COLUMN_NODE_FUNCTION, function);
	*before = depth;
}

/* Makes `stand_in` represent the dropped nodes below the node, and so everything below them. */
static void leave_out(struct cut *x, uint32_t node, uint32_t stand_in)
{
	for (uint32_t i = x->first[node]; i; i = x->next[i])
		if (!x->kept[i])
			x->id[i] = stand_in;
}

/* Writes the kept nodes; after the kept children of a node, one node that stands for the dropped
 * ones. */
static void put_nodes(struct cut *x)
{
	const struct html_node *nodes = x->t->nodes.at;
	uint32_t n = 1, depth = 0, before = 0, at = 0;
	uint32_t *resume = xrealloc(NULL, x->t->nodes.n, sizeof(*resume));
	memcpy(resume, x->first, x->t->nodes.n * sizeof(*resume));
	for (;;) {
		uint32_t i = resume[at];
		while (i && !x->kept[i]) {
			x->is_whole[at] = false;
			i = x->next[i];
		}
		if (i) {
			resume[at] = x->next[i];
			put_node(x, ++depth, &before, nodes[i].function);
			x->id[i] = n++;
			at = i;
			continue;
		}
		if (!x->is_whole[at]) {
			put_node(x, depth + 1, &before, (uint32_t)x->t->functions.n);
			leave_out(x, at, n++);
		}
		if (!at)
			break;
		at = nodes[at].caller;
		depth--;
	}
	free(resume);
	for (size_t i = 1; i < x->t->nodes.n; i++)
		if (!x->kept[i]) {
			x->c->n_left_out++;
			if (!x->kept[nodes[i].caller])
				x->id[i] = x->id[nodes[i].caller];
		}
}

/* ---- amounts that functions lose ---- */

struct loss {
	uint64_t *self, *total; /* [functions] */
	uint64_t *own;          /* [functions]: Self, with the code of others folded */
	uint32_t *above;        /* [functions]: how often the function is on the current path */
	uint32_t *payer;        /* [nodes]: the function whose Self has the node's, folded */
};

/* The nearest own caller; without one each function pays for itself. */
static void find_payers(const struct html_paths *t, uint32_t *payer)
{
	uint32_t *owner = xalloc(t->nodes.n * sizeof(*owner));
	owner[0] = NONE;
	for (size_t i = 1; i < t->nodes.n; i++) {
		uint32_t f = t->nodes.at[i].function, kind = t->functions.at[f].kind;
		owner[i] = kind & HTML_OWN ? f : owner[t->nodes.at[i].caller];
		payer[i] = kind & HTML_NOTE || owner[i] == NONE ? f : owner[i];
	}
	free(owner);
}

static void enter(struct cut *x, struct loss *l, uint32_t i)
{
	uint32_t f = x->t->nodes.at[i].function;
	bool again = l->above[f]++;
	if (x->kept[i])
		return;
	capped_add(&l->self[f], x->own[i]);
	capped_add(&l->own[l->payer[i]], x->own[i]);
	if (!again)
		capped_add(&l->total[f], x->total[i]);
}

/* Walks along all paths once. If a function recurs only its outermost node counts. */
static void find_losses(struct cut *x, struct loss *l)
{
	const struct html_node *nodes = x->t->nodes.at;
	uint32_t at = x->first[0];
	while (at) {
		enter(x, l, at);
		if (x->first[at]) {
			at = x->first[at];
			continue;
		}
		for (; at && !x->next[at]; at = nodes[at].caller)
			l->above[nodes[at].function]--;
		if (at)
			l->above[nodes[at].function]--;
		at = x->next[at];
	}
}

static void put_losses(struct cut *x)
{
	size_t n = x->t->functions.n;
	struct loss l = { .self = xalloc(n * sizeof(*l.self) + 1),
			  .total = xalloc(n * sizeof(*l.total) + 1),
			  .own = xalloc(n * sizeof(*l.own) + 1),
			  .above = xalloc(n * sizeof(*l.above) + 1),
			  .payer = xalloc(x->t->nodes.n * sizeof(*l.payer)) };
	find_payers(x->t, l.payer);
	for (uint32_t event = 0; event < x->t->events.n && x->c->n_left_out; event++)
		for (uint32_t side = 0; side < HTML_SIDES && x->t->runs[side]; side++) {
			weigh(x, event, side);
			memset(l.self, 0, n * sizeof(*l.self));
			memset(l.total, 0, n * sizeof(*l.total));
			memset(l.own, 0, n * sizeof(*l.own));
			find_losses(x, &l);
			for (uint32_t f = 0; f < n; f++) {
				if (!l.total[f] && !l.self[f] && !l.own[f])
					continue;
				put(x->c, COLUMN_LOST_EVENT, event * HTML_SIDES + side);
				put(x->c, COLUMN_LOST_FUNCTION, f);
				put(x->c, COLUMN_LOST_SELF, l.self[f]);
				put(x->c, COLUMN_LOST_TOTAL, l.total[f]);
				put_signed(x->c, COLUMN_LOST_OWN, (int64_t)(l.own[f] - l.self[f]));
			}
		}
	free(l.self);
	free(l.total);
	free(l.own);
	free(l.above);
	free(l.payer);
}

/* ---- samples ---- */

uint64_t html_duration(const struct html_paths *t, uint64_t *first_ns)
{
	uint64_t first = UINT64_MAX, last = 0;
	for (size_t i = 0; i < t->samples.n; i++) {
		uint64_t time = t->samples.at[i].time_ns;
		first = time && time < first ? time : first;
		last = time > last ? time : last;
	}
	*first_ns = last ? first : 0;
	return last ? last - first : 0;
}

/* The sort keys of samples, the least significant first. */
static uint64_t sample_key(const struct html_sample *s, size_t of)
{
	const uint64_t keys[] = { MAP64_PAIR(s->object, s->place),
				  MAP64_PAIR((uint32_t)s->event << 16 | s->side, s->node),
				  s->thread, s->time_ns };
	return keys[of];
}

/* Samples as the file has them: times in units, nodes by their number in the file. */
struct sample_run {
	VEC(struct html_sample) at, sorted;
	VEC(struct sort_key) keys;
};

static void sort_run(struct sample_run *r)
{
	enum { KEYS = 4 };
	size_t n = r->at.n;
	r->sorted.n = r->keys.n = 0;
	vec_reserve(&r->sorted, n);
	vec_reserve(&r->keys, n);
	for (size_t i = 0; i < n; i++)
		r->keys.at[i].index = (uint32_t)i;
	for (size_t of = 0; of < KEYS; of++) {
		for (size_t i = 0; i < n; i++)
			r->keys.at[i].key = sample_key(&r->at.at[r->keys.at[i].index], of);
		sort_keys(r->keys.at, n);
	}
	for (size_t i = 0; i < n; i++)
		r->sorted.at[i] = r->at.at[r->keys.at[i].index];
	r->sorted.n = n;
}

static bool is_alike(const struct html_sample *a, const struct html_sample *b)
{
	return a->time_ns == b->time_ns && a->thread == b->thread && a->event == b->event &&
	       a->side == b->side && a->node == b->node && a->object == b->object &&
	       a->place == b->place;
}

/* Joins equal samples. */
static void join_run(struct sample_run *r)
{
	struct html_sample *at = r->sorted.at;
	size_t n = 0;
	for (size_t i = 0; i < r->sorted.n; i++) {
		if (n && is_alike(&at[n - 1], &at[i])) {
			capped_add(&at[n - 1].weight, at[i].weight);
			if (__builtin_add_overflow(at[n - 1].count, at[i].count, &at[n - 1].count))
				at[n - 1].count = UINT32_MAX;
		} else {
			at[n++] = at[i];
		}
	}
	r->sorted.n = n;
}

/* Index + 1 of the object of a sample whose node was dropped; else 0. */
static uint32_t object_left_out(const struct cut *x, uint32_t node)
{
	return x->kept[node] ? 0 : x->t->functions.at[x->t->nodes.at[node].function].object + 1;
}

static uint64_t time_in_file(const struct cut *x, const struct html_sample *s)
{
	return x->c->unit_ns && s->time_ns > x->c->first_ns
		       ? (s->time_ns - x->c->first_ns) / x->c->unit_ns
		       : 0;
}

static bool are_in_order(const struct cut *x)
{
	const struct html_sample *at = x->t->samples.at;
	for (size_t i = 1; i < x->t->samples.n; i++)
		if (time_in_file(x, &at[i]) < time_in_file(x, &at[i - 1]))
			return false;
	return true;
}

/* The samples from the i-th on that have one time, or, if they are in no order, all. */
static void take_run(const struct cut *x, size_t i, bool in_order, struct sample_run *r)
{
	const struct html_paths *t = x->t;
	uint64_t first = time_in_file(x, &t->samples.at[i]);
	r->at.n = 0;
	for (; i < t->samples.n; i++) {
		struct html_sample s = t->samples.at[i];
		s.time_ns = time_in_file(x, &s);
		if (in_order && s.time_ns != first)
			break;
		s.object = object_left_out(x, s.node);
		s.node = x->id[s.node];
		s.place = x->places ? s.place : 0;
		vec_push(&r->at, s);
	}
}

static void put_run(struct cut *x, const struct sample_run *r, struct html_sample *before)
{
	for (size_t i = 0; i < r->sorted.n; i++) {
		const struct html_sample *s = &r->sorted.at[i];
		put(x->c, COLUMN_SAMPLE_TIME, s->time_ns - before->time_ns);
		put(x->c, COLUMN_SAMPLE_THREAD, s->thread);
		put(x->c, COLUMN_SAMPLE_EVENT, s->event * HTML_SIDES + s->side);
		put_signed(x->c, COLUMN_SAMPLE_NODE, (int64_t)s->node - before->node);
		put(x->c, COLUMN_SAMPLE_WEIGHT, s->weight);
		put(x->c, COLUMN_SAMPLE_COUNT, s->count);
		put(x->c, COLUMN_SAMPLE_OBJECT, s->object);
		if (x->places)
			put(x->c, COLUMN_SAMPLE_PLACE, s->place);
		*before = *s;
	}
}

/* Samples mostly come in the order of time: those of one time are few, and in the caches. */
static void put_samples(struct cut *x, size_t enough)
{
	bool in_order = are_in_order(x);
	struct html_sample before = { 0 };
	struct sample_run r = { 0 };
	for (size_t i = 0; i < x->t->samples.n; i += r.at.n) {
		if (enough && html_columns_size(x->c) > enough)
			break;
		take_run(x, i, in_order, &r);
		sort_run(&r);
		join_run(&r);
		put_run(x, &r, &before);
	}
	vec_free(&r.at);
	vec_free(&r.sorted);
	vec_free(&r.keys);
}

static void put_places(struct cut *x)
{
	for (size_t i = 0; i < x->t->places.n && x->places; i++) {
		const struct html_place *p = &x->t->places.at[i];
		put(x->c, COLUMN_PLACE_OBJECT, p->object);
		put(x->c, COLUMN_PLACE_ADDRESS, p->address);
		put(x->c, COLUMN_PLACE_FILE, p->file);
		put(x->c, COLUMN_PLACE_LINE, p->line);
	}
}

/* ---- interface ---- */

struct html_columns html_columns_of(const struct html_paths *t, const struct html_limits *limits)
{
	size_t n = t->nodes.n;
	struct html_columns c = { .unit_ns = limits->unit_ns };
	struct cut x = { .t = t,
			 .c = &c,
			 .own = xalloc(n * sizeof(*x.own)),
			 .total = xalloc(n * sizeof(*x.total)),
			 .kept = xalloc(n * sizeof(*x.kept)),
			 .first = xalloc(n * sizeof(*x.first)),
			 .next = xalloc(n * sizeof(*x.next)),
			 .id = xalloc(n * sizeof(*x.id)),
			 .is_whole = xalloc(n * sizeof(*x.is_whole)),
			 .places = limits->places && t->places.n };
	memset(x.is_whole, true, n * sizeof(*x.is_whole));
	html_duration(t, &c.first_ns);
	choose(&x, limits);
	link_nodes(&x);
	put_nodes(&x);
	put_losses(&x);
	put_samples(&x, limits->enough);
	put_places(&x);
	free(x.own);
	free(x.total);
	free(x.kept);
	free(x.first);
	free(x.next);
	free(x.id);
	free(x.is_whole);
	return c;
}

size_t html_columns_size(const struct html_columns *c)
{
	size_t n = 0;
	for (size_t i = 0; i < N_HTML_COLUMNS; i++)
		n += c->at[i].bytes.n;
	return n;
}

void html_columns_done(struct html_columns *c)
{
	for (size_t i = 0; i < N_HTML_COLUMNS; i++)
		vec_free(&c->at[i].bytes);
}

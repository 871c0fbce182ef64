/* flow_lines.c - the rules of gcov 12: a piece of code counts for the last of its lines. A line
 * that is the last of none is executed as often as the pieces that it has a part in. */
#include "analysis/flow_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { MOST_LOOPS = 4096 }; /* looked for on one line */

struct part { /* of a line: the pieces of one function */
	uint32_t line;
	uint32_t seen_in; /* the last piece with a part of it */
	uint64_t inside;  /* of all those */
	uint64_t entered; /* how often those that end with it are, from others */
	bool inside_unknown, entered_unknown, ends_some;
	bool all_passed;   /* nothing but jumps that may be passed */
	uint32_t first, n; /* edges within, in inner[] */
};

struct lines {
	const struct flow *f;
	const struct symbols *s;
	const uint32_t *line_of;
	struct flow_line *at;
	VEC(struct part) parts; /* by function */
	uint32_t *part_of;      /* [lines]: the last one of each */
	uint32_t *last;         /* [n_pieces]: the part each ends with, or NONE */
	uint8_t *is_met;        /* [n_pieces]: from elsewhere */
	uint32_t *inner;        /* edges within a part, by part */
};

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* ---- pieces ---- */

/* The part of a line in a function whose parts begin with parts[first]. */
static struct part *part_at(struct lines *x, uint32_t first, uint32_t line)
{
	uint32_t i = x->part_of[line];
	if (i == NONE || i < first) {
		i = x->part_of[line] = (uint32_t)x->parts.n;
		vec_push(&x->parts,
			 ((struct part){ .line = line, .seen_in = NONE, .all_passed = true }));
	}
	return &x->parts.at[i];
}

static void add_to_part(struct lines *x, struct part *part, uint32_t piece, uint64_t addr)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	part->seen_in = piece;
	part->inside = add(part->inside, p->is_known ? p->count : 0);
	part->inside_unknown |= !p->is_known;
	part->all_passed &= addr >= p->passed;
	x->at[part->line].is_executed |= p->is_known && p->count > 0;
}

/* The first place of a piece, or NONE. The call of the hook is of its first statement's line, even
 * if there is no other code of that; or, if that is of none, of the line before. */
static symid first_place(const struct lines *x, const struct flow_piece *p)
{
	symid id = p->start < p->end ? symbols_find(x->s, p->start) : NONE;
	if (id != NONE && x->s->at[id].addr == p->start && x->line_of[id] != NONE)
		return id;
	for (id = p->addr < p->end ? symbols_find(x->s, p->addr) : NONE;
	     id < x->s->n && x->s->at[id].addr < p->end; id++)
		if (x->line_of[id] != NONE)
			return id;
	return NONE;
}

static uint32_t first_line(const struct lines *x, const struct flow_piece *p)
{
	symid id = first_place(x, p);
	return id == NONE ? NONE : x->line_of[id];
}

/* A jump that the compiler made: back to a loop's start, whose line it is given; or behind
 * statements without code, of the line that happens to be before it, if control comes from
 * elsewhere. */
static bool is_mere_jump(const struct lines *x, uint32_t piece)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	if (p->jumps_to == NONE)
		return false;
	if (p->hook)
		return x->is_met[piece] && x->s->at[first_place(x, p)].addr < p->start;
	const struct flow_piece *to = &x->f->pieces[p->jumps_to];
	return to->addr < p->addr && first_line(x, to) == first_line(x, p);
}

/* Pieces that control comes to from code of another line than theirs. */
static void mark_met(struct lines *x)
{
	for (size_t i = 0; i < x->f->n_edges; i++) {
		const struct flow_edge *e = &x->f->edges[i];
		const struct flow_piece *from = &x->f->pieces[e->from];
		symid last = symbols_find(x->s, from->end - 1);
		uint32_t line = last == NONE ? NONE : x->line_of[last];
		x->is_met[e->to] |= line != first_line(x, &x->f->pieces[e->to]);
	}
}

/* Each line of it once. It ends with the one of the highest number, as gcov sorts them. */
static void add_piece(struct lines *x, uint32_t first_part, uint32_t piece)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	symid first = first_place(x, p);
	uint32_t last = NONE;
	const char *file = NULL;

	x->last[piece] = NONE;
	if (first == NONE || is_mere_jump(x, piece))
		return;
	x->at[x->line_of[first]].starts_block |= p->hook != 0;
	for (symid i = first; i < x->s->n && x->s->at[i].addr < p->end; i++) {
		uint32_t line = x->line_of[i];
		struct part *part = line == NONE ? NULL : part_at(x, first_part, line);
		if (!part || part->seen_in == piece)
			continue;
		add_to_part(x, part, piece, x->s->at[i].addr);
		last = file == x->s->at[i].file && line < last ? last : line;
		file = x->s->at[i].file;
	}
	x->last[piece] = x->part_of[last];
	x->parts.at[x->last[piece]].ends_some = true;
}

static void add_pieces(struct lines *x)
{
	uint32_t first_part = 0;
	for (uint32_t i = 0; i < x->f->n_pieces; i++) {
		if (x->f->pieces[i].is_entry)
			first_part = (uint32_t)x->parts.n;
		add_piece(x, first_part, i);
	}
}

/* ---- edges within a part ---- */

static uint32_t part_within(const struct lines *x, const struct flow_edge *e)
{
	return x->last[e->from] == x->last[e->to] ? x->last[e->to] : NONE;
}

static void group_edges(struct lines *x)
{
	const struct flow *f = x->f;
	uint32_t first = 0;

	for (size_t i = 0; i < f->n_edges; i++) {
		uint32_t part = part_within(x, &f->edges[i]);
		if (part != NONE)
			x->parts.at[part].n++;
	}
	for (size_t i = 0; i < x->parts.n; i++) {
		x->parts.at[i].first = first;
		first += x->parts.at[i].n;
		x->parts.at[i].n = 0;
	}
	x->inner = xrealloc(NULL, first + 1, sizeof(*x->inner));
	for (size_t i = 0; i < f->n_edges; i++) {
		uint32_t part = part_within(x, &f->edges[i]);
		if (part != NONE)
			x->inner[x->parts.at[part].first + x->parts.at[part].n++] = (uint32_t)i;
	}
}

/* ---- ways into a part ---- */

struct ways {                     /* into a piece */
	uint64_t within, outside; /* from pieces of the same part, and from others */
	bool within_unknown, outside_unknown;
};

static struct ways *sum_ways(const struct lines *x)
{
	const struct flow *f = x->f;
	struct ways *ways = xalloc((f->n_pieces + 1) * sizeof(*ways));

	for (size_t i = 0; i < f->n_edges; i++) {
		const struct flow_edge *e = &f->edges[i];
		struct ways *w = &ways[e->to];
		if (part_within(x, e) != NONE) {
			w->within = add(w->within, e->count);
			w->within_unknown |= !e->is_known;
		} else {
			w->outside = add(w->outside, e->count);
			w->outside_unknown |= !e->is_known;
		}
	}
	return ways;
}

/* Either all ways in are known, or what is left of the piece's count tells. */
static void add_ways(struct part *s, const struct flow_piece *p, const struct ways *w)
{
	if (!p->enters_unseen && !w->outside_unknown)
		s->entered = add(s->entered, w->outside);
	else if (p->is_known && !w->within_unknown && w->within <= p->count)
		s->entered = add(s->entered, p->count - w->within);
	else
		s->entered_unknown = true;
}

static void enter_parts(struct lines *x)
{
	struct ways *ways = sum_ways(x);
	for (size_t i = 0; i < x->f->n_pieces; i++)
		if (x->last[i] != NONE)
			add_ways(&x->parts.at[x->last[i]], &x->f->pieces[i], &ways[i]);
	free(ways);
}

/* ---- loops on a line ---- */

struct loop_search {
	const struct flow *f;
	const uint32_t *edges; /* of the part, by `from` */
	uint32_t n;
	uint64_t *left; /* [n]: not yet part of a loop */
	uint32_t *path; /* [n] indexes into edges[] */
	uint8_t *done;  /* [n]: no loop is reached by this edge */
};

static uint32_t first_from(const struct loop_search *l, uint32_t piece)
{
	uint32_t low = 0, high = l->n;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (l->f->edges[l->edges[mid]].from < piece)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The next edge from where edge `k` leads that may be part of a loop, or NONE. */
static uint32_t next_edge(const struct loop_search *l, uint32_t k)
{
	uint32_t piece = l->f->edges[l->edges[k]].to;
	for (uint32_t i = first_from(l, piece); i < l->n && l->f->edges[l->edges[i]].from == piece;
	     i++)
		if (l->left[i] && !l->done[i])
			return i;
	return NONE;
}

/* The edges path[*from .. *end) of a loop reached from edge `start`; false: there is none. */
static bool find_loop(struct loop_search *l, uint32_t start, uint32_t *from, uint32_t *end)
{
	uint32_t depth = 0;

	l->path[depth++] = start;
	while (depth) {
		uint32_t piece = l->f->edges[l->edges[l->path[depth - 1]]].to;
		for (uint32_t i = 0; i < depth; i++) {
			if (l->f->edges[l->edges[l->path[i]]].from != piece)
				continue;
			*from = i;
			*end = depth;
			return true;
		}
		uint32_t next = next_edge(l, l->path[depth - 1]);
		if (next == NONE)
			l->done[l->path[--depth]] = true;
		else
			l->path[depth++] = next;
	}
	return false;
}

/* Takes the loop's rounds off its edges, and returns them. */
static uint64_t take_loop(struct loop_search *l, uint32_t from, uint32_t end)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = from; i < end; i++)
		least = l->left[l->path[i]] < least ? l->left[l->path[i]] : least;
	for (uint32_t i = from; i < end; i++)
		l->left[l->path[i]] -= least;
	return least;
}

static uint64_t take_loops(struct loop_search *l, unsigned *found)
{
	uint64_t rounds = 0;
	for (uint32_t i = 0, from, end; i < l->n; i++)
		while (l->left[i] && !l->done[i] && *found < MOST_LOOPS &&
		       find_loop(l, i, &from, &end)) {
			++*found;
			rounds = add(rounds, take_loop(l, from, end));
		}
	return rounds;
}

/* False: there are too many loops, or some of edges that are not known. */
static bool count_loops(const struct lines *x, const struct part *s, uint64_t *ret)
{
	struct loop_search l = { .f = x->f, .edges = x->inner + s->first, .n = s->n };
	bool is_known = true;
	unsigned found = 0;

	*ret = 0;
	if (!s->n)
		return true;
	if (s->n > MOST_LOOPS)
		return false;
	l.left = xalloc(l.n * sizeof(*l.left));
	l.path = xalloc((l.n + 1) * sizeof(*l.path));
	l.done = xalloc(l.n);
	for (uint32_t i = 0; i < l.n; i++)
		is_known &= x->f->edges[l.edges[i]].is_known;
	for (uint32_t i = 0; i < l.n; i++)
		l.left[i] = is_known ? x->f->edges[l.edges[i]].count : 1;
	*ret = take_loops(&l, &found);
	free(l.left);
	free(l.path);
	free(l.done);
	return is_known ? found < MOST_LOOPS : !found;
}

/* ---- all ---- */

/* Lines with code in functions of which no block was counted are not known by this. */
static void mark_measured(struct lines *x, size_t n)
{
	const struct flow *f = x->f;
	uint8_t *in_flow = xalloc(x->s->n + 1);
	symid function = NONE;

	for (size_t i = 0; i < f->n_pieces; i++) {
		uint64_t addr = f->pieces[i].hook ? f->pieces[i].hook : f->pieces[i].addr;
		symid id = symbols_find_function(x->s, addr);
		if (id != NONE)
			in_flow[id] = true;
	}
	for (size_t i = 0; i < n; i++)
		x->at[i].is_measured = true;
	for (symid i = 0; i < x->s->n; i++) {
		if (x->s->at[i].is_function)
			function = x->s->at[i].owner;
		if (x->line_of[i] != NONE && (function == NONE || !in_flow[function]))
			x->at[x->line_of[i]].is_measured = false;
	}
	free(in_flow);
}

/* A line whose only end is a jump that gcc led others past seems never to be reached, though code
 * of it was executed. */
static void count_part(struct lines *x, const struct part *s)
{
	struct flow_line *l = &x->at[s->line];
	uint64_t loops = 0;
	bool is_known = s->ends_some ? !s->entered_unknown && count_loops(x, s, &loops)
				     : !s->inside_unknown;
	uint64_t count = s->ends_some ? add(s->entered, loops) : s->inside;

	l->is_known &= is_known && !s->all_passed && (count || !s->inside);
	l->count = add(l->count, count);
}

struct flow_line *flow_lines(const struct flow *f, const struct symbols *s, const uint32_t *line_of,
			     size_t n)
{
	struct lines x = { .f = f, .s = s, .line_of = line_of };

	x.at = xalloc((n + 1) * sizeof(*x.at));
	x.last = xrealloc(NULL, f->n_pieces + 1, sizeof(*x.last));
	x.is_met = xalloc(f->n_pieces + 1);
	x.part_of = xrealloc(NULL, n + 1, sizeof(*x.part_of));
	memset(x.part_of, 0xff, n * sizeof(*x.part_of));
	mark_measured(&x, n);
	mark_met(&x);
	add_pieces(&x);
	group_edges(&x);
	enter_parts(&x);
	for (size_t i = 0; i < x.parts.n; i++)
		x.at[x.parts.at[i].line].is_known = true;
	for (size_t i = 0; i < x.parts.n; i++)
		count_part(&x, &x.parts.at[i]);
	vec_free(&x.parts);
	free(x.inner);
	free(x.last);
	free(x.is_met);
	free(x.part_of);
	return x.at;
}

/* flow_lines.c - counts executions of lines by the rules of gcov 12. A block counts for the last of
 * its lines; if its code is from several files, for the last line in each stretch of one file. A
 * line that is the last of no block is executed as often as all blocks that have code of it.
 *
 * These rules give 0 for some lines that were executed. For others they ignore functions in which
 * no block ends with the line. For such lines all blocks with code of the line count, except blocks
 * that continue after code inlined on the line.
 *
 * A block is one or more pieces: its code may branch within, for example to compare two values. It
 * has the number of its first piece. */
#include "analysis/flow_lines.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/flow_inlined.h"
#include "analysis/flow_loops.h"
#include "base/capped.h"
#include "base/search.h"
#include "base/vec.h"

struct line_part { /* the blocks of one function that have code of a line */
	uint32_t line;
	uint32_t seen_in; /* the last block with code of the line */
	uint64_t inside;  /* sum of the counts of these blocks */
	uint64_t entered; /* how often blocks that end with the line are entered from others */
	bool inside_unknown, entered_unknown, ends_some;
	bool all_passed;    /* the code is nothing but jumps that branches may skip */
	bool is_unsure;     /* has a jump that may be reached on ways that do not show */
	bool is_doubtful;   /* a block that ends with the line may end with another instead ... */
	bool is_mixed;      /* ... or is optimized code, in which lines are mixed */
	uint32_t n_guarded; /* number of clang's blocks with code of the line */
	uint32_t n_entries; /* number of blocks that are entered from others */
	uint32_t first, n;  /* edges within the part: range in inner[] */
};

struct stretch_end { /* a line that a block counts for */
	uint32_t part;
	uint64_t addr;            /* address of the line's code in the block */
	uint64_t within, outside; /* ways into the block: from blocks that count for the same line,
				     and from others */
	bool within_unknown, outside_unknown;
};

struct line_state {
	bool ends, never_ends; /* it was executed in functions in which a block ends with it; in
				  which none does */
	bool is_left_out;      /* 0 by the rules, though code of the line was executed */
	bool is_doubted;       /* it is not certain which line a block ends with */
	bool is_mixed;         /* known only if counting all of its blocks gives the same */
	bool is_optimized;     /* estimated unless the count is evident */
	bool evident_unknown;
	uint32_t n_evident; /* number of calls in its optimized code, and of starts of functions */
	uint64_t evident;   /* how often these were executed */
};

struct flow_lines {
	const struct flow *f;
	const struct symbols *s;
	const uint32_t *line_of;
	struct flow_line *at;
	struct line_state *states; /* [lines] */
	bool is_guarded; /* the current function's hooks have guards: it was compiled by clang */
	bool counts_all; /* blocks count for all of their lines, not only the last */
	VEC(struct line_part) parts; /* grouped by function */
	uint32_t *part_of;           /* [lines]: the line's last part */
	uint32_t *block_of;          /* [n_pieces]: the block of each piece */
	struct flow_edge *edges;     /* edges between blocks, by `from` */
	uint64_t *left_at;           /* [n_edges]: the last byte of the code before the edge */
	size_t n_edges;
	VEC(struct stretch_end) ends; /* grouped by block */
	uint32_t *first_end;          /* [n_pieces + 1]: index of a block's first entry in ends */
	uint8_t *is_met;              /* [n_pieces]: entered from code of another line */
	uint8_t *is_one_of; /* [n_pieces]: one of several ways, or where ways part or meet */
	uint8_t *is_reached;
	uint8_t *is_next;   /* [n_pieces]: only the previous piece leads to it */
	uint32_t *leads_to; /* [n_pieces]: the target of a block without work; otherwise NONE */
	uint32_t *works_in; /* [lines]: the last function in which the line has work, as its entry's
			       piece */
	uint32_t *inner;    /* indices of edges within a part, grouped by part */
};

/* ---- code of pieces ---- */

/* The line at an address, or NONE. */
static uint32_t line_at(const struct flow_lines *x, uint64_t addr)
{
	symid id = symbols_find(x->s, addr);
	return id == NONE ? NONE : x->line_of[id];
}

static void mark_met(struct flow_lines *x)
{
	for (size_t i = 0; i < x->f->n_edges; i++) {
		const struct flow_edge *e = &x->f->edges[i];
		const struct flow_piece *from = &x->f->pieces[e->from], *to = &x->f->pieces[e->to];
		bool is_only = (!i || e[-1].from != e->from) &&
			       (i + 1 == x->f->n_edges || e[1].from != e->from);
		x->is_met[e->to] |= line_at(x, from->end - 1) != line_at(x, to->start);
		x->is_one_of[e->from] |= !is_only;
		x->is_one_of[e->to] |= !is_only || x->is_reached[e->to];
		x->is_reached[e->to] = true;
	}
}

static bool is_before_guard(const struct flow_lines *x, uint32_t piece)
{
	const struct flow_piece *next = &x->f->pieces[piece] + 1;
	return piece + 1 < x->f->n_pieces && next->start < next->hook;
}

/* The address from which on the code of a piece belongs to the lines in the line table. After a
 * call this is the piece's first row: code before it belongs to the call. The hook's call belongs
 * to the line of the block's first statement, even if that line has no other code. If no row starts
 * in the piece, its line is that of the code before it, within a statement that has several ways;
 * or it has none, as at the end of a function. */
static uint64_t own_code(const struct flow_lines *x, uint32_t piece)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	bool may_be_moved = p->is_optimized || is_before_guard(x, piece);
	if (!p->hook && may_be_moved && x->is_met[piece] && p->own == UINT64_MAX)
		return p->own; /* code that was moved there, or that several jumps share */
	if (!p->hook)
		return piece && p[-1].is_call && p->own < p->end ? p->own : p->addr;
	bool is_within = !x->is_met[piece] && x->is_one_of[piece];
	return p->own == UINT64_MAX && is_within ? p->start : p->own;
}

/* The first place in a piece, from `id` on, that has a line; NONE: there is none. */
static symid place_from(const struct flow_lines *x, uint32_t piece, symid id)
{
	uint64_t end = x->f->pieces[piece].end;
	for (; id < x->s->n && x->s->at[id].addr < end; id++)
		if (x->line_of[id] != NONE)
			return id;
	return NONE;
}

/* Iterate over the places of a piece that have a line; NONE: there are no more. */
static symid first_place(const struct flow_lines *x, uint32_t piece)
{
	uint64_t own = own_code(x, piece);
	return place_from(x, piece, own < x->f->pieces[piece].end ? symbols_find(x->s, own) : NONE);
}

static symid next_place(const struct flow_lines *x, uint32_t piece, symid id)
{
	return place_from(x, piece, id + 1);
}

static uint32_t first_line(const struct flow_lines *x, uint32_t piece)
{
	symid id = first_place(x, piece);
	return id == NONE ? NONE : x->line_of[id];
}

/* Whether a place's code in a piece is more than the hook's call, no-ops and the jump at the
 * end. */
static bool has_work(const struct flow_lines *x, uint32_t piece, symid id)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	const struct symbol *at = &x->s->at[id];
	return at->addr < p->rest && at->end > p->work;
}

/* Notes the lines that have work in the function that starts with piece `entry`. */
static void note_work(struct flow_lines *x, uint32_t entry)
{
	uint32_t i = entry;
	x->is_guarded = false;
	do {
		const struct flow_piece *p = &x->f->pieces[i];
		x->is_guarded |= p->start < p->hook;
		for (symid id = first_place(x, i); id != NONE; id = next_place(x, i, id))
			if (has_work(x, i, id))
				x->works_in[x->line_of[id]] = entry;
	} while (++i < x->f->n_pieces && !x->f->pieces[i].is_entry);
}

/* Whether a jump is not a statement. A jump, or a block that is nothing but a jump, is a statement
 * such as a break if its line has no other code in the function. Otherwise the compiler made the
 * jump: back to a loop's start, over an else, or behind an if. It then has the line of that
 * statement, or of the code that happens to be before it. A jump at the end of other code matters
 * only in clang's code, where its line may be higher: gcov counts a block for its last line. */
static bool is_mere_jump(const struct flow_lines *x, uint32_t piece, symid id, uint32_t entry)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	uint32_t line = x->line_of[id];
	bool is_at_end = x->is_guarded && x->s->at[id].addr >= p->addr;
	return (!p->rest || is_at_end) && !p->is_optimized && !has_work(x, piece, id) &&
	       x->works_in[line] == entry;
}

/* Whether this is the block that clang makes behind an if whose last statement jumps: its line is
 * that of the jumping statement. */
static bool is_behind_jump(const struct flow_lines *x, uint32_t piece, uint32_t line)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	return p->hook && !p->is_entry && !p->is_optimized && line_at(x, p->start - 1) == line &&
	       line_at(x, p->end - 1) == line;
}

/* Whether a piece is nothing but jumps that are no statements. */
static bool is_idle(const struct flow_lines *x, uint32_t piece, uint32_t entry)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	symid id = p->rest ? NONE : first_place(x, piece);
	if (id == NONE)
		return false;
	uint32_t line = x->line_of[id];
	bool stays = p->jumps_to != NONE && first_line(x, p->jumps_to) == line;
	if (stays || is_behind_jump(x, piece, line))
		return true;
	for (; id != NONE; id = next_place(x, piece, id))
		if (!is_mere_jump(x, piece, id, entry))
			return false;
	return true;
}

/* Whether a jump belongs to no line. It follows statements without code, and has the line that
 * happens to be before it, while control comes from elsewhere. Or it is shared by many computed
 * gotos. */
static bool is_of_none(const struct flow_lines *x, uint32_t piece)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	if (p->jumps_to == NONE || !p->hook)
		return p->is_shared_jump;
	return x->is_met[piece] && x->s->at[first_place(x, piece)].addr < p->start;
}

/* ---- blocks ---- */

struct flow_sources { /* range of the pieces with edges into a piece */
	uint32_t first, last;
};

static struct flow_sources *find_sources(const struct flow *f)
{
	struct flow_sources *s = xalloc((f->n_pieces + 1) * sizeof(*s));

	for (size_t i = 0; i < f->n_pieces; i++)
		s[i].first = NONE;
	for (size_t i = 0; i < f->n_edges; i++) {
		struct flow_sources *to = &s[f->edges[i].to];
		to->first = to->first == NONE ? f->edges[i].from : to->first;
		to->last = f->edges[i].from;
	}
	return s;
}

/* Whether a piece continues a block: only pieces of the block lead to it, and no row of the line
 * table starts with it. */
static bool goes_on(const struct flow *f, uint32_t piece, uint32_t block,
		    const struct flow_sources *s)
{
	const struct flow_piece *p = &f->pieces[piece];
	if (p->hook || p->enters_unseen || p->own == p->addr || f->pieces[piece - 1].is_call)
		return false;
	return s->first != NONE && s->first >= block && s->last < piece;
}

static bool is_single(const struct flow_lines *x, uint32_t piece)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	bool is_last = piece + 1 == x->f->n_pieces || x->block_of[piece + 1] == piece + 1;
	return x->block_of[piece] == piece && is_last && !p->enters_unseen && !p->leaves_unseen;
}

/* The piece to which control passes on from a piece through idle blocks. Halves the paths on the
 * way. */
static uint32_t end_of_jumps(struct flow_lines *x, uint32_t piece)
{
	uint32_t *to = x->leads_to;
	for (; to[piece] != NONE; piece = to[piece])
		if (to[to[piece]] != NONE)
			to[piece] = to[to[piece]];
	return piece;
}

/* Control passes through idle blocks, which have one way out. If such blocks form a cycle, one of
 * them remains. */
static void find_passed(struct flow_lines *x)
{
	const struct flow *f = x->f;
	uint8_t *is_passed = xalloc(f->n_pieces + 1);

	for (uint32_t i = 0, entry = 0; i < f->n_pieces; i++) {
		if (f->pieces[i].is_entry)
			note_work(x, entry = i);
		is_passed[i] = is_single(x, i) && is_idle(x, i, entry);
	}
	for (size_t i = 0; i < f->n_edges; i++) {
		const struct flow_edge *e = &f->edges[i];
		if (is_passed[e->from] && x->block_of[e->to] == e->to &&
		    end_of_jumps(x, e->to) != e->from)
			x->leads_to[e->from] = e->to;
	}
	free(is_passed);
}

static void find_blocks(struct flow_lines *x)
{
	const struct flow *f = x->f;
	struct flow_sources *s = find_sources(f);

	for (uint32_t i = 0, block = 0; i < f->n_pieces; i++) {
		if (!i || !goes_on(f, i, block, &s[i]))
			block = i;
		x->block_of[i] = block;
		x->is_next[i] = i && !f->pieces[i].enters_unseen && s[i].first == i - 1 &&
				s[i].last == i - 1;
	}
	free(s);
	find_passed(x);
	x->edges = xalloc((f->n_edges + 1) * sizeof(*x->edges));
	x->left_at = xalloc((f->n_edges + 1) * sizeof(*x->left_at));
	for (size_t i = 0; i < f->n_edges; i++) {
		struct flow_edge e = f->edges[i];
		if (x->block_of[e.to] != e.to || x->leads_to[e.from] != NONE)
			continue;
		x->left_at[x->n_edges] = f->pieces[e.from].end - 1;
		e.from = x->block_of[e.from];
		e.to = end_of_jumps(x, e.to);
		x->edges[x->n_edges++] = e;
	}
}

/* ---- pieces ---- */

/* The part of a line in the current function, whose parts begin with parts[first]. */
static struct line_part *part_at(struct flow_lines *x, uint32_t first, uint32_t line)
{
	uint32_t i = x->part_of[line];
	if (i == NONE || i < first) {
		i = x->part_of[line] = (uint32_t)x->parts.n;
		vec_push(&x->parts,
			 ((struct line_part){ .line = line, .seen_in = NONE, .all_passed = true }));
	}
	return &x->parts.at[i];
}

static void add_to_part(struct flow_lines *x, struct line_part *part, uint32_t block, uint64_t addr,
			uint64_t passed)
{
	const struct flow_piece *p = &x->f->pieces[block];
	part->seen_in = block;
	part->n_guarded += x->is_guarded;
	part->inside = capped_sum(part->inside, p->is_known ? p->count : 0);
	part->inside_unknown |= !p->is_known;
	part->all_passed &= addr >= passed;
	part->is_mixed |= p->is_optimized;
	x->at[part->line].is_executed |= p->is_known && p->count > 0;
}

struct line_stretch {     /* a stretch of one file's code in a block */
	const char *file; /* NULL: none yet */
	uint32_t last;    /* its highest line, as gcov sorts them */
	uint64_t addr;    /* address of that line's code */
	bool is_of_jumps; /* the block is nothing but jumps: each of its lines is a statement of its
			     own */
	symid before;     /* code before the block's first row, which may belong to the block; NONE:
			     there is none */
};

static void add_end(struct flow_lines *x, const struct line_stretch *s)
{
	if (!s->file)
		return;
	uint32_t part = x->part_of[s->last];
	vec_push(&x->ends, ((struct stretch_end){ .part = part, .addr = s->addr }));
	x->parts.at[part].ends_some = true;
	x->parts.at[part].is_doubtful |= s->before != NONE && x->line_of[s->before] > s->last &&
					 x->s->at[s->before].file == s->file;
}

/* The place of the code before a block's first row, or NONE. Mostly it is the rest of another
 * statement. In a macro, whose code has a single column, it may be the statement that the block
 * ends with. */
static symid before_first_row(const struct flow_lines *x, uint32_t piece)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	bool has_other = p->hook && p->own > p->addr && p->own < p->end;
	symid id = has_other ? symbols_find(x->s, p->addr) : NONE;
	return id != NONE && x->line_of[id] != NONE ? id : NONE;
}

/* Adds a place to a block. Each line of a block is added once. */
static void add_place(struct flow_lines *x, struct line_stretch *s, uint32_t first_part,
		      uint32_t block, symid id, uint64_t passed)
{
	const char *file = x->s->at[id].file;
	uint32_t line = x->line_of[id];
	struct line_part *part = part_at(x, first_part, line);

	if (part->seen_in == block)
		return;
	add_to_part(x, part, block, x->s->at[id].addr, passed);
	bool ends_each = x->counts_all || s->is_of_jumps;
	if (s->file != file || ends_each)
		add_end(x, s);
	if (s->file != file || line >= s->last || ends_each) {
		s->last = line;
		s->addr = x->s->at[id].addr;
	}
	s->before = s->file && s->file != file ? NONE : s->before;
	s->file = file;
}

static void add_piece(struct flow_lines *x, struct line_stretch *s, uint32_t first_part,
		      uint32_t piece, uint32_t entry)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	symid first = first_place(x, piece);

	if (first == NONE || is_of_none(x, piece) || is_idle(x, piece, entry))
		return;
	x->at[x->line_of[first]].starts_block |= p->hook != 0;
	for (symid id = first; id != NONE; id = next_place(x, piece, id))
		if (!is_mere_jump(x, piece, id, entry))
			add_place(x, s, first_part, x->block_of[piece], id, p->passed);
	uint32_t last = line_at(x, p->end - 1);
	if (p->is_unsure && last != NONE && x->works_in[last] != entry)
		part_at(x, first_part, last)->is_unsure = true;
}

/* Adds all pieces. The first block of a function also has the line of the function's head, unless
 * it is a loop: code before the block belongs to the head. */
static void add_pieces(struct flow_lines *x)
{
	struct line_stretch s = { .before = NONE };
	uint32_t first_part = 0, entry = 0;
	symid head = NONE;

	for (uint32_t i = 0; i < x->f->n_pieces; i++) {
		const struct flow_piece *p = &x->f->pieces[i];
		if (x->block_of[i] == i) {
			add_end(x, &s);
			s = (struct line_stretch){ .before = before_first_row(x, i),
						   .is_of_jumps = !p->hook && !p->rest };
			x->first_end[i] = (uint32_t)x->ends.n;
		}
		if (p->is_entry) {
			first_part = (uint32_t)x->parts.n;
			note_work(x, entry = i);
			head = first_place(x, i);
		} else if (p->hook && head != NONE) {
			if (x->is_next[i])
				add_place(x, &s, first_part, i, head, UINT64_MAX);
			head = NONE;
		}
		add_piece(x, &s, first_part, i, entry);
	}
	add_end(x, &s);
}

/* ---- edges within a part ---- */

static size_t end_of_ends(const struct flow_lines *x, uint32_t block)
{
	for (uint32_t i = block + 1; i < x->f->n_pieces; i++)
		if (x->block_of[i] == i)
			return x->first_end[i];
	return x->ends.n;
}

static bool counts_for(const struct flow_lines *x, uint32_t block, uint32_t part)
{
	size_t end = end_of_ends(x, block);
	for (size_t i = x->first_end[block]; i < end; i++)
		if (x->ends.at[i].part == part)
			return true;
	return false;
}

/* Adds edges between blocks of one part to inner[]; only counts them if `inner` is NULL. */
static void add_inner(struct flow_lines *x, uint32_t *inner)
{
	for (uint32_t i = 0; i < x->n_edges; i++) {
		const struct flow_edge *e = &x->edges[i];
		size_t end = end_of_ends(x, e->to);
		for (size_t k = x->first_end[e->to]; k < end; k++) {
			struct line_part *part = &x->parts.at[x->ends.at[k].part];
			if (!counts_for(x, e->from, x->ends.at[k].part))
				continue;
			if (inner)
				inner[part->first + part->n] = i;
			part->n++;
		}
	}
}

static void group_edges(struct flow_lines *x)
{
	uint32_t first = 0;

	add_inner(x, NULL);
	for (size_t i = 0; i < x->parts.n; i++) {
		x->parts.at[i].first = first;
		first += x->parts.at[i].n;
		x->parts.at[i].n = 0;
	}
	x->inner = xrealloc(NULL, first + 1, sizeof(*x->inner));
	add_inner(x, x->inner);
}

/* ---- ways into a part ---- */

static void add_way(const struct flow_lines *x, struct stretch_end *to, const struct flow_edge *e)
{
	if (counts_for(x, e->from, to->part)) {
		to->within = capped_sum(to->within, e->count);
		to->within_unknown |= !e->is_known;
	} else {
		to->outside = capped_sum(to->outside, e->count);
		to->outside_unknown |= !e->is_known;
	}
}

/* Adds the ways into a block from others. Either all ways in are known, or the piece's count less
 * the ways from within the part gives them. */
static void enter_part(struct line_part *s, const struct flow_piece *p, const struct stretch_end *w)
{
	s->n_entries += w->outside || w->outside_unknown;
	if (!p->enters_unseen && !w->outside_unknown)
		s->entered = capped_sum(s->entered, w->outside);
	else if (p->is_known && !w->within_unknown && w->within <= p->count)
		s->entered = capped_sum(s->entered, p->count - w->within);
	else
		s->entered_unknown = true;
}

static void enter_parts(struct flow_lines *x)
{
	for (size_t i = 0; i < x->n_edges; i++) {
		uint32_t to = x->edges[i].to;
		size_t end = end_of_ends(x, to);
		for (size_t k = x->first_end[to]; k < end; k++)
			add_way(x, &x->ends.at[k], &x->edges[i]);
	}
	for (uint32_t i = 0; i < x->f->n_pieces; i++) {
		size_t end = x->block_of[i] == i ? end_of_ends(x, i) : 0;
		for (size_t k = x->first_end[i]; k < end; k++)
			enter_part(&x->parts.at[x->ends.at[k].part], &x->f->pieces[i],
				   &x->ends.at[k]);
	}
}

static bool is_settled(const struct line_state *s)
{
	bool is_doubted = s->is_left_out || s->is_doubted || s->is_mixed;
	return !is_doubted && !(s->ends && s->never_ends);
}

/* ---- code inlined on a line ---- */

struct line_ways { /* ways from a part's line into code inlined there, and back */
	VEC(struct inlined_pair) pairs;
	VEC(uint32_t) edges; /* [pair]: the edge that leads back; NONE: the pair leads in */
	VEC(uint32_t) parts; /* [pair] */
};

static bool may_be_resumed(const struct flow_lines *x, uint32_t part)
{
	const struct line_part *p = &x->parts.at[part];
	bool is_open = x->counts_all ? !is_settled(&x->states[p->line]) : p->n_guarded > 0;
	return p->n_entries > 1 && is_open;
}

static void note_way(struct line_ways *w, struct inlined_pair pair, uint32_t edge, uint32_t part)
{
	vec_push(&w->pairs, pair);
	vec_push(&w->edges, edge);
	vec_push(&w->parts, part);
}

/* Notes where a piece's code of the part's line continues into other code. */
static void note_ways_in(const struct flow_lines *x, struct line_ways *w, uint32_t piece,
			 uint32_t part)
{
	uint32_t line = x->parts.at[part].line;
	symid first = first_place(x, piece);
	const struct symbol *at = x->s->at;
	for (symid i = first; first != NONE && i + 1 < x->s->n; i++) {
		if (at[i + 1].addr >= x->f->pieces[piece].end)
			break;
		if (x->line_of[i] == line && x->line_of[i + 1] != line)
			note_way(w, (struct inlined_pair){ at[i + 1].addr, at[i].addr, NULL }, NONE,
				 part);
	}
}

static void find_ways(const struct flow_lines *x, struct line_ways *w)
{
	for (uint32_t i = 0; i < x->f->n_pieces; i++) {
		uint32_t block = x->block_of[i];
		size_t end = end_of_ends(x, block);
		for (size_t k = x->first_end[block]; k < end; k++)
			if (may_be_resumed(x, x->ends.at[k].part))
				note_ways_in(x, w, i, x->ends.at[k].part);
	}
	for (uint32_t i = 0; i < x->n_edges; i++) {
		const struct flow_edge *e = &x->edges[i];
		size_t end = end_of_ends(x, e->to);
		for (size_t k = x->first_end[e->to]; k < end; k++) {
			const struct stretch_end *to = &x->ends.at[k];
			if (may_be_resumed(x, to->part) && !counts_for(x, e->from, to->part))
				note_way(w, (struct inlined_pair){ x->left_at[i], to->addr, NULL },
					 i, to->part);
		}
	}
	flow_find_inlined(x->s, w->pairs.at, w->pairs.n);
}

struct line_callee { /* a function inlined on a part's line */
	uint32_t part;
	const char *function;
};

static int compare_callees(const void *l, const void *r)
{
	const struct line_callee *a = l, *b = r;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	return strcmp(a->function, b->function);
}

/* The inlined functions that code of the lines continues into, sorted; *n of them, to be freed. */
static struct line_callee *find_callees(const struct line_ways *w, size_t *n)
{
	struct line_callee *at = xalloc((w->pairs.n + 1) * sizeof(*at));
	*n = 0;
	for (size_t i = 0; i < w->pairs.n; i++)
		if (w->edges.at[i] == NONE && w->pairs.at[i].function)
			at[(*n)++] =
				(struct line_callee){ w->parts.at[i], w->pairs.at[i].function };
	qsort(at, *n, sizeof(*at), compare_callees);
	return at;
}

/* Subtracts ways back from code inlined on a line: control that returns does not execute the line
 * again. If no code of the line is seen to lead into the inlined function, that may be inlined on
 * another line, and the count is not known. */
static void leave_out_resumed(struct flow_lines *x)
{
	struct line_ways w = { 0 };

	find_ways(x, &w);
	size_t n;
	struct line_callee *callees = find_callees(&w, &n);
	for (size_t i = 0; i < w.pairs.n; i++) {
		if (w.edges.at[i] == NONE || !w.pairs.at[i].function)
			continue;
		struct line_part *p = &x->parts.at[w.parts.at[i]];
		const struct flow_edge *e = &x->edges[w.edges.at[i]];
		struct line_callee from = { w.parts.at[i], w.pairs.at[i].function };
		if (e->is_known && e->count <= p->entered &&
		    bsearch(&from, callees, n, sizeof(from), compare_callees))
			p->entered -= e->count;
		else if (!e->is_known || e->count)
			p->entered_unknown = true;
	}
	free(callees);
	vec_free(&w.pairs);
	vec_free(&w.edges);
	vec_free(&w.parts);
}

/* ---- the lines ---- */

struct measured_code { /* [symbols]: functions with pieces; [parts]: objects with such functions */
	uint8_t *functions, *parts;
};

static struct measured_code find_measured(const struct flow_lines *x)
{
	const struct flow *f = x->f;
	struct measured_code m = { xalloc(x->s->n + 1), xalloc(x->s->n_parts + 1) };

	for (size_t i = 0; i < f->n_pieces; i++) {
		uint64_t addr = f->pieces[i].hook ? f->pieces[i].hook : f->pieces[i].addr;
		symid id = symbols_find_function(x->s, addr);
		if (id == NONE)
			continue;
		m.functions[id] = true;
		m.parts[x->s->at[id].part] = true;
	}
	return m;
}

/* Marks lines with counted code, and with code elsewhere: in functions without hooks, in an object
 * that has functions with hooks. The number of executions is then not known. Other objects with
 * code of the line, such as libraries that use the same header, do not count. */
static void mark_measured(struct flow_lines *x)
{
	struct measured_code m = find_measured(x);
	symid function = NONE;

	for (symid i = 0; i < x->s->n; i++) {
		const struct symbol *at = &x->s->at[i];
		if (at->is_function)
			function = at->owner;
		if (x->line_of[i] == NONE || !m.parts[at->part])
			continue;
		struct flow_line *line = &x->at[x->line_of[i]];
		bool is_counted = function != NONE && m.functions[function];
		line->is_measured |= is_counted;
		line->is_elsewhere |= !is_counted;
	}
	free(m.functions);
	free(m.parts);
}

/* Adds the count of a part to its line. A line whose only end is a jump that gcc redirected
 * branches past seems never to be reached, though its code was executed: its count is not known. */
static void count_part(struct flow_lines *x, const struct line_part *s)
{
	struct flow_line *l = &x->at[s->line];
	struct line_state *state = &x->states[s->line];
	uint64_t loops = 0;
	bool is_known = !s->ends_some ? !s->inside_unknown
				      : !s->entered_unknown &&
						flow_count_loops(x->edges, x->inner + s->first,
								 s->n, &loops);
	uint64_t count = s->ends_some ? capped_sum(s->entered, loops) : s->inside;

	state->ends |= s->ends_some && s->inside;
	state->never_ends |= !s->ends_some && s->inside;
	state->is_left_out |= s->inside && (!count || (!s->ends_some && s->n_guarded > 1));
	state->is_doubted |= s->is_doubtful && count != s->inside;
	state->is_mixed |= s->is_mixed && count != s->inside;
	state->is_optimized |= s->is_mixed;
	l->is_known &= is_known && !s->all_passed && !s->is_unsure && (count || !s->inside);
	l->count = capped_sum(l->count, count);
}

static void note_evident(struct flow_lines *x, uint32_t line, const struct flow_piece *p)
{
	if (line == NONE)
		return;
	struct line_state *state = &x->states[line];
	state->n_evident++;
	state->evident_unknown |= !p->is_known;
	state->evident = capped_sum(state->evident, p->count);
}

/* Adds up calls and function starts in optimized code. The call that -pg makes at the start of a
 * function is on the function's line, so it does not count as a call. */
static void count_evident(struct flow_lines *x)
{
	for (uint32_t i = 0; i < x->f->n_pieces; i++) {
		const struct flow_piece *p = &x->f->pieces[i];
		if (!p->is_optimized)
			continue;
		uint32_t head = p->is_entry ? first_line(x, i) : NONE;
		uint32_t called = p->is_call ? line_at(x, p->call) : NONE;
		note_evident(x, head, p);
		note_evident(x, called == head ? NONE : called, p);
	}
}

/* Whether a count is evident. Most optimized code may be moved, merged with that of other lines, or
 * left out. This does not hold for a call, which is made as often as in the source, nor for the
 * start of a function. If there are several, the line may have been copied, or may make several
 * calls. */
static bool is_evident(const struct flow_line *l, const struct line_state *s)
{
	bool agrees = s->n_evident && !s->evident_unknown && s->evident == l->count;
	return !s->is_optimized || (agrees && (s->n_evident == 1 || !s->evident));
}

/* Calls each() for the lines of the function that starts with piece `entry`. */
static void each_line(struct flow_lines *x, uint32_t entry,
		      void (*each)(struct flow_line *l, void *arg), void *arg)
{
	uint32_t i = entry;
	do {
		for (symid id = first_place(x, i); id != NONE; id = next_place(x, i, id))
			each(&x->at[x->line_of[id]], arg);
	} while (++i < x->f->n_pieces && !x->f->pieces[i].is_entry);
}

static void note_executed(struct flow_line *l, void *arg)
{
	*(bool *)arg |= l->is_known && l->count;
}

static void forget_zero(struct flow_line *l, void *unused)
{
	(void)unused;
	l->is_known &= l->count != 0;
}

/* A function whose own copy was never called, but whose lines were executed, was inlined. Lines
 * that have code only in its own copy are then not known to be unexecuted. */
static void forget_unused_copies(struct flow_lines *x)
{
	for (uint32_t i = 0; i < x->f->n_pieces; i++) {
		const struct flow_piece *p = &x->f->pieces[i];
		bool was_executed = false;
		if (!p->is_entry || !p->is_optimized || !p->is_known || p->count)
			continue;
		each_line(x, i, note_executed, &was_executed);
		if (was_executed)
			each_line(x, i, forget_zero, NULL);
	}
}

static void add_counts(struct flow_lines *x, size_t n, bool counts_all)
{
	memset(x->part_of, 0xff, n * sizeof(*x->part_of));
	x->parts.n = x->ends.n = 0;
	free(x->inner);
	x->counts_all = counts_all;
	add_pieces(x);
	group_edges(x);
	enter_parts(x);
	leave_out_resumed(x);
	for (size_t i = 0; i < x->parts.n; i++)
		if (!counts_all || !is_settled(&x->states[x->parts.at[i].line]))
			count_part(x, &x->parts.at[i]);
}

static void count_lines(struct flow_lines *x, size_t n)
{
	uint64_t *first = xalloc((n + 1) * sizeof(*first));

	for (size_t i = 0; i < n; i++)
		x->at[i].is_known = x->at[i].is_measured && !x->at[i].is_elsewhere;
	add_counts(x, n, false);
	for (size_t i = 0; i < n; i++) {
		struct flow_line *l = &x->at[i];
		first[i] = l->count;
		if (is_settled(&x->states[i]))
			continue;
		l->is_known = l->is_measured && !l->is_elsewhere;
		l->count = 0;
	}
	add_counts(x, n, true);
	count_evident(x);
	for (size_t i = 0; i < n; i++) {
		struct flow_line *l = &x->at[i];
		const struct line_state *s = &x->states[i];
		l->is_known &= !s->is_mixed || l->count == first[i];
		l->is_estimated = !is_evident(l, s);
	}
	free(first);
	forget_unused_copies(x);
}

struct flow_line *flow_lines(const struct flow *f, const struct symbols *s, const uint32_t *line_of,
			     size_t n)
{
	struct flow_lines x = { .f = f, .s = s, .line_of = line_of };

	x.at = xalloc((n + 1) * sizeof(*x.at));
	x.first_end = xalloc((f->n_pieces + 1) * sizeof(*x.first_end));
	x.is_met = xalloc(f->n_pieces + 1);
	x.is_one_of = xalloc(f->n_pieces + 1);
	x.is_reached = xalloc(f->n_pieces + 1);
	x.is_next = xalloc(f->n_pieces + 1);
	x.leads_to = xrealloc(NULL, f->n_pieces + 1, sizeof(*x.leads_to));
	memset(x.leads_to, 0xff, (f->n_pieces + 1) * sizeof(*x.leads_to));
	x.works_in = xrealloc(NULL, n + 1, sizeof(*x.works_in));
	memset(x.works_in, 0xff, (n + 1) * sizeof(*x.works_in));
	x.part_of = xrealloc(NULL, n + 1, sizeof(*x.part_of));
	x.states = xalloc((n + 1) * sizeof(*x.states));
	x.block_of = xalloc((f->n_pieces + 1) * sizeof(*x.block_of));
	mark_measured(&x);
	mark_met(&x);
	find_blocks(&x);
	count_lines(&x, n);
	vec_free(&x.parts);
	free(x.inner);
	free(x.block_of);
	free(x.edges);
	free(x.left_at);
	vec_free(&x.ends);
	free(x.first_end);
	free(x.is_met);
	free(x.is_one_of);
	free(x.is_reached);
	free(x.is_next);
	free(x.leads_to);
	free(x.works_in);
	free(x.part_of);
	free(x.states);
	return x.at;
}

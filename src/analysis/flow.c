/* flow.c - splits counted functions into pieces at jumps and calls, and solves for the missing
 * counts. */
#include "analysis/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

/* ---- code ---- */

struct flow_step { /* an instruction, with flat addresses */
	uint64_t addr, target;
	uint32_t size;
	uint8_t kind; /* enum step_kind */
	bool is_hook;
	bool is_leader;   /* a piece starts here */
	bool is_entry;    /* a function starts here */
	bool ends_piece;  /* a call that may not return ... */
	bool no_way_back; /* ... or that never returns */
	bool ends_call, compares, is_nop;
	bool enters_unseen;
	bool starts_row;   /* a row of the line table starts here */
	bool has_no_line;  /* a row without a line starts here */
	bool is_optimized; /* as in the next row of the line table */
};

struct bare_piece {        /* a piece such as "f.cold" without a hook */
	size_t first, end; /* range of steps */
	symid owner;
};

struct flow_code {
	const struct symbols *s;
	VEC(struct flow_step) at; /* steps of functions with hooks, by address */
	VEC(struct bare_piece) bare;
	struct map64 split; /* by address: functions that have pieces elsewhere, so their jump
			       tables lead there, too */
	struct map64 never; /* functions that never return, by flat address */
	uint64_t base;      /* base of the object being read */
	uint64_t low, high; /* range of the function being read */
	size_t first;       /* its first step */
};

static void add_step(const struct object_step *from, void *arg)
{
	struct flow_code *c = arg;
	struct flow_step s = { .addr = from->addr + c->base,
			       .target = from->target ? from->target + c->base : 0,
			       .size = from->size,
			       .kind = (uint8_t)from->kind,
			       .ends_call = from->ends_call,
			       .compares = from->compares,
			       .is_nop = from->is_nop };
	vec_push(&c->at, s);
}

/* The step that contains addr, or NONE. */
static size_t find_step(const struct flow_code *c, uint64_t addr)
{
	size_t low = COUNT_WHILE(c->at.n, i, c->at.at[i].addr + c->at.at[i].size <= addr);
	return low < c->at.n && c->at.at[low].addr <= addr ? low : NONE;
}

static bool is_named(const struct symbols *s, uint64_t addr, const char *const *names)
{
	symid id = symbols_find_start(s, addr);
	if (id == NONE)
		return false;
	const char *name = s->at[id].name;
	size_t n = strcspn(name, "@");
	for (; *names; names++)
		if (!strncmp(name, *names, n) && !(*names)[n])
			return true;
	return false;
}

static bool is_hook(const struct symbols *s, const struct flow_step *at)
{
	static const char *const names[] = { "__sanitizer_cov_trace_pc",
					     "__sanitizer_cov_trace_pc_guard", NULL };
	return at->kind == STEP_CALL && is_named(s, at->target, names);
}

static bool has_guard(const struct symbols *s, const struct flow_step *hook)
{
	static const char *const names[] = { "__sanitizer_cov_trace_pc_guard", NULL };
	return is_named(s, hook->target, names);
}

static bool never_returns(const struct symbols *s, const struct flow_step *at)
{
	static const char *const names[] = { "exit",
					     "_exit",
					     "_Exit",
					     "abort",
					     "longjmp",
					     "_longjmp",
					     "siglongjmp",
					     "__longjmp_chk",
					     "__assert_fail",
					     "__stack_chk_fail",
					     "__cxa_throw",
					     "__cxa_rethrow",
					     "_Unwind_Resume",
					     "pthread_exit",
					     NULL };
	return at->kind == STEP_CALL && is_named(s, at->target, names);
}

/* Whether a call's target is a function of the program whose code has no way out. The compiler may
 * not have known that it never returns. */
static bool has_no_return(const struct flow_code *c, const struct flow_step *at)
{
	return at->kind == STEP_CALL && map64_get(&c->never, at->target) != NONE;
}

/* Whether gcc knows that the called function always returns: gcov then ends no block at the
 * call. */
static bool always_returns(const struct symbols *s, const struct flow_step *at)
{
	static const char *const names[] = {
		"memchr",   "memcmp",        "memcpy",       "memmove",
		"mempcpy",  "memset",        "bcmp",         "bcopy",
		"bzero",    "index",         "rindex",       "stpcpy",
		"stpncpy",  "strcasecmp",    "strcat",       "strchr",
		"strcmp",   "strcpy",        "strcspn",      "strdup",
		"strlen",   "strncasecmp",   "strncat",      "strncmp",
		"strncpy",  "strndup",       "strnlen",      "strpbrk",
		"strrchr",  "strspn",        "strstr",       "malloc",
		"calloc",   "realloc",       "free",         "sprintf",
		"snprintf", "vsprintf",      "vsnprintf",    "sscanf",
		"vsscanf",  "isalnum",       "isalpha",      "isblank",
		"iscntrl",  "isdigit",       "isgraph",      "islower",
		"isprint",  "ispunct",       "isspace",      "isupper",
		"isxdigit", "tolower",       "toupper",      "floor",
		"ceil",     "sqrt",          "pow",          "fmod",
		"log",      "log10",         "log2",         "exp",
		"sin",      "cos",           "tan",          "asin",
		"acos",     "atan",          "atan2",        "ldexp",
		"frexp",    "__sprintf_chk", "__memcpy_chk", "mcount",
		"_mcount",  "__fentry__",    NULL,
	};
	return at->kind == STEP_CALL && is_named(s, at->target, names);
}

static bool returns_twice(const struct symbols *s, const struct flow_step *at)
{
	static const char *const names[] = { "setjmp",     "_setjmp", "sigsetjmp", "__sigsetjmp",
					     "getcontext", "vfork",   NULL };
	return at->kind == STEP_CALL && is_named(s, at->target, names);
}

/* ---- functions ---- */

static uint64_t end_of_code(const struct symbols *s, symid function)
{
	symid i = function + 1;
	while (i < s->n && !s->at[i].is_function && s->at[i].part == s->at[function].part)
		i++;
	return s->at[i - 1].end;
}

static bool is_left(const struct flow_code *c, const struct flow_step *at)
{
	bool jumps = at->kind == STEP_JUMP || at->kind == STEP_BRANCH;
	return at->kind == STEP_RETURN || at->kind == STEP_SWITCH ||
	       (jumps && (at->target < c->low || at->target >= c->high));
}

/* Keeps the steps of the function just read if it calls the hook, or is a piece of a function that
 * may. */
static void end_function(struct flow_code *c, symid id)
{
	symid owner = c->s->at[id].owner;
	bool hooked = false, left = false;

	for (size_t i = c->first; i < c->at.n; i++) {
		struct flow_step *at = &c->at.at[i];
		at->is_hook = is_hook(c->s, at);
		hooked |= at->is_hook;
		left |= is_left(c, at);
	}
	if (!left)
		*map64_at(&c->never, c->low) = 0;
	if (!hooked && owner != id && owner < c->s->n)
		vec_push(&c->bare, ((struct bare_piece){ c->first, c->at.n, owner }));
	else if (!hooked)
		c->at.n = c->first;
	if (c->at.n > c->first)
		c->at.at[c->first].is_entry = c->at.at[c->first].is_leader = true;
}

/* Drops pieces of functions that have no hooks. */
static void drop_bare(struct flow_code *c)
{
	size_t n = 0, at = 0;
	for (size_t i = 0; i < c->bare.n; i++) /* before any step moves */
		if (find_step(c, c->s->at[c->bare.at[i].owner].addr) == NONE)
			c->bare.at[n++] = c->bare.at[i];
	for (size_t i = 0, k = 0; i < c->at.n; i++) {
		k += k < n && i == c->bare.at[k].end;
		if (k == n || i < c->bare.at[k].first)
			c->at.at[at++] = c->at.at[i];
	}
	c->at.n = at;
	vec_free(&c->bare);
}

static bool read_function(struct flow_code *c, symid id)
{
	const struct symbol *f = &c->s->at[id];
	const struct symbols_part *part = &c->s->parts[f->part];

	c->base = part->base;
	c->low = f->addr;
	c->high = end_of_code(c->s, id);
	c->first = c->at.n;
	if (c->low >= c->high)
		return true;
	if (!object_steps(part->object, c->low - c->base, c->high - c->base, add_step, c))
		return false;
	if (c->at.n > c->first)
		end_function(c, id);
	return true;
}

/* [parts]: whether something was counted in the object. */
static uint8_t *counted_parts(const struct profile *p, const struct symbols *s)
{
	uint8_t *counted = xalloc(s->n_parts + 1);
	for (size_t i = 0; i < p->n_blocks; i++) {
		symid id = symbols_find(s, p->blocks[i].addr);
		if (id != NONE && s->parts[s->at[id].part].object)
			counted[s->at[id].part] = true;
	}
	return counted;
}

static void mark_rows(struct flow_code *c, const struct symbols_part *part)
{
	struct address_range range = { part->low - part->base, part->high - part->base };
	size_t n, row = 0;
	struct line_start *rows = object_line_rows(part->object, range, &n);

	for (size_t i = 0; i < c->at.n; i++) {
		uint64_t addr = c->at.at[i].addr;
		if (addr < part->low || addr >= part->high)
			continue;
		while (row < n && rows[row].addr + part->base < addr)
			row++;
		c->at.at[i].is_optimized = row < n && rows[row].is_optimized;
		if (row == n || rows[row].addr + part->base != addr)
			continue;
		c->at.at[i].starts_row = rows[row].has_line;
		c->at.at[i].has_no_line = !rows[row].has_line;
	}
	free(rows);
}

static void read_code(struct flow_code *c, const struct profile *p)
{
	uint8_t *counted = counted_parts(p, c->s);

	for (symid i = 0; i < c->s->n; i++)
		if (c->s->at[i].owner != i && c->s->at[i].owner < c->s->n)
			*map64_at(&c->split, c->s->at[i].owner) = 0;
	for (symid i = 0; i < c->s->n; i++)
		if (c->s->at[i].is_function && counted[c->s->at[i].part] && !read_function(c, i))
			break;
	drop_bare(c);
	for (size_t i = 0; i < c->s->n_parts; i++)
		if (counted[i])
			mark_rows(c, &c->s->parts[i]);
	free(counted);
}

/* ---- starts of pieces ---- */

static void mark_target(struct flow_code *c, uint64_t target)
{
	size_t at = find_step(c, target);
	if (at != NONE && c->at.at[at].addr == target)
		c->at.at[at].is_leader = true;
}

/* The step at which a hook's code starts: the address of a guard is put in a register before the
 * call. */
static size_t start_of_hook(const struct flow_code *c, size_t i)
{
	for (size_t back = 1; has_guard(c->s, &c->at.at[i]) && back <= 2 && back <= i; back++) {
		const struct flow_step *at = &c->at.at[i - back];
		if (at->kind != STEP_ON || at[1].is_entry)
			break;
		if (at->target)
			return i - back;
		if (at->is_leader)
			break;
	}
	return i;
}

/* How many steps after a call still belong to it. If a row starts, these steps are another
 * statement, which stores the value where the call itself cannot: in a part of a structure. */
static size_t rest_of_call(const struct flow_code *c, size_t call)
{
	size_t n = 0;
	while (call + n + 1 < c->at.n && c->at.at[call + n + 1].ends_call &&
	       !c->at.at[call + n + 1].starts_row && !c->at.at[call + n + 1].is_entry)
		n++;
	return n;
}

static void mark_leaders(struct flow_code *c)
{
	for (size_t i = 0; i < c->at.n; i++) {
		struct flow_step *at = &c->at.at[i];
		if (at->kind == STEP_JUMP || at->kind == STEP_BRANCH)
			mark_target(c, at->target);
		at->no_way_back = never_returns(c->s, at);
		if (at->kind == STEP_ON || at->is_hook || i + 1 == c->at.n ||
		    always_returns(c->s, at))
			continue;
		bool is_call = at->kind == STEP_CALL || at->kind == STEP_CALL_SLOT;
		at->ends_piece = is_call;
		at += is_call ? rest_of_call(c, i) : 0;
		if (at + 1 == c->at.at + c->at.n)
			continue;
		at[1].is_leader = true;
		at[1].enters_unseen |= returns_twice(c->s, &c->at.at[i]);
	}
	for (size_t i = 0; i < c->at.n; i++) {
		struct flow_step *at = &c->at.at[i];
		if (!at->is_hook)
			continue;
		struct flow_step *start = &c->at.at[start_of_hook(c, i)];
		start->is_leader = true;
		/* clang makes no row if the line stays the same; in optimized code the line may be
		 * any */
		if (has_guard(c->s, at) && !start->is_optimized)
			start->starts_row |= !start->has_no_line;
		start->starts_row |= start->enters_unseen; /* continues the statement */
	}
}

/* ---- jump tables ---- */

struct table_jump {
	size_t from; /* the step that jumps */
	uint64_t target;
};

struct jump_tables {
	struct flow_code *c;
	VEC(uint64_t) named; /* in the code, ascending: a table ends where the next one begins */
	size_t from;
	uint64_t base;
	VEC(struct table_jump) jumps;
};

enum { MOST_STEPS_BACK = 12 };

static void add_jump(struct jump_tables *t, uint64_t target)
{
	mark_target(t->c, target);
	vec_push(&t->jumps, ((struct table_jump){ t->from, target }));
}

static void add_table_jump(uint64_t target, void *arg)
{
	struct jump_tables *t = arg;
	add_jump(t, target + t->base);
}

static int by_value(const void *l, const void *r)
{
	const uint64_t *left = l, *right = r;
	return ORDER(*left, *right);
}

static void find_named(struct jump_tables *t)
{
	for (size_t i = 0; i < t->c->at.n; i++) {
		const struct flow_step *at = &t->c->at.at[i];
		if (at->target && (at->kind == STEP_ON || at->kind == STEP_SWITCH))
			vec_push(&t->named, at->target);
	}
	if (t->named.n)
		qsort(t->named.at, t->named.n, sizeof(*t->named.at), by_value);
}

/* The first address after addr that the code names. */
static uint64_t named_after(const struct jump_tables *t, uint64_t addr)
{
	size_t low = COUNT_WHILE(t->named.n, i, t->named.at[i] <= addr);
	return low < t->named.n ? t->named.at[low] : UINT64_MAX;
}

static bool read_table(struct jump_tables *t, uint64_t table, bool is_relative,
		       struct address_range range)
{
	symid id = symbols_find(t->c->s, range.low);
	const struct symbols_part *part = &t->c->s->parts[t->c->s->at[id].part];
	struct address_range at = { table - part->base, named_after(t, table) - part->base };

	t->base = part->base;
	range.low -= part->base;
	range.high -= part->base;
	return table &&
	       object_jump_table(part->object, at, is_relative, range, add_table_jump, t) > 0;
}

/* Reads the table of a jump. Its address is in the jump or, in position-independent code, shortly
 * before it. */
static bool find_table(struct jump_tables *t, struct address_range range)
{
	const struct flow_step *at = &t->c->at.at[t->from];

	if (map64_get(&t->c->split, symbols_find_start(t->c->s, range.low)) != NONE)
		return false;
	if (at->target)
		return read_table(t, at->target, false, range);
	for (unsigned back = 0; back < MOST_STEPS_BACK && !at->is_entry; back++) {
		at--;
		if (at->kind == STEP_ON && at->target &&
		    (read_table(t, at->target, true, range) ||
		     read_table(t, at->target, false, range)))
			return true;
	}
	return false;
}

/* Reads labels as values (computed goto). The one jump to all of them may be anywhere in the
 * function [first, end). It goes to any label whose address is taken, or that is in a table. */
static bool find_labels(struct jump_tables *t, size_t first, size_t end, struct address_range range)
{
	struct flow_code *c = t->c;
	bool any = false;

	for (size_t i = first; i < end; i++) {
		uint64_t target = c->at.at[i].kind == STEP_ON ? c->at.at[i].target : 0;
		if (target > range.low && target < range.high) {
			add_jump(t, target);
			any = true;
		} else {
			any |= target && read_table(t, target, false, range);
		}
	}
	return any;
}

/* For a jump through a register whose table could not be read: it may go to any label of the
 * function. */
static void mark_labels(struct flow_code *c, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		c->at.at[i].enters_unseen |= c->at.at[i].is_leader;
}

static void read_tables(struct jump_tables *t)
{
	struct flow_code *c = t->c;

	find_named(t);
	for (size_t i = 0, first = 0, end; i < c->at.n; i = end) {
		bool unread = false;
		for (first = i, end = i + 1; end < c->at.n && !c->at.at[end].is_entry;)
			end++;
		struct address_range range = { c->at.at[first].addr,
					       c->at.at[end - 1].addr + c->at.at[end - 1].size };
		for (t->from = first; t->from < end; t->from++)
			if (c->at.at[t->from].kind == STEP_SWITCH && !find_table(t, range))
				unread |= !find_labels(t, first, end, range);
		if (unread)
			mark_labels(c, first, end);
	}
}

/* ---- pieces and edges ---- */

struct flow_making { /* state while edges are added */
	const struct flow_code *code;
	const struct jump_tables *tables;
	uint32_t *piece_of; /* [steps]: the piece that starts there, or NONE */
	size_t table;       /* index of the next jump in the tables */
	size_t room;        /* allocated number of edges */
};

/* Adds an edge, once: tables have many entries for the same target. */
static void add_edge(struct flow *f, struct flow_making *m, uint32_t from, uint32_t to)
{
	for (size_t i = f->n_edges; i-- > 0 && f->edges[i].from == from;)
		if (f->edges[i].to == to)
			return;
	f->edges = vec_grow(f->edges, f->n_edges, &m->room, 1, sizeof(*f->edges));
	f->edges[f->n_edges++] = (struct flow_edge){ .from = from, .to = to };
}

/* The piece that starts at an address, or NONE. */
static uint32_t piece_at(const struct flow_making *m, uint64_t target)
{
	size_t at = find_step(m->code, target);
	return at != NONE && m->code->at.at[at].addr == target ? m->piece_of[at] : NONE;
}

static void add_pieces(struct flow *f, const struct flow_code *c, uint32_t *piece_of)
{
	f->pieces = xalloc((c->at.n + 1) * sizeof(*f->pieces));
	for (size_t i = 0; i < c->at.n; i++) {
		const struct flow_step *at = &c->at.at[i];
		if (at->is_leader) {
			piece_of[i] = (uint32_t)f->n_pieces;
			f->pieces[f->n_pieces++] = (struct flow_piece){
				.start = at->addr,
				.addr = at->addr,
				.own = UINT64_MAX,
				.is_entry = at->is_entry,
				.enters_unseen = at->is_entry || at->enters_unseen,
				.jumps_to = NONE,
			};
		} else {
			piece_of[i] = NONE;
		}
		struct flow_piece *p = &f->pieces[f->n_pieces - 1];
		p->end = at->addr + at->size;
		p->is_optimized |= at->is_optimized;
		if (at->starts_row && p->own == UINT64_MAX)
			p->own = at->addr;
		bool is_last = at->kind == STEP_JUMP || (at->kind == STEP_BRANCH && p->rest);
		if (!at->is_hook && !at->is_nop && !is_last) {
			p->work = p->rest ? p->work : at->addr;
			p->rest = p->end;
		}
		if (!at->is_hook)
			continue;
		p->hook = at->addr;
		p->addr = p->end;
		p->work = p->rest = 0;
		p->is_known = true;
	}
}

/* The call that ends at step `last`, or that step itself. */
static const struct flow_step *call_before(const struct flow_code *c, size_t last)
{
	size_t i = last;
	while (i && c->at.at[i].ends_call && !c->at.at[i].is_leader)
		i--;
	return &c->at.at[c->at.at[i].ends_piece ? i : last];
}

static void add_table_edges(struct flow *f, struct flow_making *m, uint32_t piece, size_t last)
{
	const struct jump_tables *t = m->tables;
	for (; m->table < t->jumps.n && t->jumps.at[m->table].from <= last; m->table++) {
		const struct table_jump *j = &t->jumps.at[m->table];
		uint32_t to = j->from == last ? piece_at(m, j->target) : NONE;
		if (to != NONE)
			add_edge(f, m, piece, to);
	}
}

/* Whether the piece compares and does not branch: gcc leaves out a branch to the same target as
 * that of the jump or no-op behind it. */
static bool compares_in_vain(const struct flow_piece *p, const struct flow_step *last)
{
	const struct flow_step *at = last;
	while (at->addr >= p->rest && at->addr > p->addr)
		at--;
	return at != last && at->compares;
}

static bool is_bare(const struct flow_piece *p) { return !p->rest && !p->hook; }

/* Whether jumps to the same target, without a row, come right before a piece, after no-ops. They
 * are other ways to the same statement, and only the last of them has its row. */
static bool follows_nameless(const struct flow *f, uint32_t piece, uint32_t to)
{
	size_t edge = to == NONE ? 0 : f->n_edges;

	while (piece-- > 0 && is_bare(&f->pieces[piece]) && edge--)
		if (f->edges[edge].from == piece && f->edges[edge].to != piece + 1)
			return f->pieces[piece].is_nameless && f->edges[edge].to == to;
	return false;
}

/* Adds the edges out of the piece that ends with step `last`. */
static void add_edges_of(struct flow *f, struct flow_making *m, uint32_t piece, size_t last)
{
	const struct flow_code *c = m->code;
	const struct flow_step *at = call_before(c, last), *end = &c->at.at[last];
	struct flow_piece *p = &f->pieces[piece];
	size_t before = f->n_edges;
	bool jumps = end->kind == STEP_JUMP || end->kind == STEP_BRANCH;
	bool goes_on = end->kind <= STEP_CALL_SLOT || end->kind == STEP_BRANCH;
	uint32_t to = jumps ? piece_at(m, end->target) : NONE;

	p->jumps_to = end->kind == STEP_JUMP && p->addr == end->addr ? to : NONE;
	bool is_all = p->addr == end->addr ||
		      (p->start < p->hook && p->addr == end[-1].addr); /* clang loads it first */
	p->is_shared_jump = p->hook && end->kind == STEP_SWITCH && is_all;
	p->passed = end->kind == STEP_JUMP ? end->addr : UINT64_MAX;
	p->is_nameless = is_bare(p) && end->kind == STEP_JUMP && !end->starts_row;
	p->is_unsure = end->starts_row &&
		       (compares_in_vain(p, end) || (is_bare(p) && follows_nameless(f, piece, to)));
	p->is_call = at->ends_piece;
	p->call = at->addr;
	if (to != NONE)
		add_edge(f, m, piece, to);
	if (goes_on && !at->no_way_back && last + 1 < c->at.n && !end[1].is_entry)
		add_edge(f, m, piece, piece + 1);
	if (f->n_edges > before && p->is_call)
		f->edges[before].is_known = has_no_return(c, at); /* known to be 0 */
	add_table_edges(f, m, piece, last);
	p->leaves_unseen = p->is_call || f->n_edges == before || (jumps && to == NONE);
}

static void connect(struct flow *f, const struct flow_code *c, const struct jump_tables *t)
{
	struct flow_making m = { .code = c, .tables = t };
	uint32_t piece = NONE;

	m.piece_of = xrealloc(NULL, c->at.n + 1, sizeof(*m.piece_of));
	add_pieces(f, c, m.piece_of);
	for (size_t i = 0; i < c->at.n; i++) {
		piece = c->at.at[i].is_leader ? m.piece_of[i] : piece;
		if (i + 1 == c->at.n || c->at.at[i + 1].is_leader)
			add_edges_of(f, &m, piece, i);
	}
	free(m.piece_of);
}

/* Pieces that no edge leads to: those with a hook are entered by an exception only; others are
 * padding after a function's end, and become empty. */
static void mark_unreached(struct flow *f)
{
	uint8_t *reached = xalloc(f->n_pieces + 1);

	for (size_t i = 0; i < f->n_edges; i++)
		reached[f->edges[i].to] = true;
	for (size_t i = 0; i < f->n_pieces; i++) {
		struct flow_piece *p = &f->pieces[i];
		if (reached[i] || p->enters_unseen)
			continue;
		if (p->hook)
			p->enters_unseen = true;
		else
			p->end = p->addr;
	}
	free(reached);
}

/* ---- jumps that branches skip ---- */

/* A statement that only jumps, such as a break, has no hook of its own. gcc redirects branches that
 * lead to it to its target, so that it is not known how often the statement was executed:
 *
 *  if (a)          je T
 *    b();    call b
 *  break;          jmp T */

struct ways {
	uint32_t n_out;
	uint32_t branch;      /* its last edge that does not lead to the next piece, or NONE */
	uint32_t first, last; /* range of the pieces that lead to it */
};

static struct ways *find_ways(const struct flow *f)
{
	struct ways *ways = xalloc((f->n_pieces + 1) * sizeof(*ways));

	for (size_t i = 0; i < f->n_pieces; i++)
		ways[i].branch = ways[i].first = NONE;
	for (size_t i = 0; i < f->n_edges; i++) {
		const struct flow_edge *e = &f->edges[i];
		struct ways *from = &ways[e->from], *to = &ways[e->to];
		from->n_out++;
		if (e->to != e->from + 1)
			from->branch = (uint32_t)i;
		if (to->first == NONE || e->from < to->first)
			to->first = e->from;
		if (e->from > to->last)
			to->last = e->from;
	}
	return ways;
}

static bool may_be_taken(const struct flow *f, const struct ways *w, uint32_t to)
{
	if (w->branch == NONE || w->n_out != 2)
		return false;
	const struct flow_edge *e = &f->edges[w->branch];
	return e->to == to && (!e->is_known || e->count);
}

/* The targets of the branches that one block was compiled into. */
struct block_targets {
	uint32_t at[2];
	unsigned n; /* number of distinct targets; above 2 they are not all told apart */
	bool is_beyond;
};

static void add_target(struct block_targets *t, uint32_t target)
{
	for (unsigned i = 0; i < t->n && i < ARRAY_LEN(t->at); i++)
		if (t->at[i] == target)
			return;
	if (t->n < ARRAY_LEN(t->at))
		t->at[t->n] = target;
	t->n++;
}

/* Whether a block of [first, last] chooses between cases of a switch, some of which are after these
 * pieces. A comparison of floating-point numbers also has several branches, but to only two
 * targets. */
static bool chooses_beyond(const struct flow *f, const struct ways *ways, uint32_t first,
			   uint32_t last, uint32_t to)
{
	struct block_targets t = { .n = 0 };
	for (uint32_t i = first; i <= last; i++) {
		const struct ways *w = &ways[i];
		uint32_t target = w->branch == NONE ? NONE : f->edges[w->branch].to;
		if (f->pieces[i].hook || w->first != w->last || w->first + 1 != i)
			t = (struct block_targets){ .n = 0 };
		if (target == NONE)
			continue;
		add_target(&t, target);
		t.is_beyond |= target > last && target != to;
		if (t.is_beyond && (t.n > 2 || w->n_out > 2))
			return true;
	}
	return false;
}

/* Whether a branch may skip the jump at the end of a piece. The branch must be the only way into
 * the code between it and the jump. Branches that choose between the cases of a switch, or that
 * enclose the switch, rightly lead past its breaks. */
static bool may_be_passed(const struct flow *f, const struct ways *ways, uint32_t piece,
			  uint32_t to)
{
	enum { MOST_PIECES = 256 };
	uint32_t first = piece;

	for (uint32_t i = piece; i > 0 && piece - i < MOST_PIECES; i--) {
		if (f->pieces[i].enters_unseen || ways[i].last > piece)
			return false;
		first = ways[i].first < first ? ways[i].first : first;
		bool is_if = f->pieces[i].hook != 0; /* the guarded code is a separate block */
		if (first == i - 1 && is_if && ways[i].n_out <= 2 &&
		    may_be_taken(f, &ways[i - 1], to))
			return !chooses_beyond(f, ways, i, piece, to);
	}
	return false;
}

static void mark_passed(struct flow *f)
{
	struct ways *ways = find_ways(f);

	for (uint32_t i = 0; i < f->n_pieces; i++) {
		struct flow_piece *p = &f->pieces[i];
		bool is_all = p->hook && p->passed == p->addr; /* a statement of its own */
		bool jumps = p->passed != UINT64_MAX && ways[i].branch != NONE && !is_all;
		if (!jumps || !may_be_passed(f, ways, i, f->edges[ways[i].branch].to))
			p->passed = UINT64_MAX;
	}
	free(ways);
}

/* ---- counts ---- */

static struct flow_piece *piece_of_hook(struct flow *f, uint64_t hook)
{
	size_t low = COUNT_WHILE(f->n_pieces, i, f->pieces[i].end <= hook);
	return low < f->n_pieces && f->pieces[low].hook == hook ? &f->pieces[low] : NULL;
}

/* Adds the counts of records. A record has the address of the hook's call, or of where that returns
 * to. False: there is no such record. */
static bool take_records(struct flow *f, const struct flow_code *c, const struct profile *p)
{
	bool any = false;
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct block *b = &p->blocks[i];
		size_t at = find_step(c, b->addr);
		if (at != NONE && !c->at.at[at].is_hook && b->addr)
			at = find_step(c, b->addr - 1);
		if (at == NONE || !c->at.at[at].is_hook)
			continue;
		struct flow_piece *piece = piece_of_hook(f, c->at.at[at].addr);
		if (!piece)
			continue;
		if (__builtin_add_overflow(piece->count, b->count, &piece->count))
			piece->count = UINT64_MAX;
		any = true;
	}
	return any;
}

/* ---- solving ---- */

struct ends { /* the edges on one side of a piece */
	uint64_t sum;
	uint32_t unknown;
};

struct solver {
	struct flow *f;
	struct ends *in, *out;      /* [n_pieces] */
	uint32_t *first_out;        /* [n_pieces + 1]: first edge by `from` */
	uint32_t *first_in, *by_to; /* edges by target: [n_pieces + 1], [n_edges] */
	VEC(uint32_t) work;
};

static void index_edges(struct solver *x)
{
	const struct flow *f = x->f;
	size_t n = f->n_pieces;

	x->first_out = xalloc((n + 1) * sizeof(*x->first_out));
	x->first_in = xalloc((n + 2) * sizeof(*x->first_in));
	x->by_to = xalloc((f->n_edges + 1) * sizeof(*x->by_to));
	x->in = xalloc((n + 1) * sizeof(*x->in));
	x->out = xalloc((n + 1) * sizeof(*x->out));
	for (size_t i = 0; i < f->n_edges; i++) {
		x->first_out[f->edges[i].from + 1]++;
		x->first_in[f->edges[i].to + 2]++;
		x->out[f->edges[i].from].unknown += !f->edges[i].is_known;
		x->in[f->edges[i].to].unknown += !f->edges[i].is_known;
	}
	for (size_t i = 0; i < n; i++) {
		x->first_out[i + 1] += x->first_out[i];
		x->first_in[i + 1] += x->first_in[i];
	}
	for (size_t i = 0; i < f->n_edges; i++)
		x->by_to[x->first_in[f->edges[i].to + 1]++] = (uint32_t)i;
}

static void know_piece(struct solver *x, uint32_t piece, uint64_t count)
{
	x->f->pieces[piece].count = count;
	x->f->pieces[piece].is_known = true;
	vec_push(&x->work, piece);
}

static void know_edge(struct solver *x, uint32_t edge, uint64_t count)
{
	struct flow_edge *e = &x->f->edges[edge];
	struct ends *out = &x->out[e->from], *in = &x->in[e->to];

	e->count = count;
	e->is_known = true;
	out->unknown--;
	in->unknown--;
	if (__builtin_add_overflow(out->sum, count, &out->sum))
		out->sum = UINT64_MAX;
	if (__builtin_add_overflow(in->sum, count, &in->sum))
		in->sum = UINT64_MAX;
	vec_push(&x->work, e->from);
	vec_push(&x->work, e->to);
}

/* Derives unknown edges on one side of a piece with a known count. If it is 0, all are 0. Otherwise
 * the last unknown edge gets the rest. Counts that contradict each other (after a longjmp) tell
 * nothing. */
static void share_out(struct solver *x, uint32_t piece, const struct ends *side, bool is_all,
		      const uint32_t *edges, uint32_t first, uint32_t end)
{
	uint64_t count = x->f->pieces[piece].count;
	bool is_last = is_all && side->unknown == 1 && count >= side->sum;

	if (!side->unknown || (count && !is_last))
		return;
	uint64_t rest = count ? count - side->sum : 0;
	for (uint32_t i = first; i < end; i++) {
		uint32_t edge = edges ? edges[i] : i;
		if (!x->f->edges[edge].is_known)
			know_edge(x, edge, rest);
	}
}

static void look_at(struct solver *x, uint32_t i)
{
	const struct flow_piece *p = &x->f->pieces[i];

	if (!p->is_known && !p->enters_unseen && !x->in[i].unknown)
		know_piece(x, i, x->in[i].sum);
	else if (!p->is_known && !p->leaves_unseen && !x->out[i].unknown)
		know_piece(x, i, x->out[i].sum);
	if (!p->is_known)
		return;
	share_out(x, i, &x->in[i], !p->enters_unseen, x->by_to, x->first_in[i], x->first_in[i + 1]);
	share_out(x, i, &x->out[i], !p->leaves_unseen, NULL, x->first_out[i], x->first_out[i + 1]);
}

static void work_off(struct solver *x)
{
	while (x->work.n)
		look_at(x, x->work.at[--x->work.n]);
}

enum { MOST_CALLS = 1000 };

/* Whether all calls from a piece up to the next one with a known count seem to have returned. If
 * fewer came out than went in, it is not known which of several calls did not return. */
static bool may_return(const struct solver *x, uint32_t piece)
{
	const struct flow *f = x->f;
	uint64_t count = f->pieces[piece].count;

	for (size_t n = 0; n < MOST_CALLS; n++) {
		const struct flow_piece *p = &f->pieces[piece];
		uint32_t out = x->first_out[piece];
		if (p->is_known && n)
			return p->count >= count;
		if (!p->is_call || x->first_out[piece + 1] != out + 1)
			return true;
		if (f->edges[out].is_known)
			return f->edges[out].count >= count;
		piece = f->edges[out].to;
		if (x->first_in[piece + 1] - x->first_in[piece] > 1 ||
		    f->pieces[piece].enters_unseen)
			return true;
	}
	return true;
}

/* The same for the calls before a piece that is left `count` times: none of them may be the one
 * that did not return. */
static bool may_have_returned(const struct solver *x, uint32_t piece, uint64_t count)
{
	const struct flow *f = x->f;

	for (size_t n = 0; n < MOST_CALLS; n++) {
		if (x->first_in[piece + 1] != x->first_in[piece] + 1 ||
		    f->pieces[piece].enters_unseen)
			return true;
		uint32_t from = f->edges[x->by_to[x->first_in[piece]]].from;
		if (!f->pieces[from].is_call || x->first_out[from + 1] != x->first_out[from] + 1)
			return true;
		if (f->pieces[from].is_known)
			return f->pieces[from].count <= count;
		piece = from;
	}
	return true;
}

/* Assumes that the call at a piece's end returns, unless counts tell otherwise. */
static void assume_return(struct solver *x, uint32_t piece)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	uint32_t edge = x->first_out[piece];

	if (!p->is_call || x->first_out[piece + 1] != edge + 1)
		return;
	const struct flow_edge *e = &x->f->edges[edge];
	if (p->is_known && !e->is_known && may_return(x, piece))
		know_edge(x, edge, p->count);
	else if (!p->is_known && e->is_known && may_have_returned(x, piece, e->count))
		know_piece(x, piece, e->count);
	work_off(x);
}

/* The target of an edge; a piece that only leads on is skipped. */
static uint32_t end_of_edge(const struct solver *x, uint32_t edge)
{
	uint32_t to = x->f->edges[edge].to, out = x->first_out[to];
	const struct flow_piece *p = &x->f->pieces[to];
	bool passes_on = !p->enters_unseen && !p->leaves_unseen &&
			 x->first_in[to + 1] == x->first_in[to] + 1 &&
			 x->first_out[to + 1] == out + 1;
	return passes_on ? x->f->edges[out].to : to;
}

/* Ways that part at a piece may all meet again at one piece that has no other ways in: both are
 * then executed equally often. Functions with a variable number of arguments begin like this; so do
 * conversions of numbers. */
static void join_ways(struct solver *x, uint32_t piece)
{
	const struct flow_piece *p = &x->f->pieces[piece];
	uint32_t first = x->first_out[piece], end = x->first_out[piece + 1];

	if (p->leaves_unseen || end < first + 2)
		return;
	uint32_t to = end_of_edge(x, first);
	for (uint32_t i = first; i < end; i++)
		if (end_of_edge(x, i) != to && x->f->edges[i].to != to)
			return;
	const struct flow_piece *met = &x->f->pieces[to];
	if (p->is_known == met->is_known || met->enters_unseen ||
	    x->first_in[to + 1] - x->first_in[to] != end - first)
		return;
	if (met->is_known)
		know_piece(x, piece, met->count);
	else
		know_piece(x, to, p->count);
	work_off(x);
}

static void solve(struct flow *f)
{
	struct solver x = { .f = f };

	index_edges(&x);
	for (uint32_t i = 0; i < f->n_pieces; i++) {
		look_at(&x, i);
		work_off(&x);
	}
	for (uint32_t i = 0; i < f->n_pieces; i++)
		join_ways(&x, i);
	for (uint32_t i = 0; i < f->n_pieces; i++)
		assume_return(&x, i);
	for (uint32_t i = (uint32_t)f->n_pieces; i-- > 0;)
		assume_return(&x, i);
	free(x.in);
	free(x.out);
	free(x.first_in);
	free(x.first_out);
	free(x.by_to);
	vec_free(&x.work);
}

/* ---- life ---- */

struct flow *flow_new(const struct profile *p, const struct symbols *s)
{
	struct flow *f = xalloc(sizeof(*f));
	struct flow_code c = { .s = s };
	struct jump_tables t = { .c = &c };

	read_code(&c, p);
	mark_leaders(&c);
	read_tables(&t);
	connect(f, &c, &t);
	mark_unreached(f);
	bool any = take_records(f, &c, p);
	if (any) {
		solve(f);
		mark_passed(f);
	}
	map64_free(&c.split);
	map64_free(&c.never);
	vec_free(&c.at);
	vec_free(&t.jumps);
	vec_free(&t.named);
	if (!any) {
		flow_free(f);
		return NULL;
	}
	return f;
}

void flow_free(struct flow *f)
{
	if (!f)
		return;
	free(f->pieces);
	free(f->edges);
	free(f);
}

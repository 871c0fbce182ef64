/* coverage.c - collects time, calls and executions by file and line, and carries counts to lines
 * that follow counted ones in a block. */
#include "analysis/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/map64.h"
#include "base/sort.h"
#include "paths/stack_groups.h"

struct located { /* a place with a source line */
	uint32_t file, line;
	symid place;
};

/* What is known of a place from the places before it in its function. */
struct before {
	uint64_t count;  /* count of the block that continues into the place */
	bool is_known;   /* false if the entry is not counted: in a piece such as f.cold */
	bool is_counted; /* the function has counted blocks */
	bool is_unsure;  /* the function was executed, but its calls were not counted */
	bool is_marked;  /* is_unsure, and not only because of stacks: files of mere callers are not
			    marked as executed */
};

/* ---- places by file and line ---- */

static int by_file_and_line(const void *l, const void *r)
{
	const struct located *a = l, *b = r;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return ORDER(a->place, b->place);
}

static struct located *locate_places(struct symbols *s, const uint8_t *wanted,
				     const char *const **files, size_t *n)
{
	struct located *at = xrealloc(NULL, s->n, sizeof(*at));
	struct map64 file_of = { 0 };
	size_t n_files;

	*files = symbols_files(s, &n_files);
	for (size_t i = 0; i < n_files; i++) /* backwards: newest first */
		*map64_at(&file_of, (uintptr_t)(*files)[i]) = (uint32_t)(n_files - 1 - i);
	*n = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct symbol *p = &s->at[i];
		if (!p->file || !p->line || (wanted && !wanted[i]))
			continue;
		at[(*n)++] = (struct located){ map64_get(&file_of, (uintptr_t)p->file), p->line,
					       (symid)i };
	}
	map64_free(&file_of);
	qsort(at, *n, sizeof(*at), by_file_and_line);
	return at;
}

static void add_files(struct coverage *c, struct symbols *s, const uint8_t *wanted)
{
	const char *const *files;
	size_t n;
	struct located *at = locate_places(s, wanted, &files, &n);

	c->places = xrealloc(NULL, n, sizeof(*c->places));
	c->lines = xalloc(n * sizeof(*c->lines));
	c->files = xalloc(n * sizeof(*c->files));
	c->n_places = n;
	for (size_t i = 0; i < n; i++) {
		bool new_file = !i || at[i].file != at[i - 1].file;
		if (new_file)
			c->files[c->n_files++] =
				(struct coverage_file){ .path = s->at[at[i].place].file,
							.first_line = (uint32_t)c->n_lines };
		if (new_file || at[i].line != at[i - 1].line) {
			c->files[c->n_files - 1].n_lines++;
			c->lines[c->n_lines++] =
				(struct coverage_line){ .line = at[i].line,
							.first_place = (uint32_t)i };
		}
		c->lines[c->n_lines - 1].n_places++;
		c->places[i] = at[i].place;
	}
	free(at);
}

/* ---- carrying counts from place to place ---- */

static bool is_entry(const struct symbol *s, symid id) { return s->is_function && s->owner == id; }

static uint64_t calls_of(const struct callgraph *g, symid id)
{
	return capped_sum(g->nodes[id].calls, g->nodes[id].self_calls);
}

static bool has_block_at(const struct blocks *b, symid id, uint64_t addr)
{
	return b->first[id] < b->first[id + 1] && b->at[b->first[id]].addr == addr;
}

static bool makes_calls(const struct callgraph *g, symid id)
{
	const struct cg_node *n = &g->nodes[id];
	for (uint32_t k = 0; k < n->n_out; k++)
		if (g->arcs[n->first_out + k].count)
			return true;
	return false;
}

/* The index behind the places of a function that starts at `first`. */
static size_t end_of_function(const struct symbols *s, size_t first)
{
	size_t i = first + 1;
	while (i < s->n && !s->at[i].is_function && !s->at[i].is_call)
		i++;
	return i;
}

bool *coverage_on_stacks(const struct samples *s, const symid *frame_places, size_t n_places)
{
	bool *ret = xalloc(n_places + 1), *is_used = xalloc(s->n_stacks + 1);

	for (size_t i = 0; i < s->n; i++)
		is_used[s->at[i].stack] = true;
	for (size_t i = s->n_stacks; i-- > 1;) {
		symid place = frame_places[s->stacks[i].frame];
		if (!is_used[i])
			continue;
		is_used[s->stacks[i].caller] = true;
		if (place != NONE)
			ret[place] = true;
	}
	free(is_used);
	return ret;
}

bool coverage_was_executed(const struct callgraph *g, const struct blocks *b, const bool *on_stacks,
			   symid function)
{
	size_t end = end_of_function(g->symbols, function);

	for (size_t i = function; i < end; i++)
		if (g->nodes[i].self > 0 || (on_stacks && on_stacks[i]) || makes_calls(g, (symid)i))
			return true;
	for (uint32_t k = b->first[function]; k < b->first[end]; k++)
		if (b->at[k].count)
			return true;
	return false;
}

static void carry_through(struct before *before, const struct coverage *c, const struct symbols *s,
			  const bool *on_stacks, size_t first, size_t end)
{
	const struct blocks *b = c->blocks;
	bool entry = is_entry(&s->at[first], (symid)first);
	uint64_t count = entry ? calls_of(c->graph, (symid)first) : 0;
	struct before now = { .count = count, .is_counted = b->first[first] < b->first[end] };

	now.is_unsure =
		entry && !count && coverage_was_executed(c->graph, b, on_stacks, (symid)first);
	now.is_marked = now.is_unsure && coverage_was_executed(c->graph, b, NULL, (symid)first);
	now.is_known = entry && !now.is_unsure;
	for (size_t i = first; i < end; i++) {
		before[i] = now;
		if (b->first[i] == b->first[i + 1])
			continue;
		now.count = b->at[b->first[i + 1] - 1].count;
		now.is_known = true;
	}
}

static struct before *carry_all(const struct coverage *c, const struct symbols *s,
				const bool *on_stacks)
{
	struct before *before = xalloc(s->n * sizeof(*before));
	for (size_t i = 0, end; i < s->n; i = end) {
		end = end_of_function(s, i);
		carry_through(before, c, s, on_stacks, i, end);
	}
	return before;
}

static bool is_counted_call(const struct coverage *c, const struct symbols *s,
			    const struct before *before, symid id)
{
	return before[id].is_counted || (is_entry(&s->at[id], id) && calls_of(c->graph, id) > 0);
}

/* In a file that was compiled without counting 0 calls mean nothing. */
static void forget_uncounted_files(struct coverage *c, const struct symbols *s,
				   struct before *before)
{
	struct map64 uncounted = { 0 }; /* file: whether that is so */
	for (symid i = 0; i < s->n; i++)
		if (before[i].is_unsure && is_entry(&s->at[i], i) && s->at[i].file)
			*map64_at(&uncounted, (uintptr_t)s->at[i].file) = true;
	for (symid i = 0; i < s->n && uncounted.n; i++)
		if (s->at[i].file && is_counted_call(c, s, before, i))
			*map64_at(&uncounted, (uintptr_t)s->at[i].file) = false;
	for (symid i = 0; i < s->n && uncounted.n; i++)
		if (s->at[i].file && map64_get(&uncounted, (uintptr_t)s->at[i].file) == true)
			before[i].is_known = false;
	for (size_t i = 0; i < c->n_files && uncounted.n; i++)
		c->files[i].is_uncounted =
			map64_get(&uncounted, (uintptr_t)c->files[i].path) == true;
	map64_free(&uncounted);
}

/* ---- counts of a line ---- */

static void list(struct coverage *c, struct coverage_line *l, uint64_t count, bool merge_equal)
{
	l->sum = capped_sum(l->sum, count);
	l->most = count > l->most ? count : l->most;
	l->is_known = true;
	l->is_executed |= count > 0;
	if (merge_equal && l->n_counts && c->counts.at[c->counts.n - 1] == count)
		return;
	vec_push(&c->counts, count);
	l->n_counts++;
}

/* Lists the calls of functions that start on a line. They are one count: instances of a template
 * have the same text. If a block starts with a function, its count is used instead: it equals the
 * calls, or includes more of them. */
static void list_calls(struct coverage *c, struct coverage_line *l, const struct symbols *s,
		       const struct before *before, bool merge)
{
	uint64_t calls = 0;
	bool any = false;

	for (uint32_t k = 0; k < l->n_places; k++) {
		symid id = c->places[l->first_place + k];
		if (!is_entry(&s->at[id], id))
			continue;
		l->calls = capped_sum(l->calls, calls_of(c->graph, id));
		if (has_block_at(c->blocks, id, s->at[id].addr))
			continue;
		if (before[id].is_unsure) {
			l->is_unsure = true;
			l->is_executed |= before[id].is_marked;
			continue;
		}
		if (!before[id].is_known)
			continue;
		calls = capped_sum(calls, calls_of(c->graph, id));
		any = true;
	}
	if (any)
		list(c, l, calls, merge);
	l->total = capped_sum(l->total, calls);
}

/* Adds the block that continues into a place, and the place's own blocks. */
static void list_blocks(struct coverage *c, struct coverage_line *l, const struct symbols *s,
			symid id, const struct before *before, enum coverage_carry carry)
{
	const struct blocks *b = c->blocks;
	bool merge = carry >= CARRY_CALLS;
	bool wanted = carry == CARRY_CALLS || (carry == CARRY_MEASURED && before->is_counted);

	if (!is_entry(&s->at[id], id) && before->is_known && !has_block_at(b, id, s->at[id].addr)) {
		if (carry == CARRY_ALL || wanted)
			list(c, l, before->count, merge);
		else if (before->is_counted)
			l->is_executed |= before->count > 0;
	}
	for (uint32_t k = b->first[id]; k < b->first[id + 1]; k++) {
		list(c, l, b->at[k].count, merge);
		l->total = capped_sum(l->total, b->at[k].count);
	}
}

static bool has_blocks(const struct coverage *c, const struct coverage_line *l)
{
	const uint32_t *first = c->blocks->first;

	for (uint32_t k = 0; k < l->n_places; k++) {
		symid id = c->places[l->first_place + k];
		if (first[id] < first[id + 1])
			return true;
	}
	return false;
}

/* How far to carry counts to a line. If blocks start on the line, compilers may also put some of
 * its instructions before or after these, and what continues into them is the count of other
 * lines. */
static enum coverage_carry carry_to(const struct coverage *c, const struct coverage_line *l,
				    enum coverage_carry carry)
{
	return carry != CARRY_ALL && has_blocks(c, l) ? CARRY_NONE : carry;
}

static bool has_stacks(const struct coverage_opts *o) { return o->samples && o->samples->n; }

static void list_lines(struct coverage *c, const struct symbols *s, const struct coverage_opts *o)
{
	bool *on_stacks = has_stacks(o)
				  ? coverage_on_stacks(o->samples, program_places(o->program), s->n)
				  : NULL;
	struct before *before = carry_all(c, s, on_stacks);
	forget_uncounted_files(c, s, before);
	enum coverage_carry carry = o->carry;

	for (size_t i = 0; i < c->n_lines; i++) {
		struct coverage_line *l = &c->lines[i];
		enum coverage_carry to_line = carry_to(c, l, carry);
		l->first_count = (uint32_t)c->counts.n;
		list_calls(c, l, s, before, carry >= CARRY_CALLS);
		for (uint32_t k = 0; k < l->n_places; k++) {
			symid id = c->places[l->first_place + k];
			l->self += c->graph->nodes[id].self;
			list_blocks(c, l, s, id, &before[id], to_line);
		}
	}
	free(before);
	free(on_stacks);
}

/* The line of each place, or NONE; to be freed. */
static uint32_t *lines_of_places(const struct coverage *c, const struct symbols *s)
{
	uint32_t *line_of = xrealloc(NULL, s->n, sizeof(*line_of));

	memset(line_of, 0xff, s->n * sizeof(*line_of));
	for (size_t i = 0; i < c->n_lines; i++)
		for (uint32_t k = 0; k < c->lines[i].n_places; k++)
			line_of[c->places[c->lines[i].first_place + k]] = (uint32_t)i;
	return line_of;
}

static void add_inclusive(struct coverage *c, const struct symbols *s,
			  const struct coverage_opts *o)
{
	uint32_t *line_of = lines_of_places(c, s);
	double *times = stack_times(o->samples, o->program, line_of, c->n_lines);
	for (size_t i = 0; i < c->n_lines; i++)
		c->lines[i].inclusive = times[i];
	free(times);
	free(line_of);
}

/* Replaces all counts of a line by one. */
static void set_count(struct coverage *c, struct coverage_line *l, uint64_t count)
{
	l->first_count = (uint32_t)c->counts.n;
	l->n_counts = 1;
	vec_push(&c->counts, count);
	l->sum = l->total = l->most = count;
	l->is_known = true;
	l->is_unsure = false;
	l->is_executed = count > 0;
}

static void forget_count(struct coverage_line *l)
{
	l->n_counts = 0;
	l->sum = l->total = l->most = 0;
	l->is_known = l->is_unsure = false;
}

/* Takes the counts of a coverage tool. They are exact for each line, so they replace any other
 * counts. Unless counts are carried, lines that the tool does not count have none: at the end of
 * a file, for example, compilers put functions that start the counters. */
static void take_line_counts(struct coverage *c, const struct coverage_opts *opts)
{
	for (size_t i = 0; i < c->n_files; i++) {
		uint32_t file = line_counts_file(opts->line_counts, c->files[i].path);
		for (uint32_t k = 0; k < c->files[i].n_lines && file != NONE; k++) {
			struct coverage_line *l = &c->lines[c->files[i].first_line + k];
			uint64_t count;
			if (line_counts_find(opts->line_counts, file, l->line, &count))
				set_count(c, l, count);
			else if (opts->carry == CARRY_NONE)
				forget_count(l);
		}
	}
}

/* ---- life ---- */

static void sum_files(struct coverage *c)
{
	for (size_t i = 0; i < c->n_files; i++) {
		struct coverage_file *f = &c->files[i];
		for (uint32_t k = 0; k < f->n_lines; k++) {
			const struct coverage_line *l = &c->lines[f->first_line + k];
			f->total = capped_sum(f->total, l->total);
			f->self += l->self;
			f->is_executed |= l->is_executed;
		}
	}
}

struct coverage *coverage_new(const struct profile *p, struct symbols *s, const struct callgraph *g,
			      const struct coverage_opts *opts)
{
	struct coverage *c = xalloc(sizeof(*c));

	c->graph = g;
	c->blocks = blocks_new(p, s, opts->rules ? opts->rules->blocks : NULL);
	add_files(c, s, opts->wanted);
	if (opts->rules)
		opts->rules->count(c);
	else
		list_lines(c, s, opts);
	if (opts->line_counts)
		take_line_counts(c, opts);
	if (has_stacks(opts))
		add_inclusive(c, s, opts);
	sum_files(c);
	return c;
}

void coverage_free(struct coverage *c)
{
	if (!c)
		return;
	blocks_free(c->blocks);
	vec_free(&c->counts);
	free(c->files);
	free(c->lines);
	free(c->places);
	free(c);
}

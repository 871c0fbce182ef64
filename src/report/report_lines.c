/* report_lines.c - time per source line of a function, and calls of functions on the line where
 * they start. */
#include <stdlib.h>
#include <string.h>

#include "analysis/coverage.h"
#include "base/map64.h"
#include "base/pairs.h"
#include "base/sort.h"
#include "base/strtab.h"
#include "paths/stack_groups.h"
#include "report/reports.h"

enum {
	SHARE,
	SELF,
	INCLUSIVE,
	CALLS,
	COUNT,
	PER_COUNT,
	OBJECT,
	FILE_NAME,
	LINE,
	NAME,
	PATH,
	SYMBOL,
	ADDRESS
};

static const struct kin_column columns[] = {
	[SHARE] = { "share", "% time", "the line's time as a share of the total", KIN_CELL_SHARE },
	[SELF] = { "self", "self", "time in the line's code, seconds", KIN_CELL_TIME },
	[CALLS] = { "calls", "calls",
		    "how often the function that starts here was called, + by itself",
		    KIN_CELL_COUNT },
	[COUNT] = { "count", "count",
		    "how often it was executed, as gcov counts; of blocks in the data, the most "
		    "executed one on the line",
		    KIN_CELL_COUNT, .hidden = true },
	[FILE_NAME] = { "file", "file", "the source file", KIN_CELL_TEXT },
	[LINE] = { "line", "line", "its number in the file", KIN_CELL_COUNT },
	[NAME] = { "name", "function", "the function the code belongs to", KIN_CELL_TEXT,
		   .function = true },
	[PATH] = { "path", "path",
		   "the source file with its directories, as the debug information names it",
		   KIN_CELL_TEXT, .hidden = true },
	[SYMBOL] = { "symbol", "symbol", "the function's name as in the object file", KIN_CELL_TEXT,
		     .hidden = true },
	[ADDRESS] = { "address", "address", "of the first of the line's code", KIN_CELL_ADDRESS,
		      .hidden = true },
	[INCLUSIVE] = { "inclusive", "inclusive",
			"time of the samples with the line anywhere on their stack, each once; "
			"shown where there are stacks",
			KIN_CELL_TIME, .hidden = true },
	[PER_COUNT] = { "per_count", "time/count",
			"the line's time by its count; shown where there are counts of the run "
			"whose "
			"time was measured",
			KIN_CELL_TIME, .hidden = true, .si = true },
	[OBJECT] = { "object", "object",
		     "the object file the code is in; shown where there are several", KIN_CELL_TEXT,
		     .hidden = true },
};

struct line_entry { /* all code of one line within one function of an object */
	symid first;
	double self, inclusive;
	uint64_t calls, self_calls, most;
	bool has_blocks; /* `most` is known */
};

/* ---- entries ---- */

/* Compares texts. Most are the same string, as successive places share their file or function. */
static int compare_texts(const char *a, const char *b) { return a == b ? 0 : strcmp(a, b); }

static int compare_lines(const struct symbols *s, symid l, symid r)
{
	const struct symbol *a = &s->at[l], *b = &s->at[r];
	int files = compare_texts(a->file ? a->file : "", b->file ? b->file : "");
	if (files)
		return files;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return compare_texts(a->name, b->name);
}

static int by_time(const void *l, const void *r, void *arg)
{
	const struct line_entry *a = l, *b = r;
	uint64_t calls_a = a->calls + a->self_calls, calls_b = b->calls + b->self_calls;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->inclusive != b->inclusive)
		return a->inclusive > b->inclusive ? -1 : 1;
	if (a->most != b->most)
		return a->most > b->most ? -1 : 1;
	if (calls_a != calls_b)
		return calls_a > calls_b ? -1 : 1;
	int lines = compare_lines(arg, a->first, b->first);
	return lines ? lines : ORDER(a->first, b->first);
}

static void add_place(struct line_entry *e, const struct callgraph *g, const struct blocks *b,
		      symid id)
{
	e->self += g->nodes[id].self;
	e->calls += g->nodes[id].calls;
	e->self_calls += g->nodes[id].self_calls;
	for (uint32_t k = b->first[id]; k < b->first[id + 1]; k++) {
		e->has_blocks = true;
		e->most = b->at[k].count > e->most ? b->at[k].count : e->most;
	}
}

/* Numbers the lines of functions. Places share strings, so each string is interned once and then
 * looked up by its address. */
struct line_ids {
	struct strtab *texts;
	struct map64 text_ids;  /* by the string's address: id in `texts` */
	struct pairs lines;     /* (file, line) */
	struct pairs functions; /* (line, name of the function) */
	struct pairs entries;   /* (function, object) */
	size_t n_lines, n_functions;
};

static uint32_t text_id(struct line_ids *x, const char *text)
{
	uint32_t *id = map64_at(&x->text_ids, (uintptr_t)text);
	if (*id == NONE)
		*id = strtab_add(x->texts, text);
	return *id;
}

/* The entry of a place; `next` if it is a new one. A place without a line always gets a new
 * entry. */
static uint32_t entry_id(struct line_ids *x, const struct report_input *in, symid place,
			 uint32_t next)
{
	const struct symbol *s = &in->symbols->at[place];
	if (!s->file)
		return next;
	uint32_t line = pairs_add(&x->lines, text_id(x, s->file), s->line, (uint32_t)x->n_lines);
	x->n_lines += line == x->n_lines;
	uint32_t function =
		pairs_add(&x->functions, line, text_id(x, s->name), (uint32_t)x->n_functions);
	x->n_functions += function == x->n_functions;
	objid object = in->program ? program_object(in->program, place) : 0;
	return pairs_add(&x->entries, function, object, next);
}

static void line_ids_done(struct line_ids *x)
{
	strtab_free(x->texts);
	map64_free(&x->text_ids);
	pairs_free(&x->lines);
	pairs_free(&x->functions);
	pairs_free(&x->entries);
}

/* Sets inclusive times. A line that is on a stack several times, within the same function, counts
 * once per sample. */
static void add_inclusive(const struct report_input *in, struct line_entry *entries, size_t n,
			  const uint32_t *entry_of)
{
	if (!in->graph->measured || !in->program)
		return;
	double *times = stack_times(&in->profile->samples, in->program, entry_of, n);
	for (size_t i = 0; i < n; i++)
		entries[i].inclusive = times[i];
	free(times);
}

/* Sets counts from the coverage tool. Successive entries are mostly in the same file. */
static void take_line_counts(const struct report_input *in, struct line_entry *entries, size_t n)
{
	const char *path = NULL;
	uint32_t file = NONE;
	for (size_t i = 0; in->line_counts && i < n; i++) {
		const struct symbol *s = &in->symbols->at[entries[i].first];
		if (!s->file)
			continue;
		if (!path || strcmp(path, s->file) != 0)
			file = line_counts_file(in->line_counts, path = s->file);
		entries[i].has_blocks |=
			line_counts_find(in->line_counts, file, s->line, &entries[i].most);
	}
}

static bool is_called_as_subject(const struct report_input *in, const struct report_opts *o,
				 symid function)
{
	for (const char *const *name = o->subjects; name && *name; name++)
		if (symbols_is_called(in->symbols, function, *name))
			return true;
	return false;
}

static struct line_entry *gather(const struct report_input *in, const struct report_opts *o,
				 const struct blocks *blocks, size_t *n)
{
	static const struct selection everything;
	const struct selection *sel = o->selection ? o->selection : &everything;
	struct symbols *s = in->symbols;
	struct line_entry *entries = xrealloc(NULL, s->n, sizeof(*entries));
	uint32_t *entry_of = xrealloc(NULL, s->n, sizeof(*entry_of));
	struct line_ids ids = { .texts = strtab_new() };
	bool inside = false; /* within a requested function: inlined code is included */

	*n = 0;
	for (symid i = 0; i < s->n; i++) {
		symbols_locate(s, i);
		entry_of[i] = NONE;
		if (s->at[i].is_function || s->at[i].is_call)
			inside = is_called_as_subject(in, o, s->at[i].owner);
		if (!selection_wants(sel, SEL_INCL_FLAT, i) ||
		    !(inside || report_is_subject(in, o, i)))
			continue;
		entry_of[i] = entry_id(&ids, in, i, (uint32_t)*n);
		if (entry_of[i] == *n)
			entries[(*n)++] = (struct line_entry){ .first = i };
		add_place(&entries[entry_of[i]], in->graph, blocks, i);
	}
	line_ids_done(&ids);
	add_inclusive(in, entries, *n, entry_of);
	take_line_counts(in, entries, *n);
	free(entry_of);
	return entries;
}

/* ---- rows ---- */

static bool is_shown(const struct line_entry *e, const struct report_opts *o, double total)
{
	double time = e->inclusive > e->self ? e->inclusive : e->self;
	if (o->min_share > 0 && time < o->min_share * report_whole(o, total))
		return false;
	return o->zeroes || time > 0 || e->calls || e->self_calls;
}

/* Moves the entries to be shown to the front. Returns their number. */
static size_t keep_shown(struct line_entry *entries, size_t n, const struct report_opts *o,
			 double total)
{
	size_t shown = 0;
	for (size_t i = 0; i < n; i++)
		if (is_shown(&entries[i], o, total))
			entries[shown++] = entries[i];
	return shown;
}

static void add_row(struct kin_table *t, const struct report_input *in, const struct report_opts *o,
		    const struct line_entry *e)
{
	struct kin_cell *c = table_add_row(t, (struct kin_row){ .kind = KIN_ROW_PLAIN });
	const struct symbol *s = &in->symbols->at[e->first];

	c[SHARE] = cell_share(in->graph->total > 0 ? e->self / in->graph->total : 0);
	c[SELF] = cell_time(e->self);
	if (e->self_calls)
		c[CALLS] = cell_plus(e->calls, e->self_calls);
	else if (e->calls)
		c[CALLS] = cell_count(e->calls);
	if (e->has_blocks)
		c[COUNT] = cell_count(e->most);
	if (e->has_blocks && e->most && e->self > 0 && !in->counts_of_other_runs)
		c[PER_COUNT] = cell_time(e->self / (double)e->most);
	if (in->graph->measured)
		c[INCLUSIVE] = cell_time(e->inclusive);
	c[OBJECT] = cell_text(report_object_name(in, e->first));
	if (s->file) {
		c[FILE_NAME] = cell_text(report_file_name(o, s->file));
		c[PATH] = cell_text(s->file);
		c[LINE] = cell_count(s->line);
	}
	c[NAME] = cell_text(symbols_display(in->symbols, e->first));
	c[SYMBOL] = cell_text(s->name);
	c[ADDRESS] = cell_address(s->addr);
}

static bool is_busy(const struct callgraph *g, symid id)
{
	return g->nodes[id].self > 0 || g->nodes[id].calls > 0;
}

static struct kin_error *lines_run(const struct report_input *in, const struct report_opts *o,
				   struct kin_table **ret)
{
	struct kin_error *err = report_check_subjects(in, o);
	if (err)
		return err;

	struct kin_table *t = table_new("lines", "Source lines", columns, ARRAY_LEN(columns));
	struct blocks *blocks = blocks_new(report_flat(in), in->symbols, NULL);
	size_t n;
	struct line_entry *entries = gather(in, o, blocks, &n);

	report_describe(in, t);
	table_show(t, "inclusive", in->graph->measured != NULL);
	table_show(t, "calls", in->graph->has_arcs || !in->profile->samples.n);
	bool counted = blocks->n || in->line_counts;
	table_show(t, "count", counted);
	table_show(t, "per_count", counted && !in->counts_of_other_runs && in->graph->total > 0);
	table_show(t, "object", report_has_objects(in, is_busy));
	n = keep_shown(entries, n, o, in->graph->total);
	qsort_r(entries, n, sizeof(*entries), by_time, in->symbols);
	for (size_t i = 0; i < n; i++)
		add_row(t, in, o, &entries[i]);
	report_note_lines(in, t, "lines");
	report_note_scripts(in, t);
	report_note_subjects(in, o, t);
	report_note_outside(in, t);
	free(entries);
	blocks_free(blocks);
	*ret = t;
	return NULL;
}

const struct report lines_report = {
	.name = "lines",
	.help = "time per source line",
	.by_line = true,
	.run = lines_run,
	.by = REPORT_BY_PART | REPORT_BY_OBJECT,
};

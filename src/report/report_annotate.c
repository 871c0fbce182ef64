/* report_annotate.c - source text of functions, or of whole files, with time and counts next to
 * each line.
 *
 * A function's own lines are shown from the first to the last line that has code of it. Code that
 * was inlined into it from elsewhere is shown in separate parts, if something was measured
 * there. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/sort.h"
#include "base/vec.h"
#include "names/kept.h"
#include "report/listing.h"
#include "report/reports.h"

enum { MAX_GAP = 3 };                   /* lines between two inlined lines in one part */
enum { AROUND = 5, WORTH_HIDING = 12 }; /* lines around those that matter; least to leave out */

struct annotate_job {
	const struct report_input *in;
	const struct report_opts *o;
	struct listing *listing;
	struct coverage *whole;       /* of all places; NULL until needed */
	VEC(struct coverage *) parts; /* of single functions */
	double function_time;         /* ticks of the functions that are being added */
	struct remarks notes;         /* each once */
	VEC(const char *) absent;     /* missing sources, if many are looked for */
	bool looks_for_many;
	struct kin_error *trouble; /* a failure to read a source that may not happen again */
	struct arena arena;
};

/* ---- sources ---- */

/* The first object file with code of these lines that is older than the source; NULL: there is
 * none. */
static const char *find_older_object(const struct annotate_job *j, const struct coverage *c,
				     const struct coverage_file *f, uint64_t changed)
{
	const struct coverage_line *lines = c->lines + f->first_line;
	struct object_file *last = NULL; /* successive places are mostly in the same object */

	for (uint32_t i = 0; i < f->n_lines; i++)
		for (uint32_t k = 0; k < lines[i].n_places; k++) {
			symid place = c->places[lines[i].first_place + k];
			struct object_file *o = report_object_file(j->in, place);
			uint64_t built = o && o != last ? object_modified_ns(o) : 0;
			if (built && built < changed)
				return object_read_path(o);
			last = o;
		}
	return NULL;
}

/* The first recording that is older than the source. What it recorded is older still, also where
 * that was built anew since; NULL: there is none. */
static const char *find_older_recording(const struct annotate_job *j, uint64_t changed)
{
	const struct profile *p = j->in->profile;

	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].start_time_ns && p->sources[i].start_time_ns < changed)
			return strtab_get(p->strings, p->sources[i].path);
	return NULL;
}

/* The file to which the lines of the source need not belong; NULL: there is none. */
static const char *find_older(const struct annotate_job *j, const struct coverage *c,
			      const struct coverage_file *f, const char *source)
{
	struct stat st;

	if (stat(source, &st) < 0)
		return NULL;
	uint64_t changed = clock_ns_of(st.st_mtim);
	const char *recording = find_older_recording(j, changed);
	return recording ? recording : find_older_object(j, c, f, changed);
}

/* Whether the file does not exist, as opposed to a file that cannot be read. */
static bool is_absent(const struct kin_error *err)
{
	return kin_error_kind(err) == KIN_ERROR_OS && !kin_error_errno(err);
}

/* Adds one note for all missing sources: those of the C library and the like are usually
 * missing. */
static void note_absent(struct annotate_job *j)
{
	enum { NAMED = 3 };
	char *names = xprintf("%s", "");
	for (size_t i = 0; i < j->absent.n && i < NAMED; i++) {
		char *more = xprintf("%s%s'%s'", names, i ? ", " : "", j->absent.at[i]);
		free(names);
		names = more;
	}
	if (j->absent.n)
		remarks_add_once(&j->notes, KIN_REMARK_NOTE,
				 "%zu source%s not here, neither as named nor in the %s: %s%s",
				 j->absent.n, j->absent.n > 1 ? "s are" : " is",
				 j->o->source_dirs && j->o->source_dirs[0]
					 ? "directories to search"
					 : "current directory (--source-dir names others)",
				 names, j->absent.n > NAMED ? ", ..." : "");
	free(names);
}

/* Adds the note for a file that is shown; of others nobody asks. */
static void note_uncounted(struct annotate_job *j, const struct coverage_file *f)
{
	if (!j->looks_for_many && j->in->graph->has_arcs && f->is_uncounted)
		remarks_add_once(
			&j->notes, KIN_REMARK_NOTE,
			"no calls of functions in '%s' were counted: it was compiled without "
			"counting them",
			f->path);
}

/* Opens a source. If it cannot be read there is a note, and its lines are shown without text. */
static void open_source(struct annotate_job *j, const struct coverage *c,
			const struct coverage_file *f, struct listing_source *ret)
{
	note_uncounted(j, f);
	struct kin_error *err = report_source(j->in, j->o, f->path, &ret->text);
	if (err) {
		if (j->looks_for_many && is_absent(err))
			vec_push(&j->absent, f->path);
		else
			remarks_add_once(&j->notes, KIN_REMARK_NOTE, "%s", kin_error_message(err));
		if (!j->trouble && err_is_trouble(err))
			j->trouble = TAKE(err);
		kin_error_free(err);
		return;
	}
	uint32_t last = c->lines[f->first_line + f->n_lines - 1].line,
		 have = listing_count_lines(&ret->text);
	bool is_kept = kept_find_source(j->in->profile->kept, f->path) != NULL;
	const char *older = is_kept ? NULL : find_older(j, c, f, ret->text.path);
	if (last > have)
		remarks_add_once(&j->notes, KIN_REMARK_NOTE,
				 "source '%s' has %u lines, but there is code of line %u: it was "
				 "changed, or "
				 "is another file",
				 ret->text.path, have, last);
	else if (older)
		remarks_add_once(&j->notes, KIN_REMARK_NOTE,
				 "source '%s' is newer than '%s': lines may not be where they were",
				 ret->text.path, older);
}

static struct coverage *cover(struct annotate_job *j, const uint8_t *wanted)
{
	const struct report_input *in = j->in;
	bool stacks = in->program && in->graph->measured;
	struct coverage_opts how = { .carry = j->o->all_lines   ? CARRY_CALLS
					      : in->line_counts ? CARRY_NONE
								: CARRY_MEASURED,
				     .wanted = wanted,
				     .line_counts = in->line_counts,
				     .samples = stacks ? &in->profile->samples : NULL,
				     .program = stacks ? in->program : NULL };
	return coverage_new(report_flat(in), in->symbols, in->graph, &how);
}

/* ---- whole files ---- */

static struct coverage *whole_coverage(struct annotate_job *j)
{
	if (!j->whole)
		j->whole = cover(j, NULL);
	return j->whole;
}

static double time_of_file(const struct coverage *c, const struct coverage_file *f)
{
	double self = 0;
	for (uint32_t i = 0; i < f->n_lines; i++)
		self += c->lines[f->first_line + i].self;
	return self;
}

static void add_file(struct annotate_job *j, const struct coverage *c,
		     const struct coverage_file *f)
{
	struct listing_source source = { 0 };
	open_source(j, c, f, &source);
	struct listing_part part = { .coverage = c,
				     .file = f,
				     .from = 1,
				     .to = UINT32_MAX,
				     .heading = source.text.path ? source.text.path : f->path,
				     .whole = time_of_file(c, f) };
	listing_add(j->listing, part, &source);
	source_done(&source.text);
}

static bool add_files_named(struct annotate_job *j, const char *name)
{
	const struct coverage *c = whole_coverage(j);
	bool found = false;
	for (size_t i = 0; i < c->n_files; i++) {
		if (!report_file_is(c->files[i].path, name))
			continue;
		add_file(j, c, &c->files[i]);
		found = true;
	}
	return found;
}

static int busiest_first(const void *l, const void *r)
{
	const struct coverage_file *a = *(struct coverage_file *const *)l,
				   *b = *(struct coverage_file *const *)r;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	return ORDER(a, b);
}

static bool matters(const struct coverage_line *x)
{
	return x->self > 0 || x->inclusive > 0 || x->total || x->calls;
}

/* Finds the next stretch of lines that matter, with the lines around them, after line `after`.
 * False: there are no more. *k: where to continue in the file's lines. */
static bool next_stretch(const struct coverage *c, const struct coverage_file *f, uint32_t after,
			 uint32_t *k, struct listing_part *ret)
{
	const struct coverage_line *lines = c->lines + f->first_line;
	while (*k < f->n_lines && !matters(&lines[*k]))
		++*k;
	if (*k == f->n_lines)
		return false;
	uint32_t line = lines[*k].line;
	ret->from = line > (uint64_t)after + AROUND + WORTH_HIDING ? line - AROUND : after + 1;
	for (; *k < f->n_lines; ++*k) {
		if (!matters(&lines[*k]))
			continue;
		if (lines[*k].line > (uint64_t)line + 2 * AROUND + WORTH_HIDING)
			break;
		line = lines[*k].line;
	}
	ret->to = line < UINT32_MAX - AROUND ? line + AROUND : UINT32_MAX;
	return true;
}

/* Headers have thousands of lines, only some of which matter: shows these and the lines around
 * them. */
static void add_stretches(struct annotate_job *j, const struct coverage *c,
			  const struct coverage_file *f)
{
	struct listing_source source = { 0 };
	open_source(j, c, f, &source);
	const char *path = source.text.path ? source.text.path : f->path;
	struct listing_part part = {
		.coverage = c, .file = f, .from = 1, .heading = path, .whole = time_of_file(c, f)
	};
	uint32_t k = 0, have = source.text.path ? listing_count_lines(&source.text) : UINT32_MAX;
	while (part.to < UINT32_MAX && next_stretch(c, f, part.to, &k, &part)) {
		if ((uint64_t)part.to + WORTH_HIDING >= have)
			part.to = UINT32_MAX;
		listing_add(j->listing, part, &source);
		part.heading = NULL;
	}
	source_done(&source.text);
}

/* Shows the whole file if all its lines have counts. */
static void add_busy_file(struct annotate_job *j, const struct coverage *c,
			  const struct coverage_file *f)
{
	bool has_counts =
		j->in->line_counts && line_counts_file(j->in->line_counts, f->path) != NONE;
	if (has_counts || j->o->all_lines || j->o->zeroes)
		add_file(j, c, f);
	else
		add_stretches(j, c, f);
}

/* Whether the source can be opened. A failure that may not happen again is reported as the job's
 * trouble: otherwise the next run would show the files in another order without an explanation. */
static bool is_here(struct annotate_job *j, const struct coverage_file *f)
{
	struct source_text text = { 0 };
	struct kin_error *err = report_source(j->in, j->o, f->path, &text);
	bool here = !err;
	if (err && !j->trouble && err_is_trouble(err))
		j->trouble = TAKE(err);
	source_done(&text);
	kin_error_free(err);
	return here;
}

/* If nothing was named: adds all files in which something was measured, readable ones first. */
static void add_busy_files(struct annotate_job *j)
{
	struct coverage *c = whole_coverage(j);
	struct coverage_file **files = xalloc(c->n_files * sizeof(struct coverage_file *));
	size_t n = 0;

	for (size_t i = 0; i < c->n_files; i++) {
		struct coverage_file *f = &c->files[i];
		if ((f->self > 0 || f->is_executed || j->o->zeroes) &&
		    f->self >= j->o->min_share * report_whole(j->o, j->in->graph->total))
			files[n++] = f;
	}
	qsort(files, n, sizeof(struct coverage_file *), busiest_first);
	bool *here = xalloc(n + 1);
	for (size_t i = 0; i < n; i++)
		if ((here[i] = is_here(j, files[i])))
			add_busy_file(j, c, files[i]);
	j->looks_for_many = true;
	for (size_t i = 0; i < n; i++)
		if (!here[i])
			add_busy_file(j, c, files[i]);
	j->looks_for_many = false;
	note_absent(j);
	free(here);
	free(files);
}

/* ---- functions ---- */

struct line_range {                 /* a function's own lines, from the first to the last */
	uint32_t file, first, last; /* indexes into files[] and its lines */
	symid function;
};

struct named_function { /* all functions with one name */
	VEC(symid) functions;
	/* [n_symbols]: the function of each of their places, including places in split-off pieces;
	 * NONE for other places. */
	symid *function_of;
	uint8_t *wanted;        /* [n_symbols] */
	struct line_range *own; /* [n_symbols]: own lines of each function; last < first: none */
	VEC(struct line_range) ranges; /* all of `own` in order, overlapping ranges joined */
	uint8_t *shown;                /* [n_lines]: the line is in one of the ranges */
};

static void named_done(struct named_function *n)
{
	vec_free(&n->functions);
	vec_free(&n->ranges);
	free(n->function_of);
	free(n->wanted);
	free(n->own);
	free(n->shown);
}

/* The function that an inlined place belongs to: of the same name in the same file. */
static symid function_of_inlined(const struct symbols *s, const struct named_function *n, symid id)
{
	for (size_t i = 0; i < n->functions.n; i++) {
		const struct symbol *at = &s->at[n->functions.at[i]];
		if (at->file == s->at[id].file && !strcmp(at->name, s->at[id].name))
			return n->functions.at[i];
	}
	return NONE;
}

/* Finds the places where functions of the name are inlined into others, be there a copy of their
 * own or not. */
static void find_places_inlined(const struct symbols *s, const symid *named, size_t n,
				struct named_function *ret)
{
	for (size_t i = 0; i < n; i++) {
		symid id = named[i];
		if (s->at[id].is_function || !s->at[id].file || ret->function_of[id] != NONE)
			continue;
		symid function = function_of_inlined(s, ret, id);
		if (function == NONE)
			vec_push(&ret->functions, id);
		ret->function_of[id] = function == NONE ? id : function;
	}
}

static void find_functions(struct annotate_job *j, const char *name, struct named_function *ret)
{
	const struct symbols *s = j->in->symbols;
	symid inside = NONE;
	size_t n;
	symid *named = report_symbols_named(j->in->symbols, name, &n);

	ret->wanted = xalloc(s->n);
	ret->own = xrealloc(NULL, s->n, sizeof(*ret->own));
	ret->function_of = xrealloc(NULL, s->n, sizeof(symid));
	for (symid i = 0; i < s->n; i++)
		ret->own[i] = (struct line_range){ .first = 1, .last = 0, .function = i };
	for (size_t i = 0; i < n; i++) {
		const struct symbol *at = &s->at[named[i]];
		if (!at->is_function || at->owner != named[i])
			continue;
		ret->wanted[named[i]] = true;
		vec_push(&ret->functions, named[i]);
	}
	for (symid i = 0; i < s->n; i++) {
		if (s->at[i].is_function || s->at[i].is_call)
			inside = ret->wanted[s->at[i].owner] ? s->at[i].owner : NONE;
		ret->function_of[i] = inside;
	}
	find_places_inlined(s, named, n, ret);
	free(named);
	for (symid i = 0; i < s->n; i++)
		ret->wanted[i] = ret->function_of[i] != NONE;
}

/* Extends functions' own ranges by a line. A place belongs to the function's own code if it has the
 * function's name; inlined code has another name. */
static void widen_own(struct named_function *n, const struct symbols *s, const struct coverage *c,
		      uint32_t file, uint32_t line)
{
	const struct coverage_line *l = &c->lines[c->files[file].first_line + line];

	for (uint32_t k = 0; k < l->n_places; k++) {
		symid id = c->places[l->first_place + k], function = n->function_of[id];
		struct line_range *r = &n->own[function];
		if (c->files[file].path != s->at[function].file ||
		    (id != function && strcmp(s->at[id].name, s->at[function].name) != 0))
			continue;
		r->file = file;
		r->first = r->last < r->first ? line : r->first;
		r->last = line;
	}
}

static int by_position(const void *l, const void *r)
{
	const struct line_range *a = l, *b = r;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return ORDER(a->function, b->function);
}

/* Collects the ranges and joins those that overlap: instances of a template share their lines. */
static void join_ranges(struct named_function *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->functions.n; i++) {
		const struct line_range *r = &n->own[n->functions.at[i]];
		if (r->first <= r->last)
			vec_push(&n->ranges, *r);
	}
	if (n->ranges.n)
		qsort(n->ranges.at, n->ranges.n, sizeof(*n->ranges.at), by_position);
	for (size_t i = 0; i < n->ranges.n; i++) {
		struct line_range r = n->ranges.at[i], *last = n->ranges.at + kept - 1;
		if (!kept || last->file != r.file || last->last < r.first)
			n->ranges.at[kept++] = r;
		else
			last->last = r.last > last->last ? r.last : last->last;
	}
	n->ranges.n = kept;
}

static void find_ranges(struct named_function *n, const struct symbols *s, const struct coverage *c)
{
	for (uint32_t f = 0; f < c->n_files; f++)
		for (uint32_t i = 0; i < c->files[f].n_lines; i++)
			widen_own(n, s, c, f, i);
	join_ranges(n);
	n->shown = xalloc(c->n_lines);
	for (size_t i = 0; i < n->ranges.n; i++) {
		const struct line_range *r = &n->ranges.at[i];
		memset(n->shown + c->files[r->file].first_line + r->first, 1,
		       r->last - r->first + 1);
	}
}

static void add_range(struct annotate_job *j, const struct coverage *c, struct line_range r,
		      bool own, struct listing_source *source)
{
	const struct coverage_file *f = &c->files[r.file];
	const char *name = symbols_display(j->in->symbols, r.function);
	const char *path = source->text.path ? source->text.path : f->path;
	const struct coverage_line *lines = c->lines + f->first_line;
	struct listing_part part = { .coverage = c,
				     .file = f,
				     .from = lines[r.first].line,
				     .to = lines[r.last].line,
				     .whole = j->function_time };

	bool inlined = !j->in->symbols->at[r.function].is_function;
	part.heading = arena_printf(&j->arena, "%s%s%s (%s)", own ? "" : "inlined into ", name,
				    own && inlined ? ", inlined" : "", path);
	listing_add(j->listing, part, source);
}

static void add_own(struct annotate_job *j, const struct coverage *c,
		    const struct named_function *n)
{
	struct listing_source source = { 0 };

	for (size_t i = 0; i < n->ranges.n; i++) {
		const struct line_range *r = &n->ranges.at[i];
		if (!i || r[-1].file != r->file) {
			source_done(&source.text);
			source = (struct listing_source){ 0 };
			open_source(j, c, &c->files[r->file], &source);
		}
		add_range(j, c, *r, true, &source);
	}
	source_done(&source.text);
}

/* Finds measured lines outside the own ranges; lines close to each other share a range. */
static void find_inlined(const struct named_function *n, const struct coverage *c, uint32_t file,
			 struct named_function *ret)
{
	const struct coverage_file *f = &c->files[file];
	const struct coverage_line *lines = c->lines + f->first_line;
	struct line_range r = { file, 1, 0, 0 };

	ret->ranges.n = 0;
	for (uint32_t i = 0; i < f->n_lines; i++) {
		bool shown = n->shown[f->first_line + i];
		bool measured = lines[i].self > 0 || lines[i].is_executed;
		bool near = r.first <= r.last && lines[i].line - lines[r.last].line <= MAX_GAP;
		if (!shown && !measured)
			continue;
		if (r.first <= r.last && (shown || !near)) {
			vec_push(&ret->ranges, r);
			r = (struct line_range){ file, 1, 0, 0 };
		}
		if (shown)
			continue;
		r.function = n->function_of[c->places[lines[i].first_place]];
		r.first = r.last < r.first ? i : r.first;
		r.last = i;
	}
	if (r.first <= r.last)
		vec_push(&ret->ranges, r);
}

static void add_inlined(struct annotate_job *j, const struct coverage *c,
			const struct named_function *n)
{
	struct named_function inlined = { 0 };

	for (uint32_t file = 0; file < c->n_files; file++) {
		struct listing_source source = { 0 };
		find_inlined(n, c, file, &inlined);
		if (!inlined.ranges.n)
			continue;
		open_source(j, c, &c->files[file], &source);
		for (size_t i = 0; i < inlined.ranges.n; i++)
			add_range(j, c, inlined.ranges.at[i], false, &source);
		source_done(&source.text);
	}
	named_done(&inlined);
}

static bool add_functions_named(struct annotate_job *j, const char *name)
{
	const struct report_input *in = j->in;
	struct named_function n = { 0 };

	find_functions(j, name, &n);
	bool found = n.functions.n > 0;
	if (found) {
		struct coverage *c = cover(j, n.wanted);
		vec_push(&j->parts, c);
		j->function_time = 0;
		for (uint32_t i = 0; i < c->n_files; i++)
			j->function_time += time_of_file(c, &c->files[i]);
		find_ranges(&n, in->symbols, c);
		add_own(j, c, &n);
		add_inlined(j, c, &n);
		if (!n.ranges.n && symbols_has_lines(in->symbols))
			remarks_add_once(&j->notes, KIN_REMARK_NOTE,
					 "no source line is known of '%s': build its file with -g",
					 name);
	}
	named_done(&n);
	return found;
}

/* ---- the report ---- */

static struct kin_error *add_subjects(struct annotate_job *j)
{
	const char *const *names = j->o->subjects;

	if (!names || !names[0]) {
		add_busy_files(j);
		return NULL;
	}
	for (; *names; names++)
		if (!add_functions_named(j, *names) && !add_files_named(j, *names) &&
		    !report_is_inlined(j->in, *names))
			return report_unknown_subject(j->in, *names);
	return NULL;
}

static void job_free(void *what)
{
	struct annotate_job *j = what;
	for (size_t i = 0; i < j->parts.n; i++)
		coverage_free(j->parts.at[i]);
	kin_error_free(j->trouble);
	coverage_free(j->whole);
	vec_free(&j->parts);
	remarks_free(&j->notes);
	vec_free(&j->absent);
	arena_release(&j->arena);
	free(j);
}

/* Adds a note if the table is empty although some library has lines. */
static void note_nothing(const struct report_input *in, struct kin_table *t)
{
	struct kin_row row;
	kin_table_rewind(t);
	if (table_next(t, &row) || kin_table_n_notes(t) || !symbols_has_lines(in->symbols))
		return;
	table_note(t,
		   "the code that was sampled or called has no source lines: build it with -g, and "
		   "do not strip it, to see source; --asm shows instructions");
}

static struct kin_error *annotate_run(const struct report_input *in, const struct report_opts *o,
				      struct kin_table **ret)
{
	struct annotate_job *j = xalloc(sizeof(*j));
	*j = (struct annotate_job){ .in = in, .o = o };
	j->listing = listing_new(
		&(struct listing_opts){ .total = in->graph->total,
					.line_counts = in->line_counts,
					.counts_of_other_runs = in->counts_of_other_runs,
					.min_count = 1 });

	struct kin_error *err = add_subjects(j);
	if (!err)
		err = TAKE(j->trouble);
	struct kin_table *t = listing_table(j->listing, "annotate", "Annotated source");
	table_keep(t, job_free, j);
	if (err) {
		kin_table_free(t);
		return err;
	}
	report_describe(in, t);
	table_show(t, "inclusive", in->graph->measured != NULL);
	table_show(t, "share", !o->of_function);
	table_show(t, "function_share", o->of_function);
	table_show(t, "count",
		   in->graph->has_arcs || in->profile->n_blocks || in->line_counts ||
			   !in->profile->samples.n);
	table_show(t, "per_count",
		   (in->profile->n_blocks || in->line_counts) && !in->counts_of_other_runs &&
			   in->graph->total > 0);
	const char *note;
	for (size_t i = 0; (note = remarks_next(&j->notes, KIN_REMARK_NOTE, &i));)
		table_note(t, "%s", note);
	report_note_lines(in, t, "source");
	report_note_subjects(in, o, t);
	note_nothing(in, t);
	*ret = t;
	return NULL;
}

const struct report annotate_report = {
	.name = "annotate",
	.help = "source text with time and counts beside each line",
	.by_line = true,
	.run = annotate_run,
	.by = REPORT_BY_PART,
};

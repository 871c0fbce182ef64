/* report_name.c - names of symbols, objects and files in reports, and finding symbols by what
 * people type.
 * */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/audit.h"
#include "analysis/selection.h"
#include "base/err.h"
#include "base/file.h"
#include "base/function_name.h"
#include "base/people_name.h"
#include "base/vec.h"
#include "names/kept.h"
#include "object/source.h"
#include "profile/uncounted.h"
#include "report/reports.h"
#include "symbolize/inlined_into.h"
#include "symbolize/own_code.h"

const char *report_file_name(const struct report_opts *o, const char *path)
{
	return o->print_path ? path : base_name(path);
}

const char *report_object_path(const struct report_input *in, symid id)
{
	if (!in->program)
		return symbols_path(in->symbols);
	return program_object_name(in->program, program_object(in->program, id));
}

struct object_file *report_object_file(const struct report_input *in, symid id)
{
	return in->program ? program_object_file(in->program, program_object(in->program, id))
			   : in->symbols->object;
}

const char *report_object_name(const struct report_input *in, symid id)
{
	return base_name(report_object_path(in, id));
}

bool report_has_objects(const struct report_input *in,
			bool (*seen)(const struct callgraph *g, symid id))
{
	objid first = NONE;
	for (symid i = 0; in->program && i < in->graph->n_symbols; i++) {
		if (!seen(in->graph, i))
			continue;
		objid object = program_object(in->program, i);
		if (first != NONE && object != first)
			return true;
		first = object;
	}
	return false;
}

/* Joins four texts without printf(), which is slow for long names. */
static const char *join(struct kin_table *t, const char *const *parts)
{
	enum { PARTS = 4 };
	size_t n[PARTS], all = 0, at = 0;

	for (size_t i = 0; i < PARTS; i++)
		all += n[i] = strlen(parts[i]);
	char *text = xrealloc(NULL, all + 1, 1);
	for (size_t i = 0; i < PARTS; at += n[i++])
		memcpy(text + at, parts[i], n[i]);
	text[all] = '\0';
	const char *copy = table_text(t, text);
	free(text);
	return copy;
}

const char *report_symbol_name(const struct report_input *in, const struct report_opts *o, symid id,
			       struct kin_table *t)
{
	const char *name = symbols_display(in->symbols, id);
	if (in->program && program_is_inlined(in->program, id))
		return join(t, (const char *const[]){ name, REPORT_INLINED, "", "" });
	if (!in->symbols->opts.lines && !o->inline_file_names)
		return name;
	const struct symbol *s = symbols_locate(in->symbols, id);
	if (!s->file)
		return name;

	const char *file = report_file_name(o, s->file);
	char tail[64];
	if (in->symbols->opts.lines)
		snprintf(tail, sizeof(tail), ":%u @ %" PRIx64 ")", s->line, s->addr);
	else
		snprintf(tail, sizeof(tail), ":%u)", s->line);
	return join(t, (const char *const[]){ name, " (", file, tail });
}

const char *report_static_file(const struct report_input *in, symid id)
{
	const struct symbol *s = &in->symbols->at[id];
	if (!s->is_static || !s->is_function)
		return NULL;
	s = symbols_locate(in->symbols, id);
	return s->file ? base_name(s->file) : NULL;
}

struct name_symids { /* a VEC */
	symid *at;
	size_t n, cap;
};

symid *report_symbols_named(struct symbols *s, const char *name, size_t *n)
{
	struct name_symids found = { 0 };
	const char *word = function_name_word(name, n);
	char *text = word ? xprintf("%.*s", (int)*n, word) : NULL;

	for (symid i = 0; i < s->n; i++)
		if (text && !strstr(s->at[i].name, text) ? symbols_is_alias(s, i, name)
							 : symbols_is_called(s, i, name))
			vec_push(&found, i);
	free(text);
	*n = found.n;
	return found.at;
}

static bool is_end_of_path(const char *path, const char *name)
{
	size_t n = strlen(path), k = strlen(name);
	return k && k <= n && !strcmp(path + n - k, name) &&
	       (k == n || name[0] == '/' || path[n - k - 1] == '/');
}

/* Whether "." or ".." are among the path's parts. */
static bool has_dots(const char *path)
{
	return !strncmp(path, "./", 2) || !strncmp(path, "../", 3) || strstr(path, "/./") ||
	       strstr(path, "/../");
}

static char *without_dots(const char *path)
{
	char *ret = xprintf("%s", path);
	file_clean_path(ret);
	return ret;
}

/* A name from outside the current directory is that of one file alone. To be freed. */
static char *name_without_dots(const char *name)
{
	char *clean = without_dots(name);
	char *folder = strncmp(clean, "../", 3) ? NULL : getcwd(NULL, 0);
	if (!folder)
		return clean;
	char *whole = xprintf("%s/%s", folder, clean);
	file_clean_path(whole);
	free(folder);
	free(clean);
	return whole;
}

bool report_file_is(const char *path, const char *name)
{
	if (is_end_of_path(path, name))
		return true;
	if (!has_dots(path) && !has_dots(name))
		return false;
	char *file = without_dots(path), *typed = name_without_dots(name);
	bool is = is_end_of_path(file, typed);
	free(file);
	free(typed);
	return is;
}

bool report_is_subject(const struct report_input *in, const struct report_opts *o, symid id)
{
	const struct symbol *at = &in->symbols->at[id];
	if (!o->subjects || !o->subjects[0])
		return true;
	for (const char *const *s = o->subjects; *s; s++)
		if (symbols_is_called(in->symbols, id, *s) ||
		    symbols_is_called(in->symbols, at->owner, *s) ||
		    (at->file && report_file_is(at->file, *s)))
			return true;
	return false;
}

symid *report_inlined_into(const struct report_input *in, const char *name, size_t *n)
{
	*n = 0;
	return in->program ? inlined_into(in->program, in->profile, name, n) : NULL;
}

static bool is_function(const struct report_input *in, const char *name)
{
	size_t n;

	free(report_symbols_named(in->symbols, name, &n));
	return n > 0;
}

bool report_is_inlined(const struct report_input *in, const char *name)
{
	size_t n;

	free(report_inlined_into(in, name, &n));
	return n > 0;
}

static bool is_named(const struct report_input *in, const char *name)
{
	size_t n;

	if (is_function(in, name))
		return true;
	const char *const *files = symbols_files(in->symbols, &n);
	for (size_t i = 0; i < n; i++)
		if (report_file_is(files[i], name))
			return true;
	return report_is_inlined(in, name);
}

/* ": did you mean 'f'?", or "". */
static struct function_hint find_hint(const struct report_input *in, const char *name)
{
	struct function_hint h = function_hint_for(name);
	for (symid i = 0; i < in->symbols->n && !function_hint_is_best(&h); i++)
		if (function_hint_may_be(&h, in->symbols->at[i].name))
			function_hint_try(&h, symbols_display(in->symbols, i));
	return h;
}

/* Whether functions of the program have lost their names. The requested function may be one of
 * them. */
static bool is_stripped(const struct symbols *s)
{
	for (symid i = 0; i < s->n; i++)
		if (s->at[i].is_nameless && s->parts[s->at[i].part].object == s->object)
			return true;
	return false;
}

/* Whether a name in the data is that of a script's function that is called `name`, or is in a
 * script of that name. */
static bool is_script(const char *full, const char *name)
{
	char *file = NULL;
	if (!own_code_script(full, &file))
		return false;
	const char *function = full + strcspn(full, ":");
	function += strspn(function, ":*~^+");
	size_t n = strlen(name), length = strcspn(function, ": ");
	bool is_it = !strcmp(full, name) || (length == n && !memcmp(function, name, n)) ||
		     (file && (!strcmp(file, name) || !strcmp(base_name(file), name)));
	free(file);
	return is_it;
}

/* The name in the data of such a function; name NULL: of any. NULL: there is none. */
static const char *find_script(const struct profile *p, const char *name)
{
	char *file = NULL;
	for (frameid i = 1; i < p->samples.n_frames; i++) {
		const struct frame *f = &p->samples.frames[i];
		const char *full = f->name ? strtab_get(p->strings, f->name) : "";
		bool any = name ? is_script(full, name) : own_code_script(full, &file);
		free(TAKE(file));
		if (any)
			return full;
	}
	return NULL;
}

struct kin_error *report_unknown_subject(const struct report_input *in, const char *name)
{
	const char *script = find_script(in->profile, name);
	if (script)
		return err_new(KIN_ERROR_USAGE,
			       "'%s' is of a script, recorded as '%s': recordings have no lines of "
			       "scripts",
			       name, script);
	if (in->symbols->object && is_stripped(in->symbols))
		return err_new(KIN_ERROR_USAGE,
			       "no function or source file '%s' in '%s', which was stripped: its "
			       "functions have no names",
			       name, symbols_path(in->symbols));
	struct function_hint hint = find_hint(in, name);
	if (!in->symbols->object) /* there are several programs or libraries */
		return err_new(KIN_ERROR_USAGE, "no function or source file '%s' in the profile%s",
			       name, hint.text);
	return err_new(KIN_ERROR_USAGE, "no function or source file '%s' in '%s'%s", name,
		       symbols_path(in->symbols), hint.text);
}

struct kin_error *report_no_function(const struct report_input *in, const char *name,
				     const char *where)
{
	struct function_hint hint = find_hint(in, name);
	return err_new(KIN_ERROR_USAGE, "no function '%s' %s%s", name, where, hint.text);
}

static void note_inlined(const struct report_input *in, const char *name, struct kin_table *t)
{
	enum { NAMED = 3 };
	size_t n;
	symid *into = is_function(in, name) ? NULL : report_inlined_into(in, name, &n);

	if (!into)
		return;
	char *names = xprintf("%s", "");
	for (size_t i = 0; i < n && i < NAMED; i++) {
		char *more = xprintf("%s%s'%s'", names, i ? ", " : "",
				     symbols_display(in->symbols, into[i]));
		free(names);
		names = more;
	}
	if (n)
		table_note(t, "'%s' was inlined into %s%s, and has no rows of its own here", name,
			   names, n > NAMED ? " and others" : "");
	free(names);
	free(into);
}

void report_note_alias(const struct report_input *in, const char *name, struct kin_table *t)
{
	size_t n;
	symid *found = report_symbols_named(in->symbols, name, &n), other = n ? found[0] : NONE;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(in->symbols->at[found[i]].name, name) ||
		    people_name_is(symbols_display(in->symbols, found[i]), name))
			other = NONE;
	free(found);
	if (other != NONE)
		table_note(
			t,
			"%s is shown as %s: it is another name of the same code, by intention or "
			"because equal functions were folded (ICF)",
			name, symbols_display(in->symbols, other));
}

void report_note_subjects(const struct report_input *in, const struct report_opts *o,
			  struct kin_table *t)
{
	for (const char *const *s = o->subjects; s && *s; s++) {
		const char *script = find_script(in->profile, *s);
		if (script)
			table_note(t,
				   "'%s' is of a script, too, '%s': recordings have no lines of "
				   "scripts",
				   *s, script);
		note_inlined(in, *s, t);
		report_note_alias(in, *s, t);
	}
}

void report_note_scripts(const struct report_input *in, struct kin_table *t)
{
	const char *script = find_script(in->profile, NULL);
	if (script)
		table_note(t, "recordings have no lines of scripts, such as of '%s'", script);
}

void report_note_lines(const struct report_input *in, struct kin_table *t, const char *what)
{
	if (symbols_has_lines(in->symbols))
		return;
	if (in->symbols->object)
		table_note(t, "%s has no line information: build it with -g to see %s.",
			   symbols_path(in->symbols), what);
	else
		table_note(t,
			   "no program or library of the profile has line information: build with "
			   "-g to see %s.",
			   what);
}

struct kin_error *report_check_subjects(const struct report_input *in, const struct report_opts *o)
{
	for (const char *const *s = o->subjects; s && *s; s++)
		if (!is_named(in, *s))
			return report_unknown_subject(in, *s);
	return NULL;
}

const char *report_why_no_samples(const struct profile *p)
{
	return audit_used_little(p) ? ": the program used little CPU time; kin record --wall shows "
				      "where one waits"
				    : "";
}

bool report_is_empty(const struct report_input *in, struct kin_table *t)
{
	bool empty = profile_is_empty(in->profile);
	bool is_recording = in->profile->samples.audit.cpu_ns;
	if (empty && t)
		table_note(t, "there are no samples, no calls and no block counts to show%s",
			   is_recording ? report_why_no_samples(in->profile) : "");
	return empty;
}

void report_describe(const struct report_input *in, struct kin_table *t)
{
	const struct callgraph *g = in->graph;

	report_is_empty(in, t);
	table_set_rate(t, g->rate);
	table_property(t, "total", cell_time(g->total));
	table_property(t, "graph_total", cell_time(g->shown_total));
	table_property(t, "outside", cell_time(g->outside));
	table_property(t, "rate", cell_number(g->rate));
	table_property(t, "dimension", cell_text(g->dimension));
	table_property(t, "abbrev", cell_text((const char[]){ g->abbrev, '\0' }));
	table_property(t, "bytes_per_bin", cell_number(g->bin_bytes));
	table_property(t, "has_arcs", cell_count(g->has_arcs));
	if (g->measured)
		table_property(t, "measured",
			       cell_text("times of calls are those of sampled stacks"));
	else if (g->has_arcs)
		table_property(
			t, "estimated",
			cell_text("times that went through calls are apportioned by call counts"));
}

/* Own code that calls no other has no callees once the code of others is folded into it. */
static bool is_folded(const struct samples *s)
{
	size_t i = 0;
	while (i < s->n_frames && !s->frames[i].paid_for)
		i++;
	return i < s->n_frames;
}

void report_note_chainless(const struct report_input *in, struct kin_table *t)
{
	const struct samples *s = &in->profile->samples;
	if (!samples_have_callers(s) && !is_folded(s))
		table_note(t, "the samples have no call chains: of callees only inlined functions "
			      "are known");
}

static bool counts_calls(const char *name)
{
	if (!strncmp(name, "__cyg_profile_func_", strlen("__cyg_profile_func_")))
		return true;
	for (const char *const *p = selection_profiler_functions; *p; p++)
		if (!strcmp(name, *p))
			return true;
	return false;
}

void report_note_hooks(const struct report_input *in, struct kin_table *t)
{
	enum { LEAST = 5 }; /* percent */
	const struct callgraph *g = in->graph;
	const char *name = NULL;
	double hooks = 0;

	for (symid i = 0; g->measured && g->has_arcs && i < g->n_symbols; i++) {
		if (g->nodes[i].self <= 0 || !counts_calls(in->symbols->at[i].name))
			continue;
		hooks += g->nodes[i].self;
		name = in->symbols->at[i].name;
	}
	if (100 * hooks >= LEAST * g->total && name)
		table_note(
			t,
			"%.0f %% of the time went into counting calls (%s): functions that call "
			"much, or are called much, take less without; 'kin record' counts nothing",
			100 * hooks / g->total, name);
}

/* Decimals for a count: event counts are whole, histogram counts are hundredths of a second. */
static int decimals(double rate) { return rate >= 1e9 ? 6 : rate > 1 ? 2 : 0; }

void report_note_outside(const struct report_input *in, struct kin_table *t)
{
	const double split_least = 0.01;
	const struct callgraph *g = in->graph;
	if (g->left_out > 0)
		table_note(t, "%.2f s of gmon.out are in no row: times are those of samples",
			   g->left_out);
	if (g->split > split_least * g->total)
		table_note(t,
			   "%.*f of %.*f %s fell into bins of the histogram that functions share: "
			   "they are divided by the bytes of each, whichever of them ran",
			   decimals(g->rate), g->split / g->rate, decimals(g->rate),
			   g->total / g->rate, g->dimension);
	if (g->outside > 0)
		table_note(t, "%.*f %s fell on code without a symbol and are in no row",
			   decimals(g->rate), g->outside / g->rate, g->dimension);
}

static bool has_calls_of(const struct report_input *in, const bool *marked)
{
	const struct callgraph *g = in->graph;
	for (symid i = 0; i < g->n_symbols; i++)
		if (g->nodes[i].calls && report_is_uncounted(in, marked, i))
			return true;
	return false;
}

/* Adds the note if a marked object has functions that were called, and returns the marks; otherwise
 * frees them and returns NULL. */
static bool *with_note(const struct report_input *in, bool *marked, struct kin_table *t,
		       const char *note)
{
	if (marked && has_calls_of(in, marked)) {
		table_note(t, "%s", note);
		return marked;
	}
	free(marked);
	return NULL;
}

bool *report_uncounted(const struct report_input *in, const struct report_opts *o,
		       struct kin_table *t)
{
	const struct profile *p = in->profile;
	const struct callgraph *g = in->graph;
	if (!g->has_arcs || o->all_per_call)
		return NULL;
	bool *uncounted = with_note(
		in, uncounted_objects(p), t,
		"only some of the recordings counted calls: there are no times per call of "
		"functions that ran in the others, too");
	if (uncounted)
		table_property(t, "counted_in_part", cell_count(1));
	bool *untimed = with_note(in, g->total > 0 ? untimed_objects(p, g->left_out > 0) : NULL, t,
				  "only some of the recordings have their time in the rows: there "
				  "are no times per call of functions that the others called, too");
	for (size_t i = 0; i < p->n_objects && uncounted && untimed; i++)
		uncounted[i] |= untimed[i];
	if (!uncounted)
		return untimed;
	free(untimed);
	return uncounted;
}

/* Opens the source as it is here, or else as it was when one of the objects was built. */
static struct kin_error *open_source(const struct symbols *s, const char *path,
				     const char *const *dirs, struct source_text *ret)
{
	struct kin_error *err = source_open(path, dirs, false, ret);
	for (size_t i = 0; err && i < s->n_parts; i++) {
		struct object_file *o = s->parts[i].object;
		if (o && object_has_dwarf(o) && object_fetch_source(o, path, ret)) {
			kin_error_free(err);
			err = NULL;
		}
	}
	return err;
}

struct kin_error *report_source(const struct report_input *in, const struct report_opts *o,
				const char *path, struct source_text *ret)
{
	const struct kept_source *kept = kept_find_source(in->profile->kept, path);
	if (!kept)
		return open_source(in->symbols, path, o->source_dirs, ret);
	*ret = (struct source_text){ .path = xprintf("%s", kept->found) };
	ret->file.size = kept->size;
	ret->file.data = xalloc(kept->size + 1);
	memcpy(ret->file.data, kept->text, kept->size);
	return NULL;
}

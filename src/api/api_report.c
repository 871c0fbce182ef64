/* api_report.c - kin_report(): copies options, runs the report, sorts and sections its table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/audit.h"
#include "api/api_filter.h"
#include "api/api_group.h"
#include "api/api_private.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/guard.h"
#include "base/wordlist.h"
#include "paths/path_tree.h"
#include "perf/perf_page.h"
#include "perf/perf_style.h"
#include "report/hists_ask.h"
#include "report/reports.h"
#include "table/render.h"
#include "table/select.h"

/* ---- reports ---- */

/* The options of a report; they live as long as its table. */
struct asked_report {
	struct arena arena;
	struct report_opts opts;
};

static void free_asked(void *what)
{
	struct asked_report *a = what;
	arena_release(&a->arena);
	free(a);
}

static const char *copy_string(struct arena *a, const char *s)
{
	return s ? memcpy(arena_alloc_bytes(a, strlen(s) + 1), s, strlen(s) + 1) : NULL;
}

static const char *const *copy_list(struct arena *a, const char *const *list)
{
	size_t n = 0;
	if (!list)
		return NULL;
	while (list[n])
		n++;
	const char **copy = arena_alloc(a, (n + 1) * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = copy_string(a, list[i]);
	return copy;
}

/* Accepts functions by their names and as reports show them, with a mark for inlined ones. */
static const char *const *copy_subjects(struct arena *a, const char *const *list)
{
	const char *const *copy = copy_list(a, list);
	for (size_t i = 0; copy && copy[i]; i++) {
		size_t n = strlen(copy[i]), mark = strlen(REPORT_INLINED);
		if (n > mark && !strcmp(copy[i] + n - mark, REPORT_INLINED))
			((char *)UNCONST(char *, copy[i]))[n - mark] = '\0';
	}
	return copy;
}

static const struct kin_hists_opts *copy_hists(struct arena *a, const struct kin_hists_opts *o)
{
	struct kin_hists_opts *c = arena_alloc(a, sizeof(*c));
	const char **const texts[] = { &c->sort,   &c->fields,         &c->call_graph,
				       &c->parent, &c->ignore_callees, &c->comms,
				       &c->dsos,   &c->symbols,        &c->symbol_filter,
				       &c->pids,   &c->tids,           &c->cpus,
				       &c->times,  &c->parallelism,    &c->function,
				       &c->socket, &c->rules };
	opts_copy(c, sizeof(*c), o);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		*texts[i] = copy_string(a, *texts[i]);
	return c;
}

bool kin_hists_need_details(const struct kin_hists_opts *opts)
{
	struct kin_hists_opts o;
	opts_copy(&o, sizeof(o), opts);
	return hists_ask_needs_details(&o);
}

bool kin_hists_need_callers(const struct kin_hists_opts *opts)
{
	struct kin_hists_opts o;
	opts_copy(&o, sizeof(o), opts);
	return hists_ask_needs_callers(&o);
}

bool kin_hists_need_times(const struct kin_hists_opts *opts)
{
	struct kin_hists_opts o;
	opts_copy(&o, sizeof(o), opts);
	return hists_ask_needs_times(&o);
}

bool kin_hists_need_addresses(const struct kin_hists_opts *opts)
{
	struct kin_hists_opts o;
	opts_copy(&o, sizeof(o), opts);
	return hists_ask_needs_addresses(&o);
}

static struct kin_error *unguarded_check(struct kin_profile *p, const struct kin_hists_opts *opts)
{
	struct kin_hists_opts o;
	opts_copy(&o, sizeof(o), opts);
	return filter_check_hists(p->data, &o);
}

struct kin_error *kin_hists_check(struct kin_profile *p, const struct kin_hists_opts *opts)
{
	return GUARDED(unguarded_check(p, opts));
}

/* The rules that a report follows instead of kin's own; NULL: kin's own, or no such rules. */
static const struct hists_style *find_style(const char *rules)
{
	static const struct hists_style *const styles[] = { &perf_style };
	for (size_t i = 0; i < ARRAY_LEN(styles) && rules; i++)
		if (!strcmp(rules, styles[i]->name))
			return styles[i];
	return NULL;
}

static struct kin_error *check_rules(const struct kin_hists_opts *o)
{
	return !o || !o->rules || find_style(o->rules)
		       ? NULL
		       : err_new(KIN_ERROR_USAGE, "unknown rules '%.80s' (perf)", o->rules);
}

static struct asked_report *copy_opts(const struct kin_report_opts *o)
{
	struct asked_report *a = xalloc(sizeof(*a));
	a->opts.subjects = copy_subjects(&a->arena, o->subjects);
	a->opts.source_dirs = copy_list(&a->arena, o->source_dirs);
	a->opts.min_share = o->min_share;
	a->opts.every_row = o->every_row;
	a->opts.to_read = o->to_read;
	a->opts.with_source = o->with_source;
	a->opts.all_lines = o->all_lines;
	a->opts.intel = o->intel;
	a->opts.of_function = o->of_function;
	a->opts.max_threads = o->max_threads;
	a->opts.hists = o->hists ? copy_hists(&a->arena, o->hists) : NULL;
	a->opts.hists_style = a->opts.hists ? find_style(a->opts.hists->rules) : NULL;
	return a;
}

static bool says(const char *text, const char *word) { return text && strstr(text, word); }

/* True if the report needs parallelism, but no sample has it. */
static bool misses_parallelism(const struct profile *p, const struct kin_hists_opts *o)
{
	bool asked = o->latency || o->parallelism || says(o->sort, "parallelism") ||
		     says(o->fields, "parallelism") || says(o->sort, "latency") ||
		     says(o->fields, "latency");
	for (size_t i = 0; i < p->samples.n && asked; i++)
		asked = !p->samples.at[i].parallelism;
	return asked;
}

/* Runs the report with names in the report's style. */
static struct kin_error *run_by_program(struct kin_profile *p, const struct report *r,
					const struct asked_report *a, struct kin_table **ret)
{
	struct program_opts opts = p->naming;
	opts.no_inlines =
		!a->opts.hists || !hists_ask_needs_inlines(a->opts.hists, a->opts.hists_style);
	bool any = opts.style == DEMANGLE_AUTO || opts.style == DEMANGLE_TIDY;
	if (any && a->opts.hists_style && a->opts.hists_style->names)
		opts.style = a->opts.hists_style->names;
	opts.by_appearance = a->opts.hists_style != NULL;
	opts.group_unknown = !a->opts.hists_style || !a->opts.hists_style->addresses_apart;
	struct program *program = profile_program(p, &opts);
	if (a->opts.hists && misses_parallelism(p->data, a->opts.hists))
		remarks_add(&p->remarks, KIN_REMARK_WARNING,
			    "how many threads ran at a time is not in this recording: Wall is "
			    "what Children is (kin record --wall has it, and perf record "
			    "--switch-events)");
	struct report_input in = { .profile = p->data,
				   .program = program,
				   .findings = &p->findings };
	return r->run(&in, &a->opts, ret);
}

/* Times of samples: those of functions or lines, or of cycles of calls. */
static bool has_times(const struct kin_table *t)
{
	size_t n = kin_table_n_columns(t);
	return kin_table_find_column(t, "self") < n || kin_table_find_column(t, "time") < n;
}

/* The names of all events with samples except one, "a, b". To be freed. */
static char *other_events(const struct profile *p, uint16_t but)
{
	const struct samples *s = &p->samples;
	bool *sampled = xalloc(s->n_events + 1);
	char *others = xprintf("%s", "");
	for (size_t i = 0; i < s->n; i++)
		sampled[s->at[i].event] = true;
	sampled[but] = false;
	for (size_t i = 0; i < s->n_events; i++) {
		if (!sampled[i])
			continue;
		char *more = xprintf("%s%s%s", others, *others ? ", " : "",
				     strtab_get(p->strings, s->events[i].name));
		free(others);
		others = more;
	}
	free(sampled);
	return others;
}

char *profile_event_note(const struct profile *p, const char *what)
{
	const struct samples *s = &p->samples;
	uint16_t shown = samples_event(s);
	char *others = other_events(p, shown);
	char *note = *others ? xprintf("%s are those of %s; --event NAME shows the others: %s",
				       what, strtab_get(p->strings, s->events[shown].name), others)
			     : NULL;
	free(others);
	return note;
}

static void note_events(const struct profile *p, struct kin_table *t)
{
	char *note = profile_event_note(p, "times");
	if (note)
		table_note_first(t, "%s", note);
	free(note);
}

static struct kin_error *run_report(struct kin_profile *p, const struct report *r,
				    struct asked_report *a, struct kin_table **ret)
{
	if (r->by_program)
		return run_by_program(p, r, a, ret);
	struct view *v;
	struct kin_error *err = profile_view_for(p, r, &v);
	if (err)
		return err;
	struct report_input in = report_input_of(p, v);
	if ((err = r->run(&in, &a->opts, ret)))
		return err;
	if ((err = profile_trouble(p)))
		kin_table_free(*ret);
	return err;
}

/* Releases a table's profile. Problems are collected only now, because much is read only while rows
 * are. */
static void release_profile(void *profile)
{
	struct kin_profile *p = profile;
	profile_hear_all(p);
	profile_unref(p);
}

static void note_all(const struct kin_profile *p, enum kin_remark kind, struct kin_table *t)
{
	const char *text;
	for (size_t i = 0; (text = remarks_next(&p->remarks, kind, &i));)
		table_note(t, "%s", text);
}

/* "info" already has all doubts as rows, and "own_lines" stands below a report that has notes. */
static void add_notes(const struct kin_profile *p, const struct report *r, struct kin_table *t)
{
	if (r == &own_lines_report)
		return;
	if (p->is_live && r == &graph_report)
		table_note(t,
			   "callers are not checked live: reports of a recording see in the code "
			   "whether they made the call");
	if (r != &info_report)
		note_all(p, KIN_REMARK_NOTE, t);
	if (has_times(t)) {
		note_all(p, KIN_REMARK_FOLDED, t);
		note_all(p, KIN_REMARK_STACKS, t);
	}
}

/* How far shares may be off by chance, in reports that show them; few samples are a doubt, and
 * noted anyway. */
static void note_interval(const struct kin_profile *p, const struct report *r, struct kin_table *t)
{
	double n = audit_samples(p->data), points = audit_points(n);
	if (n >= AUDIT_FEW &&
	    (r == &flat_report || r == &graph_report || r == &lines_report || r == &hists_report))
		table_note(t, "shares are \u00b1 %.*f points", points < 1 ? 1 : 0, points);
}

static struct kin_error *unguarded_report(struct kin_profile *p, const char *name,
					  const struct kin_report_opts *opts,
					  struct kin_table **ret)
{
	struct kin_report_opts o;
	opts_copy(&o, sizeof(o), opts);
	const struct report *r = report_find(name);
	if (!r)
		return err_new(KIN_ERROR_USAGE, "no report '%s'", name);

	struct asked_report *a = copy_opts(&o);
	a->opts.static_files = words_have(o.columns, "file");
	struct kin_table *t = NULL;
	struct kin_error *err = check_rules(a->opts.hists);
	if (!err)
		err = o.by ? group_report(p, r, &a->opts, o.by, o.sort, &t)
			   : run_report(p, r, a, &t);
	if (err) {
		free_asked(a);
		return err;
	}
	profile_ref(p);
	table_keep(t, release_profile, p);
	table_keep(t, free_asked, a);
	add_notes(p, r, t);
	if (o.intervals && !o.by)
		note_interval(p, r, t);
	if (has_times(t) && !r->by_program && (!o.by || strcmp(o.by, "event") != 0))
		note_events(p->data, t);
	err = table_select(t, &(struct table_selection){ o.columns, o.by ? NULL : o.sort }, ret);
	if (err)
		kin_table_free(t);
	return err;
}

struct kin_error *kin_report(struct kin_profile *p, const char *name,
			     const struct kin_report_opts *opts, struct kin_table **ret)
{
	return GUARDED(unguarded_report(p, name, opts, ret));
}

/* ---- rendering ---- */

static const struct renderer *find_renderer(const char *name)
{
	return strcmp(name, perf_renderer.name) ? renderer_find(name) : &perf_renderer;
}

static struct kin_error *no_format(const char *name)
{
	struct arena a = { 0 };
	const char *list = "";
	for (const struct renderer *const *r = renderers(); *r; r++)
		list = arena_printf(&a, "%s%s, ", list, (*r)->name);
	list = arena_printf(&a, "%s%s", list, perf_renderer.name);
	struct kin_error *err = err_new(KIN_ERROR_USAGE, "unknown format '%s' (%s)", name, list);
	arena_release(&a);
	return err;
}

static struct kin_error *unguarded_render(struct kin_table *t, const char *format,
					  const struct kin_render_opts *opts, FILE *out)
{
	struct kin_render_opts o;
	opts_copy(&o, sizeof(o), opts);
	const struct renderer *r = find_renderer(format);
	if (!r)
		return no_format(format);

	errno = 0;
	struct kin_error *err = r->render(t,
					  &(struct render_opts){ .width = o.width,
								 .color = o.color,
								 .full_names = o.full_names,
								 .separator = o.separator,
								 .widths = o.widths,
								 .quiet = o.quiet,
								 .header = o.header },
					  out);
	if (!err && (fflush(out) || ferror(out)))
		err = err_os(errno ? errno : EIO, "writing");
	return err;
}

struct kin_error *kin_render(struct kin_table *t, const char *format,
			     const struct kin_render_opts *opts, FILE *out)
{
	return GUARDED(unguarded_render(t, format, opts, out));
}

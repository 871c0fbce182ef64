/* api_diff.c - compares two profiles, or two sets of recordings. */
#include "report/report_diff.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/audit.h"
#include "api/api_private.h"
#include "base/err.h"
#include "base/guard.h"
#include "names/kept.h"
#include "page/html_write.h"
#include "paths/path_tree.h"
#include "report/reports.h"
#include "table/select.h"
#include "table/table_build.h"

static double weight_of_sample(const struct samples *s)
{
	struct samples_weights x = samples_weights(s, samples_event(s));
	return x.weight > 0 ? x.squares / x.weight : 1;
}

/* The value of a fact; NULL: the data does not have it. */
static const char *fact(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->n_facts; i++)
		if (!strcmp(strtab_get(p->strings, p->facts[i].name), name))
			return strtab_get(p->strings, p->facts[i].value);
	return NULL;
}

static bool is_of(const struct profile *p, const char *kind)
{
	bool any = false;
	for (size_t i = 0; i < p->n_sources; i++)
		any |= !strcmp(p->sources[i].kind, kind);
	return any;
}

/* A store and kin merge do not keep which samples belong to which recording. */
static bool is_sum(const struct profile *p)
{
	const char *writer = fact(p, "written by");
	return is_of(p, "store") || (writer && !strcmp(writer, "kin merge"));
}

/* The name of the counted event; NULL for time, and for folded stacks, which do not say what they
 * count. */
static const char *counted_event(const struct profile *p)
{
	const struct samples *s = &p->samples;
	if (!s->n_events || s->events[samples_event(s)].unit == EVENT_NS)
		return NULL;
	const char *name = strtab_get(p->strings, s->events[samples_event(s)].name);
	return *name && strcmp(name, "samples") != 0 ? name : NULL;
}

/* ---- sides of several recordings ---- */

struct diff_build { /* a build of a program or library on one side; owned */
	char *path, *id;
	bool after, same; /* same: the other side has it, too */
};

struct diff_note {       /* a note of a profile */
	char *text;      /* owned */
	unsigned others; /* further profiles on this side with the same note, up to numbers */
};

struct kin_comparison {
	struct kin_diff_opts o;
	struct comparison *of;
	VEC(struct diff_note) notes;
	VEC(struct diff_build) builds;
	struct html_paths *paths; /* NULL: no page is requested */
};

struct kin_comparison *kin_comparison_new(const struct kin_diff_opts *opts)
{
	struct kin_comparison *c = xalloc(sizeof(*c));
	opts_copy(&c->o, sizeof(c->o), opts);
	c->of = comparison_new(&(struct comparison_opts){ .inclusive = c->o.inclusive,
							  .shares = c->o.shares,
							  .paired = c->o.paired,
							  .by_line = c->o.lines });
	if (c->o.for_page)
		c->paths = html_paths_new(false);
	return c;
}

void kin_comparison_free(struct kin_comparison *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->notes.n; i++)
		free(c->notes.at[i].text);
	vec_free(&c->notes);
	for (size_t i = 0; i < c->builds.n; i++) {
		free(c->builds.at[i].path);
		free(c->builds.at[i].id);
	}
	vec_free(&c->builds);
	comparison_free(c->of);
	html_paths_free(c->paths);
	free(c);
}

/* Whether two notes are equal except for their numbers. */
static bool are_alike(const char *a, const char *b)
{
	static const char numbers[] = "0123456789.";
	while (*a && *b) {
		size_t n = strspn(a, numbers), m = strspn(b, numbers);
		if (!n != !m || (!n && *a != *b))
			return false;
		a += n ? n : 1;
		b += m ? m : 1;
	}
	return *a == *b;
}

/* Takes each note once: recordings of a side have most notes in common. */
static void take_notes(struct kin_comparison *c, const struct kin_profile *p, bool after)
{
	const char *said;
	for (size_t i = 0; (said = remarks_next(&p->remarks, KIN_REMARK_NOTE, &i));) {
		char *text = xprintf("%s: %s", after ? "after" : "before", said);
		struct diff_note *known = NULL;
		for (size_t k = 0; k < c->notes.n && !known; k++)
			if (are_alike(c->notes.at[k].text, text))
				known = &c->notes.at[k];
		if (!known) {
			vec_push(&c->notes, ((struct diff_note){ .text = text }));
			continue;
		}
		known->others += strcmp(known->text, text) != 0;
		free(text);
	}
}

static void add_build(struct kin_comparison *c, const char *path, const char *id, bool after)
{
	bool same = false;
	for (size_t i = 0; i < c->builds.n; i++) {
		struct diff_build *b = &c->builds.at[i];
		if (strcmp(b->path, path) != 0 || strcmp(b->id, id) != 0)
			continue;
		if (b->after == after)
			return;
		b->same = same = true;
	}
	vec_push(&c->builds,
		 ((struct diff_build){ xprintf("%s", path), xprintf("%s", id), after, same }));
}

static void take_build(struct kin_comparison *c, const struct profile *p, const struct object *o,
		       bool after)
{
	const char *path = strtab_get(p->strings, o->path);
	const char *id = strtab_get(p->strings, o->build_id);
	size_t n = kept_build_id_length(p->kept, path, id);
	char *known = xprintf("%.*s", (int)n, id);
	if (n)
		add_build(c, path, known, after);
	free(known);
}

/* Only files can have builds: not "[unknown]", nor objects of formats that have names but no
 * addresses. */
static void take_builds(struct kin_comparison *c, const struct profile *p, bool after)
{
	for (size_t i = 0; i < p->n_objects; i++) {
		const struct object *o = &p->objects[i];
		const char *path = strtab_get(p->strings, o->path);
		if (o->kind == OBJECT_ELF && o->build_id && *path != '[')
			take_build(c, p, o, after);
	}
}

/* Notes files whose build changed between the sides; each file once, even if it has several
 * builds. */
static void note_builds(const struct kin_comparison *c, struct kin_table *t)
{
	for (size_t i = 0; i < c->builds.n; i++) {
		const struct diff_build *b = &c->builds.at[i];
		bool again = false, known = false;
		for (size_t k = 0; k < c->builds.n && b->after && !b->same; k++) {
			const struct diff_build *other = &c->builds.at[k];
			bool of_file = !strcmp(other->path, b->path);
			again |= of_file && !other->after;
			known |= of_file && other->after && !other->same && k < i;
		}
		again &= !known;
		if (again)
			table_note(t,
				   "%s is another build after than before: its functions are "
				   "compared by name",
				   b->path);
	}
}

static void note_profiles(const struct kin_comparison *c, struct kin_table *t)
{
	for (size_t i = 0; i < c->notes.n; i++) {
		const struct diff_note *note = &c->notes.at[i];
		if (note->others)
			table_note(t, "%s (in one recording; %u more %s other numbers)", note->text,
				   note->others, note->others == 1 ? "has" : "have");
		else
			table_note(t, "%s", note->text);
	}
}

static struct kin_error *by_run(const struct kin_comparison *c, struct kin_profile *p,
				struct kin_table **ret)
{
	static const char *const functions[] = { "run",  "name",      "object", "file",
						 "self", "inclusive", NULL };
	static const char *const lines[] = { "run",       "name", "object", "self",
					     "inclusive", "file", "line",   NULL };
	struct kin_report_opts opts = { .size = sizeof(opts),
					.by = "run",
					.columns = c->o.lines ? lines : functions };
	return kin_report(p, c->o.lines ? "lines" : "flat", &opts, ret);
}

static struct kin_error *keep_samples(struct kin_comparison *c, bool after, struct kin_profile *p)
{
	struct view *v;
	struct kin_error *err = profile_names_for(p, &flat_report, &v);
	if (!err)
		html_paths_add(c->paths, p->data, v->program, after, p->naming.no_inlines, false,
			       NULL);
	return err;
}

/* Finds counted calls. By line, only calls from outside are needed. */
static struct kin_error *find_calls(const struct kin_comparison *c, struct kin_profile *p,
				    struct report_input *in, const struct report_input **ret)
{
	struct view *v;
	if (c->o.lines && !p->data->n_arcs)
		return NULL;
	struct kin_error *err = profile_view_for(p, &flat_report, &v);
	if (err)
		return err;
	*in = report_input_of(p, v);
	*ret = in;
	return NULL;
}

static struct kin_error *unguarded_comparison_add(struct kin_comparison *c, bool after,
						  struct kin_profile *p)
{
	const struct samples *s = &p->data->samples;
	struct kin_report_opts opts = { .size = sizeof(opts),
					.columns = c->o.lines ? comparison_line_columns
							      : comparison_columns };
	/* The C library's mcount only knows callers in the program. */
	bool gmon = is_of(p->data, "gmon");
	bool timed = s->n && (s->audit.duration_ns || is_of(p->data, "store"));
	struct comparison_recording r = { .n_runs = samples_n_runs(s),
					  .per_sample = weight_of_sample(s),
					  .sampled = gmon || timed,
					  .started = fact(p->data, "started at"),
					  .is_sum = is_sum(p->data),
					  .lacks_time = audit_lacks_time(p->data),
					  .event = counted_event(p->data),
					  .inner_only = gmon };
	struct kin_error *err = kin_report(p, c->o.lines ? "lines" : "flat", &opts, &r.flat);
	if (!err && r.n_runs > 1)
		err = by_run(c, p, &r.by_run);
	struct report_input in;
	if (!err)
		err = find_calls(c, p, &in, &r.calls);
	if (!err)
		err = comparison_add(c->of, after ? REPEATS_AFTER : REPEATS_BEFORE, &r);
	if (!err && c->paths && p->data->samples.n)
		err = keep_samples(c, after, p);
	kin_table_free(r.flat);
	kin_table_free(r.by_run);
	take_notes(c, p, after);
	take_builds(c, p->data, after);
	return err;
}

struct kin_error *kin_comparison_add(struct kin_comparison *c, bool after, struct kin_profile *p)
{
	return GUARDED(unguarded_comparison_add(c, after, p));
}

static const char *const page_columns[] = { "change",       "chance",      "before",
					    "after",        "p",           "what",
					    "calls_before", "calls_after", "object",
					    "name",         NULL };

/* Selects the requested columns. */
static struct kin_error *selected(struct kin_comparison *c, struct kin_table *t,
				  struct kin_table **ret)
{
	const char *const *columns = c->o.for_page ? page_columns : c->o.columns;
	struct kin_error *err =
		table_select(t, &(struct table_selection){ columns, c->o.sort }, ret);
	if (err)
		kin_table_free(t);
	return err;
}

static struct kin_error *unguarded_comparison_check(struct kin_comparison *c)
{
	struct kin_table *t = NULL;
	struct kin_error *err = selected(c, diff_table(c->of), &t);
	kin_table_free(t);
	return err;
}

struct kin_error *kin_comparison_check(struct kin_comparison *c)
{
	return GUARDED(unguarded_comparison_check(c));
}

static struct kin_error *unguarded_comparison_table(struct kin_comparison *c,
						    struct kin_table **ret)
{
	struct kin_error *err = NULL;
	for (int i = 0; i < REPEATS_SIDES && !err; i++)
		if (!c->of->side[i].recordings.n)
			err = err_new(KIN_ERROR_USAGE, "there is no recording %s",
				      i == REPEATS_BEFORE ? "before" : "after");
	if (!err)
		err = comparison_finish(c->of);
	if (err)
		return err;
	struct kin_table *t =
		diff_report(c->of, &(struct diff_opts){ .all = c->o.all || c->o.for_page,
							.limited = c->o.limited,
							.limit = c->o.limit,
							.min_share = c->o.min_share,
							.detect = c->o.detect,
							.by_percent = c->o.by_percent });
	note_profiles(c, t);
	note_builds(c, t);
	return selected(c, t, ret);
}

struct kin_error *kin_comparison_table(struct kin_comparison *c, struct kin_table **ret)
{
	return GUARDED(unguarded_comparison_table(c, ret));
}

static struct kin_error *unguarded_html(struct kin_comparison *c, struct kin_table *table,
					const struct kin_html_opts *opts, FILE *out)
{
	struct kin_html_opts o;
	opts_copy(&o, sizeof(o), opts);
	struct people_names *names = o.full_names ? NULL : people_names_new();
	char *json = html_table_json(table, names);
	const struct html_table tables[] = { { "difference", json }, { NULL, NULL } };
	struct kin_error *err = html_write(
		out,
		&(struct html_input){ .title = o.title ? o.title : "Difference",
				      .tables = tables,
				      .names = names,
				      .paths = c->paths && c->paths->samples.n ? c->paths : NULL,
				      .max_bytes = o.max_bytes ? o.max_bytes : HTML_BYTES,
				      .min_width = o.max_bytes ? 0 : HTML_MIN_WIDTH });
	free(json);
	people_names_free(names);
	return err;
}

struct kin_error *kin_comparison_html(struct kin_comparison *c, struct kin_table *table,
				      const struct kin_html_opts *opts, FILE *out)
{
	return GUARDED(unguarded_html(c, table, opts, out));
}

/* ---- one recording on each side ---- */

static struct kin_error *unguarded_diff(struct kin_profile *before, struct kin_profile *after,
					const struct kin_diff_opts *opts, struct kin_table **ret)
{
	struct kin_comparison *c = kin_comparison_new(opts);
	struct kin_error *err = kin_comparison_add(c, false, before);
	if (!err)
		err = kin_comparison_add(c, true, after);
	if (!err)
		err = kin_comparison_table(c, ret);
	kin_comparison_free(c);
	return err;
}

struct kin_error *kin_diff(struct kin_profile *before, struct kin_profile *after,
			   const struct kin_diff_opts *opts, struct kin_table **ret)
{
	return GUARDED(unguarded_diff(before, after, opts, ret));
}

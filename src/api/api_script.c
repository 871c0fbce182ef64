/* api_script.c - kin_script(): samples as text, JSON or folded stacks. */
#include <stdlib.h>
#include <string.h>

#include "api/api_namer.h"
#include "api/api_private.h"
#include "base/err.h"
#include "base/guard.h"
#include "base/vec.h"
#include "export/folded.h"
#include "export/script.h"
#include "formats/exported.h"
#include "object/source.h"
#include "report/reports.h"

/* A profile opened without inlined functions has none, whatever the options say. */
static bool no_inlines(const struct kin_profile *p, const struct kin_script_opts *o)
{
	return p->naming.no_inlines || !o->inlines;
}

static struct kin_error *write_folded(struct kin_profile *p, struct program *g,
				      const struct kin_script_opts *o,
				      const struct sample_filter *filter, FILE *out)
{
	struct leaf_filter *leaves =
		leaf_filter_new(p->data, g, o->symbols, o->objects, no_inlines(p, o));
	struct namer n = { .p = p->data, .g = g, .full_names = o->full_names };
	struct kin_error *err = folded_write(out, p->data,
					     &(struct folded_opts){ .names = namer_names,
								    .arg = &n,
								    .event = o->event,
								    .filter = filter,
								    .leaves = leaves,
								    .weights = !o->counts,
								    .no_inlines = no_inlines(p, o),
								    .no_comm = o->no_comm,
								    .pid = o->show_pid,
								    .tid = o->show_tid,
								    .escaped = o->escaped,
								    .annotate = o->annotate });
	namer_done(&n);
	leaf_filter_free(leaves);
	char *note = err || o->event ? NULL : profile_event_note(p->data, "stacks");
	if (note)
		remarks_add_once(&p->remarks, KIN_REMARK_NOTE, "%s", note);
	free(note);
	return err;
}

/* ---- all formats ---- */

static bool asks_for(const struct kin_script_opts *opts, uint64_t some)
{
	struct kin_script_opts o;
	struct script_fields fields = { 0 };
	opts_copy(&o, sizeof(o), opts);
	struct kin_error *err = script_fields_read(o.fields, &fields);
	kin_error_free(err); /* kin_script() reports it */
	return script_fields_any(&fields, some);
}

bool kin_script_needs_details(const struct kin_script_opts *opts)
{
	return asks_for(opts, SCRIPT_OF_DETAILS);
}

bool kin_script_needs_cpu_state(const struct kin_script_opts *opts)
{
	return asks_for(opts, SCRIPT_OF_STATE);
}

/* ---- source lines ---- */

struct read_source {
	const char *name;
	struct source_text text;
	VEC(size_t) starts; /* offsets of its lines */
};

struct script_sources {
	const struct report_input *in;
	const struct report_opts *opts;
	VEC(struct read_source) at; /* unreadable files have no lines */
};

static struct read_source *source_named(struct script_sources *all, const char *name)
{
	for (size_t i = all->at.n; i-- > 0;)
		if (!strcmp(all->at.at[i].name, name))
			return &all->at.at[i];
	struct read_source made = { .name = name };
	kin_error_free(report_source(all->in, all->opts, name, &made.text));
	const struct file *f = &made.text.file;
	const uint8_t *line;
	size_t n, start = 0;
	for (size_t at = 0; made.text.path && source_line(f->data, f->size, &at, &line, &n);
	     start = at)
		vec_push(&made.starts, start);
	vec_push(&all->at, made);
	return &all->at.at[all->at.n - 1];
}

static bool find_source(void *arg, const char *file, uint32_t line, const uint8_t **ret, size_t *n)
{
	const struct read_source *s = source_named(arg, file);
	if (!line || line > s->starts.n)
		return false;
	size_t at = s->starts.at[line - 1];
	if (!source_line(s->text.file.data, s->text.file.size, &at, ret, n))
		return false;
	while (*n && (*ret)[*n - 1] == '\r')
		--*n;
	return true;
}

static void sources_done(struct script_sources *all)
{
	for (size_t i = 0; i < all->at.n; i++) {
		source_done(&all->at.at[i].text);
		vec_free(&all->at.at[i].starts);
	}
	vec_free(&all->at);
}

static struct kin_error *write_samples(struct kin_profile *p, struct program *g,
				       const struct kin_script_opts *o, bool json,
				       const struct sample_filter *filter, FILE *out)
{
	const struct report_input in = { .profile = p->data, .symbols = program_symbols(g) };
	const struct report_opts report = { .source_dirs = o->source_dirs };
	struct script_sources sources = { .in = &in, .opts = &report };
	struct script_opts opts = {
		.source = find_source,
		.arg = &sources,
		.json = json,
		.nanoseconds = o->nanoseconds,
		.relative = o->relative,
		.delta = o->delta,
		.max_stack = o->leaves ? 1 : o->max_stack,
		.leaves = o->leaves,
		.no_inlines = no_inlines(p, o),
		.no_frames = o->no_frames,
		.whole_paths = o->whole_paths || json,
		.stop_at = o->stop_at,
		.objects = o->objects,
		.functions = o->symbols,
		.event = o->event,
		.filter = filter,
	};
	struct kin_error *err = script_fields_read(o->fields, &opts.fields);
	if (!err)
		err = script_write(out, p->data, g, &opts);
	sources_done(&sources);
	return err;
}

static struct kin_error *check_event(const struct profile *p, const char *event)
{
	for (size_t i = 0; i < p->samples.n_events; i++)
		if (!event ||
		    event_is_called(strtab_get(p->strings, p->samples.events[i].name), event))
			return NULL;
	return err_new(KIN_ERROR_USAGE, "there are no samples of an event '%.80s'", event);
}

static struct kin_error *check(const struct profile *p, const char *format,
			       const struct kin_script_opts *o)
{
	if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0 &&
	    strcmp(format, "folded") != 0)
		return err_new(KIN_ERROR_USAGE, "unknown format '%s' (text, json, folded)", format);
	if (!p->samples.n)
		return exported_nothing(p->samples.n_events);
	return check_event(p, o->event);
}

static struct kin_error *unguarded_script(struct kin_profile *p, const char *format,
					  const struct kin_script_opts *opts, FILE *out)
{
	struct kin_script_opts o;
	opts_copy(&o, sizeof(o), opts);
	struct sample_filter *filter = NULL;
	struct kin_error *err = check(p->data, format, &o);
	if (!err)
		err = sample_filter_new(p->data,
					&(struct sample_filter_texts){ .comms = o.comms,
								       .pids = o.pids,
								       .tids = o.tids,
								       .cpus = o.cpus,
								       .times = o.times },
					&filter);
	if (err)
		return err;
	struct program_opts naming = p->naming;
	naming.no_inlines = no_inlines(p, &o);
	if (format[0] == 't' && !p->style_given) /* readers of this text expect perf's names */
		naming.style = DEMANGLE_SHORT;
	struct program *g = profile_program(p, &naming);
	err = format[0] == 'f' ? write_folded(p, g, &o, filter, out)
			       : write_samples(p, g, &o, format[0] == 'j', filter, out);
	profile_hear(p, g);
	sample_filter_free(filter);
	return err;
}

struct kin_error *kin_script(struct kin_profile *p, const char *format,
			     const struct kin_script_opts *opts, FILE *out)
{
	return GUARDED(unguarded_script(p, format, opts, out));
}

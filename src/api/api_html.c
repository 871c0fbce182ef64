/* api_html.c - gathers the contents of the HTML page: tables, paths and samples. */
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "base/err.h"
#include "base/guard.h"
#include "base/source_url.h"
#include "page/html_write.h"
#include "paths/path_tree.h"

enum { THREADS_MAX = 50 }; /* in the summary's table of threads */

enum page_part { INFO, FUNCTIONS, GRAPH, CYCLES, LINES, INSTRUCTIONS, N_PARTS };

struct page_parts {
	struct html_table tables[N_PARTS + 1];
	struct people_names *names; /* NULL: functions have their whole names */
	struct html_paths *paths;   /* NULL: there are no samples */
	struct own_shares own;      /* if own code is told from that of others */
};

static const struct html_table no_tables[N_PARTS + 1] = {
	[INFO] = { "info", NULL },   [FUNCTIONS] = { "functions", NULL },
	[GRAPH] = { "graph", NULL }, [CYCLES] = { "cycles", NULL },
	[LINES] = { "lines", NULL }, [INSTRUCTIONS] = { "instructions", NULL },
};

static const char *const columns[N_PARTS][16] = {
	[FUNCTIONS] = { "self", "children", "calls", "object", "name", "cycle", "index", "address",
			NULL },
	[GRAPH] = { "index", "self", "children", "called", "object", "name", "cycle", NULL },
	[CYCLES] = { "cycle", "verdict", "what", "share", "time", "calls", "samples", "least",
		     "bound", "name", "members", NULL },
	[LINES] = { "self", "inclusive", "count", "line", "source", "file", NULL },
	[INSTRUCTIONS] = { "self", "inclusive", "samples", "calls", "address", "instruction",
			   "function", "object", "file", "line", "inlined", NULL },
};

static struct kin_error *add_table(struct kin_profile *p, enum page_part part, const char *report,
				   const struct kin_html_opts *opts, struct page_parts *ret)
{
	struct kin_report_opts o = { .size = sizeof(o),
				     .columns = columns[part][0] ? columns[part] : NULL,
				     .min_share = part == GRAPH ? opts->min_share : 0,
				     .source_dirs = opts->source_dirs,
				     .max_threads = THREADS_MAX };
	struct kin_table *t;
	profile_forget_graphs(p, report_find(report));
	struct kin_error *err = kin_report(p, report, &o, &t);
	if (err)
		return err;
	ret->tables[part].json = html_table_json(t, ret->names);
	kin_table_free(t);
	return NULL;
}

/* Adds a table about code. If code cannot be shown the page is still useful: the reports say why in
 * a note, or the error becomes a warning. */
static void try_table(struct kin_profile *p, enum page_part part, const char *report,
		      const struct kin_html_opts *opts, struct page_parts *ret)
{
	struct kin_error *err = add_table(p, part, report, opts, ret);
	if (err)
		remarks_add(&p->remarks, KIN_REMARK_WARNING, "%s", kin_error_message(err));
	kin_error_free(err);
}

static bool has_files(const struct kin_profile *p)
{
	bool any = p->object != NULL;
	for (size_t i = 0; i < p->data->n_objects; i++)
		any |= p->data->objects[i].kind == OBJECT_ELF && p->data->objects[i].path;
	return any;
}

/* Makes the tables. With samples, times come from the paths, and the tables of functions and calls
 * only add counts of calls and membership in cycles. Tables of the same call graph are made one
 * after the other, so that one graph exists at a time. */
static struct kin_error *make_tables(struct kin_profile *p, const struct kin_html_opts *opts,
				     struct page_parts *ret)
{
	bool sampled = p->data->samples.n > 0, counted = p->data->n_arcs > 0;
	struct kin_error *err = add_table(p, INFO, "info", opts, ret);
	if (!err && (!sampled || counted))
		err = add_table(p, GRAPH, "graph", opts, ret);
	if (!err)
		err = add_table(p, CYCLES, "cycles", opts, ret);
	if (!err)
		err = add_table(p, FUNCTIONS, "flat", opts, ret);
	if (!err && !opts->no_code && has_files(p)) {
		try_table(p, LINES, "annotate", opts, ret);
		try_table(p, INSTRUCTIONS, "asm", opts, ret);
	}
	return err;
}

/* Distinguishes samples by instruction if the page shows code. */
static struct kin_error *make_paths(struct kin_profile *p, struct page_parts *ret)
{
	struct view *v;
	if (!p->data->samples.n)
		return NULL;
	struct kin_error *err = profile_names_for(p, &flat_report, &v);
	if (err)
		return err;
	profile_forget_graphs(p, NULL);
	struct own_fold *own =
		p->own && !p->is_folded ? own_fold_new(v->program, p->data, p->own) : NULL;
	ret->paths = html_paths_new(true);
	html_paths_add(ret->paths, p->data, v->program, 0, p->naming.no_inlines,
		       ret->tables[LINES].json || ret->tables[INSTRUCTIONS].json, own);
	if (own)
		ret->own = own_fold_shares(own, samples_event(&p->data->samples));
	own_fold_free(own);
	profile_hear(p, v->program);
	return NULL;
}

static void parts_done(struct page_parts *x)
{
	for (size_t i = 0; i < N_PARTS; i++)
		free(x->tables[i].json);
	html_paths_free(x->paths);
	people_names_free(x->names);
}

/* "prog: profile.kin": the first recorded program, and the file. To be freed. */
static char *title_of(const struct kin_profile *p)
{
	const struct profile *d = p->data;
	const char *file =
		d->n_sources == 1 ? base_name(strtab_get(d->strings, d->sources[0].path)) : "";
	const char *program = p->object ? object_path(p->object) : "";
	for (objid i = 0; i < d->n_objects && !*program; i++)
		if (d->objects[i].is_main && d->objects[i].path)
			program = strtab_get(d->strings, d->objects[i].path);
	program = base_name(program);
	if (!*program || !*file)
		return xprintf("%s", *program ? program : *file ? file : "Profile");
	return xprintf("%s: %s", program, file);
}

static struct kin_error *unguarded_html(struct kin_profile *p, const struct kin_html_opts *opts,
					FILE *out)
{
	struct kin_html_opts o;
	struct page_parts x = { .paths = NULL };
	memcpy(x.tables, no_tables, sizeof(x.tables));
	opts_copy(&o, sizeof(o), opts);
	if (o.source_url && !source_url_is_valid(o.source_url))
		return err_new(KIN_ERROR_USAGE, "source_url '%s' is not https://HOST/PATH/{file}",
			       o.source_url);
	x.names = o.full_names ? NULL : people_names_new();
	char *title = o.title ? NULL : title_of(p);
	struct remarks findings = { 0 };
	for (size_t i = 0; i < KIN_FINDINGS_MOST && i < p->findings.at.n; i++)
		remarks_add(&findings, KIN_REMARK_NOTE, "%s", p->findings.at.at[i].text);
	struct kin_error *err = make_tables(p, &o, &x);
	if (!err)
		err = make_paths(p, &x);
	if (!err)
		err = html_write(out,
				 &(struct html_input){
					 .title = o.title ? o.title : title,
					 .tables = x.tables,
					 .remarks = &p->remarks,
					 .findings = &findings,
					 .own = x.own,
					 .begins_with_own = profile_leads_with_own(o.own, x.own),
					 .source_url = o.source_url,
					 .own_code = p->own,
					 .names = x.names,
					 .paths = x.paths,
					 .max_bytes = o.max_bytes ? o.max_bytes : HTML_BYTES,
					 .min_width = o.max_bytes ? 0 : HTML_MIN_WIDTH });
	parts_done(&x);
	remarks_free(&findings);
	free(title);
	return err;
}

struct kin_error *kin_html(struct kin_profile *p, const struct kin_html_opts *opts, FILE *out)
{
	return GUARDED(unguarded_html(p, opts, out));
}

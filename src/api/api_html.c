/* api_html.c - gathers the tables and flame graphs that the HTML page shows. */
#include "export/html.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_namer.h"
#include "api/api_private.h"
#include "base/err.h"
#include "base/guard.h"
#include "paths/path_tree.h"

enum { THREADS_MAX = 50 }; /* in the summary */

struct parts {
	struct kin_table *info, *functions, *graph;
	struct folded_tree *trees; /* [n_flames] */
	struct html_flame *flames;
	size_t n_flames;
};

static struct kin_error *make_tables(struct kin_profile *p, double min_share, struct parts *ret)
{
	static const char *const of_functions[] = { "self", "children", "calls", "object",
						    "name", "cycle",    "index", NULL };
	static const char *const of_graph[] = { "index",  "self", "children", "called",
						"object", "name", "cycle",    NULL };
	struct kin_report_opts o = { .size = sizeof(o) };
	o.max_threads = THREADS_MAX;
	struct kin_error *err = kin_report(p, "info", &o, &ret->info);
	o.columns = of_functions;
	if (!err)
		err = kin_report(p, "flat", &o, &ret->functions);
	o.columns = of_graph;
	o.min_share = min_share;
	if (!err)
		err = kin_report(p, "graph", &o, &ret->graph);
	return err;
}

/* Events of one name are one, as in every table. */
static bool is_known(const struct parts *x, const char *event)
{
	for (size_t i = 0; i < x->n_flames; i++)
		if (!strcmp(x->flames[i].event, event))
			return true;
	return false;
}

/* Of all samples of that name; nothing if there are none. */
static void add_flame(struct kin_profile *p, struct namer *n, uint32_t id, struct parts *x)
{
	const struct event *e = &p->data->samples.events[id];
	const char *event = strtab_get(p->data->strings, e->name);
	if (is_known(x, event))
		return;
	struct folded_tree *tree = &x->trees[x->n_flames];
	*tree = folded_tree_of(p->data, &(struct folded_opts){ .names = namer_names,
							       .arg = n,
							       .event = event,
							       .weights = true,
							       .no_inlines = p->naming.no_inlines,
							       .annotate = true });
	if (tree->n < 2)
		folded_tree_done(tree);
	else
		x->flames[x->n_flames++] = (struct html_flame){ tree, event, e->unit == EVENT_NS };
}

/* One for each event, first that of the tables. */
static struct kin_error *make_flames(struct kin_profile *p, struct parts *ret)
{
	const struct samples *s = &p->data->samples;
	struct view *v;
	if (!s->n)
		return NULL;
	struct kin_error *err = profile_view_for(p, &flat_report, &v);
	if (err)
		return err;
	ret->trees = xrealloc(NULL, s->n_events, sizeof(*ret->trees));
	ret->flames = xrealloc(NULL, s->n_events, sizeof(*ret->flames));
	struct namer n = { .p = p->data, .g = v->program, .full_names = true };
	add_flame(p, &n, samples_event(s), ret);
	for (uint32_t i = 0; i < s->n_events; i++)
		add_flame(p, &n, i, ret);
	namer_done(&n);
	profile_hear(p, v->program);
	return NULL;
}

static void parts_done(struct parts *x)
{
	kin_table_free(x->info);
	kin_table_free(x->functions);
	kin_table_free(x->graph);
	for (size_t i = 0; i < x->n_flames; i++)
		folded_tree_done(&x->trees[i]);
	free(x->trees);
	free(x->flames);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* "prog: profile.kin": the program that was recorded first, and the file. To be freed. */
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
	struct parts x = { 0 };
	opts_copy(&o, sizeof(o), opts);
	char *title = o.title ? NULL : title_of(p);
	struct kin_error *err = make_tables(p, o.min_share, &x);
	if (!err)
		err = make_flames(p, &x);
	if (!err)
		err = html_write(
			out, &(struct html_input){ .title = o.title ? o.title : title,
						   .info = x.info,
						   .functions = x.functions,
						   .graph = x.graph,
						   .warnings = (const char *const *)p->warnings.at,
						   .n_warnings = p->warnings.n,
						   .flames = x.flames,
						   .n_flames = x.n_flames });
	parts_done(&x);
	free(title);
	return err;
}

struct kin_error *kin_html(struct kin_profile *p, const struct kin_html_opts *opts, FILE *out)
{
	return GUARDED(unguarded_html(p, opts, out));
}

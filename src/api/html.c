#include "export/html.h"

#include <stdlib.h>
#include <string.h>

#include "api/namer.h"
#include "api/private.h"
#include "base/err.h"

struct parts {
	struct kin_table *info, *functions, *graph;
	struct program *program;
	struct folded_tree tree;
};

static struct kin_error *make_tables(struct kin_profile *p, double min_share, struct parts *ret)
{
	static const char *const of_functions[] = { "self", "children", "calls", "object",
						    "name", "cycle",    "index", NULL };
	static const char *const of_graph[] = { "index",  "self", "children", "called",
						"object", "name", "cycle",    NULL };
	struct kin_report_opts o = { .size = sizeof(o) };
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

static void make_tree(struct kin_profile *p, struct parts *ret)
{
	struct program_opts naming = p->naming;
	naming.no_inlines = false;
	ret->program = program_new(p->data, p->object, &naming);
	struct namer n = { .p = p->data, .g = ret->program, .full_names = true };
	ret->tree = folded_tree_of(p->data, &(struct folded_opts){ .names = namer_names,
								   .arg = &n,
								   .weights = true,
								   .annotate = true });
	namer_done(&n);
}

static void parts_done(struct parts *x)
{
	kin_table_free(x->info);
	kin_table_free(x->functions);
	kin_table_free(x->graph);
	program_free(x->program);
	if (x->tree.names)
		folded_tree_done(&x->tree);
}

struct kin_error *kin_html(struct kin_profile *p, const struct kin_html_opts *opts, FILE *out)
{
	struct kin_html_opts o = { 0 };
	struct parts x = { 0 };
	if (opts)
		memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	struct kin_error *err = make_tables(p, o.min_share, &x);
	const struct samples *s = &p->data->samples;
	if (!err && s->n)
		make_tree(p, &x);
	if (!err)
		err = html_write(out,
				 &(struct html_input){
					 .title = o.title ? o.title : "kin",
					 .info = x.info,
					 .functions = x.functions,
					 .graph = x.graph,
					 .warnings = (const char *const *)p->warnings.at,
					 .n_warnings = p->warnings.n,
					 .tree = s->n ? &x.tree : NULL,
					 .event = s->n_events ? strtab_get(p->data->strings,
									   s->events[0].name)
							      : "",
					 .is_time = s->n_events && s->events[0].unit == EVENT_NS });
	parts_done(&x);
	return err;
}

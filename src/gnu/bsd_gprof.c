/* bsd_gprof.c - FreeBSD's and OpenBSD's gprof, from the command line to the output. */
#include "gnu/bsd_gprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "gnu/bsd_options.h"
#include "gnu/bsd_select.h"
#include "gnu/gprof_session.h"
#include "gnu/layouts.h"

static const char sum_path[] = "gmon.sum";

struct bsd_run {
	const struct bsd_options *o;
	struct gprof_session s;
};

static bool is_freebsd(const struct bsd_run *r) { return r->o->dialect == DIALECT_FREEBSD; }

/* ---- the program and its data ---- */

static struct kin_error *load_names(void *run)
{
	struct bsd_run *r = run;
	const struct bsd_options *o = r->o;
	struct symbols_opts opts = { .table = { .no_static = o->no_static,
						.functions_only = true,
						.no_dotted = o->no_dotted },
				     .style = DEMANGLE_NONE };
	struct kin_error *err = session_load_names(&r->s, opts);

	if (!err)
		bsd_select(r->s.view->symbols, o->specs.at, o->specs.n, stderr, &r->s.selection);
	return err;
}

/* Warns of data that these dialects do not support. */
static void check_data(void *arg)
{
	const struct bsd_run *r = arg;
	const struct profile *p = session_data(&r->s);

	session_warn_of_histograms(&r->s);
	for (size_t i = 0; i < r->o->specs.n && p->samples.n; i++)
		if (strchr("EFk", r->o->specs.at[i].letter))
			session_warn_of_stacks(r->o->specs.at[i].letter);
	if (p->n_blocks)
		session_warn("basic-block counts are not shown in this dialect");
	if (p->n_histograms && !p->histograms[0].rate)
		session_warn("the data does not say how many ticks make a second: all times are "
			     "in ticks");
}

static bool load_data(struct bsd_run *r)
{
	struct session_files files = { .paths = r->o->data.at,
				       .n = r->o->data.n,
				       .name = load_names,
				       .check = check_data,
				       .arg = r };
	return session_load_data(&r->s, &files);
}

/* ---- gmon.sum ---- */

/* Writes it in the dialect's format, or in GNU's if the data does not fit that. */
static struct kin_error *write_sum(struct bsd_run *r)
{
	const struct profile *p = session_data(&r->s);
	const struct input_target *target = &r->s.profile->target;
	struct kin_error *err = session_may_replace(&r->s, sum_path);

	if (!err)
		err = session_fits_sum(&r->s, sum_path);
	if (err)
		return err;
	err = is_freebsd(r) ? freebsd_write(sum_path, p, target)
			    : bsd_write(sum_path, p, target, true);
	if (!err || kin_error_kind(err) != KIN_ERROR_UNSUPPORTED)
		return err;
	kin_error_free(err);
	session_warn("gmon.sum is in GNU's format: that of this dialect has no room for the sums");
	return gmon_write(sum_path, p, target);
}

/* ---- output ---- */

static struct kin_error *print(struct bsd_run *r, const struct report *report,
			       const struct renderer *renderer)
{
	struct report_opts opts = { .bare_cycles = true,
				    .zeroes = r->o->zeroes,
				    .callers = is_freebsd(r),
				    .selection = &r->s.selection };
	struct render_opts look = { .width = 80, .brief = r->o->brief, .zeroes = r->o->zeroes };

	return session_print(&r->s, report, &opts, renderer, &look);
}

static void print_name(const struct bsd_run *r, symid id)
{
	const char *name = r->s.view->symbols->at[id].name;
	size_t n = escape_text(NULL, 0, name) + 1;
	char *escaped = xalloc(n);

	escape_text(escaped, n, name);
	fputs(escaped, stdout);
	free(escaped);
}

/* -C: prints the arcs that were deleted from the graph, on a page of its own. */
static void print_deleted(struct bsd_run *r)
{
	const struct callgraph *g = r->s.view->graph;

	printf("\n\nThe following arcs were deleted from the propagation calculation\n"
	       "to reduce the maximum cycle size to %u:\n",
	       r->o->max_cycle);
	for (size_t i = 0; i < g->n_cut; i++) {
		const struct cg_arc *a = &g->arcs[g->cut[i]];
		putchar('\t');
		print_name(r, a->from);
		fputs(" to ", stdout);
		print_name(r, a->to);
		printf(" with %ju calls\n", (uintmax_t)a->count);
	}
	fputs(g->n_cut ? "\f\n" : "\tNone\n\n", stdout);
	r->s.has_output = !g->n_cut;
}

static struct kin_error *print_graph(struct bsd_run *r)
{
	r->s.has_output = true;
	return print(r, &graph_report, &bsd_graph_renderer);
}

static struct kin_error *print_flat(struct bsd_run *r)
{
	session_new_page(&r->s);
	return print(r, &flat_report,
		     is_freebsd(r) ? &freebsd_flat_renderer : &openbsd_flat_renderer);
}

static struct kin_error *print_all(struct bsd_run *r)
{
	struct kin_error *err = NULL;

	if (r->o->break_cycles)
		print_deleted(r);
	if (!r->o->no_graph)
		err = print_graph(r);
	if (!err && !r->o->no_flat)
		err = print_flat(r);
	return err ? err : print(r, &index_report, &gnu_index_traditional_renderer);
}

/* ---- the whole run ---- */

static void run_stages(struct bsd_run *r)
{
	struct callgraph_opts opts = { .static_calls = r->o->static_calls,
				       .break_cycles = r->o->break_cycles,
				       .max_cycle = r->o->max_cycle };

	if (!session_succeeded(&r->s, session_open_program(&r->s, r->o->executable)) ||
	    !load_data(r))
		return;
	if (r->o->sum)
		session_succeeded(&r->s, write_sum(r));
	if (session_succeeded(&r->s, session_analyse(&r->s, opts, true)))
		session_succeeded(&r->s, print_all(r));
	session_say_warnings(&r->s);
	session_succeeded(&r->s, profile_trouble(r->s.profile));
}

static int run_bsd_gprof(const struct bsd_options *o)
{
	struct bsd_run r = { .o = o, .s = { .whoami = "gprof" } };

	run_stages(&r);
	session_done(&r.s);
	return r.s.status;
}

static int print_version(const struct bsd_options *o)
{
	printf("gprof (kin) " KIN_VERSION ", in place of %s's gprof\n"
	       "Part of kin, a call-graph profiler. Licence: MIT.\n"
	       "There is no warranty.\n",
	       o->dialect == DIALECT_FREEBSD ? "FreeBSD" : "OpenBSD");
	return 0;
}

static int act(const struct bsd_options *o)
{
	switch (o->action) {
	case GPROF_HELP:
		bsd_help(o->dialect, stdout);
		return 0;
	case GPROF_VERSION:
		return print_version(o);
	case GPROF_RUN:
		break;
	}
	return run_bsd_gprof(o);
}

int bsd_gprof_main(int argc, char **argv, enum gprof_dialect dialect)
{
	struct bsd_options o;
	struct kin_error *err = bsd_options_parse(argc, argv, dialect, stderr, &o);
	int status = 1;

	if (err) {
		bool usage = kin_error_kind(err) == KIN_ERROR_USAGE;
		session_complain(&(struct gprof_session){ 0 }, err);
		if (usage)
			bsd_usage(dialect, stderr);
	} else {
		status = session_close_output(false, act(&o));
	}
	bsd_options_done(&o);
	return status;
}

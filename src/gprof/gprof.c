#include "gprof/gprof.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/mismatch.h"
#include "analysis/order.h"
#include "base/err.h"
#include "base/escape.h"
#include "gprof/argfile.h"
#include "gprof/filemap.h"
#include "gprof/options.h"
#include "gprof/sum.h"
#include "report/annotate.h"
#include "table/render.h"

enum { OUTPUT_BUFFER = 256 * 1024 };

static const char sum_path[] = "gmon.sum";

struct run {
	const struct gprof_options *o;
	unsigned styles; /* what to print: asked for, or fitting the data */
	struct input_target target;
	struct object_file *object;
	struct filemap map; /* -R */
	struct symbols *symbols;
	struct selection selection;
	struct symspec_calls calls; /* --compat=gnu, for -r */
	struct profile *profile;
	struct callgraph *graph;
	bool has_output; /* the next part starts on a new page */
	int status;
};

/* ---- messages ---- */

/* Names are shown so that a terminal does not obey them. */
static PRINTF(1, 2) void say(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = xvprintf(fmt, ap);
	va_end(ap);
	char *safe = escape_copy(text);
	fprintf(stderr, "gprof: %s\n", safe);
	free(safe);
	free(text);
}

/* Byte by byte what GNU says, raw names and all. */
static void complain_gnu(const struct gprof_options *o, const struct kin_error *err)
{
	static const char without_newline[] = "different scales in histogram records";
	bool whoami;
	const char *text = err_gnu_message(err, &whoami);

	if (!text) {
		text = kin_error_message(err);
		whoami = true;
	}
	fprintf(stderr, "%s%s%s%s", whoami ? o->whoami : "", whoami ? ": " : "", text,
		strcmp(text, without_newline) ? "\n" : "");
}

/* Consumes err. */
static void complain(const struct gprof_options *o, struct kin_error *err)
{
	if (o->compat)
		complain_gnu(o, err);
	else
		say("%s", kin_error_message(err));
	kin_error_free(err);
}

/* Consumes err; true if there was none. */
static bool succeeded(struct run *r, struct kin_error *err)
{
	if (!err)
		return true;
	complain(r->o, err);
	r->status = 1;
	return false;
}

static void warn(const char *text, void *arg)
{
	(void)arg;
	say("warning: %s", text);
}

static void say_text(const char *text, void *arg)
{
	(void)arg;
	say("%s", text);
}

/* ---- the program ---- */

static struct kin_error *open_program(struct run *r)
{
	const struct gprof_options *o = r->o;
	struct object_opts object_opts = { .no_debug_files = o->compat };
	struct symbols_opts symbols_opts = {
		.table = { .no_static = o->no_static,
			   .functions_only = o->functions_only,
			   .gnu = o->compat,
			   .external = o->symbol_file },
		/* GNU: "otherwise we'd lose b-b counts in gmon.sum", and the lines get printed. */
		.lines = o->lines || (o->compat && o->styles & STYLE_SUM),
		.style = o->traditional ? DEMANGLE_NONE : o->demangle,
	};
	struct kin_error *err = object_open(o->executable, &object_opts, &r->object);

	if (!err && o->file_map)
		err = filemap_read(o->file_map, o->compat, &r->map);
	if (!err)
		err = symbols_new(r->object, &symbols_opts, &r->symbols);
	if (!err)
		err = object_trouble(r->object);
	if (err)
		return err;
	r->target = (struct input_target){ .is_64bit = object_is_64bit(r->object),
					   .big_endian = object_big_endian(r->object) };
	selection_init(&r->selection, r->symbols->n);
	struct symspec_opts symspec_opts = { .gnu = o->compat,
					     .calls = &r->calls,
					     .warn = o->compat ? NULL : say_text };
	symspec_select(r->symbols, o->specs.at, o->specs.n, &symspec_opts, &r->selection);
	return NULL;
}

/* ---- the data ---- */

static void print_records(uint32_t n, const char *what)
{
	printf("\t%u %s record%s\n", n, what, n == 1 ? "" : "s");
}

static void print_source(const struct source *s, const char *path, void *arg)
{
	struct run *r = arg;
	char name[4096];

	if (!(r->styles & STYLE_INFO))
		return;
	if (r->o->compat)
		printf("File `%s' (version %d) contains:\n", path, s->version);
	else if (escape_text(name, sizeof(name), path), true)
		printf("File `%s' (version %d) contains:\n", name, s->version);
	print_records(s->n_histograms, "histogram");
	print_records(s->n_arcs, "call-graph");
	print_records(s->n_blocks, "basic-block count");
	r->has_output = true;
}

static struct kin_error *prof_format(void)
{
	return err_gnu(
		err_new(KIN_ERROR_UNSUPPORTED, "-Op: the format of System V prof is not supported"),
		true, "sorry, file format `prof' is not yet supported");
}

static struct kin_error *read_data(struct run *r)
{
	struct input_opts opts = { .target = r->target,
				   .format = r->o->format,
				   .gnu = r->o->compat,
				   .on_source = print_source,
				   .arg = r };

	if (r->o->format_prof)
		return prof_format();
	return input_read(r->o->data.at, r->o->data.n, &opts, &r->profile);
}

static bool is_bsd(const struct source *s) { return strstr(s->kind, "BSD") != NULL; }

/* The kinds of data that there were, even if no record of them counted: the BSD formats always
 * have both. */
static bool has_histogram(const struct run *r)
{
	for (size_t i = 0; i < r->profile->n_sources; i++)
		if (r->profile->sources[i].n_histograms || is_bsd(&r->profile->sources[i]))
			return true;
	return r->profile->n_histograms > 0;
}

static bool has_arcs(const struct run *r)
{
	for (size_t i = 0; i < r->profile->n_sources; i++)
		if (r->profile->sources[i].n_arcs || is_bsd(&r->profile->sources[i]))
			return true;
	return r->profile->n_arcs > 0;
}

static bool is_empty(const struct run *r)
{
	return !r->profile || (!has_histogram(r) && !has_arcs(r) && !r->profile->n_block_records);
}

/* What is odd about the data. */
static void check_data(struct run *r, bool complete)
{
	if (!r->o->compat && complete && is_empty(r))
		warn("there is nothing in the data: no samples, no calls, no block counts", NULL);
	if (r->profile->n_blocks && !r->symbols->opts.lines)
		fprintf(stderr,
			"%s: warning: ignoring basic-block exec counts (use -l or --line)\n",
			r->o->compat ? r->o->whoami : "gprof");
	if (!r->o->compat && !r->o->symbol_file && !is_empty(r))
		mismatch_check(r->profile, r->object, r->symbols, warn, NULL);
}

/* If no style was asked for: what there is data for, but not what was refused. */
static void choose_styles(struct run *r)
{
	if (r->styles)
		return;
	if (has_histogram(r))
		r->styles |= STYLE_FLAT;
	if (has_arcs(r))
		r->styles |= STYLE_GRAPH;
	if (!r->styles)
		r->styles = STYLE_COUNTS;
	r->styles &= ~r->o->mentioned;
}

static struct kin_error *check_styles(const struct run *r)
{
	if (r->styles & STYLE_FLAT && !has_histogram(r))
		return err_gnu(err_new(KIN_ERROR_USAGE,
				       "no flat profile: there is no histogram in the "
				       "data, the program was not sampled"),
			       true, "gmon.out file is missing histogram");
	if (r->styles & STYLE_GRAPH && !has_arcs(r))
		return err_gnu(err_new(KIN_ERROR_USAGE,
				       "no call graph: there are no calls in the data, "
				       "no function was compiled with -pg"),
			       true, "gmon.out file is missing call-graph data");
	return NULL;
}

/* ---- gmon.sum ---- */

/* GNU: what is shown, cut to what a record can hold. Else: what was read. */
static struct kin_error *write_sum(struct run *r)
{
	const struct profile *p = r->profile;
	enum input_format format = r->o->format;

	if (r->o->compat)
		return sum_write_gnu(sum_path, p, r->symbols, &r->selection, &r->target, format);
	if (format == INPUT_AUTO || format == INPUT_MAGIC)
		return gmon_write(sum_path, p, &r->target);
	/* Old BSD files have no rate: it is taken to be that of the host. */
	bool host_rate = p->n_histograms && p->histograms[0].rate == (uint32_t)sysconf(_SC_CLK_TCK);
	return bsd_write(sum_path, p, &r->target, format == INPUT_44BSD || !host_rate);
}

/* ---- the analysis ---- */

static struct kin_error *analyse(struct run *r)
{
	struct callgraph_opts opts = { .gnu = r->o->compat,
				       /* GNU: with the call graph, if there is one */
				       .static_calls =
					       r->o->static_calls && (has_arcs(r) || !r->o->compat),
				       .flat_only = r->styles == STYLE_FLAT && !r->o->traditional,
				       .selection = &r->selection };

	if (!(r->styles & STYLE_FILE_ORDER)) /* has other functions than the graph */
		opts.consume = r->profile;
	r->graph = callgraph_new(r->profile, r->symbols, &opts);
	if (r->graph->spans_histograms)
		return err_gnu(err_new(KIN_ERROR_MISMATCH, "a function lies in several histograms"),
			       true, "found a symbol that covers several histogram records");
	if (r->graph->no_static_calls)
		fprintf(stderr, "%s: -c not supported on architecture %s\n",
			r->o->compat ? r->o->whoami : "gprof", object_machine(r->object));
	return NULL;
}

/* ---- output ---- */

static void new_page(struct run *r)
{
	if (r->has_output)
		fputs("\f\n", stdout);
	r->has_output = true;
}

static struct report_input report_input(const struct run *r)
{
	return (struct report_input){ .profile = r->profile,
				      .symbols = r->symbols,
				      .graph = r->graph };
}

static struct report_opts report_opts(const struct run *r)
{
	return (struct report_opts){ .source_dirs = (const char *const *)r->o->source_dirs.at,
				     .gnu = r->o->compat,
				     .zeroes = r->o->zeroes,
				     .print_path = r->o->print_path,
				     .inline_file_names = r->o->inline_file_names,
				     .selection = &r->selection };
}

/* Consumes the table. */
static struct kin_error *render(const struct run *r, struct kin_table *t,
				const struct renderer *renderer, FILE *out)
{
	struct render_opts opts = { .width = r->o->width,
				    .brief = r->o->brief,
				    .zeroes = r->o->zeroes,
				    .raw = r->o->compat };
	struct kin_error *err = renderer->render(t, &opts, out);
	kin_table_free(t);
	return err;
}

static struct kin_error *print(struct run *r, const struct report *report,
			       const struct renderer *renderer)
{
	struct report_input in = report_input(r);
	struct report_opts opts = report_opts(r);
	struct kin_table *table;
	struct kin_error *err = report->run(&in, &opts, &table);

	return err ? err : render(r, table, renderer, stdout);
}

static struct kin_error *print_flat(struct run *r)
{
	new_page(r);
	return print(r, &flat_report,
		     r->o->traditional ? &gnu_flat_traditional_renderer : &gnu_flat_renderer);
}

static struct kin_error *print_graph(struct run *r)
{
	new_page(r);
	return print(r, &graph_report,
		     r->o->traditional ? &gnu_graph_traditional_renderer : &gnu_graph_renderer);
}

static struct kin_error *print_index(struct run *r)
{
	return print(r, &index_report,
		     r->o->traditional ? &gnu_index_traditional_renderer : &gnu_index_renderer);
}

static struct kin_error *print_counts(struct run *r)
{
	new_page(r);
	return print(r, &counts_report, &gnu_counts_renderer);
}

/* -y: to a file of its own in the current folder. */
static struct kin_error *write_source(struct run *r, struct annotate *a, struct annotate_file *f)
{
	const char *name;
	FILE *out;
	struct kin_error *err = annotate_create(a, f->path, &name, &out);

	if (err) {
		kin_table_free(f->table);
		return err;
	}
	err = render(r, f->table, &gnu_annotate_renderer, out);
	bool failed = ferror(out);
	if ((fclose(out) || failed) && !err && !r->o->compat)
		err = err_os(errno, "writing %s", name);
	return err;
}

static struct kin_error *print_source_file(struct run *r, struct annotate *a,
					   struct annotate_file *f, bool *is_first)
{
	if (r->o->separate_files)
		return write_source(r, a, f);
	if (!*is_first)
		putchar('\n');
	*is_first = false;
	new_page(r);
	return render(r, f->table, &gnu_annotate_renderer, stdout);
}

/* A source that is not there is said, and does not keep the others from being shown. */
static struct kin_error *print_source_files(struct run *r)
{
	struct report_input in = report_input(r);
	struct report_opts opts = report_opts(r);
	struct annotate_opts annotate_opts = { .report = &opts,
					       .all_lines = r->o->all_lines,
					       .separate = r->o->separate_files,
					       .min_count = r->o->min_count,
					       .top = r->o->table_length };
	struct annotate *a = annotate_new(&in, &annotate_opts);
	struct annotate_file f;
	bool is_first = true;

	while (annotate_next(a, &f)) {
		if (f.err && !err_is_trouble(f.err))
			complain(r->o, f.err);
		else if (f.err)
			succeeded(r, f.err);
		else
			succeeded(r, print_source_file(r, a, &f, &is_first));
	}
	annotate_free(a);
	return NULL;
}

static void print_name(const struct run *r, const char *name)
{
	size_t n = r->o->compat || escape_is_plain(name) ? 0 : escape_text(NULL, 0, name) + 1;
	char *escaped = xalloc(n + 1);

	escape_text(escaped, n + 1, name);
	puts(n ? escaped : name);
	free(escaped);
}

static struct kin_error *print_function_order(struct run *r)
{
	size_t n;
	VEC(struct order_call) extra = { 0 };
	for (size_t i = 0; i < r->calls.v.n; i++)
		vec_push(&extra,
			 ((struct order_call){ r->calls.v.at[i].from, r->calls.v.at[i].to }));
	struct order_opts opts = { r->o->compat, extra.at, extra.n };
	symid *order = order_functions(r->graph, &opts, &n);

	for (size_t i = 0; i < n; i++)
		print_name(r, r->symbols->at[order[i]].name);
	free(order);
	vec_free(&extra);
	return NULL;
}

static struct kin_error *print_file_order(struct run *r)
{
	size_t n;
	const char **order = order_files(r->profile, r->symbols, r->map.entries.at,
					 r->map.entries.n, &r->selection, r->o->compat, &n);

	for (size_t i = 0; i < n; i++)
		print_name(r, order[i]);
	free(order);
	return NULL;
}

/* The parts of the output in their order. */
static const struct part {
	enum gprof_style style;
	enum { ALWAYS, GNU_ONLY, TRADITIONAL_ONLY } layout;
	struct kin_error *(*print)(struct run *r);
} parts[] = {
	{ STYLE_GRAPH, TRADITIONAL_ONLY, print_graph },
	{ STYLE_FLAT, ALWAYS, print_flat },
	{ STYLE_GRAPH, GNU_ONLY, print_graph },
	{ STYLE_GRAPH, ALWAYS, print_index },
	{ STYLE_COUNTS, ALWAYS, print_counts },
	{ STYLE_ANNOTATE, ALWAYS, print_source_files },
	{ STYLE_FUNCTION_ORDER, ALWAYS, print_function_order },
	{ STYLE_FILE_ORDER, ALWAYS, print_file_order },
};

static struct kin_error *print_parts(struct run *r)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const struct part *p = &parts[i];
		struct kin_error *err = NULL;
		if (!(r->styles & p->style) ||
		    p->layout == (r->o->traditional ? GNU_ONLY : TRADITIONAL_ONLY))
			continue;
		if ((err = p->print(r)))
			return err;
	}
	return NULL;
}

/* ---- the whole ---- */

static void produce(struct run *r)
{
	const unsigned needs_graph = ~(unsigned)(STYLE_INFO | STYLE_SUM);

	if (r->styles & STYLE_SUM && !succeeded(r, write_sum(r)) && r->o->compat)
		return;
	if (!succeeded(r, check_styles(r)) || !(r->styles & needs_graph))
		return;
	if (succeeded(r, analyse(r)))
		succeeded(r, print_parts(r));
}

static void run_stages(struct run *r)
{
	if (!succeeded(r, open_program(r)))
		return;
	struct kin_error *err = read_data(r);
	/* What could be read is shown; GNU shows nothing. */
	bool usable = r->profile && (!err || (!r->o->compat && !is_empty(r)));
	if (r->profile && r->profile->n_sources)
		check_data(r, !err);
	succeeded(r, err);
	if (!usable)
		return;
	choose_styles(r);
	produce(r);
	succeeded(r, object_trouble(r->object));
}

static int run(const struct gprof_options *o)
{
	struct run r = { .o = o, .styles = o->styles };

	run_stages(&r);
	callgraph_free(r.graph);
	profile_free(r.profile);
	selection_done(&r.selection);
	vec_free(&r.calls.v);
	symbols_free(r.symbols);
	filemap_done(&r.map);
	object_free(r.object);
	return r.status;
}

/* GNU does not notice a full disk. */
static int close_output(const struct gprof_options *o, int status)
{
	if ((fflush(stdout) == 0 && !ferror(stdout)) || o->compat)
		return status;
	say("writing the output: %s", strerror(errno));
	return 1;
}

static int print_version(void)
{
	printf("gprof (kin) " KIN_VERSION ", in place of GNU gprof 2.40\n"
	       "Part of kin, a call-graph profiler. Licence: MIT.\n"
	       "There is no warranty.\n");
	return 0;
}

static int act(const struct gprof_options *o)
{
	switch (o->action) {
	case GPROF_HELP:
		gprof_help(stdout);
		return 0;
	case GPROF_VERSION:
		return print_version();
	case GPROF_RUN:
		break;
	}
	return run(o);
}

static int gnu_main(int argc, char **argv)
{
	struct gprof_options o;
	struct kin_error *err = gprof_options_parse(argc, argv, getenv("GPROF_PATH"), &o);
	int status = 1;

	if (err) {
		bool whoami, bare = o.compat && err_gnu_message(err, &whoami);
		complain(&o, err);
		if (!bare)
			gprof_usage(stderr);
	} else {
		status = close_output(&o, act(&o));
	}
	gprof_options_done(&o);
	return status;
}

int gprof_main(int argc, char **argv)
{
	struct arena arena = { 0 };
	enum gprof_dialect dialect;
	struct kin_error *err = argfile_expand(&arena, &argc, &argv);
	int status = 1;

	setvbuf(stdout, xalloc(OUTPUT_BUFFER), _IOFBF, OUTPUT_BUFFER); /* stdout's from here on */
	if (!err)
		err = gprof_dialect_of(argc, argv, &dialect);
	if (!err && dialect != DIALECT_GNU)
		err = err_new(KIN_ERROR_UNSUPPORTED, "--dialect: this one is not there yet");
	if (err)
		say("%s", kin_error_message(err));
	else
		status = gnu_main(argc, argv);
	kin_error_free(err);
	arena_release(&arena);
	return status;
}

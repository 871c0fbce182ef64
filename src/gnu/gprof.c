/* gprof.c - GNU's gprof, from the command line to the output. */
#include "gnu/gprof.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/escape.h"
#include "gnu/advice.h"
#include "gnu/annotate_files.h"
#include "gnu/argfile.h"
#include "gnu/bsd_gprof.h"
#include "gnu/deviations.h"
#include "gnu/filemap.h"
#include "gnu/gnu_options.h"
#include "gnu/gnu_order.h"
#include "gnu/gprof_session.h"
#include "gnu/layouts.h"
#include "gnu/rules.h"
#include "gnu/sum.h"
#include "gnu/words.h"

enum { OUTPUT_BUFFER = 16 * 1024 }; /* small: tables bypass it, many lines at a time */

static const char sum_path[] = "gmon.sum";

struct gprof_run {
	const struct gprof_options *o;
	struct gprof_session s;
	struct input_held *held;    /* data that can be read only once; NULL: not known */
	unsigned styles;            /* what to print: as requested, or fitting the data */
	struct filemap map;         /* -R */
	struct symspec_calls calls; /* --compat=gnu, for -r */
};

/* ---- the program ---- */

static struct kin_error *open_program(struct gprof_run *r)
{
	const struct gprof_options *o = r->o;
	struct kin_error *err = session_open_program(&r->s, o->executable);

	if (err && o->compat != COMPAT_GNU && kin_error_errno(err) == ENOENT &&
	    !strcmp(o->executable, "a.out")) {
		kin_error_free(err);
		err = advice_no_program();
	}
	return !err && o->file_map ? filemap_read(o->file_map, r->s.gnu, &r->map) : err;
}

/* Warns of options that apportion times by calls if stacks were sampled. */
static void warn_of_stacks(const struct gprof_run *r)
{
	const struct gprof_options *o = r->o;

	if (r->s.gnu || !session_data(&r->s)->samples.n)
		return;
	session_warn_of_histograms(&r->s);
	for (size_t i = 0; i < o->specs.n; i++) {
		int table = o->specs.at[i].table;
		if (table == SEL_INCL_TIME || table == SEL_EXCL_TIME || table == SPEC_INCL_ARCS ||
		    table == SPEC_EXCL_ARCS)
			session_warn_of_stacks(o->specs.at[i].letter);
	}
}

static struct symspec_opts symspec_opts_of(struct gprof_run *r)
{
	return (struct symspec_opts){ .gnu = r->s.gnu,
				      .calls = &r->calls,
				      .warn = r->s.compat ? NULL : session_note };
}

static struct kin_error *load_names(void *run)
{
	struct gprof_run *r = run;
	const struct gprof_options *o = r->o;
	struct symbols_opts symbols_opts = {
		.table = { .no_static = o->no_static,
			   .functions_only = o->functions_only,
			   .external = o->symbol_file },
		/* GNU: "otherwise we'd lose b-b counts in gmon.sum", and the lines get printed. */
		.lines = o->lines || (r->s.gnu && o->styles & STYLE_SUM),
		.style = o->traditional ? DEMANGLE_NONE : o->demangle,
		.versions = true,
	};
	struct symspec_opts symspec_opts = symspec_opts_of(r);

	if (r->map.by_function)
		symbols_opts.table.rules_arg = &r->map;
	struct kin_error *err = session_load_names(&r->s, symbols_opts);
	if (!err)
		symspec_select(r->s.view->symbols, o->specs.at, o->specs.n, &symspec_opts,
			       &r->s.selection);
	return err;
}

/* ---- the data ---- */

static void print_records(uint32_t n, const char *what)
{
	printf("\t%u %s record%s\n", n, what, n == 1 ? "" : "s");
}

static void print_source(const struct source *s, const char *path, void *arg)
{
	struct gprof_run *r = arg;
	char name[4096];

	if (!(r->styles & STYLE_INFO))
		return;
	if (r->s.compat)
		printf("File `%s' (version %d) contains:\n", path, s->version);
	else if (escape_text(name, sizeof(name), path), true)
		printf("File `%s' (version %d) contains:\n", name, s->version);
	print_records(s->n_histograms, "histogram");
	print_records(s->n_arcs, "call-graph");
	print_records(s->n_blocks, "basic-block count");
	r->s.has_output = true;
}

static struct kin_error *prof_format(void)
{
	return gnu_words_are(
		err_new(KIN_ERROR_UNSUPPORTED, "-Op: the format of System V prof is not supported"),
		true, "sorry, file format `prof' is not yet supported");
}

static void check_data(void *arg)
{
	struct gprof_run *r = arg;
	struct symspec_opts symspec_opts = symspec_opts_of(r);

	warn_of_stacks(r);
	if (r->s.gnu && !r->s.compat)
		symspec_warn(r->s.view->symbols, r->o->specs.at, r->o->specs.n, &symspec_opts);
	if (session_data(&r->s)->n_blocks && !r->s.view->symbols->opts.lines)
		fprintf(stderr,
			"%s: warning: ignoring basic-block exec counts (use -l or --line)\n",
			r->s.compat ? r->o->whoami : "gprof");
}

/* Whether the default data file, which a program built with -pg leaves, is missing. */
static bool is_missing(const struct gprof_options *o)
{
	return o->compat != COMPAT_GNU && o->data.n == 1 && !strcmp(o->data.at[0], "gmon.out") &&
	       access("gmon.out", F_OK) && errno == ENOENT;
}

static struct session_files files_of(struct gprof_run *r)
{
	return (struct session_files){ .paths = r->o->data.at,
				       .n = r->o->data.n,
				       .opts = { .format = r->o->format,
						 .on_source = print_source,
						 .arg = r,
						 .held = r->held },
				       .foreign_symbols = r->o->symbol_file,
				       .name = load_names,
				       .check = check_data,
				       .arg = r };
}

static bool load_data(struct gprof_run *r)
{
	struct session_files files = files_of(r);

	if (r->o->format_prof)
		return session_succeeded(&r->s, prof_format());
	if (is_missing(r->o))
		return session_succeeded(&r->s, advice_no_data(r->o->executable, "gmon.out"));
	return session_load_data(&r->s, &files);
}

/* Prints a text, and frees it; NULL: prints nothing. */
static void advise(char *text)
{
	if (text)
		session_say("%s", text);
	free(text);
}

/* If no style was requested, chooses those that there is data for, except suppressed ones. */
static void choose_styles(struct gprof_run *r)
{
	if (r->styles)
		return;
	if (session_has_histogram(&r->s))
		r->styles |= STYLE_FLAT;
	if (session_has_arcs(&r->s))
		r->styles |= STYLE_GRAPH;
	if (r->styles == STYLE_FLAT && !r->s.compat)
		advise(advice_no_calls(r->o->executable));
	if (!r->styles)
		r->styles = STYLE_COUNTS;
	r->styles &= ~r->o->mentioned;
}

static struct kin_error *check_styles(const struct gprof_run *r)
{
	if (r->styles & STYLE_FLAT && !session_has_histogram(&r->s))
		return gnu_words_are(err_new(KIN_ERROR_USAGE,
					     "no flat profile: there is no histogram in the "
					     "data, the program was not sampled"),
				     true, "gmon.out file is missing histogram");
	if (r->styles & STYLE_GRAPH && !session_has_arcs(&r->s))
		return gnu_words_are(err_new(KIN_ERROR_USAGE,
					     "no call graph: there are no calls in the data, "
					     "no function was compiled with -pg"),
				     true, "gmon.out file is missing call-graph data");
	return NULL;
}

/* ---- gmon.sum ---- */

/* GNU writes the data shown, truncated to what a record can hold. We write the data read. */
static struct kin_error *write_sum(struct gprof_run *r)
{
	const struct profile *p = session_data(&r->s);
	const struct input_target *target = &r->s.profile->target;
	enum input_format format = r->o->format;
	struct kin_error *err = session_may_replace(&r->s, sum_path);

	if (err)
		return err;
	if (r->s.compat || (r->s.gnu && sum_fits_gnu(p)))
		return sum_write_gnu(sum_path, p, r->s.view->symbols, &r->s.selection, target,
				     format);
	if ((err = session_fits_sum(&r->s, sum_path)))
		return err;
	if (format == INPUT_AUTO || format == INPUT_MAGIC)
		return gmon_write(sum_path, p, target);
	/* Old BSD files have no rate: readers assume the host's. */
	bool host_rate = p->n_histograms && p->histograms[0].rate == (uint32_t)sysconf(_SC_CLK_TCK);
	return bsd_write(sum_path, p, target, format == INPUT_44BSD || !host_rate);
}

/* ---- the analysis ---- */

/* GNU searches the code for calls, and reports if it cannot, whatever is to be printed, and before
 * it reports missing data. */
static bool analyses_anyway(const struct gprof_run *r) { return r->s.compat && r->o->static_calls; }

static struct kin_error *analyse(struct gprof_run *r)
{
	const unsigned with_callers = STYLE_GRAPH | STYLE_FUNCTION_ORDER;
	const unsigned with_calls = STYLE_COUNTS | STYLE_ANNOTATE | STYLE_FILE_ORDER;
	bool flat_only = !(r->styles & with_callers) && !r->o->traditional;
	struct callgraph_opts opts = {
		/* GNU: only if there is a call graph */
		.static_calls = r->o->static_calls && (session_has_arcs(&r->s) || !r->s.gnu),
		.flat_only = flat_only,
		.drops_arcs = flat_only && !(r->styles & with_calls),
	};

	bool consumes = !(r->styles & STYLE_FILE_ORDER); /* uses functions of its own */
	struct kin_error *err = session_analyse(&r->s, opts, consumes);
	if (r->s.view->graph) /* also for a BSD file without calls */
		r->s.view->graph->has_arcs = session_has_arcs(&r->s);
	return err;
}

/* ---- output ---- */

static struct report_opts report_opts(const struct gprof_run *r)
{
	return (struct report_opts){ .source_dirs = (const char *const *)r->o->source_dirs.at,
				     .rules = r->s.gnu ? &gnu_report_rules : NULL,
				     .bare_cycles = r->s.gnu,
				     .all_per_call = true,
				     .zeroes = r->o->zeroes,
				     .print_path = r->o->print_path,
				     .inline_file_names = r->o->inline_file_names,
				     .selection = &r->s.selection };
}

static struct render_opts render_opts(const struct gprof_run *r)
{
	return (struct render_opts){ .width = r->o->width,
				     .brief = r->o->brief,
				     .zeroes = r->o->zeroes,
				     .raw = r->s.compat,
				     .exact = r->s.gnu };
}

static struct kin_error *print(struct gprof_run *r, const struct report *report,
			       const struct renderer *renderer)
{
	struct report_opts opts = report_opts(r);
	struct render_opts look = render_opts(r);

	return session_print(&r->s, report, &opts, renderer, &look);
}

/* Consumes the table. */
static struct kin_error *render_source(const struct gprof_run *r, struct kin_table *t, FILE *out)
{
	struct render_opts look = render_opts(r);
	return session_render(t, &gnu_annotate_renderer, &look, out);
}

static struct kin_error *print_flat(struct gprof_run *r)
{
	session_new_page(&r->s);
	return print(r, &flat_report,
		     r->o->traditional ? &gnu_flat_traditional_renderer : &gnu_flat_renderer);
}

static struct kin_error *print_graph(struct gprof_run *r)
{
	session_new_page(&r->s);
	return print(r, &graph_report,
		     r->o->traditional ? &gnu_graph_traditional_renderer : &gnu_graph_renderer);
}

static struct kin_error *print_index(struct gprof_run *r)
{
	return print(r, &index_report,
		     r->o->traditional ? &gnu_index_traditional_renderer : &gnu_index_renderer);
}

static struct kin_error *print_counts(struct gprof_run *r)
{
	session_new_page(&r->s);
	return print(r, &counts_report, &gnu_counts_renderer);
}

/* -y: writes a file of its own in the current folder. */
static struct kin_error *write_source(struct gprof_run *r, struct annotate *a,
				      struct annotate_file *f)
{
	const char *name;
	FILE *out;
	struct kin_error *err = annotate_create(a, f->path, &name, &out);

	if (err) {
		kin_table_free(f->table);
		return err;
	}
	err = render_source(r, f->table, out);
	bool failed = ferror(out);
	if ((fclose(out) || failed) && !err && !r->s.compat)
		err = err_os(errno, "writing %s", name);
	return err;
}

static struct kin_error *print_source_file(struct gprof_run *r, struct annotate *a,
					   struct annotate_file *f, bool *is_first)
{
	if (r->o->separate_files)
		return write_source(r, a, f);
	if (!*is_first)
		putchar('\n');
	*is_first = false;
	session_new_page(&r->s);
	return render_source(r, f->table, stdout);
}

/* Prints all sources. A missing one is reported, and the others are still printed. */
static struct kin_error *print_source_files(struct gprof_run *r)
{
	struct report_input in = report_input_of(r->s.profile, r->s.view);
	struct report_opts opts = report_opts(r);
	struct annotate_opts annotate_opts = { .report = &opts,
					       .compat = r->s.gnu,
					       .any_source = r->s.compat,
					       .all_lines = r->o->all_lines,
					       .separate = r->o->separate_files,
					       .min_count = r->o->min_count,
					       .top = r->o->table_length };
	struct annotate *a = annotate_new(&in, &annotate_opts);
	struct annotate_file f;
	bool is_first = true;

	while (annotate_next(a, &f)) {
		if (f.err && !err_is_trouble(f.err))
			session_complain(&r->s, f.err);
		else if (f.err)
			session_succeeded(&r->s, f.err);
		else
			session_succeeded(&r->s, print_source_file(r, a, &f, &is_first));
	}
	annotate_free(a);
	return NULL;
}

static void print_name(const struct gprof_run *r, const char *name)
{
	size_t n = r->s.compat || escape_is_plain(name) ? 0 : escape_text(NULL, 0, name) + 1;
	char *escaped = xalloc(n + 1);

	escape_text(escaped, n + 1, name);
	puts(n ? escaped : name);
	free(escaped);
}

/* Whether the linker placed the function in the program: it is not in a library, nor inlined. */
static bool is_linked(const struct gprof_run *r, symid id)
{
	const struct program *g = r->s.view->program;
	return !g || (program_kind(g, id) == PLACE_SYMBOL &&
		      program_object_file(g, program_object(g, id)) == r->s.profile->object);
}

static struct kin_error *print_function_order(struct gprof_run *r)
{
	size_t n;
	VEC(struct order_call) extra = { 0 };
	for (size_t i = 0; i < r->calls.v.n; i++)
		vec_push(&extra,
			 ((struct order_call){ r->calls.v.at[i].from, r->calls.v.at[i].to }));
	struct order_opts opts = { r->s.gnu, extra.at, extra.n };
	symid *order = order_functions(r->s.view->graph, &opts, &n);

	for (size_t i = 0; i < n; i++)
		if (is_linked(r, order[i]))
			print_name(r, r->s.view->symbols->at[order[i]].name);
	free(order);
	vec_free(&extra);
	return NULL;
}

static struct kin_error *print_file_order(struct gprof_run *r)
{
	size_t n;
	struct report_input in = report_input_of(r->s.profile, r->s.view);
	const char **order = order_files(in.flat, in.symbols, r->map.entries.at, r->map.entries.n,
					 &r->s.selection, r->s.gnu, &n);

	for (size_t i = 0; i < n; i++)
		print_name(r, order[i]);
	free(order);
	return NULL;
}

/* The parts of the output, in order. */
static const struct gprof_part {
	enum gprof_style style;
	enum { ALWAYS, GNU_ONLY, TRADITIONAL_ONLY } layout;
	struct kin_error *(*print)(struct gprof_run *r);
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

static struct kin_error *print_parts(struct gprof_run *r)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const struct gprof_part *p = &parts[i];
		struct kin_error *err = NULL;
		if (!(r->styles & p->style) ||
		    p->layout == (r->o->traditional ? GNU_ONLY : TRADITIONAL_ONLY))
			continue;
		if ((err = p->print(r)))
			return err;
	}
	return NULL;
}

/* ---- the whole run ---- */

static void produce(struct gprof_run *r)
{
	const unsigned needs_graph = ~(unsigned)(STYLE_INFO | STYLE_SUM);

	if (r->styles & STYLE_SUM && !session_succeeded(&r->s, write_sum(r)) && r->s.compat)
		return;
	if (analyses_anyway(r) && !session_succeeded(&r->s, analyse(r)))
		return;
	if (!session_succeeded(&r->s, check_styles(r)) || !(r->styles & needs_graph))
		return;
	if (r->s.view->graph || session_succeeded(&r->s, analyse(r)))
		session_succeeded(&r->s, print_parts(r));
}

/* Sums need little memory, except for blocks that grow while files are read. A block that was
 * outgrown is of no further use, so it goes back to the kernel; that is cheap compared with reading
 * a thousand files. Graphs have such blocks only with a million functions; malloc() would keep
 * those of up to 32 MB, without a use for them. */
static void keep_little_memory(unsigned styles)
{
	enum { LARGE = 384 << 10, LARGE_OF_GRAPH = 4 << 20 };
	int large = styles == STYLE_SUM ? LARGE : LARGE_OF_GRAPH;
	mallopt(M_MMAP_THRESHOLD, large);
	mallopt(M_TRIM_THRESHOLD, large);
}

static bool load(struct gprof_run *r)
{
	return session_succeeded(&r->s, open_program(r)) && load_data(r);
}

static void run_stages(struct gprof_run *r)
{
	choose_styles(r);
	if (!r->s.compat && r->styles & (STYLE_FLAT | STYLE_GRAPH))
		advise(advice_no_time(session_data(&r->s), r->o->executable));
	produce(r);
	session_say_warnings(&r->s);
	session_succeeded(&r->s, profile_trouble(r->s.profile));
}

static struct gprof_run start(const struct gprof_options *o, struct input_held *held, bool gnu,
			      bool is_silent)
{
	return (struct gprof_run){ .o = o,
				   .s = { .whoami = o->whoami,
					  .compat = o->compat == COMPAT_GNU,
					  .gnu = gnu,
					  .is_silent = is_silent },
				   .held = held,
				   .styles = o->styles };
}

static void done(struct gprof_run *r)
{
	session_done(&r->s);
	vec_free(&r->calls.v);
	filemap_done(&r->map);
}

static int run_as(const struct gprof_options *o, bool gnu)
{
	struct gprof_run r = start(o, NULL, gnu, false);

	if (load(&r))
		run_stages(&r);
	done(&r);
	return r.s.status;
}

/* Says to somebody who reads them that GNU's figures are wrong. Costs a second analysis. */
static void say_deviations(const struct gprof_run *gnu)
{
	struct gprof_run right = start(gnu->o, gnu->held, false, true);
	bool entries = gnu->styles & STYLE_GRAPH;

	right.styles = STYLE_FLAT; /* prints nothing while it reads */
	if (load(&right) && session_succeeded(&right.s, analyse(&right)))
		advise(deviations_describe(gnu->s.view->graph, right.s.view->graph, entries));
	done(&right);
}

static bool has_code(const struct kin_error *err, enum err_code code)
{
	return err_facts(err)->code == code;
}

/* The system fails to read what is there, or GNU's gprof would use data without its end: another
 * try may meet it, or not. */
static bool is_final(const struct kin_error *err)
{
	return err_is_trouble(err) || has_code(err, ERR_CUT_TAIL);
}

/* For what GNU's gprof refuses (other formats, stripped programs, damaged data) it has no output,
 * and kin does what it can. */
static int run_refused(const struct gprof_options *o, struct input_held *held,
		       const struct kin_error *refusal)
{
	struct gprof_run r = start(o, held, false, false);

	if (load(&r)) {
		if (has_code(refusal, ERR_NO_SYMBOLS) || has_code(refusal, ERR_NO_TEXT))
			session_say("%s: GNU gprof finds no functions in it: this is kin's output",
				    o->executable);
		run_stages(&r);
	}
	done(&r);
	return r.s.status;
}

/* GNU's output. */
static int run_by_default(const struct gprof_options *o)
{
	struct input_held *held = input_hold(o->data.at, o->data.n);
	struct gprof_run r = start(o, held, true, true);
	bool is_loaded = load(&r);
	struct kin_error *refusal = r.s.kept;

	r.s.kept = NULL;
	if (refusal && (is_loaded || is_final(refusal))) {
		session_complain(&r.s, refusal);
		refusal = NULL;
	}
	if (is_loaded) {
		struct session_files files = files_of(&r);
		r.s.is_silent = false;
		session_check_data(&r.s, &files, true);
		run_stages(&r);
		if (isatty(STDERR_FILENO) && !r.s.status && r.s.view->graph && !o->lines)
			say_deviations(&r);
	}
	done(&r);
	int status = refusal ? run_refused(o, held, refusal) : r.s.status;
	kin_error_free(refusal);
	input_held_free(held);
	return status;
}

static int run_gprof(const struct gprof_options *o)
{
	keep_little_memory(o->styles);
	return o->compat == COMPAT_OUTPUT ? run_by_default(o) : run_as(o, o->compat == COMPAT_GNU);
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
	return run_gprof(o);
}

static int gnu_main(int argc, char **argv, enum gprof_compat compat)
{
	struct gprof_options o;
	struct kin_error *err = gprof_options_parse(argc, argv, compat, getenv("GPROF_PATH"), &o);
	int status = 1;

	if (err) {
		bool whoami;
		bool gnu = o.compat == COMPAT_GNU;
		char *words = gnu ? gnu_words(err, &whoami) : NULL;
		session_complain(&(struct gprof_session){ .whoami = o.whoami, .compat = gnu }, err);
		if (gnu && o.is_misused)
			gprof_usage_gnu(o.whoami, stderr);
		else if (!words)
			gprof_usage(stderr);
		free(words);
	} else {
		status = session_close_output(o.compat == COMPAT_GNU, act(&o));
	}
	gprof_options_done(&o);
	return status;
}

/* Large blocks are used one after another here. A freed block serves the next one, instead of going
 * back to the kernel, which clears each page that it hands out. */
static void keep_freed_memory(void)
{
	enum { LARGEST = 32 << 20 }; /* the largest block that glibc takes from its heap */
	mallopt(M_MMAP_THRESHOLD, LARGEST);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

int gprof_main(int argc, char **argv, bool is_gprof)
{
	keep_freed_memory();

	struct arena arena = { 0 };
	enum gprof_dialect dialect;
	struct kin_error *err = argfile_expand(&arena, &argc, &argv);
	char *buffer = xrealloc(NULL, OUTPUT_BUFFER, 1);
	int status = 1;

	setvbuf(stdout, buffer, _IOFBF, OUTPUT_BUFFER);
	if (!err)
		err = gprof_dialect_of(argc, argv, &dialect);
	if (err)
		session_say("%s", kin_error_message(err));
	else if (dialect == DIALECT_GNU)
		status = gnu_main(argc, argv, is_gprof ? COMPAT_OUTPUT : COMPAT_NO);
	else
		status = bsd_gprof_main(argc, argv, dialect);
	kin_error_free(err);
	arena_release(&arena);
	fflush(stdout); /* errors were reported before */
	setvbuf(stdout, NULL, _IONBF, 0);
	free(buffer);
	return status;
}

/* api_profile.c - opens profiles: reading, naming, filtering, remarks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/audit.h"
#include "analysis/mismatch.h"
#include "analysis/rank_spreads.h"
#include "api/api_filter.h"
#include "api/api_find.h"
#include "api/api_private.h"
#include "base/err.h"
#include "base/guard.h"
#include "formats/kin/kin_write.h"
#include "input/gcov.h"
#include "input/paths.h"
#include "names/kept.h"
#include "paths/path_tree.h"
#include "perf/perf_about.h"
#include "profile/hooks.h"
#include "profile/job_ranks.h"
#include "symbolize/frame_classes.h"
#include "symbolize/interrupts.h"
#include "symbolize/keep.h"
#include "symbolize/remedies.h"
#include "symbolize/tail_calls.h"

void profile_ref(struct kin_profile *p) { p->refs++; }

static void forget_programs(struct kin_profile *p)
{
	for (size_t i = 0; i < p->programs.n; i++)
		program_free(p->programs.at[i].program);
	vec_free(&p->programs);
}

void profile_unref(void *profile)
{
	struct kin_profile *p = profile;
	if (!p || --p->refs)
		return;
	for (size_t i = 0; i < ARRAY_LEN(p->views); i++) {
		callgraph_free(p->views[i].graph);
		if (!p->views[i].program)
			symbols_free(p->views[i].symbols);
		profile_free(p->views[i].flat);
	}
	forget_programs(p);
	program_files_free(p->files);
	remarks_free(&p->remarks);
	own_code_free(p->own);
	own_rulings_done(&p->rulings);
	findings_done(&p->findings);
	line_counts_free(p->line_counts);
	profile_free(p->data);
	object_free(p->object);
	free(p);
}

void kin_profile_free(struct kin_profile *p) { profile_unref(p); }

/* ---- remarks ---- */

/* A warning that is a doubt, too. */
enum { DOUBTED = KIN_REMARK_WARNING | KIN_REMARK_DOUBT };

/* Describes where names came from: "names are those that the recording keeps: of t (the file has
 * been replaced ...), and 2 more". */
static void hear_origins(struct kin_profile *p, const struct remarks *of)
{
	enum { NAMED = 2 };
	char *named = xprintf("%s", ""); /* " a, b" */
	const char *origin;
	size_t n = 0;
	for (size_t i = 0; (origin = remarks_next(of, KIN_REMARK_ORIGIN, &i)); n++) {
		char *before = named;
		if (n >= NAMED)
			continue;
		named = xprintf("%s%s %s", before, n ? "," : "", origin);
		free(before);
	}
	const char *what = "names are those that the recording keeps, of";
	if (n > NAMED)
		remarks_add(&p->remarks, KIN_REMARK_ORIGIN, "%s%s, and %zu more", what, named,
			    n - NAMED);
	else if (n)
		remarks_add(&p->remarks, KIN_REMARK_ORIGIN, "%s%s", what, named);
	free(named);
}

static void hear_builds(struct kin_profile *p, const struct program *g)
{
	for (size_t i = 0; !p->heard_builds && i < program_n_joined(g); i++)
		remarks_add_once(&p->remarks, KIN_REMARK_NOTE,
				 "%s is there in several builds: functions of one name are one",
				 program_object_name(g, program_joined_at(g, i)));
	p->heard_builds = true;
}

/* Notes an unknown machine: what depends on its instructions is missing, and never derived by
 * another machine's rules. */
static void hear_machine(struct kin_profile *p, const char *what, const char *part, uint32_t elf)
{
	if (elf)
		remarks_add_once(&p->remarks, KIN_REMARK_NOTE,
				 "%s is %s a machine that is not known (%" PRIu32
				 " in ELF): its code is not read",
				 what, part, elf);
}

static void hear_machine_of(struct kin_profile *p, const struct object_file *o)
{
	if (o && !object_is_of_known_machine(o))
		hear_machine(p, object_path(o), "for", object_elf_machine(o));
}

void profile_hear(struct kin_profile *p, struct program *g)
{
	for (objid i = 0; i < p->data->n_objects; i++)
		hear_machine_of(p, program_object_file(g, i));
	if (!remarks_have(&p->remarks, KIN_REMARK_ORIGIN, NULL))
		hear_origins(p, program_remarks(g));
	hear_builds(p, g);
	if (!p->has_hints)
		remedies_find(g, p->data, &p->remarks);
	p->has_hints = true;
	program_look_for_troubles(g);
	const struct remarks *of = program_remarks(g);
	for (size_t i = 0; i < of->at.n; i++) {
		const struct remark *r = &of->at.at[i];
		if (r->kinds & KIN_REMARK_WARNING &&
		    !remarks_have(&p->remarks, KIN_REMARK_WARNING, r->text))
			remarks_add_of(&p->remarks, r->kinds, r->where, "%s", r->text);
	}
}

void profile_hear_all(struct kin_profile *p)
{
	for (size_t i = 0; i < p->programs.n; i++)
		profile_hear(p, p->programs.at[i].program);
}

/* ---- programs ---- */

static bool are_alike(const struct program_opts *a, const struct program_opts *b)
{
	return a->lines == b->lines && a->call_lines == b->call_lines &&
	       a->no_inlines == b->no_inlines && a->linker_lines == b->linker_lines &&
	       a->group_unknown == b->group_unknown && a->by_appearance == b->by_appearance &&
	       a->style == b->style;
}

/* [n_frames]: the lines of own functions, which call what was folded. To be freed. */
static struct srcloc *own_lines(struct kin_profile *p, const struct program_opts *opts)
{
	const struct samples *s = &p->data->samples;
	struct program_opts by_function = *opts;
	by_function.lines = by_function.linker_lines = false;
	by_function.no_inlines = p->naming.no_inlines;
	struct program *g = profile_program(p, &by_function);
	struct srcloc *ret = xalloc((s->n_frames + 1) * sizeof(*ret));
	for (frameid i = 1; i < s->n_frames; i++) {
		size_t n;
		const symid *inlined = program_inlines(g, i, &n);
		symid place = n ? inlined[0] : program_place(g, i);
		if (program_line(g, i, &ret[i]))
			ret[i].function = program_symbols(g)->at[place].name;
	}
	return ret;
}

struct program *profile_program(struct kin_profile *p, const struct program_opts *opts)
{
	for (size_t i = 0; i < p->programs.n; i++)
		if (are_alike(&p->programs.at[i].opts, opts))
			return p->programs.at[i].program;
	if (!p->files)
		p->files = program_files_new(p->data);
	struct program_opts o = *opts;
	o.files = p->files;
	struct srcloc *lines = p->is_folded && o.lines ? own_lines(p, opts) : NULL;
	o.lines_of = lines;
	struct program *g = program_new(p->data, p->object, &o);
	free(lines);
	if (p->is_folded && !o.lines) {
		struct own_fold *f = own_fold_new(g, p->data, p->own);
		own_fold_names(f);
		own_fold_free(f);
	}
	vec_push(&p->programs, ((struct named_program){ o, g }));
	profile_hear(p, g);
	return g;
}

/* ---- views ---- */

static bool has_many_objects(const struct profile *p)
{
	return p &&
	       (p->n_objects > 1 || p->samples.n || p->samples.n_events || p->samples.n_frames > 1);
}

bool profile_has_objects(const struct kin_profile *p) { return has_many_objects(p->data); }

/* Whether the data is of a single program that it does not name, as gmon.out, even if merged into
 * another file. */
static bool needs_program(const struct profile *d)
{
	return !has_many_objects(d) && !profile_is_empty(d);
}

/* Whether the data includes a gmon.out, whose counts have only addresses. Recordings have no
 * histograms. */
static bool has_bare_counts(const struct profile *d) { return d->n_histograms > 0; }

static struct kin_error *make_symbols(struct kin_profile *p, bool by_line, struct view *v)
{
	struct symbols_opts opts = p->rules.symbols;
	opts.lines = by_line;
	opts.no_inlines = p->naming.no_inlines;
	opts.style = p->naming.style;
	return symbols_new(p->object, &opts, &v->symbols);
}

static bool is_by_line(enum view_kind kind)
{
	return kind == VIEW_LINES || kind == VIEW_LINE_TIMES;
}

static struct kin_error *make_program(struct kin_profile *p, enum view_kind kind, struct view *v)
{
	struct program_opts opts = p->naming;
	opts.lines = is_by_line(kind);
	opts.call_lines = kind == VIEW_LINE_TIMES;
	opts.linker_lines = opts.lines && p->naming.no_inlines;
	opts.no_inlines = kind != VIEW_EXPANDED;
	opts.group_unknown = true;
	v->program = profile_program(p, &opts);
	v->symbols = program_symbols(v->program);
	v->flat = program_flatten(v->program, p->data);
	return NULL;
}

static struct kin_error *make_names(struct kin_profile *p, enum view_kind kind, struct view *v)
{
	if (p->object && !profile_has_objects(p))
		return make_symbols(p, is_by_line(kind), v);
	if (needs_program(p->data))
		return err_new(KIN_ERROR_USAGE,
			       "the profile was opened without its program, which is enough to "
			       "write it: for reports name the program when it is opened");
	return make_program(p, kind, v);
}

static struct callgraph *make_graph(const struct kin_profile *p, enum view_kind kind)
{
	const struct view *v = &p->views[kind];
	struct callgraph_opts opts = p->rules.graph;
	struct profile *counts = v->flat ? v->flat : p->data;
	opts.samples = v->program ? &p->data->samples : NULL;
	opts.program = v->program;
	opts.no_inlines = p->naming.no_inlines;
	opts.no_stack_calls = kind == VIEW_LINE_TIMES;
	opts.consume = p->rules.consumes ? counts : NULL;
	return callgraph_new(counts, v->symbols, &opts);
}

struct kin_error *profile_view(struct kin_profile *p, enum view_kind kind, bool graph,
			       struct view **ret)
{
	struct view *v = &p->views[kind];
	struct kin_error *err = v->symbols ? NULL : make_names(p, kind, v);
	if (err)
		return err;
	if (graph && !v->graph)
		v->graph = make_graph(p, kind);
	*ret = v;
	return NULL;
}

static enum view_kind kind_for(const struct kin_profile *p, const struct report *r)
{
	if (p->lines || r->by_line)
		return r->by_line && p->data->samples.n ? VIEW_LINE_TIMES : VIEW_LINES;
	if (r->inlines && p->data->samples.n && !p->naming.no_inlines)
		return VIEW_EXPANDED;
	return VIEW_FUNCTIONS;
}

struct kin_error *profile_view_for(struct kin_profile *p, const struct report *r, struct view **ret)
{
	return profile_view(p, kind_for(p, r), true, ret);
}

struct kin_error *profile_names_for(struct kin_profile *p, const struct report *r,
				    struct view **ret)
{
	return profile_view(p, kind_for(p, r), false, ret);
}

void profile_forget_graphs(struct kin_profile *p, const struct report *next)
{
	for (enum view_kind kind = 0; kind < N_VIEWS && p->refs == 1; kind++) {
		if (next && kind == kind_for(p, next))
			continue;
		callgraph_free(p->views[kind].graph);
		p->views[kind].graph = NULL;
	}
}

struct report_input report_input_of(const struct kin_profile *p, const struct view *v)
{
	return (struct report_input){ .profile = p->data,
				      .flat = v->flat ? v->flat : p->data,
				      .symbols = v->symbols,
				      .program = v->program,
				      .line_counts = p->line_counts,
				      .counts_of_other_runs = p->counts_of_other_runs,
				      .graph = v->graph,
				      .findings = &p->findings,
				      .rulings = p->rulings.at.at,
				      .n_rulings = p->rulings.at.n,
				      .remarks = &p->remarks };
}

struct kin_error *profile_trouble(struct kin_profile *p)
{
	struct kin_error *err = p->object && !p->told_trouble ? object_trouble(p->object) : NULL;
	p->told_trouble |= err != NULL;
	return err;
}

/* ---- opening ---- */

struct kin_profile *profile_new(void)
{
	struct kin_profile *p = xalloc(sizeof(*p));
	p->refs = 1;
	return p;
}

struct kin_error *profile_open_object(struct kin_profile *p, const char *path,
				      const struct object_opts *opts)
{
	struct kin_error *err = object_open(path, opts, &p->object);
	if (!err)
		p->target = input_target_of(p->object);
	return err;
}

struct kin_error *profile_read(struct kin_profile *p, const char *const *paths, size_t n,
			       const struct input_opts *opts)
{
	struct input_opts how = *opts;
	how.target = p->target;
	return input_read(paths, n, &how, &p->data);
}

/* Opens the program. p->object stays NULL if no program is wanted, or if it is optional and not
 * found. data: the file that find_executable() looks beside. */
static struct kin_error *open_program(struct kin_profile *p, const struct kin_open_opts *o,
				      const char *data)
{
	char *found = NULL;
	if (o->executable && !o->executable[0])
		return NULL;
	struct kin_error *err = o->executable ? NULL : find_executable(data, &found);
	p->sought_program = true;
	if (err && o->for_writing) {
		kin_error_free(err);
		return NULL;
	}
	if (err)
		return err;
	struct object_opts opts = { .debug_dir = o->debug_dir,
				    .debuginfod = debuginfod_of(o->debuginfod) };
	err = profile_open_object(p, found ? found : o->executable, &opts);
	free(found);
	return err;
}

/* The program that all gmon.out files of a sum were read with, or NULL. */
static const char *recorded_program(const struct profile *d)
{
	const char *only = NULL;
	for (size_t i = 0; i < d->n_facts; i++) {
		const char *value = strtab_get(d->strings, d->facts[i].value);
		if (strcmp(strtab_get(d->strings, d->facts[i].name), FACT_PROGRAM) != 0)
			continue;
		if (only && strcmp(only, value) != 0)
			return NULL;
		only = value;
	}
	return only;
}

/* Opens the file with the same build ID, if it can be found. */
static void open_recorded(struct kin_profile *p, const struct kin_open_opts *o)
{
	const char *program = recorded_program(p->data);
	const char *path = program ? strchr(program, ' ') : NULL;
	if (!path)
		return;
	char *id = xprintf("%.*s", (int)(path - program), program);
	struct object_opts opts = { .debug_dir = o->debug_dir,
				    .symfs = o->symfs,
				    .build_id = id,
				    .debuginfod = debuginfod_of(o->debuginfod) };
	kin_error_free(object_open(path + 1, &opts, &p->object));
	free(id);
}

/* Opens the program for data that turned out to need one. */
static struct kin_error *open_late(struct kin_profile *p, const struct kin_open_opts *o,
				   const char *const *paths, size_t n)
{
	if (!o->executable)
		open_recorded(p, o);
	return p->object || p->sought_program ? NULL : open_program(p, o, n ? paths[0] : NULL);
}

/* Opens the program of a gmon.out that was read together with recordings, which need none. */
static void open_for_counts(struct kin_profile *p, const struct kin_open_opts *o,
			    const char *const *paths, size_t n)
{
	kin_error_free(open_late(p, o, paths, n));
	if (!p->object)
		remarks_add(&p->remarks, KIN_REMARK_WARNING,
			    "what a gmon.out counted is left out: its program is not known (-e "
			    "names it)");
}

static struct kin_error *setup(struct kin_profile *p, const struct kin_open_opts *o,
			       const char *const *paths, size_t n, const struct input_held *held)
{
	p->lines = o->lines;
	p->no_names = o->no_names;
	p->sum_ranks = o->sum_ranks;
	p->one_by_one = o->one_by_one;
	p->naming = (struct program_opts){ .debug_dir = o->debug_dir,
					   .symfs = o->symfs,
					   .debuginfod = debuginfod_of(o->debuginfod),
					   .kallsyms = o->kallsyms,
					   .style = DEMANGLE_TIDY,
					   .no_inlines = o->no_inlines,
					   .hit_only = o->seen_only };
	p->style_given = o->demangle != NULL;
	if (o->demangle && !demangle_style_find(o->demangle, &p->naming.style))
		return err_new(KIN_ERROR_USAGE, "no demangling style '%s'", o->demangle);
	p->target.is_64bit = sizeof(void *) == 8;
	p->target.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const char *silent = NULL;
	if (!o->executable && input_says_program(paths, n, held, &silent))
		return NULL;
	struct kin_error *err = open_program(p, o, silent);
	struct kin_error *worse = err && !o->executable ? input_check(paths, n, held) : NULL;
	if (worse)
		kin_error_free(err);
	return worse ? worse : err;
}

static struct kin_error *read_gcov(struct kin_profile *p, const char *const *paths)
{
	struct kin_error *err = NULL;
	if (!paths || !paths[0])
		return NULL;
	p->line_counts = line_counts_new();
	for (; *paths && !err; paths++)
		err = gcov_read(*paths, p->line_counts);
	return err;
}

static void tell_unfinished(struct kin_profile *p)
{
	for (size_t i = 0; p->data && i < p->data->n_sources; i++) {
		const struct source *s = &p->data->sources[i];
		if (!s->unfinished)
			continue;
		remarks_add(&p->remarks, DOUBTED,
			    "%s was not ended: its recorder is still at work, or was killed; "
			    "this is what there was by then",
			    strtab_get(p->data->strings, s->path));
	}
}

static void tell_machines(struct kin_profile *p)
{
	for (size_t i = 0; p->data && i < p->data->n_sources; i++) {
		const struct source *s = &p->data->sources[i];
		if (!object_knows_machine(s->machine))
			hear_machine(p, strtab_get(p->data->strings, s->path), "of", s->machine);
	}
	hear_machine_of(p, p->object);
}

void profile_check_data(struct kin_profile *p)
{
	tell_unfinished(p);
	tell_machines(p);
	audit_check(p->data, &p->remarks);
}

void profile_check_program(struct kin_profile *p)
{
	/* Missing symbols are an error only when a report needs them. */
	struct view *v;
	struct kin_error *no_symbols =
		profile_view(p, p->lines ? VIEW_LINES : VIEW_FUNCTIONS, false, &v);
	struct remarks *to = &p->remarks;
	size_t before = to->at.n;
	p->is_foreign = mismatch_check(p->data, p->object, no_symbols ? NULL : v->symbols, to);
	p->is_its_program = to->at.n == before;
	kin_error_free(no_symbols);
}

/* Warns if the program that was named is none that was sampled: it gives no names. */
static void tell_unused(struct kin_profile *p)
{
	const struct profile *d = p->data;
	const char *sampled = NULL;
	for (objid i = 1; i < d->n_objects; i++) {
		const struct object *o = &d->objects[i];
		if (program_is_given(d, i, p->object))
			return;
		if (o->kind == OBJECT_ELF && o->build_id && (o->is_main || !sampled))
			sampled = strtab_get(d->strings, o->path);
	}
	if (!sampled)
		return;
	const char *named = object_path(p->object);
	remarks_add(
		&p->remarks, KIN_REMARK_WARNING,
		"%s is not used: no program or library of the data has its build id; the data is "
		"of %s%s",
		named, !strcmp(base_name(named), base_name(sampled)) ? "another build of " : "",
		sampled);
}

static frameid first_of_class(void *classes, const struct profile *p, frameid frame)
{
	return frame_classes_first(classes, p, frame);
}

/* UINT64_MAX: some are not regular files. */
static uint64_t data_size(const char *const *paths, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		struct stat st;
		if (stat(paths[i], &st) || !S_ISREG(st.st_mode))
			return UINT64_MAX;
		sum += (uint64_t)st.st_size;
	}
	return sum;
}

/* Classes of equivalent frames, to merge while reading; NULL: distinguish frames by address. */
static struct frame_classes *classes_for(const struct kin_profile *p, const struct kin_open_opts *o,
					 const char *const *paths, size_t n,
					 struct input_needs *needs)
{
	if (!o->by_function || p->object || o->debuginfod || o->lines || o->details ||
	    o->for_writing || needs->no_callers)
		return NULL;
	struct frame_classes_opts opts = { .debug_dir = o->debug_dir,
					   .symfs = o->symfs,
					   .inlines = !o->no_inlines,
					   .calls = !o->stacks_as_recorded,
					   .data = data_size(paths, n) };
	struct frame_classes *c = frame_classes_new(&opts);
	needs->alike = first_of_class;
	needs->alike_arg = c;
	return c;
}

/* Large data fills tens of thousands of pages, each of which costs a page fault. A pipe may bring
 * some. */
static void reserve_heap(const char *const *paths, size_t n)
{
	enum { LARGE = 4 << 20, MOST = 256 << 20 };
	uint64_t size = data_size(paths, n);
	if (size >= LARGE)
		xheap_reserve(size < MOST / 4 ? 4 * (size_t)size : MOST);
}

/* p->data stays NULL if nothing could be read. */
static struct kin_error *read_all(struct kin_profile *p, const struct kin_open_opts *o,
				  const char *const *paths, size_t n)
{
	if (o->reserve_heap)
		reserve_heap(paths, n);
	struct input_held *held = input_hold(paths, n);
	struct kin_error *err = setup(p, o, paths, n, held);
	if (!err)
		err = read_gcov(p, o->gcov);
	if (!err) {
		struct input_opts how = {
			.symfs = o->symfs,
			.details = o->details || o->for_writing,
			.cpu_state = o->cpu_state || o->for_writing,
			.trace_fields = o->trace_fields || o->details || o->for_writing,
			.held = held,
			.not_sampled = o->not_sampled && !o->for_writing,
			.not_sampled_all = o->not_sampled_all && !o->for_writing,
		};
		how.needs.no_callers = o->no_callers && !o->for_writing;
		how.needs.no_times = o->no_times && !o->details && !o->time && !o->for_writing;
		how.branches = o->branches               ? INPUT_BRANCHES
			       : o->branches_if_recorded ? INPUT_AS_RECORDED
							 : INPUT_SAMPLES;
		struct frame_classes *classes = classes_for(p, o, paths, n, &how.needs);
		err = profile_read(p, paths, n, &how);
		if (classes && p->data)
			p->files = frame_classes_take_files(classes, p->data);
		frame_classes_free(classes);
	}
	input_held_free(held);
	return err;
}

/* Returns `fatal` instead of `err`, and drops the data. */
static struct kin_error *nothing_but(struct kin_error *fatal, struct kin_profile *p,
				     struct kin_error *err)
{
	kin_error_free(err);
	profile_free(p->data);
	p->data = NULL;
	return fatal;
}

void profile_note_left_out(struct kin_profile *p)
{
	const char *first = NULL;
	size_t n = 0;
	for (size_t i = 0; i < p->data->n_sources; i++)
		if (p->data->sources[i].left_out && !n++)
			first = strtab_get(p->data->strings, p->data->sources[i].path);
	if (n == 1)
		remarks_add_once(&p->remarks, KIN_REMARK_NOTE,
				 "%s is left out: it belongs to the same run as a recording, which "
				 "has its calls",
				 first);
	else if (n)
		remarks_add_once(&p->remarks, KIN_REMARK_NOTE,
				 "%s and %zu more are left out: they belong to the same runs as "
				 "recordings, which have their calls",
				 first, n - 1);
}

/* Notes files that were ignored: a directory with gmon.out files stands for these alone. */
static void note_beside(struct kin_profile *p, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t left_out;
		char *first = paths_left_out(paths[i], paths, n, &left_out);
		if (left_out == 1)
			remarks_add_once(&p->remarks, KIN_REMARK_NOTE,
					 "%s is left out: of a directory with gmon.out files these "
					 "are read; name it to see it",
					 first);
		else if (left_out)
			remarks_add_once(
				&p->remarks, KIN_REMARK_NOTE,
				"%s and %zu more are left out: of a directory with gmon.out files "
				"these are read; name recordings to see them",
				first, left_out - 1);
		free(first);
	}
}

static const double LEAST_TOLD = 0.01; /* less changes nothing that is read from a report */

void profile_take_off_hooks(struct kin_profile *p, bool noted)
{
	enum { NS = 1000000000 };
	struct hooks_time t = hooks_take_off(p->data);
	int decimals = t.sampled_ns < NS ? 4 : 2;
	if (t.off_ns && noted)
		remarks_add_once(&p->remarks, KIN_REMARK_NOTE,
				 "counting calls took %.*f s of %.*f s, estimated at %.2f ns a "
				 "call: that is taken off (kin's --with-hooks leaves it in)",
				 decimals, (double)t.off_ns / NS, decimals,
				 (double)t.sampled_ns / NS, t.call_ns);
}

/* The part of the main event's time that collecting took inside the program, 0..1. */
static double profiler_share(const struct profile *p)
{
	const struct samples *s = &p->samples;
	uint16_t event = samples_event(s);
	frameid own = 0;
	while (own < s->n_frames &&
	       strcmp(strtab_get(p->strings, s->frames[own].name), NAME_PROFILER))
		own++;
	double all = 0, profiler = 0;
	for (size_t i = 0; i < s->n && own < s->n_frames; i++) {
		double weight = s->at[i].event == event ? (double)s->at[i].weight : 0;
		all += weight;
		profiler += s->stacks[s->at[i].stack].frame == own ? weight : 0;
	}
	return all > 0 ? profiler / all : 0;
}

static void tell_profiler(struct kin_profile *p)
{
	double share = profiler_share(p->data);
	if (share >= LEAST_TOLD)
		remarks_add(&p->remarks, KIN_REMARK_STACKS,
			    "kin's own work inside the program took %.1f %%: it is a row of its "
			    "own, " NAME_PROFILER,
			    100 * share);
}

struct revision { /* NULL: nothing of that kind */
	struct tail_calls *tails;
	struct interrupts *interrupts;
};

static stackid revise(void *arg, struct revised_stacks *r, stackid stack, stackid caller)
{
	const struct revision *v = arg;

	if (v->tails)
		caller = tail_calls_correct(v->tails, r, stack, caller);
	return v->interrupts ? interrupts_set_apart(v->interrupts, r, stack, caller) : caller;
}

static void tell_interrupted(struct kin_profile *p, const char *what, double percent)
{
	if (percent > 0)
		remarks_add(&p->remarks, KIN_REMARK_STACKS,
			    "%s took %.*f %%: they were called by nobody, and have stacks of "
			    "their own, below " MARK_INTERRUPTED,
			    what, percent < 1 ? 2 : 1, percent);
}

void profile_revise_stacks(struct kin_profile *p)
{
	if (!p->files)
		p->files = program_files_new(p->data);
	uint16_t event = samples_event(&p->data->samples);
	struct recorded_opts how = { p->naming.debug_dir, p->naming.symfs, p->naming.debuginfod };
	struct tail_calls_found found;
	bool *changes = xalloc(p->data->samples.n_stacks + 1);
	struct revision v;
	v.tails = tail_calls_find(p->data, p->files, &how, event, changes, &found);
	v.interrupts = interrupts_find(p->data, p->files, p->naming.kallsyms, changes);
	if (v.tails || v.interrupts)
		profile_revise_callers(p->data, changes, revise, &v);
	free(changes);
	if (v.interrupts) {
		struct interrupts_shares share = interrupts_shares(p->data, event);
		tell_interrupted(p, "interrupts", 100 * share.kernel);
		tell_interrupted(p, "handlers of signals", 100 * share.signals);
	}
	if (found.put_back >= LEAST_TOLD)
		remarks_add(&p->remarks, KIN_REMARK_STACKS,
			    "functions that ended in a jump to another one (tail calls) are put "
			    "back, on stacks with %.1f %% of the time",
			    100 * found.put_back);
	if (found.unknown >= LEAST_TOLD)
		remarks_add(&p->remarks, KIN_REMARK_STACKS,
			    "functions that ended in a jump to another one (tail calls) are "
			    "missing on stacks with %.1f %% of the time: the code leaves open "
			    "which",
			    100 * found.unknown);
	if (found.cut > AUDIT_TRUNCATED)
		remarks_add(&p->remarks, KIN_REMARK_DOUBT | KIN_REMARK_NOTE,
			    "%.1f %% of the time has a caller that did not make the call, as its "
			    "code shows: the stack was walked wrongly, and is " MARK_CUT " there",
			    100 * found.cut);
	tail_calls_free(v.tails);
	interrupts_free(v.interrupts);
}

static bool is_own(void *fold, frameid frame, size_t depth)
{
	return own_fold_verdict(fold, frame, depth).is_own;
}

static const char *producer(void *fold, frameid frame) { return own_fold_producer(fold, frame); }

bool profile_leads_with_own(enum kin_own requested, struct own_shares share)
{
	bool leads = share.own >= KIN_OWN_LEADS && share.folded > 0;
	return requested == KIN_OWN_ALWAYS || (requested == KIN_OWN_IF_LEADING && leads);
}

void profile_judge_code(struct kin_profile *p, const struct kin_open_opts *o)
{
	const struct own_dirs dirs = { o->own_dirs, o->foreign_dirs };
	struct program_opts naming = p->naming;
	naming.group_unknown = true;
	struct program *g = profile_program(p, &naming);
	struct own_code *code =
		own_code_new(&dirs, own_fold_program(p->data), own_fold_has_scripts(p->data));
	struct own_fold *f = own_fold_new(g, p->data, code);
	uint16_t event = samples_event(&p->data->samples);
	struct own_shares share = own_fold_shares(f, event);
	if (o->findings)
		p->findings =
			findings_new(&(struct findings_input){ p->data, g, is_own, f, producer });
	bool folds = profile_leads_with_own(o->own, share);
	if (o->own == KIN_OWN_EXPLAIN)
		own_fold_rule(f, event, &p->rulings);
	profile_hear(p, g); /* of files that were read for this */
	if (folds)
		own_fold_stacks(f);
	own_fold_free(f);
	if (folds) {
		forget_programs(p); /* which do not fit these stacks */
		p->is_folded = true;
		remarks_add(&p->remarks, KIN_REMARK_FOLDED,
			    "own code: %.1f %% of the time is in what it calls; all functions: "
			    "--own=no",
			    100 * share.folded);
	}
	p->own = code;
}

/* What --own leaves as it is. */
static void note_not_folded(struct kin_profile *p)
{
	const struct profile *d = p->data;
	if (d->n_histograms || (d->n_arcs && !d->samples.n))
		remarks_add_once(&p->remarks, KIN_REMARK_NOTE,
				 "own code: calls were counted and no stacks sampled, so that "
				 "nothing is folded");
	else if (d->n_arcs)
		remarks_add_once(&p->remarks, KIN_REMARK_NOTE,
				 "own code: time is folded along stacks; counted calls are those "
				 "of all functions");
}

/* Whether two files name the same job, or some file names none. */
static bool is_of_one_job(const struct profile *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_facts; i++) {
		if (strcmp(strtab_get(d->strings, d->facts[i].name), FACT_JOB) != 0)
			continue;
		n++;
		for (size_t k = 0; k < i; k++)
			if (d->facts[k].name == d->facts[i].name &&
			    d->facts[k].value == d->facts[i].value)
				return true;
	}
	return n < d->n_sources;
}

/* Refuses a sum of ranks together with another file of one of them, which would count that rank
 * twice. */
static struct kin_error *check_sums(const struct profile *d)
{
	const struct spread_set *s = d->spreads;
	uint32_t twice = s ? s->twice : 0;

	for (size_t i = 0; s && i < d->n_ranks && !twice; i++)
		if (spread_set_has(s, d->ranks[i].rank))
			twice = d->ranks[i].rank + 1;
	return twice && is_of_one_job(d) ? rank_spreads_twice(twice - 1) : NULL;
}

void profile_read_counters(struct kin_profile *p)
{
	bool has_one = !profile_has_objects(p);
	if (!has_one || p->object)
		counters_of_profile(p, has_one ? p->object : NULL);
}

static struct kin_error *open_all(struct kin_profile *p, const struct kin_open_opts *o,
				  const char *const *paths, size_t n)
{
	struct kin_error *err = read_all(p, o, paths, n);
	if (err && !p->data)
		return err;
	/* A rank without data still counts for what its file says about it, so that sums of some
	 * ranks, summed again, equal the sum of all. */
	bool counts = p->sum_ranks && p->data->n_sources;
	if (err && profile_is_empty(p->data) && !counts)
		return nothing_but(err, p, NULL);
	struct kin_error *no_program =
		!p->object && needs_program(p->data) ? open_late(p, o, paths, n) : NULL;
	if (no_program)
		return nothing_but(no_program, p, err);
	if (!p->object && !o->for_writing && profile_has_objects(p) && has_bare_counts(p->data))
		open_for_counts(p, o, paths, n);
	struct kin_error *twice = check_sums(p->data);
	if (twice)
		return nothing_but(twice, p, err);
	profile_check_data(p);
	profile_note_left_out(p);
	note_beside(p, paths, n);
	bool unassigned =
		p->data->n_histograms || p->data->n_blocks || p->data->samples.n_latencies;
	bool has_counts = unassigned || p->data->n_arcs;
	if (!o->with_hooks && !o->for_writing)
		profile_take_off_hooks(p, !o->no_hooks_note);
	const char *program = p->object && !profile_has_objects(p) ? object_path(p->object) : NULL;
	struct kin_error *no_part = filter_apply(&p->data, o, program);
	if (no_part)
		return nothing_but(no_part, p, err);
	if (err)
		remarks_add(&p->remarks, KIN_REMARK_DOUBT, "not all of the data could be read");
	if (o->counters && !p->line_counts)
		profile_read_counters(p);
	job_ranks_gaps(p->data, &p->remarks);
	if (!o->for_writing)
		tell_profiler(p);
	if (!o->stacks_as_recorded && !o->for_writing && !o->no_callers)
		profile_revise_stacks(p);
	if (o->own == KIN_OWN_ALWAYS && !o->for_writing)
		note_not_folded(p);
	if ((o->own != KIN_OWN_NO || o->findings) && p->data->samples.n && !o->for_writing)
		profile_judge_code(p, o);
	if ((o->threads || o->comms || o->ranks) && unassigned)
		remarks_add(&p->remarks, KIN_REMARK_WARNING,
			    "histograms, block counts and durations of calls are not known by "
			    "thread: they are left out");
	if (o->time && has_counts)
		remarks_add(&p->remarks, KIN_REMARK_WARNING,
			    "--time: call and block counts have no time stamps and are left out");
	if (p->object && (!profile_has_objects(p) || has_bare_counts(p->data))) {
		profile_check_program(p);
		if (!err)
			err = profile_trouble(p);
	} else if (p->object && o->executable) {
		tell_unused(p);
	}
	return err;
}

static struct kin_error *unguarded_profile_open(const char *const *paths, size_t n,
						const struct kin_open_opts *opts,
						struct kin_profile **ret)
{
	struct kin_open_opts o;
	opts_copy(&o, sizeof(o), opts);
	o.no_callers &= o.own == KIN_OWN_NO && !o.findings;
	struct path_list found = { 0 };
	struct kin_error *err = NULL;
	*ret = NULL;
	if (!n) {
		err = find_data(o.executable, &found);
		paths = (const char *const *)found.at.at;
		n = found.at.n;
	}
	if (err)
		return err;

	struct kin_profile *p = profile_new();
	err = open_all(p, &o, paths, n);
	path_list_free(&found);
	if (p->data)
		*ret = p;
	else
		profile_unref(p);
	return err;
}

struct kin_error *kin_profile_open(const char *const *paths, size_t n,
				   const struct kin_open_opts *opts, struct kin_profile **ret)
{
	return GUARDED(unguarded_profile_open(paths, n, opts, ret));
}

struct kin_profile *profile_of_data(struct profile *data, const struct program_opts *naming)
{
	struct kin_profile *p = profile_new();
	p->data = data;
	p->naming = *naming;
	return p;
}

static struct kin_error *unguarded_about(const char *path, unsigned what, FILE *out)
{
	_Static_assert((int)KIN_ABOUT_STATS == (int)PERF_ABOUT_STATS, "the same bits");
	struct path_list found = { 0 };
	struct kin_error *err = path ? NULL : find_data(NULL, &found);
	if (!err)
		err = perf_about(path ? path : found.at.at[0], what, out);
	path_list_free(&found);
	return err;
}

struct kin_error *kin_about(const char *path, unsigned what, FILE *out)
{
	return GUARDED(unguarded_about(path, what, out));
}

/* ---- queries and writing ---- */

const char *kin_profile_remark(const struct kin_profile *p, enum kin_remark kind, size_t *i)
{
	return remarks_next(&p->remarks, kind, i);
}

mode_t kin_profile_file_mode(const struct kin_profile *p) { return profile_file_mode(p->data); }

bool kin_profile_is_sampled(const struct kin_profile *p)
{
	const struct profile *d = p->data;
	return d->samples.n || (!d->n_histograms && !d->n_arcs && !d->n_blocks);
}

bool kin_profile_is_own(const struct kin_profile *p) { return p->is_folded; }

bool kin_profile_is_foreign(const struct kin_profile *p) { return p->is_foreign; }

bool kin_profile_fits_gmon(const struct kin_profile *p)
{
	return !has_many_objects(p->data) && !p->data->samples.n_task_arcs &&
	       !p->data->samples.n_latencies;
}

/* The fact that identifies the program of a gmon.out, or NULL. It needs a build ID, because another
 * build could later be mistaken for it. To be freed. */
static char *program_fact(const struct kin_profile *p)
{
	const char *id = p->object && p->is_its_program ? object_build_id(p->object) : NULL;
	bool is_needed = needs_program(p->data) || has_bare_counts(p->data);
	char *path = id && is_needed ? realpath(object_path(p->object), NULL) : NULL;
	char *fact = path ? xprintf("%s %s", id, path) : NULL;
	free(path);
	return fact;
}

/* Names to write. Code that was packed stays packed. Only what is written gets names: not the rest
 * of a damaged file. */
static struct kept *keep_for_writing(const struct kin_profile *p, const struct profile *written,
				     struct kin_error **trouble)
{
	bool whole = false;
	const struct kept *old = p->data->kept;
	for (size_t i = 0; old && i < old->objects.n; i++)
		whole |= old->objects.at[i]->flags & KEPT_CODE;
	struct kept *k = names_keep(written,
				    &(struct keep_opts){ .debug_dir = p->naming.debug_dir,
							 .symfs = p->naming.symfs,
							 .debuginfod = p->naming.debuginfod,
							 .whole = whole },
				    trouble);
	kept_add_sources(k, old);
	return k;
}

bool kin_rank_of(const char *path, struct kin_rank *ret)
{
	struct kinfile_rank r;
	if (!kinfile_rank_of(path, &r))
		return false;
	*ret = (struct kin_rank){ r.rank, r.ranks, r.unfinished, r.signal, "" };
	_Static_assert(sizeof(ret->job) >= sizeof(r.job), "a job's id has room");
	memcpy(ret->job, r.job, sizeof(r.job));
	return true;
}

int kin_exit_status_of(const char *path)
{
	struct kinfile_rank r;
	return kinfile_rank_of(path, &r) ? r.status : -1;
}

uint64_t kin_profile_n_ranks(const struct kin_profile *p) { return job_ranks_count(p->data); }

char *kin_profile_missing_ranks(const struct kin_profile *p) { return job_ranks_missing(p->data); }

/* *ret: differences between ranks, if they are to be summed; else NULL. */
static struct kin_error *sum_ranks(const struct kin_profile *p, bool kin, const char *path,
				   struct spread_set **ret)
{
	const struct spread_set *known = p->data->spreads;
	bool is_part = known && known->is_part; /* a filtered sum has no differences to write */
	if (!p->sum_ranks && (!known || is_part))
		return NULL;
	if (is_part)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "cannot write %s: what ranks differ by is not known of a part of "
			       "their sum",
			       path);
	if (!kin)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "cannot write %s: gmon.out knows no ranks; a name that ends in .kin "
			       "gives a file that does",
			       path);
	struct program_opts naming = p->naming;
	naming.group_unknown = true;
	naming.no_inlines = naming.lines = false;
	struct program *g = program_new(p->data, p->object, &naming);
	*ret = rank_spreads_new(p->data, g);
	program_free(g);
	if (!(*ret)->twice)
		return NULL;
	struct kin_error *err = rank_spreads_twice((*ret)->twice - 1);
	spread_set_free(*ret);
	*ret = NULL;
	return err;
}

static struct kin_error *unguarded_profile_write(const struct kin_profile *p, const char *path)
{
	size_t n = strlen(path);
	bool kin = n >= 4 && !strcmp(path + n - 4, ".kin");
	if (!kin && !kin_profile_fits_gmon(p))
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "cannot write %s: gmon.out holds neither stacks nor libraries; a "
			       "name that ends in .kin gives a file that does",
			       path);
	char *program = program_fact(p);
	struct spread_set *sums = NULL;
	struct kin_error *err = sum_ranks(p, kin, path, &sums);
	if (err) {
		free(program);
		return err;
	}
	struct profile *canonical = profile_canonical(p->data, program, sums);
	spread_set_free(sums);
	free(program);
	struct kin_error *trouble = NULL;
	struct kept *names = kin && !p->no_names ? keep_for_writing(p, canonical, &trouble) : NULL;
	err = kin ? kinfile_write_profile(path, canonical, names)
		  : gmon_write(path, canonical, &p->target);
	kept_free(names);
	profile_free(canonical);
	if (err)
		kin_error_free(trouble);
	return err || !trouble ? err : err_wrap(trouble, "names are missing");
}

struct kin_error *kin_profile_write(const struct kin_profile *p, const char *path)
{
	return GUARDED(unguarded_profile_write(p, path));
}

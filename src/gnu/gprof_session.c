/* gprof_session.c - steps and messages that all dialects of gprof share. */
#include "gnu/gprof_session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/escape.h"
#include "gnu/rules.h"
#include "gnu/words.h"

void session_done(struct gprof_session *s)
{
	profile_unref(s->profile);
	selection_done(&s->selection);
	kin_error_free(s->kept);
	s->kept = NULL;
}

/* ---- messages ---- */

void session_say(const char *fmt, ...)
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

/* Prints GNU's message byte by byte, with raw names. */
static void complain_gnu(const struct gprof_session *s, const struct kin_error *err)
{
	static const char without_newline[] = "different scales in histogram records";
	bool whoami;
	char *words = gnu_words(err, &whoami);
	const char *text = words ? words : kin_error_message(err);

	whoami |= !words;
	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		fprintf(stderr, "%s: %.*s\n", s->whoami, (int)(end - text), text);
	fprintf(stderr, "%s%s%s%s", whoami ? s->whoami : "", whoami ? ": " : "", text,
		strcmp(text, without_newline) ? "\n" : "");
	free(words);
}

void session_complain(const struct gprof_session *s, struct kin_error *err)
{
	if (s->compat)
		complain_gnu(s, err);
	else
		session_say("%s", kin_error_message(err));
	kin_error_free(err);
}

bool session_succeeded(struct gprof_session *s, struct kin_error *err)
{
	if (!err)
		return true;
	s->status = 1;
	if (!s->is_silent)
		session_complain(s, err);
	else if (s->kept)
		kin_error_free(err);
	else
		s->kept = err;
	return false;
}

void session_warn(const char *text) { session_say("warning: %s", text); }

void session_warn_of_stacks(char option)
{
	session_say("warning: times and calls are those of sampled stacks: -%c does not change "
		    "them",
		    option);
}

void session_warn_of_histograms(const struct gprof_session *s)
{
	const struct profile *p = session_data(s);
	if (p->samples.n && p->n_histograms)
		session_say("warning: times are those of sampled stacks: the time of gmon.out is "
			    "in no row, though its calls are");
}

void session_note(const char *text, void *unused)
{
	(void)unused;
	session_say("%s", text);
}

/* Those from *i on. */
static void say_remarks(const struct kin_profile *p, enum kin_remark kind, size_t *i)
{
	const char *text;
	while ((text = remarks_next(&p->remarks, kind, i)))
		session_warn(text);
}

void session_say_warnings(struct gprof_session *s)
{
	if (!s->compat)
		say_remarks(s->profile, KIN_REMARK_WARNING, &s->n_said);
}

/* ---- the program ---- */

struct kin_error *session_open_program(struct gprof_session *s, const char *path)
{
	struct object_opts opts = { .no_debug_files = s->gnu };

	s->profile = profile_new();
	return profile_open_object(s->profile, path, &opts);
}

/* If stacks were sampled, inlined functions are functions of their own, as in the other reports. */
static enum view_kind view_for(const struct kin_profile *p)
{
	if (p->lines)
		return VIEW_LINES;
	return p->data && p->data->samples.n ? VIEW_EXPANDED : VIEW_FUNCTIONS;
}

struct kin_error *session_load_names(struct gprof_session *s, struct symbols_opts opts)
{
	struct kin_profile *p = s->profile;

	if (s->gnu) {
		opts.table.rules = &gnu_symbol_rules;
		opts.rules = &gnu_place_rules;
	}
	p->rules.symbols = opts;
	p->naming.style = opts.style;
	p->lines = opts.lines;
	struct kin_error *err = profile_view(p, view_for(p), false, &s->view);
	if (!err)
		selection_init(&s->selection, s->view->symbols->n);
	return err ? err : profile_trouble(p);
}

/* ---- the data ---- */

/* The BSD formats always have both a histogram and calls. */
static bool is_bsd(const struct source *source) { return strstr(source->kind, "BSD") != NULL; }

bool session_has_histogram(const struct gprof_session *s)
{
	const struct profile *p = session_data(s);

	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].n_histograms || is_bsd(&p->sources[i]))
			return true;
	return p->n_histograms || p->samples.n;
}

bool session_has_arcs(const struct gprof_session *s)
{
	const struct profile *p = session_data(s);

	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].n_arcs || is_bsd(&p->sources[i]))
			return true;
	return p->n_arcs || p->samples.n;
}

static bool is_empty(const struct gprof_session *s)
{
	const struct profile *p = session_data(s);
	return !p || (!session_has_histogram(s) && !session_has_arcs(s) && !p->n_block_records);
}

/* Whether there were records before the error. */
static bool has_records(const struct profile *p)
{
	return p->n_histograms || p->n_arcs || p->n_block_records || p->samples.n;
}

void session_check_data(struct gprof_session *s, const struct session_files *f, bool complete)
{
	if (!s->compat && complete && is_empty(s))
		session_warn("there is nothing in the data: no samples, no calls, no block counts");
	if (f->check)
		f->check(f->arg);
	if (s->compat || is_empty(s))
		return;
	profile_check_data(s->profile);
	size_t n = s->profile->remarks.at.n;
	profile_note_left_out(s->profile);
	profile_take_off_hooks(s->profile, true);
	say_remarks(s->profile, KIN_REMARK_NOTE, &n);
	if (!f->foreign_symbols && !profile_has_objects(s->profile))
		profile_check_program(s->profile);
	session_say_warnings(s);
}

bool session_load_data(struct gprof_session *s, const struct session_files *f)
{
	struct input_opts opts = f->opts;

	opts.rules = s->compat ? &gnu_input_rules : s->gnu ? &gnu_output_input_rules : NULL;
	if (s->gnu && !session_succeeded(s, f->name(f->arg)))
		return false;
	struct kin_error *err = profile_read(s->profile, f->paths, f->n, &opts);
	const struct profile *p = session_data(s);
	const struct err_facts *facts = err ? err_facts(err) : NULL;
	bool tail = facts && facts->code == ERR_CUT_TAIL;
	bool usable = p && (!err || tail || (!s->gnu && has_records(p)));
	if (usable && p->samples.n)
		profile_revise_stacks(s->profile);
	if (usable && !s->gnu)
		profile_read_counters(s->profile);
	bool named = s->gnu || !usable || session_succeeded(s, f->name(f->arg));
	if (p && p->n_sources && s->view && !s->is_silent)
		session_check_data(s, f, !err);
	session_succeeded(s, err);
	return usable && named;
}

struct kin_error *session_fits_sum(const struct gprof_session *s, const char *sum)
{
	if (kin_profile_fits_gmon(s->profile))
		return NULL;
	return err_new(KIN_ERROR_UNSUPPORTED,
		       "cannot write %s: gmon.out holds neither stacks nor libraries (kin merge -o "
		       "sum.kin adds up what does)",
		       sum);
}

struct kin_error *session_may_replace(const struct gprof_session *s, const char *sum)
{
	struct stat st;
	if (!s->status || stat(sum, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return NULL;
	return err_new(KIN_ERROR_FORMAT, "%s is left as it is: not all data could be read", sum);
}

/* ---- the analysis ---- */

struct kin_error *session_analyse(struct gprof_session *s, struct callgraph_opts opts,
				  bool consumes)
{
	struct kin_profile *p = s->profile;

	opts.rules = s->gnu ? &gnu_callgraph_rules : NULL;
	opts.selection = &s->selection;
	p->rules.graph = opts;
	p->rules.consumes = consumes;
	struct kin_error *err = profile_view(p, view_for(p), true, &s->view);
	if (err)
		return err;
	if (s->view->graph->refuses_scan)
		return gnu_words_are(
			err_new(KIN_ERROR_MISMATCH, "a function lies in several histograms"), true,
			"found a symbol that covers several histogram records");
	const char *problem = object_calls_problem(p->object);
	if (s->view->graph->no_static_calls && problem)
		return err_new(KIN_ERROR_UNSUPPORTED, "-c needs a disassembler: %s", problem);
	if (s->view->graph->no_static_calls)
		fprintf(stderr, "%s: -c not supported on architecture %s\n",
			s->compat ? s->whoami : "gprof", object_machine(p->object));
	return NULL;
}

/* ---- output ---- */

void session_new_page(struct gprof_session *s)
{
	if (s->has_output)
		fputs("\f\n", stdout);
	s->has_output = true;
}

struct kin_error *session_render(struct kin_table *t, const struct renderer *renderer,
				 const struct render_opts *look, FILE *out)
{
	struct kin_error *err = renderer->render(t, look, out);
	kin_table_free(t);
	return err;
}

struct kin_error *session_print(struct gprof_session *s, const struct report *report,
				const struct report_opts *opts, const struct renderer *renderer,
				const struct render_opts *look)
{
	struct report_input in = report_input_of(s->profile, s->view);
	struct kin_table *table;
	struct kin_error *err = report->run(&in, opts, &table);

	return err ? err : session_render(table, renderer, look, stdout);
}

int session_close_output(bool compat, int status)
{
	if ((fflush(stdout) == 0 && !ferror(stdout)) || compat)
		return status;
	session_say("writing the output: %s", strerror(errno));
	return 1;
}

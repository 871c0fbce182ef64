/* gprof_session.c - steps and messages that all dialects of gprof share. */
#include "gnu/gprof_session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/mismatch.h"
#include "base/err.h"
#include "base/escape.h"
#include "gnu/rules.h"
#include "gnu/words.h"

void session_done(struct gprof_session *s)
{
	callgraph_free(s->graph);
	profile_free(s->profile);
	selection_done(&s->selection);
	symbols_free(s->symbols);
	object_free(s->object);
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

/* Byte by byte what GNU says, raw names and all. */
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
	session_complain(s, err);
	s->status = 1;
	return false;
}

void session_warn(const char *text, void *unused)
{
	(void)unused;
	session_say("warning: %s", text);
}

void session_note(const char *text, void *unused)
{
	(void)unused;
	session_say("%s", text);
}

/* ---- the program ---- */

struct kin_error *session_open_program(struct gprof_session *s, const char *path)
{
	struct object_opts opts = { .no_debug_files = s->compat };
	struct kin_error *err = object_open(path, &opts, &s->object);

	if (!err)
		s->target = input_target_of(s->object);
	return err;
}

struct kin_error *session_load_symbols(struct gprof_session *s, struct symbols_opts opts)
{
	if (s->compat) {
		opts.table.rules = &gnu_symbol_rules;
		opts.rules = &gnu_place_rules;
	}
	struct kin_error *err = symbols_new(s->object, &opts, &s->symbols);

	if (!err)
		selection_init(&s->selection, s->symbols->n);
	return err ? err : object_trouble(s->object);
}

/* ---- the data ---- */

/* The BSD formats always have both a histogram and calls. */
static bool is_bsd(const struct source *source) { return strstr(source->kind, "BSD") != NULL; }

bool session_has_histogram(const struct gprof_session *s)
{
	for (size_t i = 0; i < s->profile->n_sources; i++)
		if (s->profile->sources[i].n_histograms || is_bsd(&s->profile->sources[i]))
			return true;
	return s->profile->n_histograms > 0;
}

bool session_has_arcs(const struct gprof_session *s)
{
	for (size_t i = 0; i < s->profile->n_sources; i++)
		if (s->profile->sources[i].n_arcs || is_bsd(&s->profile->sources[i]))
			return true;
	return s->profile->n_arcs > 0;
}

static bool is_empty(const struct gprof_session *s)
{
	return !s->profile ||
	       (!session_has_histogram(s) && !session_has_arcs(s) && !s->profile->n_block_records);
}

/* Of data with an error: was there anything before it? */
static bool has_records(const struct profile *p)
{
	return p && (p->n_histograms || p->n_arcs || p->n_block_records);
}

/* What is odd about the data. */
static void check_data(const struct gprof_session *s, const struct session_data *d, bool complete)
{
	if (!s->compat && complete && is_empty(s))
		session_warn("there is nothing in the data: no samples, no calls, no block counts",
			     NULL);
	if (d->check)
		d->check(d->arg);
	if (!s->compat && !d->foreign_symbols && !is_empty(s))
		mismatch_check(s->profile, s->object, s->symbols, session_warn, NULL);
}

bool session_load_data(struct gprof_session *s, const struct session_data *d)
{
	struct input_opts opts = d->opts;

	opts.target = s->target;
	opts.rules = s->compat ? &gnu_input_rules : NULL;
	struct kin_error *err = input_read(d->paths, d->n, &opts, &s->profile);
	bool usable = s->profile && (!err || (!s->compat && has_records(s->profile)));
	if (s->profile && s->profile->n_sources)
		check_data(s, d, !err);
	session_succeeded(s, err);
	return usable;
}

struct kin_error *session_may_replace(const struct gprof_session *s, const char *sum)
{
	struct stat st;
	if (!s->status || stat(sum, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return NULL;
	return err_new(KIN_ERROR_FORMAT, "%s is left as it is: not all data could be read", sum);
}

/* ---- the analysis ---- */

struct kin_error *session_analyse(struct gprof_session *s, struct callgraph_opts opts)
{
	opts.rules = s->compat ? &gnu_callgraph_rules : NULL;
	opts.selection = &s->selection;
	s->graph = callgraph_new(s->profile, s->symbols, &opts);
	if (s->graph->refuses_scan)
		return gnu_words_are(
			err_new(KIN_ERROR_MISMATCH, "a function lies in several histograms"), true,
			"found a symbol that covers several histogram records");
	const char *problem = object_calls_problem(s->object);
	if (s->graph->no_static_calls && problem)
		return err_new(KIN_ERROR_UNSUPPORTED, "-c needs a disassembler: %s", problem);
	if (s->graph->no_static_calls)
		fprintf(stderr, "%s: -c not supported on architecture %s\n",
			s->compat ? s->whoami : "gprof", object_machine(s->object));
	return NULL;
}

/* ---- output ---- */

void session_new_page(struct gprof_session *s)
{
	if (s->has_output)
		fputs("\f\n", stdout);
	s->has_output = true;
}

struct report_input session_input(const struct gprof_session *s)
{
	return (struct report_input){ .profile = s->profile,
				      .symbols = s->symbols,
				      .graph = s->graph };
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
	struct report_input in = session_input(s);
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

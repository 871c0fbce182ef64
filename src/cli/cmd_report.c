/* cmd_report.c - samples by any keys, with their callers and callees. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "cli/run.h"
#include "cli/sample_options.h"
#include "cli/wrap.h"

#include "kin/table.h"
#include "perf/perf_refusals.h"

static const char *const description[] = {
	"A row per library and function (or any other keys: --sort). Self is the share of "
	"samples taken in the function itself; it adds up to 100 %. Children is the share of "
	"samples with the function on their stack, so it includes callees. A sample counts once "
	"in Children, however deep the recursion.",
	"Without options it is one page: the functions with the most Self, then of the rest "
	"those with the most Children, as many as fit on the terminal, or 40. Threads of a "
	"program are summed; with several programs the command is a column. If not all functions "
	"fit, those that pass at least 99 % of their time on to one callee are folded into that "
	"callee's row; the column Folded says how many. A line above the table counts what is "
	"not shown, and --all-rows shows it. --format=json and csv always have all rows, one per "
	"command, library and function; of several events all are there, and the column "
	"event says of which a row is: JSON is an array of tables then. --event chooses one.",
	"That table is of own code where at least a tenth of the time has some on its stacks: "
	"what a library, an inlined template or the kernel does is charged to the own function "
	"that called it, and the column Paid for says what that was. Code is own if its source "
	"file is not in the directories of the system, a compiler, a package manager or a "
	"language's library; without debug information, if it is in the program's directory; "
	"functions of scripts are own. --own=no shows all functions; --own=DIRECTORY and "
	"--foreign=DIRECTORY say what is own, as code.own and code.foreign in ~/.kinconfig do.",
	"With names of functions, the trees of their callers and callees. --stdio is perf "
	"report's layout, with call chains below each row; without it --call-graph adds them.",
	"Defaults come from the file ~/.kinconfig or, if there is none, ~/.perfconfig: "
	"report.children, report.percent-limit, report.sort_order, hist.percentage, "
	"call-graph.print-type, order, sort-key, threshold and print-limit, code.own and "
	"code.foreign; or, if PERF_CONFIG in "
	"the environment names a file, from that. Nothing is read from the current directory.",
	"Without DATA a recording is read from standard input if that is a pipe; otherwise the "
	"last one in this directory is used.",
	NULL,
};

static const struct example examples[] = {
	{ "kin report", "where the time of the recording here went" },
	{ "kin report --stdio -g caller", "with call chains, as perf report prints them" },
	{ "kin report -s dso,sym -S malloc,free", "of samples in these functions only" },
	{ "kin report parse_line", "who calls parse_line, and what it calls" },
	{ "kin report --format=csv -g none", "weights and counts, for a spreadsheet" },
	{ 0 },
};

enum {
	PAGE_ROWS = 40,
	PAGE_WIDTH = 132,  /* width if the page does not go to a terminal */
	PAGE_AROUND = 10,  /* lines of a screen without rows: headings, notes, the next prompt */
	PAGE_HEADINGS = 6, /* those of them that are no notes */
	PAGE_NARROW = 60,  /* a screen with fewer columns needs ... */
	PAGE_AROUND_NARROW = 16, /* ... this many lines, because notes take two and more */
	PAGE_ROWS_MIN = 8,
	PAGE_OWN_LINES = 7, /* of the table of lines of own code */
};

static bool is_narrow(const struct output *out) { return out->width && out->width < PAGE_NARROW; }

static size_t lines_around(const struct output *out)
{
	return is_narrow(out) ? PAGE_AROUND_NARROW : PAGE_AROUND;
}

static size_t page_rows(const struct output *out)
{
	if (!out->lines)
		return PAGE_ROWS;
	size_t around = lines_around(out);
	return out->lines > around + PAGE_ROWS_MIN ? out->lines - around : PAGE_ROWS_MIN;
}

/* Sets the defaults of a page. */
static void as_page(struct kin_hists_opts *h, const struct settings *s, struct output *out)
{
	if (!s->call_graph)
		h->call_graph = "none";
	h->overview = report_options_overview(s);
	if (h->overview && !out->width && !s->output.has_width)
		out->width = PAGE_WIDTH;
	if (!h->has_percent_limit && !s->call_graph && !h->hierarchy && !h->all_rows) {
		h->has_percent_limit = true;
		h->percent_limit = 0.5;
		h->max_rows = h->overview ? page_rows(out) : PAGE_ROWS;
	}
}

/* Tables that form one document: in JSON an array, if there are several. */
struct document {
	const struct settings *s;
	const struct output *out;
	bool is_json, is_array;
	size_t n;     /* tables written so far */
	size_t above; /* lines above the first table */
	char *header; /* CSV: the header line written last; owned */
};

static struct kin_error *render(struct document *d, struct kin_table *t)
{
	const struct settings *s = d->s;
	const struct output *out = d->out;
	struct kin_render_opts o = {
		.size = sizeof(o),
		.width = out->width,
		.color = out->color,
		.separator = s->separator,
		.widths = s->widths,
		.quiet = s->quiet,
		.full_names = settings_full_names(s),
		.header = &d->header,
	};
	if (d->is_array)
		fputs(d->n++ ? ",\n" : "[\n", out->stream);
	return kin_render(t, s->format ? s->format : "text", &o, out->stream);
}

static uint64_t number_of(const struct kin_table *t, const char *key)
{
	const struct kin_cell *c = kin_table_property(t, key);
	return c ? c->count : 0;
}

static void print_stats(const struct kin_table *t, FILE *out)
{
	const struct kin_cell *event = kin_table_property(t, "event");
	fprintf(out, "%s stats:\n  SAMPLE events: %10llu\n   LOST samples: %10llu\n",
		event ? event->text : "", (unsigned long long)number_of(t, "samples"),
		(unsigned long long)number_of(t, "lost"));
}

/* Lines of the notes above the rows, of which breaks between words leave a tenth empty. */
static size_t note_lines(const struct kin_table *t, size_t width)
{
	size_t n = 0;
	for (size_t i = 0; i < kin_table_n_notes(t); i++)
		n += 1 + (width ? (strlen(kin_table_note_at(t, i)) + 2) * 10 / (width * 9) : 0);
	return n;
}

/* Reduces the rows so that the page and the hints below it fit the terminal. */
static bool make_room(const struct kin_profile *profile, const struct settings *s,
		      const struct output *out, const struct kin_table *t, size_t above,
		      size_t *rows)
{
	size_t taken = 0;
	if (out->lines) {
		size_t expected = lines_around(out) - PAGE_HEADINGS;
		size_t notes = above + note_lines(t, out->width) +
			       (kin_profile_is_own(profile) ? PAGE_OWN_LINES : 0);
		taken = run_hint_lines(s, profile) + (notes > expected ? notes - expected : 0);
	}
	size_t least = *rows < PAGE_ROWS_MIN ? *rows : PAGE_ROWS_MIN;
	size_t room = *rows > taken + least ? *rows - taken : least;
	bool is_less = room < *rows;
	*rows = room;
	return is_less;
}

/* One table per event, or group of events. */
static struct kin_error *print_events(struct kin_profile *profile, struct kin_hists_opts *h,
				      struct document *d)
{
	const struct settings *s = d->s;
	const struct output *out = d->out;
	struct kin_report_opts opts = { .size = sizeof(opts), .hists = h };
	struct kin_error *err = NULL;
	size_t n = 1;
	for (h->event = 0; !err && h->event < n; h->event++) {
		struct kin_table *t, *tall = NULL;
		opts.intervals = !h->event && !s->format && !s->stats;
		if ((err = kin_report(profile, "hists", &opts, &t)))
			break;
		/* Hints are known once functions have names. */
		if (!h->event && h->overview &&
		    make_room(profile, s, out, t, d->above, &h->max_rows)) {
			h->again = tall = t;
			err = kin_report(profile, "hists", &opts, &t);
			h->again = NULL;
			if (err) {
				kin_table_free(tall);
				break;
			}
		}
		n = (size_t)number_of(t, "n_events");
		d->is_array = d->is_json && (n > 1 || s->subjects.at.n);
		if (h->event && !s->format)
			putc('\n', out->stream);
		if (s->stats)
			print_stats(t, out->stream);
		else
			err = render(d, t);
		kin_table_free(t);
		kin_table_free(tall);
	}
	return err;
}

static const char *text_of(const struct kin_table *t, const struct kin_row *row, const char *key)
{
	const struct kin_cell *c = &row->cells[kin_table_find_column(t, key)];
	return c->type == KIN_CELL_TEXT ? c->text : NULL;
}

/* Returns the number of lines. */
static size_t print_finding(const struct kin_table *t, const struct kin_row *row,
			    const struct output *out)
{
	const char *function = text_of(t, row, "function");
	char *word = function ? message_word(function) : NULL;
	char *text = xprintf("%s  [kin %s%s%s]", text_of(t, row, "text"), text_of(t, row, "view"),
			     word ? " " : "", word ? word : "");
	char *safe = escape_copy(text);
	fputs("  ", out->stream);
	wrap(out->stream, safe, 2, 4, out->width ? out->width : SIZE_MAX);
	/* The width without the indent, of which breaks between words leave a tenth empty. */
	size_t room = out->width > 4 ? (size_t)(out->width - 4) * 9 / 10 : SIZE_MAX;
	size_t lines = 1 + strlen(safe) / (room ? room : 1);
	free(safe);
	free(text);
	free(word);
	return lines;
}

/* On a narrow screen a third for them and for hints: the rows are to be seen, too. */
static size_t lines_for_findings(const struct kin_profile *profile, const struct document *d)
{
	enum { ONE = 4 }; /* lines of a finding, with its heading */
	if (!is_narrow(d->out) || !d->out->lines)
		return SIZE_MAX;
	size_t third = d->out->lines / 3, hints = run_hint_lines(d->s, profile);
	return third > hints + ONE ? third - hints : 0;
}

/* What stands out, above the page: worst first, with the command that shows more. */
static struct kin_error *print_findings(struct kin_profile *profile, struct document *d)
{
	static const char *const columns[] = { "text", "view", "function", NULL };
	struct kin_report_opts opts = { .size = sizeof(opts), .columns = columns };
	struct kin_table *t;
	struct kin_row row;
	struct kin_error *err = kin_report(profile, "findings", &opts, &t);
	size_t n = 0;
	if (err)
		return err;
	kin_table_rewind(t);
	size_t room = lines_for_findings(profile, d);
	for (; n < KIN_FINDINGS_MOST && d->above < room && kin_table_next(t, &row); n++) {
		if (!n)
			fputs("Findings\n", d->out->stream);
		d->above += print_finding(t, &row, d->out);
	}
	if (n)
		putc('\n', d->out->stream);
	d->above += n ? 2 : 0;
	kin_table_free(t);
	return NULL;
}

/* The lines that most of the time belongs to, below the page. */
static struct kin_error *print_own_lines(struct kin_profile *profile, struct kin_hists_opts h,
					 struct document *d)
{
	struct kin_report_opts opts = { .size = sizeof(opts),
					.hists = &h,
					.source_dirs = string_list(&d->s->source_dirs) };
	struct kin_table *t;
	struct kin_row row;
	h.event = 0;
	struct kin_error *err = kin_report(profile, "own_lines", &opts, &t);
	if (err)
		return err;
	kin_table_rewind(t);
	if (kin_table_next(t, &row)) {
		putc('\n', d->out->stream);
		kin_table_rewind(t);
		err = render(d, t);
	}
	kin_table_free(t);
	return err;
}

/* Whether any event has rows. */
static struct kin_error *look_through(struct kin_profile *profile, struct kin_hists_opts h,
				      bool *found)
{
	struct kin_report_opts opts = { .size = sizeof(opts), .hists = &h };
	size_t n = 1;
	*found = false;
	for (h.event = 0; !*found && h.event < n; h.event++) {
		struct kin_table *t;
		struct kin_row row;
		struct kin_error *err = kin_report(profile, "hists", &opts, &t);
		if (err)
			return err;
		n = (size_t)number_of(t, "n_events");
		kin_table_rewind(t);
		*found = kin_table_next(t, &row);
		if (kin_table_error(t))
			err = err_os(ENOMEM, "%s", kin_table_name(t));
		kin_table_free(t);
		if (err)
			return err;
	}
	return NULL;
}

/* An error if there is no such function. A function without samples is no error. */
static struct kin_error *check_function(struct kin_profile *profile, struct kin_hists_opts h)
{
	bool found;
	h.call_graph = "none";
	struct kin_error *err = look_through(profile, h, &found);
	return err || found ? err : sample_options_check_function(profile, h.function);
}

/* Checks all functions before anything is printed. */
static struct kin_error *check_functions(struct kin_profile *profile, struct kin_hists_opts h,
					 const struct settings *s)
{
	struct kin_error *err = NULL;
	for (size_t i = 0; i < s->subjects.at.n && !err; i++) {
		h.function = s->subjects.at.at[i];
		err = check_function(profile, h);
	}
	return err;
}

/* An error if there are no rows because a filter on functions or sockets names something that does
 * not exist. A function that did not run exists. */
static struct kin_error *check_filters(struct kin_profile *profile, const struct kin_hists_opts *h)
{
	struct kin_hists_opts rows = *h;
	bool found;
	rows.call_graph = "none";
	if (h->rules || (!h->symbols && !h->symbol_filter && !h->socket))
		return NULL;
	struct kin_error *err = look_through(profile, rows, &found);
	if (err || found)
		return err;
	if (h->symbols && (err = sample_options_check_functions(profile, h->symbols)))
		return err;
	if (h->symbol_filter)
		return err_new(
			KIN_ERROR_USAGE,
			"--symbol-filter=%.200s: no row has a function with that in its name",
			h->symbol_filter);
	return h->socket ? err_new(KIN_ERROR_USAGE,
				   "--socket-filter=%.200s: no sample was taken on that socket",
				   h->socket)
			 : NULL;
}

/* Prints callers, then callees, of each named function. */
static struct kin_error *print_functions(struct kin_profile *profile, struct kin_hists_opts *h,
					 struct document *d)
{
	const struct settings *s = d->s;
	struct kin_error *err = check_functions(profile, *h, s);
	for (size_t i = 0; i < s->subjects.at.n && !err; i++) {
		h->function = s->subjects.at.at[i];
		for (int down = 0; down < 2 && !err; down++) {
			char *how = xprintf("%s,%s", s->call_graph ? s->call_graph : "graph,0.5",
					    down ? "caller" : "callee");
			h->call_graph = how;
			h->below_only = down;
			if (!s->format)
				fprintf(d->out->stream, "%s%s\n\n", i || down ? "\n" : "",
					down ? "What it calls" : "Who calls it");
			free(TAKE(d->header)); /* print the header again between callers and
						  callees */
			err = print_events(profile, h, d);
			free(how);
		}
	}
	return err;
}

static struct kin_error *print_tables(struct kin_profile *profile, const struct settings *s,
				      struct kin_hists_opts *h, const struct output *out)
{
	struct document d = { s, out, .is_json = s->format && !strcmp(s->format, "json") };
	struct kin_error *err = check_filters(profile, h);
	if (!err && h->overview && !s->format && !s->stats && !s->subjects.at.n)
		err = print_findings(profile, &d);
	if (!err)
		err = s->subjects.at.n ? print_functions(profile, h, &d)
				       : print_events(profile, h, &d);
	if (!err && h->overview && kin_profile_is_own(profile))
		err = print_own_lines(profile, *h, &d);
	if (d.n)
		fputs("]\n", out->stream);
	free(d.header);
	return err;
}

/* The format "perf" implies perf's rules. */
static bool follows_perf(const struct settings *s)
{
	return s->format && !strcmp(s->format, "perf");
}

static struct kin_error *print(struct kin_profile *profile, const struct settings *s, int status)
{
	struct kin_hists_opts h = s->hists;
	struct output out;
	h.call_graph = s->call_graph;
	h.headed = s->about & KIN_ABOUT_HEADER;
	bool by_rules = follows_perf(s);
	h.rules = by_rules ? "perf" : NULL;
	h.call_graph = h.no_callers ? "none" : h.call_graph;
	h.weights = !by_rules && !run_is_text(s);
	if (s->subjects.at.n && !h.sort)
		h.sort = "sym";
	struct kin_error *err = output_open(&s->output, status, &out);
	if (err)
		return err;
	if (!s->format && !s->subjects.at.n)
		as_page(&h, s, &out);
	char *keys = s->by ? settings_rows_by(s->by, &h) : NULL;
	if (s->about & KIN_ABOUT_HEADER && !s->quiet)
		err = run_print_about(s, s->about, out.stream);
	if (err) {
		free(keys);
		return output_finish(&out, err);
	}
	if (s->format && !strcmp(s->format, "html"))
		err = kin_html(profile,
			       &(struct kin_html_opts){ .size = sizeof(struct kin_html_opts) },
			       out.stream);
	else
		err = print_tables(profile, s, &h, &out);
	free(keys);
	err = output_finish(&out, err);
	if (s->stats || !run_has_notes(s->format))
		run_tell_notes(s, profile);
	return err;
}

/* Skips data that print() will not need for these options. */
static void narrow(const struct settings *s, struct kin_open_opts *o)
{
	struct kin_hists_opts h = s->hists;
	bool page = !s->format && !s->call_graph;
	o->stacks_as_recorded = follows_perf(s);
	if (!s->format && !s->subjects.at.n && !s->stats) {
		report_options_lead(s, o);
		o->findings = report_options_overview(s) && !s->tui;
	}
	o->findings |= s->format && !strcmp(s->format, "html");
	if (s->tui || s->by || s->subjects.at.n || (s->format && !strcmp(s->format, "html")))
		return;
	h.call_graph = page || h.no_callers ? "none" : s->call_graph;
	o->no_callers = !kin_hists_need_callers(&h);
	o->no_times = !kin_hists_need_times(&h);
	o->by_function = !kin_hists_need_addresses(&h);
	o->no_inlines = o->no_inlines || !h.inlines;
	o->seen_only = !s->hists.symbols;
}

/* Prints the report, or browses it on the terminal. */
static struct kin_error *present(struct kin_profile *profile, const struct settings *s, int status)
{
	struct kin_error *err = follows_perf(s) ? NULL : kin_hists_check(profile, &s->hists);
	if (err)
		return err;
	return s->tui ? browse_profile(profile, s, status) : print(profile, s, status);
}

static bool is_perf_data(const struct settings *s)
{
	struct kin_error *err = run_print_about(s, 0, stdout);
	kin_error_free(err);
	return !err;
}

static int cmd_report(const struct settings *s)
{
	if (run_refuses_format(s))
		return EXIT_USAGE;
	if (s->only_about)
		return run_about(s, s->about);
	if (s->stats && is_perf_data(s))
		return run_about(s, KIN_ABOUT_STATS);
	return run_profile(s, present);
}

const struct command report_command = {
	.name = "report",
	.group = COMMANDS_START,
	.summary = "samples by function, library, thread ...: Self and Children, with call chains",
	.operands = "[DATA]... [FUNCTION]...",
	.description = description,
	.options = report_options,
	.takes_pipe = true,
	.refused = report_refusals,
	.examples = examples,
	.names_subjects = true,
	.begin = report_options_begin,
	.set = report_options_set,
	.narrow = narrow,
	.run = cmd_report,
};

/* report_options.c - options of perf report, and kin's own. */
#include "cli/report_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/arg.h"
#include "cli/sample_options.h"

enum {
	OPT_CALL_GRAPH = OPT_OWN,
	OPT_CALLER,
	OPT_PERCENT_LIMIT,
	OPT_PERCENTAGE,
	OPT_GROUP,
	OPT_NO_GROUP,
	OPT_STDIO,
	OPT_VERBOSE,
	OPT_BRANCHES,
	OPT_NO_BRANCHES,
	OPT_QUANTUM,
	OPT_STDIO_COLOR,
};

const struct opt_group report_row_options = {
	"Rows and columns",
	(const struct opt[]){
		{ OPT_FIELD, 's', "sort", "KEYS",
		  "a row for each combination of comm, comm_nodigit, pid, tid, run, cpu, socket, "
		  "time, cgroup, cgroup_id, parallelism, parent, dso, sym, symoff, symbol_size, "
		  "srcline, srcfile, foreign (with --own); comm,dso,sym if not given; +KEYS adds "
		  "to "
		  "these. Of perf.data, "
		  "where it was recorded: weight, local_weight, ins_lat, local_ins_lat, "
		  "p_stage_cyc, local_p_stage_cyc, transaction, code_page_size; of trace points: "
		  "trace (all of their fields in one); see also -b and --mem-mode",
		  OPT_SETS(struct settings, hists.sort) },
		{ OPT_FIELD, 'F', "columns", "COLUMNS",
		  "these columns, by which rows are also ordered: overhead, overhead_children, "
		  "latency, latency_children, sample, period, overhead_sys, overhead_us, "
		  "overhead_guest_sys, overhead_guest_us, and keys",
		  OPT_SETS(struct settings, hists.fields) },
		{ OPT_FIELD, 0, "fields", "COLUMNS", "the same as --columns",
		  OPT_SETS(struct settings, hists.fields) },
		OPTION_BY("rows apart for each thread, process, run (of kin record -r), event or "
			  "object"),
		{ OPT_FIELD, 0, "children", NULL,
		  "a column with inclusive time, that of callees added (the default)",
		  OPT_CLEARS(struct settings, hists.no_children) },
		{ OPT_FIELD, 0, "no-children", NULL, "show only Self",
		  OPT_SETS(struct settings, hists.no_children) },
		{ OPT_FIELD, 0, "latency", NULL,
		  "columns with shares of wall-clock time: a sample counts less the more threads "
		  "ran; needs a perf.data with context switches",
		  OPT_SETS(struct settings, hists.latency) },
		{ OPT_FIELD, 'n', "show-nr-samples", NULL, "a column with the number of samples",
		  OPT_SETS(struct settings, hists.show_samples) },
		{ OPT_FIELD, 0, "show-total-period", NULL, "a column with the sum of weights",
		  OPT_SETS(struct settings, hists.show_period) },
		{ OPT_FIELD, 0, "show-cpu-utilization", NULL,
		  "columns that divide Self into kernel and user mode",
		  OPT_SETS(struct settings, hists.levels) },
		{ OPT_BRANCHES, 'b', "branch-stack", NULL,
		  "a sample for each branch that was recorded (kin record -b); keys: dso_from, "
		  "dso_to, symbol_from, symbol_to, addr_from, addr_to, srcline_from, srcline_to, "
		  "mispredict, in_tx, abort, cycles. In perf's layout the default for such data" },
		{ OPT_NO_BRANCHES, 0, "no-branch-stack", NULL,
		  "samples as recorded, not one for each branch" },
		{ OPT_FIELD, 0, "mem-mode", NULL,
		  "weight of a sample: the cost of its memory access (kin record -d, perf mem "
		  "record); keys: mem, "
		  "tlb, snoop, locked, blocked, symbol_daddr, dso_daddr, symbol_iaddr, dcacheline, "
		  "phys_daddr, data_page_size",
		  OPT_SETS(struct settings, hists.accesses) },
		{ OPT_QUANTUM, 0, "time-quantum", "TIME",
		  "round the key time down to a multiple of this: 1s, 100ms (the default), 10us" },
		SAMPLES_NANOSECONDS_ROW(hists),
		{ OPT_PERCENT_LIMIT, 0, "min-share", "PERCENT",
		  "hide rows, and branches of chains, below this share" },
		{ OPT_FIELD, 0, "all-rows", NULL,
		  "of the page: all rows, and functions that only pass time on each by itself",
		  OPT_SETS(struct settings, hists.all_rows) },
		{ OPT_PERCENT_LIMIT, 0, "percent-limit", "PERCENT", "the same as --min-share" },
		{ OPT_PERCENTAGE, 0, "percentage", "OF",
		  "base of shares when samples are filtered: all samples (absolute) or those left "
		  "(relative)",
		  "absolute relative" },
		{ 0 },
	},
};

static const struct opt_group chains_group = {
	"Call chains",
	(const struct opt[]){
		{ OPT_CALL_GRAPH, 'g', "call-graph", "HOW",
		  "a list of: graph, fractal, flat, folded or none; a threshold in percent, then a "
		  "limit of entries; caller or callee; function, address or srcline; percent, "
		  "period or count",
		  .lenient = ARG_OR_OPTION },
		{ OPT_CALLER, 'G', "inverted", NULL, "the same as -g caller" },
		SAMPLES_INLINE_ROWS(hists),
		{ OPT_FIELD, 0, "self-physical", NULL,
		  "charge Self of inlined code to the enclosing function, as perf does",
		  OPT_SETS(struct settings, hists.self_physical) },
		{ SAMPLES_MAX_STACK, 0, "max-stack", "N",
		  "use at most N frames of a stack; without it, chains end at [deeper] after 127 "
		  "functions if all of them are more than 10 million lines" },
		{ OPT_FIELD, 'p', "parent", "REGEX", "functions that the key parent looks for",
		  OPT_SETS(struct settings, hists.parent) },
		{ OPT_FIELD, 'x', "exclude-other", NULL, "hide rows without a parent",
		  OPT_SETS(struct settings, hists.exclude_other) },
		{ OPT_FIELD, 0, "ignore-callees", "REGEX",
		  "charge calls made by these functions to them",
		  OPT_SETS(struct settings, hists.ignore_callees) },
		{ 0 },
	},
};

/* The letter of perf's --dsos is an argument, because commands that read all kinds of profiles use
 * it for --data. */
#define SAMPLE_ROWS(letter_of_dsos)                                                                \
	OPTIONS_OF_PARTS,                                                                          \
		{ OPT_FIELD,                                                                       \
		  'c',                                                                             \
		  "comms",                                                                         \
		  "NAMES",                                                                         \
		  "only samples of these commands; shares stay those of all samples, as with the " \
		  "next options",                                                                  \
		  OPT_SETS(struct settings, hists.comms) },                                        \
		{ OPT_FIELD,                                                                       \
		  letter_of_dsos,                                                                  \
		  "dsos",                                                                          \
		  "NAMES",                                                                         \
		  "only samples taken in these programs or libraries",                             \
		  OPT_SETS(struct settings, hists.dsos) },                                         \
		SAMPLES_SYMBOLS_ROW(hists),                                                        \
		{ OPT_FIELD,                                                                       \
		  0,                                                                               \
		  "symbol-filter",                                                                 \
		  "TEXT",                                                                          \
		  "only rows of functions whose name contains this text",                          \
		  OPT_SETS(struct settings, hists.symbol_filter) },                                \
		SAMPLES_PLACE_ROWS(hists),                                                         \
		{ OPT_FIELD,                                                                       \
		  0,                                                                               \
		  "socket-filter",                                                                 \
		  "NUMBER",                                                                        \
		  "only samples on CPUs of this socket",                                           \
		  OPT_SETS(struct settings, hists.socket) },                                       \
		{ OPT_FIELD,                                                                       \
		  'U',                                                                             \
		  "hide-unresolved",                                                               \
		  NULL,                                                                            \
		  "hide samples and callers without a symbol name",                                \
		  OPT_SETS(struct settings, hists.hide_unresolved) },                              \
	{                                                                                          \
		OPT_FIELD, 0, "parallelism", "NUMBERS",                                            \
			"only samples taken while this many threads ran: 1-3,8",                   \
			OPT_SETS(struct settings, hists.parallelism)                               \
	}

static const struct opt_group filter_group = {
	"Samples",
	(const struct opt[]){ SAMPLE_ROWS('d'), { 0 } },
};

const struct opt_group report_sample_options = {
	"Samples",
	(const struct opt[]){ SAMPLE_ROWS(0), { 0 } },
};

static const struct opt_group output_group = {
	"Output",
	(const struct opt[]){
		{ OPT_STDIO, 0, "stdio", NULL, "perf report's layout" },
		{ OPT_FIELD, 0, "tui", NULL, "interactively on the terminal, as kin browse",
		  OPT_SETS(struct settings, tui) },
		{ OPT_FIELD, 0, "hierarchy", NULL,
		  "nest rows, a level for each key; shows only Self",
		  OPT_SETS(struct settings, hists.hierarchy) },
		{ OPT_GROUP, 0, "group", NULL, "show all events side by side" },
		{ OPT_NO_GROUP, 0, "no-group", NULL,
		  "show events one by one, even if recorded as a group" },
		{ OPT_FORMAT, 'f', "format", "FORMAT",
		  "text (the default), json, csv or perf; html: one file with "
		  "everything, as kin html; -f without: as --force",
		  "text json csv perf html", .lenient = ARG_OR_FILE },
		{ OPT_OUTPUT, 'o', "output", "FILE", "write to FILE instead of standard output",
		  NULL, COMPLETE_FILE },
		{ OPT_FIELD, 't', "field-separator", "TEXT",
		  "with --stdio: separator between columns", OPT_SETS(struct settings, separator) },
		{ OPT_FIELD, 'w', "column-widths", "LIST",
		  "with --stdio: widths of columns; 0: as needed",
		  OPT_SETS(struct settings, widths) },
		{ OPT_FIELD, 'q', "quiet", NULL, "with --stdio: rows only",
		  OPT_SETS(struct settings, quiet) },
		{ OPT_COLOR, 0, "color", "WHEN",
		  "auto (the default: on a terminal, unless NO_COLOR is set), always or never",
		  "auto always never" },
		{ OPT_STDIO_COLOR, 0, "stdio-color", "WHEN", "the same as --color",
		  "auto always never" },
		{ OPT_WIDTH, 0, "width", "COLUMNS", "truncate names so that lines fit; 0: never" },
		{ OPT_NO_PAGER, 0, "no-pager", NULL, "do not use a pager" },
		SAMPLES_HEADER_ROWS,
		{ OPT_FIELD, 0, "stats", NULL,
		  "print only the number of samples of each event, and of records of each kind in "
		  "a perf.data",
		  OPT_SETS(struct settings, stats) },
		{ OPT_VERBOSE, 'v', "verbose", NULL, "print whole paths in warnings" },
		{ 0 },
	},
};

const struct opt_group *const report_options[] = {
	&recording_options, &report_row_options, &chains_group,    &filter_group, &names_options,
	&own_options,       &output_group,       &general_options, NULL,
};

static bool set_percent(const char *option, const char *arg, double *ret, char error[512])
{
	return arg_double(arg, "%", 0, 100, ret) ||
	       arg_bad(option, arg, "a percentage from 0 to 100", error);
}

/* -G and -g accumulate. */
static void add_call_graph(struct settings *s, const char *more)
{
	char *list = s->call_graph ? xprintf("%s,%s", s->call_graph, more) : xprintf("%s", more);
	free(s->call_graph);
	s->call_graph = list;
}

bool report_options_set(struct settings *s, int id, const char *arg, char error[512])
{
	struct kin_hists_opts *h = &s->hists;
	switch (id) {
	case OPT_CALL_GRAPH:
		add_call_graph(s, arg ? arg : "graph");
		break;
	case OPT_CALLER:
		add_call_graph(s, "caller");
		break;
	case OPT_PERCENT_LIMIT:
		h->has_percent_limit = true;
		return set_percent("--min-share", arg, &h->percent_limit, error);
	case OPT_PERCENTAGE:
		h->relative = arg[0] == 'r';
		break;
	case OPT_NO_GROUP:
		h->group = false;
		h->no_group = true;
		break;
	case OPT_GROUP:
		h->group = true;
		h->no_group = false;
		break;
	case OPT_STDIO:
		s->format = "perf";
		break;
	case OPT_BRANCHES:
	case OPT_NO_BRANCHES:
		h->branches = id == OPT_BRANCHES;
		s->no_branches = !h->branches;
		break;
	case OPT_QUANTUM:
		return arg_duration(arg, &h->time_quantum_ns) ||
		       arg_bad("--time-quantum", arg, "a time as 1s, 100ms, 10us or 5ns", error);
	case OPT_STDIO_COLOR:
		set_color(&s->output, arg);
		break;
	case SAMPLES_MAX_STACK:
		return sample_options_set_max(arg, &h->max_stack, &h->no_callers, error);
	case OPT_VERBOSE:
		break;
	default:
		sample_options_set(s, id);
	}
	return true;
}

bool report_options_begin(struct settings *s, char error[512])
{
	(void)error;
	settings_read_config(s);
	s->hists = s->config.hists;
	s->hists.size = sizeof(s->hists);
	s->hists.inlines = true;
	s->call_graph = s->config.call_graph ? xprintf("%s", s->config.call_graph) : NULL;
	return true;
}

bool report_options_overview(const struct settings *s)
{
	const struct kin_hists_opts *h = &s->hists;
	return !h->no_children && !h->latency && !h->group && !s->call_graph;
}

void report_options_lead(const struct settings *s, struct kin_open_opts *o)
{
	const struct kin_hists_opts *h = &s->hists;
	bool is_first_screen = report_options_overview(s) && !s->by && !h->sort && !h->fields &&
			       !h->hierarchy && !h->parent && !h->branches && !h->accesses;
	if (s->own == OWN_DEFAULT && is_first_screen)
		o->own = KIN_OWN_IF_LEADING;
}

const char *report_options_of_samples(const struct settings *s)
{
	const struct kin_hists_opts *h = &s->hists, *usual = &s->config.hists;
	const struct {
		const char *option;
		bool is_given;
	} all[] = {
		{ "--sort", h->sort != usual->sort },
		{ "--columns", h->fields != usual->fields },
		{ "--by", s->by },
		{ "--no-children", h->no_children && !usual->no_children },
		{ "--latency", h->latency },
		{ "--show-nr-samples", h->show_samples },
		{ "--show-total-period", h->show_period },
		{ "--show-cpu-utilization", h->levels },
		{ "--branch-stack", h->branches },
		{ "--mem-mode", h->accesses },
		{ "--time-quantum", h->time_quantum_ns },
		{ "--min-share", h->has_percent_limit && !usual->has_percent_limit },
		{ "--percentage", h->relative && !usual->relative },
		{ "--comms", h->comms },
		{ "--dsos", h->dsos },
		{ "--symbols", h->symbols },
		{ "--symbol-filter", h->symbol_filter },
		{ "--pid", h->pids },
		{ "--tid", h->tids },
		{ "--cpu", h->cpus },
		{ "--time", h->times },
		{ "--socket-filter", h->socket },
		{ "--hide-unresolved", h->hide_unresolved },
		{ "--parallelism", h->parallelism },
	};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].is_given)
			return all[i].option;
	return NULL;
}

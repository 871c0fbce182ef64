/* report_options.c - options of perf report, and kin's own. */
#include "cli/report_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/arg.h"
#include "cli/sample_options.h"

enum {
	OPT_CHILDREN = OPT_OWN,
	OPT_NO_CHILDREN,
	OPT_LATENCY,
	OPT_KEYS,
	OPT_FIELDS,
	OPT_CALL_GRAPH,
	OPT_CALLER,
	OPT_PHYSICAL,
	OPT_PARENT,
	OPT_EXCLUDE_OTHER,
	OPT_IGNORE_CALLEES,
	OPT_PERCENT_LIMIT,
	OPT_ALL_ROWS,
	OPT_PERCENTAGE,
	OPT_SAMPLES,
	OPT_PERIOD,
	OPT_SYMBOL_FILTER,
	OPT_PARALLELISM,
	OPT_HIERARCHY,
	OPT_GROUP,
	OPT_NO_GROUP,
	OPT_STDIO,
	OPT_TUI,
	OPT_SEPARATOR,
	OPT_WIDTHS,
	OPT_QUIET,
	OPT_STATS,
	OPT_VERBOSE,
	OPT_BRANCHES,
	OPT_NO_BRANCHES,
	OPT_ACCESSES,
	OPT_LEVELS,
	OPT_UNRESOLVED,
	OPT_QUANTUM,
	OPT_SOCKET,
	OPT_STDIO_COLOR,
};

const struct opt_group report_row_options = {
	"Rows and columns",
	(const struct opt[]){
		{ OPT_KEYS, 's', "sort", "KEYS",
		  "a row for each combination of comm, comm_nodigit, pid, tid, run, cpu, socket, "
		  "time, cgroup, cgroup_id, parallelism, parent, dso, sym, symoff, symbol_size, "
		  "srcline, srcfile, foreign (with --own); comm,dso,sym if not given; +KEYS adds "
		  "to "
		  "these. Of perf.data, "
		  "where it was recorded: weight, local_weight, ins_lat, local_ins_lat, "
		  "p_stage_cyc, local_p_stage_cyc, transaction, code_page_size; of trace points: "
		  "trace (all of their fields in one); see also -b and --mem-mode" },
		{ OPT_FIELDS, 'F', "columns", "COLUMNS",
		  "these columns, by which rows are also ordered: overhead, overhead_children, "
		  "latency, latency_children, sample, period, overhead_sys, overhead_us, "
		  "overhead_guest_sys, overhead_guest_us, and keys" },
		{ OPT_FIELDS, 0, "fields", "COLUMNS", "the same as --columns" },
		OPTION_BY("rows apart for each thread, process, run (of kin record -r), event or "
			  "object"),
		{ OPT_CHILDREN, 0, "children", NULL,
		  "a column with inclusive time, that of callees added (the default)" },
		{ OPT_NO_CHILDREN, 0, "no-children", NULL, "show only Self" },
		{ OPT_LATENCY, 0, "latency", NULL,
		  "columns with shares of wall-clock time: a sample counts less the more threads "
		  "ran; needs a perf.data with context switches" },
		{ OPT_SAMPLES, 'n', "show-nr-samples", NULL,
		  "a column with the number of samples" },
		{ OPT_PERIOD, 0, "show-total-period", NULL, "a column with the sum of weights" },
		{ OPT_LEVELS, 0, "show-cpu-utilization", NULL,
		  "columns that divide Self into kernel and user mode" },
		{ OPT_BRANCHES, 'b', "branch-stack", NULL,
		  "a sample for each branch that was recorded (kin record -b); keys: dso_from, "
		  "dso_to, symbol_from, symbol_to, addr_from, addr_to, srcline_from, srcline_to, "
		  "mispredict, in_tx, abort, cycles. In perf's layout the default for such data" },
		{ OPT_NO_BRANCHES, 0, "no-branch-stack", NULL,
		  "samples as recorded, not one for each branch" },
		{ OPT_ACCESSES, 0, "mem-mode", NULL,
		  "weight of a sample: the cost of its memory access (kin record -d, perf mem "
		  "record); keys: mem, "
		  "tlb, snoop, locked, blocked, symbol_daddr, dso_daddr, symbol_iaddr, dcacheline, "
		  "phys_daddr, data_page_size" },
		{ OPT_QUANTUM, 0, "time-quantum", "TIME",
		  "round the key time down to a multiple of this: 1s, 100ms (the default), 10us" },
		SAMPLES_NANOSECONDS_ROW,
		{ OPT_PERCENT_LIMIT, 0, "min-share", "PERCENT",
		  "hide rows, and branches of chains, below this share" },
		{ OPT_ALL_ROWS, 0, "all-rows", NULL,
		  "of the page: all rows, and functions that only pass time on each by itself" },
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
		SAMPLES_INLINE_ROWS,
		{ OPT_PHYSICAL, 0, "self-physical", NULL,
		  "charge Self of inlined code to the enclosing function, as perf does" },
		{ SAMPLES_MAX_STACK, 0, "max-stack", "N",
		  "use at most N frames of a stack; without it, chains end at [deeper] after 127 "
		  "functions if all of them are more than 10 million lines" },
		{ OPT_PARENT, 'p', "parent", "REGEX", "functions that the key parent looks for" },
		{ OPT_EXCLUDE_OTHER, 'x', "exclude-other", NULL, "hide rows without a parent" },
		{ OPT_IGNORE_CALLEES, 0, "ignore-callees", "REGEX",
		  "charge calls made by these functions to them" },
		{ 0 },
	},
};

/* The letter of perf's --dsos is an argument, because commands that read all kinds of profiles use
 * it for --data. */
#define SAMPLE_ROWS(letter_of_dsos)                                                                \
	OPTIONS_OF_PARTS,                                                                          \
		{ SAMPLES_COMMS, 'c', "comms", "NAMES",                                            \
		  "only samples of these commands; shares stay those of all samples, as with the " \
		  "next options" },                                                                \
		{ SAMPLES_OBJECTS, letter_of_dsos, "dsos", "NAMES",                                \
		  "only samples taken in these programs or libraries" },                           \
		SAMPLES_SYMBOLS_ROW,                                                               \
		{ OPT_SYMBOL_FILTER, 0, "symbol-filter", "TEXT",                                   \
		  "only rows of functions whose name contains this text" },                        \
		SAMPLES_PLACE_ROWS,                                                                \
		{ OPT_SOCKET, 0, "socket-filter", "NUMBER",                                        \
		  "only samples on CPUs of this socket" },                                         \
		{ OPT_UNRESOLVED, 'U', "hide-unresolved", NULL,                                    \
		  "hide samples and callers without a symbol name" },                              \
	{                                                                                          \
		OPT_PARALLELISM, 0, "parallelism", "NUMBERS",                                      \
			"only samples taken while this many threads ran: 1-3,8"                    \
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
		{ OPT_TUI, 0, "tui", NULL, "interactively on the terminal, as kin browse" },
		{ OPT_HIERARCHY, 0, "hierarchy", NULL,
		  "nest rows, a level for each key; shows only Self" },
		{ OPT_GROUP, 0, "group", NULL, "show all events side by side" },
		{ OPT_NO_GROUP, 0, "no-group", NULL,
		  "show events one by one, even if recorded as a group" },
		{ OPT_FORMAT, 'f', "format", "FORMAT",
		  "text (the default), json, csv or perf; html: one file with "
		  "everything, as kin html; -f without: as --force",
		  "text json csv perf html", .lenient = ARG_OR_FILE },
		{ OPT_OUTPUT, 'o', "output", "FILE", "write to FILE instead of standard output",
		  NULL, COMPLETE_FILE },
		{ OPT_SEPARATOR, 't', "field-separator", "TEXT",
		  "with --stdio: separator between columns" },
		{ OPT_WIDTHS, 'w', "column-widths", "LIST",
		  "with --stdio: widths of columns; 0: as needed" },
		{ OPT_QUIET, 'q', "quiet", NULL, "with --stdio: rows only" },
		{ OPT_COLOR, 0, "color", "WHEN",
		  "auto (the default: on a terminal, unless NO_COLOR is set), always or never",
		  "auto always never" },
		{ OPT_STDIO_COLOR, 0, "stdio-color", "WHEN", "the same as --color",
		  "auto always never" },
		{ OPT_WIDTH, 0, "width", "COLUMNS", "truncate names so that lines fit; 0: never" },
		{ OPT_NO_PAGER, 0, "no-pager", NULL, "do not use a pager" },
		SAMPLES_HEADER_ROWS,
		{ OPT_STATS, 0, "stats", NULL,
		  "print only the number of samples of each event, and of records of each kind in "
		  "a perf.data" },
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
	const struct sample_fields fields = {
		.comms = &h->comms,
		.symbols = &h->symbols,
		.objects = &h->dsos,
		.pids = &h->pids,
		.tids = &h->tids,
		.cpus = &h->cpus,
		.times = &h->times,
		.max_stack = &h->max_stack,
		.no_stacks = &h->no_callers,
		.inlines = &h->inlines,
		.nanoseconds = &h->nanoseconds,
	};
	switch (id) {
	case OPT_CHILDREN:
		h->no_children = false;
		break;
	case OPT_NO_CHILDREN:
		h->no_children = true;
		break;
	case OPT_LATENCY:
		h->latency = true;
		break;
	case OPT_KEYS:
		h->sort = arg;
		break;
	case OPT_FIELDS:
		h->fields = arg;
		break;
	case OPT_CALL_GRAPH:
		add_call_graph(s, arg ? arg : "graph");
		break;
	case OPT_CALLER:
		add_call_graph(s, "caller");
		break;
	case OPT_PHYSICAL:
		h->self_physical = true;
		break;
	case OPT_PARENT:
		h->parent = arg;
		break;
	case OPT_EXCLUDE_OTHER:
		h->exclude_other = true;
		break;
	case OPT_IGNORE_CALLEES:
		h->ignore_callees = arg;
		break;
	case OPT_PERCENT_LIMIT:
		h->has_percent_limit = true;
		return set_percent("--min-share", arg, &h->percent_limit, error);
	case OPT_ALL_ROWS:
		h->all_rows = true;
		break;
	case OPT_PERCENTAGE:
		h->relative = arg[0] == 'r';
		break;
	case OPT_SAMPLES:
		h->show_samples = true;
		break;
	case OPT_PERIOD:
		h->show_period = true;
		break;
	case OPT_SYMBOL_FILTER:
		h->symbol_filter = arg;
		break;
	case OPT_PARALLELISM:
		h->parallelism = arg;
		break;
	case OPT_HIERARCHY:
		h->hierarchy = true;
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
	case OPT_TUI:
		s->tui = true;
		break;
	case OPT_SEPARATOR:
		s->separator = arg;
		break;
	case OPT_WIDTHS:
		s->widths = arg;
		break;
	case OPT_QUIET:
		s->quiet = true;
		break;
	case OPT_STATS:
		s->stats = true;
		break;
	case OPT_BRANCHES:
	case OPT_NO_BRANCHES:
		h->branches = id == OPT_BRANCHES;
		s->no_branches = !h->branches;
		break;
	case OPT_ACCESSES:
		h->accesses = true;
		break;
	case OPT_LEVELS:
		h->levels = true;
		break;
	case OPT_UNRESOLVED:
		h->hide_unresolved = true;
		break;
	case OPT_QUANTUM:
		return arg_duration(arg, &h->time_quantum_ns) ||
		       arg_bad("--time-quantum", arg, "a time as 1s, 100ms, 10us or 5ns", error);
	case OPT_SOCKET:
		h->socket = arg;
		break;
	case OPT_STDIO_COLOR:
		set_color(&s->output, arg);
		break;
	case OPT_VERBOSE:
		break;
	default:
		return sample_options_set(s, &fields, id, arg, error);
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

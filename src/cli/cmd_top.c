/* cmd_top.c - shows which functions use CPU time now. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "cli/arg.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/prefix.h"
#include "cli/sampling.h"
#include "kin/table.h"
#include "perf/perf_refusals.h"
#include "tui/browse.h"
#include "tui/term.h"

static const char *const description[] = {
	"Samples the machine, processes (-p), threads (-t), or COMMAND and what it starts, and "
	"shows where the time goes: a row per function, with Self, its share of the samples, and "
	"Children, the share including callees. Weights fade by an eighth with each refresh, so "
	"the rows show the last moments.",
	"On a terminal it begins as kin report does: own code first, with what it calls of others' "
	"in its Self; the functions with the most Self, then of the rest those with the most "
	"Children. o shows all functions, and own code again. The first line says that it is "
	"measuring until it has a second, then how many cores were busy, and what part of that "
	"time, by the kernel's accounting, was seen.",
	"On a terminal Enter shows the callers and callees of a function, a its source, Esc goes "
	"back, / shows only rows that contain a text, s sorts by Children or by Self, p pauses, ? "
	"lists all keys, q quits. --stdio prints each refresh, with a row per command, library and "
	"function, by Children, as does kin top whenever standard "
	"output is "
	"not a terminal; --json prints one JSON document per refresh and event.",
	"Functions that were inlined are functions, marked (inlined), where debug information "
	"tells of them; --no-inline attributes their time to what they were inlined into, and "
	"reads no debug information.",
	"--wall adds the time that threads were blocked, or waited for a CPU, as separate events.",
	"The file ~/.kinconfig or, if there is none, ~/.perfconfig may say top.children = false.",
	"Programs need not be compiled for it: stacks are walked by call-frame information, as "
	"in kin record. While the table is on the terminal, COMMAND cannot use the terminal: "
	"what it prints there is lost unless redirected. COMMAND keeps running when kin top ends.",
	NULL,
};

static const struct example examples[] = {
	{ "kin top", "the whole machine; takes root, or a kernel that permits it" },
	{ "kin top -p 1234 -d 0.5", "a process, twice a second" },
	{ "kin top --stdio -n 3 make -j2 >top.txt", "three refreshes of a build" },
	{ "kin top --wall -p 1234", "and where it waits" },
	{ "kin top --json -n 1 -d 10 -a", "ten seconds of everything, for a script" },
	{ 0 },
};

struct top_line {
	struct kin_live_opts live;
	struct kin_hists_opts hists;
	bool full_names;
	struct settings own; /* what the configuration file and options say of own code */
	struct sampling sampling;
	double delay_s, keep;
	uint64_t count; /* 0: no end */
	const char *by; /* NULL: not given */
	char *keys;     /* hists.sort, made from `by`; owned */
	bool stdio, json;
};

enum {
	TOP_STACKS = OPT_OWN,
	TOP_DELAY,
	TOP_COUNT,
	TOP_ZERO,
	TOP_KEEP,
	TOP_LIMIT,
	TOP_ROWS,
	TOP_JSON,
	TOP_PERCENTAGE,
};

static const struct opt_group what_options = {
	"What is sampled",
	(const struct opt[]){
		{ SAMPLING_PID, 'p', "pid", "PID",
		  "running processes, with all their threads and what they start; PID,PID,... or "
		  "repeated" },
		SAMPLING_THREAD_ROWS,
		SAMPLING_SCOPE_ROWS,
		{ SAMPLING_ALL, 'a', "all-cpus", NULL,
		  "everything on the machine (the default); with COMMAND, while that runs" },
		{ SAMPLING_EVENT, 'e', "event", "EVENT",
		  "what is counted, as for kin record: cycles, cpu-clock, cache-misses:u ..." },
		{ SAMPLING_FREQUENCY, 'F', "frequency", "HZ",
		  "samples per second of CPU time, 999 if not given, max: as many as the kernel "
		  "permits" },
		{ SAMPLING_PERIOD, 'c', "period", "N",
		  "a fixed period instead: one sample every N events" },
		{ TOP_STACKS, 'g', "call-graph", "HOW",
		  "auto (the default): call-frame information, and frame pointers where it ends; "
		  "dwarf: that information alone; fp: frame pointers",
		  "auto dwarf fp", .lenient = ARG_OR_OPTION, .more = true },
		{ SAMPLING_BUFFERS, 'm', "mmap-pages", "SIZE",
		  "size of the buffer of each CPU: pages, or 512K, 8M; default: as large as the "
		  "kernel permits, up to 8M" },
		{ OPT_FIELD, 0, "wall", NULL,
		  "the time that threads do not run, too: blocked, or waiting for a CPU; on the "
		  "terminal e goes to it",
		  OPT_SETS(struct top_line, live.wall) },
		{ 0 },
	},
};

static const struct opt_group how_options = {
	"Refreshes",
	(const struct opt[]){
		{ TOP_DELAY, 'd', "delay", "SECONDS", "time between refreshes; default: 2" },
		{ TOP_COUNT, 'n', "refreshes", "N", "end after this many refreshes" },
		{ TOP_COUNT, 0, "count", "N", "the same as --refreshes" },
		{ TOP_ZERO, 'z', "zero", NULL, "show only samples since the last refresh" },
		{ TOP_KEEP, 0, "keep", NULL, "keep all samples: nothing fades" },
		{ 0 },
	},
};

static const struct opt_group rows_options = {
	"Rows",
	(const struct opt[]){
		{ OPT_FIELD, 's', "sort", "KEYS",
		  "a row for each combination of comm, pid, tid, dso, sym; comm,dso,sym if not "
		  "given",
		  OPT_SETS(struct top_line, hists.sort) },
		{ OPT_FIELD, 0, "columns", "COLUMNS",
		  "these columns, by which rows are also ordered: overhead, overhead_children, "
		  "sample, period, and keys",
		  OPT_SETS(struct top_line, hists.fields) },
		{ OPT_FIELD, 0, "fields", "COLUMNS", "the same as --columns",
		  OPT_SETS(struct top_line, hists.fields) },
		{ OPT_FIELD, 0, "by", "WHAT",
		  "rows apart for each thread, process, event or object",
		  "thread process event object", OPT_SETS(struct top_line, by) },
		{ OPT_FIELD, 0, "show-nr-samples", NULL, "a column with the number of samples",
		  OPT_SETS(struct top_line, hists.show_samples) },
		{ OPT_FIELD, 0, "show-total-period", NULL, "a column with the sum of weights",
		  OPT_SETS(struct top_line, hists.show_period) },
		{ OPT_FIELD, 0, "children", NULL,
		  "a column with inclusive time, that of callees added (the default)",
		  OPT_CLEARS(struct top_line, hists.no_children) },
		{ OPT_FIELD, 0, "no-children", NULL, "show only Self",
		  OPT_SETS(struct top_line, hists.no_children) },
		{ OPT_FIELD, 'K', "hide_kernel_symbols", NULL, "no samples taken in the kernel",
		  OPT_SETS(struct top_line, hists.no_kernel) },
		{ OPT_FIELD, 'U', "hide_user_symbols", NULL, "no samples taken in programs",
		  OPT_SETS(struct top_line, hists.no_user) },
		{ TOP_LIMIT, 0, "min-share", "PERCENT", "hide rows below this share" },
		{ TOP_LIMIT, 0, "percent-limit", "PERCENT", "the same as --min-share" },
		{ TOP_ROWS, 'E', "entries", "N", "show at most N rows; default with --stdio: 20" },
		{ TOP_PERCENTAGE, 0, "percentage", "OF",
		  "base of shares when samples are filtered: all samples (absolute) or those left "
		  "(relative)",
		  "absolute relative" },
		{ OPT_FIELD, 0, "ignore-callees", "REGEX",
		  "charge calls made by these functions to them",
		  OPT_SETS(struct top_line, hists.ignore_callees) },
		{ OPT_FIELD, 0, "comm", "NAMES", "only samples of threads with these names",
		  OPT_SETS(struct top_line, hists.comms) },
		{ OPT_FIELD, 0, "comms", "NAMES", "the same as --comm",
		  OPT_SETS(struct top_line, hists.comms) },
		{ OPT_FIELD, 0, "object", "FILES",
		  "only samples taken in these programs or libraries",
		  OPT_SETS(struct top_line, hists.dsos) },
		{ OPT_FIELD, 0, "dsos", "FILES", "the same as --object",
		  OPT_SETS(struct top_line, hists.dsos) },
		{ OPT_FIELD, 0, "symbols", "NAMES", "only samples taken in these functions",
		  OPT_SETS(struct top_line, hists.symbols) },
		{ 0 },
	},
};

static const struct opt_group output_group = {
	"Output",
	(const struct opt[]){
		{ OPT_FIELD, 0, "stdio", NULL, "print each refresh, one after the other",
		  OPT_SETS(struct top_line, stdio) },
		{ TOP_JSON, 0, "json", NULL, "print each refresh as JSON" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &what_options,  &how_options,     &rows_options,
						   &names_options, &inline_options,  &own_options,
						   &output_group,  &general_options, NULL };

/* ---- the command line ---- */

/* perf's words for the layout of chains do not apply to a table without chains. */
static bool take_stacks(const char *arg, struct top_line *l, char error[512])
{
	if (arg && strcmp(arg, "auto") != 0 && strcmp(arg, "dwarf") != 0 &&
	    strcmp(arg, "fp") != 0) {
		snprintf(error, 512,
			 "--call-graph: unknown value '%.80s'; valid: auto dwarf fp; kin report "
			 "--call-graph shows chains, Enter goes to callers and callees here",
			 arg);
		return false;
	}
	l->live.stacks = arg;
	return true;
}

static bool set(void *line, const struct opt *row, const char *arg, char error[512])
{
	struct top_line *l = line;
	uint64_t n = 0;
	if (opt_store(row, "struct top_line", l, arg))
		return true;
	switch (row->id) {
	case TOP_STACKS:
		return take_stacks(arg, l, error);
	case TOP_PERCENTAGE:
		l->hists.relative = !strcmp(arg, "relative");
		break;
	case TOP_DELAY:
		return arg_double(arg, "s", 0.05, 86400, &l->delay_s) ||
		       arg_bad("-d", arg, "a number of seconds from 0.05 to 86400", error);
	case TOP_COUNT:
		return arg_u64(arg, 1, UINT64_MAX, &l->count) ||
		       arg_bad("-n", arg, "a number of refreshes, from 1 on", error);
	case TOP_ZERO:
		l->keep = 0;
		break;
	case TOP_KEEP:
		l->keep = 1;
		break;
	case TOP_LIMIT:
		l->hists.has_percent_limit = true;
		return arg_double(arg, "%", 0, 100, &l->hists.percent_limit) ||
		       arg_bad("--min-share", arg, "a percentage from 0 to 100", error);
	case TOP_ROWS:
		if (!arg_u64(arg, 1, SIZE_MAX, &n))
			return arg_bad("-E", arg, "a number of rows, from 1 on", error);
		l->hists.max_rows = (size_t)n;
		break;
	case TOP_JSON:
		l->stdio = l->json = true;
		break;
	case OPT_DEMANGLE:
		l->live.demangle = arg;
		l->full_names |= arg && strcmp(arg, "tidy") != 0;
		break;
	case OPT_NO_DEMANGLE:
		l->live.demangle = "none";
		l->full_names = true;
		break;
	case OPT_FULL_NAMES:
		l->full_names = true;
		break;
	case OPT_OWN_CODE:
	case OPT_FOREIGN_CODE:
		return settings_set(&l->own, row, arg, error);
	case OPT_EXPAND_INLINED:
	case OPT_FOLD_INLINED:
		l->live.no_inlines = row->id == OPT_FOLD_INLINED;
		break;
	default:
		return sampling_set(&l->sampling, row->id, arg, error);
	}
	return true;
}

static void take_sampling(struct kin_live_opts *o, const struct sampling *s)
{
	o->events = s->events;
	o->frequency = s->frequency;
	o->period = s->period;
	o->pids = s->pids.at.at;
	o->n_pids = s->pids.at.n;
	o->tids = s->tids.at.at;
	o->n_tids = s->tids.at.n;
	o->everything = sampling_is_of_machine(s) || (!o->argv && !sampling_attaches(s));
	o->cpus = s->cpus.at.at;
	o->n_cpus = s->cpus.at.n;
	o->no_inherit = s->no_inherit;
	o->cgroup = s->cgroup;
	o->buffer_bytes = (size_t)s->buffer_bytes;
}

/* ---- refreshes ---- */

struct shown {
	struct kin_live *live;
	const struct top_line *line;
	uint64_t start_ns;
	double seconds;   /* from there to the last snapshot */
	enum kin_own own; /* once own code leads it stays in front */
	bool over;
	char note[256];
};

/* The next profile: of own code if that is chosen, or leads. */
static struct kin_profile *snapshot(struct shown *s)
{
	s->seconds = (double)(clock_now_ns() - s->start_ns) / 1e9;
	struct kin_profile *all = kin_live_profile(s->live, s->line->keep);
	struct kin_profile *own = s->own == KIN_OWN_NO ? NULL : kin_live_own(s->live, s->own);
	if (!own)
		return all;
	s->own = KIN_OWN_ALWAYS;
	kin_profile_free(all);
	return own;
}

/* ---- refreshes, printed ---- */

enum { STEP_MS = 50, USUAL_ROWS = 20 };

/* Waits until the time or the recording is over. */
static void wait_for(struct kin_live *live, double seconds)
{
	uint64_t start_ns = clock_now_ns();
	double passed = 0;
	while (passed < seconds && !kin_live_is_over(live)) {
		double left_ms = (seconds - passed) * 1000;
		poll(NULL, 0, left_ms < STEP_MS ? (int)left_ms + 1 : STEP_MS);
		passed = (double)(clock_now_ns() - start_ns) / 1e9;
	}
}

/* Prints the table of one event; *n: number of events. */
static struct kin_error *print_event(struct kin_profile *profile, const struct top_line *l,
				     size_t event, size_t *n)
{
	struct kin_hists_opts h = l->hists;
	struct kin_report_opts opts = { .size = sizeof(opts), .hists = &h };
	struct kin_table *t;
	h.call_graph = "none";
	h.weights = l->json;
	h.event = event;
	if (!h.max_rows && !l->json)
		h.max_rows = USUAL_ROWS;
	struct kin_error *err = kin_report(profile, "hists", &opts, &t);
	if (err)
		return err;
	const struct kin_cell *events = kin_table_property(t, "n_events");
	*n = events ? (size_t)events->count : 1;
	err = kin_render(t, l->json ? "json" : "text",
			 &(struct kin_render_opts){ .size = sizeof(struct kin_render_opts),
						    .full_names = l->full_names },
			 stdout);
	kin_table_free(t);
	if (!err && !l->json)
		putchar('\n');
	if (!err && fflush(stdout))
		err = err_os(errno, "standard output");
	return err;
}

static struct kin_error *print(struct kin_profile *profile, const struct top_line *l)
{
	struct kin_error *err = NULL;
	size_t n = 1;
	for (size_t event = 0; !err && event < n; event++)
		err = print_event(profile, l, event, &n);
	return err;
}

static void say_messages(struct kin_live *live)
{
	const char *text;
	while ((text = kin_live_message(live)))
		message("top", "%s", text);
}

static struct kin_error *print_all(struct kin_live *live, const struct top_line *l)
{
	struct shown s = { .live = live,
			   .line = l,
			   .own = l->own.own == OWN_YES ? KIN_OWN_ALWAYS : KIN_OWN_NO };
	struct kin_error *err = NULL;
	bool over = false;
	for (uint64_t i = 0; !err && !over && (!l->count || i < l->count); i++) {
		wait_for(live, l->delay_s);
		over = kin_live_is_over(live);
		struct kin_profile *p = snapshot(&s);
		say_messages(live);
		double busy = kin_live_cores(live, NULL);
		if (busy > 0 && !l->json)
			printf("%.2f of %ld cores busy\n", busy, sysconf(_SC_NPROCESSORS_ONLN));
		err = print(p, l);
		kin_profile_free(p);
	}
	return err;
}

/* ---- on the terminal ---- */

static struct kin_profile *next_profile(void *arg, const char **note)
{
	struct shown *s = arg;
	const char *text = kin_live_message(s->live);
	if (text) {
		snprintf(s->note, sizeof(s->note), "%s", text);
		*note = s->note;
	}
	if (s->over)
		return NULL;
	s->over = kin_live_is_over(s->live); /* the last samples are still shown */
	return snapshot(s);
}

static struct browse_measured measured(void *arg, const char *event)
{
	const struct shown *s = arg;
	return (struct browse_measured){ .cores = kin_live_cores(s->live, event),
					 .seen = kin_live_seen(s->live),
					 .seconds = s->seconds };
}

static struct kin_profile *choose_own(void *arg, bool own)
{
	struct shown *s = arg;
	enum kin_own how = own ? KIN_OWN_ALWAYS : KIN_OWN_NO;
	struct kin_profile *p = kin_live_own(s->live, how);
	if (p)
		s->own = how;
	return p;
}

static struct kin_profile *code(void *arg)
{
	const struct shown *s = arg;
	return kin_live_code(s->live);
}

/* Whether the first screen is that of kin report. */
static bool leads(const struct top_line *l)
{
	return !l->hists.sort && !l->hists.fields && !l->hists.no_children;
}

static enum kin_own own_of(const struct top_line *l)
{
	return l->own.own == OWN_YES               ? KIN_OWN_ALWAYS
	       : l->own.own == OWN_NO || !leads(l) ? KIN_OWN_NO
						   : KIN_OWN_IF_LEADING;
}

static struct kin_error *show(struct kin_live *live, const struct top_line *l)
{
	struct shown s = { .live = live, .line = l, .start_ns = clock_now_ns(), .own = own_of(l) };
	struct kin_hists_opts hists = l->hists;
	hists.overview = leads(l);
	struct browse_opts o = { .title = "kin top",
				 .hists = &hists,
				 .next = next_profile,
				 .keep = l->keep,
				 .measured = measured,
				 .choose_own = choose_own,
				 .code = code,
				 .full_names = l->full_names,
				 .arg = &s,
				 .delay_ms = (unsigned)(l->delay_s * 1000),
				 .refreshes = l->count };
	/* Show the first screen soon: an empty one for seconds looks broken. */
	wait_for(live, l->delay_s < 0.3 ? l->delay_s : 0.3);
	struct kin_profile *first = snapshot(&s);
	struct kin_error *err = browse(first, &o);
	kin_profile_free(first);
	return err;
}

/* While a program that we started runs: standard streams that are a terminal point to /dev/null. */
struct put_away {
	int fd[3]; /* the real descriptors; -1: not a terminal */
};

static void put_terminal_away(struct put_away *p, bool needed)
{
	int null = needed ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
	for (int fd = 0; fd < 3; fd++) {
		p->fd[fd] = -1;
		if (null < 0 || !isatty(fd))
			continue;
		fflush(fd == 1 ? stdout : stderr);
		p->fd[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		dup2(null, fd);
	}
	if (null >= 0)
		close(null);
}

static void bring_terminal_back(struct put_away *p)
{
	for (int fd = 0; fd < 3; fd++) {
		if (p->fd[fd] < 0)
			continue;
		dup2(p->fd[fd], fd);
		close(p->fd[fd]);
		p->fd[fd] = -1;
	}
}

/* ---- running ---- */

static int not_begun(const struct top_line *l, struct kin_error *err)
{
	int errnum = kin_error_errno(err);
	enum kin_error_kind kind = kin_error_kind(err);
	bool not_executed =
		l->live.argv && (errnum == ENOENT || errnum == ENOEXEC || errnum == EACCES);
	char *remedy = not_executed ? child_remedy(errnum, l->live.argv[0]) : NULL;
	message("top", "%s%s", kin_error_message(err), remedy ? remedy : "");
	free(remedy);
	kin_error_free(err);
	if (!l->live.argv)
		return kind == KIN_ERROR_USAGE ? EXIT_USAGE : EXIT_ERROR;
	return not_executed ? child_not_run(errnum) : CHILD_FAILED;
}

static int run_line(struct top_line *l)
{
	bool printed = l->stdio || !isatty(STDOUT_FILENO) || term_is_dumb();
	struct put_away away;
	struct kin_live *live = NULL;
	l->live.own = !printed || l->own.own == OWN_YES;
	put_terminal_away(&away, !printed && l->live.argv);
	struct kin_error *err = kin_live_start(&l->live, &live);
	if (err) {
		bring_terminal_back(&away);
		return not_begun(l, err);
	}
	err = printed ? print_all(live, l) : show(live, l);
	bring_terminal_back(&away);
	say_messages(live);
	kin_live_stop(live);
	return err ? message_error("top", err) : EXIT_OK;
}

/* Reads the settings of kin top from the configuration file. */
static void read_config(struct top_line *l)
{
	l->own.command = &top_command;
	settings_read_config(&l->own);
	l->hists.no_children = l->own.config.top_no_children;
}

static void take_keys(struct top_line *l)
{
	if (l->by)
		l->keys = settings_rows_by(l->by, &l->hists);
}

static int run_words(const struct command *c, int argc, char **argv)
{
	struct top_line l = { .delay_s = 2, .keep = 7.0 / 8 };
	char **program;
	read_config(&l);
	l.live.size = sizeof(l.live);
	l.hists.size = sizeof(l.hists);
	int status = prefix_parse(c, argc, argv, set, &l, &program);
	if (status == PREFIX_GO_ON) {
		const char *wrong = sampling_conflict(&l.sampling);
		l.live.argv = program;
		l.hists.inlines = !l.live.no_inlines;
		take_sampling(&l.live, &l.sampling);
		take_keys(&l);
		settings_add_own_dirs(&l.own);
		l.live.own_dirs = string_list(&l.own.own_dirs);
		l.live.foreign_dirs = string_list(&l.own.foreign_dirs);
		status = wrong ? prefix_wrong(c, wrong) : run_line(&l);
	}
	sampling_done(&l.sampling);
	settings_done(&l.own);
	free(l.keys);
	return status;
}

const struct command top_command = {
	.name = "top",
	.group = COMMANDS_PERF,
	.summary = "live view of what runs now, by function: Children and Self",
	.operands = "[--] [COMMAND [ARGUMENT]...]",
	.description = description,
	.options = options,
	.refused = top_refusals,
	.examples = examples,
	.exit_status =
		"0; 1 if what was seen could not be shown, or nothing can be recorded; 125 if "
		"recording could not begin, 126 if COMMAND could not be executed, 127 if it was "
		"not found; 2 if the command line makes no sense.",
	.run_words = run_words,
};

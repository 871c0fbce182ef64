/* cmd_script.c - the samples themselves, for people and for programs. */
#include "cli/arg.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/run.h"

static const char *const description[] = {
	"Every sample with its stack, in the layout of perf script: command, thread, processor, "
	"time, what the sample stands for, the event; then a line per frame, the innermost first. "
	"What the data does not say is left out; a time of 0 is one that is not known. Addresses "
	"are those in the program or library, as objdump shows them.",
	"--folded adds up equal stacks and prints each in one line, the outermost function first, "
	"with what its samples stand for: what flame graph tools read. Only samples of one kind "
	"are added up: those of the first event and of others in the same unit, or of the one that "
	"--event names. Code without a name is its library's. Parameters are left out of names.",
	"The data may also be folded stacks, or what perf script printed.",
	NULL,
};

static const struct example examples[] = {
	{ "kin script", "the samples of the recording here" },
	{ "kin script --folded app.kin | flamegraph.pl > app.svg", "a flame graph" },
	{ "kin script -F comm,tid,time,sym -c make", "these fields, of this command's samples" },
	{ "kin script --format=json -F +srcline perf.data",
	  "for a program to read, with source lines" },
	{ 0 },
};

enum {
	OPT_FIELDS = OPT_OWN,
	OPT_NS,
	OPT_INLINE,
	OPT_NO_INLINE,
	OPT_FOLDED,
	OPT_COUNTS,
	OPT_NO_COMM,
	OPT_SHOW_PID,
	OPT_SHOW_TID,
	OPT_ANNOTATE,
	OPT_FULL_NAMES,
	SCRIPT_EVENT,
	SCRIPT_COMMS,
	SCRIPT_PID,
	SCRIPT_TID,
	SCRIPT_CPU,
	SCRIPT_TIME,
	SCRIPT_SYMBOLS,
	SCRIPT_LEAVES,
	SCRIPT_MAX_STACK,
	SCRIPT_RELATIVE,
	SCRIPT_DELTA,
};

static const struct opt_group fields_group = {
	"Fields",
	(const struct opt[]){
		{ OPT_FIELDS, 'F', "fields", "LIST",
		  "show these of comm, pid, tid, cpu, time, count, period, event, ip, sym, symoff, "
		  "dso, srcline; +FIELD adds to the usual ones, -FIELD takes away",
		  NULL, COMPLETE_NOTHING },
		{ OPT_NS, 0, "ns", NULL, "times with nine digits, not six", NULL,
		  COMPLETE_NOTHING },
		{ SCRIPT_RELATIVE, 0, "reltime", NULL, "times since the first sample", NULL,
		  COMPLETE_NOTHING },
		{ SCRIPT_DELTA, 0, "deltatime", NULL, "times since the sample before", NULL,
		  COMPLETE_NOTHING },
		{ SCRIPT_LEAVES, 'G', "hide-call-graph", NULL,
		  "only where samples were taken, not from where it was called", NULL,
		  COMPLETE_NOTHING },
		{ SCRIPT_MAX_STACK, 0, "max-stack", "N", "no more frames of a stack", NULL,
		  COMPLETE_NOTHING },
		{ OPT_INLINE, 0, "inline", NULL,
		  "functions inlined are frames of their own (the default)", NULL,
		  COMPLETE_NOTHING },
		{ OPT_NO_INLINE, 0, "no-inline", NULL, "they are part of where they are", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group folded_group = {
	"Folded stacks",
	(const struct opt[]){
		{ OPT_FOLDED, 0, "folded", NULL, "one line per distinct stack: --format=folded",
		  NULL, COMPLETE_NOTHING },
		{ OPT_COUNTS, 'n', "count", NULL, "numbers of samples, not what they stand for",
		  NULL, COMPLETE_NOTHING },
		{ OPT_NO_COMM, 0, "no-comm", NULL, "lines do not begin with the command", NULL,
		  COMPLETE_NOTHING },
		{ OPT_SHOW_PID, 0, "show-pid", NULL, "the process behind the command: make-123",
		  NULL, COMPLETE_NOTHING },
		{ OPT_SHOW_TID, 0, "show-tid", NULL, "process and thread behind it: make-123/124",
		  NULL, COMPLETE_NOTHING },
		{ OPT_ANNOTATE, 0, "annotate-names", NULL,
		  "mark names: _[k] of the kernel, _[i] inlined, _[j] made at run time", NULL,
		  COMPLETE_NOTHING },
		{ OPT_FULL_NAMES, 0, "full-names", NULL, "names with their parameters", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group filter_group = {
	"Samples",
	(const struct opt[]){
		{ SCRIPT_EVENT, 0, "event", "NAME", "only samples of this event", NULL,
		  COMPLETE_NOTHING },
		{ SCRIPT_COMMS, 'c', "comms", "NAMES", "only samples of these commands", NULL,
		  COMPLETE_NOTHING },
		{ SCRIPT_SYMBOLS, 'S', "symbols", "NAMES", "only samples taken in these functions",
		  NULL, COMPLETE_NOTHING },
		{ SCRIPT_PID, 0, "pid", "NUMBERS", "only samples of these processes", NULL,
		  COMPLETE_NOTHING },
		{ SCRIPT_TID, 0, "tid", "NUMBERS", "only samples of these threads", NULL,
		  COMPLETE_NOTHING },
		{ SCRIPT_CPU, 'C', "cpu", "NUMBERS", "only samples on these processors: 0-3,8",
		  NULL, COMPLETE_NOTHING },
		{ SCRIPT_TIME, 0, "time", "SPAN",
		  "only samples between START,STOP in seconds, or of 10%-20%, or 10%/2", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group output_group = {
	"Output",
	(const struct opt[]){
		{ OPT_FORMAT, 'f', "format", "FORMAT", "text (the default), json or folded",
		  "text json folded", COMPLETE_NOTHING },
		{ OPT_OUTPUT, 'o', "output", "FILE", "write to FILE instead of standard output",
		  NULL, COMPLETE_FILE },
		{ OPT_NO_PAGER, 0, "no-pager", NULL,
		  "never start a pager, however long the output is", NULL, COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&recording_options, &fields_group, &folded_group,    &filter_group,
	&names_options,     &output_group, &general_options, NULL,
};

/* What else perf script 6.1 knows that people type. */
static const struct opt_refusal refused[] = {
	{ 'D', "dump-raw-trace", "perf script -D prints the records of a perf.data" },
	{ 'I', "show-info", "kin report --header-only -I prints that" },
	{ 0, "header", "kin report --header-only prints it" },
	{ 0, "header-only", "kin report --header-only prints it" },
	{ 'a', "all-cpus", "all samples are printed; -C NUMBERS shows those of some processors" },
	{ 'l', "list", "there are no scripts: --format=json is for programs of one's own" },
	{ 's', "script", "there are no scripts: --format=json is for programs of one's own" },
	{ 'g', "gen-script", "there are no scripts: --format=json is for programs of one's own" },
	{ 0, "dlfilter",
	  "there are no filters to load: --format=json is for programs of one's own" },
	{ 0, "dsos", "kin report -d has samples by library" },
	{ 0, "insn-trace", "traces by the hardware are not decoded: perf script prints them" },
	{ 0, "call-trace", "traces by the hardware are not decoded: perf script prints them" },
	{ 0, "call-ret-trace", "traces by the hardware are not decoded: perf script prints them" },
	{ 0, "show-task-events", "kin report --tasks has the tasks; perf script the records" },
	{ 0, "show-mmap-events", "kin report --mmaps has the mappings; perf script the records" },
	{ 0, "show-switch-events", "kin record --wall makes samples of switches" },
	{ 0, "show-lost-events", "kin info says how many were lost" },
	{ 0, "per-event-dump", "--event NAME -o FILE writes the samples of one event" },
	{ 0 },
};
static const struct opt_refusal *const refusals[] = { refused, recording_refusals, NULL };

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	struct kin_script_opts *o = &s->script;
	uint64_t n = 0;
	switch (id) {
	case OPT_FIELDS:
		o->fields = arg;
		break;
	case OPT_NS:
		o->nanoseconds = true;
		break;
	case OPT_INLINE:
	case OPT_NO_INLINE:
		o->inlines = id == OPT_INLINE;
		break;
	case OPT_FOLDED:
		s->format = "folded";
		break;
	case OPT_COUNTS:
		o->counts = true;
		break;
	case OPT_NO_COMM:
		o->no_comm = true;
		break;
	case OPT_SHOW_PID:
		o->show_pid = true;
		break;
	case OPT_SHOW_TID:
		o->show_tid = true;
		break;
	case OPT_ANNOTATE:
		o->annotate = true;
		break;
	case OPT_FULL_NAMES:
		o->full_names = true;
		break;
	case SCRIPT_SYMBOLS:
		o->symbols = arg;
		break;
	case SCRIPT_LEAVES:
		o->leaves = true;
		break;
	case SCRIPT_MAX_STACK:
		if (!arg_u64(arg, 0, 1000000, &n))
			return arg_bad("--max-stack", arg, "a number from 0 to 1000000", error);
		o->max_stack = (unsigned)n;
		break;
	case SCRIPT_RELATIVE:
		o->relative = true;
		break;
	case SCRIPT_DELTA:
		o->delta = true;
		break;
	case SCRIPT_EVENT:
		o->event = arg;
		break;
	case SCRIPT_COMMS:
		o->comms = arg;
		break;
	case SCRIPT_PID:
		o->pids = arg;
		break;
	case SCRIPT_TID:
		o->tids = arg;
		break;
	case SCRIPT_CPU:
		o->cpus = arg;
		break;
	case SCRIPT_TIME:
		o->times = arg;
		break;
	}
	return true;
}

static bool begin(struct settings *s, char error[512])
{
	(void)error;
	s->script = (struct kin_script_opts){ .size = sizeof(s->script), .inlines = true };
	return true;
}

static struct kin_error *write_to(struct kin_profile *profile, const struct settings *s, int status)
{
	struct output out;
	struct kin_error *err = output_open(&s->output, status, &out);
	if (err)
		return err;
	err = kin_script(profile, s->format ? s->format : "text", &s->script, out.stream);
	return output_finish(&out, err);
}

static int run(const struct settings *s) { return run_profile(s, write_to); }

const struct command script_command = {
	.name = "script",
	.group = COMMANDS_DATA,
	.summary = "the samples, one by one, or as folded stacks for flame graphs",
	.operands = "[DATA]...",
	.description = description,
	.options = options,
	.refused = refusals,
	.examples = examples,
	.begin = begin,
	.set = set,
	.run = run,
};

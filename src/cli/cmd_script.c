/* cmd_script.c - prints the samples themselves, for people and programs. */
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sample_options.h"
#include "perf/perf_refusals.h"

static const char *const description[] = {
	"Every sample with its stack, in the layout of perf script: command, thread, CPU, time, "
	"weight, event; then a line per frame, innermost first. Fields missing from the data are "
	"left out; a time of 0 means unknown. Addresses are those in the object file, as objdump "
	"shows them.",
	"--folded sums equal stacks and prints each on one line, outermost function first, with "
	"its total weight: the input of flame graph tools. It sums the first event and others in "
	"the same unit, or the one that --event names. Code without a name appears as its "
	"library. Names are without return type and parameters.",
	"The data may also be folded stacks, or the output of perf script. Without DATA it is "
	"read from standard input if that is a pipe.",
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

enum { OPT_FIELDS = OPT_OWN, OPT_FOLDED };

static const struct opt_group fields_group = {
	"Fields",
	(const struct opt[]){
		{ OPT_FIELDS, 'F', "columns", "LIST",
		  "show these of comm, pid, tid, cpu, time, tod (time of day), count, period, "
		  "event, "
		  "trace (fields of trace points), ip, sym, symoff, dso, srcline, srccode (the "
		  "source line, below the sample); of accesses to memory "
		  " addr, data_src, weight, ins_lat, phys_addr, data_page_size, "
		  "code_page_size; registers: iregs, uregs; branches: brstack, brstacksym, "
		  "brstackoff, brstackinsn (the instructions between them), brstackinsnlen; the "
		  "instruction: insn, insnlen; misc (the CPU's mode). +FIELD adds "
		  "to "
		  "the usual ones, -FIELD takes away; hw:, sw:, trace:, raw: or break: before the "
		  "list: for events of that type" },
		{ OPT_FIELDS, 0, "fields", "LIST", "the same as --columns" },
		{ OPT_FIELD, 0, "source-dir", "DIRECTORY",
		  "search this directory, too, for sources that are not at the path in the "
		  "program; repeatable",
		  NULL, COMPLETE_DIRECTORY, OPT_SETS(struct settings, source_dirs) },
		SAMPLES_NANOSECONDS_ROW(script),
		{ OPT_FIELD, 0, "reltime", NULL, "print times since the first sample",
		  OPT_SETS(struct settings, script.relative) },
		{ OPT_FIELD, 0, "deltatime", NULL, "print times since the previous sample",
		  OPT_SETS(struct settings, script.delta) },
		{ OPT_FIELD, 'G', "hide-call-graph", NULL, "print only the innermost frame",
		  OPT_SETS(struct settings, script.leaves) },
		{ SAMPLES_MAX_STACK, 0, "max-stack", "N", "print at most N frames of a stack" },
		{ OPT_FIELD, 0, "stop-bt", "NAMES",
		  "print frames up to the first of these functions",
		  OPT_SETS(struct settings, script.stop_at) },
		{ OPT_FIELD, 0, "full-source-path", NULL,
		  "print whole source paths with srcline, not only file names",
		  OPT_SETS(struct settings, script.whole_paths) },
		SAMPLES_INLINE_ROWS(script),
		{ 0 },
	},
};

static const struct opt_group folded_group = {
	"Folded stacks",
	(const struct opt[]){
		{ OPT_FOLDED, 0, "folded", NULL, "one line per distinct stack: --format=folded" },
		{ OPT_FIELD, 'n', "count", NULL, "print sample counts instead of weights",
		  OPT_SETS(struct settings, script.counts) },
		{ OPT_FIELD, 0, "no-comm", NULL, "omit the command at the start of lines",
		  OPT_SETS(struct settings, script.no_comm) },
		{ OPT_FIELD, 0, "show-pid", NULL, "append the process to the command: make-123",
		  OPT_SETS(struct settings, script.show_pid) },
		{ OPT_FIELD, 0, "show-tid", NULL,
		  "append process and thread to the command: make-123/124",
		  OPT_SETS(struct settings, script.show_tid) },
		{ OPT_FIELD, 0, "annotate-names", NULL,
		  "mark names: _[k] of the kernel, _[i] inlined, _[j] JIT code",
		  OPT_SETS(struct settings, script.annotate) },
		{ 0 },
	},
};

static const struct opt_group filter_group = {
	"Samples",
	(const struct opt[]){
		OPTIONS_OF_PARTS,
		{ OPT_FIELD, 'c', "comms", "NAMES", "only samples of these commands",
		  OPT_SETS(struct settings, script.comms) },
		SAMPLES_SYMBOLS_ROW(script),
		{ OPT_FIELD, 0, "dsos", "NAMES",
		  "only samples taken in these programs or libraries",
		  OPT_SETS(struct settings, script.objects) },
		SAMPLES_PLACE_ROWS(script),
		{ 0 },
	},
};

static const struct opt_group output_group = {
	"Output",
	(const struct opt[]){
		{ OPT_FORMAT, 'f', "format", "FORMAT",
		  "text (the default), json or folded; -f without: as --force", "text json folded",
		  .lenient = ARG_OR_FILE },
		{ OPT_OUTPUT, 'o', "output", "FILE", "write to FILE instead of standard output",
		  NULL, COMPLETE_FILE },
		SAMPLES_HEADER_ROWS,
		{ OPT_NO_PAGER, 0, "no-pager", NULL, "do not use a pager" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&recording_options, &fields_group, &folded_group,    &filter_group,
	&names_options,     &output_group, &general_options, NULL,
};

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	struct kin_script_opts *o = &s->script;
	switch (id) {
	case OPT_FIELDS:
		o->fields = o->fields ? arena_printf(&s->words, "%s %s", o->fields, arg) : arg;
		break;
	case OPT_FOLDED:
		s->format = "folded";
		break;
	case SAMPLES_MAX_STACK:
		return sample_options_set_max(arg, &o->max_stack, &o->no_frames, error);
	default:
		sample_options_set(s, id);
	}
	return true;
}

static bool begin(struct settings *s, char error[512])
{
	(void)error;
	s->script = (struct kin_script_opts){ .size = sizeof(s->script), .inlines = true };
	return true;
}

/* An error if a filter names what the data does not have, as in the other commands. */
static struct kin_error *check_filters(struct kin_profile *profile, const struct kin_script_opts *o)
{
	const struct kin_hists_opts filters = { .size = sizeof(filters),
						.comms = o->comms,
						.dsos = o->objects,
						.pids = o->pids,
						.tids = o->tids,
						.cpus = o->cpus,
						.times = o->times };
	struct kin_error *err = kin_hists_check(profile, &filters);
	return err ? err : sample_options_check_functions(profile, o->symbols);
}

static struct kin_error *write_to(struct kin_profile *profile, const struct settings *s, int status)
{
	struct output out;
	struct kin_error *err = check_filters(profile, &s->script);
	if (!err)
		err = output_open(&s->output, status, &out);
	if (err)
		return err;
	struct kin_script_opts opts = s->script;
	opts.full_names = s->full_names;
	opts.escaped = out.is_seen;
	opts.source_dirs = string_list(&s->source_dirs);
	if (s->about & KIN_ABOUT_HEADER)
		err = run_print_about(s, s->about, out.stream);
	if (!err)
		err = kin_script(profile, s->format ? s->format : "text", &opts, out.stream);
	err = output_finish(&out, err);
	run_tell_notes(s, profile);
	return err;
}

/* Folded stacks are a report, and need neither times nor addresses. Single samples are printed as
 * they were taken. */
static void narrow(const struct settings *s, struct kin_open_opts *o)
{
	if (!s->format || strcmp(s->format, "folded") != 0) {
		o->with_hooks = o->stacks_as_recorded = true;
		return;
	}
	o->no_times = !s->script.cpus && !s->script.times;
	o->by_function = true;
	o->seen_only = !s->script.symbols;
	o->no_inlines = o->no_inlines || !s->script.inlines;
}

static int cmd_script(const struct settings *s)
{
	if (run_refuses_format(s))
		return EXIT_USAGE;
	return s->only_about ? run_about(s, s->about) : run_profile(s, write_to);
}

const struct command script_command = {
	.name = "script",
	.group = COMMANDS_PERF,
	.summary = "the samples, one by one, or as folded stacks for flame graphs",
	.operands = "[DATA]...",
	.description = description,
	.options = options,
	.takes_pipe = true,
	.refused = script_refusals,
	.examples = examples,
	.begin = begin,
	.set = set,
	.narrow = narrow,
	.run = cmd_script,
};

/* cmd_record.c - samples what programs do, with whole call stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/arg.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/prefix.h"
#include "cli/sampling.h"
#include "record/preload.h"
#include "record/record.h"

static const char *const description[] = {
	"Runs COMMAND and samples it and all that it starts: where they are, and by whose calls. "
	"The stacks are walked while recording, by the call-frame information that compilers leave "
	"in every program, so that nothing has to be compiled differently and the file stays "
	"small; where there is none, by frame pointers. kin report shows the file.",
	"Without COMMAND, running processes (-p), single threads (-t), or the whole machine (-a) "
	"are recorded, until they end, until --duration is over, or until an interrupt. They are "
	"not disturbed.",
	"COMMAND's exit status becomes that of kin record; if a signal kills it, the same signal "
	"ends kin record. Interrupts and other signals are passed on to it; a second one ends the "
	"recording while COMMAND goes on. What COMMAND leaves running is recorded until it ends, "
	"too. If recording fails once COMMAND runs, COMMAND runs on.",
	"The file grows as the program runs and holds everything up to the last second, whatever "
	"happens to the recorder. At the end it is said how far the recording can be trusted: CPU "
	"time by the kernel's accounting next to what was sampled, stacks that were not walked to "
	"their end, and in which files, samples that were lost.",
	"With --wall the time that threads do not run is recorded as well, as two more events "
	"whose weights are exact: blocked, and waiting for a CPU that others had. Where the kernel "
	"allows it their stacks are taken when the thread leaves the CPU. Otherwise the place is "
	"an estimate, the thread's sample nearest to that in its CPU time, and the events' names "
	"say so.",
	NULL,
};

static const struct example examples[] = {
	{ "kin record ./prog -x input", "in profile.kin; then: kin report" },
	{ "kin record -o web.kin -p 1234 --duration 10s", "ten seconds of a running process" },
	{ "kin record --wall make -j2", "where it ran, and where it waited" },
	{ "kin record -e cache-misses,page-faults -c 100 ./prog", "every hundredth of each" },
	{ 0 },
};

enum {
	RECORD_STACKS = OPT_OWN,
	RECORD_DURATION,
	RECORD_WALL,
	RECORD_RUNS,
	RECORD_PERF_DATA,
	RECORD_QUIET,
};

static const struct opt_group what_options = {
	"What is recorded",
	(const struct opt[]){
		{ SAMPLING_PID, 'p', "pid", "PID",
		  "running processes, with all their threads and what "
		  "they start; PID,PID,... or repeated",
		  NULL, COMPLETE_NOTHING },
		{ SAMPLING_TID, 't', "tid", "TID", "single threads, and what they start", NULL,
		  COMPLETE_NOTHING },
		{ SAMPLING_ALL, 'a', "all-cpus", NULL,
		  "everything on the machine; with COMMAND, while that runs", NULL,
		  COMPLETE_NOTHING },
		{ RECORD_DURATION, 0, "duration", "TIME",
		  "stop after that time: seconds, or with a unit: ms, s, m, h", NULL,
		  COMPLETE_NOTHING },
		{ RECORD_RUNS, 'r', "repeat", "N", "run COMMAND N times, into one file", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group how_options = {
	"How",
	(const struct opt[]){
		{ SAMPLING_EVENT, 'e', "event", "EVENT",
		  "what is counted: cycles, instructions, cache-misses, page-faults, cpu-clock, "
		  "rHEX, ... as perf names them, with :u or :k for user or kernel mode alone; "
		  "EVENT,EVENT or repeated. Usually cycles, or CPU time where the machine does not "
		  "count them",
		  NULL, COMPLETE_NOTHING },
		{ SAMPLING_FREQUENCY, 'F', "frequency", "HZ",
		  "samples per second of CPU time, 999 if not given", NULL, COMPLETE_NOTHING },
		{ SAMPLING_PERIOD, 'c', "count", "N", "or one sample every N events", NULL,
		  COMPLETE_NOTHING },
		{ RECORD_STACKS, 'g', "call-graph", "HOW",
		  "auto (the default): call-frame information, and frame pointers where it ends; "
		  "dwarf: that information alone; fp: frame pointers, of programs compiled with "
		  "-fno-omit-frame-pointer",
		  "auto dwarf fp", COMPLETE_NOTHING, true },
		{ RECORD_WALL, 0, "wall", NULL,
		  "record the time that threads do not run, too: blocked, or waiting for a CPU",
		  NULL, COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group file_options = {
	"Output",
	(const struct opt[]){
		{ OPT_OUTPUT, 'o', "output", "FILE",
		  "write to FILE instead of profile.kin; an older recording there is replaced, and "
		  "nothing else",
		  NULL, COMPLETE_FILE },
		{ RECORD_PERF_DATA, 0, "perf-data", "FILE",
		  "write a perf.data file, too, with the stacks as call chains", NULL,
		  COMPLETE_FILE },
		{ RECORD_QUIET, 'q', "quiet", NULL, "say nothing when all went well", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &what_options, &how_options, &file_options,
						   &general_options, NULL };

/* ---- the command line ---- */

struct line {
	struct record_opts opts;
	struct sampling sampling;
	bool quiet;
};

static bool take_time(const char *arg, uint64_t *ret)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "m", 60e9 }, { "h", 3600e9 } };
	char *end;
	double v = strtod(arg, &end);
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (end == arg || strcmp(end, units[i].unit) != 0)
			continue;
		if (!(v > 0) || v * units[i].ns > 1e18)
			break;
		*ret = (uint64_t)(v * units[i].ns);
		return true;
	}
	return false;
}

static bool set(void *line, int id, const char *arg, char error[512])
{
	struct line *l = line;
	struct record_opts *o = &l->opts;
	uint64_t n = 0;
	switch (id) {
	case RECORD_DURATION:
		return take_time(arg, &o->duration_ns) ||
		       arg_bad("--duration", arg, "a time: 10, 500ms, 2m", error);
	case RECORD_RUNS:
		if (!arg_u64(arg, 1, 100000, &n))
			return arg_bad("-r", arg, "a number that makes sense here", error);
		o->runs = (unsigned)n;
		break;
	case RECORD_STACKS:
		o->mode = !arg                    ? UNWINDING_AUTO
			  : !strcmp(arg, "fp")    ? UNWINDING_FP
			  : !strcmp(arg, "dwarf") ? UNWINDING_DWARF
						  : UNWINDING_AUTO;
		break;
	case RECORD_WALL:
		o->wall = true;
		break;
	case OPT_OUTPUT:
		o->output = arg;
		break;
	case RECORD_PERF_DATA:
		o->perf_data = arg;
		break;
	case RECORD_QUIET:
		l->quiet = true;
		break;
	default:
		return sampling_set(&l->sampling, id, arg, error);
	}
	return true;
}

/* What is wrong with the line; NULL: nothing. */
static const char *check(const struct line *l)
{
	const struct record_opts *o = &l->opts;
	if (!o->argv && !sampling_attaches(&l->sampling) && !l->sampling.everything)
		return "no command, and none of -p, -t and -a: what is to be recorded?";
	if (o->runs > 1 && !o->argv)
		return "-r repeats a command: there is none";
	return sampling_conflict(&l->sampling, o->argv);
}

static void take_sampling(struct record_opts *o, const struct sampling *s)
{
	o->events = s->events;
	o->frequency = s->frequency;
	o->period = s->period;
	o->everything = s->everything;
	o->pids = s->pids.at.at;
	o->n_pids = s->pids.at.n;
	o->tids = s->tids.at.at;
	o->n_tids = s->tids.at.n;
}

/* ---- running ---- */

static void say(const char *text) { message("record", "%s", text); }

static void say_audit(const struct record_audit *a, const char *output, bool quiet)
{
	char *text = quiet ? record_audit_losses(a) : record_audit_text(a, output), *rest;
	for (char *l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
		message("record", "%s", l);
	free(text);
}

/* Without permission there is the runtime that measures from inside. Returns if it cannot. */
static void fall_back(const struct line *l)
{
	const struct record_opts *o = &l->opts;
	char *library = o->argv && !o->everything ? preload_find() : NULL;
	const char *obstacle = library ? preload_obstacle(o->argv[0]) : NULL;
	struct preload_opts p = { .output = o->output,
				  .frequency = o->frequency ? (unsigned)o->frequency : 999 };
	if (!library)
		return;
	free(library);
	if (obstacle) {
		message("record", "%s %s", o->argv[0], obstacle);
		return;
	}
	struct kin_error *err = preload_set(&p);
	if (message_error("record", err))
		return;
	message("record", "it is measured from inside instead, as kin run does");
	execvp(o->argv[0], o->argv);
	message("record", "%s: %s", o->argv[0], strerror(errno));
	_exit(child_not_run(errno));
}

static int not_begun(const struct line *l, struct kin_error *err, bool not_executed)
{
	int errnum = kin_error_errno(err);
	enum kin_error_kind kind = kin_error_kind(err);
	bool refused = !not_executed && (errnum == EACCES || errnum == EPERM);
	char *remedy = refused ? record_remedy(&l->opts) : NULL;
	message("record", "%s%s%s", kin_error_message(err), refused ? ": " : "",
		refused ? remedy : "");
	free(remedy);
	kin_error_free(err);
	if (refused)
		fall_back(l);
	if (not_executed)
		return child_not_run(errnum);
	return kind == KIN_ERROR_USAGE && !l->opts.argv ? EXIT_USAGE : CHILD_FAILED;
}

static int end(const struct record_result *r)
{
	if (r->stopped_by)
		return child_end_as(r->stopped_by); /* a wait status of that signal */
	if (r->ended)
		return child_end_as(r->status);
	return r->finished ? EXIT_OK : EXIT_ERROR;
}

static int run_line(struct line *l)
{
	struct record_result result;
	bool not_executed;
	take_sampling(&l->opts, &l->sampling);
	l->opts.say = say;
	struct kin_error *err = record(&l->opts, &result, &not_executed);
	if (err)
		return not_begun(l, err, not_executed);
	if (result.recorded && (!l->quiet || record_audit_is_bad(&result.audit)))
		say_audit(&result.audit, l->opts.output, l->quiet);
	record_audit_done(&result.audit);
	return end(&result);
}

static int run_words(const struct command *c, int argc, char **argv)
{
	struct line l = { .opts.output = "profile.kin" };
	char **program;
	int status = prefix_parse(c, argc, argv, set, &l, &program);
	if (status == PREFIX_GO_ON) {
		l.opts.argv = program;
		const char *wrong = check(&l);
		status = wrong ? prefix_wrong(c, wrong) : run_line(&l);
	}
	sampling_done(&l.sampling);
	return status;
}

const struct command record_command = {
	.name = "record",
	.group = COMMANDS_COLLECT,
	.summary = "sample what programs do, with whole call stacks",
	.operands = "[--] COMMAND [ARGUMENT]...",
	.description = description,
	.options = options,
	.examples = examples,
	.exit_status =
		"COMMAND's, or death by the signal that killed it; 125 if the recording could not "
		"begin, 126 if COMMAND could not be executed, 127 if it was not found; 2 if the "
		"command line makes no sense. Without COMMAND 0 if all was recorded, 1 if not.",
	.run_words = run_words,
};

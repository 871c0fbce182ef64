/* cmd_record.c - samples programs with whole call stacks. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/folder.h"
#include "cli/arg.h"
#include "cli/child.h"
#include "cli/cmd_compare.h"
#include "cli/cmd_record.h"
#include "cli/command.h"
#include "cli/content.h"
#include "cli/interpreters.h"
#include "cli/message.h"
#include "cli/naming.h"
#include "cli/prefix.h"
#include "cli/rank_file.h"
#include "cli/record_against.h"
#include "cli/record_inside.h"
#include "cli/record_line.h"
#include "cli/sampling.h"
#include "perf/perf_refusals.h"
#include "record/event_names.h"
#include "record/record.h"

static const char *const description[] = {
	"Runs COMMAND and samples it and every process it starts, with call stacks. Stacks are "
	"walked while recording, by the call-frame information that every compiler writes, and "
	"by frame pointers where there is none. Programs need not be compiled for it, and the "
	"file stays small. kin report shows it.",
	"Running processes (-p), single threads (-t), all processes of a user (-u), or the whole "
	"machine (-a) are recorded until they end, until --duration is over, or until an "
	"interrupt; with COMMAND, while it runs. They keep running.",
	"COMMAND's exit status becomes that of kin record; if a signal kills it, the same signal "
	"ends kin record. Interrupts and other signals are passed on to it; a second interrupt "
	"ends the recording but not COMMAND. Processes that COMMAND leaves running are recorded "
	"until they end. Whatever goes wrong with the recording, COMMAND runs to its end. If the "
	"kernel permits no sampling, COMMAND is measured from inside, by the runtime of kin run.",
	"The file grows as the program runs; if the recorder is killed, at most the last second "
	"is missing. On a terminal a line shows each second that samples arrive. The last lines "
	"say where the file is, how far it can be trusted (sampled CPU time against the kernel's "
	"accounting, complete stacks, lost samples), and what to type next; -v adds what the "
	"recording took.",
	"kin ./PROGRAM, a path in place of a command, is short for kin record ./PROGRAM and then "
	"kin browse, or kin report if input or output is no terminal.",
	"In a parallel job (mpirun of Open MPI or MPICH, Slurm's srun) each rank has a file of its "
	"own, named by it: profile.0.kin, profile.1.kin and so on. kin imbalance compares them.",
	"--against records two commands in turn and says which is slower, where, and how sure that "
	"is: kin record --against BEFORE -- AFTER is kin compare. -r, -F, -e and -o come before "
	"it, options of kin compare behind it; without -o no recording is kept.",
	"--wall also records the time that threads do not run, as two more events with exact "
	"weights: blocked, and waiting for a CPU. If the kernel permits it, their stacks are "
	"taken when the thread leaves the CPU. Otherwise the place is an estimate, that of the "
	"thread's sample nearest in CPU time, and the events' names say so.",
	NULL,
};

static const struct example examples[] = {
	{ "kin record ./prog -x input", "in profile.kin; then: kin report" },
	{ "kin ./prog -x input", "the same, and shows it at once" },
	{ "kin record -o web.kin -p 1234 --duration 10s", "ten seconds of a running process" },
	{ "kin record -p 1234 -- sleep 10", "the same" },
	{ "kin record -e sched:sched_switch -a -- sleep 1", "a trace point; then: kin script" },
	{ "kin record --wall make -j2", "where it ran, and where it waited" },
	{ "kin record -r 10 -o runs/ --against ./old -- ./new", "which is slower; kin compare" },
	{ "kin record --mark ./test.sh", "in which kin mark NAME names moments" },
	{ "kin record -e cache-misses,page-faults -c 100 ./prog", "every hundredth of each" },
	{ "kin record -e page-faults -c 1 -d ./prog",
	  "page faults and their addresses; then: kin script -F +addr" },
	{ "kin record --python python3 train.py", "with the functions of the script in stacks" },
	{ "kin record -a --every=1h --switch-max-files=24 -o last-day/",
	  "the last day of the machine, a file for each hour" },
	{ 0 },
};

struct record_line {
	struct record_opts opts;
	struct sampling sampling;
	struct interpreters interpreters;
	struct record_against against;
	VEC(struct gate_span) spans;
	VEC(struct rings_filter) filters;
	size_t last_events;             /* where the events of the last -e begin */
	char *in_folder;                /* output in the directory that -o names; owned */
	char *dated;                    /* output's name with a time appended; owned */
	char *ranked, *ranked_perf;     /* names with the rank; owned */
	const char *perf_data;          /* NULL: do not write one */
	void (*look)(const char *path); /* called with the file at the end; NULL: none */
	bool quiet, warned, verbose, dry_run, with_date, no_names, no_rank, compares, lists;
};

enum {
	RECORD_STACKS = OPT_OWN,
	RECORD_DURATION,
	RECORD_RUNS,
	RECORD_QUIET,
	RECORD_DELAY,
	RECORD_FILTER,
	RECORD_MAX_SIZE,
	RECORD_LEVEL,
	RECORD_SWITCH,
	RECORD_SWITCH_MAX,
	RECORD_EVERY,
	RECORD_CLOCK,
	RECORD_AS_EVER,
	RECORD_DATA,
	RECORD_WEIGHT,
	RECORD_PHYSICAL,
	RECORD_DATA_PAGE,
	RECORD_CODE_PAGE,
	RECORD_TRANSACTION,
	RECORD_REGISTERS,
	RECORD_BRANCHES,
	RECORD_BRANCH_KINDS,
};

static const struct opt_group what_options = {
	"What is recorded",
	(const struct opt[]){
		{ SAMPLING_PID, 'p', "pid", "PID",
		  "running processes, with all their threads and what "
		  "they start; PID,PID,... or repeated" },
		SAMPLING_THREAD_ROWS,
		{ SAMPLING_ALL, 'a', "all-cpus", NULL,
		  "everything on the machine; with COMMAND, while that runs" },
		SAMPLING_SCOPE_ROWS,
		{ SAMPLING_NO_INHERIT, 0, "per-thread", NULL, "the same as --no-inherit" },
		{ OPT_FIELD, 0, "exclude-perf", NULL, "no samples of the recorder itself",
		  OPT_SETS(struct record_line, opts.not_self) },
		{ RECORD_DELAY, 'D', "delay", "MS",
		  "begin sampling this many milliseconds after COMMAND starts; -1: when --control "
		  "enables it; or sample only in these intervals: 10-20,30-40" },
		{ OPT_FIELD, 0, "control", "PIPE",
		  "obey the lines enable, disable, ping, stop and mark NAME from a pipe, fd:N or "
		  "fifo:PATH, and answer \"ack\" in a second one, fd:N,M or fifo:PATH,PATH",
		  OPT_SETS(struct record_line, opts.gate.control) },
		{ OPT_FIELD, 0, "mark", NULL,
		  "name moments of the recording, for --time and the timeline of kin html: kin "
		  "mark NAME, from COMMAND or with -p; and SIGUSR2, which is then not passed on: "
		  "mark1, mark2, ...",
		  OPT_SETS(struct record_line, opts.markers) },
		{ RECORD_DURATION, 0, "duration", "TIME",
		  "end the recording, but not COMMAND, after that time: seconds, or with a unit: "
		  "ms, s, m, h, d" },
		{ RECORD_RUNS, 'r', "repeat", "N", "run COMMAND N times, into one file" },
		{ OPT_FIELD, 0, "against", NULL,
		  "run BEFORE and AFTER in turn in place of COMMAND, and say which is slower: "
		  "--against BEFORE -- AFTER. Options of kin compare are put behind it",
		  .ends = true, OPT_SETS(struct record_line, compares) },
		{ OPT_FIELD, 0, "python", NULL,
		  "name functions of Python scripts, from Python 3.12 on: sets PYTHONPERFSUPPORT "
		  "for COMMAND",
		  OPT_SETS(struct record_line, interpreters.python) },
		{ OPT_FIELD, 0, "node", NULL,
		  "name functions of JavaScript in Node.js: adds to COMMAND's NODE_OPTIONS",
		  OPT_SETS(struct record_line, interpreters.node) },
		{ OPT_FIELD, 0, "java", NULL,
		  "name methods of Java, from Java 17 on: adds to COMMAND's JAVA_TOOL_OPTIONS, "
		  "which java says on standard error",
		  OPT_SETS(struct record_line, interpreters.java) },
		{ 0 },
	},
};

static const struct opt_group how_options = {
	"How",
	(const struct opt[]){
		{ SAMPLING_EVENT, 'e', "event", "EVENT",
		  "what is counted: cycles, instructions, cache-misses, page-faults, cpu-clock, "
		  "rHEX, ... as perf names them, with :u or :k for user or kernel mode alone; "
		  "trace points, sched:sched_switch, syscalls:*; breakpoints, mem:ADDRESS:rw; "
		  "EVENT/period=N,name=TEXT,call-graph=no/; {EVENT,EVENT} counted together, and "
		  "with :S read when the first one is sampled; EVENT,EVENT or repeated. Usually "
		  "cycles, or CPU time where the machine does not count them. list prints names" },
		{ RECORD_FILTER, 0, "filter", "CONDITION",
		  "only occurrences of the preceding -e's trace points that match: \"prev_pid == "
		  "1\"" },
		{ OPT_FIELD, 0, "all-user", NULL, "sample only user mode",
		  OPT_SETS(struct record_line, opts.all_user) },
		{ OPT_FIELD, 0, "all-kernel", NULL, "sample only the kernel",
		  OPT_SETS(struct record_line, opts.all_kernel) },
		{ OPT_FIELD, 0, "group", NULL, "count all events at the same time, as in {...}",
		  OPT_SETS(struct record_line, opts.one_group) },
		{ SAMPLING_FREQUENCY, 'F', "frequency", "HZ",
		  "samples per second of CPU time; default: 999; max: as many as the kernel "
		  "permits. Periods vary at random by up to 8 %, so that no program is in step "
		  "with them; samples are weighted by their period" },
		{ OPT_FIELD, 0, "strict-freq", NULL,
		  "fail if the kernel permits less than -F asks for",
		  OPT_SETS(struct record_line, opts.strict_rate) },
		{ SAMPLING_PERIOD, 'c', "count", "N",
		  "a fixed period instead of -F: one sample every N events; for clocks an event is "
		  "a nanosecond of CPU time" },
		{ SAMPLING_BUFFERS, 'm', "mmap-pages", "SIZE",
		  "size of the buffer of each CPU: pages, or 512K, 8M; without it as large as the "
		  "kernel permits, up to 8M" },
		{ RECORD_STACKS, 'g', "call-graph", "HOW",
		  "auto (the default): call-frame information, and frame pointers where it ends; "
		  "dwarf: that information alone; fp: frame pointers, of programs compiled with "
		  "-fno-omit-frame-pointer. dwarf,BYTES: size of the stack copies",
		  "auto dwarf fp", .lenient = ARG_OR_OPTION, .more = true },
		{ OPT_FIELD, 0, "selfcheck", NULL,
		  "walk every eighth stack in two ways, by call-frame information and by frame "
		  "pointers, and count those that contradict each other; for programs compiled "
		  "with -fno-omit-frame-pointer",
		  OPT_SETS(struct record_line, opts.check) },
		{ OPT_FIELD, 0, "user-callchains", NULL,
		  "keep only the user-mode part of stacks, and the sampled place",
		  OPT_SETS(struct record_line, opts.user_chains) },
		{ OPT_FIELD, 0, "kernel-callchains", NULL,
		  "keep only the kernel part of stacks; for samples in user mode only the place",
		  OPT_SETS(struct record_line, opts.kernel_chains) },
		{ OPT_FIELD, 0, "wall", NULL,
		  "also record the time that threads do not run: blocked, or waiting for a CPU",
		  OPT_SETS(struct record_line, opts.wall) },
		{ OPT_FIELD, 0, "off-cpu", NULL, "the same as --wall",
		  OPT_SETS(struct record_line, opts.wall) },
		{ RECORD_CLOCK, 'k', "clockid", "CLOCK",
		  "clock of the time stamps; only monotonic" },
		{ 0 },
	},
};

static const struct opt_group detail_options = {
	"Of each sample, too: fields of kin script -F, keys of kin report",
	(const struct opt[]){
		{ RECORD_DATA, 'd', "data", NULL,
		  "addr and data_src: the address that the event is about (page faults, accesses "
		  "of memory by precise events), and where the data came from" },
		{ RECORD_PHYSICAL, 0, "phys-data", NULL, "phys_addr: the physical address of it" },
		{ RECORD_DATA_PAGE, 0, "data-page-size", NULL,
		  "data_page_size: size of the page with that address" },
		{ RECORD_CODE_PAGE, 0, "code-page-size", NULL,
		  "code_page_size: size of the page with the code" },
		{ RECORD_WEIGHT, 'W', "weight", NULL,
		  "weight: what the CPU says the access or transaction cost" },
		{ RECORD_TRANSACTION, 0, "transaction", NULL,
		  "transaction: why a memory transaction was aborted" },
		{ RECORD_REGISTERS, 'I', "intr-regs", "[NAMES]",
		  "iregs: registers when the sample was taken, AX,IP or all" },
		{ RECORD_BRANCHES, 'b', "branch-any", NULL,
		  "brstack: the branches that the CPU took before, where it keeps a record of "
		  "them" },
		{ RECORD_BRANCH_KINDS, 'j', "branch-filter", "KINDS",
		  "only branches of these kinds: any, any_call, any_ret, ind_call, call, cond, "
		  "ind_jmp, abort_tx, in_tx, no_tx; u, k, hv: to where; no_flags, no_cycles, "
		  "save_type" },
		{ 0 },
	},
	OPTS_RARE,
};

static const struct opt_group file_options = {
	"Output",
	(const struct opt[]){
		{ OPT_OUTPUT, 'o', "output", "FILE",
		  "write to FILE instead of profile.kin. An older recording there is replaced, any "
		  "other file is not. DIRECTORY/: to profile.kin in it, which is made if it is not "
		  "there. -: standard output, which must be a pipe; COMMAND then prints to "
		  "standard error. Percent signs stay: %p and the like are for kin run",
		  NULL, COMPLETE_FILE },
		{ OPT_FIELD, 0, "perf-data", "FILE",
		  "also write a perf.data file at the end, as kin export does. A profile that is "
		  "there is replaced, any other file is not",
		  NULL, COMPLETE_FILE, OPT_SETS(struct record_line, perf_data) },
		{ OPT_FIELD, 0, "timestamp-filename", NULL, "append date and time to FILE's name",
		  OPT_SETS(struct record_line, with_date) },
		{ RECORD_MAX_SIZE, 0, "max-size", "SIZE",
		  "end the recording, but not COMMAND, when FILE reaches this size: 500K, 2G" },
		{ RECORD_SWITCH, 0, "switch-output", "[WHEN]",
		  "begin a new file at SIGUSR2 (signal, the default), at a SIZE (500K, 2G), or "
		  "after a TIME (30s, 10m, 1h, 1d); each is a complete recording, named FILE with "
		  "date and time" },
		{ RECORD_EVERY, 0, "every", "TIME",
		  "begin a new file after that time, as --switch-output=TIME: 60s, 10m" },
		{ RECORD_SWITCH_MAX, 0, "switch-max-files", "N",
		  "with --switch-output or --every: keep the last N files" },
		{ OPT_FIELD, 0, "overwrite", NULL,
		  "keep only the most recent 64 MiB of samples, in memory; write them at the end, "
		  "and at each --switch-output",
		  OPT_SETS(struct record_line, opts.parts.overwrite) },
		{ RECORD_LEVEL, 'z', "compression-level", "[N]",
		  "compression level of FILE, from 1 (default) to 22 (smallest)" },
		OPTION_NO_NAMES,
		OPTION_NO_RANK,
		{ OPT_FIELD, 0, "dry-run", NULL, "check the command line without running anything",
		  OPT_SETS(struct record_line, dry_run) },
		{ RECORD_QUIET, 'q', "quiet", NULL,
		  "print nothing if all went well; twice: nor that it is measured from "
		  "inside" },
		{ OPT_FIELD, 'v', "verbose", NULL,
		  "say at the end what it took, too: bytes per sample, rate, preemptions, time of "
		  "the recorder, names",
		  OPT_SETS(struct record_line, verbose) },
		{ 0 },
	},
};

/* Options of perf record for features that every recording of kin has. */
static const struct opt_group ever_options = {
	"As always: accepted for command lines of perf record",
	(const struct opt[]){
		{ RECORD_AS_EVER, 'T', "timestamp", NULL, "samples have times" },
		{ RECORD_AS_EVER, 'P', "period", NULL, "samples say what they stand for" },
		{ RECORD_AS_EVER, 's', "stat", NULL, "each thread has its samples and CPU time" },
		{ RECORD_AS_EVER, 'R', "raw-samples", NULL, "trace points have their fields" },
		{ RECORD_AS_EVER, 0, "sample-cpu", NULL, "samples say on which CPU" },
		{ RECORD_AS_EVER, 0, "sample-identifier", NULL, "samples say of which event" },
		{ RECORD_AS_EVER, 0, "timestamp-boundary", NULL, "FILE says from when to when" },
		{ RECORD_AS_EVER, 0, "buildid-all", NULL, "programs have their build-ids" },
		{ RECORD_AS_EVER, 0, "buildid-mmap", NULL, "mappings have them, too" },
		{ RECORD_AS_EVER, 'B', "no-buildid", NULL,
		  "programs need not be read for their build-ids at the end" },
		{ RECORD_AS_EVER, 'N', "no-buildid-cache", NULL, "nothing is put into ~/.debug" },
		{ RECORD_AS_EVER, 0, "no-bpf-event", NULL, "loading BPF programs is no event" },
		{ RECORD_AS_EVER, 0, "no-buffering", NULL, "FILE is whole up to the last second" },
		{ RECORD_AS_EVER, 0, "tail-synthesize", NULL,
		  "tasks that run already are looked at when they are first seen" },
		{ RECORD_AS_EVER, 0, "namespaces", NULL,
		  "files are looked for as each program sees them; kin report -s cgroup_id takes "
		  "a perf.data" },
		{ 0 },
	},
	OPTS_RARE,
};

static const struct opt_group *const options[] = { &what_options, &how_options,  &detail_options,
						   &file_options, &ever_options, &general_options,
						   NULL };

/* ---- the command line ---- */

static const uint64_t second_ns = 1000000000, longest_ns = 1000000000000000;

/* "signal", "100M", "30s" */
static bool take_switch(const char *arg, struct parts_opts *o, char error[512])
{
	uint64_t ns = 0, bytes = 0;
	*o = (struct parts_opts){ .max_files = o->max_files, .overwrite = o->overwrite };
	if (!arg || !strcmp(arg, "signal")) {
		o->on_signal = true;
		return true;
	}
	bool has_unit = *arg && !isdigit((unsigned char)arg[strlen(arg) - 1]);
	if (has_unit && arg_size(arg, &bytes))
		o->max_bytes = bytes;
	else if (has_unit && arg_duration(arg, &ns) && ns >= second_ns && ns <= longest_ns)
		o->every_ns = ns;
	return parts_are_wanted(o) ||
	       arg_bad("--switch-output", arg,
		       "signal, a size (500K, 2G), or a time of at least a second (30s, 10m)",
		       error);
}

static bool take_every(const char *arg, struct parts_opts *o, char error[512])
{
	uint64_t ns = 0;
	if (!arg_duration(arg, &ns) || ns < second_ns || ns > longest_ns)
		return arg_bad("--every", arg, "a time of at least a second: 60s, 10m", error);
	*o = (struct parts_opts){ .every_ns = ns,
				  .max_files = o->max_files,
				  .overwrite = o->overwrite };
	return true;
}

/* Milliseconds: "500", "-1" (start paused), or "10-20,30-40". */
static bool take_delay(const char *arg, struct record_line *l, char error[512])
{
	static const char what[] = "milliseconds, -1, or spans of them in order: 10-20,30-40";
	const uint64_t most = UINT64_C(1) << 40;
	l->spans.n = 0;
	l->opts.gate.closed = !strcmp(arg, "-1");
	if (l->opts.gate.closed || !strcmp(arg, "0"))
		return true;
	for (const char *s = arg; *s;) {
		char *end;
		struct gate_span span = { strtoull(s, &end, 10), UINT64_MAX };
		bool good = end != s && *s >= '0' && *s <= '9' && span.from_ns < most;
		if (good && *end == '-') {
			s = end + 1;
			span.to_ns = strtoull(s, &end, 10);
			good = end != s && span.to_ns > span.from_ns && span.to_ns < most;
			span.to_ns *= 1000000;
		} else {
			good = good && !l->spans.n && !*end;
		}
		span.from_ns *= 1000000;
		good = good && (!l->spans.n || l->spans.at[l->spans.n - 1].to_ns < span.from_ns);
		if (!good || (*end && (*end != ',' || !end[1])))
			return arg_bad("--delay", arg, what, error);
		vec_push(&l->spans, span);
		s = end + (*end == ',');
	}
	return l->spans.n || arg_bad("--delay", arg, what, error);
}

/* "auto", "fp", "dwarf" or "dwarf,BYTES" */
static bool take_stacks(const char *arg, struct record_opts *o, char error[512])
{
	const char *more = arg ? strchr(arg, ',') : NULL;
	size_t n = !arg ? 0 : more ? (size_t)(more - arg) : strlen(arg);
	uint64_t bytes = 0;
	if (arg && !strncmp(arg, "lbr", 3)) {
		snprintf(
			error, 512,
			"--call-graph=lbr: stacks are not taken from the CPU's record of branches; "
			"auto needs no frame pointers either");
		return false;
	}
	if (!arg || (n == 4 && !memcmp(arg, "auto", 4)))
		o->mode = UNWINDING_AUTO;
	else if (n == 2 && !memcmp(arg, "fp", 2))
		o->mode = UNWINDING_FP;
	else if (n == 5 && !memcmp(arg, "dwarf", 5))
		o->mode = UNWINDING_DWARF;
	else
		return arg_bad("--call-graph", arg, "one of auto, dwarf, fp", error);
	if (!more)
		return true;
	if (o->mode == UNWINDING_FP || !arg_u64(more + 1, 8, 65528, &bytes))
		return arg_bad("--call-graph", arg, "dwarf, or dwarf with 8 to 65528 bytes", error);
	o->stack_bytes = (uint32_t)((bytes + 7) / 8 * 8);
	return true;
}

/* Sets the filter of the events of the last -e. */
static bool take_filter(const char *arg, struct record_line *l, char error[512])
{
	const char *events = l->sampling.events;
	if (!events) {
		snprintf(error, 512, "--filter belongs to the -e before it: there is none");
		return false;
	}
	struct rings_filter f = { (uint32_t)l->last_events, (uint32_t)strlen(events), arg };
	vec_push(&l->filters, f);
	return true;
}

/* Turns an error into a message; true: there was none. */
static bool take(struct kin_error *err, char error[512])
{
	if (!err)
		return true;
	snprintf(error, 512, "%s", kin_error_message(err));
	kin_error_free(err);
	return false;
}

static bool take_clock(const char *arg, char error[512])
{
	if (!strcmp(arg, "monotonic") || !strcmp(arg, "mono") || !strcmp(arg, "CLOCK_MONOTONIC"))
		return true;
	return arg_bad("--clockid", arg, "monotonic, by which all times are", error);
}

static bool set(void *line, const struct opt *row, const char *arg, char error[512])
{
	struct record_line *l = line;
	struct record_opts *o = &l->opts;
	uint64_t n = 0;
	if (row->id != RECORD_AS_EVER)
		record_against_note(&l->against, row, arg);
	if (opt_store(row, "struct record_line", l, arg))
		return true;
	switch (row->id) {
	case RECORD_DURATION:
		return arg_duration(arg, &o->duration_ns) ||
		       arg_bad("--duration", arg, "a time: 10, 500ms, 2m", error);
	case RECORD_RUNS:
		if (!arg_u64(arg, 1, 100000, &n))
			return arg_bad("-r", arg, "a number of runs from 1 to 100000", error);
		o->runs = (unsigned)n;
		break;
	case RECORD_STACKS:
		return take_stacks(arg, o, error);
	case OPT_OUTPUT:
		o->output = arg;
		break;
	case RECORD_QUIET:
		l->warned = l->quiet;
		l->quiet = true;
		break;
	case RECORD_DELAY:
		return take_delay(arg, l, error);
	case RECORD_FILTER:
		return take_filter(arg, l, error);
	case RECORD_MAX_SIZE:
		return arg_size(arg, &o->max_bytes) ||
		       arg_bad("--max-size", arg, "a size: 500K, 20M, 2G", error);
	case RECORD_LEVEL:
		if (arg && !arg_u64(arg, 1, 22, &n))
			return arg_bad("-z", arg, "a number from 1 to 22", error);
		o->compression = (int)n;
		break;
	case RECORD_SWITCH:
		return take_switch(arg, &o->parts, error);
	case RECORD_SWITCH_MAX:
		if (!arg_u64(arg, 1, 1000000, &n))
			return arg_bad("--switch-max-files", arg, "a number of files", error);
		o->parts.max_files = (unsigned)n;
		break;
	case RECORD_EVERY:
		return take_every(arg, &o->parts, error);
	case RECORD_CLOCK:
		return take_clock(arg, error);
	case OPT_NO_NAMES:
		l->no_names = true;
		break;
	case OPT_NO_RANK:
		l->no_rank = true;
		break;
	case RECORD_AS_EVER:
		break;
	case RECORD_DATA:
		o->wanted.fields |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
		break;
	case RECORD_WEIGHT:
		o->wanted.fields |= PERF_SAMPLE_WEIGHT_STRUCT;
		break;
	case RECORD_PHYSICAL:
		o->wanted.fields |= PERF_SAMPLE_PHYS_ADDR;
		break;
	case RECORD_DATA_PAGE:
		o->wanted.fields |= PERF_SAMPLE_DATA_PAGE_SIZE;
		break;
	case RECORD_CODE_PAGE:
		o->wanted.fields |= PERF_SAMPLE_CODE_PAGE_SIZE;
		break;
	case RECORD_TRANSACTION:
		o->wanted.fields |= PERF_SAMPLE_TRANSACTION;
		break;
	case RECORD_REGISTERS:
		return take(wanted_registers(arg, &o->wanted), error);
	case RECORD_BRANCHES:
		return take(wanted_branches("any", &o->wanted), error);
	case RECORD_BRANCH_KINDS:
		return take(wanted_branches(arg, &o->wanted), error);
	case SAMPLING_EVENT:
		l->lists = !strcmp(arg, "list") || !strcmp(arg, "?");
		l->last_events = l->sampling.events ? strlen(l->sampling.events) + 1 : 0;
		return sampling_set(&l->sampling, row->id, arg, error);
	default:
		return sampling_set(&l->sampling, row->id, arg, error);
	}
	return true;
}

static const char *check_parts(const struct record_opts *o)
{
	const struct parts_opts *p = &o->parts;
	bool parts = parts_are_wanted(p);
	if ((parts || p->overwrite) && !strcmp(o->output, "-"))
		return "--switch-output, --every and --overwrite take files, and -o - is a pipe";
	if (p->max_files && !parts)
		return "--switch-max-files needs --switch-output or --every: when does a new file "
		       "begin?";
	if (p->overwrite && p->max_bytes)
		return "--overwrite keeps 64 MiB in memory: --switch-output=SIZE has nothing to "
		       "go by; =signal or =TIME has";
	return NULL;
}

/* What is wrong with the command line; NULL: nothing. */
static const char *check(const struct record_line *l)
{
	const struct record_opts *o = &l->opts;
	if (!o->argv && !sampling_attaches(&l->sampling) && !sampling_is_of_machine(&l->sampling))
		return "no command, and none of -p, -t, -u, -a and -C: what is to be recorded?";
	if (interpreters_any(&l->interpreters) && !o->argv)
		return "--python, --node and --java are for a command's environment: there is none";
	if (o->runs > 1 && !o->argv)
		return "-r repeats a command: there is none";
	if (o->runs > 1 && gate_is_needed(&o->gate))
		return "-r, and -D -1 or --control: one or the other";
	if (o->all_user && o->all_kernel)
		return "--all-user and --all-kernel: one or the other";
	if (o->check && o->mode == UNWINDING_FP)
		return "--selfcheck compares frame pointers with call-frame information: not with "
		       "-g fp";
	if (o->user_chains && o->kernel_chains)
		return "--user-callchains and --kernel-callchains: one or the other";
	if (l->perf_data && (parts_are_wanted(&o->parts) || !strcmp(o->output, "-")))
		return "--perf-data is made of one file: kin export --to=perf.data makes it of any "
		       "recording later";
	const char *wrong = check_parts(o);
	return wrong ? wrong : sampling_conflict(&l->sampling);
}

static void take_sampling(struct record_opts *o, const struct sampling *s)
{
	o->events = s->events;
	o->frequency = s->frequency;
	o->period = s->period;
	o->everything = sampling_is_of_machine(s);
	o->cpus = s->cpus.at.at;
	o->n_cpus = s->cpus.at.n;
	o->cgroup = s->cgroup;
	o->no_inherit = s->no_inherit;
	o->buffer_bytes = (size_t)s->buffer_bytes;
	o->pids = s->pids.at.at;
	o->n_pids = s->pids.at.n;
	o->tids = s->tids.at.at;
	o->n_tids = s->tids.at.n;
}

/* ---- running ---- */

static void say(const char *text) { message("record", "%s", text); }

static struct record_ending ending(const struct record_line *l)
{
	return (struct record_ending){ .quiet = l->quiet,
				       .warned = l->warned,
				       .more = l->verbose,
				       .names = !l->no_names,
				       .perf_data = l->perf_data,
				       .look = l->look };
}

/* Runs the program although nothing can be recorded, because the program does not need what is
 * missing. An older recording is removed, since it would be mistaken for this run's. */
static int run_unrecorded(const struct record_line *l)
{
	const char *output = l->opts.output;
	bool is_old = output && content_of(output) == CONTENT_PROFILE && !unlink(output);
	message("record", "nothing is recorded; the program runs%s%s%s",
		is_old ? ", and the older " : "", is_old ? output : "",
		is_old ? " is removed" : "");
	execvp(l->opts.argv[0], l->opts.argv);
	int errnum = errno;
	message("record", "%s: %s", l->opts.argv[0], strerror(errnum));
	return child_not_run(errnum);
}

/* Whether the machine or a limit is the cause, not the requested options. */
static bool is_want(const struct record_line *l, int errnum)
{
	bool resource =
		errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM || errnum == EAGAIN;
	return resource || (errnum && !l->opts.events);
}

static int not_begun(const struct record_line *l, struct kin_error *err, bool not_executed)
{
	int errnum = kin_error_errno(err);
	bool wrong = kin_error_kind(err) == KIN_ERROR_USAGE, program = l->opts.argv;
	bool own = program && !record_is_apart(&l->opts) && !l->dry_run;
	bool refused = !not_executed && (errnum == EACCES || errnum == EPERM || errnum == ENOSYS);
	char *remedy = not_executed ? child_remedy(errnum, l->opts.argv[0])
		       : refused    ? record_remedy(&l->opts)
				    : NULL;
	bool inside = refused && own;
	if (!inside || !l->warned)
		message("record", "%s%s%s", kin_error_message(err), refused ? ": " : "",
			remedy ? remedy : "");
	free(remedy);
	kin_error_free(err);
	if (not_executed)
		return child_not_run(errnum);
	if (inside) {
		struct record_ending e = ending(l);
		return record_inside(&l->opts, &e);
	}
	if (own && !refused && is_want(l, errnum))
		return run_unrecorded(l);
	return wrong && !program ? EXIT_USAGE : CHILD_FAILED;
}

static int end(const struct record_result *r)
{
	if (r->stopped_by)
		return child_end_as(r->stopped_by); /* as wait() reports that signal */
	if (r->ended)
		return child_end_as(r->status);
	return r->finished ? EXIT_OK : EXIT_ERROR;
}

/* DIRECTORY/profile.kin. */
static struct kin_error *put_folder(struct record_line *l)
{
	const char *output = l->opts.output;
	l->opts.output = l->in_folder = folder_file(output, "profile.kin");
	return l->dry_run || !strcmp(output, l->opts.output) ? NULL : folder_make(output);
}

/* Adds the rank, profile.3.kin, also to the perf.data file. */
static void put_rank(struct record_line *l)
{
	if (l->no_rank)
		return;
	l->opts.output = l->ranked = rank_file(l->opts.output, false);
	if (l->perf_data)
		l->perf_data = l->ranked_perf = rank_file(l->perf_data, false);
	l->quiet |= rank_is_silent();
}

/* Appends the time: profile.kin.20260131142501. */
static void put_date(struct record_line *l)
{
	char date[32];
	time_t now = time(NULL);
	struct tm tm;
	if (!l->with_date || parts_are_wanted(&l->opts.parts) || /* parts have a time already */
	    !localtime_r(&now, &tm))
		return;
	strftime(date, sizeof(date), "%Y%m%d%H%M%S", &tm);
	l->dated = xprintf("%s.%s", l->opts.output, date);
	l->opts.output = l->dated;
}

static void free_names(struct record_line *l)
{
	free(l->in_folder);
	free(l->ranked);
	free(l->ranked_perf);
	free(l->dated);
}

/* Reserves standard output for the recording: COMMAND's standard output then goes to standard
 * error. */
static bool take_pipe(struct record_line *l)
{
	if (strcmp(l->opts.output, "-") != 0)
		return true;
	if (isatty(STDOUT_FILENO)) {
		message("record", "-o -: standard output is a terminal: kin record -o - COMMAND | "
				  "kin report -i -");
		return false;
	}
	l->opts.output_pipe = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (l->opts.output_pipe < 0) {
		message("record", "-o -: standard output: %s", strerror(errno));
		return false;
	}
	dup2(STDERR_FILENO, STDOUT_FILENO);
	return true;
}

/* Returns false if a further requested file could not be written. */
static bool say_end(const struct record_line *l, struct record_result *r)
{
	const char *output = l->opts.output;
	bool is_pipe = !strcmp(output, "-");
	struct record_ending e = ending(l);
	e.held = &r->held;
	char *series = r->n_parts ? xprintf("%s.*", output) : NULL;
	const char *name = series ? series : is_pipe ? "standard output" : output;
	bool all = record_end(&e, &r->audit, series || is_pipe ? NULL : output, name);
	free(series);
	return all;
}

static int run_line(struct record_line *l)
{
	struct record_result result;
	bool not_executed;
	struct kin_error *no_folder = put_folder(l);
	if (no_folder)
		return not_begun(l, no_folder, false);
	take_sampling(&l->opts, &l->sampling);
	put_rank(l);
	put_date(l);
	l->opts.gate.spans = l->spans.at;
	l->opts.gate.n_spans = l->spans.n;
	l->opts.filters = l->filters.at;
	l->opts.n_filters = l->filters.n;
	l->opts.say = say;
	l->opts.parts.silent = l->quiet;
	l->opts.hold_files = ending(l).names && !parts_are_wanted(&l->opts.parts);
	if (l->dry_run) {
		struct kin_error *wrong = record_check(&l->opts);
		return wrong ? not_begun(l, wrong, false) : EXIT_OK;
	}
	if (!take_pipe(l))
		return EXIT_USAGE;
	struct recording_line *seen = l->quiet ? NULL : recording_line_new();
	l->opts.seen = seen ? recording_line_draw : NULL;
	l->opts.seen_arg = seen;
	interpreters_set(&l->interpreters);
	struct kin_error *err = record(&l->opts, &result, &not_executed);
	recording_line_free(seen);
	if (err)
		return not_begun(l, err, not_executed);
	child_ended();
	if (result.recorded)
		result.finished &= say_end(l, &result);
	record_audit_done(&result.audit);
	held_files_done(&result.held);
	return end(&result);
}

static int run_against(struct record_line *l, char **words)
{
	int argc;
	char **argv = record_against_words(&l->against, l->sampling.events, words, &argc);
	int status = argv ? compare_as(argv[0], argc, argv) : EXIT_USAGE;
	free(argv);
	return status;
}

static int run_words(const struct command *c, int argc, char **argv)
{
	struct record_line l = { .opts.output = "profile.kin" };
	char **program;
	int status = prefix_parse(c, argc, argv, set, &l, &program);
	if (status == PREFIX_GO_ON && l.lists) {
		event_names_list(stdout);
		status = EXIT_SUCCESS;
	} else if (status == PREFIX_GO_ON && l.compares) {
		status = run_against(&l, program);
	} else if (status == PREFIX_GO_ON) {
		l.opts.argv = program;
		const char *wrong = check(&l);
		status = wrong ? prefix_wrong(c, wrong) : run_line(&l);
	}
	sampling_done(&l.sampling);
	record_against_done(&l.against);
	vec_free(&l.spans);
	vec_free(&l.filters);
	free_names(&l);
	return status;
}

int record_program(char **argv, void (*look)(const char *path))
{
	struct record_line l = { .opts = { .output = "profile.kin", .argv = argv }, .look = look };
	int status = run_line(&l);
	free_names(&l);
	return status;
}

const struct command record_command = {
	.name = "record",
	.group = COMMANDS_START,
	.summary = "sample what programs do, with whole call stacks",
	.operands = "[--] COMMAND [ARGUMENT]...",
	.description = description,
	.options = options,
	.refused = record_refusals,
	.examples = examples,
	.exit_status =
		"COMMAND's, or death by the signal that killed it; 125 if what was asked for "
		"cannot be recorded, 126 if COMMAND could not be executed, 127 if it was not "
		"found; 2 if the command line makes no sense. Without COMMAND 0 if all was "
		"recorded, 1 if not.",
	.run_words = run_words,
};

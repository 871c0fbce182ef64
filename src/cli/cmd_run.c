/* cmd_run.c - runs a program with the collection runtime in it. */
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "cli/arg.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/inside.h"
#include "cli/message.h"
#include "cli/naming.h"
#include "cli/prefix.h"
#include "cli/rank_file.h"
#include "record/made_names.h"
#include "record/preload.h"
#include "record/runtime_file.h"

static const char *const description[] = {
	"Runs COMMAND with kin's runtime loaded into it and into every program it starts, "
	"without relinking. In programs compiled with -pg, -pg -mfentry or "
	"-finstrument-functions every call is counted exactly, in all threads and shared "
	"libraries; with -fsanitize-coverage=trace-pc every basic block. In any program the CPU "
	"time of each thread is sampled, with call stacks.",
	"Each process has its own file: profile.kin, and profile.PID.kin for each further "
	"process. The file is mapped memory, so no counts are lost however the process ends: by "
	"_exit, a crash or SIGKILL. Programs compiled with -pg also write a gmon.out for gprof, "
	"with the calls of all threads.",
	"In a parallel job (mpirun of Open MPI or MPICH, Slurm's srun) files are named by the "
	"rank: "
	"profile.0.kin, profile.1.kin and so on; in FILE, %r is the rank, and without it the rank "
	"is put before .kin.",
	"COMMAND's output, exit status and signals are as without kin run. Statically linked "
	"programs must be linked with the runtime: see kin cc. A program that cannot be measured "
	"runs anyway, and kin run prints a warning. KIN_OPTIONS in the environment may hold "
	"further settings of the runtime, which kinrt.h documents.",
	NULL,
};

static const struct example examples[] = {
	{ "kin run ./server --port 80", "then: kin flat, kin graph, kin report" },
	{ "kin run -o sort.kin --sample=off ./sort big", "count only" },
	{ "kin run make -j2", "one file for each compiler and shell" },
	{ 0 },
};

enum {
	RUN_SAMPLE = OPT_OWN,
	RUN_LEAVES,
	RUN_NO_CALLS,
	RUN_NO_BLOCKS,
	RUN_NO_GMON,
	RUN_LATENCY,
	RUN_VERBOSE,
	RUN_QUIET,
};

static const struct opt_group what_options = {
	"What is collected",
	(const struct opt[]){
		{ RUN_SAMPLE, 0, "sample", "HZ",
		  "samples per second of each thread's CPU time, 1000 if not given; off: none" },
		{ RUN_LEAVES, 0, "no-stacks", NULL, "sample without callers" },
		{ RUN_NO_CALLS, 0, "no-calls", NULL, "do not count calls" },
		{ RUN_NO_BLOCKS, 0, "no-blocks", NULL, "do not count basic blocks" },
		{ RUN_LATENCY, 0, "latency", NULL,
		  "how long calls take, as distributions; in programs compiled with "
		  "-finstrument-functions" },
		{ 0 },
	},
};

static const struct opt_group file_options = {
	"Output",
	(const struct opt[]){
		{ OPT_OUTPUT, 'o', "output", "FILE",
		  "write to FILE instead of profile.kin; %p in it is the process id, %e the "
		  "program's name. An older profile there is replaced, and nothing else",
		  NULL, COMPLETE_FILE },
		{ RUN_NO_GMON, 0, "no-gmon", NULL, "no gmon.out of programs compiled with -pg" },
		OPTION_NO_NAMES,
		OPTION_NO_RANK,
		{ RUN_VERBOSE, 'v', "verbose", NULL,
		  "print the runtime's problems on standard error; the file has them in any case" },
		{ RUN_QUIET, 'q', "quiet", NULL, "print nothing if there is a profile" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &what_options, &file_options, &general_options,
						   NULL };

/* ---- the command line ---- */

struct run_line {
	struct preload_opts opts;
	char **argv;
	bool quiet, no_names, no_rank;
};

static bool take_sample(const char *arg, unsigned *hz)
{
	uint64_t n = 0;
	if (strcmp(arg, "off") != 0 && !arg_u64(arg, 1, 100000, &n))
		return false;
	*hz = (unsigned)n;
	return true;
}

static bool set(void *line, int id, const char *arg, char error[512])
{
	struct run_line *l = line;
	switch (id) {
	case RUN_SAMPLE:
		return take_sample(arg, &l->opts.frequency) ||
		       arg_bad("--sample", arg, "a number of samples per second, nor off", error);
	case RUN_LEAVES:
		l->opts.leaves = true;
		break;
	case RUN_NO_CALLS:
		l->opts.no_arcs = true;
		break;
	case RUN_NO_BLOCKS:
		l->opts.no_blocks = true;
		break;
	case RUN_NO_GMON:
		l->opts.no_gmon = true;
		break;
	case RUN_LATENCY:
		l->opts.latency = true;
		break;
	case RUN_VERBOSE:
		l->opts.verbose = true;
		break;
	case RUN_QUIET:
		l->quiet = true;
		break;
	case OPT_NO_NAMES:
		l->no_names = true;
		break;
	case OPT_NO_RANK:
		l->no_rank = true;
		break;
	case OPT_OUTPUT:
		l->opts.output = arg;
		break;
	}
	return true;
}

/* ---- the files ---- */

static size_t count_others(const char *output, const struct timespec *start)
{
	glob_t g = { 0 };
	size_t n = 0;
	char *taken = inside_pattern(output, true), *plain = inside_pattern(output, false);
	glob(taken, 0, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc; i++)
		n += inside_is_newer(g.gl_pathv[i], start) &&
		     (!inside_is_pattern(output) ||
		      fnmatch(plain, g.gl_pathv[i], FNM_PATHNAME) != 0);
	globfree(&g);
	if (inside_is_pattern(output) && !glob(plain, 0, NULL, &g)) {
		for (size_t i = 0; i < g.gl_pathc; i++)
			n += inside_is_newer(g.gl_pathv[i], start);
		globfree(&g);
	}
	free(taken);
	free(plain);
	return n;
}

static void say_all(const char *output, size_t others)
{
	char *all = inside_pattern(output, true);
	message("run",
		"%s, and %zu more of other processes: kin flat %s shows it, kin flat %s %s "
		"all of them",
		output, others, output, output, all);
	free(all);
}

static void name_file(const struct run_line *l, const char *path)
{
	struct kin_error *err = made_names_put(path);
	if (err)
		message("run", "names are not kept: %s", kin_error_message(err));
	kin_error_free(err);
	if (!l->no_names)
		naming_put("run", path, NULL, NULL);
}

/* All files of the run get names, but for those of processes that go on. */
static void name_files(const struct run_line *l, const struct timespec *start)
{
	const char *output = l->opts.output;
	glob_t g = { 0 };
	char *taken = inside_pattern(output, true), *plain = inside_pattern(output, false);
	int how = glob(taken, 0, NULL, &g) ? 0 : GLOB_APPEND;
	glob(plain, how, NULL, &g);
	const char *last = NULL;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		bool again = last && !strcmp(last, g.gl_pathv[i]);
		last = g.gl_pathv[i];
		if (again || !inside_is_newer(last, start))
			continue;
		struct kin_error *busy = runtime_file_check_busy(last);
		if (!busy)
			name_file(l, last);
		kin_error_free(busy);
	}
	globfree(&g);
	free(taken);
	free(plain);
}

static void say_pattern(const char *output, size_t n)
{
	char *all = inside_pattern(output, false);
	if (n == 1)
		message("run", "a profile: kin flat %s shows it", all);
	else
		message("run", "%zu profiles: kin flat %s shows all of them", n, all);
	free(all);
}

static void say_one(const struct preload_opts *o)
{
	bool calls = o->no_arcs || runtime_file_has_calls(o->output);
	message("run", "%s: kin flat, kin graph and kin report show it%s", o->output,
		calls ? ""
		      : "; no calls were counted: the program has to be compiled for that, with "
			"-pg or "
			"-finstrument-functions");
}

/* Reports say it, too, as does kin info --strict. */
static void say_trouble(const char *output)
{
	char *trouble = runtime_file_trouble(output);
	if (trouble)
		message("run", "%s: while it was recorded: %s", output, trouble);
	free(trouble);
}

static void say_files(const struct run_line *l, const struct timespec *start)
{
	const char *output = l->opts.output;
	size_t others = count_others(output, start);
	bool own = inside_is_newer(output, start);
	const char *why = inside_unwritable(output);

	if ((own || others) && l->quiet)
		return;
	if (own)
		say_trouble(output);
	if (own && others)
		say_all(output, others);
	else if (own)
		say_one(&l->opts);
	else if (others && inside_is_pattern(output))
		say_pattern(output, others);
	else if (others)
		message("run", "%zu profiles beside where %s would be", others, output);
	else if (why)
		message("run", "there is no profile: cannot write %s: %s; -o names another file",
			output, why);
	else
		message("run",
			"%s left no profile: it could not write %s, ended at once, or was not "
			"compiled for counting and used no CPU time to sample",
			l->argv[0], output);
}

/* ---- running ---- */

static int run_line(const struct run_line *l)
{
	struct inside inside = {
		.command = "run", .opts = l->opts, .argv = l->argv, .recorder = true
	};
	struct inside_result r;
	inside_run(&inside, &r);
	if (!r.ran)
		return r.status;
	child_ended();
	if (r.measured)
		name_files(l, &r.start);
	if (r.measured)
		say_files(l, &r.start);
	return child_end_as(r.status);
}

static int run_words(const struct command *c, int argc, char **argv)
{
	struct run_line l = { .opts = { .output = "profile.kin", .frequency = 1000 } };
	int status = prefix_parse(c, argc, argv, set, &l, &l.argv);
	if (status != PREFIX_GO_ON)
		return status;
	if (!strcmp(l.opts.output, "-"))
		return prefix_wrong(c, "-o -: a profile is written while the program runs, into a "
				       "file; ./- is one of that name");
	char *output = l.no_rank ? xprintf("%s", l.opts.output) : rank_file(l.opts.output, true);
	l.opts.output = output;
	l.opts.no_rank = true;
	l.quiet |= !l.no_rank && rank_is_silent();
	status = l.argv ? run_line(&l) : prefix_wrong(c, "which program? As in kin run ./prog");
	free(output);
	return status;
}

const struct command run_command = {
	.name = "run",
	.group = COMMANDS_COLLECT,
	.summary = "run a program and count its calls, from inside",
	.operands = "[--] COMMAND [ARGUMENT]...",
	.description = description,
	.options = options,
	.examples = examples,
	.exit_status =
		"COMMAND's, or death by the signal that killed it, whether it could be measured or "
		"not; 125 if kin could not start anything, 126 "
		"if it could not be executed, 127 if it was not found; 2 if the command line "
		"makes no sense.",
	.run_words = run_words,
};

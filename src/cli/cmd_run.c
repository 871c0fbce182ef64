/* cmd_run.c - runs a program with the collection runtime loaded. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/folder.h"
#include "cli/arg.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/inside.h"
#include "cli/message.h"
#include "cli/naming.h"
#include "cli/prefix.h"
#include "cli/rank_file.h"
#include "cli/run_files.h"
#include "record/made_names.h"
#include "record/preload.h"
#include "record/recording_audit.h"
#include "record/runtime_file.h"

static const char *const description[] = {
	"Runs COMMAND with kin's runtime loaded into it and into every program it starts, "
	"without relinking. In programs compiled with -pg, -pg -mfentry or "
	"-finstrument-functions every call is counted exactly, in all threads and shared "
	"libraries. In any program the CPU time of each thread is sampled, with call stacks.",
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
	"further settings of the runtime, which kinrt.h documents, but for output: the file is "
	"that of -o.",
	NULL,
};

static const struct example examples[] = {
	{ "kin run ./server --port 80", "then: kin flat, kin graph, kin report" },
	{ "kin run -o sort.kin --sample=off ./sort big", "count only" },
	{ "kin run make -j2", "one file for each compiler and shell" },
	{ 0 },
};

struct run_line {
	struct preload_opts opts;
	char **argv;
	bool quiet, no_names, no_rank, named;
};

enum { RUN_SAMPLE = OPT_OWN };

static const struct opt_group what_options = {
	"What is collected",
	(const struct opt[]){
		{ RUN_SAMPLE, 0, "sample", "HZ",
		  "samples per second of each thread's CPU time, 1000 if not given; off: none" },
		{ OPT_FIELD, 0, "no-stacks", NULL, "sample without callers",
		  OPT_SETS(struct run_line, opts.leaves) },
		{ OPT_FIELD, 0, "no-calls", NULL, "do not count calls",
		  OPT_SETS(struct run_line, opts.no_arcs) },
		{ OPT_FIELD, 0, "latency", NULL,
		  "how long calls take, as distributions; in programs compiled with "
		  "-finstrument-functions",
		  OPT_SETS(struct run_line, opts.latency) },
		{ 0 },
	},
};

static const struct opt_group file_options = {
	"Output",
	(const struct opt[]){
		{ OPT_OUTPUT, 'o', "output", "FILE",
		  "write to FILE instead of profile.kin; %p in it is the process id, %e the "
		  "program's name, %r the rank in a parallel job, %t the time in seconds, %% a "
		  "percent sign. An older profile there is replaced, and nothing else. "
		  "DIRECTORY/: to profile.kin in it, which is made if it is not there",
		  NULL, COMPLETE_FILE },
		{ OPT_FIELD, 0, "no-gmon", NULL, "no gmon.out of programs compiled with -pg",
		  OPT_SETS(struct run_line, opts.no_gmon) },
		OPTION_NO_NAMES,
		OPTION_NO_RANK,
		{ OPT_FIELD, 'v', "verbose", NULL,
		  "print the runtime's problems on standard error; the file has them in any case",
		  OPT_SETS(struct run_line, opts.verbose) },
		{ OPT_FIELD, 'q', "quiet", NULL, "print nothing if there is a profile",
		  OPT_SETS(struct run_line, quiet) },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &what_options, &file_options, &general_options,
						   NULL };

/* ---- the command line ---- */

static bool take_sample(const char *arg, unsigned *hz)
{
	uint64_t n = 0;
	if (strcmp(arg, "off") != 0 && !arg_u64(arg, 1, 100000, &n))
		return false;
	*hz = (unsigned)n;
	return true;
}

static bool set(void *line, const struct opt *row, const char *arg, char error[512])
{
	struct run_line *l = line;
	if (opt_store(row, "struct run_line", l, arg))
		return true;
	switch (row->id) {
	case RUN_SAMPLE:
		return take_sample(arg, &l->opts.frequency) ||
		       arg_bad("--sample", arg, "a number of samples per second, nor off", error);
	case OPT_NO_NAMES:
		l->no_names = true;
		break;
	case OPT_NO_RANK:
		l->no_rank = true;
		break;
	case OPT_OUTPUT:
		l->opts.output = arg;
		l->named = true;
		break;
	}
	return true;
}

/* ---- the files ---- */

static void name_file(const struct run_line *l, const char *path)
{
	struct kin_error *err = made_names_put(path);
	if (err)
		message("run", "names are not kept: %s", kin_error_message(err));
	kin_error_free(err);
	if (!l->no_names)
		naming_put("run", path, NULL, NULL);
}

/* Adds names to a file unless its process still runs. */
static void name_if_ended(const struct run_line *l, const char *path)
{
	struct kin_error *busy = runtime_file_check_busy(path);
	if (!busy)
		name_file(l, path);
	kin_error_free(busy);
}

/* Adds names to all files of the run. The program's file is last, because views show the newest
 * file. */
static void name_files(const struct run_line *l, const struct run_files *files,
		       const struct run_file *last)
{
	const struct run_file *of_program = last ? last : run_files_named(files, l->opts.output);
	for (size_t i = 0; i < files->at.n; i++)
		if (&files->at.at[i] != of_program)
			name_if_ended(l, files->at.at[i].path);
	if (!of_program)
		return;
	name_if_ended(l, of_program->path);
	(void)utimensat(AT_FDCWD, of_program->path, NULL, AT_SYMLINK_NOFOLLOW);
}

/* What the pattern names besides the files of this run. To be freed. */
static char *others_in_words(const struct run_files *files, const char *pattern)
{
	size_t n = run_files_others(files, pattern);
	return n ? xprintf(", and %zu of other runs, if %s not removed first", n,
			   n > 1 ? "they are" : "it is")
		 : xprintf("%s", "");
}

static void say_all(const char *output, const struct run_files *files)
{
	char *all = inside_pattern(output, true), *others = others_in_words(files, all),
	     *word = message_word(output);
	message("run",
		"%s, and %zu more of other processes: kin flat %s shows it, kin flat %s %s "
		"all of them%s",
		output, files->at.n - 1, word, word, all, others);
	free(word);
	free(others);
	free(all);
}

static void say_pattern(const char *output, const struct run_files *files)
{
	char *all = inside_pattern(output, false), *others = others_in_words(files, all),
	     *word = message_word(files->at.at[0].path);
	if (files->at.n == 1)
		message("run", "a profile: kin flat %s shows it", *others ? word : all);
	else
		message("run", "%zu profiles: kin flat %s shows all of them%s", files->at.n, all,
			others);
	free(word);
	free(others);
	free(all);
}

/* Says what was requested but is missing in the data. */
static const char *lack_in_words(const struct preload_opts *o, const char *path)
{
	if (o->latency && !runtime_file_has_durations(path))
		return "; no durations were measured: the program has to be compiled for that, "
		       "with -finstrument-functions";
	if (o->no_arcs || runtime_file_has_calls(path))
		return "";
#define NO_CALLS                                                                                   \
	"no calls were counted: the program has to be compiled for that, with -pg or "             \
	"-finstrument-functions"
	return o->frequency && !runtime_file_has_samples(path)
		       ? "; no samples were taken, as this process used too little CPU time, "
			 "and " NO_CALLS
		       : "; " NO_CALLS;
#undef NO_CALLS
}

static void say_one(const struct preload_opts *o)
{
	message("run", "%s: kin flat, kin graph and kin report show it%s", o->output,
		lack_in_words(o, o->output));
}

/* Prints problems while recording, as reports and kin info --strict do. */
static void say_trouble(const char *output)
{
	char *trouble = runtime_file_trouble(output);
	if (trouble)
		message("run", "%s: while it was recorded: %s", output, trouble);
	free(trouble);
}

/* Prints that functions are counted twice, which makes the program slower than necessary. */
static void say_twice(const char *path)
{
	char *twice = runtime_file_fact(path, "twice");
	if (twice)
		message("run", "%s: %s", path, twice);
	free(twice);
}

/* Prints that the started process executed another program, whose profile has another name than
 * requested. */
static void say_became(const struct run_line *l, const struct run_file *last,
		       const struct run_files *files)
{
	const char *output = l->opts.output;
	char *all = inside_pattern(output, true), *exe = runtime_file_fact(last->path, "exe"),
	     *others = others_in_words(files, all), *word = message_word(output),
	     *shown = message_word(last->path);
	message("run", "%s became %s: kin flat %s shows it, kin flat %s %s all %zu profiles%s%s",
		l->argv[0], exe ? exe : "another program", shown, word, all, files->at.n, others,
		*lack_in_words(&l->opts, output) ? lack_in_words(&l->opts, last->path) : "");
	free(shown);
	free(word);
	free(others);
	free(exe);
	free(all);
}

/* Prints that the requested name belongs to another process, perhaps of a run at the same time. */
static void say_beside(const struct run_line *l, const struct run_file *last)
{
	char *word = message_word(last->path);
	message("run", "%s: kin flat %s shows it, as %s belongs to another process%s", last->path,
		word, l->opts.output, lack_in_words(&l->opts, last->path));
	free(word);
}

/* Why a program that was executed was not measured. A relative path does not tell which file was
 * meant. */
static char *reason_for(const char *became, bool without)
{
	const char *remedy = NULL;
	const char *obstacle = became[0] == '/' ? preload_obstacle(became, &remedy) : NULL;
	if (without)
		return xprintf("its environment is without kin run's LD_PRELOAD");
	if (!obstacle)
		return xprintf("it left no profile");
	return xprintf("it %s%s%s", obstacle, remedy ? ", or " : "", remedy ? remedy : "");
}

/* Whether the executed program did not load the runtime, or ended before the runtime began. Without
 * sampling a program that makes no counted calls has no file either. */
static bool became_unmeasured(const struct run_line *l, const struct run_file *last)
{
	return last && last->header.end == KINF_EXECED &&
	       (last->header.end_detail == KINF_EXEC_WITHOUT || l->opts.frequency);
}

static void say_unmeasured(const struct run_line *l, const struct run_file *last)
{
	const struct kinf_header *h = &last->header;
	char *became = xprintf("%.*s", (int)sizeof(h->became), h->became);
	char *reason = reason_for(became, h->end_detail == KINF_EXEC_WITHOUT);
	message("run", "%s became %s, which is not measured: %s; %s holds what ran before",
		l->argv[0], *became ? became : "another program", reason, last->path);
	free(reason);
	free(became);
}

/* Prints further processes that were not measured, besides the started one. */
static void say_others_unmeasured(const struct run_files *files, pid_t pid)
{
	const struct kinf_header *any = NULL;
	size_t n = 0;
	for (size_t i = 0; i < files->at.n; i++) {
		const struct kinf_header *h = &files->at.at[i].header;
		if (h->end != KINF_EXECED || h->end_detail != KINF_EXEC_WITHOUT ||
		    h->pid == (uint32_t)pid)
			continue;
		any = h;
		n++;
	}
	bool one = n == 1;
	if (any)
		message("run",
			"%zu other process%s became %s not measured: %s without kin run's "
			"LD_PRELOAD (%.*s%s)",
			n, one ? "" : "es", one ? "a program that is" : "programs that are",
			one ? "its environment is" : "their environments are",
			(int)sizeof(any->became), any->became[0] ? any->became : "not known which",
			one ? "" : " ...");
}

/* Prints CPU time of processes without a file: they did not load the runtime, or could not write
 * there. For a killed process the measured time may be incomplete. */
static void say_unseen(const struct run_line *l, const struct run_files *files, uint64_t used_ns)
{
	enum { ENDS_NS = 1000000 }; /* before the runtime begins and after it ends */
	uint64_t measured_ns = 0;
	bool ended = true;
	for (size_t i = 0; i < files->at.n; i++) {
		measured_ns += files->at.at[i].header.cpu_ns + ENDS_NS;
		ended = ended && files->at.at[i].header.end != KINF_RUNNING;
	}
	uint64_t unseen_ns = record_audit_unseen(used_ns, measured_ns);
	if (ended && unseen_ns && l->opts.frequency)
		message("run",
			"%.3f of %.3f s of CPU time are in no profile: programs that did not load "
			"the runtime (linked statically, setuid, LD_PRELOAD not in their "
			"environment), processes that ended at once or could not write a profile "
			"(as another user, or after chroot), sampling that was stopped, or the "
			"kernel's work as processes ended, such as freeing their memory; kin "
			"record needs no runtime",
			(double)unseen_ns / 1e9, (double)used_ns / 1e9);
}

static void say_found(const struct run_line *l, const struct run_files *files,
		      const struct run_file *last)
{
	const char *output = l->opts.output;
	const struct run_file *own = run_files_named(files, output);
	size_t n = files->at.n;

	if (last || own)
		say_trouble(last ? last->path : output);
	if (last || own)
		say_twice(last ? last->path : output);
	if (became_unmeasured(l, last))
		say_unmeasured(l, last);
	else if (inside_is_pattern(output))
		say_pattern(output, files);
	else if (last && own && own->header.pid != last->header.pid)
		say_beside(l, last);
	else if (last && last != own)
		say_became(l, last, files);
	else if (own && n > 1)
		say_all(output, files);
	else if (own)
		say_one(&l->opts);
	else
		message("run", "%zu profiles beside where %s would be", n, output);
}

static void say_none(const struct run_line *l)
{
	const char *output = l->opts.output, *why = inside_unwritable(output);
	if (why)
		message("run", "there is no profile: cannot write %s: %s; -o names another file",
			output, why);
	else
		message("run",
			"%s left no profile: it could not write %s, ended at once, or was not "
			"compiled for counting and used no CPU time to sample",
			l->argv[0], output);
}

static void end_files(const struct run_line *l, const struct inside_result *r)
{
	struct run_files files;
	run_files_find(l->opts.output, &r->start, &files);
	const struct run_file *last = run_files_last(&files, r->pid);
	name_files(l, &files, last);
	if (!files.at.n)
		say_none(l);
	else if (!l->quiet) {
		say_found(l, &files, last);
		say_others_unmeasured(&files, r->pid);
		if (!became_unmeasured(l, last))
			say_unseen(l, &files, r->used_ns);
	}
	run_files_done(&files);
}

/* ---- running ---- */

static int run_line(const struct run_line *l)
{
	struct inside inside = {
		.command = "run", .opts = l->opts, .argv = l->argv, .recorder = true
	};
	struct inside_result r;
	const char *other = l->named || l->quiet ? NULL : preload_other_output();
	if (other)
		message("run",
			"KIN_OPTIONS: %.*s does not count under kin run: the profile is %s, -o "
			"names another",
			(int)strcspn(other, ","), other, l->opts.output);
	inside_run(&inside, &r);
	if (!r.ran)
		return r.status;
	child_ended();
	if (r.measured)
		end_files(l, &r);
	return child_end_as(r.status);
}

/* If the folder cannot be created, the program runs all the same, and the end says that there is no
 * profile. */
static void make_folder(const char *path)
{
	struct kin_error *err = folder_make(path);
	if (err)
		message("run", "%s", kin_error_message(err));
	kin_error_free(err);
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
	char *file = folder_file(l.opts.output, "profile.kin");
	char *output = l.no_rank ? xprintf("%s", file) : rank_file(file, true);
	if (l.argv && strcmp(file, l.opts.output) != 0)
		make_folder(l.opts.output);
	l.opts.output = output;
	l.opts.no_rank = true;
	l.quiet |= !l.no_rank && rank_is_silent();
	status = l.argv ? run_line(&l) : prefix_wrong(c, "which program? As in kin run ./prog");
	free(output);
	free(file);
	return status;
}

const struct command run_command = {
	.name = "run",
	.group = COMMANDS_GPROF,
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

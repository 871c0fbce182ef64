/* cmd_cc.c - runs a compiler with the flags that make programs countable. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/prefix.h"
#include "record/preload.h"

static const char *const description[] = {
	"Runs COMPILER with ARGUMENTs and the flags that kin's runtime needs: debugging "
	"information for lines and names, -pg -mfentry for calls, and, when linking, the runtime "
	"itself. The program, statically linked or not, then writes a profile on every run, "
	"without kin run.",
	"Calls are counted, lines with --blocks, and the CPU time of each thread is sampled; "
	"KIN_OPTIONS=sample=off in the program's environment turns sampling off. Without kin cc, "
	"the runtime is linked by pkg-config --libs kinrt, or CMake's find_package(Kinrt) and "
	"Kinrt::kinrt; kin run needs no linking.",
	"Use it in place of the compiler: CC=\"kin cc gcc\" for make and configure, likewise CXX "
	"and FC. Any compiler that takes gcc's options will do, also behind ccache, sccache, "
	"distcc or icecc: CC=\"kin cc ccache gcc\".",
	NULL,
};

static const struct example examples[] = {
	{ "kin cc gcc -O2 -o sort sort.c", "then: ./sort; kin flat" },
	{ "make CC='kin cc gcc' CXX='kin cc g++'", "a whole project" },
	{ "kin cc --blocks clang -O1 -c part.c", "count how often lines are executed" },
	{ "kin cc --print gfortran main.f90", "print the command that would run" },
	{ 0 },
};

struct cc_line {
	char *launcher; /* NULL: none */
	char **argv;    /* the compiler and its arguments */
	bool blocks, latency, no_calls, no_runtime, print;
};

static const struct opt_group what_options = {
	"What the program will count",
	(const struct opt[]){
		{ OPT_FIELD, 0, "blocks", NULL,
		  "executions of lines, too (--coverage): kin annotate shows them; the program "
		  "adds them to .gcda files when it ends",
		  OPT_SETS(struct cc_line, blocks) },
		{ OPT_FIELD, 0, "latency", NULL,
		  "entries and exits (-finstrument-functions) instead of entries alone, so that "
		  "kin run --latency can time calls",
		  OPT_SETS(struct cc_line, latency) },
		{ OPT_FIELD, 0, "no-calls", NULL, "no calls", OPT_SETS(struct cc_line, no_calls) },
		{ 0 },
	},
};

static const struct opt_group how_options = {
	"How",
	(const struct opt[]){
		{ OPT_FIELD, 0, "no-runtime", NULL,
		  "do not link the runtime, for programs to be started by kin run",
		  OPT_SETS(struct cc_line, no_runtime) },
		{ OPT_FIELD, 0, "print", NULL, "print the command instead of running it",
		  OPT_SETS(struct cc_line, print) },
		{ 0 },
	},
};

/* The compiler's own options, where the compiler was forgotten. */
#define COMPILER_FIRST "the compiler comes before its options, as in kin cc gcc -o prog prog.c"
static const struct opt_refusal of_compilers[] = {
	{ 'o', "output", COMPILER_FIRST },       { 'c', "compile", COMPILER_FIRST },
	{ 'O', "optimize", COMPILER_FIRST },     { 'g', "debug", COMPILER_FIRST },
	{ 'p', "profile", COMPILER_FIRST }, /* -pg */
	{ 'W', "warn-", COMPILER_FIRST },        { 'I', "include-directory", COMPILER_FIRST },
	{ 'D', "define-macro", COMPILER_FIRST }, { 0 },
};
#undef COMPILER_FIRST
static const struct opt_refusal *const refused[] = { of_compilers, NULL };

static const struct opt_group *const options[] = { &what_options, &how_options, &general_options,
						   NULL };

static bool set(void *line, const struct opt *row, const char *arg, char error[512])
{
	(void)error;
	return opt_store(row, "struct cc_line", line, arg);
}

/* ---- what the arguments request ---- */

/* Splits off a command that runs the compiler named behind it: the flags are the compiler's. */
static void split_launcher(struct cc_line *l)
{
	static const char *const launchers[] = { "ccache", "sccache", "distcc", "icecc" };
	const char *next = l->argv[1];
	for (size_t i = 0; i < ARRAY_LEN(launchers); i++)
		if (next && *next != '-' && !strcmp(base_name(l->argv[0]), launchers[i])) {
			l->launcher = *l->argv++;
			return;
		}
}

static bool has(char *const *argv, const char *arg)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, arg))
			return true;
	return false;
}

/* Whether the compiler stops before linking a program, or generates no code. */
static bool is_compile_only(char *const *argv)
{
	static const char *const stops[] = { "-c",           "-S",        "-E",
					     "-M",           "-MM",       "-r",
					     "-nostdlib",    "--version", "-dumpversion",
					     "-fsyntax-only" };
	for (size_t i = 0; i < ARRAY_LEN(stops); i++)
		if (has(argv, stops[i]))
			return true;
	return false;
}

static bool has_input(char *const *argv)
{
	bool skip = true; /* the first word is the compiler */
	for (; *argv; argv++) {
		bool was_value = skip;
		skip = !strcmp(*argv, "-o") || !strcmp(*argv, "-x");
		bool is_file = (*argv)[0] != '-' || !(*argv)[1]; /* "-": standard input */
		if (!was_value && (is_file || !strncmp(*argv, "-l", 2)))
			return true;
	}
	return false;
}

static bool is_clang(const char *compiler) { return strstr(base_name(compiler), "clang") != NULL; }

/* Whether the arguments or our options include -finstrument-functions. */
static bool counts_by_entries(const struct cc_line *l)
{
	return l->latency || has(l->argv, "-finstrument-functions") ||
	       has(l->argv, "-finstrument-functions-after-inlining");
}

static bool adds_pg(const struct cc_line *l) { return !counts_by_entries(l) && !l->no_calls; }

/* ---- the compiler's command line ---- */

struct cc_words {
	VEC(const char *) at;
	char *library, *runtime; /* owned; some words point to them */
};

static void add_argument(struct cc_words *w, const char *word) { vec_push(&w->at, word); }

static void add_counting(struct cc_words *w, const struct cc_line *l)
{
	bool clang = is_clang(l->argv[0]);
	if (clang) /* clang warns about flags that do not matter for assembling or linking */
		add_argument(w, "-Wno-unused-command-line-argument");
	if (!has(l->argv, "-g0"))
		add_argument(w, "-g");
	if (l->latency)
		add_argument(w, "-finstrument-functions");
	if (adds_pg(l)) {
		add_argument(w, "-pg");
		const char *hooks = preload_flag_for_hooks();
		if (hooks && (!clang || !has(l->argv, "-m32")))
			add_argument(w, hooks);
	}
	if (preload_flag_for_stacks())
		add_argument(w, preload_flag_for_stacks());
	if (l->blocks) {
		add_argument(w, "--coverage");
		add_argument(w, "-fprofile-update=prefer-atomic"); /* threads lose no counts */
	}
}

/* gcc rejects this flag together with -pg, although it works with -mfentry. It is the default
 * anyway. */
static bool is_refused(const struct cc_line *l, const char *arg)
{
	return adds_pg(l) && !is_clang(l->argv[0]) && !strcmp(arg, "-fomit-frame-pointer");
}

/* Adds the runtime. A static program gets the whole static library, because nothing may refer to
 * it; other programs get the path of the shared library. */
static struct kin_error *add_runtime(struct cc_words *w, const struct cc_line *l)
{
	char *so = preload_find();
	if (!so)
		return err_new(KIN_ERROR_USAGE, KINRT " is not installed beside this program");
	size_t folder = (size_t)(strrchr(so, '/') - so);
	if (has(l->argv, "-static") || has(l->argv, "-static-pie")) {
		w->library = xprintf("%.*s/libkinrt.a", (int)folder, so);
		add_argument(w, "-Wl,--whole-archive");
		add_argument(w, w->library);
		add_argument(w, "-Wl,--no-whole-archive");
		add_argument(w, "-Wl,--eh-frame-hdr"); /* needed to walk stacks */
	} else {
		w->library = xprintf("-Wl,-rpath,%.*s", (int)folder, so);
		add_argument(w, "-Wl,--push-state,--no-as-needed");
		add_argument(w, "-Xlinker");
		w->runtime = TAKE(so);
		add_argument(w, w->runtime);
		add_argument(w, "-Wl,--pop-state");
		add_argument(w, w->library);
	}
	free(so);
	return NULL;
}

static void print(const struct cc_words *w)
{
	for (size_t i = 0; w->at.at[i]; i++)
		printf("%s%s", i ? " " : "", w->at.at[i]);
	putchar('\n');
}

static void words_done(struct cc_words *w)
{
	vec_free(&w->at);
	free(w->library);
	free(w->runtime);
}

static struct kin_error *collect(struct cc_words *w, const struct cc_line *l)
{
	if (l->launcher)
		add_argument(w, l->launcher);
	add_argument(w, l->argv[0]);
	add_counting(w, l);
	for (char **a = l->argv + 1; *a; a++)
		if (!is_refused(l, *a))
			add_argument(w, *a);
	struct kin_error *err = NULL;
	if (!l->no_runtime && !is_compile_only(l->argv) && has_input(l->argv))
		err = add_runtime(w, l);
	add_argument(w, NULL);
	return err;
}

/* Returns only if there is nothing to execute. */
static int execute(const struct cc_words *w)
{
	execvp(w->at.at[0], (char *const *)(uintptr_t)w->at.at);
	int errnum = errno;
	message_error("cc", err_os(errnum, "%s", w->at.at[0]));
	return child_not_run(errnum);
}

static int run_line(const struct cc_line *l)
{
	struct cc_words w = { 0 };
	int status = EXIT_OK;
	if (counts_by_entries(l) && has(l->argv, "-pg"))
		message("cc",
			"-pg beside -finstrument-functions: each call runs the hooks of both, "
			"and counts once; without -pg the program is faster");
	struct kin_error *err = collect(&w, l);
	if (err) {
		message_error("cc", err);
		status = CHILD_FAILED;
	} else if (l->print) {
		print(&w);
	} else {
		status = execute(&w);
	}
	words_done(&w);
	return status;
}

static int run_words(const struct command *c, int argc, char **argv)
{
	struct cc_line l = { 0 };
	int status = prefix_parse(c, argc, argv, set, &l, &l.argv);
	if (status != PREFIX_GO_ON)
		return status;
	if (!l.argv)
		return prefix_wrong(c, "which compiler? As in kin cc gcc -o prog prog.c");
	split_launcher(&l);
	return run_line(&l);
}

const struct command cc_command = {
	.name = "cc",
	.group = COMMANDS_GPROF,
	.summary = "compile programs so that their calls are counted",
	.operands = "[--] COMPILER [ARGUMENT]...",
	.refused = refused,
	.description = description,
	.options = options,
	.examples = examples,
	.exit_status =
		"the compiler's; 125 if the runtime is not installed, 126 if the compiler could "
		"not be executed, 127 if it was not found; 2 if the command line makes no sense.",
	.run_words = run_words,
};

/* cmd_info.c - describes the data. */
#include <stdint.h>
#include <string.h>

#include "cli/arg.h"
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Describes the data before any of it is interpreted: the files and their formats, the "
	"sampled range of addresses and its resolution, the number of counted calls, and the "
	"program that was used for names.",
	"For recordings it also shows their quality: sampled CPU time next to the kernel's "
	"accounting, the actual sampling rate, lost samples, truncated stacks and the files in "
	"which they ended, samples without a name, preemptions. The last lines say whether the "
	"data is unreliable; with --strict this and every other report then exits with status 1 "
	"(kin diff: 3). Data is unreliable if the recorder noted a problem, lost data or was "
	"throttled; if it could not all be read; if more than 1 % of the stacks are cut, or have "
	"guessed callers; if more than 1 % of the time has a caller that did not make the call, as "
	"the code shows; if sampled "
	"CPU time differs from the kernel's by more than 5 %; if there are fewer than 30 samples; "
	"if more than 5 % of the blocked "
	"time has no place; if the recording was not ended or belongs to another program; if files "
	"with names could not be read, or are gone and hold more than 1 % of the samples.",
	"Of many threads the 20 with the most CPU time have a line each, and the others one line "
	"together; --threads changes the number. CSV and JSON list all.",
	"With --own also, for each directory of sources and each library in which time was spent, "
	"whether its code counts as own, and by which rule.",
	NULL,
};

static const struct example examples[] = {
	{ "kin info gmon.out", "is this the right file?" },
	{ "kin info --strict run.kin >/dev/null || exit", "in a script: only data that is whole" },
	{ 0 },
};

enum { INFO_THREADS = OPT_OWN };
enum { USUAL_THREADS = 20 };

static const struct opt_group threads_group = {
	"Threads",
	(const struct opt[]){
		{ INFO_THREADS, 0, "threads", "N",
		  "as many with a line of their own, those with most CPU time; all: each" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&input_options,  &threads_group,  &names_options,   &own_options,
	&select_options, &output_options, &general_options, NULL,
};

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	(void)id;
	uint64_t n = SIZE_MAX;
	if (strcmp(arg, "all") != 0 && !arg_u64(arg, 1, SIZE_MAX, &n))
		return arg_bad("--threads", arg, "a number of threads, or all", error);
	s->max_threads = (size_t)n;
	return true;
}

static void narrow(const struct settings *s, struct kin_open_opts *o)
{
	o->own = s->own == OWN_YES ? KIN_OWN_EXPLAIN : KIN_OWN_NO;
}

static int cmd_info(const struct settings *s)
{
	struct settings wanted = *s;
	if (!s->max_threads && run_is_text(s))
		wanted.max_threads = USUAL_THREADS;
	return run_report(&wanted, "info");
}

const struct command info_command = {
	.name = "info",
	.group = COMMANDS_MORE,
	.summary = "what is in the data: files, histograms, call counts, and the program "
		   "they belong to",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.set = set,
	.narrow = narrow,
	.run = cmd_info,
};

/* cmd_info.c - what is in the data. */
#include <stdint.h>
#include <string.h>

#include "cli/arg.h"
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Says what was read, before any of it is interpreted: the files and their "
	"formats, the range of addresses that was sampled and how finely, the "
	"number of calls counted, and which program this was held against.",
	"Of recordings also how far they can be trusted: the CPU time that samples stand for next "
	"to the kernel's own accounting, the rate at which they were really taken, samples that "
	"were lost, stacks that could not be walked to their end and in which files, samples "
	"without a name, preemptions. The last lines say whether any of it is cause for doubt: "
	"with --strict it is the exit status, 1, of this and of all commands that report (of kin "
	"diff 3). There is doubt if something went wrong while it was recorded, was lost or held "
	"back; if more than 1 % of the stacks were cut short, or have callers that are a guess; if "
	"sampled CPU time is more than 5 % off the kernel's; if more than 5 % of the time blocked "
	"has no place; if the recording was not ended, is of another program, or files with names "
	"could not be read, or are gone and hold more than 1 % of the samples.",
	"Of many threads the 20 with most CPU time have a line each, the others one; --threads "
	"says how many. CSV and JSON have all.",
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
		  "as many with a line of their own, those with most CPU time; all: each", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&input_options,  &threads_group,   &names_options, &select_options,
	&output_options, &general_options, NULL,
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

static int run(const struct settings *s)
{
	struct settings wanted = *s;
	if (!s->max_threads && (!s->format || !strcmp(s->format, "text")))
		wanted.max_threads = USUAL_THREADS;
	return run_report(&wanted, "info");
}

const struct command info_command = {
	.name = "info",
	.group = COMMANDS_DATA,
	.summary = "what is in the data: files, histograms, call counts, and the program "
		   "they belong to",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.set = set,
	.run = run,
};

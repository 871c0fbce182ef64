/* cmd_merge.c - merges profiles into one file. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/content.h"
#include "cli/fetching.h"
#include "cli/message.h"
#include "cli/naming.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "kin/kin.h"

static const char *const description[] = {
	"Adds up the profiles of several runs and writes one file. The sum of gmon.out files is "
	"a gmon.out, by default gmon.sum; the sum of recordings, with their stacks, threads and "
	"libraries, is a .kin file, by default merged.kin. A name that ends in .kin always gets "
	"a .kin file. The result does not depend on the order of the profiles, and merging it "
	"with more of them later gives the same file as merging all at once.",
	"Counts too large for a field of gmon.out are written as several records, so no sum "
	"overflows, and every gprof can read the result.",
	"For gmon.out files the program determines the size and byte order of addresses. Without "
	"one those of this machine are assumed. A .kin file notes the program's path and build "
	"ID, so that reports find it later.",
	NULL,
};

static const struct example examples[] = {
	{ "kin merge gmon.out.*", "sum of all runs, in gmon.sum" },
	{ "kin merge -o all.gmon runs/", "of all gmon.out files in a directory" },
	{ "kin merge -o all.kin *.kin", "of recordings" },
	{ "kin merge --sum-ranks -o job.kin profile.*.kin", "of the ranks of a job" },
	{ 0 },
};

static const struct opt_group merge_options = {
	"Output",
	(const struct opt[]){
		{ OPT_OUTPUT, 'o', "output", "FILE",
		  "write to FILE instead of gmon.sum or merged.kin", NULL, COMPLETE_FILE },
		OPTION_NO_NAMES,
		{ OPT_FIELD, 0, "sum-ranks", NULL,
		  "of the ranks of a parallel job write sums, and of each function and call the "
		  "least, the most and on which rank: as kin-mpi reduce does inside the job",
		  OPT_SETS(struct settings, sum_ranks) },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &input_options, &merge_options, &general_options,
						   NULL };

static struct kin_error *open_data(const struct settings *s, struct kin_profile **ret)
{
	struct kin_open_opts opts = { .size = sizeof(opts),
				      .executable = s->executable,
				      .debug_dir = s->debug_dir,
				      .debuginfod = fetching_servers(s->fetching),
				      .no_names = s->no_names,
				      .sum_ranks = s->sum_ranks,
				      .for_writing = true };
	return kin_profile_open(string_list(&s->data), s->data.at.n, &opts, ret);
}

/* Refuses to replace a program, or a rank's recording, whose times the sum of several lacks. An
 * existing profile may only be replaced by a complete one. */
static struct kin_error *check_output(const struct settings *s, const char *path, bool complete)
{
	enum content content = content_of(path);
	struct kin_rank rank;
	if (!strcmp(path, "-"))
		return err_new(KIN_ERROR_USAGE, OUTPUT_NEEDS_NAME);
	if (content == CONTENT_PROGRAM)
		return err_new(KIN_ERROR_USAGE, "-o %s would replace a program", path);
	if ((s->sum_ranks || run_is_input(s, path)) && kin_rank_of(path, &rank) && rank.rank)
		return err_new(KIN_ERROR_USAGE, "-o %s would replace the recording of rank %u",
			       path, rank.rank - 1);
	if (!complete && content != CONTENT_NONE)
		return err_new(KIN_ERROR_FORMAT, "%s is left as it is: not all data could be read",
			       path);
	return NULL;
}

static int cmd_merge(const struct settings *s)
{
	const char *name = s->command->name;
	struct kin_profile *profile = NULL;
	struct progress *progress = progress_begin(run_reading(s), s->fetching);
	struct kin_error *err = open_data(s, &profile);
	progress_end(progress);

	int status = message_error(name, err);
	if (!profile)
		return status;
	run_say(s, profile, KIN_REMARK_WARNING, "warning", &(size_t){ 0 });
	if (s->sum_ranks)
		run_say(s, profile, KIN_REMARK_GAP, "warning", &(size_t){ 0 });
	const char *path = s->output.path                   ? s->output.path
			   : kin_profile_fits_gmon(profile) ? "gmon.sum"
							    : "merged.kin";
	err = check_output(s, path, status == EXIT_OK);
	if (!err)
		err = kin_profile_write(profile, path);
	run_tell_notes(s, profile);
	kin_profile_free(profile);
	fetching_tell(s->fetching, name);
	return err ? message_error(name, err) : status;
}

const struct command merge_command = {
	.name = "merge",
	.group = COMMANDS_MORE,
	.summary = "add up the profiles of several runs into one file",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.run = cmd_merge,
};

/* cmd_annotate.c - annotated source. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"The source of the named functions or files, or of all that have time, with "
	"what was measured on each line. The program must have line information "
	"(compile with -g).",
	"Sources are read from where the program says they were compiled, and "
	"searched in the folders given with --source-dir. Only regular files of a "
	"sensible size are read.",
	NULL,
};

static const struct example examples[] = {
	{ "kin annotate parse_line", "the source of one function" },
	{ "kin annotate parse.c -I ../src", "of a whole file, found in ../src" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options, &names_options,  &source_options,  &select_options,
	&part_options,  &output_options, &general_options, NULL,
};

static int run(const struct settings *s) { return run_report(s, "annotate"); }

const struct command annotate_command = {
	.name = "annotate",
	.group = COMMANDS_LOOK,
	.summary = "source text with time and counts beside each line",
	.operands = "[PROGRAM] [DATA]... [FUNCTION|FILE]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.run = run,
};

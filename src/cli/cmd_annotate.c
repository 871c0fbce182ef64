/* cmd_annotate.c - annotated source. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"The source of the named functions or files, with what was measured on each line. Without "
	"names it is what has time or calls in all files, with some lines around it, the busiest "
	"file first. The program must have line information (compile with -g).",
	"self is the time in the line's own code; where stacks were sampled, inclusive is that of "
	"all samples with the line on their stack: with what it called. Where blocks were counted "
	"as well, time/count is the time that one execution of the line took.",
	"--gcov adds executions from gcov: of any build of the same sources, but time/count only "
	"means something if that run did the same work as the one that was sampled.",
	"With --asm the rows are machine instructions. inclusive of a call is the time of what was "
	"called from there, and calls how often that was, where calls were counted. A sample is "
	"taken when an interrupt is let in, so that a slow instruction may show as time of the one "
	"after it. Without names it is the ten functions with the most time.",
	"Sources are read from where the program says they were compiled, and "
	"searched in the folders given with --source-dir. Only regular files of a "
	"sensible size are read.",
	NULL,
};

enum { OPT_ASM = OPT_OWN, OPT_ALL_LINES };

static const struct opt_group rows_group = {
	"Rows",
	(const struct opt[]){
		{ OPT_ASM, 0, "asm", "[WITH]",
		  "a row per machine instruction; source: with source lines between them", "source",
		  COMPLETE_NOTHING },
		{ OPT_ALL_LINES, 'x', "all-lines", NULL,
		  "all lines have a count, as with gprof -x: that of the block they are in, or of "
		  "the calls of their function",
		  NULL, COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct example examples[] = {
	{ "kin annotate parse_line", "the source of one function" },
	{ "kin annotate parse.c -I ../src", "of a whole file, found in ../src" },
	{ "kin annotate perf.data f.c --gcov f.gcov.json.gz",
	  "with executions, and the time of one" },
	{ "kin annotate --asm=source parse_line",
	  "its instructions, with the source between them" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options,  &rows_group,   &names_options,  &source_options,  &coverage_options,
	&select_options, &part_options, &output_options, &general_options, NULL,
};

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	(void)error;
	if (id == OPT_ALL_LINES) {
		s->all_lines = true;
		return true;
	}
	s->assembly = true;
	s->with_source = arg != NULL;
	return true;
}

static int run(const struct settings *s) { return run_report(s, s->assembly ? "asm" : "annotate"); }

const struct command annotate_command = {
	.name = "annotate",
	.group = COMMANDS_LOOK,
	.summary = "source text with time and counts beside each line",
	.operands = "[PROGRAM] [DATA]... [FUNCTION|FILE]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.set = set,
	.run = run,
};

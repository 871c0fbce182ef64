/* cmd_annotate.c - shows annotated source. */
#include <string.h>

#include "cli/command.h"
#include "cli/run.h"
#include "perf/perf_refusals.h"

static const char *const description[] = {
	"The source of the named functions or files, with the time and counts of each line. "
	"Without names: all lines with time or calls and some around them, the busiest file "
	"first. The program must have line information (compile with -g).",
	"self is the time in the line's own code. With sampled stacks, inclusive is the time of "
	"all samples with the line on their stack. In programs of kin cc --blocks, count is how "
	"often the line was executed, and time/count the time of one execution.",
	"--gcov adds executions from gcov. They may come from any build of the same sources, but "
	"time/count is only meaningful if that run did the same work as the sampled one.",
	"With --asm the rows are machine instructions. For a call instruction, inclusive is the "
	"time of the callees called from there, and calls their number, if calls were counted. "
	"The time of a slow instruction may appear at a later one, where the processor took the "
	"interrupt. Without names: the ten functions with the most time.",
	"Sources are read from the paths in the debug information, and searched in the "
	"directories given with --source-dir. Debug information may name any file, such as "
	"/etc/shadow, so only regular files of a sensible size that look like source code are "
	"shown: with the suffix of a language, in a directory of headers, or below the current "
	"directory or one given with --source-dir.",
	NULL,
};

enum {
	OPT_ASM = OPT_OWN,
	ANNOTATE_NO_SOURCE,
	ANNOTATE_STDIO,
	ANNOTATE_LINES,
	ANNOTATE_SAMPLES,
	ANNOTATE_SYNTAX,
	ANNOTATE_SHARES,
};

static const struct opt_group rows_group = {
	"Rows",
	(const struct opt[]){
		{ OPT_ASM, 0, "asm", "[WITH]",
		  "a row per machine instruction; source: with source lines between them",
		  "source" },
		{ OPT_FIELD, 'x', "all-lines", NULL,
		  "all lines have a count, as with gprof -x: that of the block they are in, or of "
		  "the calls of their function",
		  OPT_SETS(struct settings, all_lines) },
		{ 0 },
	},
};

static const struct opt_group perf_group = {
	"As perf annotate has them",
	(const struct opt[]){
		{ OPT_FIELD, 0, "symbol", "NAME",
		  "a function, as an operand; -s NAME does that, too, unless NAME is a column",
		  OPT_SETS(struct settings, subjects) },
		{ ANNOTATE_SHARES, 0, "percent-type", "TYPE",
		  "shares of all time (global-period, the default) or of the function's "
		  "(local-period); -c +function_share shows both",
		  "global-period local-period" },
		{ ANNOTATE_LINES, 'l', "print-line", NULL,
		  "instructions with source lines: --asm=source" },
		{ OPT_FIELD, 0, "source", NULL,
		  "source lines, as without --asm; with it: --asm=source",
		  OPT_SETS(struct settings, with_source) },
		{ ANNOTATE_NO_SOURCE, 0, "no-source", NULL, "instructions alone: --asm" },
		{ ANNOTATE_SAMPLES, 'n', "show-nr-samples", NULL,
		  "instructions with numbers of samples: --asm" },
		{ ANNOTATE_SYNTAX, 'M', "disassembler-style", "STYLE",
		  "instructions (--asm) of x86 in this syntax: att (the default) or intel",
		  "att intel" },
		{ ANNOTATE_STDIO, 0, "stdio", NULL, "text, as it always is" },
		{ 0 },
	},
	OPTS_RARE,
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
	&input_options,  &rows_group,       &names_options,   &inline_options,
	&source_options, &coverage_options, &select_options,  &perf_group,
	&part_options,   &output_options,   &general_options, NULL,
};

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	(void)error;
	switch (id) {
	case ANNOTATE_STDIO:
		return true;
	case ANNOTATE_SHARES:
		s->of_function = !strcmp(arg, "local-period");
		return true;
	case ANNOTATE_SYNTAX:
		s->intel = !strcmp(arg, "intel");
		break;
	case ANNOTATE_LINES:
		s->with_source = true;
		break;
	case OPT_ASM:
		s->with_source |= arg != NULL;
		break;
	}
	s->assembly = true;
	return true;
}

/* Whether the reports "annotate" or "asm" have a column of that name. */
static bool is_column(const char *key)
{
	static const char *const keys[] = {
		"share",       "function_share", "self",   "inclusive", "per_count", "count",
		"line",        "source",         "file",   "counts",    "total",     "calls",
		"executable",  "executed",       "never",  "samples",   "address",   "bytes",
		"instruction", "function",       "object",
	};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(key + (*key == '-'), keys[i]))
			return true;
	return false;
}

/* perf's -s names a function, kin's a column: a word that is no column is taken as a function. */
static int cmd_annotate(const struct settings *s)
{
	struct settings w = *s;
	struct string_list subjects = { 0 };
	for (size_t i = 0; i < s->subjects.at.n; i++)
		string_list_add(&subjects, s->subjects.at.at[i]);
	if (s->sort && !is_column(s->sort)) {
		string_list_add(&subjects, s->sort);
		w.sort = NULL;
	}
	w.subjects = subjects;
	int status = run_report(&w, s->assembly ? "asm" : "annotate");
	vec_free(&subjects.at);
	return status;
}

const struct command annotate_command = {
	.name = "annotate",
	.group = COMMANDS_START,
	.summary = "source text with time and counts beside each line",
	.operands = "[PROGRAM] [DATA]... [FUNCTION|FILE]...",
	.description = description,
	.options = options,
	.takes_pipe = true,
	.refused = annotate_refusals,
	.examples = examples,
	.names_subjects = true,
	.narrow = run_with_counters,
	.set = set,
	.run = cmd_annotate,
};

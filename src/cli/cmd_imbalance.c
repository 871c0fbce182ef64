/* cmd_imbalance.c - shows where ranks of a parallel job wait for each other. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Which rank of a parallel job has more to do than the others, in which functions, and in "
	"which calls of MPI the others wait for it. Work is the time outside of calls of MPI "
	"(MPI_*, PMPI_*, and mpi_*_ of Fortran, with all that they call).",
	"Without data, of the last recording here: of all ranks of its job. Data are recordings "
	"of ranks, merged or not, or their sums by kin-mpi reduce or kin merge --sum-ranks.",
	"Times are in the unit of the recorded event, usually CPU time: MPI libraries wait busily, "
	"which takes CPU time, unless there are more ranks than CPUs. kin record --wall records "
	"the time asleep, too: --event=blocked shows it.",
	"With names of functions, only these and calls of them.",
	"Ranks that are missing, were killed or have not ended are named, and the exit status is "
	"1. "
	"--rank chooses ranks without that.",
	NULL,
};

static const struct example examples[] = {
	{ "mpirun -n 8 kin record ./app && kin imbalance", "the slow rank, and why" },
	{ "kin imbalance job.kin --all -f csv", "every function and call over ranks" },
	{ "kin report -s rank,sym", "which rank is where" },
	{ 0 },
};

static const struct opt_group imbalance_options = {
	"Imbalance",
	(const struct opt[]){
		{ OPT_FIELD, 0, "all", NULL,
		  "all rows, and of each function and call all that is known over ranks",
		  OPT_SETS(struct settings, every_row) },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&input_options,  &imbalance_options, &chosen_part_options, &names_options, &inline_options,
	&select_options, &output_options,    &general_options,     NULL,
};

/* Sums of ranks, which this compares as well, are made of stacks as they were recorded. */
static void narrow(const struct settings *s, struct kin_open_opts *o)
{
	(void)s;
	o->stacks_as_recorded = true;
}

const struct command imbalance_command = {
	.name = "imbalance",
	.group = COMMANDS_MANY,
	.summary = "where ranks of a parallel job wait for each other",
	.operands = "[PROGRAM] [DATA]... [FUNCTION]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.compares_ranks = true,
	.narrow = narrow,
	.run = run_named,
};

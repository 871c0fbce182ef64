/* command.c - the list of commands. */
#include "cli/command.h"

#include <string.h>

/* clang-format off */
const struct command *const commands[] = {
	&record_command,
	&report_command,
	&browse_command,
	&html_command,
	&graph_command,
	&annotate_command,
	&gprof_command,
	&run_command,
	&cc_command,
	&flat_command,
	&cycles_command,
	&latency_command,
	&top_command,
	&script_command,
	&compare_command,
	&diff_command,
	&check_command,
	&imbalance_command,
	&agent_command,
	&push_command,
	&tidy_command,
	&lines_command,
	&counts_command,
	&findings_command,
	&info_command,
	&export_command,
	&merge_command,
	&pack_command,
	&mark_command,
	NULL,
};
/* clang-format on */

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

#include "cli/command.h"

#include <string.h>

const struct command *const commands[] = {
	&report_command, &browse_command, &top_command, &flat_command,  &graph_command, &lines_command, &annotate_command, &counts_command,
	&order_command, &info_command,  &merge_command, &script_command, &html_command, &record_command,   &run_command,
	&cc_command,    &gprof_command, NULL,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

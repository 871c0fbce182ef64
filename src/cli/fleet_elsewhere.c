/* fleet_elsewhere.c - finds kin-fleet and becomes it. kin-fleet has src/fleet in place of this. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/fleet.h"
#include "cli/message.h"

#define PROGRAM "kin-fleet"

int fleet_run(char **argv)
{
	static const char *const places[] = { PROGRAM, NULL };
	char *path = file_near_program(places);
	if (path)
		execv(path, argv);
	else
		execvp(PROGRAM, argv);
	int errnum = errno;
	if (errnum == ENOENT)
		message(NULL, "stores are in the program " PROGRAM ", which is not here: install "
			      "the package " PROGRAM ", or build kin with libcurl");
	else
		message_error(NULL, err_os(errnum, "%s", path ? path : PROGRAM));
	free(path);
	return EXIT_ERROR;
}

static const struct opt_group *const options[] = { &general_options, NULL };

const struct command agent_command = {
	.name = "agent",
	.group = COMMANDS_MANY,
	.summary = AGENT_SUMMARY,
	.options = options,
	.is_in_fleet = true,
};

const struct command push_command = {
	.name = "push",
	.group = COMMANDS_MANY,
	.summary = PUSH_SUMMARY,
	.options = options,
	.is_in_fleet = true,
};

const struct command tidy_command = {
	.name = "tidy",
	.group = COMMANDS_MANY,
	.summary = TIDY_SUMMARY,
	.options = options,
	.is_in_fleet = true,
};

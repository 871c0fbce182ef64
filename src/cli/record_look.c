/* record_look.c - runs kin record, then kin browse or kin report. */
#include "cli/record_look.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/cmd_record.h"
#include "cli/command.h"
#include "cli/content.h"
#include "cli/message.h"

bool record_look_is_program(const char *word)
{
	struct stat st;
	return strchr(word, '/') && !stat(word, &st) && S_ISREG(st.st_mode) &&
	       !access(word, X_OK) && content_of(word) != CONTENT_PROFILE;
}

static void look(const char *path)
{
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	const struct command *c = terminal ? &browse_command : &report_command;
	char *file = xprintf("%s", path), name[] = "kin";
	char *argv[] = { name, file, NULL };
	struct settings s;
	char error[512];
	if (settings_parse(c, 2, argv, &s, error))
		c->run(&s);
	else
		message(c->name, "%s", error);
	settings_done(&s);
	free(file);
}

int record_look(char **argv) { return record_program(argv, look); }

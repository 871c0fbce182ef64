/* message.c - one line per message on standard error, with the command's name before it. */
#include "cli/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"

void message(const char *command, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = xvprintf(fmt, ap);
	va_end(ap);
	char *safe = escape_copy(text);
	char *line = xprintf("kin%s%s: %s\n", command ? " " : "", command ? command : "", safe);
	(void)!file_write_all(STDERR_FILENO, line, strlen(line)); /* or nobody is left to tell */
	free(line);
	free(safe);
	free(text);
}

int message_error(const char *command, struct kin_error *err)
{
	if (!err)
		return EXIT_OK;
	bool usage = kin_error_kind(err) == KIN_ERROR_USAGE;
	bool nobody_reads = kin_error_kind(err) == KIN_ERROR_OS && kin_error_errno(err) == EPIPE;
	if (!nobody_reads)
		message(command, "%s", kin_error_message(err));
	kin_error_free(err);
	return usage ? EXIT_USAGE : EXIT_ERROR;
}

#include "cli/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

static void write_all(const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(STDERR_FILENO, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return; /* nobody is left to tell */
		p += done;
		n -= (size_t)done;
	}
}

void message(const char *command, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = xvprintf(fmt, ap);
	va_end(ap);
	char *safe = escape_copy(text);
	char *line = xprintf("kin%s%s: %s\n", command ? " " : "", command ? command : "", safe);
	write_all(line, strlen(line));
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

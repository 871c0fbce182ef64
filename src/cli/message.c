/* message.c - messages on standard error: one line each, wrapped on a terminal, prefixed with the
 * command's name. */
#include "cli/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"
#include "cli/output.h"
#include "cli/wrap.h"

/* The text as it is written to standard error. To be freed. */
static char *in_lines(const char *text)
{
	enum { INDENT = 2 };
	char *lines = NULL;
	size_t size;
	if (!isatty(STDERR_FILENO))
		return xprintf("%s\n", text);
	FILE *f = xopen_memstream(&lines, &size);
	wrap(f, text, 0, INDENT, output_columns(STDERR_FILENO));
	xclose_memstream(f, &lines);
	return lines;
}

/* The whole message, laid out by in_lines(). */
static PRINTF(2, 0) char *worded(const char *command, const char *fmt, va_list ap)
{
	char *text = xvprintf(fmt, ap);
	char *safe = escape_copy(text);
	char *line = xprintf("kin%s%s: %s", command ? " " : "", command ? command : "", safe);
	char *lines = in_lines(line);
	free(line);
	free(safe);
	free(text);
	return lines;
}

void message(const char *command, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *lines = worded(command, fmt, ap);
	va_end(ap);
	(void)!file_write_all(STDERR_FILENO, lines, strlen(lines)); /* an error here could not be
								       reported */
	free(lines);
}

size_t message_lines(const char *command, const char *fmt, ...)
{
	va_list ap;
	size_t n = 0;
	va_start(ap, fmt);
	char *lines = worded(command, fmt, ap);
	va_end(ap);
	for (const char *c = lines; *c; c++)
		n += *c == '\n';
	free(lines);
	return n;
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

char *message_word(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+,=@%:-";
	if (strspn(s, plain) == strlen(s))
		return xprintf("%s", s);
	char *word = xprintf("%s", "'");
	for (; *s; s++) {
		char *more = *s == '\'' ? xprintf("%s'\\''", word) : xprintf("%s%c", word, *s);
		free(word);
		word = more;
	}
	char *all = xprintf("%s'", word);
	free(word);
	return all;
}

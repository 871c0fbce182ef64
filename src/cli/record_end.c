/* record_end.c - names for a recording, and the lines at its end. */
#include "cli/record_end.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/message.h"
#include "cli/naming.h"

/* A word as a shell takes it. To be freed. */
static char *shell_word(const char *s)
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

/* Reports find the usual file by themselves. */
static void say_next(const char *path)
{
	char *word = shell_word(path);
	bool usual = !strcmp(path, "profile.kin");
	const char *blank = usual ? "" : " ", *file = usual ? "" : word;
	message("record", "  next: kin report%s%s, or on the terminal: kin browse%s%s", blank, file,
		blank, file);
	free(word);
}

static void say_lines(char *text)
{
	char *rest;
	for (char *l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
		message("record", "%s", l);
	free(text);
}

void record_end(const struct record_ending *e, struct record_audit *a, const char *path,
		const char *shown)
{
	char *named = NULL;
	bool any = a->samples || a->has_switches;
	if (e->names && path && a->samples && !access(path, F_OK))
		a->names_size = naming_put("record", path, e->quiet ? NULL : &named);
	if (e->quiet && record_audit_is_bad(a))
		say_lines(record_audit_losses(a));
	if (!e->quiet)
		say_lines(record_audit_text(a, shown, e->more));
	if (!e->quiet && e->more && named)
		message("record", "  %s", named);
	free(named);
	if (!path || !any)
		return;
	if (e->look)
		e->look(path);
	else if (!e->quiet)
		say_next(path);
}

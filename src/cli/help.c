/* help.c - --help and the overview of commands, wrapped to the width of the terminal. */
#include "cli/help.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/wrap.h"

/* Longer lines are hard to read, and shorter ones have no room. */
enum { USUAL_WIDTH = 80, LEAST_WIDTH = 40, MOST_WIDTH = 100 };
enum { OPTION_COLUMN = 28, NARROW_WIDTH = 60, NARROW_OPTION_COLUMN = 8 };

struct sheet { /* where help is written */
	FILE *out;
	size_t width;
};

static struct sheet sheet_of(FILE *out, int fd)
{
	unsigned columns = output_columns(fd);
	unsigned width = !columns                ? USUAL_WIDTH
			 : columns < LEAST_WIDTH ? LEAST_WIDTH
			 : columns > MOST_WIDTH  ? MOST_WIDTH
						 : columns;
	return (struct sheet){ out, width };
}

/* Writes text from column `at` on; later lines are indented. */
static void put_text(const struct sheet *s, const char *text, size_t at, size_t indent)
{
	wrap(s->out, text, at, indent, s->width);
}

static void put_option(const struct opt *o, const struct sheet *s)
{
	size_t column = s->width < NARROW_WIDTH ? NARROW_OPTION_COLUMN : OPTION_COLUMN;
	char left[128];
	size_t n = 0;
	if (o->letter)
		n += (size_t)snprintf(left, sizeof(left), "  -%c", o->letter);
	else
		n += (size_t)snprintf(left, sizeof(left), "    ");
	if (o->name)
		n += (size_t)snprintf(left + n, sizeof(left) - n, "%s --%s", o->letter ? "," : " ",
				      o->name);
	if (o->arg && opt_arg_is_optional(o))
		n += (size_t)snprintf(left + n, sizeof(left) - n, "[=%s", o->arg + 1);
	else if (o->arg)
		n += (size_t)snprintf(left + n, sizeof(left) - n, "%s%s", o->name ? "=" : " ",
				      o->arg);
	fputs(left, s->out);
	if (n + 2 > column) {
		fputc('\n', s->out);
		n = 0;
	}
	fprintf(s->out, "%*s", (int)(column - n), "");
	put_text(s, o->help, column, column);
}

/* The command's line in a list. */
static void put_summary(const struct command *c, const struct sheet *s)
{
	fprintf(s->out, "  %-10s", c->name);
	put_text(s, c->summary, 12, 12);
}

static void put_usage(const struct command *c, const struct sheet *s)
{
	char *usage = xprintf("Usage: kin %s [OPTION]... %s", c->name, c->operands);
	char *summary = xprintf("%s.", c->summary);
	summary[0] = (char)toupper((unsigned char)summary[0]);
	put_text(s, usage, 0, 7);
	put_text(s, summary, 0, 0);
	free(usage);
	free(summary);
}

/* Lists the formats that kin writes. */
static void put_formats(const struct sheet *s)
{
	const struct kin_format *f;
	size_t widest = 0;
	for (size_t i = 0; (f = kin_format_at(i)); i++)
		widest = f->is_written && strlen(f->name) > widest ? strlen(f->name) : widest;
	int column = (int)widest + 4;
	fputs("\nFormats:\n", s->out);
	for (size_t i = 0; (f = kin_format_at(i)); i++) {
		if (!f->is_written)
			continue;
		fprintf(s->out, "  %-*s", column - 2, f->name);
		put_text(s, f->what, column, column);
	}
}

static void put_exit_status(const struct command *c, const struct sheet *s)
{
	char *see = xprintf("See man kin-%.*s.", (int)strcspn(c->name, " "), c->name);
	char *usual = xprintf("0 if all went well; 1 after an error, or if only a part of the data "
			      "could be read; 2 if the command line makes no sense. %s",
			      see);
	fprintf(s->out, "\nExit status: ");
	put_text(s, c->exit_status ? c->exit_status : usual, 13, 0);
	if (c->exit_status)
		put_text(s, see, 0, 0);
	free(usual);
	free(see);
}

static void put_group(const struct opt_group *g, const struct sheet *s)
{
	char *title = xprintf("%s:", g->title);
	fputc('\n', s->out);
	put_text(s, title, 0, 0);
	free(title);
	for (const struct opt *o = g->opts; o->id; o++)
		put_option(o, s);
}

/* The names of options that the help of a command does not describe. */
static void put_names(const struct command *c, enum opt_use use, const char *what,
		      const struct sheet *s)
{
	char *names = NULL;
	size_t n;
	FILE *f = open_memstream(&names, &n);
	if (!f)
		return;
	for (size_t g = 0; c->options[g]; g++)
		for (const struct opt *o = c->options[g]->opts; c->options[g]->use == use && o->id;
		     o++)
			if (o->name)
				fprintf(f, "%s--%s", ftell(f) ? ", " : "", o->name);
	if (!fclose(f) && n) {
		fputc('\n', s->out);
		put_text(s, what, 0, 0);
		fputs("  ", s->out);
		put_text(s, names, 2, 2);
	}
	free(names);
}

static void put_command(const struct command *c, bool all, const struct sheet *s)
{
	put_usage(c, s);
	for (size_t i = 0; c->description[i] && (all || !i); i++) {
		fputc('\n', s->out);
		put_text(s, c->description[i], 0, 0);
	}
	for (size_t g = 0; c->options[g]; g++)
		if (all || c->options[g]->use == OPTS_OWN)
			put_group(c->options[g], s);
	if (!all) {
		char *rare = xprintf("Rarely needed (kin help all %s):", c->name);
		put_names(c, OPTS_RARE, rare, s);
		put_names(c, OPTS_SHARED, "Shared with other commands (kin help options):", s);
		free(rare);
	}
	if (c->lists_formats)
		put_formats(s);
	if (c->examples[0].command)
		fprintf(s->out, "\nExamples:\n");
	for (const struct example *e = c->examples; e->command; e++) {
		fprintf(s->out, "  %s\n      ", e->command); /* one line, so that it can be
								copied */
		put_text(s, e->meaning, 6, 6);
	}
	if (all)
		put_exit_status(c, s);
	if (!all) {
		char *more = xprintf("kin help all %s says more.", c->name);
		fputc('\n', s->out);
		put_text(s, more, 0, 0);
		free(more);
	}
}

static void put_shared(const struct sheet *s)
{
	put_text(s, "Options that several commands have, with the same meaning in each:", 0, 0);
	for (size_t g = 0; shared_options[g]; g++)
		put_group(shared_options[g], s);
}

static const char *const group_titles[] = {
	[COMMANDS_START] = "Start here",     [COMMANDS_GPROF] = "As in gprof",
	[COMMANDS_PERF] = "As in perf",      [COMMANDS_COMPARE] = "Compare",
	[COMMANDS_MANY] = "Jobs and fleets", [COMMANDS_MORE] = "More",
};

static void put_head(const struct sheet *s)
{
	put_text(s, "Usage: kin ./PROGRAM [ARGUMENT]...", 0, 7);
	fputs("       ", s->out);
	put_text(s, "kin COMMAND [OPTION]... [PROGRAM] [DATA]...", 7, 7);
	put_text(s, "Shows where programs spend their time, and on whose behalf.", 0, 0);
}

/* Every command with its summary. */
static void put_commands(const struct sheet *s)
{
	put_head(s);
	for (size_t i = 0; commands[i]; i++) {
		if (!i || commands[i]->group != commands[i - 1]->group)
			fprintf(s->out, "\n%s:\n", group_titles[commands[i]->group]);
		put_summary(commands[i], s);
	}
}

/* One screen: what to begin with; the other commands by name. */
static void put_overview(const struct sheet *s)
{
	enum { COLUMN = 18 };
	put_head(s);
	fprintf(s->out, "\n%s:\n", group_titles[COMMANDS_START]);
	size_t i = 0;
	for (; commands[i] && commands[i]->group == COMMANDS_START; i++) {
		put_summary(commands[i], s);
	}
	fputc('\n', s->out);
	while (commands[i]) {
		enum command_group group = commands[i]->group;
		char names[256] = "";
		for (; commands[i] && commands[i]->group == group; i++)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 names[0] ? ", " : "", commands[i]->name);
		size_t n = (size_t)fprintf(s->out, "%s:", group_titles[group]);
		size_t column = s->width < NARROW_WIDTH ? 2 : COLUMN;
		if (column < n)
			fputc('\n', s->out);
		fprintf(s->out, "%*s", (int)(column < n ? column : column - n), "");
		put_text(s, names, column, column);
	}
	fputc('\n', s->out);
	put_text(s,
		 "In a directory with data the commands that look need no arguments. kin help "
		 "COMMAND "
		 "says more, kin help all lists what each command does, kin help options what they "
		 "share.",
		 0, 0);
}

void help_overview(FILE *out)
{
	struct sheet s = sheet_of(out, fileno(out));
	put_overview(&s);
}

/* Writes the text at once, so that errno tells the reason if it cannot be written. */
static int show(const char *text)
{
	errno = 0;
	bool bad = fputs(text, stdout) == EOF || fflush(stdout);
	int errnum = errno ? errno : EIO;
	bad = fclose(stdout) || bad;
	return bad ? message_error(NULL, err_os(errnum, "standard output")) : EXIT_OK;
}

static int show_sheet(const struct command *c,
		      void put(const struct command *c, const struct sheet *s))
{
	char *text = NULL;
	size_t n;
	FILE *memory = open_memstream(&text, &n);
	if (!memory)
		return message_error(NULL, err_os(errno, "help"));
	struct sheet s = sheet_of(memory, STDOUT_FILENO);
	put(c, &s);
	int status = fclose(memory) ? message_error(NULL, err_os(errno, "help")) : show(text);
	free(text);
	return status;
}

static void brief(const struct command *c, const struct sheet *s)
{
	if (c)
		put_command(c, false, s);
	else
		put_overview(s);
}

static void whole(const struct command *c, const struct sheet *s)
{
	if (c)
		put_command(c, true, s);
	else
		put_commands(s);
}

static void shared(const struct command *c, const struct sheet *s)
{
	(void)c;
	put_shared(s);
}

int help_show(const struct command *c) { return show_sheet(c, brief); }

int help_show_all(const struct command *c) { return show_sheet(c, whole); }

int help_show_options(void) { return show_sheet(NULL, shared); }

int help_show_version(void) { return show("kin " KIN_VERSION "\n"); }

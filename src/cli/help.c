#include "cli/help.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/message.h"

enum { WIDTH = 80, OPTION_COLUMN = 28 };

/* Words from column `at` on, later lines indented. */
static void wrap(FILE *out, const char *text, size_t at, size_t indent)
{
	bool first = true;
	while (*text) {
		size_t n = strcspn(text, " ");
		if (!first && at + 1 + n > WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		fprintf(out, "%s%.*s", first ? "" : " ", (int)n, text);
		at += n + !first;
		first = false;
		text += n + strspn(text + n, " ");
	}
	fputc('\n', out);
}

static void put_option(const struct opt *o, FILE *out)
{
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
	fputs(left, out);
	if (n + 2 > OPTION_COLUMN) {
		fputc('\n', out);
		n = 0;
	}
	fprintf(out, "%*s", (int)(OPTION_COLUMN - n), "");
	wrap(out, o->help, OPTION_COLUMN, OPTION_COLUMN);
}

static void put_command(const struct command *c, FILE *out)
{
	fprintf(out, "Usage: kin %s [OPTION]... %s\n", c->name, c->operands);
	char *summary = xalloc(strlen(c->summary) + 2);
	sprintf(summary, "%s.", c->summary);
	summary[0] = (char)toupper((unsigned char)summary[0]);
	wrap(out, summary, 0, 0);
	free(summary);
	for (size_t i = 0; c->description[i]; i++) {
		fputc('\n', out);
		wrap(out, c->description[i], 0, 0);
	}
	for (size_t g = 0; c->options[g]; g++) {
		fprintf(out, "\n%s:\n", c->options[g]->title);
		for (const struct opt *o = c->options[g]->opts; o->id; o++)
			put_option(o, out);
	}
	if (c->examples[0].command)
		fprintf(out, "\nExamples:\n");
	for (const struct example *e = c->examples; e->command; e++)
		fprintf(out, "  %s\n      %s\n", e->command, e->meaning);
	if (c->exit_status) {
		fprintf(out, "\nExit status: ");
		wrap(out, c->exit_status, 13, 0);
		fprintf(out, "See man kin-%s.\n", c->name);
		return;
	}
	fprintf(out,
		"\nExit status: 0 if all went well; 1 after an error, or if only a part of the "
		"data\n"
		"could be read; 2 if the command line makes no sense. See man kin-%s.\n",
		c->name);
}

void help_overview(FILE *out)
{
	static const char *const titles[] = {
		[COMMANDS_COLLECT] = "Collect",
		[COMMANDS_LOOK] = "Look",
		[COMMANDS_DATA] = "Handle the data",
		[COMMANDS_GPROF] = "As ever",
	};
	fputs("Usage: kin COMMAND [OPTION]... [PROGRAM] [DATA]...\n"
	      "Shows where programs spend their time, and on whose behalf: from sampled call\n"
	      "stacks, from calls that were counted, from both; and from the gmon.out that\n"
	      "programs compiled with -pg leave.\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		if (!i || commands[i]->group != commands[i - 1]->group)
			fprintf(out, "\n%s:\n", titles[commands[i]->group]);
		fprintf(out, "  %-10s", commands[i]->name);
		wrap(out, commands[i]->summary, 12, 12);
	}
	fputs("\nTo begin: kin record ./prog, then kin report, or kin graph. In a folder with "
	      "data\n"
	      "the commands that look need no arguments. kin help COMMAND says more about one.\n",
	      out);
}

/* In one piece, so that the reason is known if it cannot be written. */
static int show(const char *text)
{
	errno = 0;
	bool bad = fputs(text, stdout) == EOF || fflush(stdout);
	int errnum = errno ? errno : EIO;
	bad = fclose(stdout) || bad;
	return bad ? message_error(NULL, err_os(errnum, "standard output")) : EXIT_OK;
}

int help_show(const struct command *c)
{
	char *text = NULL;
	size_t n;
	FILE *memory = open_memstream(&text, &n);
	if (!memory)
		return message_error(NULL, err_os(errno, "help"));
	if (c)
		put_command(c, memory);
	else
		help_overview(memory);
	int status = fclose(memory) ? message_error(NULL, err_os(errno, "help")) : show(text);
	free(text);
	return status;
}

int help_show_version(void) { return show("kin " KIN_VERSION "\n"); }

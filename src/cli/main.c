/* main.c - kin COMMAND ..., kin ./PROGRAM ..., or gprof if called by that name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/fleet.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/record_look.h"
#include "gnu/gprof.h"
#include "perf/perf_refusals.h"

/* Whether a word is a store, or an option's value is one. Words behind "--" are a program's. */
static bool names_store(char *const *words)
{
	for (; *words && strcmp(*words, "--") != 0; words++) {
		const char *w = *words, *equals = strchr(w, '=');
		if (kin_format_of_name(w[0] != '-' || !w[1] ? w
				       : w[1] != '-'        ? w + 2
				       : equals             ? equals + 1
							    : w))
			return true;
	}
	return false;
}

/* Toolchains prefix the target: aarch64-linux-gnu-gprof. */
static bool is_gprof(const char *name)
{
	const char *dash = strrchr(name, '-');
	return !strcmp(dash ? dash + 1 : name, "gprof");
}

static int gprof_help(void)
{
	char name[] = "gprof", help[] = "--help";
	return gprof_main(2, (char *[]){ name, help, NULL }, false);
}

static int show_help(const struct command *c)
{
	if (c && c->main_is_elsewhere)
		return gprof_help();
	return help_show(c);
}

/* Prints a hint if the word names a program in the current folder without a path. */
static bool say_program(const char *name)
{
	char *path = xprintf("./%s", name);
	bool is = !strchr(name, '/') && record_look_is_program(path);
	if (is)
		message(NULL,
			"'%s' is a program: kin %s records it and shows where its time goes; kin "
			"flat %s shows the data that it left",
			name, path, name);
	free(path);
	return is;
}

static const char *what_is(const char *name)
{
	struct stat st;
	if (kin_format_of_name(name))
		return "a store";
	return !stat(name, &st) && S_ISDIR(st.st_mode) ? "a directory" : "a file";
}

static int unknown_command(const char *name)
{
	struct suggestion s = suggestion_for(name, strlen(name));
	for (size_t i = 0; commands[i]; i++)
		suggestion_try(&s, commands[i]->name);
	suggestion_try(&s, "help");
	if (say_program(name))
		return EXIT_USAGE;
	const struct opt_refusal *other = perf_commands;
	while (other->name && strcmp(other->name, name) != 0)
		other++;
	if (other->name)
		message(NULL, "no command '%s': %s", name, other->why);
	else if (s.best)
		message(NULL, "no command '%s': did you mean '%s'?", name, s.best);
	else if (kin_format_of_name(name) || !access(name, F_OK))
		message(NULL, "'%s' is %s: say what to do with it, as in kin flat %s", name,
			what_is(name), name);
	else if (strchr(name, '/'))
		message(NULL, "%s: %s", name, strerror(errno));
	else
		message(NULL, "no command '%s': kin help lists them", name);
	return EXIT_USAGE;
}

static int start_command(const struct command *c, int argc, char **argv)
{
	struct settings s;
	char error[512];
	int status = EXIT_USAGE;

	if (c->main_is_elsewhere)
		return gprof_main(argc, argv, false);
	if (c->run_words)
		return c->run_words(c, argc, argv);
	if (!settings_parse(c, argc, argv, &s, error)) {
		message(c->name, "%s", error);
	} else if (s.help) {
		status = show_help(c);
	} else if (s.version) {
		status = help_show_version();
	} else {
		status = c->run(&s);
	}
	settings_done(&s);
	return status;
}

static int run_kin(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	if (!word) {
		help_overview(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return help_show_version();
	bool help = !strcmp(word, "help");
	if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
	    (help && (argc == 2 || !strcmp(argv[2], "help"))))
		return show_help(NULL);
	if (help && !strcmp(argv[2], "options"))
		return help_show_options();
	bool all = help && !strcmp(argv[2], "all");
	if (all && argc == 3)
		return help_show_all(NULL);

	if (word[0] == '-') {
		message(NULL, "unknown option '%s': a command comes first, see kin help", word);
		return EXIT_USAGE;
	}
	const char *name = all ? argv[3] : help ? argv[2] : word;
	const struct command *c = command_find(name);
	if (!c && !help && record_look_is_program(word))
		return record_look(argv + 1);
	if (!c)
		return unknown_command(name);
	if (c->is_in_fleet || (!help && (!c->run_words || c->compares) && names_store(argv + 2))) {
		int status = fleet_run(argv);
		if (status >= 0)
			return status;
	}
	if (all && !c->main_is_elsewhere)
		return help_show_all(c);
	return help ? show_help(c) : start_command(c, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	file_occupy_standard();
	file_survive_limit();
	if (argc > 0 && is_gprof(base_name(argv[0]))) {
		int status = names_store(argv + 1) ? fleet_run(argv) : -1;
		return status >= 0 ? status : gprof_main(argc, argv, true);
	}
	return run_kin(argc, argv);
}

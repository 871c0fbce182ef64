/* docgen.c - kin-docgen man | man COMMAND | bash | zsh | fish: writes man pages or completion
 * scripts to standard output. */
#include "cli/docgen.h"

#include <string.h>

#include "cli/cmd_gprof.h"

const struct opt_group *const *docgen_options(const struct command *c, struct arena *a)
{
	return c->options ? c->options : gprof_groups(a);
}

static int usage(void)
{
	fputs("usage: kin-docgen man [COMMAND] | bash | zsh | fish\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const struct command *c = argc > 2 ? command_find(argv[2]) : NULL;

	if (!strcmp(what, "man") && argc == 2)
		man_overview(stdout);
	else if (!strcmp(what, "man") && c)
		man_command(c, stdout);
	else if (!strcmp(what, "bash"))
		complete_bash(stdout);
	else if (!strcmp(what, "zsh"))
		complete_zsh(stdout);
	else if (!strcmp(what, "fish"))
		complete_fish(stdout);
	else
		return usage();
	return fflush(stdout) || ferror(stdout);
}

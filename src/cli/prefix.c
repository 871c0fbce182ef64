/* prefix.c - parses options up to the first operand, which begins another program's command
 * line. */
#include "cli/prefix.h"

#include "cli/command.h"
#include "cli/help.h"
#include "cli/message.h"

int prefix_wrong(const struct command *c, const char *why)
{
	message(c->name, "%s", why);
	return EXIT_USAGE;
}

int prefix_parse(const struct command *c, int argc, char **argv, prefix_setter *set, void *line,
		 char ***ret)
{
	struct opt_parser p = opt_parser(c->options, argc, argv);
	char error[512];
	p.refused = c->refused;
	*ret = NULL;
	for (int id; (id = opt_next(&p)) != OPT_END;) {
		switch (id) {
		case OPT_ERROR:
			return prefix_wrong(c, p.error);
		case OPT_OPERAND:
			*ret = argv + p.next - 1;
			return PREFIX_GO_ON;
		case OPT_HELP:
			return help_show(c);
		case OPT_VERSION:
			return help_show_version();
		}
		if (!set(line, p.row, p.arg, error))
			return prefix_wrong(c, error);
	}
	return PREFIX_GO_ON;
}

/* cmd_gprof.c - gprof's command line as a command of kin. Its parser and options are in gnu/. */
#include "cli/cmd_gprof.h"

#include <string.h>

#include "cli/command.h"
#include "gnu/gnu_options.h"

static const char *const description[] = {
	"Everything that gprof does, with gprof's options and gprof's layout. Without options it "
	"prints the flat profile and the call graph of a.out from gmon.out.",
	"Installed under the name gprof, too, it is a drop-in replacement: there the output is GNU "
	"gprof 2.40's, byte for byte. As kin gprof it corrects figures that are wrong in GNU's, as "
	"with --compat=no.",
	"Many options take a SYMSPEC: the name of a function; FILE, FILE:FUNCTION or FILE:LINE; or "
	"FROM/TO for the calls from one to the other, where an empty side is any function.",
	NULL,
};

static const struct example examples[] = {
	{ "gprof -b ./server", "flat profile and call graph, without explanations" },
	{ "gprof -s ./server gmon.out.*", "add up several runs in gmon.sum" },
	{ "gprof -l ./server", "by source line" },
	{ "gprof --dialect=freebsd -C 5 ./server server.gmon",
	  "as on FreeBSD, with cycles of more than 5 members broken up" },
	{ 0 },
};

const struct command gprof_command = {
	.name = "gprof",
	.group = COMMANDS_GPROF,
	.summary = "all of gprof: its options, its layouts",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.examples = examples,
	.main_is_elsewhere = true,
};

/* Values of arguments, by the placeholder in gprof's option table. */
static const struct {
	const char *arg, *values;
	enum opt_completion completion;
} arguments[] = {
	{ "FILE", NULL, COMPLETE_FILE },       { "MAP", NULL, COMPLETE_FILE },
	{ "DIRS", NULL, COMPLETE_DIRECTORY },  { "STYLE", "none auto gnu-v3 java gnat dlang rust" },
	{ "FORMAT", "auto magic bsd 4.4bsd" }, { "WHAT", "output gnu gnu-2.40 no" },
	{ "NAME", "gnu freebsd openbsd" },
};

static void note_values(struct opt *o, const char *arg)
{
	for (size_t i = 0; arg && i < sizeof(arguments) / sizeof(*arguments); i++) {
		if (strcmp(arguments[i].arg, arg))
			continue;
		o->values = arguments[i].values;
		o->completion = arguments[i].completion;
	}
}

static struct opt converted(struct arena *a, const struct gprof_option *from, int id)
{
	bool optional = from->arg == GPROF_ARG_OPTIONAL;
	struct opt ret = {
		.id = id,
		.letter = gprof_option_letter(from),
		.name = from->long_name,
		.arg = optional ? arena_printf(a, "[%s]", from->arg_name) : from->arg_name,
		.help = from->help,
	};
	note_values(&ret, from->arg_name);
	return ret;
}

const struct opt_group *const *gprof_groups(struct arena *a)
{
	size_t n = 0, max = gprof_n_options + 1;
	const struct opt_group **groups = arena_alloc(a, (max + 1) * sizeof(*groups));
	struct opt *opts = arena_alloc(a, 2 * max * sizeof(*opts)); /* zeroed: ends each group */

	for (size_t i = 0; i < gprof_n_options; i++) {
		const struct gprof_option *o = &gprof_option_table[i];
		if (o->group || !n) {
			struct opt_group *g = arena_alloc(a, sizeof(*g));
			opts += n > 0;
			g->title = o->group ? o->group : "Options";
			g->opts = opts;
			groups[n++] = g;
		}
		*opts++ = converted(a, o, (int)i + 1);
	}
	return groups;
}

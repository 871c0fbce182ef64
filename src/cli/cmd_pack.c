/* cmd_pack.c - a recording with all that reports of it are made of. */
#include <sys/stat.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/content.h"
#include "cli/message.h"
#include "kin/kin.h"

static const char *const description[] = {
	"Puts into a recording (.kin) what its reports are made of, so that they are the same on "
	"another machine, or when the program has changed: names and source lines of all that was "
	"hit, which kin record has put there already, the machine code of these functions, and "
	"the text of the source files. One file to send to somebody, or to keep with a report of a "
	"fault.",
	"What is taken is what the recording was made of: programs and libraries with the same "
	"build ID. Of what is gone by now the names stay that the recording has.",
	"Source files are looked for where debug information says they are, and in the directories "
	"that --source-dir names. Look at what is in there before you give it away: kin annotate "
	"shows the text.",
	NULL,
};

static const struct example examples[] = {
	{ "kin pack profile.kin", "now it can go to another machine" },
	{ "kin pack -o bug-123.kin profile.kin", "a copy that can" },
	{ 0 },
};

static const struct opt_group pack_options = {
	"Output",
	(const struct opt[]){
		{ OPT_OUTPUT, 'o', "output", "FILE",
		  "write a copy to FILE, and leave the recording as it is", NULL, COMPLETE_FILE },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &recording_options, &source_options,
						   &pack_options, &general_options, NULL };

static const char *check(const struct settings *s)
{
	if (s->data.at.n > 1)
		return "one recording at a time: kin merge makes one of several";
	return s->executable ? "a recording says itself what it is of" : NULL;
}

static int run(const struct settings *s)
{
	const char *name = s->command->name;
	const char *wrong = check(s), *path = s->data.at.n ? s->data.at.at[0] : "profile.kin";
	if (wrong) {
		message(name, "%s", wrong);
		return EXIT_USAGE;
	}
	if (s->output.path && content_of(s->output.path) == CONTENT_PROGRAM) {
		message(name, "-o %s would replace a program", s->output.path);
		return EXIT_USAGE;
	}
	struct kin_keep_opts opts = { .size = sizeof(opts),
				      .debug_dir = s->debug_dir,
				      .symfs = s->symfs,
				      .output = s->output.path,
				      .pack = true,
				      .source_dirs = string_list(&s->source_dirs) };
	struct kin_keep_result r;
	struct kin_error *err = kin_keep_names(path, &opts, &r);
	if (err)
		return message_error(name, err);
	message(name, "%s: %zu functions of %zu objects, %zu source files: %.1f KB",
		s->output.path ? s->output.path : path, r.functions, r.objects, r.sources,
		(double)r.bytes / 1000);
	return EXIT_OK;
}

const struct command pack_command = {
	.name = "pack",
	.group = COMMANDS_DATA,
	.summary = "put names, source and code into a recording, for other machines",
	.operands = "[FILE]",
	.description = description,
	.options = options,
	.examples = examples,
	.run = run,
};

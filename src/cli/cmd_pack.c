/* cmd_pack.c - packs everything that reports need into a recording. */
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/content.h"
#include "cli/fetching.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "kin/kin.h"

static const char *const description[] = {
	"Adds to a recording (.kin) what its reports need, so that they are the same on another "
	"machine, or after the program has changed: names and source lines, which kin record has "
	"already written, the machine code of the functions that were hit, and the text of their "
	"source files. The result is one file to send to somebody, or to attach to a bug report.",
	"Only programs and libraries with the recorded build ID are used. For those that are "
	"gone, the recording keeps the names it has.",
	"Source files are read from the paths in the debug information, and searched in the "
	"directories given with --source-dir. The file then holds source text: check with kin "
	"annotate before you pass it on.",
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
	if (s->data.at.n && kin_format_of_name(s->data.at.at[0]))
		return "a store is no file: kin merge -o FILE URL makes a recording of it, which "
		       "kin pack FILE packs";
	if (s->data.at.n > 1)
		return "one recording at a time: kin merge makes one of several";
	if (s->output.path && !strcmp(s->output.path, "-"))
		return OUTPUT_NEEDS_NAME;
	return s->executable ? "a recording names its program itself" : NULL;
}

static int cmd_pack(const struct settings *s)
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
				      .debuginfod = fetching_servers(s->fetching),
				      .symfs = s->symfs,
				      .output = s->output.path,
				      .pack = true,
				      .source_dirs = string_list(&s->source_dirs) };
	struct kin_keep_result r;
	struct progress *progress = progress_begin("reading", s->fetching);
	struct kin_error *err = kin_keep_names(path, &opts, &r);
	progress_end(progress);
	fetching_tell(s->fetching, name);
	if (err)
		return message_error(name, err);
	message(name, "%s: %zu functions of %zu objects, %zu source files: %.1f KB",
		s->output.path ? s->output.path : path, r.functions, r.objects, r.sources,
		(double)r.bytes / 1000);
	return EXIT_OK;
}

const struct command pack_command = {
	.name = "pack",
	.group = COMMANDS_MORE,
	.summary = "put names, source and code into a recording, for other machines",
	.operands = "[FILE]",
	.description = description,
	.options = options,
	.examples = examples,
	.run = cmd_pack,
};

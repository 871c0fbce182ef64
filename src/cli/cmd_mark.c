/* cmd_mark.c - marks a moment of a running recording with a name. */
#include <stdlib.h>

#include "base/err.h"
#include "cli/arg.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/prefix.h"
#include "record/markers.h"

static const char *const description[] = {
	"Puts a marker with this name, at this moment, into the recording of a kin record --mark: "
	"the one that records the caller of kin mark, or with -p any other. kin info lists "
	"markers, the timeline of kin html shows them, and --time takes them: kin report "
	"--time=load,query begins at the one and ends at the other.",
	"The marker's time is that at which kin mark was started. If nobody records, that is an "
	"error; with -q it is not, for scripts that also run unrecorded.",
	NULL,
};

static const struct example examples[] = {
	{ "kin mark load", "in a script that kin record --mark runs" },
	{ "kin mark -p 1234 users complain", "in the recording that process 1234 makes" },
	{ "kin mark -q load", "whether anybody records or not" },
	{ 0 },
};

enum { MARK_PID = OPT_OWN, MARK_QUIET };

static const struct opt_group mark_options = {
	"Where",
	(const struct opt[]){
		{ MARK_PID, 'p', "pid", "PID",
		  "the process id of kin record, if it did not start what this is called from" },
		{ MARK_QUIET, 'q', "quiet", NULL, "nothing is wrong if nobody records" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &mark_options, &general_options, NULL };

struct mark_line {
	int recorder; /* process id; 0: the recorder that started this process */
	bool quiet;
	char **words; /* words of the name */
};

static bool set(void *line, const struct opt *row, const char *arg, char error[512])
{
	struct mark_line *l = line;
	uint64_t pid = 0;
	if (row->id == MARK_QUIET) {
		l->quiet = true;
		return true;
	}
	if (!arg_u64(arg, 1, INT32_MAX, &pid))
		return arg_bad("-p", arg, "a process id", error);
	l->recorder = (int)pid;
	return true;
}

static char *name_of(char **words)
{
	char *name = xprintf("%s", *words);
	while (*++words) {
		char *more = xprintf("%s %s", name, *words);
		free(name);
		name = more;
	}
	return name;
}

static int run_words(const struct command *c, int argc, char **argv)
{
	struct mark_line l = { 0 };
	int status = prefix_parse(c, argc, argv, set, &l, &l.words);
	if (status != PREFIX_GO_ON)
		return status;
	if (!l.words)
		return prefix_wrong(c, "what is the moment called? As in kin mark load");
	char *name = name_of(l.words);
	struct kin_error *err = markers_send(name, l.recorder);
	free(name);
	if (err && l.quiet && kin_error_kind(err) != KIN_ERROR_USAGE) {
		kin_error_free(err);
		return EXIT_OK;
	}
	return message_error(c->name, err);
}

const struct command mark_command = {
	.name = "mark",
	.group = COMMANDS_MORE,
	.summary = "name a moment of a recording",
	.operands = "NAME...",
	.description = description,
	.options = options,
	.examples = examples,
	.exit_status = "0 if it was marked, 1 if not, 2 if the command line makes no sense.",
	.run_words = run_words,
};

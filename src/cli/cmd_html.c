/* cmd_html.c - a profile as one HTML file. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/run.h"

static const char *const description[] = {
	"One file that any browser shows, and that needs nothing else, no network either: a "
	"summary with how far the data can be trusted, the functions in a table that sorts and "
	"searches, each with its callers and callees, and, where stacks were sampled, a flame "
	"graph of each event. It is light or dark as the browser wants it, and can be used with "
	"keys alone.",
	"Of gmon.out there is no flame graph, as it holds no stacks; times with callees are "
	"estimated there, and the page says so.",
	NULL,
};

static const struct example examples[] = {
	{ "kin html", "of the profile here: profile.html" },
	{ "kin html -o app.html app.kin", "of a recording" },
	{ "kin html -o - perf.data >report.html", "to standard output" },
	{ 0 },
};

static const struct opt_group output_group = {
	"Output",
	(const struct opt[]){
		{ OPT_OUTPUT, 'o', "output", "FILE",
		  "write to FILE instead of profile.html; -: standard output", NULL,
		  COMPLETE_FILE },
		{ OPT_MIN_SHARE, 'm', "min-share", "PERCENT",
		  "leave out callers and callees of functions below this share of the total; 0.01 "
		  "if not given",
		  NULL, COMPLETE_NOTHING },
		{ OPT_MIN_SHARE, 0, "percent-limit", "PERCENT", "the same as --min-share", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &input_options,   &names_options,
						   &inline_options,  &output_group,
						   &general_options, NULL };

static bool begin(struct settings *s, char error[512])
{
	(void)error;
	s->min_share = 0.0001;
	return true;
}

static struct kin_error *write_to(struct kin_profile *profile, const struct settings *s, int status)
{
	struct output_opts opts = s->output;
	struct output out;
	opts.no_pager = true;
	opts.path = opts.path ? opts.path : "profile.html";
	struct kin_error *err = output_open(&opts, status, &out);
	if (err)
		return err;
	err = kin_html(profile,
		       &(struct kin_html_opts){ .size = sizeof(struct kin_html_opts),
						.min_share = s->min_share },
		       out.stream);
	err = output_finish(&out, err);
	if (!err && !s->output.path)
		message("html", "%s: to be opened in a browser", opts.path);
	return err;
}

static int run(const struct settings *s) { return run_profile(s, write_to); }

const struct command html_command = {
	.name = "html",
	.group = COMMANDS_LOOK,
	.summary = "a profile as one HTML file, with call graph and flame graph",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.begin = begin,
	.run = run,
};

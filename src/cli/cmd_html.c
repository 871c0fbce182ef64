/* cmd_html.c - a profile as one HTML file. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/run.h"

static const char *const description[] = {
	"Writes one self-contained file that needs no network: a summary with the quality of the "
	"data, a table of functions to sort and search, each with its callers and callees, and, "
	"with sampled stacks, a flame graph of each event. It follows the browser's light or "
	"dark scheme and can be used by keyboard alone.",
	"A gmon.out holds no stacks, so there is no flame graph, and times with callees are "
	"labelled as estimated.",
	NULL,
};

static const struct example examples[] = {
	{ "kin html", "write profile.html from the profile in this directory" },
	{ "kin html -o app.html app.kin", "from a recording" },
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

/* cmd_html.c - writes a profile as one HTML file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/source_url.h"
#include "cli/arg.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/open_page.h"
#include "cli/output.h"
#include "cli/run.h"

enum { OPT_MAX_SIZE = OPT_OWN, OPT_SOURCE_URL };

static const char *const description[] = {
	"Writes one self-contained file that needs no network: a summary with the quality of the "
	"data; functions to sort and search, each with its callers, callees and cycles; flame "
	"graphs from callers, from callees, of one function, or in the order of time; what each "
	"thread did when; source lines and instructions. Whoever chooses a stretch "
	"of time or threads there gets all of it for these alone. Each state of the page has an "
	"address of its own, to be kept or sent.",
	"All shares are parts of the whole recording. If the file would become larger than "
	"--max-size, "
	"times get less precise, and then the narrowest frames are left out: \"others\" stands for "
	"them, and sums of functions stay exact. Without --max-size, frames below a 200,000th, "
	"which no screen shows, are left out like that in any case.",
	"Where at least a tenth of the time has own code on its stacks, the page begins with own "
	"code: that of others is charged to the own function that called it. A click, or the key "
	"o, shows all functions; --own=no begins with these, --own with own code.",
	"A gmon.out holds no stacks, so there is no flame graph, and times with callees are "
	"labelled as estimated.",
	NULL,
};

static const struct example examples[] = {
	{ "kin html", "write profile.html from the profile in this directory" },
	{ "kin html -o app.html app.kin", "from a recording" },
	{ "kin html --open app.kin", "show it at once" },
	{ "kin html --max-size=20M app.kin", "with more of the narrow frames" },
	{ "kin html -o - perf.data >report.html", "to standard output" },
	{ 0 },
};

static const struct opt_group output_group = {
	"Output",
	(const struct opt[]){
		{ OPT_OUTPUT, 'o', "output", "FILE",
		  "write to FILE instead of profile.html; -: standard output", NULL,
		  COMPLETE_FILE },
		{ OPT_MAX_SIZE, 0, "max-size", "SIZE",
		  "leave out the narrowest frames of a file that would be larger: 500K, 20M; 5 MB "
		  "if not given" },
		{ OPT_FIELD, 0, "open", NULL, "show the page in a browser: $BROWSER, or xdg-open",
		  OPT_SETS(struct settings, opens_page) },
		{ OPT_FIELD, 0, "no-code", NULL, "leave out source lines and instructions",
		  OPT_SETS(struct settings, page.no_code) },
		{ OPT_SOURCE_URL, 0, "source-url", "TEMPLATE",
		  "link lines and functions to a forge: https://HOST/PATH/{file}#L{line}; {file} "
		  "is the path below --own=DIRECTORY; code.source-url in ~/.kinconfig says it, "
		  "too" },
		{ OPT_MIN_SHARE, 'm', "min-share", "PERCENT",
		  "without sampled stacks: leave out callers and callees of functions below this "
		  "share of the total; 0.01 if not given" },
		{ OPT_MIN_SHARE, 0, "percent-limit", "PERCENT", "the same as --min-share" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&input_options, &names_options,       &inline_options,  &own_options, &source_options,
	&output_group,  &chosen_part_options, &general_options, NULL
};

static void narrow(const struct settings *s, struct kin_open_opts *o)
{
	(void)s;
	o->own = KIN_OWN_NO; /* the page folds */
	o->findings = true;
}

static bool begin(struct settings *s, char error[512])
{
	(void)error;
	settings_read_config(s);
	s->page.source_url = s->config.source_url;
	s->min_share = 0.0001;
	return true;
}

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	switch (id) {
	case OPT_MAX_SIZE:
		return arg_size(arg, &s->page.max_bytes) ||
		       arg_bad("--max-size", arg, "a size: 500K, 20M", error);
	case OPT_SOURCE_URL:
		s->page.source_url = arg;
		return source_url_is_valid(arg) ||
		       arg_bad("--source-url", arg, "https://HOST/PATH/{file}#L{line}", error);
	}
	return true;
}

/* Only frames of flame graphs, and lines and instructions of samples, are left out for --max-size.
 */
static void tell_size(const struct settings *s, const char *path)
{
	struct stat st;
	if (!s->page.max_bytes || !strcmp(path, "-") || stat(path, &st) ||
	    (uint64_t)st.st_size <= s->page.max_bytes)
		return;
	message("html",
		"%s has %" PRIu64 " KB, more than --max-size: functions and their callers are "
		"never left out%s",
		path, ((uint64_t)st.st_size + 1023) / 1024,
		s->page.no_code ? "" : "; --no-code leaves out source lines and instructions");
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
	struct kin_html_opts page = s->page;
	page.size = sizeof(page);
	page.min_share = s->min_share;
	page.full_names = settings_full_names(s);
	page.own = s->own == OWN_YES  ? KIN_OWN_ALWAYS
		   : s->own == OWN_NO ? KIN_OWN_NO
				      : KIN_OWN_IF_LEADING;
	page.source_dirs = string_list(&s->source_dirs);
	err = kin_html(profile, &page, out.stream);
	err = output_finish(&out, err);
	if (!err)
		tell_size(s, opts.path);
	if (!err && s->opens_page)
		open_page("html", opts.path);
	else if (!err && !s->output.path)
		message("html", "%s: to be opened in a browser", opts.path);
	return err;
}

static int cmd_html(const struct settings *s)
{
	if (s->opens_page && s->output.path && !strcmp(s->output.path, "-")) {
		message("html", "--open shows a file: give it a name by -o FILE");
		return EXIT_USAGE;
	}
	return run_profile(s, write_to);
}

const struct command html_command = {
	.name = "html",
	.group = COMMANDS_START,
	.summary = "a profile as one HTML file, with call graph and flame graph",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.begin = begin,
	.set = set,
	.narrow = narrow,
	.run = cmd_html,
};

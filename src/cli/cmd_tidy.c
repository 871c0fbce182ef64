/* cmd_tidy.c - the upkeep of a store. */
#include <inttypes.h>
#include <time.h>

#include "base/err.h"
#include "cli/arg.h"
#include "cli/command.h"
#include "cli/message.h"
#include "fleet/store_url.h"
#include "fleet/upkeep.h"

static const char *const description[] = {
	"Sums up whole hours of a store (kin push), so that reports of days take as long as those "
	"of "
	"hours did: recordings of one service and version become one sum. Reports stay the same, "
	"to "
	"the last unit, whatever is sent later; those of single hosts and labels, and of parts of "
	"an "
	"hour, use the recordings as ever.",
	"With --keep days that are older are dropped. Run it every hour or every day (cron, a "
	"systemd "
	"timer); when it was interrupted, or two run at a time, nothing counts twice.",
	NULL,
};

static const struct example examples[] = {
	{ "kin tidy http://db:8123/profiles", "sums of what is more than an hour old" },
	{ "kin tidy --keep=30d http://db1,db2/profiles", "the last month stays" },
	{ 0 },
};

enum { TIDY_KEEP = OPT_OWN, TIDY_QUIET };

static const struct opt_group tidy_options = {
	"What is done",
	(const struct opt[]){
		{ TIDY_KEEP, 0, "keep", "DAYS",
		  "drop days that are older: 30d; default: keep all" },
		{ TIDY_QUIET, 'q', "quiet", NULL, "print nothing if all went well" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &tidy_options, &general_options, NULL };

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	double days = 0;
	if (id == TIDY_QUIET) {
		s->quiet = true;
		return true;
	}
	if (!arg_double(arg, "d", 1, 36500, &days))
		return arg_bad("--keep", arg, "a number of days: 30d", error);
	s->keep_days = (unsigned)days;
	return true;
}

static int run(const struct settings *s)
{
	enum { HOUR_S = 3600, DAY_S = 86400 };
	const char *name = s->command->name;
	uint64_t now = (uint64_t)time(NULL);
	const struct upkeep_opts opts = {
		.before_s = now - HOUR_S,
		.keep_from_s = s->keep_days ? now - (uint64_t)s->keep_days * DAY_S : 0,
	};
	struct store_url url;
	struct upkeep_result r;
	if (s->data.at.n != 1) {
		message(name, "which store? kin tidy http://HOST:8123/DATABASE");
		return EXIT_USAGE;
	}
	struct kin_error *err = store_url_parse(s->data.at.at[0], now, &url);
	if (err)
		return message_error(name, err);
	if (url.filters.n || url.from_s || url.to_s != UINT32_MAX) {
		message(name, "the whole store is tidied: a URL without ?");
		store_url_done(&url);
		return EXIT_USAGE;
	}
	err = upkeep_do(&url, &opts, &r);
	if (!err && !s->quiet)
		message(name,
			"%" PRIu64 " sums of hours made, of %" PRIu64 " recordings; %" PRIu64
			" days dropped",
			r.rollups, r.recordings, r.days);
	store_url_done(&url);
	return err ? message_error(name, err) : EXIT_OK;
}

const struct command tidy_command = {
	.name = "tidy",
	.group = COMMANDS_DATA,
	.summary = "sum up a store's hours, drop its old days",
	.operands = "URL",
	.description = description,
	.options = options,
	.examples = examples,
	.exit_status =
		"0 if all was done, 1 if not: doing it again is right, 2 if the command line "
		"makes no sense.",
	.set = set,
	.run = run,
};

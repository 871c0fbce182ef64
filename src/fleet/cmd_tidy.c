/* cmd_tidy.c - maintains a store. */
#include <inttypes.h>
#include <time.h>

#include "base/err.h"
#include "cli/arg.h"
#include "cli/command.h"
#include "cli/fleet.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "fleet/store_url.h"
#include "fleet/upkeep.h"

static const char *const description[] = {
	"Sums up whole hours and whole days (UTC) of a store (kin push): recordings of one service "
	"and version become one sum. Reports of weeks then take as long as those of hours did, and "
	"stay the same, to the last unit, whatever is sent later. Reports of single hosts and "
	"labels, and of parts of an hour, still read the recordings.",
	"With --keep, older days are dropped. Run it every hour or every day, by cron or by "
	"doc/examples/kin-tidy.timer under systemd. Nothing counts twice if it is interrupted, or "
	"if two run at a time.",
	NULL,
};

static const struct example examples[] = {
	{ "kin tidy http://db:8123/profiles", "sums up hours that ended more than an hour ago" },
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
	if (!arg_double(arg, "d", 1, 36500, &days) || days != (unsigned)days)
		return arg_bad("--keep", arg, "a whole number of days: 30d", error);
	s->keep_days = (unsigned)days;
	return true;
}

/* A failing shard is reported, and the others are tidied nevertheless. */
static int tidy_shards(const struct settings *s, const struct store_url *url,
		       const struct upkeep_opts *opts)
{
	const char *name = s->command->name;
	struct upkeep_result r = { 0 };
	struct store *store = NULL;
	int status = message_error(name, store_new(url, &store));
	if (status)
		return status;
	for (size_t i = 0; i < url->shards.n; i++) {
		struct progress *progress = progress_begin(url->shards.at[i], NULL);
		struct kin_error *err = upkeep_do(store, url, i, opts, &r);
		progress_end(progress);
		if (message_error(name, err))
			status = EXIT_ERROR;
	}
	store_free(store);
	if (!status && !r.shards) {
		message(name, "there is no database '%s' at %s%s", url->database, url->shards.at[0],
			url->shards.n > 1 ? ", or the other shards" : "");
		return EXIT_ERROR;
	}
	uint64_t hours = r.rollups[ROLLUP_HOURS];
	if (!s->quiet)
		message(name,
			"%" PRIu64 " sum%s of hours and %" PRIu64 " of days made, of %" PRIu64
			" recording%s; %" PRIu64 " day%s dropped",
			hours, hours == 1 ? "" : "s", r.rollups[ROLLUP_DAYS], r.recordings,
			r.recordings == 1 ? "" : "s", r.days, r.days == 1 ? "" : "s");
	return status;
}

static int cmd_tidy(const struct settings *s)
{
	enum { HOUR_S = 3600, DAY_S = 86400 };
	const char *name = s->command->name;
	uint64_t now = (uint64_t)time(NULL);
	const struct upkeep_opts opts = {
		.before_s = now - HOUR_S,
		.keep_from_s = s->keep_days ? now - (uint64_t)s->keep_days * DAY_S : 0,
	};
	struct store_url url;
	if (s->data.at.n != 1) {
		message(name, "which store? kin tidy http://HOST:8123/DATABASE");
		return EXIT_USAGE;
	}
	struct kin_error *err = store_url_parse(s->data.at.at[0], now, &url);
	if (err)
		return message_error(name, err);
	if (url.filters.n || url.has_from || url.has_to) {
		message(name, "the whole store is tidied: a URL without ?");
		store_url_done(&url);
		return EXIT_USAGE;
	}
	int status = tidy_shards(s, &url, &opts);
	store_url_done(&url);
	return status;
}

const struct command tidy_command = {
	.name = "tidy",
	.group = COMMANDS_MANY,
	.is_in_fleet = true,
	.summary = TIDY_SUMMARY,
	.operands = "URL",
	.description = description,
	.options = options,
	.examples = examples,
	.exit_status =
		"0 if all was done, 1 if not: doing it again is right, 2 if the command line "
		"makes no sense.",
	.set = set,
	.run = cmd_tidy,
};

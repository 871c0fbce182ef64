/* cmd_push.c - recordings into a store. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "cli/arg.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "fleet/push.h"

static const char *const description[] = {
	"Sends recordings to a store, a ClickHouse database, in which those of many hosts, "
	"versions "
	"and days are added up and looked at together. Every command that reads a recording reads "
	"a "
	"store: kin report 'http://HOST:8123/DATABASE?service=web&from=-1h'. doc/fleet.md has the "
	"tables.",
	"Samples are summed by stack and time; stacks and the names of functions are sent once, "
	"when the store has not seen them. A recording that is sent again counts once: after an "
	"error, send it again. Tables that are not there are made.",
	"Several hosts in the URL, with commas between them, are shards: what one host recorded "
	"goes to one of them.",
	"User and password come from KIN_STORE_USER and KIN_STORE_PASSWORD, or from the file "
	"KIN_STORE_LOGIN or ~/.config/kin/store, with the lines user NAME and password TEXT, which "
	"nobody else may read. KIN_STORE_CA names the certificates of whom https:// trusts.",
	NULL,
};

static const struct example examples[] = {
	{ "kin push http://localhost:8123/profiles profile.kin", "as what the recording says" },
	{ "kin push --service=web --service-version=7 --label=zone=b http://db:8123/p *.kin",
	  "then: kin report 'http://db:8123/p?service=web&version=7&zone=b'" },
	{ "kin diff 'http://db:8123/p?version=7' 'http://db:8123/p?version=8'",
	  "of what is there" },
	{ 0 },
};

enum { PUSH_SERVICE = OPT_OWN, PUSH_VERSION, PUSH_HOST, PUSH_LABEL, PUSH_BUCKET, PUSH_QUIET };

static const struct opt_group push_options = {
	"What is said of the recordings",
	(const struct opt[]){
		{ PUSH_SERVICE, 0, "service", "NAME",
		  "what was recorded; otherwise the name of its program", NULL, COMPLETE_NOTHING },
		{ PUSH_VERSION, 0, "service-version", "TEXT", "which version of it", NULL,
		  COMPLETE_NOTHING },
		{ PUSH_HOST, 0, "host", "NAME",
		  "where; otherwise the host that the recording names", NULL, COMPLETE_NOTHING },
		{ PUSH_LABEL, 0, "label", "KEY=VALUE",
		  "anything else to find them by: run=17, rank=3; repeatable", NULL,
		  COMPLETE_NOTHING },
		{ PUSH_BUCKET, 0, "bucket", "TIME",
		  "sum up samples of that time: 60s (the default), 10m, 1h", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group where_options = {
	"Names",
	(const struct opt[]){
		{ OPT_SYMFS, 0, "symfs", "DIRECTORY",
		  "look for programs and libraries below this directory", NULL,
		  COMPLETE_DIRECTORY },
		{ OPT_DEBUG_DIR, 0, "debug-dir", "DIRECTORY",
		  "directory of separate debug files, instead of /usr/lib/debug", NULL,
		  COMPLETE_DIRECTORY },
		{ PUSH_QUIET, 'q', "quiet", NULL, "print nothing if all went well", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &push_options, &where_options, &general_options,
						   NULL };

static bool set_bucket(struct settings *s, const char *arg, char error[512])
{
	enum { DAY_S = 86400 };
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', DAY_S } };
	char *end;
	uint64_t n = *arg >= '0' && *arg <= '9' ? strtoull(arg, &end, 10) : 0;
	for (size_t i = 0; n && n <= DAY_S && i < ARRAY_LEN(units); i++)
		if ((end[0] == units[i].unit && !end[1]) || !*end) {
			s->push.bucket_s = (uint32_t)(n * units[i].seconds);
			if (DAY_S % s->push.bucket_s == 0)
				return true;
			break;
		}
	return arg_bad("--bucket", arg, "a time of which a day has a whole number: 60s, 10m, 1h",
		       error);
}

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	const char *equals;
	switch (id) {
	case PUSH_SERVICE:
		s->push.service = arg;
		return true;
	case PUSH_VERSION:
		s->push.version = arg;
		return true;
	case PUSH_HOST:
		s->push.host = arg;
		return true;
	case PUSH_LABEL:
		equals = strchr(arg, '=');
		if (!equals || equals == arg)
			return arg_bad("--label", arg, "KEY=VALUE", error);
		string_list_add(&s->push.labels, arg);
		return true;
	case PUSH_BUCKET:
		return set_bucket(s, arg, error);
	case PUSH_QUIET:
		s->quiet = true;
		return true;
	}
	return true;
}

/* The store does not tell an order of labels. */
static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void say(const struct settings *s, const char *path, const struct push_result *r)
{
	if (r->doubt)
		message(s->command->name, "%s", r->doubt);
	if (s->quiet)
		return;
	if (r->was_there)
		message(s->command->name, "%s: is in the store already", path);
	else
		message(s->command->name,
			"%s: %" PRIu64 " samples in %" PRIu64 " rows, %" PRIu64 " new stacks%s",
			path, r->samples, r->rows, r->stacks,
			r->attempts > 1 ? "; not at the first attempt" : "");
}

static int push_files(const struct settings *s, struct push *push)
{
	int status = EXIT_OK;
	for (size_t i = 1; i < s->data.at.n; i++) {
		const char *path = s->data.at.at[i];
		struct push_result r;
		struct progress *progress = progress_begin(path, NULL);
		struct kin_error *err = push_file(push, path, &r);
		progress_end(progress);
		if (!err)
			say(s, path, &r);
		if (err && kin_error_kind(err) == KIN_ERROR_OS && i + 1 < s->data.at.n)
			err = err_wrap(err, "%s and what follows is not sent", path);
		bool over = err && kin_error_kind(err) == KIN_ERROR_OS;
		status = err || r.doubt ? EXIT_ERROR : status;
		message_error(s->command->name, err);
		free(r.doubt);
		if (over)
			break;
	}
	return status;
}

static int usage(const struct settings *s, const char *why)
{
	message(s->command->name, "%s", why);
	return EXIT_USAGE;
}

static int run(const struct settings *s)
{
	const char *name = s->command->name;
	if (!s->data.at.n || !store_url_is(s->data.at.at[0]))
		return usage(s, "where to? kin push http://HOST:8123/DATABASE FILE...");
	if (s->data.at.n < 2)
		return usage(s, "what? kin push http://HOST:8123/DATABASE FILE...");
	struct store_url url;
	struct kin_error *err = store_url_parse(s->data.at.at[0], (uint64_t)time(NULL), &url);
	if (err)
		return message_error(name, err);
	struct string_list labels = s->push.labels;
	if (labels.at.n)
		qsort(labels.at.at, labels.at.n, sizeof(*labels.at.at), by_bytes);
	struct push_opts opts = { .service = s->push.service,
				  .version = s->push.version,
				  .host = s->push.host,
				  .labels = string_list(&labels),
				  .bucket_s = s->push.bucket_s,
				  .debug_dir = s->debug_dir,
				  .symfs = s->symfs };
	struct push *push = NULL;
	int status;
	if (url.filters.n)
		status = usage(s, "what is after ? is for reading: say it by options");
	else if ((err = push_new(&url, &opts, &push)))
		status = message_error(name, err);
	else
		status = push_files(s, push);
	push_free(push);
	store_url_done(&url);
	return status;
}

const struct command push_command = {
	.name = "push",
	.group = COMMANDS_DATA,
	.summary = "send recordings to a store of many: ClickHouse",
	.operands = "URL FILE...",
	.description = description,
	.options = options,
	.examples = examples,
	.set = set,
	.run = run,
};

/* cmd_push.c - sends recordings to a store. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/fleet.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "fleet/push_options.h"
#include "formats/store_name.h"

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
	"The recording of a rank of a parallel job has the labels rank and job by itself.",
	"Of a directory each recording is sent by itself, such as those of kin record --every.",
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
	  "compares two versions" },
	{ 0 },
};

enum { PUSH_QUIET = PUSH_OPTIONS_END };

static const struct opt_group where_options = {
	"Names",
	(const struct opt[]){
		{ OPT_FIELD, 0, "symfs", "DIRECTORY",
		  "look for programs and libraries below this directory", NULL, COMPLETE_DIRECTORY,
		  OPT_SETS(struct settings, symfs) },
		{ OPT_FIELD, 0, "debug-dir", "DIRECTORY",
		  "directory of separate debug files, instead of /usr/lib/debug", NULL,
		  COMPLETE_DIRECTORY, OPT_SETS(struct settings, debug_dir) },
		{ PUSH_QUIET, 'q', "quiet", NULL, "print nothing if all went well" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &push_options, &where_options, &general_options,
						   NULL };

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	if (id != PUSH_QUIET)
		return push_options_set(s, id, arg, error);
	s->quiet = true;
	return true;
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
			"%s: %" PRIu64 " sample%s in %" PRIu64 " row%s, %" PRIu64 " new stack%s%s",
			path, r->samples, r->samples == 1 ? "" : "s", r->rows,
			r->rows == 1 ? "" : "s", r->stacks, r->stacks == 1 ? "" : "s",
			r->attempts > 1 ? "; not at the first attempt" : "");
}

/* Returns true if the store or the connection failed, so that trying other files is pointless. */
static bool push_one(const struct settings *s, struct push *push, const char *path,
		     bool others_follow, int *status)
{
	struct push_result r;
	struct progress *progress = progress_begin(path, NULL);
	struct kin_error *err = push_file(push, path, &r);
	progress_end(progress);
	if (!err)
		say(s, path, &r);
	bool over = err && kin_error_kind(err) == KIN_ERROR_OS && !r.unread;
	if (over && others_follow)
		err = err_wrap(err, "%s and what follows is not sent", path);
	*status = err || r.doubt ? EXIT_ERROR : *status;
	message_error(s->command->name, err);
	free(r.doubt);
	return over;
}

static int push_all(const struct settings *s, struct push *push)
{
	int status = EXIT_OK;
	bool over = false;
	for (size_t i = 1; i < s->data.at.n && !over; i++) {
		struct push_files files;
		struct kin_error *err = push_files_find(s->data.at.at[i], &files);
		int trouble = message_error(s->command->name, err);
		status = trouble ? trouble : status;
		for (size_t k = 0; k < files.n && !over; k++)
			over = push_one(s, push, files.at[k],
					k + 1 < files.n || i + 1 < s->data.at.n, &status);
		push_files_done(&files);
	}
	return status;
}

/* Finds a store among the data, to refuse it: the sum of a store lacks the times and hosts of its
 * recordings, and would count a second time. */
static const char *find_store(const struct settings *s)
{
	for (size_t i = 1; i < s->data.at.n; i++)
		if (store_is_named(s->data.at.at[i]))
			return s->data.at.at[i];
	return NULL;
}

static int cmd_push(const struct settings *s)
{
	const char *name = s->command->name;
	struct settings own = *s;
	struct store_url url;
	struct push_opts opts;
	struct push *push = NULL;
	if (s->data.at.n < 2) {
		message(name, "where to, and what? kin push http://HOST:8123/DATABASE FILE...");
		return EXIT_USAGE;
	}
	const char *store = find_store(s);
	if (store) {
		message(name, "%s: a store is no recording: push the recordings themselves", store);
		return EXIT_USAGE;
	}
	struct kin_error *err = push_options_take(&own, &url, &opts);
	if (err)
		return message_error(name, err);
	err = push_new(&url, &opts, &push);
	int status = err ? message_error(name, err) : push_all(s, push);
	push_free(push);
	store_url_done(&url);
	return status;
}

const struct command push_command = {
	.name = "push",
	.group = COMMANDS_MANY,
	.is_in_fleet = true,
	.summary = PUSH_SUMMARY,
	.operands = "URL FILE...",
	.description = description,
	.options = options,
	.examples = examples,
	.set = set,
	.run = cmd_push,
};

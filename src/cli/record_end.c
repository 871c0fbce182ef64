/* record_end.c - adds names to a recording, and prints the lines at its end. */
#include "cli/record_end.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/content.h"
#include "cli/message.h"
#include "cli/naming.h"
#include "cli/output.h"
#include "kin/kin.h"

/* Prints what to do next. Reports find a file of the usual name by themselves. */
static void say_next(const char *path)
{
	struct kin_rank rank;
	char *word = message_word(path);
	bool of_job = kin_rank_of(path, &rank) && rank.rank && rank.ranks != 1;
	bool usual = !strcmp(path, "profile.kin");
	const char *blank = usual ? "" : " ", *file = usual ? "" : word;
	if (of_job && !strchr(path, '/')) /* kin imbalance finds the files of other ranks in this
					     folder */
		message("record",
			"  next: kin imbalance, of all ranks; or of this one kin report%s%s", blank,
			file);
	else
		message("record", "  next: kin report%s%s, or on the terminal: kin browse%s%s",
			blank, file, blank, file);
	free(word);
}

static void say_lines(char *text)
{
	char *rest;
	for (char *l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
		message("record", "%s", l);
	free(text);
}

/* An error unless the file is a profile or empty: nothing else is overwritten. */
static struct kin_error *may_replace(const char *path)
{
	struct stat st;
	if (lstat(path, &st))
		return errno == ENOENT ? NULL : err_os(errno, "%s", path);
	if (S_ISREG(st.st_mode) && (!st.st_size || content_of(path) == CONTENT_PROFILE))
		return NULL;
	return err_new(KIN_ERROR_USAGE,
		       "%s is there and is not a profile: --perf-data writes over "
		       "no other file",
		       path);
}

static struct kin_error *write_perf_data(const char *path, const char *to)
{
	struct kin_open_opts opts = { .size = sizeof(opts), .stacks_as_recorded = true };
	struct kin_profile *profile = NULL;
	struct output out = { 0 };
	struct kin_error *err = may_replace(to);
	if (!err)
		err = kin_profile_open(&path, 1, &opts, &profile);
	if (!err)
		err = output_open(&(struct output_opts){ .path = to, .mode = 0600 }, 0, &out);
	if (out.stream)
		err = output_finish(&out, kin_export(profile, "perf.data", NULL, out.stream));
	kin_profile_free(profile);
	return err;
}

/* Without samples nothing is written, but an older file is removed: it is not this run's. */
static struct kin_error *no_perf_data(const char *to, bool quiet)
{
	struct kin_error *err = may_replace(to);
	if (!err && !unlink(to) && !quiet)
		message("record", "%s, of an earlier run, is removed: there are no samples", to);
	return err;
}

bool record_end(const struct record_ending *e, struct record_audit *a, const char *path,
		const char *shown)
{
	char *named = NULL;
	bool any = a->samples || a->has_switches;
	if (e->names && path && a->samples && !access(path, F_OK))
		a->names_size = naming_put("record", path, e->held, e->quiet ? NULL : &named);
	if (e->quiet && record_audit_is_bad(a))
		say_lines(record_audit_losses(a));
	if (!e->quiet)
		say_lines(record_audit_text(a, shown, e->more));
	if (!e->quiet && e->more && named)
		message("record", "  %s", named);
	free(named);
	struct kin_error *err = NULL;
	if (path && e->perf_data)
		err = any ? write_perf_data(path, e->perf_data)
			  : no_perf_data(e->perf_data, e->quiet);
	bool all = !err;
	if (err)
		message("record", "%s", kin_error_message(err));
	kin_error_free(err);
	if (path && any && e->look)
		e->look(path);
	else if (path && any && !e->quiet)
		say_next(path);
	return all;
}

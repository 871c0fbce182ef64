#include "cli/run.h"

#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/content.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "kin/kin.h"

void run_tell_warnings(const struct settings *s, const struct kin_profile *profile, size_t from)
{
	for (size_t i = from; i < kin_profile_n_warnings(profile); i++)
		message(s->command->name, "warning: %s", kin_profile_warning_at(profile, i));
}

/* Returns the exit status that the data calls for; *ret is NULL if nothing could be read. */
static int open_data(const struct settings *s, struct kin_profile **ret)
{
	struct kin_open_opts opts = {
		.size = sizeof(opts),
		.executable = s->executable,
		.debug_dir = s->debug_dir,
		.demangle = s->demangle,
		.symfs = s->symfs,
		.kallsyms = s->kallsyms,
		.threads = string_list(&s->threads),
		.comms = string_list(&s->comms),
		.objects = string_list(&s->objects),
		.events = string_list(&s->events),
		.time = s->time,
		.gcov = string_list(&s->gcov),
		.details = s->hists.size && kin_hists_need_details(&s->hists),
		.branches = s->hists.branches,
		.branches_if_recorded = s->format && !strcmp(s->format, "perf") && !s->no_branches,
	};
	struct progress *progress = progress_begin("reading");
	struct kin_error *err = kin_profile_open(string_list(&s->data), s->data.at.n, &opts, ret);
	progress_end(progress);

	int status = message_error(s->command->name, err);
	if (*ret)
		run_tell_warnings(s, *ret, 0);
	for (size_t i = 0; *ret && s->strict && i < kin_profile_n_doubts(*ret); i++) {
		message(s->command->name, "in doubt: %s", kin_profile_doubt_at(*ret, i));
		status = EXIT_ERROR;
	}
	return status;
}

static struct kin_error *make_table(const struct settings *s, const char *report,
				    struct kin_profile *profile, struct kin_table **ret)
{
	struct kin_report_opts opts = {
		.size = sizeof(opts),
		.columns = string_list(&s->columns),
		.sort = s->sort,
		.subjects = string_list(&s->subjects),
		.min_share = s->min_share,
		.source_dirs = string_list(&s->source_dirs),
		.layout = s->layout,
		.by = s->by,
		.with_source = s->with_source,
		.all_lines = s->all_lines,
	};
	struct progress *progress = progress_begin("analysing");
	struct kin_error *err = kin_report(profile, report, &opts, ret);
	progress_end(progress);
	return err;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;
	return a && b && !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A report in place of what it was made of is never meant. The data and the program need not have
 * been named, so whatever looks like either is safe from us. */
static struct kin_error *check_output(const struct settings *s)
{
	const char *path = s->output.path;
	if (!path)
		return NULL;
	enum content content = content_of(path);
	bool input = content == CONTENT_PROGRAM || content == CONTENT_PROFILE ||
		     (content == CONTENT_OTHER && content_named_profile(path)) ||
		     is_same_file(path, s->executable);
	for (size_t i = 0; i < s->data.at.n; i++)
		input = input || is_same_file(path, s->data.at.at[i]);
	if (!input)
		return NULL;
	return err_new(
		KIN_ERROR_USAGE,
		"-o %s would replace a profile or a program by a report: remove it first if that "
		"is meant",
		path);
}

struct kin_error *run_render(const struct settings *s, struct kin_table *table, int status)
{
	struct output out;
	struct kin_error *err = output_open(&s->output, status, &out);
	if (err)
		return err;
	err = kin_render(
		table, s->format ? s->format : "text",
		&(struct kin_render_opts){ sizeof(struct kin_render_opts), out.width, out.color },
		out.stream);
	return output_finish(&out, err);
}

/* Unless the output would be in the way. */
int run_open(const struct settings *s, struct kin_profile **ret)
{
	struct kin_error *err = check_output(s);
	*ret = NULL;
	return err ? message_error(s->command->name, err) : open_data(s, ret);
}

int run_profile(const struct settings *s, profile_user *use)
{
	struct kin_profile *profile;
	int status = run_open(s, &profile);
	if (!profile)
		return status;
	size_t told = kin_profile_n_warnings(profile);
	struct kin_error *err = use(profile, s, status);
	run_tell_warnings(s, profile, told);
	kin_profile_free(profile);
	return err ? message_error(s->command->name, err) : status;
}

int run_report(const struct settings *s, const char *report)
{
	struct kin_profile *profile;
	struct kin_table *table = NULL;
	int status = run_open(s, &profile);
	if (!profile)
		return status;
	size_t told = kin_profile_n_warnings(profile);
	struct kin_error *err = make_table(s, report, profile, &table);
	if (!err)
		err = run_render(s, table, status);
	kin_table_free(table);
	run_tell_warnings(s, profile, told); /* after a pager, which would cover it */
	kin_profile_free(profile);
	return err ? message_error(s->command->name, err) : status;
}

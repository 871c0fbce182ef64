/* run.c - opens data by the settings, makes a report's table, renders it, and prints warnings. */
#include "cli/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/content.h"
#include "cli/draw.h"
#include "cli/fetching.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "kin/kin.h"

static const char hint[] = "hint";

bool run_say(const struct settings *s, const struct kin_profile *profile, enum kin_remark kind,
	     const char *label, size_t *from)
{
	const char *text;
	bool any = false;
	for (; (text = kin_profile_remark(profile, kind, from)); any = true)
		message(s->command->name, "%s: %s", label, text);
	return any;
}

int run_tell(const struct settings *s, const struct kin_profile *profile, struct told *told)
{
	run_say(s, profile, KIN_REMARK_WARNING, "warning", &told->warnings);
	bool in_doubt =
		s->strict && run_say(s, profile, KIN_REMARK_DOUBT, "in doubt", &told->doubts);
	run_say(s, profile, KIN_REMARK_ORIGIN, "note", &told->origins);
	fetching_tell(s->fetching, s->command->name);
	run_say(s, profile, KIN_REMARK_HINT, hint, &told->hints);
	return in_doubt ? EXIT_ERROR : EXIT_OK;
}

size_t run_hint_lines(const struct settings *s, const struct kin_profile *profile)
{
	const char *text;
	size_t n = 0;
	for (size_t i = 0; (text = kin_profile_remark(profile, KIN_REMARK_HINT, &i));)
		n += message_lines(s->command->name, "%s: %s", hint, text);
	return n;
}

void run_tell_notes(const struct settings *s, const struct kin_profile *profile)
{
	run_say(s, profile, KIN_REMARK_NOTE, "warning", &(size_t){ 0 });
}

bool run_has_notes(const char *format)
{
	static const char *const with_notes[] = { "text", "json", "html" };
	bool has = !format;
	for (size_t i = 0; i < ARRAY_LEN(with_notes) && !has; i++)
		has = !strcmp(format, with_notes[i]);
	return has;
}

/* Whether the output is the layout of another tool, or is about the samples themselves. */
static bool is_as_recorded(const struct settings *s)
{
	static const char *const formats[] = { "perf", "gnu", "bsd" };
	bool is = !strcmp(s->command->name, "script") || !strcmp(s->command->name, "info");
	for (size_t i = 0; s->format && i < ARRAY_LEN(formats) && !is; i++)
		is = !strcmp(s->format, formats[i]);
	return is;
}

static struct kin_open_opts open_opts(const struct settings *s)
{
	return (struct kin_open_opts){
		.size = sizeof(struct kin_open_opts),
		.executable = s->executable,
		.debug_dir = s->debug_dir,
		.demangle = s->demangle,
		.symfs = s->symfs,
		.kallsyms = s->kallsyms,
		.threads = string_list(&s->threads),
		.comms = string_list(&s->comms),
		.ranks = string_list(&s->ranks),
		.objects = string_list(&s->objects),
		.events = string_list(&s->events),
		.time = s->time,
		.gcov = string_list(&s->gcov),
		.details = (s->hists.size && kin_hists_need_details(&s->hists)) ||
			   kin_script_needs_details(&s->script),
		.cpu_state = kin_script_needs_cpu_state(&s->script),
		.trace_fields = !strcmp(s->command->name, "script") ||
				(s->format && !strcmp(s->format, "perf") && !s->hists.sort),
		.no_inlines = s->no_inlines,
		.with_hooks = s->with_hooks,
		.not_sampled = !is_as_recorded(s),
		.not_sampled_all = s->command->compares, /* the same on both sides */
		.debuginfod = fetching_servers(s->fetching),
		.own = s->own == OWN_YES ? KIN_OWN_ALWAYS : KIN_OWN_NO,
		.own_dirs = string_list(&s->own_dirs),
		.foreign_dirs = string_list(&s->foreign_dirs),
		.branches = s->hists.branches,
		.branches_if_recorded = s->format && !strcmp(s->format, "perf") && !s->no_branches,
		.reserve_heap = true,
	};
}

void run_by_function(const struct settings *s, struct kin_open_opts *o)
{
	(void)s;
	o->no_times = true;
	o->by_function = true;
}

void run_with_counters(const struct settings *s, struct kin_open_opts *o)
{
	(void)s;
	o->counters = true;
}

struct kin_error *run_open_part(const struct settings *s, const char *thread, const char *object,
				struct kin_profile **ret)
{
	const char *threads[] = { thread, NULL }, *objects[] = { object, NULL };
	struct kin_open_opts opts = open_opts(s);
	if (thread)
		opts.threads = threads;
	if (object)
		opts.objects = objects;
	return kin_profile_open(string_list(&s->data), s->data.at.n, &opts, ret);
}

bool run_is_text(const struct settings *s) { return !s->format || !strcmp(s->format, "text"); }

const char *run_reading(const struct settings *s)
{
	for (size_t i = 0; i < s->data.at.n; i++)
		if (kin_format_of_name(s->data.at.at[i]))
			return "waiting for the store";
	return "reading";
}

/* Warns of gaps in a report that compares ranks, unless its notes do. Returns the exit status. */
static int tell_gaps(const struct settings *s, const struct kin_profile *profile)
{
	bool compares = s->command->compares_ranks, by_rank = s->by && !strcmp(s->by, "rank");
	bool in_notes = compares && run_has_notes(s->format);
	if (!compares && !by_rank)
		return EXIT_OK;
	bool any = in_notes ? kin_profile_remark(profile, KIN_REMARK_GAP, &(size_t){ 0 }) != NULL
			    : run_say(s, profile, KIN_REMARK_GAP, "warning", &(size_t){ 0 });
	return any ? EXIT_ERROR : EXIT_OK;
}

/* What there is to say of a word that was taken for a function, and may have been meant for a file:
 * to be freed; NULL: nothing. */
static char *file_of_subject(const char *name, bool is_named_in_error)
{
	enum content content = content_of(name);
	if (content == CONTENT_OTHER)
		return xprintf("; if the file of that name is data: -d %s", name);
	if (content != CONTENT_NONE || !strpbrk(name, "./") || !access(name, F_OK))
		return NULL;
	return is_named_in_error ? xprintf(", and no such file")
				 : xprintf("; there is no file '%s'", name);
}

/* Appends that to an error that names the word, or says that no data was named. */
static struct kin_error *with_file(const struct settings *s, struct kin_error *err)
{
	char *file = NULL;
	for (size_t i = 0; err && i < s->subjects.at.n && !file; i++) {
		bool is_named = strstr(kin_error_message(err), s->subjects.at.at[i]);
		if (!s->data.at.n || is_named)
			file = file_of_subject(s->subjects.at.at[i], is_named);
	}
	if (!file)
		return err;
	struct kin_error *more = err_new(kin_error_kind(err), "%s%s", kin_error_message(err), file);
	kin_error_free(err);
	free(file);
	return more;
}

/* Returns the exit status for the data; *ret is NULL if nothing could be read. */
static int open_data(const struct settings *s, struct kin_profile **ret, struct told *told)
{
	struct kin_open_opts opts = open_opts(s);
	if (s->command->narrow)
		s->command->narrow(s, &opts);
	struct progress *progress = progress_begin(run_reading(s), s->fetching);
	struct kin_error *err = kin_profile_open(string_list(&s->data), s->data.at.n, &opts, ret);
	progress_end(progress);

	/* A part that is in one of the files that are compared may not be in another. */
	if (err && s->command->compares && kin_error_kind(err) == KIN_ERROR_USAGE)
		err = err_wrap(err, "%s", s->data.at.at[0]);
	int status = message_error(s->command->name, with_file(s, err));
	*told = (struct told){ 0 };
	int doubt = *ret ? run_tell(s, *ret, told) : EXIT_OK;
	int gap = *ret ? tell_gaps(s, *ret) : EXIT_OK;
	return status ? status : doubt ? doubt : gap;
}

/* A picture with more is hard to read. */
static const double drawn_share = 0.005;

static bool draws(const struct settings *s)
{
	return s->format && (!strcmp(s->format, "dot") || !strcmp(s->format, "svg"));
}

static struct kin_error *make_table(const struct settings *s, const char *report,
				    struct kin_profile *profile, struct kin_table **ret)
{
	struct kin_report_opts opts = {
		.size = sizeof(opts),
		.columns = string_list(&s->columns),
		.sort = s->sort,
		.subjects = string_list(&s->subjects),
		.min_share = s->has_min_share || !draws(s) || s->subjects.at.n ? s->min_share
									       : drawn_share,
		.source_dirs = string_list(&s->source_dirs),
		.intervals = run_is_text(s),
		.by = s->by,
		.with_source = s->with_source,
		.all_lines = s->all_lines,
		.intel = s->intel,
		.of_function = s->of_function,
		.max_threads = s->max_threads,
		.every_row = s->every_row,
		.to_read = !s->has_min_share && run_is_text(s),
	};
	struct progress *progress = progress_begin("analysing", s->fetching);
	struct kin_error *err = kin_report(profile, report, &opts, ret);
	progress_end(progress);
	return err;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x;
	return a && b && !stat(a, &x) && S_ISREG(x.st_mode) && file_is_same(a, b);
}

bool run_is_input(const struct settings *s, const char *path)
{
	for (size_t i = 0; i < s->data.at.n; i++)
		if (is_same_file(path, s->data.at.at[i]))
			return true;
	return false;
}

/* Whether the file's format is only made by exporting, so the file is not an original recording. */
static bool was_exported(const char *path)
{
	const struct kin_format *f = content_format(path);
	return f && f->is_written && !f->is_recorded;
}

/* Refuses to overwrite data: nobody wants a report in place of its data. Data and program need not
 * have been named, so any file that looks like either is protected. */
static struct kin_error *check_output(const struct settings *s)
{
	const char *path = s->output.path;
	if (!path)
		return NULL;
	enum content content = content_of(path);
	if (s->command->writes_profiles && content == CONTENT_PROFILE && was_exported(path))
		content = CONTENT_NONE;
	bool input = content == CONTENT_PROGRAM || content == CONTENT_PROFILE ||
		     (content == CONTENT_OTHER && !s->command->writes_profiles &&
		      content_named_profile(path)) ||
		     is_same_file(path, s->executable) || run_is_input(s, path);
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
	if (s->format && !strcmp(s->format, "svg"))
		err = draw_svg(table, settings_full_names(s), out.stream);
	else
		err = kin_render(table, s->format ? s->format : "text",
				 &(struct kin_render_opts){ sizeof(struct kin_render_opts),
							    out.width, out.color,
							    .full_names = settings_full_names(s) },
				 out.stream);
	return output_finish(&out, err);
}

/* Fails if the output would overwrite data. */
int run_open(const struct settings *s, struct kin_profile **ret, struct told *told)
{
	struct kin_error *err = check_output(s);
	*ret = NULL;
	return err ? message_error(s->command->name, err) : open_data(s, ret, told);
}

mode_t run_output_mode(const struct settings *s, mode_t data)
{
	bool is_page =
		!strcmp(s->command->name, "html") || (s->format && !strcmp(s->format, "html"));
	return is_page ? 0666 : data;
}

/* The settings for files made from the profile: with its permissions. */
static struct settings allow(const struct settings *s, const struct kin_profile *profile)
{
	struct settings allowed = *s;
	allowed.output.mode = run_output_mode(s, kin_profile_file_mode(profile));
	return allowed;
}

int run_profile(const struct settings *s, profile_user *use)
{
	struct kin_profile *profile;
	struct told told;
	int status = run_open(s, &profile, &told);
	if (!profile)
		return status;
	struct settings allowed = allow(s, profile);
	struct kin_error *err = use(profile, &allowed, status);
	int doubt = run_tell(s, profile, &told);
	kin_profile_free(profile);
	return err ? message_error(s->command->name, with_file(s, err)) : status ? status : doubt;
}

int run_report(const struct settings *s, const char *report)
{
	struct kin_profile *profile;
	struct kin_table *table = NULL;
	struct told told;
	int status = run_open(s, &profile, &told);
	if (!profile)
		return status;
	struct settings allowed = allow(s, profile);
	struct kin_error *err = make_table(s, report, profile, &table);
	if (!err)
		err = run_render(&allowed, table, status);
	kin_table_free(table);
	int doubt = run_tell(s, profile, &told); /* after the pager, which would hide messages */
	if (!run_has_notes(s->format))
		run_tell_notes(s, profile);
	kin_profile_free(profile);
	return err ? message_error(s->command->name, with_file(s, err)) : status ? status : doubt;
}

int run_named(const struct settings *s) { return run_report(s, s->command->name); }

struct kin_error *run_print_about(const struct settings *s, unsigned what, FILE *out)
{
	struct kin_error *err = s->data.at.n ? NULL : kin_about(NULL, what, out);
	for (size_t i = 0; !err && i < s->data.at.n; i++)
		err = kin_about(s->data.at.at[i], what, out);
	if (!err || kin_error_kind(err) != KIN_ERROR_UNSUPPORTED)
		return err;
	struct kin_error *more =
		err_new(KIN_ERROR_UNSUPPORTED,
			"%s: what perf says of a recording only its own files hold; kin info says "
			"what this one does",
			kin_error_message(err));
	kin_error_free(err);
	return more;
}

bool run_refuses_format(const struct settings *s)
{
	static const char *const documents[] = { "json", "csv", "html" };
	const char *option = s->stats ? "--stats" : s->about & KIN_ABOUT_HEADER ? "--header" : NULL;
	for (size_t i = 0; option && s->format && i < ARRAY_LEN(documents); i++)
		if (!strcmp(s->format, documents[i])) {
			message(s->command->name,
				"%s prints text: leave out --format=%s; kin info --format=json has "
				"what data says of itself",
				option, s->format);
			return true;
		}
	return false;
}

int run_about(const struct settings *s, unsigned what)
{
	struct output_opts opts = s->output;
	struct output out;
	opts.mode = s->data.at.n ? 0666 : 0600;
	for (size_t i = 0; i < s->data.at.n; i++)
		opts.mode &= file_mode_of(s->data.at.at[i]);
	struct kin_error *err = output_open(&opts, EXIT_OK, &out);
	if (!err)
		err = output_finish(&out, run_print_about(s, what, out.stream));
	return err ? message_error(s->command->name, err) : EXIT_OK;
}

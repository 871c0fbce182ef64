/* cmd_export.c - writes a profile in another program's format. */
#include <string.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/run.h"

static const char *const description[] = {
	"Writes the samples of a profile for other programs: pprof, KCachegrind, speedscope, the "
	"Firefox Profiler, Perfetto. They show the same functions, inlined ones included, and "
	"the same weights as kin. The options below select a part.",
	"Without --to the suffix of the name after -o decides the format. A file whose name ends "
	"in .gz is packed by gzip. doc/formats.md lists what each format can hold.",
	NULL,
};

static const struct example examples[] = {
	{ "kin export --to=pprof -o app.pb.gz app.kin", "for go tool pprof app.pb.gz" },
	{ "kin export -o callgrind.out.app app.kin", "for KCachegrind and callgrind_annotate" },
	{ "kin export --to=speedscope perf.data >perf.speedscope.json", "of a recording of perf" },
	{ "kin export --to=firefox --comm make -o make.json.gz", "one command's samples, packed" },
	{ "kin export --to=perf.data -o perf.data app.kin", "for perf report and hotspot" },
	{ 0 },
};

enum { OPT_TO = OPT_OWN };

static const struct opt_group output_group = {
	"Output",
	(const struct opt[]){
		{ OPT_TO, 't', "to", "FORMAT", "the format to write: one of those below", NULL,
		  COMPLETE_FORMAT },
		{ OPT_TO, 'f', "format", "FORMAT", "the same as --to", NULL, COMPLETE_FORMAT },
		{ OPT_OUTPUT, 'o', "output", "FILE", "write to FILE instead of standard output",
		  NULL, COMPLETE_FILE },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&recording_options, &output_group, &chosen_part_options, &names_options,
	&inline_options,    &own_options,  &general_options,     NULL,
};

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	(void)error; /* kin_export() checks the format */
	if (id == OPT_TO)
		s->format = arg;
	return true;
}

static bool ends_in(const char *name, size_t n, const char *ending)
{
	size_t m = strlen(ending);
	return n > m && !memcmp(name + n - m, ending, m);
}

/* The format whose file names look like these `n` bytes; NULL: none. */
static const struct kin_format *format_of_name(const char *name, size_t n)
{
	const struct kin_format *f;
	for (size_t i = 0; (f = kin_format_at(i)); i++)
		for (size_t k = 0; f->is_written && f->endings && f->endings[k]; k++)
			if (f->endings[k][0] == '.'
				    ? ends_in(name, n, f->endings[k])
				    : !strncmp(name, f->endings[k], strlen(f->endings[k])))
				return f;
	return NULL;
}

/* The format for a path; tries again without a final ".gz". */
static const struct kin_format *format_of_path(const char *path)
{
	const char *name = path ? base_name(path) : "";
	size_t n = strlen(name);
	const struct kin_format *f = n ? format_of_name(name, n) : NULL;
	return !f && n && ends_in(name, n, ".gz") ? format_of_name(name, n - 3) : f;
}

static struct kin_error *no_format(const char *path)
{
	return path ? err_new(KIN_ERROR_USAGE,
			      "the name %s is not that of a format: say --to=FORMAT; kin help "
			      "export "
			      "has the list",
			      path)
		    : err_new(KIN_ERROR_USAGE, "say --to=FORMAT; kin help export has the list");
}

static const char *format_of(const struct settings *s)
{
	const struct kin_format *named = s->format ? NULL : format_of_path(s->output.path);
	return s->format ? s->format : named ? named->name : NULL;
}

/* Recordings hold what was measured: whoever reads them finds the rest. */
static void narrow(const struct settings *s, struct kin_open_opts *o)
{
	const struct kin_format *f;
	const char *format = format_of(s);
	for (size_t i = 0; format && (f = kin_format_at(i)); i++)
		if (f->is_recorded && !strcmp(f->name, format)) {
			o->not_sampled = false;
			o->stacks_as_recorded = true;
			o->counters = !strcmp(format, "gmon");
		}
}

static bool is_binary(const char *name)
{
	const struct kin_format *f;
	for (size_t i = 0; (f = kin_format_at(i)); i++)
		if (!strcmp(f->name, name))
			return f->is_binary;
	return false;
}

static struct kin_error *write_to(struct kin_profile *profile, const struct settings *s, int status)
{
	const char *format = format_of(s);
	if (!format)
		return no_format(s->output.path);
	struct output_opts opts = s->output;
	const char *path = opts.path ? opts.path : "";
	struct kin_export_opts how = { .size = sizeof(how),
				       .gzip = ends_in(path, strlen(path), ".gz") };
	struct output out;
	struct kin_error *err = NULL;
	bool binary = is_binary(format);
	opts.no_pager |= binary;
	if (binary && output_is_terminal(&opts))
		return err_new(KIN_ERROR_USAGE,
			       "%s is nothing to be read on a terminal: write it to a file with "
			       "-o FILE",
			       format);
	if ((err = output_open(&opts, status, &out)))
		return err;
	err = output_finish(&out, kin_export(profile, format, &how, out.stream));
	run_tell_notes(s, profile);
	return err;
}

static int cmd_export(const struct settings *s) { return run_profile(s, write_to); }

const struct command export_command = {
	.name = "export",
	.narrow = narrow,
	.group = COMMANDS_MORE,
	.summary = "samples in the format of another program: pprof, KCachegrind, speedscope and "
		   "others",
	.operands = "[DATA]...",
	.description = description,
	.options = options,
	.takes_pipe = true,
	.lists_formats = true,
	.writes_profiles = true,
	.examples = examples,
	.set = set,
	.run = cmd_export,
};

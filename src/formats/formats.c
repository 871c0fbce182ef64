/* formats.c - the table of formats, and look-ups in it. */
#include "formats/formats.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "input/json_scan.h"
#include "profile/profile.h"

/* Formats with recognisable first bytes come before those that are recognised by their looks. BSD's
 * formats, which have no marks, are last. */
/* clang-format off */
const struct format *const all_formats[] = {
	&gmon_format,
	&kinf_format,
	&perf_format,
	&pprof_format,
	&callgrind_format,
	&gperftools_format,
	&speedscope_format,
	&firefox_format,
	&chrome_trace_format,
	&otlp_format,
	&cpuprofile_format,
	&json_format,
	&bbout_format,
	&gproftext_format,
	&perf_script_format,
	&folded_format,
	&bsd44_format,
	&bsd_format,
	&store_format,
	&jsonl_format,
	&csv_format,
	&rowbinary_format,
	NULL,
};
/* clang-format on */

const struct format *format_find(const char *name)
{
	for (size_t i = 0; all_formats[i]; i++)
		if (!strcmp(all_formats[i]->about.name, name))
			return all_formats[i];
	return NULL;
}

const struct format *format_of_name(const char *path)
{
	for (size_t i = 0; all_formats[i]; i++)
		if (all_formats[i]->is_named && all_formats[i]->is_named(path))
			return all_formats[i];
	return NULL;
}

char format_head_begins(struct bytes head)
{
	struct scan j = scan_of((const char *)head.pos, min_u64(bytes_left(&head), FORMAT_HEAD));
	return scan_next(&j);
}

struct kin_error *format_negative(const char *path)
{
	return err_new(KIN_ERROR_UNSUPPORTED,
		       "%s: values below zero were left out: it is the difference of two profiles",
		       path);
}

void format_note_end(const struct bytes *all, struct profile_builder *into)
{
	if (all->end > all->start && all->end[-1] != '\n')
		profile_add_fact(into, "last line", "without an end: whole, or cut off");
}

bool format_recording_begins(struct bytes head)
{
	return kinf_format.recognise(head, NULL) || perf_format.recognise(head, NULL);
}

struct kin_error *format_another(const char *path, uint64_t offset)
{
	return err_new(
		KIN_ERROR_FORMAT,
		"%s: another recording begins at offset %#jx, and was not read: each needs a "
		"file of its own; 'tail -c +%ju' writes the rest",
		path, (uintmax_t)offset, (uintmax_t)offset + 1);
}

char *format_names(bool written)
{
	char *list = xprintf("%s", "");
	for (size_t i = 0; all_formats[i]; i++) {
		if (written ? !all_formats[i]->write : !all_formats[i]->recognise)
			continue;
		char *longer =
			xprintf("%s%s%s", list, *list ? ", " : "", all_formats[i]->about.name);
		free(list);
		list = longer;
	}
	return list;
}

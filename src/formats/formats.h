/* formats.h - the table of profile formats that kin reads and writes.
 *
 * A format is one constant, in a file or a folder of its own. all_formats[] lists them; reading,
 * exporting, help, completion and error messages use that list. */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/bytes.h"
#include "kin/kin.h"

struct input_opts;
struct profile_builder;
struct source;
struct window;

enum format_needs {
	FORMAT_NEEDS_PROGRAM =
		1, /* reading needs the profiled program, which the data does not name */
};

struct format {
	struct kin_format about; /* name, description, endings of file names */
	unsigned needs;          /* enum format_needs */
	/* The name of files that a recorder leaves in its working directory: "perf.data", or the
	 * end of the name from a dot on. Such a file is found when no data is named. NULL: not
	 * found. */
	const char *recording;

	/* Whether a file that begins with `head` has this format. `head` may be only the first
	 * FORMAT_HEAD bytes. NULL: the format is only written. */
	bool (*recognise)(struct bytes head, const struct input_opts *o);
	/* Whether the format handles this path, which is not a file's. NULL: only files. */
	bool (*is_named)(const char *path);
	MUST_CHECK struct kin_error *(*fetch)(const char *path, const struct input_opts *o,
					      struct profile_builder *into, struct source *source);
	/* Files of other formats may look like this, too: such formats are tried last, and after a
	 * match by file name. */
	bool is_vague;
	bool is_unmarked; /* files have no marks: taken if no other format fits */
	MUST_CHECK struct kin_error *(*read)(struct bytes all, const struct input_opts *o,
					     struct profile_builder *into, struct source *source);
	/* The same from a window on a file; NULL: needs the whole file in memory. */
	MUST_CHECK struct kin_error *(*stream)(struct window *w, const struct input_opts *o,
					       struct profile_builder *into, struct source *source);

	/* NULL: only read. `out` is neither flushed nor closed; write errors are found by ferror().
	 */
	MUST_CHECK struct kin_error *(*write)(struct kin_profile *profile,
					      const struct kin_export_opts *opts, FILE *out);
};

enum { FORMAT_HEAD = 4096 };

/* Whether the text is within the first FORMAT_HEAD bytes. */
static inline bool format_head_has(const struct bytes *head, const char *text)
{
	return memmem(head->pos, min_u64(bytes_left(head), FORMAT_HEAD), text, strlen(text));
}

/* The first character of a JSON text, '{' or '[', behind a byte-order mark and blanks; NUL if there
 * is none in the head. */
char format_head_begins(struct bytes head);

/* The error for a file with negative values, which readers leave out, as no sample has them. */
struct kin_error *format_negative(const char *path);
/* Notes, for people, that the last line of a text has no end: editors and scripts leave it so, and
 * so may a copy that was cut off. */
void format_note_end(const struct bytes *all, struct profile_builder *into);
/* Whether the bytes begin a recording of kin or perf. */
bool format_recording_begins(struct bytes head);
/* The error for a file in which another recording follows the first, as >> leaves it. */
struct kin_error *format_another(const char *path, uint64_t offset);

extern const struct format bbout_format, bsd44_format, bsd_format, callgrind_format,
	chrome_trace_format, cpuprofile_format, csv_format, firefox_format, speedscope_format,
	folded_format, gmon_format, gperftools_format, gproftext_format, json_format, jsonl_format,
	kinf_format, otlp_format, perf_format, perf_script_format, pprof_format, rowbinary_format,
	store_format;

/* NULL-terminated; the first format that recognises a file reads it. */
extern const struct format *const all_formats[];

/* The format for a path that is no file's; NULL: it is a file's. */
const struct format *format_of_name(const char *path);

const struct format *format_find(const char *name); /* NULL: none */
/* "a, b, c": the names of formats that are read, or written. To be freed. */
char *format_names(bool written);

#endif

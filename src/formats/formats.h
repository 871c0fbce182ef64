/* formats.h - what formats of profiles there are: those that kin reads, and those that it writes.
 *
 * A format is one constant, in a file or a folder of its own; all_formats[] lists them, and
 * whatever has to know which there are asks that: reading, exporting, help, completion, error
 * texts. */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H

#include <stdio.h>

#include "base/base.h"
#include "base/bytes.h"
#include "kin/kin.h"

struct input_opts;
struct profile_builder;
struct source;
struct window;

enum format_needs {
	FORMAT_NEEDS_PROGRAM = 1, /* to be read: the data does not name what was profiled */
};

struct format {
	struct kin_format about; /* name, what it is, endings of file names */
	unsigned needs;          /* enum format_needs */
	/* How files of it are called that a recorder leaves where it was started: "perf.data", or
	 * from a dot on the end of the name. Such a file is found when no data is named. NULL: not
	 * found. */
	const char *recording;

	/* Whether a file that begins so is of this format. Only its first FORMAT_HEAD bytes may be
	 * there. NULL: never, it is only written. */
	bool (*recognise)(struct bytes head, const struct input_opts *o);
	/* Of what is no file: whether it is named so. NULL: files. */
	bool (*is_named)(const char *path);
	MUST_CHECK struct kin_error *(*fetch)(const char *path, const struct input_opts *o,
					      struct profile_builder *into, struct source *source);
	/* Other files may look like this, too: such formats are tried last, and a file's name is
	 * more certain. */
	bool is_vague;
	MUST_CHECK struct kin_error *(*read)(struct bytes all, const struct input_opts *o,
					     struct profile_builder *into, struct source *source);
	/* The same from a window on a file; NULL: needs all of it in memory. */
	MUST_CHECK struct kin_error *(*stream)(struct window *w, const struct input_opts *o,
					       struct profile_builder *into, struct source *source);

	/* NULL: only read. `out` is neither flushed nor closed; what cannot be written to it is
	 * found by ferror(). */
	MUST_CHECK struct kin_error *(*write)(struct kin_profile *profile,
					      const struct kin_export_opts *opts, FILE *out);
};

enum { FORMAT_HEAD = 4096 };

extern const struct format bbout_format, bsd44_format, bsd_format, callgrind_format,
	chrome_trace_format, cpuprofile_format, csv_format, firefox_format, speedscope_format,
	folded_format, gmon_format, gperftools_format, json_format, jsonl_format, kinf_format,
	otlp_format, perf_format, perf_script_format, pprof_format, rowbinary_format, store_format;

/* NULL-terminated; the first that recognises a file reads it. */
extern const struct format *const all_formats[];

/* Of what is named so, and is no file; NULL: it is a file. */
const struct format *format_of_name(const char *path);

const struct format *format_find(const char *name); /* NULL: none */
/* "a, b, c": the names of those that are read, or written. To be freed. */
char *format_names(bool written);

#endif

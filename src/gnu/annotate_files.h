/* annotate_files.h - gprof's annotated source: selects the files to print, and makes a table for
 * each.
 *
 *	struct annotate_file f;
 *	struct annotate *a = annotate_new(in, &opts);
 *	while (annotate_next(a, &f)) {
 *		if (f.err) say so, kin_error_free(f.err);	("could not locate ...")
 *		else render f.table as "gnu-annotate", kin_table_free(f.table);
 *	}
 *	annotate_free(a);
 *
 * The renderer writes the "*** File" line unless opts.separate is set; the caller writes the text
 * between files. */
#ifndef GNU_ANNOTATE_FILES_H
#define GNU_ANNOTATE_FILES_H

#include <stdio.h>

#include "report/reports.h"

struct annotate_opts {
	bool compat;                      /* as GNU gprof 2.40 */
	bool any_source;                  /* files of any kind are source */
	const struct report_opts *report; /* selection, source_dirs, zeroes */
	bool all_lines;                   /* -x: a count on every line of a block */
	bool separate;                    /* -y: each file is written to a file of its own */
	uint64_t min_count;               /* -m */
	uint32_t top;                     /* -t: number of busiest lines to list */
};

struct annotate_file {
	const char *path;        /* as in the debug information; lives as long as the symbols */
	struct kin_table *table; /* the caller's; NULL on error */
	struct kin_error *err;   /* the caller's: the source was not found or could not be read */
};

struct annotate;

/* Borrows from `in` and `opts` as long as it and its tables live. */
struct annotate *annotate_new(const struct report_input *in, const struct annotate_opts *opts);
bool annotate_next(struct annotate *a, struct annotate_file *ret); /* false: no more files */
void annotate_free(struct annotate *a);

/* For -y: opens "BASENAME-ann" in the current folder for writing. A file of that name is replaced,
 * but no symbolic link is followed and nothing but a regular file is written to (with opts.compat:
 * it is opened as by GNU gprof, without checks). If another source of the same base name was
 * written before, this one becomes "BASENAME.2-ann", and so on (compat: it replaces the other).
 * *name lives as long as `a`. */
MUST_CHECK struct kin_error *annotate_create(struct annotate *a, const char *path,
					     const char **name, FILE **ret);

#endif

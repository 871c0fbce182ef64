/* source.h - source files named by debug information, found and read.
 *
 * The names come from the executable, so they are not trusted: only regular files are read, never a
 * terminal, a device or a FIFO that nobody writes to, and none larger than SOURCE_MAX. And what is
 * read is shown, perhaps to others: debug information that says "/etc/shadow" must not get that.
 * The folders that it says the program was built in would be its word again, so a file counts as
 * source if, with symbolic links resolved,
 *
 *	- it is below the current folder, or one that the user named; or
 *	- its name ends as those of source code do (.c, .rs, .go ...); or
 *	- it has no such ending and is below a folder of headers or of a compiler's library: C++'s
 *	  <vector> is in /usr/include/c++/12. */
#ifndef OBJECT_SOURCE_H
#define OBJECT_SOURCE_H

#include "base/file.h"

struct debuginfod;

enum { SOURCE_MAX = 64 << 20 };

struct source_text {
	struct file file; /* NUL-terminated, but may hold NULs; owned */
	char *path;       /* where it was found; owned */
};

/* Looks for the file as it is named; if that is relative, under its name in each of `dirs`; then
 * under its base name in each of `dirs`. `dirs` ends with NULL, or is NULL. `any`: whatever
 * the file looks like. The error names the file, and says why it could not be read if it is there.
 */
MUST_CHECK struct kin_error *source_open(const char *path, const char *const *dirs, bool any,
					 struct source_text *ret);
/* From debuginfod servers, NULL: none: the source of that build (hex), by its name in debug
 * information. False: they do not have it, or it does not look like one. */
bool source_fetch(struct debuginfod *servers, const char *build_id, const char *path,
		  struct source_text *ret);
void source_done(struct source_text *t);

/* The line that starts at data[*at] of a text with `size` bytes: its bytes without the newline, and
 * *at moved to the start of the next. False at the end. */
bool source_line(const uint8_t *data, size_t size, size_t *at, const uint8_t **line, size_t *n);

#endif

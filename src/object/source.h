/* source.h - finds and reads source files named by debug information.
 *
 * The names come from the executable, so they are not trusted: only regular files are read, never a
 * terminal, a device or a FIFO without a writer, and none larger than SOURCE_MAX. The text is
 * shown, perhaps to others, so debug information that names "/etc/shadow" must not get it. The
 * build folders in debug information are just as untrusted. A file therefore counts as source if,
 * with symbolic links resolved,
 *
 * - it is below the current folder, or one that the user named; or
 * - its name ends like source code (.c, .rs, .go ...); or
 * - it has no such ending and is below a folder of headers or of a compiler's library: C++'s
 *   <vector> is in /usr/include/c++/12. */
#ifndef OBJECT_SOURCE_H
#define OBJECT_SOURCE_H

#include "base/file.h"

struct debuginfod;

enum { SOURCE_MAX = 64 << 20 };

struct source_text {
	struct file file; /* NUL-terminated, but may hold NULs; owned */
	char *path;       /* the path where it was found; owned */
};

/* Looks for the file by its path; if that is relative, below each of `dirs`; then by its base name
 * in each of `dirs`. `dirs` ends with NULL, or is NULL. `any`: accept any kind of file. The error
 * names the file, and says why it could not be read if it exists. */
MUST_CHECK struct kin_error *source_open(const char *path, const char *const *dirs, bool any,
					 struct source_text *ret);
/* Gets the source file of that build (hex) from debuginfod, by its name in debug information;
 * servers may be NULL. False: the servers do not have it, or it does not look like source. */
bool source_fetch(struct debuginfod *servers, const char *build_id, const char *path,
		  struct source_text *ret);
void source_done(struct source_text *t);

/* Returns in *line and *n the line that starts at data[*at] of a text of `size` bytes, without its
 * newline, and moves *at to the start of the next. False at the end. */
bool source_line(const uint8_t *data, size_t size, size_t *at, const uint8_t **line, size_t *n);

#endif

/* paths.h - expands the user's operands to a list of files. */
#ifndef INPUT_PATHS_H
#define INPUT_PATHS_H

#include "base/base.h"
#include "base/vec.h"

struct kin_error;

struct paths {
	VEC(char *) at; /* owned */
};

/* Whether a file in a directory is the program's data by its name: "gmon.out", "gmon.out.1234"; but
 * not "gmon.out.libm.so.6", which libkinrt writes for a library, with that library's addresses. */
bool paths_is_gmon(const char *name);

/* For a folder written by perf record --threads: the main file in it; to be freed. NULL: it is no
 * such folder. */
char *paths_perf_folder(const char *path);

/* Adds the files that `path` stands for: in a directory, its gmon.out* files, each replaced by a
 * recording of the same run if there is one (input/twins.h); or else the .kin recordings in it,
 * recognised by their contents; or else the file of paths_perf_folder(). For a glob, the matches,
 * sorted by name. Otherwise the path itself. */
MUST_CHECK struct kin_error *paths_expand(struct paths *p, const char *path);
/* The same for one of several operands: a file that is named as well as its directory counts
 * once. */
MUST_CHECK struct kin_error *paths_expand_among(struct paths *p, const char *path,
						const char *const *operands, size_t n);
/* In a directory that stands for its gmon.out files: the recordings that no operand stands for.
 * Returns the first, to be freed, and sets *n to their number. NULL: there are none. */
char *paths_left_out(const char *path, const char *const *operands, size_t n_operands, size_t *n);
void paths_add(struct paths *p, const char *path);
void paths_free(struct paths *p);

#endif

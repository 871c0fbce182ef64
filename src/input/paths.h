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

/* Adds the files that `path` stands for: the gmon.out* in a directory, each replaced by the
 * recording of the same run if that is there (input/twins.h), or else the .kin recordings in it by
 * their contents, or that of paths_perf_folder(); the matches of a glob (sorted by name); otherwise
 * itself. */
MUST_CHECK struct kin_error *paths_expand(struct paths *p, const char *path);
/* The same of one of several operands: a file that is named beside its directory counts once. */
MUST_CHECK struct kin_error *paths_expand_among(struct paths *p, const char *path,
						const char *const *operands, size_t n);
/* The recordings in a directory with gmon.out files that no operand stands for: the first, to be
 * freed, and how many. NULL: there are none. */
char *paths_left_out(const char *path, const char *const *operands, size_t n_operands, size_t *n);
void paths_add(struct paths *p, const char *path);
void paths_free(struct paths *p);

#endif

/* paths.h - expands the user's operands to a list of files. */
#ifndef INPUT_PATHS_H
#define INPUT_PATHS_H

#include "base/base.h"
#include "base/vec.h"

struct kin_error;

/* Reads up to `size` first bytes of a regular file; returns how many, 0 if it is none: what is read
 * from a pipe is gone. */
size_t paths_head(const char *path, void *ret, size_t size);

struct paths {
	VEC(char *) at; /* owned */
};

/* Whether a file in a directory is the program's data by its name: "gmon.out", "gmon.out.1234"; but
 * not "gmon.out.libm.so.6", which libkinrt writes for a library, with that library's addresses. */
bool paths_is_gmon(const char *name);

/* For a folder written by perf record --threads: the main file in it; to be freed. NULL: it is no
 * such folder. */
char *paths_perf_folder(const char *path);

/* Adds the files that `path` stands for: the gmon.out* in a directory, or else the .kin recordings
 * in it by their contents, or that of paths_perf_folder(); the matches of a glob (sorted by name);
 * otherwise itself. */
MUST_CHECK struct kin_error *paths_expand(struct paths *p, const char *path);
/* The recordings in a directory that does not stand for them, as it has gmon.out files: the first,
 * to be freed, and how many. NULL: there are none. */
char *paths_left_out(const char *path, size_t *n);
void paths_add(struct paths *p, const char *path);
void paths_free(struct paths *p);

#endif

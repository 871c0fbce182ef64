/* paths.h - what the user named, as a list of files. */
#ifndef INPUT_PATHS_H
#define INPUT_PATHS_H

#include "base/base.h"
#include "base/vec.h"

struct kin_error;

struct paths {
	VEC(char *) at; /* owned */
};

/* Whether a file in a directory is taken for data of its program by its name: "gmon.out",
 * "gmon.out.1234"; but not "gmon.out.libm.so.6", which libkinrt writes for a library: its addresses
 * are the library's. */
bool paths_is_gmon(const char *name);

/* Of a folder that perf record --threads wrote the file that the others belong to: to be freed.
 * NULL: it is none. */
char *paths_perf_folder(const char *path);

/* Adds the files `path` stands for: the gmon.out* in a directory, where there are none the .kin
 * recordings by their contents, or that of perf_folder(); what a glob matches (sorted by name),
 * else itself. */
MUST_CHECK struct kin_error *paths_expand(struct paths *p, const char *path);
void paths_add(struct paths *p, const char *path);
void paths_free(struct paths *p);

#endif

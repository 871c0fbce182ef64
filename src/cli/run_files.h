/* run_files.h - the profiles that the processes of a run left, and which of them shows the program
 * that was meant: a process that executes another program begins another file. */
#ifndef CLI_RUN_FILES_H
#define CLI_RUN_FILES_H

#include <sys/types.h>
#include <time.h>

#include "base/vec.h"
#include "kin/format.h"

struct run_file {
	char *path;
	struct kinf_header header; /* zero if it is none of the runtime's */
};

struct run_files { /* in the order of their names */
	VEC(struct run_file) at;
};

/* All that were written after `start` under that name, a pattern's names, or the names that the
 * runtime takes if one is taken. */
void run_files_find(const char *output, const struct timespec *start, struct run_files *ret);
void run_files_done(struct run_files *f);

/* The file of that name; NULL: it is not among them. */
const struct run_file *run_files_named(const struct run_files *f, const char *path);

/* The file of the last program that the process executed and that was measured; NULL: none was. */
const struct run_file *run_files_last(const struct run_files *f, pid_t process);

#endif

/* run_files.h - the profiles that the processes of a run left, and which of them shows the program
 * that the user meant: a process that executes another program begins another file. */
#ifndef CLI_RUN_FILES_H
#define CLI_RUN_FILES_H

#include <sys/types.h>
#include <time.h>

#include "base/vec.h"
#include "kin/format.h"

struct run_file {
	char *path;
	struct kinf_header header; /* zero if the runtime did not write the file */
};

struct run_files { /* sorted by name */
	VEC(struct run_file) at;
};

/* Finds all files written after `start`: under that name, under names that match the pattern, or
 * under names that the runtime chooses if the name is taken. */
void run_files_find(const char *output, const struct timespec *start, struct run_files *ret);
void run_files_done(struct run_files *f);

/* The number of files that match the pattern and are not among these: profiles of other runs. */
size_t run_files_others(const struct run_files *f, const char *pattern);

/* The file at that path; NULL: not among these. */
const struct run_file *run_files_named(const struct run_files *f, const char *path);

/* The file of the last measured program that the process executed; NULL: none was measured. */
const struct run_file *run_files_last(const struct run_files *f, pid_t process);

#endif

/* runtime_file.h - a .kin file written by the runtime: its run and its quality, for the process
 * that started the program. Everything else is read like any profile. */
#ifndef RECORD_RUNTIME_FILE_H
#define RECORD_RUNTIME_FILE_H

#include "base/file.h"
#include "base/map64.h"
#include "kin/format.h"
#include "record/recording_audit.h"

struct kin_error;

/* The part of a block's payload that is present in the file. */
struct runtime_part {
	const uint8_t *at;
	size_t size;
};

/* The block at *at, which starts at KINF_PAGE; *at moves to the next one. False: there is none. */
bool runtime_file_next_block(const struct file *f, size_t *at, struct kinf_block *head,
			     struct runtime_part *ret);

/* The stack at the start of *p, which moves past it. *pcs has ret->depth unaligned addresses.
 * False: there is none, or it is truncated. */
bool runtime_part_next_stack(struct runtime_part *p, struct kinf_stack *ret, const uint8_t **pcs);

/* Processes and threads that were counted. A process that executes another program has one file for
 * each program, but counts once. */
struct runtime_ids {
	struct map64 pids, tids;
};

/* Adds the audit of one process's file to *sum. False, with *sum unchanged, if the runtime did not
 * write the file, or it is not of the run named by preload_opts.run. *going_on: the process still
 * lives. */
bool runtime_file_add(const char *path, const char *run, struct record_audit *sum,
		      struct runtime_ids *counted, bool *going_on);
void runtime_ids_free(struct runtime_ids *counted);

/* The header of that file; false, and zero, if it is not a file of the runtime. */
bool runtime_file_header(const char *path, struct kinf_header *ret);

/* A fact of the process as in KINF_INFO ("exe"): not escaped, to be freed. NULL: not known. */
char *runtime_file_fact(const char *path, const char *name);

/* Whether the process of that file took samples. */
bool runtime_file_has_samples(const char *path);
/* Whether the process of that file counted calls. */
bool runtime_file_has_calls(const char *path);
/* Whether the process of that file measured durations of calls. */
bool runtime_file_has_durations(const char *path);

/* The first error in that process while it was measured, as in the file: not escaped, to be freed.
 * NULL: none. */
char *runtime_file_trouble(const char *path);

/* An error if a living process or recorder is writing the file of that name. */
MUST_CHECK struct kin_error *runtime_file_check_busy(const char *path);

#endif

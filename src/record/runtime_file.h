/* runtime_file.h - a .kin file that the runtime left: of which run, and how far it is to be
 * trusted. For who started the programs; all else is read as any profile. */
#ifndef RECORD_RUNTIME_FILE_H
#define RECORD_RUNTIME_FILE_H

#include "base/file.h"
#include "kin/format.h"
#include "record/recording_audit.h"

struct kin_error;

/* Of the payload of a block, as far as the file has it. */
struct runtime_part {
	const uint8_t *at;
	size_t size;
};

/* The block at *at, from KINF_PAGE on, which moves on to the next one; false: there is none. */
bool runtime_file_next_block(const struct file *f, size_t *at, struct kinf_block *head,
			     struct runtime_part *ret);

/* The stack at the beginning of a part of such, which becomes the part behind it; *ret has `depth`
 * addresses at *pcs, not aligned. False: there is none, or it is cut. */
bool runtime_part_next_stack(struct runtime_part *p, struct kinf_stack *ret, const uint8_t **pcs);

/* Adds what the file of one process says of itself to *sum. False, and nothing is added, if it is
 * no such file or not of the run that preload_opts.run named. *going_on: its process lives. */
bool runtime_file_add(const char *path, const char *run, struct record_audit *sum, bool *going_on);

/* Whether calls were counted in the process whose file it is. */
bool runtime_file_has_calls(const char *path);

/* What went wrong in that process while it was measured, in words from the file: not escaped, to be
 * freed. NULL: nothing. */
char *runtime_file_trouble(const char *path);

/* An error, which says so, if a living process or recorder writes the file of that name. */
MUST_CHECK struct kin_error *runtime_file_check_busy(const char *path);

#endif

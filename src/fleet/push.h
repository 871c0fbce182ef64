/* push.h - sends recordings to a store; each counts exactly once, whatever fails on the way.
 *
 * A recording is a batch. Its rows are sent under a number that is new for each attempt. When the
 * store has them all, a receipt is sent; rows without a receipt do not count. Receipts identify the
 * recording by a hash of its contents, and only one of several equal ones counts. If the outcome of
 * an attempt is not known, just try again. */
#ifndef FLEET_PUSH_H
#define FLEET_PUSH_H

#include "base/vec.h"
#include "fleet/store_url.h"
#include "kin/kin.h"

struct push_opts {
	const char *service, *version, *host; /* NULL: as in the recording */
	const char *const *labels;            /* "KEY=VALUE", NULL-terminated; NULL: none */
	uint32_t bucket_s;                    /* time bucket of sums; 0: 60 */
	const char *debug_dir, *symfs;        /* as for kin_profile_open() */
};

struct push;
/* Borrows all arguments. */
MUST_CHECK struct kin_error *push_new(const struct store_url *url, const struct push_opts *opts,
				      struct push **ret);
void push_free(struct push *p); /* NULL is fine */

struct push_files { /* a VEC; the paths are owned */
	char **at;
	size_t n, cap;
};

/* The recordings that an operand stands for: those in a folder, those that match a pattern, or one
 * file. Each counts separately. Free *ret with push_files_done(), also after an error. */
MUST_CHECK struct kin_error *push_files_find(const char *operand, struct push_files *ret);
void push_files_done(struct push_files *f);

struct push_result {
	uint64_t rows, samples;
	uint64_t stacks;   /* stacks that were new to the store */
	bool was_there;    /* the recording had been sent before */
	bool unread;       /* after an error: the file has no data to send, and no query was made */
	unsigned attempts; /* number of attempts; 1 if the first one worked */
	char *doubt; /* why part of the file could not be read; to be freed; NULL: all was read */
};

/* Sends one file. Error: the recording is not in the store, or the outcome is not known; sending it
 * again is right in both cases. KIN_ERROR_OS: the store or the connection failed, or the file could
 * not be read (ret->unread). Errors about the file name it. */
MUST_CHECK struct kin_error *push_file(struct push *p, const char *path, struct push_result *ret);

#endif

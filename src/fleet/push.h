/* push.h - recordings into a store: each counts once, whatever happens on the way.
 *
 * A recording is a batch. Its rows are sent under a number that is new for each attempt; only when
 * the store has them all does it get a receipt, and rows without one do not count. Receipts name
 * what they are of by a hash of the contents, so that of several of the same recording one counts.
 * Whoever does not know how an attempt ended just makes another one. */
#ifndef FLEET_PUSH_H
#define FLEET_PUSH_H

#include "base/vec.h"
#include "fleet/store_url.h"
#include "kin/kin.h"

struct push_opts {
	const char *service, *version, *host; /* NULL: what the recording says */
	const char *const *labels;            /* "KEY=VALUE", NULL-terminated; NULL: none */
	uint32_t bucket_s;                    /* of sums; 0: 60 */
	const char *debug_dir, *symfs;        /* as for kin_profile_open() */
};

struct push;
/* Borrows all of it. */
MUST_CHECK struct kin_error *push_new(const struct store_url *url, const struct push_opts *opts,
				      struct push **ret);
void push_free(struct push *p); /* NULL is fine */

struct push_result {
	uint64_t rows, samples;
	uint64_t stacks;   /* that the store had not seen */
	bool was_there;    /* it had been sent before */
	unsigned attempts; /* 1, unless something went wrong on the way */
	char *doubt;       /* what could not be read of the file; to be freed; NULL: nothing */
};

/* One file. Error: it is not in the store, or that is not known: sending it again is right either
 * way. KIN_ERROR_OS: it is the store's fault, or the way there. */
MUST_CHECK struct kin_error *push_file(struct push *p, const char *path, struct push_result *ret);

#endif

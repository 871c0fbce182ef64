/* spool.h - a folder of recordings that wait to be sent, the oldest first, of a bounded size.
 *
 * The recorder writes one file, spool_output(), and gives it a name of its own when it is finished;
 * only those are waiting. One process records into a spool at a time; another may send from it. */
#ifndef FLEET_SPOOL_H
#define FLEET_SPOOL_H

#include "base/vec.h"

struct kin_error;

struct spool_file {
	char *path;
	uint64_t bytes, modified_ns;
};

struct spool {
	char *folder;
	uint64_t max_bytes;
	int lock;                     /* held as long as it is open; -1: not */
	VEC(struct spool_file) files; /* of the last spool_look(), the oldest first */
	uint64_t bytes;               /* of them */
	uint64_t n_lost;              /* files that were removed to keep the bound */
};

/* Makes the folder, for this user alone. KIN_ERROR_USAGE: somebody else records there. */
MUST_CHECK struct kin_error *spool_open(const char *folder, uint64_t max_bytes, struct spool *ret);
void spool_done(struct spool *s);

/* Where the recorder writes; to be freed. */
char *spool_output(const struct spool *s);
/* What a recorder left that did not come to its end waits from now on. */
void spool_adopt(struct spool *s);

/* What waits. Files are removed, the oldest first, where there are more bytes than there may be, or
 * less than `free_bytes` are left on the disk. */
MUST_CHECK struct kin_error *spool_look(struct spool *s, uint64_t free_bytes);

#endif

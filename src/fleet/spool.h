/* spool.h - a folder of limited size with recordings that wait to be sent, oldest first.
 *
 * The recorder writes one file, spool_output(), and renames it when it is finished; only renamed
 * files are waiting. One process at a time records into a spool; another may send from it. */
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
	int lock;                     /* lock on the folder while the spool is open; -1: not
					 locked */
	VEC(struct spool_file) files; /* found by the last spool_look(), oldest first */
	uint64_t bytes;               /* total size of `files` */
	uint64_t n_lost;              /* files removed to keep the limit */
};

/* Creates the folder, for this user alone. KIN_ERROR_USAGE: another process records there. */
MUST_CHECK struct kin_error *spool_open(const char *folder, uint64_t max_bytes, struct spool *ret);
void spool_done(struct spool *s);

/* The recorder's output file; to be freed. */
char *spool_output(const struct spool *s);
/* Turns an unfinished recording of an earlier recorder into a waiting one. */
void spool_adopt(struct spool *s);

/* Lists waiting files. Removes the oldest ones while the limit is exceeded, or less than
 * `free_bytes` are left on the disk. */
MUST_CHECK struct kin_error *spool_look(struct spool *s, uint64_t free_bytes);

#endif

/* fetching.h - debuginfod servers as a command asks them, and a word of how far that is. */
#ifndef CLI_FETCHING_H
#define CLI_FETCHING_H

#include <pthread.h>

#include "kin/kin.h"

struct fetching {
	struct kin_debuginfod *servers;
	bool told_trouble;
	/* What progress shows meanwhile: "" when nothing is awaited. */
	pthread_mutex_t lock;
	char text[160];
};

/* NULL: the environment names no servers. */
struct fetching *fetching_new(void);
void fetching_free(struct fetching *f); /* NULL is fine */

static inline struct kin_debuginfod *fetching_servers(const struct fetching *f)
{
	return f ? f->servers : NULL;
}

/* Once: that the servers are not asked any more, as a warning of the command `name`. NULL is fine.
 */
void fetching_tell(struct fetching *f, const char *name);

#endif

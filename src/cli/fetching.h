/* fetching.h - debuginfod for commands, with a progress message. */
#ifndef CLI_FETCHING_H
#define CLI_FETCHING_H

#include <pthread.h>

#include "kin/kin.h"

struct fetching {
	struct kin_debuginfod *servers;
	bool told_trouble;
	/* The text for the progress message: "" when there is no download. */
	pthread_mutex_t lock;
	char text[160];
};

/* NULL: the environment names no servers, and with `system` neither does the distribution, in
 * /etc/debuginfod/. With `system` these become part of the environment, which the client library
 * reads: to be called before there are threads. */
struct fetching *fetching_new(bool system);
/* Whether the distribution names servers, and the environment does not. */
bool fetching_has_system(void);
void fetching_free(struct fetching *f); /* NULL is fine */

static inline struct kin_debuginfod *fetching_servers(const struct fetching *f)
{
	return f ? f->servers : NULL;
}

/* Prints, as a warning of the command `name`, that servers are no longer asked; once. NULL is
 * fine. */
void fetching_tell(struct fetching *f, const char *name);

#endif

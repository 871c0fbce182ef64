/* inside.h - a program run with the collection runtime in it: what kin run does, and kin record
 * where the kernel lets nobody sample. */
#ifndef CLI_INSIDE_H
#define CLI_INSIDE_H

#include <time.h>

#include "record/preload.h"

struct inside {
	const char *command; /* of kin's, for messages */
	struct preload_opts opts;
	char *const *argv;
	bool recorder; /* kin record might do where this cannot */
	bool again;    /* not the first run of several: nothing is to be prepared, nor replaced */
};

struct inside_result {
	bool ran;                      /* else `status` is the exit status that says why not */
	bool measured;                 /* the runtime is in it; else it was said why not */
	int status;                    /* as of wait() */
	uint64_t used_ns, duration_ns; /* CPU time of it and the children it waited for */
	struct timespec start;         /* files of the run are no older */
};

/* Runs it to its end. An older profile under the output's name is replaced, once the program could
 * be started. What keeps it from being measured is said and does not keep it from running. */
void inside_run(const struct inside *i, struct inside_result *ret);

/* "a.%p.kin": a name for each process. */
bool inside_is_pattern(const char *output);
/* For glob(): the names that files have, and with `taken` those of processes whose name was taken,
 * or that are not the first: "profile.kin" -> "profile.*.kin". To be freed. */
char *inside_pattern(const char *output, bool taken);
/* Whether the file was written since. */
bool inside_is_newer(const char *path, const struct timespec *than);
/* Why the runtime, which says nothing, could not make that file; NULL: it could. */
const char *inside_unwritable(const char *output);

#endif

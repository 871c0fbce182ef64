/* inside.h - runs a program with the collection runtime loaded: for kin run, and for kin record if
 * the kernel does not permit sampling. */
#ifndef CLI_INSIDE_H
#define CLI_INSIDE_H

#include <sys/types.h>
#include <time.h>

#include "record/preload.h"

struct inside {
	const char *command; /* kin's command, for messages */
	struct preload_opts opts;
	char *const *argv;
	bool recorder;       /* kin record may work where this does not: for messages */
	unsigned repetition; /* not 0: a further run of the same command, for which nothing is
				prepared or replaced */
};

struct inside_result {
	bool ran;                      /* false: `status` is the exit status for the reason */
	bool measured;                 /* the runtime was loaded; false: the reason was printed */
	pid_t pid;                     /* the program's process */
	int status;                    /* from wait() */
	uint64_t used_ns, duration_ns; /* used_ns: CPU time of the program and of children it waited
					  for */
	struct timespec start;         /* when it started: the run's files are not older */
};

/* Runs the program to its end. Once it has started, an older profile under the output's name is
 * replaced. If it cannot be measured a warning is printed, and it runs nevertheless. */
void inside_run(const struct inside *i, struct inside_result *ret);

/* Whether it is a pattern like "a.%p.kin", with a name for each process. */
bool inside_is_pattern(const char *output);
/* A pattern for glob(), and for a shell, that matches the output files. With `taken` it matches the
 * files of further processes, and those written because the name was taken: "profile.kin" ->
 * "profile.*.kin". To be freed. */
char *inside_pattern(const char *output, bool taken);
/* Whether the file was written after that time. */
bool inside_is_newer(const char *path, const struct timespec *than);
/* Why the runtime, which prints nothing, could not create that file; NULL: no reason found. */
const char *inside_unwritable(const char *output);

#endif

/* inside.h - runs a program with the collection runtime in it: for kin run, and for kin record
 * where the kernel lets nobody sample. */
#ifndef CLI_INSIDE_H
#define CLI_INSIDE_H

#include <sys/types.h>
#include <time.h>

#include "record/preload.h"

struct inside {
	const char *command; /* kin's command, for messages */
	struct preload_opts opts;
	char *const *argv;
	bool recorder;       /* kin record might work where this does not */
	unsigned repetition; /* not 0: a further run of several: nothing is to be prepared or
				replaced */
};

struct inside_result {
	bool ran;                      /* otherwise `status` is the exit status for the reason */
	bool measured;                 /* the runtime was in it; otherwise the reason was printed */
	pid_t pid;                     /* the program's process */
	int status;                    /* as of wait() */
	uint64_t used_ns, duration_ns; /* CPU time of the program and the children it waited for */
	struct timespec start;         /* files of the run are not older */
};

/* Runs the program to its end. Once it was started, an older profile under the output's name is
 * replaced. If it cannot be measured, a warning is printed and it runs nevertheless. */
void inside_run(const struct inside *i, struct inside_result *ret);

/* Whether it is a pattern like "a.%p.kin", with a name for each process. */
bool inside_is_pattern(const char *output);
/* A pattern for glob() that matches the files; with `taken` those of processes whose name was
 * taken, or that are not the first: "profile.kin" -> "profile.*.kin". To be freed. */
char *inside_pattern(const char *output, bool taken);
/* Whether the file was written after that time. */
bool inside_is_newer(const char *path, const struct timespec *than);
/* Why the runtime, which prints nothing, could not create that file; NULL: it could. */
const char *inside_unwritable(const char *output);

#endif

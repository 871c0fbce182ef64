/* turns.h - records two commands in turns, A B B A A B ..., each run in a file of its own.
 *
 * Each run is a process of "kin record" (or, to count calls, "kin run"), so it is recorded like any
 * other, whatever the kernel permits. */
#ifndef CLI_TURNS_H
#define CLI_TURNS_H

#include <sys/types.h>

#include "cli/sides.h"

struct turns {
	const char *command;            /* kin's command, for messages */
	char *const *argv[N_SIDES];     /* NULL-terminated; NULL: no such side */
	const char *folder;             /* keep files here; NULL: do not keep them */
	const char *frequency, *events; /* for kin record; NULL: its defaults */
	unsigned runs, warmup;          /* of each side; warmup: unrecorded runs before these */
	bool has_status;                /* a recording before ended with `status`: so must runs */
	int status;
	bool counts;       /* count calls, with kin run */
	bool shows_output; /* show the commands' output, which is otherwise discarded */
	/* Set by turns_run(): */
	bool joined;   /* a run left files of several processes, which are one now */
	char *made;    /* a folder to be removed */
	pid_t cleaner; /* the process that removes it if this one is killed; 0: none */
	int alive;     /* with it: closed when this process has ended, however it did */
};

enum { TURNS_DONE = -1 };

/* Runs all and adds the files to `sides`. All runs must end alike, because a command that fails
 * once does not do the same work each time. Returns TURNS_DONE, or the exit status on an error,
 * which was reported. */
int turns_run(struct turns *t, struct sides *sides);

/* Removes files that are not kept. */
void turns_done(struct turns *t);

#endif

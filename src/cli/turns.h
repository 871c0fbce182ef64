/* turns.h - records two commands in turns, A B B A A B ..., each run in a file of its own.
 *
 * Each run is a process of "kin record" or, to count calls, "kin run". So it is recorded like any
 * other program, whatever the kernel permits. */
#ifndef CLI_TURNS_H
#define CLI_TURNS_H

#include <sys/types.h>

#include "cli/sides.h"

struct turns {
	const char *command;            /* kin's command, for messages */
	char *const *argv[N_SIDES];     /* NULL-terminated; NULL: no such side */
	const char *folder;             /* keep files here; NULL: do not keep them */
	const char *frequency, *events; /* for kin record; NULL: its defaults */
	unsigned runs, warmup;          /* runs of each side; warmup: further runs before these, not
					   recorded */
	bool has_status;                /* an earlier recording ended with `status`, and all runs
					   must do so, too */
	int status;
	bool counts;       /* count calls, with kin run */
	bool shows_output; /* show the commands' output, which is otherwise discarded */
	/* Set by turns_run(): */
	bool warned;   /* a run was recorded, and has said how it is measured */
	bool joined;   /* files of several processes of a run were joined */
	char *made;    /* the temporary folder, to be removed */
	pid_t cleaner; /* the process that removes the folder if this one is killed; 0: none */
	int alive;     /* our end of the cleaner's pipe: the kernel closes it when this process
			  ends */
};

enum { TURNS_DONE = -1 };

/* Makes all runs and adds their files to `sides`. All runs must end alike, because a command that
 * sometimes fails does not always do the same work. Returns TURNS_DONE, or the exit status after an
 * error, which was reported. */
int turns_run(struct turns *t, struct sides *sides);

/* Removes files that are not kept. */
void turns_done(struct turns *t);

#endif

/* turns.h - commands recorded in turn, A B B A A B ..., each run in a file of its own.
 *
 * Each run is under "kin record" (or, to count calls, "kin run") in a process of its own, so that
 * it is recorded as any other, whatever the kernel permits. */
#ifndef CLI_TURNS_H
#define CLI_TURNS_H

#include "cli/sides.h"

struct turns {
	const char *command;            /* of kin's, for messages */
	char *const *argv[N_SIDES];     /* NULL-terminated; NULL: there is no such side */
	const char *folder;             /* where files are kept; NULL: not kept */
	const char *frequency, *events; /* of kin record; NULL: its usual ones */
	unsigned runs, warmup;          /* of each side; warmup: before that, and not recorded */
	bool counts;                    /* calls are counted, by kin run */
	bool shows_output;              /* of the commands, which otherwise goes nowhere */
	char *made;                     /* by turns_run(): the folder that is to be removed */
};

enum { TURNS_DONE = -1 };

/* Runs all and adds the files to `sides`. All runs must end alike: a command that fails once does
 * not do the same every time. Returns TURNS_DONE, or the exit status if that is all: it has said
 * why. */
int turns_run(struct turns *t, struct sides *sides);

/* Removes the files that are not kept. */
void turns_done(struct turns *t);

#endif

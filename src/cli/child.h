/* child.h - runs a program and ends with its exit status. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

/* Exit statuses of commands that run others, as for env and timeout. */
enum { CHILD_FAILED = 125, CHILD_NOT_EXECUTABLE = 126, CHILD_NOT_FOUND = 127 };

/* The exit status for this errno of execvp(). */
int child_not_run(int errnum);

/* What helps if execvp() of the program failed with this errno: ": ./prog is here", to be freed;
 * "", to be freed, too: nothing is known. */
char *child_remedy(int errnum, const char *program);

/* Call it when the program has ended: its status becomes ours, even if our output cannot be
 * written. */
void child_ended(void);

/* Ends as the program did, by its wait() status: with its exit status; or by the same signal,
 * without a core file, which only the program itself should leave. */
int child_end_as(int wait_status);

#endif

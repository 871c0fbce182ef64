/* child.h - a program run on somebody's behalf: its end becomes ours. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

/* Of a command that runs others, as env and timeout have them. */
enum { CHILD_FAILED = 125, CHILD_NOT_EXECUTABLE = 126, CHILD_NOT_FOUND = 127 };

/* Which of them this errno of execvp() is. */
int child_not_run(int errnum);

/* It has ended: its status is to be ours, even if nobody reads what we have to say. */
void child_ended(void);

/* As wait() says that the program ended: its exit status; or death by the same signal, without a
 * core file, as that is the program's alone. */
int child_end_as(int wait_status);

#endif

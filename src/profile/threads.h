/* threads.h - the threads of a profile, for people.
 *
 * A thread may be several tasks, one after the other: each name it had is one. Where the data has
 * no numbers (folded stacks) a name is a thread. Thread 0 is the one that is not known. */
#ifndef PROFILE_THREADS_H
#define PROFILE_THREADS_H

#include "profile/profile.h"

struct labelled_thread {
	taskid task; /* the last of its tasks */
	char *label; /* "name/1234", as much as is known; "[unknown]" */
};

struct threads {
	struct labelled_thread *at; /* [n]; n > 0 */
	size_t n;
	uint32_t *of_task; /* [n_tasks]: index into at[] */
};

struct threads threads_of(const struct profile *p);
/* The same of processes, each with all its threads: its label is the name of its first thread, if
 * that is known, and its number. */
struct threads processes_of(const struct profile *p);
/* The same of runs of a program (kin record -r): "run 1". */
struct threads runs_of(const struct profile *p);
/* The same of ranks of a parallel job: "rank 0". */
struct threads ranks_of(const struct profile *p);
void threads_done(struct threads *t);

/* Whether a person who wrote `name` means this task: its number, its name, or both as above. */
bool task_is(const struct profile *p, taskid id, const char *name);

#endif

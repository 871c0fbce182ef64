/* threads.h - the threads of a profile and their labels.
 *
 * A thread may be several tasks, one for each name it had. If the data has no thread numbers
 * (folded stacks), each name is a thread. Thread 0 is the unknown one. */
#ifndef PROFILE_THREADS_H
#define PROFILE_THREADS_H

#include "profile/profile.h"

struct labelled_thread {
	taskid task; /* the last of its tasks */
	char *label; /* "name/1234", or the part that is known; "[unknown]" */
};

struct threads {
	struct labelled_thread *at; /* [n]; n > 0 */
	size_t n;
	uint32_t *of_task; /* [n_tasks]: index into at[] */
};

struct threads threads_of(const struct profile *p);
/* The same for processes, each with all its threads. The label is the name of the first thread, if
 * known, and the number of the process. */
struct threads processes_of(const struct profile *p);
/* The same for repetitions of a program (kin record -r): "run 1". */
struct threads runs_of(const struct profile *p);
/* The same for ranks of a parallel job: "rank 0". */
struct threads ranks_of(const struct profile *p);
void threads_done(struct threads *t);

/* Whether `name`, as typed by a user, means this task: its number, its name, or "name/number". */
bool task_is(const struct profile *p, taskid id, const char *name);

#endif

/* beside.c - two pieces of work at the same time. */
#include "base/beside.h"

#include <pthread.h>

#include "base/guard.h"

struct guarded_workload {
	struct workload work;
	struct kin_error *no_memory;
};

static struct kin_error *run_load(const struct workload *w)
{
	w->run(w->arg);
	return NULL;
}

static void *run_in_thread(void *arg)
{
	struct guarded_workload *w = arg;
	w->no_memory = GUARDED(run_load(&w->work));
	return NULL;
}

void run_beside(struct workload here, struct workload there)
{
	struct guarded_workload beside = { .work = there };
	pthread_t thread;
	bool started = !pthread_create(&thread, NULL, run_in_thread, &beside);
	struct kin_error *no_memory = GUARDED(run_load(&here));

	if (started)
		pthread_join(thread, NULL);
	else
		run_in_thread(&beside);
	if (no_memory || beside.no_memory)
		xout_of_memory();
}

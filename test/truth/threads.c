/* Four threads, each with its own share of the work, all through one function. */
#include "truth.h"

#include <pthread.h>

struct job {
	void (*part)(void);
	int times;
	double cpu; /* out */
};

APART void work(long units)
{
	truth_spin(units);
	truth_sink++;
}
APART void tiny(void)
{
	work(1);
	truth_sink++;
}
APART void small(void)
{
	work(5);
	truth_sink++;
}
APART void medium(void)
{
	work(20);
	truth_sink++;
}
APART void large(void)
{
	work(60);
	truth_sink++;
}

static void *run(void *of)
{
	struct job *job = of;
	double start = truth_cpu();
	for (int i = 0; i < job->times; i++)
		job->part();
	job->cpu = truth_cpu() - start;
	return NULL;
}

int main(void)
{
	struct job jobs[] = {
		{ tiny, 900, 0 }, { small, 900, 0 }, { medium, 900, 0 }, { large, 900, 0 }
	};
	const char *const names[] = { "tiny", "small", "medium", "large" };
	pthread_t threads[4];
	double all = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, &jobs[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 4; i++) {
		truth_arc(names[i], "work", jobs[i].cpu);
		all += jobs[i].cpu;
	}
	truth_inclusive("work", all);
	truth_end();
	return 0;
}

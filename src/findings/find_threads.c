/* find_threads.c - finds one of several threads that does most of the work of its process. */
#include "base/map64.h"
#include "findings/evidence.h"

/* What the busiest of several threads must have of their CPU time. */
#define MOST 0.8

enum { FEW = 3 };

struct thread_use { /* its tasks are one thread, by several names */
	taskid last;
	double weight;
};

struct thread_uses {
	struct map64 index; /* (pid, tid) */
	VEC(struct thread_use) at;
};

/* Sums over the tasks of each thread. */
static void add_threads(const struct evidence *e, struct thread_uses *u)
{
	const struct samples *s = e->samples;

	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		const struct task *t = &s->tasks[x->task];
		if (x->event != e->event || !x->task)
			continue;
		uint32_t *at = map64_at(&u->index, MAP64_PAIR(t->pid, t->tid));
		if (*at == NONE) {
			*at = (uint32_t)u->at.n;
			vec_push(&u->at, ((struct thread_use){ x->task, 0 }));
		}
		struct thread_use *thread = &u->at.at[*at];
		thread->last = x->task > thread->last ? x->task : thread->last;
		thread->weight += (double)x->weight;
	}
}

void find_busy_thread(const struct evidence *e, struct findings *into)
{
	const struct task *tasks = e->samples->tasks;
	struct thread_uses u = { 0 };
	struct thread_use most = { 0 };
	double all = 0;
	unsigned n = 0;

	add_threads(e, &u);
	for (size_t i = 0; i < u.at.n; i++)
		if (u.at.at[i].weight > most.weight)
			most = u.at.at[i];
	for (size_t i = 0; i < u.at.n; i++)
		if (tasks[u.at.at[i].last].pid == tasks[most.last].pid) {
			all += u.at.at[i].weight;
			n++;
		}
	double share = most.weight / e->weight;
	if (n >= FEW && most.weight >= MOST * all && share >= 0.5)
		vec_push(&into->at,
			 ((struct finding){
				 .kind = "busy-thread",
				 .share = share,
				 .points = evidence_points(e, share),
				 .text = xprintf(
					 "one of %u threads, %s, does %.0f %% of the work of its "
					 "process",
					 n,
					 strtab_get(e->in->profile->strings, tasks[most.last].comm),
					 100 * most.weight / all),
				 .view = "flat --by thread",
			 }));
	map64_free(&u.index);
	vec_free(&u.at);
}

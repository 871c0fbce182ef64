#include "profile/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int by_thread(const struct task *a, const struct task *b)
{
	int order = ORDER(a->run, b->run);
	if (!order)
		order = ORDER(a->pid, b->pid);
	if (!order)
		order = ORDER(a->tid, b->tid);
	return order || a->tid ? order : ORDER(a->comm, b->comm);
}

static int by_thread_and_time(const void *l, const void *r, void *profile)
{
	const struct profile *p = profile;
	taskid a = *(const taskid *)l, b = *(const taskid *)r;
	int order = by_thread(&p->samples.tasks[a], &p->samples.tasks[b]);

	if (!order)
		order = ORDER(p->samples.tasks[a].end_ns, p->samples.tasks[b].end_ns);
	return order ? order : ORDER(a, b);
}

static char *make_label(const struct profile *p, taskid id, bool many_runs)
{
	const struct task *t = &p->samples.tasks[id];
	const char *comm = strtab_get(p->strings, t->comm);
	char number[48] = "", run[32] = "";

	if (!id)
		return xprintf("[unknown]");
	if (t->tid)
		snprintf(number, sizeof(number), "/%" PRIu32, t->tid);
	if (many_runs)
		snprintf(run, sizeof(run), " run %" PRIu32, t->run + 1);
	return xprintf("%s%s%s", comm, number, run);
}

struct threads threads_of(const struct profile *p)
{
	const struct samples *s = &p->samples;
	struct threads t = { 0 };
	bool many_runs = false;
	taskid *order = xrealloc(NULL, s->n_tasks, sizeof(*order));

	for (size_t i = 0; i < s->n_tasks; i++) {
		order[i] = (taskid)i;
		many_runs |= s->tasks[i].run > 0;
	}
	if (s->n_tasks > 1)
		qsort_r(order + 1, s->n_tasks - 1, sizeof(*order), by_thread_and_time,
			UNCONST(void *, p));
	t.at = xalloc(s->n_tasks * sizeof(*t.at));
	t.of_task = xalloc(s->n_tasks * sizeof(*t.of_task));
	t.n = 1;
	for (size_t i = 1; i < s->n_tasks; i++) {
		if (i == 1 || by_thread(&s->tasks[order[i - 1]], &s->tasks[order[i]]))
			t.n++;
		t.at[t.n - 1].task = order[i];
		t.of_task[order[i]] = (uint32_t)t.n - 1;
	}
	for (size_t i = 0; i < t.n; i++)
		t.at[i].label = make_label(p, t.at[i].task, many_runs);
	free(order);
	return t;
}

void threads_done(struct threads *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->at[i].label);
	free(t->at);
	free(t->of_task);
}

bool task_is(const struct profile *p, taskid id, const char *name)
{
	const struct task *t = &p->samples.tasks[id];
	char number[16], *both = make_label(p, id, false);
	const char *comm = strtab_get(p->strings, t->comm);

	snprintf(number, sizeof(number), "%" PRIu32, t->tid);
	bool is = (id && !strcmp(name, comm)) || (t->tid && !strcmp(name, number)) ||
		  !strcmp(name, both);
	free(both);
	return is;
}

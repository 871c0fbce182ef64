/* threads.c - sorts tasks into threads, processes, runs and ranks, and labels them. */
#include "profile/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

static int by_run(const struct task *a, const struct task *b) { return ORDER(a->run, b->run); }

static int by_rank(const struct task *a, const struct task *b) { return ORDER(a->rank, b->rank); }

/* Processes of different ranks may have the same number on different machines. */
static int by_run_and_rank(const struct task *a, const struct task *b)
{
	int order = by_run(a, b);
	return order ? order : by_rank(a, b);
}

static int by_process(const struct task *a, const struct task *b)
{
	int order = by_run_and_rank(a, b);
	if (!order)
		order = ORDER(a->pid, b->pid);
	return order || a->pid ? order : ORDER(a->comm, b->comm);
}

static int by_thread(const struct task *a, const struct task *b)
{
	int order = by_run_and_rank(a, b);
	if (!order)
		order = ORDER(a->pid, b->pid);
	if (!order)
		order = ORDER(a->tid, b->tid);
	return order || a->tid ? order : ORDER(a->comm, b->comm);
}

struct sorting {
	const struct profile *p;
	int (*compare)(const struct task *a, const struct task *b);
};

/* In each process its own first thread comes last: the process is named after it. */
static int by_owner_and_time(const void *l, const void *r, void *arg)
{
	const struct sorting *s = arg;
	taskid a = *(const taskid *)l, b = *(const taskid *)r;
	const struct task *x = &s->p->samples.tasks[a], *y = &s->p->samples.tasks[b];
	int order = s->compare(x, y);

	if (!order)
		order = ORDER(x->tid == x->pid, y->tid == y->pid);
	if (!order)
		order = ORDER(x->end_ns, y->end_ns);
	return order ? order : ORDER(a, b);
}

/* "name/number", or the part of it that is known. */
static char *make_label(const struct profile *p, taskid id, uint32_t number, bool many_runs,
			bool many_ranks)
{
	const struct task *t = &p->samples.tasks[id];
	char of_owner[48] = "", run[32] = "", rank[32] = "";

	if (!id)
		return xprintf("[unknown]");
	if (number)
		snprintf(of_owner, sizeof(of_owner), "/%" PRIu32, number);
	if (many_runs)
		snprintf(run, sizeof(run), " run %" PRIu32, t->run + 1);
	if (many_ranks && t->rank)
		snprintf(rank, sizeof(rank), " rank %" PRIu32, t->rank - 1);
	return xprintf("%s%s%s%s", strtab_get(p->strings, t->comm), of_owner, run, rank);
}

/* "run 1", "rank 0": the property that all tasks of the group share. */
static char *label_of_number(const struct task *t, bool is_run)
{
	if (is_run)
		return xprintf("run %" PRIu32, t->run + 1);
	return t->rank ? xprintf("rank %" PRIu32, t->rank - 1) : xprintf("[no rank]");
}

static struct threads group(const struct profile *p,
			    int (*compare)(const struct task *a, const struct task *b))
{
	const struct samples *s = &p->samples;
	struct sorting sorting = { p, compare };
	bool many_runs = false, many_ranks = false;
	taskid *order = xrealloc(NULL, s->n_tasks, sizeof(*order));

	for (size_t i = 0; i < s->n_tasks; i++) {
		order[i] = (taskid)i;
		many_runs |= s->tasks[i].run > 0;
		many_ranks |= i > 1 && s->tasks[i].rank != s->tasks[1].rank;
	}
	qsort_r(order + 1, s->n_tasks - 1, sizeof(*order), by_owner_and_time, &sorting);
	struct threads t = { .at = xalloc(s->n_tasks * sizeof(*t.at)),
			     .of_task = xalloc(s->n_tasks * sizeof(*t.of_task)),
			     .n = 1 };
	for (size_t i = 1; i < s->n_tasks; i++) {
		if (i == 1 || compare(&s->tasks[order[i - 1]], &s->tasks[order[i]]))
			t.n++;
		t.at[t.n - 1].task = order[i];
		t.of_task[order[i]] = (uint32_t)t.n - 1;
	}
	for (size_t i = 0; i < t.n; i++) {
		const struct task *task = &s->tasks[t.at[i].task];
		uint32_t number = compare == by_process ? task->pid : task->tid;
		bool numbered = (compare == by_run || compare == by_rank) && t.at[i].task;
		t.at[i].label =
			numbered ? label_of_number(task, compare == by_run)
				 : make_label(p, t.at[i].task, number, many_runs, many_ranks);
	}
	free(order);
	return t;
}

struct threads threads_of(const struct profile *p) { return group(p, by_thread); }

struct threads processes_of(const struct profile *p) { return group(p, by_process); }

struct threads runs_of(const struct profile *p) { return group(p, by_run); }

struct threads ranks_of(const struct profile *p) { return group(p, by_rank); }

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
	char number[16], *both = make_label(p, id, t->tid, false, false);
	const char *comm = strtab_get(p->strings, t->comm);

	snprintf(number, sizeof(number), "%" PRIu32, t->tid);
	bool is = (id && !strcmp(name, comm)) || (t->tid && !strcmp(name, number)) ||
		  !strcmp(name, both);
	free(both);
	return is;
}

/* perf_tasks.c - processes and threads, from the records. */
#include <inttypes.h>
#include <string.h>

#include "formats/perfdata/perf.h"

/* ---- processes ---- */

static uint32_t process_index(struct perf *p, uint32_t pid)
{
	uint32_t *i = map64_at(&p->process_ids, pid);

	if (*i == NONE) {
		struct perf_process made = { .pid = pid };
		perf_space_init(p, &made.space);
		*i = (uint32_t)p->processes.n;
		vec_push(&p->processes, made);
	}
	return *i;
}

struct perf_process *perf_process_of(struct perf *p, const struct perf_thread *t)
{
	return &p->processes.at[t->process];
}

/* ---- threads ---- */

static struct perf_thread *make(struct perf *p, uint32_t pid, uint32_t tid)
{
	struct perf_thread t = { .tid = tid,
				 .process = process_index(p, pid),
				 /* there is one thread 0 per CPU, without a record of its start */
				 .comm = pid == 0 && tid == 0 ? "swapper"
							      : arena_printf(&p->arena, ":%" PRId32,
									     (int32_t)tid),
				 .is_nameless = pid || tid };

	*map64_at(&p->thread_ids, tid) = p->last_thread = (uint32_t)p->threads.n;
	vec_push(&p->threads, t);
	return &p->threads.at[p->threads.n - 1];
}

struct perf_thread *perf_thread_at(struct perf *p, uint32_t pid, uint32_t tid)
{
	uint32_t i = p->last_thread; /* most records are of the previous one's thread */

	if (i >= p->threads.n || p->threads.at[i].tid != tid)
		i = map64_get(&p->thread_ids, tid);
	if (i == NONE)
		return make(p, pid, tid);
	struct perf_thread *t = &p->threads.at[i];
	/* The number is used again, for a thread of another process. */
	if (p->processes.at[t->process].pid != pid)
		return make(p, pid, tid);
	p->last_thread = i;
	return t;
}

/* The kernel writes -1 for numbers of an ended task that it no longer knows. */
static uint32_t known(uint32_t number) { return number == UINT32_MAX ? 0 : number; }

taskid perf_thread_task(struct perf *p, struct perf_thread *t, uint64_t time)
{
	if (t->task)
		return t->task;
	if (!t->start && time != PERF_NO_TIME)
		t->start = time;
	struct task task = { .pid = known(p->processes.at[t->process].pid),
			     .tid = known(t->tid),
			     .comm = profile_add_string(p->into, t->comm, strlen(t->comm)),
			     .start_ns = t->start,
			     .end_ns = t->end };
	t->task = profile_add_task(p->into, task);
	vec_push(&p->named, ((struct perf_named){ t->task, (uint32_t)(t - p->threads.at) }));
	return t->task;
}

static void end_task(struct perf *p, struct perf_thread *t, uint64_t time)
{
	if (time == PERF_NO_TIME)
		return;
	t->end = time;
	if (t->task)
		profile_task_at(p->into, t->task)->end_ns = time;
}

void perf_thread_name(struct perf *p, uint32_t pid, uint32_t tid, const char *comm, bool exec,
		      uint64_t time)
{
	struct perf_thread *t = perf_thread_at(p, pid, tid);

	t->is_nameless = false;
	if (strcmp(t->comm, comm) != 0) {
		end_task(p, t, time);
		t->comm = strtab_get(p->strings, strtab_add(p->strings, comm));
		t->task = 0;
		t->start = time == PERF_NO_TIME ? 0 : time;
		t->end = 0;
	}
	/* Until the first mapping, stacks still show the call of exec. */
	if (exec)
		p->processes.at[t->process].is_new = true;
}

/* Threads share the address space of their process; a new process gets a copy. */
void perf_thread_fork(struct perf *p, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid,
		      uint64_t time, bool copy_maps)
{
	const struct perf_thread parent = *perf_thread_at(p, ppid, ptid);

	if (pid != ppid) {
		uint32_t from = process_index(p, ppid), child = process_index(p, pid);
		if (copy_maps)
			perf_space_copy(p, &p->processes.at[child].space,
					&p->processes.at[from].space);
		else
			perf_space_init(p, &p->processes.at[child].space);
	}
	struct perf_thread *t = perf_thread_at(p, pid, tid);
	if (t->task || t->end) /* the number belonged to a thread that is gone */
		t = make(p, pid, tid);
	if (!parent.is_nameless) {
		t->comm = parent.comm;
		t->is_nameless = false;
	}
	t->cgroup_device = parent.cgroup_device;
	t->cgroup_inode = parent.cgroup_inode;
	t->start = time == PERF_NO_TIME ? 0 : time;
	t->in = t->start;
}

void perf_thread_exit(struct perf *p, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct perf_thread *t = perf_thread_at(p, pid, tid);

	end_task(p, t, time);
	t->out = 0;
}

void perf_tasks_finish(struct perf *p)
{
	for (size_t i = 0; i < p->named.n; i++) {
		const char *comm = p->threads.at[p->named.at[i].thread].comm;
		profile_task_at(p->into, p->named.at[i].task)->last_comm =
			profile_add_string(p->into, comm, strlen(comm));
	}
}

void perf_tasks_done(struct perf *p)
{
	vec_free(&p->processes);
	vec_free(&p->threads);
	vec_free(&p->named);
	map64_free(&p->process_ids);
	map64_free(&p->thread_ids);
}

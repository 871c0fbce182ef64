/* rt_threads.c - each thread's record and tables; those of dead threads are reused. */
#include "rt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <time.h>

uint64_t rt_none[RT_NONE_BLOCK + RT_NONE_SLOT];
__thread struct rt_tls rt_tls __attribute__((tls_model("initial-exec"))) = {
	.arcs = rt_none + RT_NONE_BLOCK,
};

enum {
	RECORDS = 64,   /* in a block */
	MANY = 1024,    /* threads; beyond that number the tables of dead ones are reused */
	INSPECTED = 32, /* threads checked for that at a time */
	PATIENCE = 256, /* calls after which a failed allocation is tried again */
};

static struct kinf_thread *new_record(uint32_t index, uint32_t tid)
{
	struct kinf_block *b = rt.thread_block;
	struct kinf_thread *r;

	if (!b || b->used + sizeof(*r) > b->size - sizeof(*b)) {
		b = rt_block(KINF_THREADS, RECORDS * sizeof(*r), 0);
		if (!b)
			return NULL;
		b->used = 0;
		rt.thread_block = b;
	}
	r = (struct kinf_thread *)(b->payload + b->used);
	r->tid = tid;
	r->start_ns = rt_now_ns(CLOCK_MONOTONIC);
	if (!rt.silent)
		SYS2(prctl, PR_GET_NAME, r->name);
	__atomic_store_n(&r->index, index, __ATOMIC_RELEASE);
	b->used += sizeof(*r);
	return r;
}

/* Reuses the tables and record of a dead thread. Its thread id may already belong to another
 * thread, even to this one, which certainly has no tables yet. */
static struct rt_thread *inherit(uint32_t tid)
{
	for (int i = 0; i < INSPECTED; i++) {
		struct rt_thread *t = rt.inspected ? rt.inspected : rt.threads;

		rt.inspected = t->next;
		if (t->tid == tid || SYS3(tgkill, rt.pid, t->tid, 0) == -ESRCH) {
			t->tid = tid;
			if (t->record) /* the record is a living thread's again */
				t->record->end_ns = 0;
			rt_lose(KINF_LOST_THREADS, 1);
			return t;
		}
	}
	return NULL;
}

static struct rt_thread *attach(void)
{
	uint32_t tid = rt.silent ? 0 : (uint32_t)SYS0(gettid);
	struct rt_thread *t = NULL;

	if (rt.n_threads >= MANY && !rt.silent)
		t = inherit(tid);
	if (!t) {
		t = rt_memory(sizeof(*t));
		if (!t)
			return NULL;
		t->tid = tid;
		t->index = ++rt.n_threads;
		t->record = new_record(t->index, tid);
		t->next = rt.threads;
		rt.threads = t;
	}
	rt_tls.thread = t;
	if (t->arcs)
		rt_tls.arcs = t->arcs;
	rt_sample_attach(t);
	return t;
}

struct rt_thread *rt_thread(void)
{
	struct rt_thread *t;
	uint64_t mask;

	if (rt_tls.thread)
		return rt_tls.thread;
	if (rt.refused && atomic_fetch_add(&rt.refused, 1) % PATIENCE)
		return NULL;
	if (!rt_lock(&mask))
		return NULL;
	/* a signal handler may have been faster */
	t = rt_tls.thread ? rt_tls.thread : attach();
	rt.refused = !t;
	rt_unlock(mask);
	return t;
}

/* Not in a child of vfork, which has a name of its own but shares our memory. */
void rt_thread_name(void)
{
	const struct rt_thread *t = rt_tls.thread;

	if (t && t->record && !rt.silent && (uint32_t)SYS0(gettid) == t->tid)
		SYS2(prctl, PR_GET_NAME, t->record->name);
}

static void read_name(struct rt_thread *t)
{
	enum { MOST = sizeof(t->record->name) };
	char path[64], name[MOST] = { 0 };
	struct text p = { .at = path, .size = sizeof(path) };
	long fd, n;

	text_add(&p, "/proc/self/task/");
	text_number(&p, t->tid);
	text_add(&p, "/comm");
	fd = SYS4(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	n = SYS3(read, fd, name, MOST);
	SYS1(close, fd);
	if (n < 1 || name[n - 1] != '\n')
		return;
	name[n - 1] = 0;
	copy_bytes(t->record->name, name, MOST);
}

void rt_threads_name(void)
{
	for (struct rt_thread *t = rt.threads; t; t = t->next)
		if (t->record && !t->clock.ended)
			read_name(t);
}

void rt_threads_drop(void)
{
	rt.threads = rt.inspected = NULL;
	rt.n_threads = 0;
	rt.thread_block = NULL;
	rt_tls.thread = NULL;
	rt_tls.arcs = rt_none + RT_NONE_BLOCK;
	rt_tls.latency = NULL;
}

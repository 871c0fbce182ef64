/* spaces.c - keeps threads and their mappings up to date, from the kernel's records and /proc. */
#include "record/spaces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/search.h"
#include "record/target.h"

enum { MAPPINGS_MAX = 1 << 16, ENDED_MAX = 256 };

struct spaces {
	struct modules *modules;
	void (*release)(struct space *s);
	struct map64 by_tid;     /* -> index into threads */
	struct map64 by_pid;     /* -> index of any thread of the process that has not ended */
	struct map64 last_ended; /* by CPU -> tid */
	pid_t ended[ENDED_MAX];  /* ended last, except first threads of processes that go on */
	size_t n_ended;          /* number ever; the next place is n_ended % ENDED_MAX */
	VEC(struct thread *) threads;
	VEC(uint32_t) unused; /* free places in `threads` */
	size_t n_processes, n_threads;
	uint32_t run; /* repetition of threads without a known parent */
};

/* ---- spaces ---- */

static struct space *space_new(pid_t pid)
{
	struct space *s = xalloc(sizeof(*s));
	s->refs = 1;
	s->pid = pid;
	return s;
}

static void space_drop(struct spaces *all, struct space *s)
{
	if (!s || --s->refs)
		return;
	space_drop(all, s->before);
	all->release(s);
	vec_free(&s->at);
	free(s);
}

static struct space *space_copy(const struct space *s, pid_t pid)
{
	struct space *c = space_new(pid);
	vec_reserve(&c->at, s->at.n);
	memcpy(c->at.at, s->at.at, s->at.n * sizeof(*s->at.at));
	c->at.n = s->at.n;
	return c;
}

/* Index of the first mapping that ends after addr. */
static size_t after(const struct space *s, uint64_t addr)
{
	return COUNT_WHILE(s->at.n, i, s->at.at[i].end <= addr);
}

const struct mapping *space_find(const struct space *s, uint64_t addr)
{
	size_t i = after(s, addr);
	return i < s->at.n && s->at.at[i].start <= addr ? &s->at.at[i] : NULL;
}

bool space_is_started_at(struct space *s, uint64_t addr, const struct mapping **ret)
{
	s->runs |= space_find(s, addr) != NULL;
	*ret = s->before ? space_find(s->before, addr) : NULL;
	return s->exec && !s->runs;
}

static void insert(struct space *s, size_t at, struct mapping m)
{
	vec_push(&s->at, m);
	memmove(&s->at.at[at + 1], &s->at.at[at], (s->at.n - 1 - at) * sizeof(m));
	s->at.at[at] = m;
}

/* Adds a mapping, and removes the parts of other mappings that it covers. */
static void space_map(struct space *s, struct mapping m)
{
	size_t i = after(s, m.start);
	if (m.start >= m.end || s->at.n >= MAPPINGS_MAX)
		return;
	if (i < s->at.n && s->at.at[i].start < m.start) { /* its front part remains */
		struct mapping back = s->at.at[i];
		s->replaced |= back.module != m.module || back.bias != m.bias;
		s->at.at[i].end = m.start;
		i++;
		if (back.end > m.end) {
			back.start = m.end;
			insert(s, i, back);
		}
	}
	size_t n = 0;
	while (i + n < s->at.n && s->at.at[i + n].end <= m.end) {
		s->replaced |= s->at.at[i + n].module != m.module || s->at.at[i + n].bias != m.bias;
		n++;
	}
	if (i + n < s->at.n && s->at.at[i + n].start < m.end) {
		s->replaced |= s->at.at[i + n].module != m.module || s->at.at[i + n].bias != m.bias;
		s->at.at[i + n].start = m.end;
	}
	if (n > 1)
		memmove(&s->at.at[i + 1], &s->at.at[i + n], (s->at.n - i - n) * sizeof(*s->at.at));
	if (n) {
		s->at.n -= n - 1;
		s->at.at[i] = m;
	} else {
		insert(s, i, m);
	}
}

static struct mapping mapping_of(struct spaces *all, const struct module_key *key, uint64_t offset)
{
	struct module *m = modules_find(all->modules, key);
	return (struct mapping){ key->start, key->end, module_bias(m, key->start, offset), m };
}

void spaces_set_run(struct spaces *s, uint32_t run) { s->run = run; }

/* ---- /proc ---- */

static bool read_exe(pid_t tid, char ret[4096])
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	ssize_t n = readlink(path, ret, 4095);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Finds the program of a process. If its first thread has ended, only other threads show it. */
static void find_exe(struct space *s, char ret[4096])
{
	struct thread_list of = { 0 };
	if (read_exe(s->pid, ret))
		return;
	kin_error_free(target_threads(s->pid, &of));
	for (size_t i = 0; i < of.at.n && !*ret; i++)
		if (read_exe(of.at.at[i], ret))
			s->pid = of.at.at[i];
	vec_free(&of.at);
}

static void read_maps(struct spaces *all, struct space *s)
{
	char path[64], exe[4096], *line = NULL;
	size_t cap = 0;
	ssize_t n;
	find_exe(s, exe);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->pid);
	FILE *f = fopen(path, "re");
	while (f && (n = getline(&line, &cap, f)) > 0) {
		unsigned long long start, end, offset, inode;
		char access[5];
		int at = 0;
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (sscanf(line, "%llx-%llx %4s %llx %*x:%*x %llu %n", &start, &end, access,
			   &offset, &inode, &at) < 5 ||
		    !at || access[2] != 'x' || !strcmp(line + at, "[vsyscall]"))
			continue;
		struct module_key key = {
			.path = line + at, .inode = inode, .pid = s->pid, .start = start, .end = end
		};
		struct mapping m = mapping_of(all, &key, offset);
		m.module->main |= !strcmp(key.path, exe);
		space_map(s, m);
	}
	free(line);
	if (f)
		fclose(f);
	s->replaced = false;
}

static void read_comm(pid_t pid, pid_t tid, char ret[16])
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(ret, 1, 15, f) : 0;
	while (n && ret[n - 1] == '\n')
		n--;
	ret[n] = '\0';
	if (f)
		fclose(f);
}

/* ---- threads ---- */

struct spaces *spaces_new(struct modules *m, void (*release)(struct space *s))
{
	struct spaces *s = xalloc(sizeof(*s));
	s->modules = m;
	s->release = release;
	return s;
}

static void thread_free(struct spaces *s, struct thread *t)
{
	if (!t)
		return;
	space_drop(s, t->space);
	free(t);
}

void spaces_free(struct spaces *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->threads.n; i++)
		thread_free(s, s->threads.at[i]);
	vec_free(&s->threads);
	vec_free(&s->unused);
	map64_free(&s->by_tid);
	map64_free(&s->by_pid);
	map64_free(&s->last_ended);
	free(s);
}

size_t spaces_n_processes(const struct spaces *s) { return s->n_processes; }
size_t spaces_n_threads(const struct spaces *s) { return s->n_threads; }

static struct thread *at(const struct spaces *s, uint32_t index)
{
	return index == NONE ? NULL : s->threads.at[index];
}

struct thread *spaces_known(const struct spaces *s, pid_t tid)
{
	return at(s, map64_get(&s->by_tid, (uint32_t)tid));
}

/* Any thread of the process that has not ended. */
static struct thread *any_of(const struct spaces *s, pid_t pid)
{
	struct thread *t = at(s, map64_get(&s->by_pid, (uint32_t)pid));
	return t && t->pid == pid ? t : NULL;
}

/* Any thread of the process, as they share a space: one that has not ended, or else the first,
 * which has ended. */
static struct thread *sibling(const struct spaces *s, pid_t pid)
{
	struct thread *any = any_of(s, pid);
	struct thread *first = any ? NULL : spaces_known(s, pid);
	return first && first->pid == pid ? first : any;
}

bool spaces_has(const struct spaces *s, pid_t pid, pid_t tid)
{
	const struct thread *t = spaces_known(s, tid);
	return (t && t->pid == pid) || sibling(s, pid);
}

/* A thread of the process that has not ended, other than t (which may be NULL). */
static struct thread *another(const struct spaces *s, pid_t pid, const struct thread *t)
{
	struct thread *any = any_of(s, pid);
	if (any != t)
		return any;
	for (size_t i = 0; t && t->space->refs > 1 && i < s->threads.n; i++) {
		any = s->threads.at[i];
		if (any && any != t && any->pid == pid && !any->ended)
			return any;
	}
	return NULL;
}

static void keep_as_any(struct spaces *s, const struct thread *t)
{
	*map64_at(&s->by_pid, (uint32_t)t->pid) = map64_get(&s->by_tid, (uint32_t)t->tid);
}

static void forget(struct spaces *s, struct thread *t)
{
	uint32_t index = map64_get(&s->by_tid, (uint32_t)t->tid);
	map64_remove(&s->by_tid, (uint32_t)t->tid);
	s->threads.at[index] = NULL;
	vec_push(&s->unused, index);
	thread_free(s, t);
}

/* Takes over a reference to the space. */
static struct thread *add_thread(struct spaces *s, pid_t pid, pid_t tid, struct space *space)
{
	struct thread *t = xalloc(sizeof(*t));
	t->pid = pid;
	t->tid = tid;
	t->space = space;
	t->run = s->run;
	uint32_t index = (uint32_t)s->threads.n;
	if (s->unused.n) {
		index = s->unused.at[--s->unused.n];
		s->threads.at[index] = t;
	} else {
		vec_push(&s->threads, t);
	}
	s->n_processes += !sibling(s, pid);
	s->n_threads++;
	*map64_at(&s->by_tid, (uint32_t)tid) = index;
	*map64_at(&s->by_pid, (uint32_t)pid) = index;
	return t;
}

/* In a PID namespace, as of a container, all processes outside have the number 0. */
static bool sees_all(void)
{
	static const char first[] = "pid:[4026531836]"; /* PROC_PID_INIT_INO */
	char here[sizeof(first)];
	return readlink("/proc/self/ns/pid", here, sizeof(here)) == (ssize_t)sizeof(first) - 1 &&
	       !memcmp(here, first, sizeof(first) - 1);
}

bool thread_is_outside(const struct thread *t) { return !t->pid && !t->tid && !*t->comm; }

struct thread *spaces_thread(struct spaces *s, pid_t pid, pid_t tid)
{
	struct thread *t = spaces_known(s, tid);
	if (t && t->pid == pid)
		return t;
	struct thread *other = sibling(s, pid);
	struct space *space;
	if (other) {
		space = other->space;
		space->refs++;
	} else {
		space = space_new(pid);
		read_maps(s, space);
	}
	t = add_thread(s, pid, tid, space);
	if (pid || tid)
		read_comm(pid, tid, t->comm);
	else if (sees_all()) /* the idle task, under the kernel's name */
		snprintf(t->comm, sizeof(t->comm), "swapper");
	return t;
}

struct thread *spaces_sampled(struct spaces *s, const struct perf_sample *p)
{
	if ((pid_t)p->tid != -1)
		return spaces_thread(s, (pid_t)p->pid, (pid_t)p->tid);
	struct thread *t = spaces_known(s, (pid_t)map64_get(&s->last_ended, p->cpu));
	return t && t->ended ? t : spaces_thread(s, (pid_t)p->pid, -1);
}

void spaces_each(struct spaces *s, void (*each)(void *arg, struct thread *t), void *arg)
{
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i])
			each(arg, s->threads.at[i]);
}

/* ---- records ---- */

static void give_space(struct spaces *s, pid_t pid, struct space *old, struct space *made)
{
	for (size_t i = 0; i < s->threads.n; i++) {
		struct thread *t = s->threads.at[i];
		if (!t || t->pid != pid || t->space != old)
			continue;
		made->refs++;
		t->space = made;
		space_drop(s, old);
	}
}

static bool others_have(const struct spaces *s, const struct thread *t)
{
	if (t->space->refs == 1)
		return false;
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i] && s->threads.at[i]->space == t->space &&
		    s->threads.at[i]->pid != t->pid)
			return true;
	return false;
}

/* A space that no other process shares, so that it can be changed. */
static struct space *own_space(struct spaces *s, struct thread *t)
{
	if (others_have(s, t)) {
		struct space *made = space_copy(t->space, t->pid);
		give_space(s, t->pid, t->space, made);
		space_drop(s, made);
	}
	return t->space;
}

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	union {
		struct {
			uint32_t maj, min;
			uint64_t ino, ino_generation;
		};
		struct {
			uint8_t build_id_size, unused[3], build_id[20];
		};
	};
	uint32_t prot, flags;
	char filename[];
};

static void take_mmap(struct spaces *s, const struct ring_record *r)
{
	const struct mmap2_record *m = (const void *)r->header;
	if (r->header->size <= sizeof(*m))
		return;
	struct thread *t = spaces_thread(s, (pid_t)m->pid, (pid_t)m->tid);
	struct module_key key = {
		.path = m->filename, .pid = (pid_t)m->pid, .start = m->addr, .end = m->addr + m->len
	};
	if (r->header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		key.build_id = m->build_id;
		key.build_id_size = m->build_id_size <= 20 ? m->build_id_size : 0;
	} else {
		key.inode = m->ino;
		key.generation = m->ino_generation;
	}
	if (!strncmp(m->filename, "[vsyscall]", 10))
		return;
	struct space *space = own_space(s, t);
	key.parent = space->before ? space->before->pid : 0;
	struct mapping made = mapping_of(s, &key, m->pgoff);
	made.module->main |= space->fresh && made.module->kind == KINF_ELF;
	space->fresh = false;
	space_map(space, made);
}

/* Handles exec in a thread other than the first: all other threads have ended, and the caller takes
 * over the id of the first. Records with that id may have come before the record of the exec. */
static struct thread *become_first(struct spaces *s, struct thread *first, struct thread *caller,
				   uint64_t time_ns, const struct spaces_hooks *hooks)
{
	if (!first) {
		caller->space->refs++;
		first = add_thread(s, caller->pid, caller->pid, caller->space);
	}
	hooks->ended(hooks->arg, caller, time_ns, false);
	forget(s, caller);
	return first;
}

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

static void take_comm(struct spaces *s, const struct ring_record *r,
		      const struct spaces_hooks *hooks)
{
	const struct comm_record *c = (const void *)r->header;
	bool exec = r->header->misc & PERF_RECORD_MISC_COMM_EXEC;
	struct thread *t = spaces_known(s, (pid_t)c->tid);
	struct thread *caller = exec ? another(s, (pid_t)c->pid, t) : NULL;
	if (caller)
		t = become_first(s, t, caller, r->sample.time, hooks);
	if (t && exec) {
		t->ended = false;
		keep_as_any(s, t);
	}
	if (!t && exec) { /* nothing is left of the program before */
		t = add_thread(s, (pid_t)c->pid, (pid_t)c->tid, space_new((pid_t)c->pid));
		t->space->fresh = t->space->exec = true;
	} else if (!t) {
		t = spaces_thread(s, (pid_t)c->pid, (pid_t)c->tid);
	} else {
		hooks->ended(hooks->arg, t, r->sample.time, false);
		if (exec) {
			struct space *before = t->space;
			space_drop(s, before->before);
			before->before = NULL;
			t->space = space_new(t->pid);
			t->space->fresh = t->space->exec = true;
			t->space->before = before;
		}
	}
	snprintf(t->comm, sizeof(t->comm), "%.15s", c->comm);
}

struct task_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

/* Forgets a thread that has ended, unless it is the first of a process that goes on. */
static void forget_ended(struct spaces *s, pid_t tid, uint64_t time_ns,
			 const struct spaces_hooks *hooks)
{
	struct thread *t = spaces_known(s, tid);
	if (!t || !t->ended || (t->tid == t->pid && any_of(s, t->pid)))
		return;
	t->task = 0; /* its end was reported already */
	hooks->ended(hooks->arg, t, time_ns, true);
	forget(s, t);
}

static void take_fork(struct spaces *s, const struct ring_record *r,
		      const struct spaces_hooks *hooks)
{
	const struct task_record *f = (const void *)r->header;
	forget_ended(s, (pid_t)f->tid, r->sample.time, hooks); /* the thread's id is used again */
	struct thread *parent = spaces_known(s, (pid_t)f->ptid);
	struct thread *old = spaces_known(s, (pid_t)f->tid);
	if (old && old->pid == (pid_t)f->pid)
		return; /* already found in /proc */
	if (!parent)
		parent = sibling(s, (pid_t)f->ppid);
	if (!parent || !parent->pid)
		return; /* the thread will be read from /proc when needed */
	parent->space->refs++;
	struct thread *t = add_thread(s, (pid_t)f->pid, (pid_t)f->tid, parent->space);
	memcpy(t->comm, parent->comm, sizeof(t->comm));
	t->run = parent->run;
}

/* An ended thread stays known until many others have ended, since the kernel's work on its exit is
 * still sampled. */
static void keep_ended(struct spaces *s, pid_t tid, uint64_t time_ns,
		       const struct spaces_hooks *hooks)
{
	pid_t *place = &s->ended[s->n_ended++ % ENDED_MAX];
	forget_ended(s, *place, time_ns, hooks);
	*place = tid;
}

static void take_exit(struct spaces *s, const struct ring_record *r,
		      const struct spaces_hooks *hooks)
{
	const struct task_record *e = (const void *)r->header;
	uint64_t now_ns = r->sample.time;
	struct thread *t = spaces_known(s, (pid_t)e->tid);
	if (!t || t->ended)
		return;
	pid_t pid = t->pid, tid = t->tid;
	uint32_t task = t->task;
	hooks->ended(hooks->arg, t, now_ns, true);
	t->task = task; /* further samples belong to the same task of the file */
	t->ended = true;
	*map64_at(&s->last_ended, r->sample.cpu) = (uint32_t)tid;
	const struct thread *other = another(s, pid, t);
	if (other) {
		keep_as_any(s, other);
		if (t->space->pid == t->tid)
			t->space->pid = other->tid;
	} else {
		map64_remove(&s->by_pid, (uint32_t)pid);
		hooks->left(hooks->arg, pid, now_ns);
	}
	if (tid != pid || !other)
		keep_ended(s, tid, now_ns, hooks);
	if (tid != pid && !other)
		keep_ended(s, pid, now_ns, hooks);
}

void spaces_take(struct spaces *s, const struct ring_record *r, const struct spaces_hooks *hooks)
{
	uint32_t pid; /* the first field of each of these records */
	memcpy(&pid, r->header + 1, sizeof(pid));
	if (!pid)
		return; /* processes that cannot be told apart: see sees_all() */
	switch (r->header->type) {
	case PERF_RECORD_MMAP2:
		take_mmap(s, r);
		return;
	case PERF_RECORD_COMM:
		take_comm(s, r, hooks);
		return;
	case PERF_RECORD_FORK:
		take_fork(s, r, hooks);
		return;
	case PERF_RECORD_EXIT:
		take_exit(s, r, hooks);
		return;
	default:
		return; /* switches, losses: not ours */
	}
}

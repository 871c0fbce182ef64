/* spaces.h - who is there: threads, their names, and what is mapped where in their processes.
 *
 * Kept by the kernel's records as they come by in the order of time. What was there before the
 * recording is read from /proc when a record first names it. The space of a child is its parent's
 * until one of them maps something. */
#ifndef RECORD_SPACES_H
#define RECORD_SPACES_H

#include <sys/types.h>

#include "record/modules.h"
#include "record/rings.h"

struct mapping {
	uint64_t start, end, bias;
	struct module *module;
};

struct space {
	unsigned refs;
	pid_t pid; /* of a process that has it, or had: where to look for files and memory */
	VEC(struct mapping) at; /* by address; not overlapping */
	bool fresh;             /* after exec: the first file mapped is the program */
	struct space *before;   /* of the program that called exec; NULL: none */
	bool runs;              /* the new one has been seen to run */
	bool replaced; /* something was mapped over something else: what was kept of it is wrong */
	struct walker *walker;    /* the unwinding's own; NULL: not yet */
	struct code_cache *cache; /* the same */
};

/* The mapping that holds addr; NULL if there is none. */
const struct mapping *space_find(const struct space *s, uint64_t addr);
/* Where the program before this one called exec, if a thread entered the kernel at addr and is
 * there to begin the new one; else NULL. */
const struct mapping *space_find_exec(struct space *s, uint64_t addr);

struct thread { /* while it has one name */
	pid_t pid, tid;
	uint32_t task; /* in the data written; 0: not yet */
	char comm[16];
	struct space *space;
	struct thread_wall *wall; /* wall.c's own; NULL: none */
	uint32_t run;             /* of several, from 0 */
};

struct spaces;
/* `release` is called for a space that nobody has any more, with its unwinder and cache. */
struct spaces *spaces_new(struct modules *m, void (*release)(struct space *s));
void spaces_free(struct spaces *s); /* NULL is fine */

/* What is new from now on belongs to this run of several. */
void spaces_set_run(struct spaces *s, uint32_t run);

/* The thread; looked for in /proc if it is not known. Valid until it is gone. */
struct thread *spaces_thread(struct spaces *s, pid_t pid, pid_t tid);
struct thread *spaces_known(const struct spaces *s, pid_t tid); /* or NULL */

/* What a record other than a sample says. ended() is called before a thread gets another name, or
 * is gone; left() after the last thread that is known of a process is gone. */
struct spaces_hooks {
	void (*ended)(void *arg, struct thread *t, uint64_t time_ns, bool gone);
	void (*left)(void *arg, pid_t pid, uint64_t time_ns);
	void *arg;
};
void spaces_take(struct spaces *s, const struct ring_record *r, const struct spaces_hooks *hooks);

size_t spaces_n_processes(const struct spaces *s); /* ever seen */
size_t spaces_n_threads(const struct spaces *s);
/* All that are there now: each(arg, thread). */
void spaces_each(struct spaces *s, void (*each)(void *arg, struct thread *t), void *arg);

#endif

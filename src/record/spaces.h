/* spaces.h - threads, their names, and the mappings of their processes.
 *
 * They are updated by the kernel's records in order of time. Threads and mappings from before the
 * recording are read from /proc when a record first names them. A child shares its parent's space
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
	pid_t pid;                /* a thread of it, possibly ended: for its files and memory */
	VEC(struct mapping) at;   /* by address; not overlapping */
	bool fresh;               /* after exec: the first file mapped is the program */
	bool exec;                /* made by exec; then: */
	struct space *before;     /* space of the program that called exec; NULL: not known */
	bool runs;                /* the new program has been seen to run */
	bool replaced;            /* a mapping replaced another: caches are invalid */
	struct walker *walker;    /* owned by the unwinding; NULL: not yet */
	struct code_cache *cache; /* owned by the unwinding; NULL: not yet */
};

/* The mapping that contains addr; NULL if there is none. */
const struct mapping *space_find(const struct space *s, uint64_t addr);
/* Whether the kernel was entered at addr by the exec that starts the space's program. If so, sets
 * *ret to the mapping in the program that called exec; NULL: not known. */
bool space_is_started_at(struct space *s, uint64_t addr, const struct mapping **ret);

struct thread { /* a thread, under its present name */
	pid_t pid, tid;
	uint32_t task; /* its id in the file being written; 0: none yet */
	char comm[16];
	struct space *space;
	struct thread_wall *wall; /* owned by wall.c; NULL: none */
	uint32_t run;             /* repetition of the program, from 0 */
	bool ended; /* it has exited, but its id still occurs: in samples of the kernel's exit work;
		       and, if it was the first of a process that goes on, in a thread that calls
		       exec */
};

/* True for the thread that stands for all processes outside of our PID namespace, such as a
 * container's. */
bool thread_is_outside(const struct thread *t);

struct spaces;
/* `release` is called for a space that is no longer in use, with its unwinder and cache. */
struct spaces *spaces_new(struct modules *m, void (*release)(struct space *s));
void spaces_free(struct spaces *s); /* NULL is fine */

/* Sets the repetition that new threads belong to. */
void spaces_set_run(struct spaces *s, uint32_t run);

/* The thread; read from /proc if it is not known. Valid until it is gone. */
struct thread *spaces_thread(struct spaces *s, pid_t pid, pid_t tid);
/* The thread of a sample or switch. If the kernel has already taken away the thread's id, this is
 * the thread that ended last on that CPU. */
struct thread *spaces_sampled(struct spaces *s, const struct perf_sample *p);
struct thread *spaces_known(const struct spaces *s, pid_t tid); /* or NULL */
/* Whether the thread, or another one of its process, is known. */
bool spaces_has(const struct spaces *s, pid_t pid, pid_t tid);

/* Handles a record other than a sample. ended() is called before a thread changes its name or is
 * gone; left() after the last known thread of a process is gone. An ended thread may still have
 * samples and switches: ended() is called again when it is forgotten. */
struct spaces_hooks {
	void (*ended)(void *arg, struct thread *t, uint64_t time_ns, bool gone);
	void (*left)(void *arg, pid_t pid, uint64_t time_ns);
	void *arg;
};
void spaces_take(struct spaces *s, const struct ring_record *r, const struct spaces_hooks *hooks);

size_t spaces_n_processes(const struct spaces *s); /* ever seen */
size_t spaces_n_threads(const struct spaces *s);
/* Calls each(arg, thread) for all known threads. */
void spaces_each(struct spaces *s, void (*each)(void *arg, struct thread *t), void *arg);

#endif

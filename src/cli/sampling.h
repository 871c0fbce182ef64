/* sampling.h - options about what is sampled and how often, which kin record and kin top share.
 *
 * Rows with the same text in both commands are here; others stay with the commands. */
#ifndef CLI_SAMPLING_H
#define CLI_SAMPLING_H

#include <sys/types.h>

#include "base/vec.h"

enum { /* ids of options */
       SAMPLING_PID = 900,
       SAMPLING_TID,
       SAMPLING_ALL,
       SAMPLING_EVENT,
       SAMPLING_FREQUENCY,
       SAMPLING_PERIOD,
       SAMPLING_USER,
       SAMPLING_CPU,
       SAMPLING_NO_INHERIT,
       SAMPLING_CGROUP,
       SAMPLING_BUFFERS,
};

/* Rows of an option table that restrict what is sampled. */
/* clang-format off */
#define SAMPLING_THREAD_ROWS \
	{ SAMPLING_TID, 't', "thread", "TID", "single threads, and what they start" }, \
	{ SAMPLING_TID, 0, "tid", "TID", "the same as --thread" }
#define SAMPLING_SCOPE_ROWS \
	{ SAMPLING_USER, 'u', "uid", "USER", \
	  "the processes that a user has at the beginning, and what they start" }, \
	{ SAMPLING_CPU, 'C', "cpu", "CPUS", \
	  "only on these CPUs, 0-3,8; everything that runs there, unless tasks are given" }, \
	{ SAMPLING_CGROUP, 'G', "cgroup", "NAME", \
	  "with -a: only what is in this control group, by its path below /sys/fs/cgroup" }, \
	{ SAMPLING_NO_INHERIT, 'i', "no-inherit", NULL, \
	  "COMMAND's first thread, or the threads named, without what they start" }
/* clang-format on */

struct pid_list {
	VEC(pid_t) at;
};

struct cpu_list {
	VEC(int) at;
};

struct sampling {
	struct pid_list pids, tids;
	struct cpu_list cpus;
	char *events; /* joined by commas; NULL: none given */
	bool everything, no_inherit;
	uint64_t frequency, period; /* 0: not given */
	uint64_t buffer_bytes;      /* 0: not given */
	const char *cgroup;         /* NULL: not given */
};

/* Sets an option. False: error[] is set. */
bool sampling_set(struct sampling *s, int id, const char *arg, char error[512]);

static inline bool sampling_attaches(const struct sampling *s)
{
	return s->pids.at.n || s->tids.at.n;
}

/* Whether the whole machine is sampled, on some or all CPUs, and no tasks are named. */
static inline bool sampling_is_of_machine(const struct sampling *s)
{
	return s->everything || (s->cpus.at.n && !sampling_attaches(s));
}

/* Describes options that exclude each other; NULL: there are none. */
const char *sampling_conflict(const struct sampling *s);

void sampling_done(struct sampling *s);

/* Appends the events of another -e. *events: NULL, or the result of an earlier call; to be
 * freed. */
void sampling_add_events(char **events, const char *arg);

#endif

/* target.h - the program that is recorded, and the signals that come by meanwhile.
 *
 * The program is started in two steps: it exists, and waits; and it runs. In between the kernel's
 * events are opened on it. Nothing of it is changed: it has the signal mask, the dispositions and
 * the limits that we were started with.
 *
 * Timers that exec keeps (an alarm that was set before) become the program's when it starts.
 *
 * Signals for the recorder are read from a descriptor: all that would end it, since the program is
 * not to go on without it, or is meant to have them. Those that were ignored when we were started
 * stay ignored, but for an interrupt that somebody sends: shells ignore those of the terminal for
 * what runs in the background, and scripts end recordings there with kill -INT. */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>

#include "base/vec.h"

struct kin_error;

/* Our own place in the world, as long as we run: signals, timers, priority, limits. */
struct signals {
	int fd; /* for poll() */
	sigset_t before, taken;
	bool deaf;        /* interrupts were ignored */
	sigset_t program; /* what a program that is started has blocked: as before */
	struct sigaction child_before;
	int nice_before;
	struct itimerval
		timers[3]; /* ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF: the first program's */
	struct rlimit files_before, memory_before; /* raised for us as far as may be */
	bool started; /* a program was: timers are its own, limits matter no more */
};
struct kin_error *signals_open(struct signals *s) __attribute__((warn_unused_result));
/* In a thread of a process that sees to its signals itself: only those are taken that concern
 * programs that were started. These have `program` blocked. */
struct kin_error *signals_open_few(struct signals *s, const sigset_t *program)
	__attribute__((warn_unused_result));
void signals_close(struct signals *s); /* everything as it was */

struct signal_seen {
	int number;
	bool from_terminal; /* everybody in the foreground got it */
	bool ours;          /* about this process, or what the kernel tells it of a program */
	pid_t sender;
};
/* Ahead of others if we may: a recorder that comes late loses samples. Not so the programs that are
 * started. */
void signals_hurry(struct signals *s);

bool signals_next(struct signals *s, struct signal_seen *ret); /* false: no more */

struct target {
	pid_t pid;
	int go, failed; /* pipes */
	bool running, ended;
	int status;          /* of wait(), once it ended */
	struct rusage usage; /* of it and the children that it waited for */
};
/* It waits. `argv` is searched in PATH. */
struct kin_error *target_start(char *const *argv, struct signals *s, struct target *ret)
	__attribute__((warn_unused_result));
/* It runs; if its program cannot be executed, an error, with ENOENT or another one. */
struct kin_error *target_go(struct target *t, struct signals *s, const char *name)
	__attribute__((warn_unused_result));
/* It never runs. */
void target_cancel(struct target *t);
/* Looks whether it has ended. */
void target_look(struct target *t);
/* Whether it is about to end: the kernel clears up after it, which takes its time if there is much
 * memory. */
bool target_is_leaving(const struct target *t);
/* Waits for its end, passing signals on: for when there is nothing to record. */
void target_wait(struct target *t, struct signals *s);
/* A signal meant for the recorder's user's program. */
void target_pass(const struct target *t, const struct signal_seen *s);

/* All threads of a process, appended. */
struct thread_list {
	VEC(pid_t) at;
};
struct kin_error *target_threads(pid_t pid, struct thread_list *ret)
	__attribute__((warn_unused_result));

#endif

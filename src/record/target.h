/* target.h - the recorded program, and signals to the recorder meanwhile.
 *
 * The program is started in two steps: the process is created and waits; then it runs. In between,
 * the kernel's events are opened on it. It gets the signal mask, dispositions and limits that we
 * were started with.
 *
 * Timers that survive exec (an alarm that was set before) become the program's when it starts.
 *
 * Signals that would end the recorder are read from a descriptor, because they are meant for the
 * program or must end the recording properly. Signals that were ignored at our start stay ignored,
 * except an interrupt sent by a process: shells ignore the terminal's interrupts for background
 * jobs, and scripts end recordings there with kill -INT. */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>

#include "base/vec.h"

struct kin_error;

/* Process attributes that we change while recording: signals, timers, priority, limits. */
struct signals {
	int fd; /* for poll() */
	sigset_t before, taken;
	bool deaf;        /* terminal interrupts were ignored at our start */
	sigset_t program; /* blocked in started programs: as at our start */
	struct sigaction child_before;
	int nice_before;
	struct itimerval
		timers[3]; /* ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF, for the first program */
	struct rlimit files_before, memory_before; /* raised for us as far as permitted */
	bool started; /* a program was started: timers are its own, and limits no longer matter */
};
struct kin_error *signals_open(struct signals *s) __attribute__((warn_unused_result));
/* For a thread of a process that handles its signals itself: takes only signals about started
 * programs, which have `program` blocked. */
struct kin_error *signals_open_few(struct signals *s, const sigset_t *program)
	__attribute__((warn_unused_result));
void signals_close(struct signals *s); /* restores everything */

struct signal_seen {
	int number;
	bool from_terminal; /* from the terminal, so all processes in the foreground got it */
	bool ours;          /* meant for this process, or sent by the kernel about a program */
	pid_t sender;
};
/* Raises our priority if permitted: a slow recorder loses samples. Started programs keep theirs. */
void signals_hurry(struct signals *s);

bool signals_next(struct signals *s, struct signal_seen *ret); /* false: no more */

struct target {
	pid_t pid;
	int go, failed; /* pipes */
	bool running, ended;
	int status;          /* of wait(), once it ended */
	struct rusage usage; /* of the program and the children it waited for */
};
/* Creates the process, which waits. `argv` is searched in PATH. */
struct kin_error *target_start(char *const *argv, struct signals *s, struct target *ret)
	__attribute__((warn_unused_result));
/* Lets it run. If its program cannot be executed: an error, with ENOENT or another errno. */
struct kin_error *target_go(struct target *t, struct signals *s, const char *name)
	__attribute__((warn_unused_result));
/* Ends it before it runs. */
void target_cancel(struct target *t);
/* Checks whether it has ended. */
void target_look(struct target *t);
/* Whether it is exiting: the kernel takes its time to free much memory. */
bool target_is_leaving(const struct target *t);
/* Waits for its end and passes signals on: for when there is nothing to record. */
void target_wait(struct target *t, struct signals *s);
/* Passes on a signal that is meant for the program. */
void target_pass(const struct target *t, const struct signal_seen *s);

/* Appends all threads of a process. */
struct thread_list {
	VEC(pid_t) at;
};
struct kin_error *target_threads(pid_t pid, struct thread_list *ret)
	__attribute__((warn_unused_result));
/* Removes duplicates: a thread may belong to several of the processes and threads that the user
 * named. */
void target_threads_once(struct thread_list *l);

#endif

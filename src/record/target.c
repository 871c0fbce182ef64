/* target.c - starts the program and hands signals on to it. */
#include "record/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sort.h"

enum { HURRIED = -10 };

/* ---- limits ---- */

/* Saves a limit, which the program will get, and raises that of the recorder as far as
 * permitted. */
static void raise_limit(__rlimit_resource_t what, struct rlimit *before)
{
	struct rlimit most;
	if (getrlimit(what, before))
		*before = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	most = *before;
	most.rlim_cur = most.rlim_max;
	if (before->rlim_cur != before->rlim_max)
		setrlimit(what, &most);
}

static void limits_as_before(const struct signals *s)
{
	setrlimit(RLIMIT_NOFILE, &s->files_before);
	setrlimit(RLIMIT_AS, &s->memory_before);
}

/* ---- signals ---- */

/* Signals that end a process by default, except those for its own errors. */
static bool ends_process(int number)
{
	static const int others[] = { SIGILL,  SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,  SIGKILL,
				      SIGSEGV, SIGSYS,  SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP,
				      SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH };
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (number == others[i])
			return false;
	return true;
}

static void choose_ends(struct signals *s)
{
	for (int number = 1; number <= SIGRTMAX; number++) {
		struct sigaction a;
		if (!ends_process(number) || sigaction(number, NULL, &a))
			continue;
		bool ignored = a.sa_handler == SIG_IGN;
		if (!ignored || number == SIGINT) /* delivered while blocked */
			sigaddset(&s->taken, number);
		s->deaf |= ignored && number == SIGINT;
	}
}

static bool is_set(const struct itimerval *t) { return t->it_value.tv_sec || t->it_value.tv_usec; }

/* Saves and stops timers set before our start. Their signals are meant for the program. */
static void take_timers(struct signals *s)
{
	static const struct itimerval none;
	for (size_t i = 0; i < ARRAY_LEN(s->timers); i++)
		if (!is_set(&s->timers[i]) && setitimer((__itimer_which_t)i, &none, &s->timers[i]))
			s->timers[i] = none;
}

static void give_timers(const struct signals *s)
{
	for (size_t i = 0; i < ARRAY_LEN(s->timers); i++)
		if (is_set(&s->timers[i]))
			setitimer((__itimer_which_t)i, &s->timers[i], NULL);
}

static struct kin_error *open_signals(struct signals *s, bool ends)
{
	s->nice_before = getpriority(PRIO_PROCESS, 0);
	s->deaf = s->started = false;
	memset(s->timers, 0, sizeof(s->timers));
	raise_limit(RLIMIT_NOFILE, &s->files_before);
	raise_limit(RLIMIT_AS, &s->memory_before);
	sigemptyset(&s->taken);
	sigaddset(&s->taken, SIGCHLD);
	sigaddset(&s->taken, SIGXFSZ); /* a refused write is then only an error */
	if (ends)
		choose_ends(s);
	/* wait() does not work while SIGCHLD is ignored. */
	struct sigaction ordinary = { .sa_handler = SIG_DFL };
	sigaction(SIGCHLD, &ordinary, &s->child_before);
	pthread_sigmask(SIG_BLOCK, &s->taken, &s->before);
	s->program = s->before;
	s->fd = signalfd(-1, &s->taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd >= 0)
		return NULL;
	struct kin_error *err = err_os(errno, "signalfd");
	signals_close(s);
	return err;
}

void signals_close(struct signals *s)
{
	struct signal_seen seen;
	while (s->fd >= 0 && s->started && signals_next(s, &seen))
		continue; /* drop signals about the recording that is over */
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	sigaction(SIGCHLD, &s->child_before, NULL);
	if (!s->started)
		limits_as_before(s);
	give_timers(s);
	pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

struct kin_error *signals_open(struct signals *s) { return open_signals(s, true); }

struct kin_error *signals_open_few(struct signals *s, const sigset_t *program)
{
	struct kin_error *err = open_signals(s, false);
	s->program = *program;
	return err;
}

void signals_hurry(struct signals *s)
{
	if (s->nice_before > HURRIED)
		setpriority(PRIO_PROCESS, 0, HURRIED);
}

bool signals_next(struct signals *s, struct signal_seen *ret)
{
	struct signalfd_siginfo i;
	do {
		if (read(s->fd, &i, sizeof(i)) != (ssize_t)sizeof(i))
			return false;
		ret->number = (int)i.ssi_signo;
		bool kernel = i.ssi_code == SI_KERNEL, self = i.ssi_pid == (uint32_t)getpid();
		ret->ours =
			ret->number == SIGCHLD || ret->number == SIGXFSZ ||
			((kernel || self) && (ret->number == SIGPIPE || ret->number == SIGXCPU));
		ret->from_terminal = kernel && (ret->number == SIGINT || ret->number == SIGQUIT ||
						ret->number == SIGHUP);
	} while (s->deaf && ret->number == SIGINT && ret->from_terminal);
	ret->sender = (pid_t)i.ssi_pid;
	return true;
}

/* ---- the program ---- */

static void become(char *const *argv, const struct signals *s, int go, int failed)
{
	char byte;
	ssize_t n;
	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127); /* the recorder is gone */
	sigaction(SIGCHLD, &s->child_before, NULL);
	sigprocmask(SIG_SETMASK, &s->program, NULL);
	limits_as_before(s);
	if (s->nice_before > HURRIED)
		setpriority(PRIO_PROCESS, 0, s->nice_before);
	give_timers(s);
	execvp(argv[0], argv);
	int errnum = errno;
	(void)!write(failed, &errnum, sizeof(errnum));
	_exit(127);
}

struct kin_error *target_start(char *const *argv, struct signals *s, struct target *ret)
{
	take_timers(s);
	int go[2], failed[2];
	if (pipe2(go, O_CLOEXEC) < 0)
		return err_os(errno, "pipe");
	if (pipe2(failed, O_CLOEXEC) < 0) {
		int errnum = errno;
		close(go[0]);
		close(go[1]);
		return err_os(errnum, "pipe");
	}
	pid_t pid = fork();
	if (!pid) {
		close(go[1]);
		become(argv, s, go[0], failed[1]);
	}
	int errnum = errno;
	close(go[0]);
	close(failed[1]);
	*ret = (struct target){ .pid = pid, .go = go[1], .failed = failed[0] };
	if (pid > 0)
		return NULL;
	close(go[1]);
	close(failed[0]);
	return err_os(errnum, "fork");
}

struct kin_error *target_go(struct target *t, struct signals *s, const char *name)
{
	int errnum = 0;
	(void)!write(t->go, "", 1);
	close(t->go);
	ssize_t n;
	do
		n = read(t->failed, &errnum, sizeof(errnum));
	while (n < 0 && errno == EINTR);
	close(t->failed);
	t->running = true;
	if (n != (ssize_t)sizeof(errnum)) {
		s->started = true;
		memset(s->timers, 0, sizeof(s->timers));
		return NULL;
	}
	waitpid(t->pid, &t->status, 0);
	t->ended = true;
	return err_os(errnum, *name ? "%s" : "the command '%s'", name);
}

void target_cancel(struct target *t)
{
	close(t->go);
	close(t->failed);
	waitpid(t->pid, &t->status, 0);
	t->ended = true;
}

void target_look(struct target *t)
{
	if (!t->ended && t->pid > 0 && wait4(t->pid, &t->status, WNOHANG, &t->usage) == t->pid)
		t->ended = true;
}

bool target_is_leaving(const struct target *t)
{
	/* proc(5), /proc/PID/stat: "PID (NAME) STATE PPID PGRP SESSION TTY TPGID FLAGS ..." */
	enum { EXITING = 4 }; /* PF_EXITING of the kernel's sched.h */
	char path[64], line[256], state = 'X';
	unsigned flags = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)t->pid);
	FILE *f = fopen(path, "re");
	const char *after = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (after)
		sscanf(after + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags);
	if (f)
		fclose(f);
	return state == 'Z' || state == 'X' || flags & EXITING;
}

void target_pass(const struct target *t, const struct signal_seen *s)
{
	bool own = s->sender == t->pid; /* a program that signals its parent does not mean itself */
	if (t->running && !t->ended && !s->from_terminal && !own && !s->ours)
		kill(t->pid, s->number);
}

void target_wait(struct target *t, struct signals *s)
{
	while (!t->ended) {
		struct signal_seen seen;
		int flags = fcntl(s->fd, F_GETFL);
		fcntl(s->fd, F_SETFL, flags & ~O_NONBLOCK);
		if (signals_next(s, &seen))
			target_pass(t, &seen);
		fcntl(s->fd, F_SETFL, flags);
		target_look(t);
	}
}

struct kin_error *target_threads(pid_t pid, struct thread_list *ret)
{
	char path[64];
	size_t before = ret->at.n;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *d = opendir(path);
	if (!d)
		return err_os(errno == ENOENT ? ESRCH : errno, "process %d", (int)pid);
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.')
			vec_push(&ret->at, (pid_t)strtol(e->d_name, NULL, 10));
	closedir(d);
	return ret->at.n > before ? NULL : err_os(ESRCH, "process %d", (int)pid);
}

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;
	return ORDER(*x, *y);
}

void target_threads_once(struct thread_list *l)
{
	size_t n = 0;
	if (l->at.n)
		qsort(l->at.at, l->at.n, sizeof(*l->at.at), by_number);
	for (size_t i = 0; i < l->at.n; i++)
		if (!n || l->at.at[n - 1] != l->at.at[i])
			l->at.at[n++] = l->at.at[i];
	l->at.n = n;
}

/* sysfail [-k K] [-a] [-n NUMBER] [-e ERRNO] -- PROG ARGS... - makes the K-th system call of
 * libkinrt fail, or with -a all calls from then on, or those of that number. At the end it prints
 * "calls N" to standard error: the number of calls. Calls that cannot fail, and calls that libkinrt
 * makes for the program (prctl, syscall), are not counted. Exits as PROG does; 3 if PROG died of a
 * signal. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS = 4096 };
static struct task {
	pid_t pid;
	int inside, fail;
	unsigned long low, high; /* libkinrt's code; 0: not seen yet */
} tasks[TASKS];

static struct task *task_of(pid_t pid)
{
	for (int i = 0; i < TASKS; i++)
		if (tasks[i].pid == pid || !tasks[i].pid) {
			tasks[i].pid = pid;
			return &tasks[i];
		}
	exit(2);
}

static void find_code(struct task *t)
{
	char path[64], line[1024], right[8];
	unsigned long low, high;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", t->pid);
	if (!(f = fopen(path, "r")))
		return;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &low, &high, right) == 3 && right[2] == 'x' &&
		    strstr(line, "libkinrt")) {
			t->low = low;
			t->high = high;
		}
	fclose(f);
}

static int is_counted(long n)
{
	switch (n) {
	case SYS_exit:
	case SYS_exit_group:
	case SYS_rt_sigreturn:
	case SYS_clock_gettime: /* these have no way to fail here */
	case SYS_getpid:
	case SYS_getppid:
	case SYS_gettid:
	case SYS_rt_sigprocmask:
	case SYS_munmap:
	case SYS_close:
		return 0;
	default:
		return 1;
	}
}

int main(int argc, char **argv)
{
	long k = 0, n = 0, number = -1;
	int on = 0, err = ENOMEM, o, status, first_status = 0;
	pid_t first;

	while ((o = getopt(argc, argv, "+k:an:e:")) != -1)
		if (o == 'k')
			k = atol(optarg);
		else if (o == 'a')
			on = 1;
		else if (o == 'n')
			number = atol(optarg);
		else if (o == 'e')
			err = atoi(optarg);
		else
			return 2;
	first = fork();
	if (!first) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[optind], argv + optind);
		_exit(127);
	}
	waitpid(first, &status, 0);
	ptrace(PTRACE_SETOPTIONS, first, 0,
	       PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
		       PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC);
	ptrace(PTRACE_SYSCALL, first, 0, 0);
	for (pid_t p; (p = waitpid(-1, &status, __WALL)) > 0;) {
		struct task *t = task_of(p);
		int sig = 0;

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (p == first)
				first_status = status;
			t->pid = -1;
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			struct user_regs_struct g;
			struct __ptrace_syscall_info about;

			ptrace(PTRACE_GETREGS, p, 0, &g);
			ptrace(PTRACE_GET_SYSCALL_INFO, p, sizeof(about), &about);
			t->inside = about.op == PTRACE_SYSCALL_INFO_ENTRY;
			if (t->inside) {
				if (!t->low)
					find_code(t);
				if (g.rip >= t->low && g.rip < t->high &&
				    is_counted((long)g.orig_rax)) {
					n++;
					t->fail = (k && (n == k || (on && n > k))) ||
						  number == (long)g.orig_rax;
				}
				if (t->fail) {
					g.orig_rax = (unsigned long)-1;
					ptrace(PTRACE_SETREGS, p, 0, &g);
				}
			} else if (t->fail) {
				t->fail = 0;
				g.rax = (unsigned long)-(long)err;
				ptrace(PTRACE_SETREGS, p, 0, &g);
			}
		} else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			t->low = t->high = 0;
		} else if (status >> 16) {
			; /* a new task: it stops by itself */
		} else if (WSTOPSIG(status) != SIGSTOP) {
			sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, p, 0, (long)sig);
	}
	fprintf(stderr, "calls %ld\n", n);
	return WIFEXITED(first_status) ? WEXITSTATUS(first_status) : 3;
}

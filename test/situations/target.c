/* target MODE [ARGUMENT] - one program, many situations that are hard for a profiler.
 *
 * Its output, files and status do not depend on time: a profiler that changes any of them has
 * broken it. Each mode calls leaf() a known number of times, hot_a() and hot_b() use
 * a known amount of CPU time: HOT seconds, unless said otherwise. run.py has the numbers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif

#include "../lib/burn.h"
#include "../lib/modes.h"

extern char **environ;
static const double HOT = 0.06; /* seconds */
static volatile unsigned long sink;

BURN(hot_a, i ^ sink)
BURN(hot_b, i * 3 ^ sink)

static void work(void)
{
	hot_a(HOT);
	calls(200000);
	hot_b(HOT);
}

static void tell(void)
{
	puts("ok");
	fflush(stdout);
}

static int ok(void) { return tell(), 0; }

/* ---- ways to end ---- */

NOINLINE int recurse(int depth)
{
	char pad[16];
	int r;
	__asm__ volatile("" : : "r"(pad) : "memory");
	leaf();
	if (depth <= 1) {
		hot_a(HOT);
		return 1;
	}
	r = recurse(depth - 1) + 1;
	__asm__ volatile("" : : "r"(pad) : "memory");
	return r;
}

static int m_stack_overflow(void)
{
	worked();
	setrlimit(RLIMIT_STACK, &(struct rlimit){ 1 << 20, 1 << 20 });
	return recurse(100000000);
}

static void *thread_calls(void *n) { return calls((long)n), NULL; }

static int m_exit_race(void)
{
	pthread_t t;
	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, thread_calls, (void *)1000000000L);
	hot_a(5 * HOT); /* time that no tick met before the end is lost */
	ok();
	exit(6);
}

/* ---- descriptors and limits ---- */

static int m_close_all(void)
{
	int out = dup(1);
	for (int i = 0; i < 1024; i++)
		if (i != out)
			close(i);
	work();
	dprintf(out, "ok\n");
	return 0;
}

static int m_close_late(void)
{
	worked();
	for (int i = 0; i < 1024; i++)
		close(i);
	return 0;
}

/* Messages for standard error must not go into a file that has its number now. */
static int m_fd2(void)
{
	close(2);
	int f = open("data.txt", O_CREAT | O_TRUNC | O_WRONLY, 0644);
	if (f != 2)
		die("fd");
	work();
	if (write(f, "hello\n", 6) != 6)
		die("write");
	if (*arg && chdir(arg))
		die("chdir");
	return ok();
}

/* Only the system calls that it needs to end are still allowed. */
static int m_seccomp(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	worked();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("seccomp");
	return 0;
}

/* ---- processes ---- */

static int forked(void (*leave)(int))
{
	work();
	pid_t p = fork();
	if (!p) {
		hot_b(2 * HOT);
		calls(300000);
		leave(0);
	}
	printf("child %d\n", wait_for(p));
	return 0;
}

static int m_fork(void) { return forked(exit); }
static int m_fork_exit(void) { return forked(_exit); }

static int m_fork_parent_first(void)
{
	if (!fork()) {
		work();
		usleep(100000);
		exit(0);
	}
	hot_a(HOT);
	return ok();
}

static int m_fork_storm(void)
{
	int bad = 0;
	for (int i = 0; i < 300; i++) {
		pid_t p = fork();
		if (!p) {
			calls(1000);
			exit(3);
		}
		bad += wait_for(p) != 0x300;
	}
	hot_a(HOT);
	printf("bad %d\n", bad);
	return 0;
}

static int m_fork_parallel(void)
{
	int bad = 0, status;
	for (int i = 0; i < 100; i++) {
		if (fork())
			continue;
		calls(1000);
		usleep(20000);
		exit(3);
	}
	while (wait(&status) > 0)
		bad += status != 0x300;
	hot_a(HOT);
	printf("bad %d\n", bad);
	return 0;
}

static void *thread_hot(void *ms) { return hot_b((double)(long)ms / 1e3), NULL; }

static int m_fork_threads(void)
{
	pthread_t t[4];
	int bad = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread_hot, (void *)200L);
	for (int i = 0; i < 100; i++) {
		pid_t p = fork();
		if (!p) {
			calls(100);
			exit(3);
		}
		bad += wait_for(p) != 0x300;
	}
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("bad %d\n", bad);
	return 0;
}

static int m_exec_chain(void)
{
	int left = *arg ? atoi(arg) : 10;
	char next[16];
	hot_a(0.02);
	calls(1000);
	if (!left)
		return ok();
	snprintf(next, sizeof(next), "%d", left - 1);
	execv(self, (char *[]){ self, "exec_chain", next, NULL });
	die("exec");
	return 1;
}

static void *executes(void *unused)
{
	(void)unused;
	execv(self, (char *[]){ self, "normal", NULL });
	die("exec");
	return NULL;
}

static int m_exec_thread(void)
{
	pthread_t t;
	pthread_create(&t, NULL, executes, NULL);
	pause();
	return 9;
}

static int m_vfork(void)
{
	int bad = 0;
	for (int i = 0; i < 100; i++) {
		pid_t p = vfork();
		if (!p) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		bad += wait_for(p) != 0;
	}
	work();
	printf("bad %d\n", bad);
	return 0;
}

static int m_vfork_exit(void)
{
	int bad = 0;
	for (int i = 0; i < 200; i++) {
		pid_t p = vfork();
		if (!p) {
			leaf();
			_exit(4);
		}
		bad += wait_for(p) != 0x400;
	}
	hot_a(HOT);
	printf("bad %d\n", bad);
	return 0;
}

static int m_spawn(void)
{
	char *argv[] = { "true", NULL };
	int bad = 0;
	for (int i = 0; i < 100; i++) {
		pid_t p;
		bad += posix_spawn(&p, "/bin/true", NULL, NULL, argv, environ) || wait_for(p);
	}
	work();
	printf("bad %d\n", bad);
	return 0;
}

static int m_daemon(void)
{
	if (daemon(0, 1))
		die("daemon");
	work();
	puts("daemon");
	fflush(stdout);
	usleep(50000);
	return 0;
}

/* ---- threads ---- */

static int m_threads1000(void)
{
	enum { N = 1000 };
	static pthread_t t[N];
	static char made[N];
	pthread_attr_t small;
	int bad = 0;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	for (int i = 0; i < N; i++) {
		made[i] = !pthread_create(&t[i], &small, thread_calls, (void *)1000L);
		bad += !made[i];
	}
	for (int i = 0; i < N; i++)
		if (made[i])
			pthread_join(t[i], NULL);
	hot_a(HOT);
	printf("bad %d\n", bad);
	return 0;
}

static int m_thread_calls(void)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread_calls, (void *)2000000L);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	return ok();
}

static int m_thread_hot(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread_hot, (void *)(long)(2e3 * HOT));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return ok();
}

/* ---- control flow ---- */

static int m_deep(void)
{
	printf("depth %d\n", recurse(1000000));
	return 0;
}

static int m_dlopen(void) /* ARGUMENT: N:LIBRARY */
{
	long n = atol(arg), bad = 0;
	const char *path = strchr(arg, ':') + 1;
	for (long i = 0; i < n; i++) {
		void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		void (*f)(int) = h ? (void (*)(int))dlsym(h, "plug") : NULL;
		bad += !f;
		if (f)
			f(10);
		if (h)
			dlclose(h);
	}
	hot_a(HOT);
	printf("bad %ld\n", bad);
	return 0;
}

static jmp_buf back;
NOINLINE void jump3(void)
{
	leaf();
	longjmp(back, 1);
}
NOINLINE void jump2(void)
{
	jump3();
	thread_sink++;
}
NOINLINE void jump1(void)
{
	jump2();
	thread_sink++;
}

static int m_longjmp(void)
{
	volatile long n = 0;
	for (volatile long i = 0; i < 1000000; i++) {
		if (!setjmp(back))
			jump1();
		else
			n++;
	}
	hot_a(HOT);
	printf("n %ld\n", n);
	return 0;
}

#ifdef __GLIBC__
static ucontext_t home, co[2];
static long switches;

NOINLINE void inner(int me)
{
	leaf();
	swapcontext(&co[me], &co[!me]);
	thread_sink++;
}

static void coroutine(int me)
{
	for (;;) {
		if (++switches > 200000) {
			hot_a(HOT);
			setcontext(&home);
		}
		inner(me);
	}
}

static int m_coroutines(void)
{
	static char stack[2][65536];
	for (int i = 0; i < 2; i++) {
		getcontext(&co[i]);
		co[i].uc_stack.ss_sp = stack[i];
		co[i].uc_stack.ss_size = sizeof(stack[i]);
		makecontext(&co[i], (void (*)(void))coroutine, 1, i);
	}
	swapcontext(&home, &co[0]);
	printf("switches %ld\n", switches);
	return 0;
}
#else
static int m_coroutines(void) { return 98; }
#endif

/* ---- signals ---- */

static volatile sig_atomic_t ticks;
static void on_tick(int unused)
{
	(void)unused;
	ticks++;
}

static int m_own_sigprof(void)
{
	struct sigaction a = { .sa_handler = on_tick };
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } };
	sigaction(SIGPROF, &a, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	work();
	work();
	printf("ticks %s\n", ticks > 5 ? "yes" : "no");
	return 0;
}

static int m_see_sigprof(void)
{
	struct itimerval now;
	struct sigaction a;
	getitimer(ITIMER_PROF, &now);
	sigaction(SIGPROF, NULL, &a);
	work();
	printf("timer %d handler %d\n", now.it_interval.tv_usec != 0, a.sa_handler != SIG_DFL);
	return 0;
}

static int m_sigmask(void)
{
	sigset_t all, pending;
	int n = 0;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	work();
	sigpending(&pending);
	for (int i = 1; i < 65; i++)
		n += sigismember(&pending, i) == 1;
	printf("pending %d\n", n);
	return 0;
}

/* A program that waits for every signal must not see the profiler's. */
static int m_sigwait(void)
{
	struct timespec none = { 0, 0 };
	sigset_t all;
	int n = 0;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	hot_a(HOT);
	while (sigtimedwait(&all, NULL, &none) > 0)
		n++;
	hot_b(HOT);
	while (sigtimedwait(&all, NULL, &none) > 0)
		n++;
	printf("stray %d\n", n);
	return 0;
}

static void on_user(int unused)
{
	(void)unused;
	leaf();
}

static int m_alt_stack(void)
{
	static char stack[16384];
	stack_t s = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction a = { .sa_handler = on_user, .sa_flags = SA_ONSTACK };
	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &a, NULL);
	for (int i = 0; i < 100000; i++)
		raise(SIGUSR1);
	hot_a(HOT);
	return ok();
}

static int ends[2];
static void *burns(void *ms)
{
	hot_b((double)(long)ms / 1e3);
	if (write(ends[1], "x", 1) != 1)
		die("write");
	return NULL;
}

/* The main thread sits in slow calls while another one uses the CPU. */
static int m_eintr(void)
{
	pthread_t t;
	char c;
	long interrupted = 0;
	if (pipe(ends))
		die("pipe");
	struct pollfd p = { ends[0], POLLIN, 0 };
	pthread_create(&t, NULL, burns, (void *)200L);
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		interrupted++;
	interrupted += read(ends[0], &c, 1) != 1;
	pthread_join(t, NULL);
	pthread_create(&t, NULL, burns, (void *)200L);
	struct timespec left = { 0, 300000000 };
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		interrupted++;
	pthread_join(t, NULL);
	printf("interrupted %ld\n", interrupted);
	return 0;
}

/* A little CPU time between short calls that block. */
static int m_eintr_alone(void)
{
	long interrupted = 0;
	for (int i = 0; i < 40; i++) {
		struct timespec d = { 0, 2000000 };
		hot_a(0.004);
		interrupted += poll(NULL, 0, 3) < 0;
		interrupted += nanosleep(&d, NULL) < 0;
	}
	printf("interrupted %ld\n", interrupted);
	return 0;
}

static int m_errno(void) /* ARGUMENT: how many hundred thousand calls */
{
	long bad = 0;
	for (int k = 0; k < atoi(arg); k++) {
		errno = 12345;
		calls(100000);
		bad += errno != 12345;
	}
	printf("bad %ld\n", bad);
	return 0;
}

static const struct mode modes[] = {
	SHARED_MODES,
	M(stack_overflow),
	M(exit_race),
	M(close_all),
	M(close_late),
	M(fd2),
	M(seccomp),
	M(fork),
	M(fork_exit),
	M(fork_storm),
	M(fork_threads),
	M(fork_parallel),
	M(fork_parent_first),
	M(exec_chain),
	M(exec_thread),
	M(vfork),
	M(vfork_exit),
	M(spawn),
	M(daemon),
	M(threads1000),
	M(thread_calls),
	M(thread_hot),
	M(deep),
	M(dlopen),
	M(longjmp),
	M(coroutines),
	M(own_sigprof),
	M(see_sigprof),
	M(sigmask),
	M(sigwait),
	M(alt_stack),
	M(eintr),
	M(eintr_alone),
	M(errno),
};

int main(int argc, char **argv)
{
	return mode_run(modes, sizeof(modes) / sizeof(modes[0]), argc, argv);
}

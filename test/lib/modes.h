/* modes.h - one program, many situations: "target MODE [ARGUMENT]".
 *
 *	static void work(void) { ... }
 *	static void tell(void) { ... }
 *	static const struct mode modes[] = { SHARED_MODES, M(daemon), ... };
 *	int main(int argc, char **argv) { return mode_run(modes, N_MODES, argc, argv); }
 *
 * Calls of leaf() are counted. work() is the program's work in the situations of this file, and
 * tell() prints something when it is done. */
#ifndef LIB_MODES_H
#define LIB_MODES_H

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

struct mode {
	const char *name;
	int (*run)(void); /* returns the exit status */
};

static __thread volatile unsigned long thread_sink;
static char self[4096]; /* the path of this program */
static const char *arg = "";

NOINLINE void leaf(void) { thread_sink++; }

NOINLINE void calls(long n)
{
	while (n--)
		leaf();
}

static void die(const char *what)
{
	perror(what);
	_exit(99);
}

/* As waitpid() says how it ended. */
static int wait_for(pid_t p)
{
	int status = 0;
	if (p < 0 || waitpid(p, &status, 0) != p)
		die("waitpid");
	return status;
}

/* ---- situations ---- */

static void work(void);
static void tell(void);

static int worked(void)
{
	work();
	tell();
	return 0;
}

static int m_normal(void) { return worked(); }
static int m_exit42(void) { worked(), exit(42); }
static int m__exit(void) { worked(), _exit(7); }
static int m_quick_exit(void) { worked(), quick_exit(3); }
static int m_exit_group(void) { return worked(), (int)syscall(SYS_exit_group, 9); }
static int m_abort(void) { worked(), abort(); }
static int m_segv(void) { return worked(), *(volatile int *)8; }
static int m_kill(void) { return worked(), raise(SIGKILL); }
static int m_term(void) { return worked(), raise(SIGTERM); }

static void *late(void *unused)
{
	(void)unused;
	usleep(50000);
	worked();
	exit(5);
}

static int m_main_exits(void)
{
	pthread_t t;
	pthread_create(&t, NULL, late, NULL);
	pthread_exit(NULL);
}

static int m_chdir(void)
{
	work();
	mkdir("sub", 0755);
	if (chdir("sub"))
		die("chdir");
	tell();
	return 0;
}

static int m_chroot(void)
{
	work();
	mkdir("jail", 0755);
	if (chroot("jail") || chdir("/"))
		die("chroot");
	tell();
	return 0;
}

static int m_setuid(void)
{
	work();
	if (setgid(65534) || setuid(65534))
		die("setuid");
	tell();
	return 0;
}

static int m_env_clear(void) { return clearenv(), worked(); }

static int m_fsize(void)
{
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1024, 1024 });
	return worked();
}

static int m_nofile(void)
{
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 3, 3 });
	return worked();
}

static int m_memory(void)
{
	setrlimit(RLIMIT_AS, &(struct rlimit){ 64 << 20, 64 << 20 });
	work();
	for (char *p; (p = malloc(1 << 16));)
		*p = 1;
	for (char *p; (p = malloc(16));)
		*p = 1;
	return worked();
}

static void *forever(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		thread_sink++;
	return unused;
}

static int m_cancel(void)
{
	for (int i = 0; i < 100; i++) {
		pthread_t t;
		pthread_create(&t, NULL, forever, NULL);
		usleep(500);
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	return worked();
}

#define M(name)                                                                                    \
	{                                                                                          \
#name, m_##name                                                                    \
	}
#define SHARED_MODES                                                                               \
	M(normal), M(exit42), M(_exit), M(quick_exit), M(exit_group), M(abort), M(segv), M(kill),  \
		M(term), M(main_exits), M(chdir), M(chroot), M(setuid), M(env_clear), M(fsize),    \
		M(nofile), M(memory), M(cancel)

static int mode_run(const struct mode *modes, size_t n_modes, int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0 || argc < 2)
		return 98;
	if (argc > 2)
		arg = argv[2];
	for (size_t i = 0; i < n_modes; i++)
		if (!strcmp(modes[i].name, argv[1]))
			return modes[i].run();
	return 97;
}

#endif

/* modes.h - one program, many situations: "target MODE [ARGUMENT]".
 *
 *	static const struct mode modes[] = { { "daemon", m_daemon }, ... };
 *	int main(int argc, char **argv) { return mode_run(modes, N_MODES, argc, argv); }
 *
 * leaf() is what is counted. */
#ifndef LIB_MODES_H
#define LIB_MODES_H

#include <stdio.h>
#include <string.h>
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

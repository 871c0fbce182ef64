/* pager.c - holds output back until it exceeds the screen, then starts the pager. */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"

extern char **environ;

struct pager {
	unsigned lines; /* of the screen */
	unsigned seen;  /* newlines so far */
	int status;
	bool decided; /* output is no longer held back, but goes to fd */
	int fd;
	pid_t pid;         /* 0: no pager was started */
	VEC(char) waiting; /* output held back until then */
};

static bool needs_shell(const char *command)
{
	return command[strcspn(command, "|&;<>()$`\\\"'*?[#~=%!{}")];
}

static pid_t spawn(char **argv, int input)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t defaults;
	pid_t pid = 0;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGQUIT);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	if (posix_spawnp(&pid, argv[0], &files, &attr, argv, environ))
		pid = 0;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return pid;
}

/* Starts a command of plain words directly, so that a missing program is noticed. */
static pid_t spawn_command(const char *command, int input)
{
	char *copy = strdup(command), *save = NULL;
	char *argv[32] = { 0 };
	size_t n = 0;
	if (!copy)
		return 0;
	if (needs_shell(command)) {
		char shell[] = "sh", flag[] = "-c";
		pid_t pid = spawn((char *[]){ shell, flag, copy, NULL }, input);
		free(copy);
		return pid;
	}
	for (char *word = strtok_r(copy, " \t", &save); word && n + 1 < ARRAY_LEN(argv);
	     word = strtok_r(NULL, " \t", &save))
		argv[n++] = word;
	pid_t pid = n ? spawn(argv, input) : 0;
	free(copy);
	return pid;
}

static const char *command_to_use(void)
{
	const char *command = getenv("KIN_PAGER");
	if (!command)
		command = getenv("PAGER");
	return command ? command : "less -FRX";
}

static void start(struct pager *p)
{
	const char *command = command_to_use();
	int pipe_fds[2];

	p->decided = true;
	p->fd = STDOUT_FILENO;
	if (!command[strspn(command, " \t")] || !strcmp(command, "cat") ||
	    pipe2(pipe_fds, O_CLOEXEC))
		return;
	fflush(stdout);
	setenv("LESS", "FRX", 0);          /* shows colours even if less is run by another name */
	setenv("LESSCHARSET", "utf-8", 0); /* containers mostly have no locale */
	p->pid = spawn_command(command, pipe_fds[0]);
	close(pipe_fds[0]);
	if (!p->pid) {
		close(pipe_fds[1]);
		return;
	}
	p->fd = pipe_fds[1];
	/* From here on the keyboard belongs to the pager, and its end is seen as EPIPE. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

static ssize_t write_all(struct pager *p, const char *buf, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(p->fd, buf + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && p->pid && errno == EPIPE) {
			pid_t pid = p->pid;
			while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
				;
			_exit(p->status);
		}
		if (n < 0)
			return -1;
		done += (size_t)n;
	}
	return (ssize_t)size;
}

static ssize_t flush_waiting(struct pager *p)
{
	ssize_t n = write_all(p, p->waiting.at, p->waiting.n);
	vec_free(&p->waiting);
	return n;
}

/* A cookie's write function returns 0, not -1, for an error. */
static ssize_t on_write(void *cookie, const char *buf, size_t size)
{
	struct pager *p = cookie;
	if (!p->decided) {
		for (const char *nl = buf; (nl = memchr(nl, '\n', (size_t)(buf + size - nl))); nl++)
			p->seen++;
		vec_reserve(&p->waiting, size);
		memcpy(p->waiting.at + p->waiting.n, buf, size);
		p->waiting.n += size;
		if (p->seen + 1 < p->lines)
			return (ssize_t)size;
		start(p);
		return flush_waiting(p) < 0 ? 0 : (ssize_t)size;
	}
	return write_all(p, buf, size) < 0 ? 0 : (ssize_t)size;
}

static int on_close(void *cookie)
{
	struct pager *p = cookie;
	int status = 0;
	if (!p->decided) { /* the output fits the screen */
		p->fd = STDOUT_FILENO;
		status = flush_waiting(p) < 0 ? -1 : 0;
	}
	if (p->pid)
		close(p->fd);
	return status;
}

FILE *pager_open(unsigned lines, int status, struct pager **ret)
{
	struct pager *p = xalloc(sizeof(*p));
	p->lines = lines;
	p->status = status;
	FILE *stream = fopencookie(p, "w",
				   (cookie_io_functions_t){ .write = on_write, .close = on_close });
	if (!stream) {
		free(p);
		return NULL;
	}
	*ret = p;
	return stream;
}

void pager_wait(struct pager *p)
{
	if (!p)
		return;
	while (p->pid && waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(p);
}

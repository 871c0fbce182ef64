/* timed.c - runs a command and says what it cost.
 *
 *	timed OUT COMMAND [ARG...]
 *
 * sends the command's standard output to OUT and prints one line of its own: user + system CPU
 * time and wall-clock time in microseconds, peak memory in KiB, wait status. A program of its own,
 * because a large parent (an interpreter) would show up in its child's peak memory. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long us(struct timeval t) { return t.tv_sec * 1000000LL + t.tv_usec; }

int main(int argc, char **argv)
{
	struct timespec start, end;
	struct rusage used;
	int status;

	if (argc < 3)
		errx(2, "usage: timed OUT COMMAND [ARG...]");
	clock_gettime(CLOCK_MONOTONIC, &start);
	pid_t pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
		if (fd < 0 || dup2(fd, 1) < 0)
			err(127, "%s", argv[1]);
		close(fd);
		execv(argv[2], argv + 2);
		err(127, "%s", argv[2]);
	}
	if (wait4(pid, &status, 0, &used) < 0)
		err(1, "wait4");
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%lld %lld %ld %d\n", us(used.ru_utime) + us(used.ru_stime),
	       (end.tv_sec - start.tv_sec) * 1000000LL + (end.tv_nsec - start.tv_nsec) / 1000,
	       used.ru_maxrss, status);
	return 0;
}

/* child.c - exit statuses for a child's end, or for the reason why it could not start. */
#include "cli/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

int child_not_run(int errnum) { return errnum == ENOENT ? CHILD_NOT_FOUND : CHILD_NOT_EXECUTABLE; }

void child_ended(void) { signal(SIGPIPE, SIG_IGN); }

int child_end_as(int wait_status)
{
	if (!WIFSIGNALED(wait_status))
		return WEXITSTATUS(wait_status);

	int number = WTERMSIG(wait_status);
	struct rlimit none = { 0, 0 };
	sigset_t set;
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	return 128 + number;
}

/* child.c - exit statuses for a child's end, or for the reason why it could not start. */
#include "cli/child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

int child_not_run(int errnum) { return errnum == ENOENT ? CHILD_NOT_FOUND : CHILD_NOT_EXECUTABLE; }

static bool is_folder(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

char *child_remedy(int errnum, const char *program)
{
	bool is_path = strchr(program, '/'), is_here = !access(program, F_OK);
	if (is_path && is_folder(program))
		return xprintf(": it is a directory");
	if (errnum == ENOENT && !is_path && is_here && !access(program, X_OK) &&
	    !is_folder(program))
		return xprintf(": ./%s is here", program);
	if (errnum == ENOENT && is_path && is_here)
		return xprintf(
			": it is here, but not what it names as its interpreter (head -1 of a "
			"script, readelf -l of a program)");
	if (errnum == EACCES && is_path && is_here && access(program, X_OK))
		return xprintf(": it is not executable: chmod +x, or its interpreter before it");
	return xprintf("%s", "");
}

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

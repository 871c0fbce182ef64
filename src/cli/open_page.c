/* open_page.c - finds what shows a page, and starts it. */
#include "cli/open_page.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/err.h"
#include "cli/message.h"

extern char **environ;

enum { MAX_WORDS = 32 };

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value;
}

/* With a display, it has a session of its own and no terminal, so that it outlives ours. */
static pid_t start(char **argv, bool has_display)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	pid_t pid = 0;

	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	for (int fd = STDIN_FILENO; has_display && fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (has_display)
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	if (posix_spawnp(&pid, argv[0], &files, &attr, argv, environ))
		pid = 0;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return pid;
}

/* Starts a command of plain words; "%s" in one stands for the page, which otherwise is the last. */
static pid_t start_command(char *words, const char *page, bool has_display)
{
	char *argv[MAX_WORDS + 2] = { 0 }, *save = NULL, *made[MAX_WORDS] = { 0 };
	bool has_page = false;
	size_t n = 0;
	for (char *word = strtok_r(words, " \t", &save); word && n < MAX_WORDS;
	     word = strtok_r(NULL, " \t", &save)) {
		char *place = strstr(word, "%s");
		has_page |= place != NULL;
		if (place)
			made[n] = xprintf("%.*s%s%s", (int)(place - word), word, page, place + 2);
		argv[n] = place ? made[n] : word;
		n++;
	}
	char *last = xprintf("%s", page);
	if (!has_page)
		argv[n] = last;
	pid_t pid = n ? start(argv, has_display) : 0;
	free(last);
	for (size_t i = 0; i < n; i++)
		free(made[i]);
	return pid;
}

/* $BROWSER may have several commands, separated by colons: the first that can be started. */
static pid_t start_one(const char *browsers, const char *page, bool has_display)
{
	char *copy = xprintf("%s", browsers), *save = NULL;
	pid_t pid = 0;
	for (char *c = strtok_r(copy, ":", &save); c && !pid; c = strtok_r(NULL, ":", &save))
		pid = start_command(c, page, has_display);
	free(copy);
	return pid;
}

void open_page(const char *command, const char *path)
{
	bool has_display = is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
	bool has_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	const char *browser = is_set("BROWSER") ? getenv("BROWSER") : "xdg-open";
	if (is_set("CI") || !(has_display || (is_set("BROWSER") && has_terminal))) {
		message(command, "%s: not opened: there is no display here", path);
		return;
	}
	char *whole = realpath(path, NULL);
	pid_t pid = start_one(browser, whole ? whole : path, has_display);
	free(whole);
	if (!pid)
		message(command, "%s: not opened: %s", path,
			is_set("BROWSER") ? "what $BROWSER names cannot be started"
					  : "xdg-open is not installed, and $BROWSER not set");
	else if (!has_display)
		waitpid(pid, NULL, 0);
	else
		message(command, "%s: opened by %s", path, browser);
}

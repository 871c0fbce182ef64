/* content.c - recognises programs and profiles by their first bytes and by their names. */
#include "cli/content.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/suggest.h"

/* How profiles begin: gmon.out, .kin, perf.data of either byte order. */
static bool begins_profile(const char head[8])
{
	static const struct {
		const char *magic;
		size_t size;
	} known[] = {
		{ "gmon", 4 },
		{ "\x89\0KINF\r\n", 8 },
		{ "PERFILE2", 8 },
		{ "2ELIFREP", 8 },
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!memcmp(head, known[i].magic, known[i].size))
			return true;
	return false;
}

static enum content kind_of(int fd)
{
	struct stat st;
	char head[8] = { 0 };
	if (fstat(fd, &st))
		return CONTENT_NONE;
	if (S_ISDIR(st.st_mode))
		return CONTENT_FOLDER;
	if (!S_ISREG(st.st_mode))
		return CONTENT_NONE;
	if (pread(fd, head, sizeof(head), 0) < 4)
		return CONTENT_OTHER;
	if (!memcmp(head, "\177ELF", 4))
		return CONTENT_PROGRAM;
	return begins_profile(head) ? CONTENT_PROFILE : CONTENT_OTHER;
}

enum content content_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return CONTENT_NONE;
	enum content kind = kind_of(fd);
	close(fd);
	return kind;
}

bool content_is_piped(void)
{
	struct stat st;
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	if (fstat(p.fd, &st) || !S_ISFIFO(st.st_mode))
		return false;
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		continue;
	return p.revents & POLLIN; /* not only closed */
}

static const char *const endings[] = { ".kin", ".data", ".folded", ".collapsed" };

bool content_nearly_named_profile(const char *path)
{
	const char *dot = strrchr(path, '.');
	for (size_t i = 0; dot && i < ARRAY_LEN(endings); i++)
		if (suggest_is_near(dot, strlen(dot), endings[i], strlen(endings[i]), 2))
			return true;
	return false;
}

bool content_named_profile(const char *path)
{
	const char *slash = strrchr(path, '/');
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		size_t n = strlen(path), m = strlen(endings[i]);
		if (n > m && !strcmp(path + n - m, endings[i]))
			return true;
	}
	return !strncmp(slash ? slash + 1 : path, "gmon.", 5);
}

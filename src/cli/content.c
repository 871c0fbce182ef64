#include "cli/content.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum content kind_of(int fd)
{
	struct stat st;
	char head[4];
	if (fstat(fd, &st))
		return CONTENT_NONE;
	if (S_ISDIR(st.st_mode))
		return CONTENT_FOLDER;
	if (!S_ISREG(st.st_mode))
		return CONTENT_NONE;
	if (pread(fd, head, sizeof(head), 0) != sizeof(head))
		return CONTENT_OTHER;
	if (!memcmp(head, "\177ELF", sizeof(head)))
		return CONTENT_PROGRAM;
	return memcmp(head, "gmon", sizeof(head)) ? CONTENT_OTHER : CONTENT_PROFILE;
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

bool content_named_profile(const char *path)
{
	const char *slash = strrchr(path, '/');
	return !strncmp(slash ? slash + 1 : path, "gmon.", 5);
}

#include "cli/content.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum content kind_of(int fd)
{
	struct stat st;
	char head[4];
	static const char kin[] = { (char)0x89, 0, 'K', 'I' }; /* kin/format.h */
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
	bool profile = !memcmp(head, "gmon", sizeof(head)) || !memcmp(head, kin, sizeof(head));
	return profile ? CONTENT_PROFILE : CONTENT_OTHER;
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
	static const char *const endings[] = { ".kin", ".folded", ".collapsed" };
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		size_t n = strlen(path), m = strlen(endings[i]);
		if (n > m && !strcmp(path + n - m, endings[i]))
			return true;
	}
	return !strncmp(slash ? slash + 1 : path, "gmon.", 5);
}

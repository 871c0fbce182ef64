/* content.c - recognises programs and profiles by their first bytes and names. */
#include "cli/content.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/suggest.h"
#include "kin/kin.h"

/* zstd packs blocks, and a part of a block cannot be unpacked, so more bytes are needed. */
static const struct kin_format *format_of_packed(int fd)
{
	enum { HEAD = 256 << 10 };
	uint8_t *head = xalloc(HEAD);
	ssize_t n = pread(fd, head, HEAD, 0);
	const struct kin_format *format = n > 0 ? kin_format_guess(head, (size_t)n) : NULL;
	free(head);
	return format;
}

/* *format: NULL unless it is a profile. */
static enum content kind_of(int fd, const struct kin_format **format)
{
	struct stat st;
	char head[4096];
	if (fstat(fd, &st))
		return CONTENT_NONE;
	if (S_ISDIR(st.st_mode))
		return CONTENT_FOLDER;
	if (!S_ISREG(st.st_mode))
		return CONTENT_NONE;
	ssize_t n = pread(fd, head, sizeof(head), 0);
	if (n < 4)
		return CONTENT_OTHER;
	if (!memcmp(head, "\177ELF", 4))
		return CONTENT_PROGRAM;
	bool zstd = !memcmp(head, "\x28\xb5\x2f\xfd", 4);
	*format = zstd ? format_of_packed(fd) : kin_format_guess(head, (size_t)n);
	return *format ? CONTENT_PROFILE : CONTENT_OTHER;
}

static enum content look(const char *path, const struct kin_format **format)
{
	if ((*format = kin_format_of_name(path)))
		return CONTENT_PROFILE;
	if (file_is_fifo(path))
		return CONTENT_NONE;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return CONTENT_NONE;
	enum content kind = kind_of(fd, format);
	close(fd);
	return kind;
}

enum content content_of(const char *path)
{
	const struct kin_format *format;
	return look(path, &format);
}

const struct kin_format *content_format(const char *path)
{
	const struct kin_format *format;
	look(path, &format);
	return format;
}

bool content_is_piped(void)
{
	struct stat st;
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	if (fstat(p.fd, &st) || !S_ISFIFO(st.st_mode))
		return false;
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		continue;
	return p.revents & POLLIN; /* not only closed: there is data */
}

/* Whether of(path, ending) holds for any ending of a format that kin reads. */
static bool any_ending(const char *path, bool (*of)(const char *path, const char *ending))
{
	const struct kin_format *f;
	for (size_t i = 0; (f = kin_format_at(i)); i++)
		for (size_t k = 0; f->is_read && f->endings && f->endings[k]; k++)
			if (of(path, f->endings[k]))
				return true;
	return false;
}

static bool nearly_ends_in(const char *path, const char *ending)
{
	const char *dot = strrchr(path, '.');
	return dot && suggest_is_near(dot, strlen(dot), ending, strlen(ending), 2);
}

static bool ends_in(const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);
	return n > m && !strcmp(path + n - m, ending);
}

bool content_nearly_named_profile(const char *path) { return any_ending(path, nearly_ends_in); }

bool content_named_profile(const char *path)
{
	return any_ending(path, ends_in) || !strncmp(base_name(path), "gmon.", 5);
}

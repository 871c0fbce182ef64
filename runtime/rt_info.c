/* rt_info.c - KINF_INFO: facts about the process, as text. */
#include "rt.h"

#include <fcntl.h>
#include <sys/utsname.h>

static void info_line(struct text *t, const char *key, const char *value)
{
	text_add(t, key);
	text_add(t, "=");
	text_add(t, value);
	text_add(t, "\n");
}

/* The command line, arguments separated by blanks. Bytes that would break the line become blanks,
 * too. */
static void info_command(struct text *t)
{
	char buf[512];
	long fd = SYS4(openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : SYS3(read, fd, buf, sizeof(buf));

	if (fd >= 0)
		SYS1(close, fd);
	if (n <= 0)
		return;
	if (!buf[n - 1])
		n--;
	text_add(t, "command=");
	for (long i = 0; i < n; i++)
		text_bytes(t, (unsigned char)buf[i] < ' ' ? " " : buf + i, 1);
	text_add(t, "\n");
}

void rt_info_start(void)
{
	enum { SIZE = 3 * 4096 };
	struct kinf_block *b = rt_block(KINF_INFO, SIZE, 0);
	struct utsname host;
	struct text t;

	if (!b)
		return;
	t = (struct text){ .at = (char *)b->payload, .size = SIZE };
	info_line(&t, "writer", "libkinrt " KIN_VERSION);
	info_line(&t, "exe", rt.exe);
	info_line(&t, "cwd", rt.cwd);
	info_command(&t);
	if (!SYS1(uname, &host))
		info_line(&t, "host", host.nodename);
	info_line(&t, "options", rt.options.text);
	b->used = t.used;
	rt.info_block = b;
}

void rt_info(const char *line)
{
	struct kinf_block *b = rt.info_block;
	size_t n = text_size(line);

	if (!b || n > b->size - sizeof(*b) - b->used) {
		b = rt_block(KINF_INFO, 4096 - sizeof(*b), 0);
		if (!b)
			return;
		b->used = 0;
		rt.info_block = b;
	}
	copy_bytes(b->payload + b->used, line, n);
	__atomic_store_n(&b->used, b->used + n, __ATOMIC_RELEASE);
}

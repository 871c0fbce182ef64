/* markers.c - both ends of the socket through which moments are named. */
#include "record/markers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

struct markers {
	int fd;
};

enum { MESSAGE = MARKER_NAME + 32 };

/* The address of a socket without a file begins with a NUL. */
static socklen_t address_of(const char *name, struct sockaddr_un *ret)
{
	size_t n = strlen(name);

	if (n > sizeof(ret->sun_path) - 1)
		n = sizeof(ret->sun_path) - 1;
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret->sun_path + 1, name, n);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

bool marker_name(const char *text, char ret[MARKER_NAME])
{
	size_t n = 0;

	text += strspn(text, " \t\r\n");
	for (; *text && n + 1 < MARKER_NAME; text++)
		ret[n++] = *text == '\n' || *text == '\r' || *text == '\t' ? ' ' : *text;
	if ((*text & 0xc0) == 0x80) { /* do not keep a partial UTF-8 character */
		while (n && (ret[n - 1] & 0xc0) == 0x80)
			n--;
		n -= n > 0;
	}
	while (n && ret[n - 1] == ' ')
		n--;
	ret[n] = '\0';
	return n;
}

/* ---- the recorder ---- */

struct kin_error *markers_open(struct markers **ret)
{
	char name[64];
	struct sockaddr_un address;
	int yes = 1, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(name, sizeof(name), "kin-markers-%d", (int)getpid());
	socklen_t n = address_of(name, &address);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) ||
	    setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes))) {
		int errnum = errno;
		if (fd >= 0)
			close(fd);
		return err_os(errnum, "a socket for markers");
	}
	setenv(MARKERS_VARIABLE, name, 1);
	struct markers *m = xalloc(sizeof(*m));
	m->fd = fd;
	*ret = m;
	return NULL;
}

void markers_free(struct markers *m)
{
	if (!m)
		return;
	close(m->fd);
	free(m);
}

int markers_fd(const struct markers *m) { return m->fd; }

/* Whether the sender may set markers here: root and our own user may. */
static bool is_ours(struct msghdr *h)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		struct ucred who;
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&who, CMSG_DATA(c), sizeof(who));
		return !who.uid || who.uid == geteuid();
	}
	return false;
}

static bool read_message(const char *text, uint64_t now_ns, struct named_moment *ret)
{
	const uint64_t late_ns = 10000000000;
	char *name;

	ret->time_ns = strtoull(text, &name, 10);
	if (*name != ' ' || ret->time_ns > now_ns || ret->time_ns + late_ns < now_ns)
		ret->time_ns = now_ns;
	return marker_name(name, ret->name);
}

bool markers_next(struct markers *m, uint64_t now_ns, struct named_moment *ret)
{
	for (;;) {
		char text[MESSAGE + 1];
		_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
		struct iovec part = { text, MESSAGE };
		struct msghdr h = { .msg_iov = &part,
				    .msg_iovlen = 1,
				    .msg_control = control,
				    .msg_controllen = sizeof(control) };
		ssize_t n = recvmsg(m->fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text[n] = '\0';
		if (is_ours(&h) && read_message(text, now_ns, ret))
			return true;
	}
}

/* ---- the sender ---- */

static struct kin_error *not_sent(int errnum, pid_t recorder)
{
	if (errnum != ECONNREFUSED && errnum != ENOENT)
		return err_os(errnum, "naming a moment");
	if (recorder)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "process %d is no recorder that listens: kin record --mark does",
			       (int)recorder);
	return err_new(KIN_ERROR_UNSUPPORTED, "the recording has ended");
}

struct kin_error *markers_send(const char *name, pid_t recorder)
{
	uint64_t now = clock_now_ns();
	char own[64], line[MARKER_NAME], text[MESSAGE];
	const char *to = recorder ? own : getenv(MARKERS_VARIABLE);
	struct sockaddr_un address;

	snprintf(own, sizeof(own), "kin-markers-%d", (int)recorder);
	if (!marker_name(name, line))
		return err_new(KIN_ERROR_USAGE, "a marker needs a name");
	if (!to || !*to)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "nothing is recorded here: kin record --mark COMMAND starts what "
			       "can be marked, -p names a recorder");
	int length = snprintf(text, sizeof(text), "%llu %s", (unsigned long long)now, line);
	socklen_t n = address_of(to, &address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), errnum = 0;
	if (fd < 0 || sendto(fd, text, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT,
			     (struct sockaddr *)&address, n) < 0)
		errnum = errno;
	if (fd >= 0)
		close(fd);
	return errnum ? not_sent(errnum, recorder) : NULL;
}

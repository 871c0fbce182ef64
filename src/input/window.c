/* window.c - moves the window on when its bytes run short. */
#include "input/window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

enum { SIZE = 1 << 18 }; /* small enough for a core's cache */

struct window window_of(struct bytes all) { return (struct window){ .b = all, .fd = -1 }; }

bool window_open(struct window *w, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) {
		close(fd);
		return false;
	}
	*w = (struct window){ .fd = fd, .ahead = (uint64_t)st.st_size };
	w->cap = min_u64(w->ahead, SIZE);
	w->buffer = xrealloc(NULL, w->cap, 1);
	w->b = bytes_of(path, w->buffer, 0);
	return true;
}

void window_close(struct window *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (!w->room)
		free(w->buffer);
	*w = (struct window){ .fd = -1 };
}

/* Moves unread bytes to the front of a buffer of that size, which becomes the window's. */
static void move_to(struct window *w, uint8_t *buffer, size_t cap)
{
	size_t left = bytes_left(&w->b);

	w->behind += (uint64_t)(w->b.pos - w->b.start);
	if (left)
		memmove(buffer, w->b.pos, left);
	w->buffer = buffer;
	w->cap = cap;
	w->b.start = w->b.pos = buffer;
	w->b.end = buffer + left;
}

/* Makes room for n bytes, counted from the first unread one. */
static void make_room(struct window *w, size_t n)
{
	uint8_t *old = w->room ? NULL : w->buffer, *buffer = w->buffer;
	size_t cap = w->cap;

	if (w->room)
		buffer = w->room->take(w->room->arg, n, &cap);
	else if (n > cap)
		buffer = xrealloc(NULL, cap = n, 1);
	move_to(w, buffer, cap);
	if (buffer != old)
		free(old);
}

void window_use_room(struct window *w, const struct window_room *room)
{
	uint8_t *own = w->room ? NULL : w->buffer;
	size_t n = bytes_left(&w->b), cap = n > SIZE ? n : SIZE;

	if (w->fd < 0 || w->room == room)
		return;
	w->room = room;
	if (room)
		make_room(w, n);
	else
		move_to(w, xrealloc(NULL, cap, 1), cap);
	free(own);
}

size_t window_need(struct window *w, size_t n)
{
	if (bytes_left(&w->b) >= n || !w->ahead || w->b.failed)
		return bytes_left(&w->b);
	make_room(w, n);
	while (w->ahead && bytes_left(&w->b) < n) {
		size_t at = bytes_left(&w->b);
		ssize_t got = read(w->fd, w->buffer + at, min_u64(w->cap - at, w->ahead));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			w->errnum = errno;
		if (got <= 0) { /* or the file was truncated meanwhile */
			w->ahead = 0;
			break;
		}
		w->b.end += got;
		w->ahead -= (uint64_t)got;
	}
	return bytes_left(&w->b);
}

bool window_seek(struct window *w, uint64_t offset)
{
	uint64_t start = w->behind, end = start + (uint64_t)(w->b.end - w->b.start);
	bool beyond = offset > end + w->ahead;

	if (beyond)
		offset = end + w->ahead;
	w->b.failed = false;
	if (offset >= start && offset <= end) {
		w->b.pos = w->b.start + (offset - start);
		return !beyond;
	}
	if (lseek(w->fd, (off_t)offset, SEEK_SET) < 0) {
		w->errnum = errno;
		w->b.pos = w->b.end;
		w->ahead = 0;
		return false;
	}
	w->ahead = end + w->ahead - offset;
	w->behind = offset;
	w->b.start = w->b.pos = w->b.end = w->buffer;
	return !beyond;
}

struct kin_error *window_error(const struct window *w)
{
	return w->errnum ? err_os(w->errnum, "reading %s", w->b.name) : NULL;
}

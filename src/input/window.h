/* window.h - reads a file piece by piece through a struct bytes, so that a large file is never in
 * memory as a whole, and holes take no memory.
 *
 *	while (window_need(&w, sizeof_record) >= sizeof_record)
 *		... = bytes_u32(&w.b); ... */
#ifndef INPUT_WINDOW_H
#define INPUT_WINDOW_H

#include "base/base.h"
#include "base/bytes.h"

struct kin_error;

struct window {
	struct bytes b;  /* the part in memory: parse it, but not beyond its end */
	uint64_t behind; /* bytes of the file before b.start */
	uint64_t ahead;  /* bytes of the file after b.end */
	int fd;          /* -1: nothing more to read */
	int errnum;      /* why reading stopped early, or 0 */
	uint8_t *buffer; /* owned, unless it belongs to `room`; or NULL */
	size_t cap;
	const struct window_room *room; /* borrowed; NULL: memory of its own */
};

/* Memory provided by the caller, who keeps the bytes that were read: the window does not move
 * them. */
struct window_room {
	/* Room for n bytes or more; sets *cap to its size. May be the room given before, if the
	 * caller keeps nothing in it except bytes that the window has not passed yet. */
	uint8_t *(*take)(void *arg, size_t n, size_t *cap);
	void *arg;
};

struct window window_of(struct bytes all);
/* Opens a regular file. False if it is not one or cannot be opened: file_read() has the error
 * message. */
bool window_open(struct window *w, const char *path);
void window_close(struct window *w);

/* From now on the window reads into that memory; NULL: into its own again. Invalidates pointers
 * into the window, except those into a room. */
void window_use_room(struct window *w, const struct window_room *room);

/* Makes at least n bytes available at b.pos, if the file has them; returns how many are.
 * Invalidates pointers into the window. */
size_t window_need(struct window *w, size_t n);
/* Moves to an offset of the file; if the file ends before, moves to its end and returns false.
 * Invalidates pointers into the window. */
bool window_seek(struct window *w, uint64_t offset);
/* Bytes from b.pos to the end of the file. */
static inline uint64_t window_left(const struct window *w) { return bytes_left(&w->b) + w->ahead; }
static inline uint64_t window_offset(const struct window *w)
{
	return w->behind + (uint64_t)(w->b.pos - w->b.start);
}
MUST_CHECK struct kin_error *window_error(const struct window *w); /* a failed read; NULL: none */

#endif

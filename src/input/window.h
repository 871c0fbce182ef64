/* window.h - a file read piece by piece through a struct bytes, so that a large one is never in
 * memory as a whole, and one that is mostly a hole takes no more than its data.
 *
 *	while (window_need(&w, sizeof_record) >= sizeof_record)
 *		... = bytes_u32(&w.b); ...
 */
#ifndef INPUT_WINDOW_H
#define INPUT_WINDOW_H

#include "base/base.h"
#include "base/bytes.h"

struct kin_error;

struct window {
	struct bytes b;  /* what is in memory now; parse it, but do not run past the end */
	uint64_t behind; /* bytes of the file before b.start */
	uint64_t ahead;  /* bytes of the file after b.end */
	int fd;          /* -1: nothing more is to be read */
	int errnum;      /* why reading stopped early, or 0 */
	uint8_t *buffer; /* owned, or NULL */
	size_t cap;
};

struct window window_of(struct bytes all);
/* A regular file. False if it is none or cannot be opened: file_read() has the words for that. */
bool window_open(struct window *w, const char *path);
void window_close(struct window *w);

/* Makes at least n bytes available at b.pos if the file has them; returns how many are. Pointers
 * into the window are lost. */
size_t window_need(struct window *w, size_t n);
/* Goes to an offset of the file; false if it ends before, and is then at its end. Pointers into the
 * window are lost. */
bool window_seek(struct window *w, uint64_t offset);
/* Bytes from b.pos to the end of the file. */
static inline uint64_t window_left(const struct window *w) { return bytes_left(&w->b) + w->ahead; }
static inline uint64_t window_offset(const struct window *w)
{
	return w->behind + (uint64_t)(w->b.pos - w->b.start);
}
MUST_CHECK struct kin_error *window_error(const struct window *w); /* a failed read, or NULL */

#endif

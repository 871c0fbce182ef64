/* sink.h - a large buffer before a FILE, for output in many small pieces.
 *
 * Write errors stay in the FILE: test ferror() after the last flush, which sets errno to that of
 * the first failed write. */
#ifndef BASE_SINK_H
#define BASE_SINK_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

struct sink {
	FILE *out;
	int failed; /* errno of the first failed write; 0: none */
	size_t n;
	char buf[1 << 15];
};

static inline void sink_init(struct sink *s, FILE *out)
{
	s->out = out;
	s->failed = 0;
	s->n = 0;
}

static inline void sink_write(struct sink *s, const char *p, size_t n)
{
	if (n && fwrite_unlocked(p, 1, n, s->out) < n && !s->failed)
		s->failed = errno;
}

static inline void sink_flush(struct sink *s)
{
	sink_write(s, s->buf, s->n);
	s->n = 0;
	if (s->failed)
		errno = s->failed;
}

/* At least n <= sizeof(buf) bytes of room at the returned place; add what was used to s->n. */
static inline char *sink_room(struct sink *s, size_t n)
{
	if (sizeof(s->buf) - s->n < n)
		sink_flush(s);
	return s->buf + s->n;
}

static inline void sink_bytes(struct sink *s, const char *p, size_t n)
{
	if (n > sizeof(s->buf)) {
		sink_flush(s);
		sink_write(s, p, n);
		return;
	}
	memcpy(sink_room(s, n), p, n);
	s->n += n;
}

static inline void sink_str(struct sink *s, const char *p) { sink_bytes(s, p, strlen(p)); }

static inline void sink_char(struct sink *s, char c)
{
	*sink_room(s, 1) = c;
	s->n++;
}

/* Writes n blanks, mostly few: as a whole vector of known size, whose excess the next piece
 * overwrites. */
static inline void sink_pad(struct sink *s, size_t n)
{
	enum { FEW = 32 };
	for (; n > FEW; n -= FEW, s->n += FEW)
		memset(sink_room(s, FEW), ' ', FEW);
	memset(sink_room(s, FEW), ' ', FEW);
	s->n += n;
}

#endif

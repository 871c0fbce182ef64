/* backlog.h - a queue of records that were copied out of a kernel's buffer and wait to be read.
 *
 * One thread adds, and another reads what was there when both last held the same lock. Records are
 * in one piece, and stay where they are until they are skipped. */
#ifndef RECORD_BACKLOG_H
#define RECORD_BACKLOG_H

#include "base/base.h"

struct backlog {
	struct backlog_chunk *first, *last;
	struct backlog_chunk *spare; /* chunks that were read: new memory costs a fault per page */
	size_t at;                   /* of the next record, in the first chunk */
	uint64_t added, skipped;     /* bytes, ever */
};

/* Room for a record of up to n bytes, of which `n` are then added; NULL: the chunks of all backlogs
 * that share *n_chunks are `most`, or there is no memory. */
uint8_t *backlog_room(struct backlog *b, size_t n, size_t *n_chunks, size_t most);
void backlog_add(struct backlog *b, size_t n);

/* The next record; there must be one. */
const uint8_t *backlog_next(struct backlog *b);
void backlog_skip(struct backlog *b, size_t n);
void backlog_free(struct backlog *b);

enum { BACKLOG_CHUNK = 256 << 10 }; /* bytes; a record is shorter */

#endif

/* beyond.h - guesses callers beyond the copy of a stack from earlier readings.
 *
 * If a copy is too short, the thread's memory can be read some milliseconds later. By then the
 * thread may have other callers, so one reading says nothing about its sample. But readings come at
 * moments unrelated to what the program does. A frame is identified by its address on the stack and
 * its code. If BEYOND_READINGS readings found the same callers above a frame, and fewer than one in
 * BEYOND_USUAL found others, then other callers are rare, and a sample whose reading found the
 * usual ones most likely has them. */
#ifndef RECORD_BEYOND_H
#define RECORD_BEYOND_H

#include "base/base.h"

enum { BEYOND_READINGS = 128, BEYOND_USUAL = 64 };

struct beyond;
struct beyond *beyond_new(void);
void beyond_free(struct beyond *b); /* NULL is fine */

/* Notes a reading: the callers, up to the outermost, of the frame whose code is at `pc` and whose
 * return address is at `place` on the stack. Readings less than a millisecond apart count once.
 * True if these callers may be used as a guess. */
bool beyond_seen(struct beyond *b, uint64_t place, uint64_t pc, const uint64_t *callers, size_t n,
		 uint64_t now_ns);

#endif

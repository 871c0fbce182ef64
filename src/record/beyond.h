/* beyond.h - callers beyond the copy of a stack: what was seen there, and when that is good enough
 * for a guess.
 *
 * Where a copy ends too early the thread's memory can be read on, some milliseconds later. By then
 * the thread may have come back to other callers, which nothing of the copy tells: one reading says
 * nothing of its sample. But readings come at moments that have nothing to do with what the program
 * does. If above one frame, known by its place on the stack and its code, the same callers were
 * found in BEYOND_READINGS of them, and others in less than one of BEYOND_USUAL, then others are
 * there for so small a part of the time, and a sample whose reading found the usual ones is likely
 * theirs. */
#ifndef RECORD_BEYOND_H
#define RECORD_BEYOND_H

#include "base/base.h"

enum { BEYOND_READINGS = 128, BEYOND_USUAL = 64 };

struct beyond;
struct beyond *beyond_new(void);
void beyond_free(struct beyond *b); /* NULL is fine */

/* Callers were read, all up to the outermost: those of the frame whose code is at `pc`, and whose
 * return address is at `place` on the stack. Readings less than a millisecond apart are one. True
 * if these callers are good for a guess. */
bool beyond_seen(struct beyond *b, uint64_t place, uint64_t pc, const uint64_t *callers, size_t n,
		 uint64_t now_ns);

#endif

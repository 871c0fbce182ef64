/* roots.h - outermost return addresses of the threads of a process.
 *
 * A walk by frame pointers cannot tell whether it reached the thread's start: C libraries have no
 * frame pointers, so it ends in the caller of main, or long before. A complete walk by call-frame
 * information finds the outermost calls. Nearly all samples of a thread have the same ones, except
 * while it starts, in the dynamic linker. */
#ifndef RECORD_ROOTS_H
#define RECORD_ROOTS_H

#include "base/base.h"

struct roots;
struct roots *roots_new(void);
void roots_free(struct roots *r); /* NULL is fine */

/* Whether another walk should be spent on this thread, after a sample whose stack has none of the
 * known calls: always at first, later for each such sample whose number is a power of two. */
bool roots_want(struct roots *r, uint32_t tid);
/* Learns from the return addresses of a complete stack, leaf first. */
void roots_learn(struct roots *r, const uint64_t *pcs, size_t n);
bool roots_has(const struct roots *r, uint64_t pc);

#endif

/* roots.h - outermost return addresses of the threads of a process.
 *
 * A walk by frame pointers cannot tell whether it reached the thread's start: C libraries have no
 * frame pointers, and it ends in the caller of main, or long before. A complete walk by call-frame
 * information finds the outermost calls. Nearly all samples of a thread have the same ones. While
 * it starts, in the dynamic linker, they are others. */
#ifndef RECORD_ROOTS_H
#define RECORD_ROOTS_H

#include "base/base.h"

struct roots;
struct roots *roots_new(void);
void roots_free(struct roots *r); /* NULL is fine */

/* Whether to spend another walk on this thread, none of whose known calls is on a sample's stack:
 * at first always, later for each sample whose number is a power of two. */
bool roots_want(struct roots *r, uint32_t tid);
/* Learns from the return addresses of a complete stack, leaf first. */
void roots_learn(struct roots *r, const uint64_t *pcs, size_t n);
bool roots_has(const struct roots *r, uint64_t pc);

#endif

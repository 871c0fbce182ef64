/* roots.h - where the threads of a process began: the return addresses of their outermost calls.
 *
 * A walk by frame pointers does not say whether it came to the thread's beginning: C libraries have
 * none, and it ends in the function that called main, or long before. A walk by call-frame
 * information that did come there knows the outermost calls, which never return as long as the
 * thread lives; so they are good for all its samples. */
#ifndef RECORD_ROOTS_H
#define RECORD_ROOTS_H

#include "base/base.h"

struct roots;
struct roots *roots_new(void);
void roots_free(struct roots *r); /* NULL is fine */

/* Whether it is worth while to find out of this thread; it is not for ever. */
bool roots_want(struct roots *r, uint32_t tid);
/* Return addresses of a complete stack, leaf first. */
void roots_learn(struct roots *r, uint32_t tid, const uint64_t *pcs, size_t n);
bool roots_has(const struct roots *r, uint64_t pc);

#endif

/* outermost.h - functions that stacks begin with, found by their names.
 *
 * Call-frame information marks the outermost frame of a stack, if there is any. C libraries and
 * runtimes without it are known by their names: musl's start of a program and of a thread, by their
 * symbols, and where Go goes on to another stack, by Go's own table. Nothing below such a frame is
 * a caller. Where the kernel starts a program or a dynamic linker is known without a symbol, and
 * where a thread starts from the system call before it.
 *
 * The bytes are not trusted: nothing outside of symbols and strings is read. */
#ifndef UNWIND_OUTERMOST_H
#define UNWIND_OUTERMOST_H

#include "base/vec.h"
#include "unwind/code_file.h"

struct outermost_range {
	uint64_t low, high; /* [low, high): addresses to look up a row for */
	bool overrides;     /* also where there is call-frame information */
};
struct outermost { /* a VEC, in any order, for unwind_table_new() */
	struct outermost_range *at;
	size_t n, cap;
};

/* ret->at is to be freed. */
void outermost_find(const struct code_file *f, struct outermost *ret);

#endif

/* outermost.h - functions that stacks begin with, found by their names.
 *
 * Call-frame information marks the outermost frame of a stack, if there is any. C libraries and
 * runtimes without it are known by their symbols: musl's start of a program and of a thread, and
 * where Go goes on to a system stack. Nothing below such a frame is a caller.
 *
 * The bytes are not trusted: nothing outside of symbols and strings is read. */
#ifndef UNWIND_OUTERMOST_H
#define UNWIND_OUTERMOST_H

#include "base/vec.h"
#include "machine/machine.h"

struct outermost_range {
	uint64_t low, high; /* [low, high): addresses to look up a row for */
	bool overrides;     /* also where there is call-frame information */
};
struct outermost { /* a VEC, by address, for unwind_table_new() */
	struct outermost_range *at;
	size_t n, cap;
};

struct outermost_file { /* of this machine's byte order, and of 64 bits */
	const struct machine *machine;
	const uint8_t *symbols; /* .symtab, else .dynsym; at any address */
	size_t symbols_size;
	const char *strings; /* theirs */
	size_t strings_size;
	/* Copies up to `size` bytes of code at a link-time address; returns how many. */
	size_t (*code)(void *arg, uint64_t addr, uint8_t *ret, size_t size);
	void *arg;
};

/* ret->at is to be freed. */
void outermost_find(const struct outermost_file *f, struct outermost *ret);

#endif

/* program_private.h - declarations shared by programs and frame classes: open files, and the lookup
 * of a frame's address. */
#ifndef SYMBOLIZE_PROGRAM_PRIVATE_H
#define SYMBOLIZE_PROGRAM_PRIVATE_H

#include "symbolize/program.h"

/* Files shared by several programs of one profile. */
struct program_files {
	struct object_file **at;  /* [n], by object; NULL: not opened */
	struct symbols **symbols; /* [n]: all functions, made for the first program that needs them;
				     NULL: not read */
	size_t n;
	struct kallsyms *kernel; /* NULL: not opened */
	int kernel_errnum;       /* of asking which kernel runs, where that failed; 0: it did not */
};

/* Makes room for n objects. */
void program_files_grow(struct program_files *f, size_t n);

/* Whether a frame is a return address. Data without call-frame information marks each caller's
 * address as one, but a signal handler returns to a function's first instruction, which has no call
 * before it. `s`: the functions of the frame's file; NULL: none. */
static inline bool program_is_return(struct object_file *file, const struct symbols *s,
				     const struct frame *f)
{
	if (!(f->flags & FRAME_RETURN) || !f->addr)
		return false;
	symid id = s ? symbols_find(s, f->addr) : NONE;
	return id == NONE || s->at[id].addr != f->addr || object_call_ends_at(file, f->addr);
}

#endif

/* program_private.h - what programs and frame classes share: open files, and how a frame's address
 * is looked up. */
#ifndef SYMBOLIZE_PROGRAM_PRIVATE_H
#define SYMBOLIZE_PROGRAM_PRIVATE_H

#include "symbolize/program.h"

/* What several programs of one profile share. */
struct program_files {
	struct object_file **at;  /* [n], by object; NULL: not opened */
	struct symbols **symbols; /* [n]: all functions, for the first program that wants them;
				   * NULL: not read */
	size_t n;
	struct kallsyms *kernel; /* NULL: not opened */
};

/* Room for so many objects. */
void program_files_grow(struct program_files *f, size_t n);

/* Data without call-frame information takes each caller's address for a return address; what a
 * signal handler returns to is a function's first instruction, with no call before it. `s`: the
 * functions of the frame's file; NULL: there are none. */
static inline bool program_is_return(struct object_file *file, const struct symbols *s,
				     const struct frame *f)
{
	if (!(f->flags & FRAME_RETURN) || !f->addr)
		return false;
	symid id = s ? symbols_find(s, f->addr) : NONE;
	return id == NONE || s->at[id].addr != f->addr || object_call_ends_at(file, f->addr);
}

#endif

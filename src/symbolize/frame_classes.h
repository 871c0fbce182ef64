/* frame_classes.h - classes of frames in the same function, found while the data is read.
 *
 * A view of functions does not distinguish two frames in one function of one object. With one frame
 * standing for its class there are far fewer stacks to keep and to add up. The opened files and
 * their functions are handed on to the profile's programs. */
#ifndef SYMBOLIZE_FRAME_CLASSES_H
#define SYMBOLIZE_FRAME_CLASSES_H

#include "symbolize/program.h"

struct frame_classes_opts {
	const char *debug_dir, *symfs; /* as in program_opts */
	bool inlines;  /* inlined functions will be shown: in objects with debug information each
			  frame is a class of its own */
	bool calls;    /* calls of different functions are classes of their own (tail_calls.h) */
	uint64_t data; /* bytes of the data that will be read; UINT64_MAX: not known */
};

struct frame_classes;

struct frame_classes *frame_classes_new(const struct frame_classes_opts *opts);
void frame_classes_free(struct frame_classes *c); /* NULL is fine */

/* The first frame of the frame's class: same privilege level, same function, same file. `p`: the
 * profile as read so far. Frames must be requested in the order of their numbers, each at most
 * once. */
frameid frame_classes_first(struct frame_classes *c, const struct profile *p, frameid frame);

/* Hands over the opened files, for programs of the finished profile. */
struct program_files *frame_classes_take_files(struct frame_classes *c, const struct profile *p);

#endif

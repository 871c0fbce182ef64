/* frame_classes.h - which frames are in one function, told while the data is read.
 *
 * A view that shows functions sees no difference between two frames in one function of one object.
 * With one frame in place of all of its class there are far fewer stacks to keep and to add up. The
 * files that were opened for that, and their functions, are handed on to the profile's programs. */
#ifndef SYMBOLIZE_FRAME_CLASSES_H
#define SYMBOLIZE_FRAME_CLASSES_H

#include "symbolize/program.h"

struct frame_classes_opts {
	const char *debug_dir, *symfs; /* as in program_opts */
	bool inlines; /* functions inlined will be seen: where there is debug information, which has
		       * them, each frame is a class of its own */
};

struct frame_classes;

struct frame_classes *frame_classes_new(const struct frame_classes_opts *opts);
void frame_classes_free(struct frame_classes *c); /* NULL is fine */

/* The first frame of its class: of the same level of privilege in a function of the same file. `p`:
 * what is there of the profile by now. Frames are asked for in the order of their numbers, each
 * once, but for those that nobody asks for. */
frameid frame_classes_first(struct frame_classes *c, const struct profile *p, frameid frame);

/* The files that were opened, for programs of the finished profile. */
struct program_files *frame_classes_take_files(struct frame_classes *c, const struct profile *p);

#endif

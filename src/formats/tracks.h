/* tracks.h - the samples of each thread and event, for formats that have them apart.
 *
 * Tracks are in the order of threads, then of events; the samples of one as in the data. */
#ifndef FORMATS_TRACKS_H
#define FORMATS_TRACKS_H

#include "base/vec.h"
#include "formats/exported.h"

struct track_sample {
	uint64_t time_ns, weight, count;
	uint32_t stack, cpu;
};

struct track {
	uint32_t thread;
	size_t event; /* of the exported events */
	VEC(struct track_sample) at;
	uint64_t weight; /* of all of them */
};

struct tracks {
	struct track *at; /* [n] */
	size_t n;
	uint64_t first_ns; /* the earliest time of all; UINT64_MAX: samples have no times */
};

struct tracks tracks_of(struct exported *x);
void tracks_done(struct tracks *t);

/* The functions on a stack, the outermost first; *n of them, in `room`, which is reused. */
struct track_path {
	VEC(uint32_t) functions;
	VEC(uint32_t) locations; /* of each of them */
	VEC(const struct kin_line *) lines;
};
void track_path_of(struct exported *x, uint32_t stack, struct track_path *ret);
void track_path_done(struct track_path *p);

#endif

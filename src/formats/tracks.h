/* tracks.h - samples by thread and event, for formats that separate these.
 *
 * Tracks are ordered by thread, then by event; samples within one are as in the data. */
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
	size_t event; /* index of the exported event */
	VEC(struct track_sample) at;
	uint64_t weight; /* of all its samples */
};

struct tracks {
	struct track *at; /* [n] */
	size_t n;
	uint64_t first_ns; /* the earliest time of all samples; UINT64_MAX: samples have no times */
};

struct tracks tracks_of(struct exported *x);
void tracks_done(struct tracks *t);

/* The functions on a stack, outermost first; *n of them, in `room`, which is reused. */
struct track_path {
	VEC(uint32_t) functions;
	VEC(uint32_t) locations; /* the location of each function */
	VEC(const struct kin_line *) lines;
};
void track_path_of(struct exported *x, uint32_t stack, struct track_path *ret);
void track_path_done(struct track_path *p);

/* A JSON member that viewers ignore: the event of a track, for kin's own readers. */
#define TRACK_EVENT "event"

/* The length of THREAD in "THREAD: EVENT", the title of a thread with several events; the whole
 * title if it does not end so; 0 if the thread is not known. `event` may be NULL. */
size_t track_thread_length(const char *title, const char *event);

#endif

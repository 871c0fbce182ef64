/* tail_ways.h - the way from a function that was called to the one that runs, over functions of the
 * same object that ended in a jump.
 *
 * It is searched in the file's code, by jumps from function to function; or it is among the tail
 * calls that a recording keeps (names/kept.h). Functions are numbered: by their place in the
 * symbols, or as the recording keeps them. */
#ifndef SYMBOLIZE_TAIL_WAYS_H
#define SYMBOLIZE_TAIL_WAYS_H

#include "names/kept.h"
#include "profile/profile.h"
#include "symbolize/symbols.h"

struct tail_ways;

struct tail_way {
	const uint64_t *jump; /* [n]: addresses of the jumps; valid until the next search */
	uint32_t n;    /* 0: several ways are possible, or some jump goes to an unknown place; */
	bool is_false; /* or all places are known, and the call does not lead there */
};

/* Whether the file has code, and not too many symbols (SYMBOLS_LARGE). */
bool tail_ways_pay(const struct object_file *file);

/* Both are borrowed; `s`: all functions of the file, exact. */
struct tail_ways *tail_ways_new(struct object_file *file, const struct symbols *s);
struct tail_ways *tail_ways_kept(const struct kept_object *k); /* borrowed, too */
void tail_ways_free(struct tail_ways *w);                      /* NULL is fine */

/* Whether a frame can be that of a function without a name of its own in the data. */
bool tail_ways_has_code(const struct frame *f);
/* The function called right before a return address; NONE: it is not known. */
uint32_t tail_ways_called(const struct tail_ways *w, const struct frame *f);
/* The function of a frame; NONE: it is not known, or nobody called it (a signal's). If it is the
 * one called, nothing is missing. */
uint32_t tail_ways_running(const struct tail_ways *w, const struct frame *f);
/* Where a function of the file starts. */
uint64_t tail_ways_start(const struct tail_ways *w, uint32_t function);
/* From a function called to one that runs. False: they are the same, so nothing is missing. */
bool tail_ways_find(struct tail_ways *w, uint32_t from, uint32_t to, struct tail_way *ret);

#endif

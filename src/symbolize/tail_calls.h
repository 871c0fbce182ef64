/* tail_calls.h - puts back functions that are on no stack because they ended in a jump.
 *
 * A function that ends in a call of another one may jump there: its frame is gone, and the other
 * one returns to its caller. Where the code that called names one function, and the code below is
 * another one's, the way between them is searched in the code (tail_ways.h). If there is one way,
 * the functions on it are put back between the two. If there are several, or some jump goes to an
 * unknown place, none is.
 *
 * A recording that keeps names keeps the ways, too (names/kept.h), and only those count: then
 * reports are the same wherever they are made. */
#ifndef SYMBOLIZE_TAIL_CALLS_H
#define SYMBOLIZE_TAIL_CALLS_H

#include "symbolize/program.h"
#include "symbolize/recorded.h"

struct tail_calls;

/* Shares of the event's time (samples_event), 0..1. */
struct tail_calls_found {
	double put_back; /* on whose stacks functions are put back */
	double unknown;  /* on whose stacks functions are missing, and which is not known */
};

/* Adds the frames to be put back to the profile, and notes in changes[n_stacks] above which stacks.
 * Opens the files that programs will need as well, and leaves them in `files`. NULL: there is
 * nothing to put back. */
struct tail_calls *tail_calls_find(struct profile *p, struct program_files *files,
				   const struct recorded_opts *how, uint16_t event, bool *changes,
				   struct tail_calls_found *found);
void tail_calls_free(struct tail_calls *t); /* NULL is fine */

/* Puts them back above a stack of `changes`: see profile_revise_callers(). */
stackid tail_calls_put_back(const struct tail_calls *t, struct revised_stacks *r, stackid stack,
			    stackid caller);

#endif

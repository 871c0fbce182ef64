/* tail_calls.h - compares calls with the functions that ran: puts back those that are on no stack
 * because they ended in a jump, and cuts stacks above calls that never were.
 *
 * A function that ends in a call of another one may jump there: its frame is gone, and the other
 * one returns to its caller. Where the code that called names one function, and the code below is
 * another one's, the way between them is searched in the code (tail_ways.h). If there is one way,
 * the functions on it are put back between the two. If there are several, or some jump goes to an
 * unknown place, none is.
 *
 * If there is no way, and all of the code that the call leads to is known, it did not make the
 * callee run: the walk went wrong there, as by call-frame information that is wrong. MARK_CUT takes
 * the caller's place. This is not done while recording because it takes symbols: where functions
 * end, and which only pass on. Stacks that kin did not walk are left alone: frame pointers, which
 * the kernel follows, leave out callers that have none.
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
	double cut;      /* whose stacks are cut at a false caller */
};

/* Adds the frames that are needed to the profile, and notes in changes[n_stacks] above which
 * stacks. Opens the files that programs will need as well, and leaves them in `files`. Stacks to be
 * cut count as such in the profile's audit. NULL: there is nothing to correct. */
struct tail_calls *tail_calls_find(struct profile *p, struct program_files *files,
				   const struct recorded_opts *how, uint16_t event, bool *changes,
				   struct tail_calls_found *found);
void tail_calls_free(struct tail_calls *t); /* NULL is fine */

/* What stands above a stack of `changes`: see profile_revise_callers(). */
stackid tail_calls_correct(const struct tail_calls *t, struct revised_stacks *r, stackid stack,
			   stackid caller);

#endif

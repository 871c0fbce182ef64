/* fade.h - a profile of recent samples, whose weights fade with age.
 *
 * Equal samples of a thread are merged, frames are functions, inlined ones too, with their names in
 * the data (so no file needs to be opened), and samples have neither times nor CPUs. Numbers of
 * samples fade like weights, and are correct as sums: a single one may have become 0. */
#ifndef LIVE_FADE_H
#define LIVE_FADE_H

#include "profile/profile.h"
#include "symbolize/names.h"
#include "symbolize/own_code.h"

struct fade_naming {
	struct names *names;
	/* NULL, or whose code it is: names lose their source files, so frames of others' functions
	 * are marked (FRAME_FOREIGN). */
	const struct own_code *own;
	/* Inlined functions are part of the function that they were inlined into: saves decoding
	 * debug information. */
	bool no_inlines;
};

/* The sum of `past` (made by this function, or NULL) with its weights times `keep` (0..1), and
 * `fresh` (or NULL). Samples with negligible weights are dropped, so that the profile does not grow
 * with time. */
struct profile *fade(const struct profile *past, double keep, const struct profile *fresh,
		     const struct fade_naming *how);

/* The same by instruction: a sample has only its innermost frame, without callers and threads, and
 * samples at one address are merged. Objects are the files that ran, so that callers can open them.
 * `past` was made by this function. */
struct profile *fade_code(const struct profile *past, double keep, const struct profile *fresh);

#endif

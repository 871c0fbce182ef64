/* fade.h - what was seen lately: new samples count in full, older ones less and less.
 *
 * A profile in which equal samples of a thread are one, frames are functions (their names are in
 * it: nothing has to be opened to show it), and samples have neither times nor CPUs. Numbers of
 * samples fade like weights, and are right in sum: that of one may have become 0. */
#ifndef LIVE_FADE_H
#define LIVE_FADE_H

#include "profile/profile.h"
#include "symbolize/names.h"

/* `past` (made by this, or NULL) with its weights times `keep` (0..1), and `fresh`. What has become
 * too little to be seen is left out, so that this does not grow with time. */
struct profile *fade(const struct profile *past, double keep, const struct profile *fresh,
		     struct names *names);

/* The same of instructions: samples have the frame that they were taken at, by its address, and
 * neither callers nor threads, so that what was taken at one is one sample. Objects are those that
 * ran, for whoever wants to open them. `past` was made by this. */
struct profile *fade_code(const struct profile *past, double keep, const struct profile *fresh);

#endif

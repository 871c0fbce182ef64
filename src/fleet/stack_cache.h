/* stack_cache.h - what a store has said of stacks, kept for the next time: their ids are made of
 * their contents, so they never change, and most of an hour's were there the hour before.
 *
 * A file for each store in $XDG_CACHE_HOME/kin/stacks, else ~/.cache/kin/stacks, for its user
 * alone, replaced atomically; 48 MiB in all, beyond which those go that were used least recently.
 * Not with KIN_CACHE=off. One that is damaged does not count. */
#ifndef FLEET_STACK_CACHE_H
#define FLEET_STACK_CACHE_H

#include "base/file.h"
#include "fleet/answers.h"
#include "fleet/store_url.h"

struct stack_cache {
	char *path;       /* NULL: nothing is kept */
	struct file file; /* data NULL: there is none that is sound */
	struct bytes stacks;
	size_t n_taken; /* stacks that were wanted and are there */
};

/* Takes names, and the stacks that are among a->sums, into `a`, which has no names yet. */
void stack_cache_open(struct stack_cache *c, const struct store_url *url, struct answers *a);
/* Keeps what `a` has beyond that, if it is much. Best done before the names are made use of. */
void stack_cache_close(struct stack_cache *c, const struct answers *a, bool is_whole);

#endif

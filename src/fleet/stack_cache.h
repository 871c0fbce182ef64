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
	char *path;          /* NULL: nothing is kept */
	struct file file;    /* data NULL: there is none */
	struct bytes stacks; /* of it; empty: there is none that is sound */
	size_t n_taken;      /* stacks that are asked for and are there */
};

/* Takes names and the tree of stacks into `a`, which has neither yet. */
void stack_cache_open(struct stack_cache *c, const struct store_url *url, struct answers *a);
/* Takes the stacks that sums refer to. */
void stack_cache_take(struct stack_cache *c, struct answers *a);
/* Keeps what `a` has beyond that, if it is much, and ends. */
void stack_cache_close(struct stack_cache *c, const struct answers *a, bool is_whole);

#endif

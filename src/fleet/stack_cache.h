/* stack_cache.h - a local cache of a store's stacks. Ids are hashes of the contents, so stacks
 * never change, and most stacks of one hour occurred in the previous hour, too.
 *
 * A file for each store in $XDG_CACHE_HOME/kin/stacks, else ~/.cache/kin/stacks, for its user
 * alone, replaced atomically. Beyond 48 MiB in all, the least recently used are removed. Disabled
 * by KIN_CACHE=off. Damaged files are ignored. */
#ifndef FLEET_STACK_CACHE_H
#define FLEET_STACK_CACHE_H

#include "base/file.h"
#include "fleet/stack_order.h"
#include "fleet/store_url.h"

struct stack_cache {
	char *path;          /* NULL: no cache */
	struct file file;    /* data NULL: there is none */
	struct bytes stacks; /* stacks in the file, not read yet; empty: no valid file */
	size_t n_taken;      /* requested stacks that were in the cache */
};

/* Reads names and the tree of stacks into `a`, which must have neither yet. */
void stack_cache_open(struct stack_cache *c, const struct store_url *url, struct answers *a);
/* Reads the stacks that sums refer to. */
void stack_cache_take(struct stack_cache *c, struct answers *a);
/* Writes the cache anew if `a` has many new stacks, and frees c. The file is in `order`, so a tree
 * that is read from it needs no sorting. is_whole: no shard's data is missing. */
void stack_cache_close(struct stack_cache *c, const struct answers *a,
		       const struct stack_order *order, bool is_whole);

#endif

/* callees.h - finds the callees of a node in a growing tree, each by a key of its own.
 *
 * Most nodes have one or two. A node lists the four callees that were requested last, the latest
 * first. Callees that fell out of a list are in a hash index, which is searched only if the list is
 * full. So a tree whose nodes have few callees needs no index.
 *
 * Nodes are numbered from 0, the root. Their fields lie where their owner keeps them. */
#ifndef BASE_CALLEES_H
#define BASE_CALLEES_H

#include "base/pairs.h"

/* The fields of node 0. Those of node i are i * link_size, or i * key_size, bytes behind them. */
struct callee_fields {
	uint32_t *first; /* in the node's own list; 0: it is empty */
	uint32_t *next;  /* in its caller's list; 0: it is the last one */
	size_t link_size;
	const uint32_t *key;
	size_t key_size;
};

static inline uint32_t *callees_first(const struct callee_fields *f, uint32_t node)
{
	return (uint32_t *)((char *)f->first + node * f->link_size);
}

static inline uint32_t *callees_next(const struct callee_fields *f, uint32_t node)
{
	return (uint32_t *)((char *)f->next + node * f->link_size);
}

static inline uint32_t callees_key(const struct callee_fields *f, uint32_t node)
{
	return *(const uint32_t *)((const char *)f->key + node * f->key_size);
}

enum { CALLEES_LISTED = 4 };

/* Puts a node first in its caller's list; the last one of a full list goes to the index. */
static inline void callees_list(struct pairs *index, const struct callee_fields *f, uint32_t caller,
				uint32_t node)
{
	uint32_t *first = callees_first(f, caller), *last = callees_next(f, node), n = 0;
	*last = *first;
	*first = node;
	for (; *last; last = callees_next(f, *last))
		if (++n == CALLEES_LISTED) {
			pairs_add(index, caller, callees_key(f, *last), *last);
			*last = 0;
			return;
		}
}

/* The callee with that key, which is moved to the front of the list. `next` if there is none: the
 * number of a node that is to be created, and listed. */
static inline uint32_t callees_find(struct pairs *index, const struct callee_fields *f,
				    uint32_t caller, uint32_t key, uint32_t next)
{
	uint32_t *first = callees_first(f, caller), *from = first, n = 0;
	for (uint32_t at = *first; at; from = callees_next(f, at), at = *from, n++)
		if (callees_key(f, at) == key) {
			*from = *callees_next(f, at);
			*callees_next(f, at) = *first;
			*first = at;
			return at;
		}
	if (n < CALLEES_LISTED)
		return next;
	uint32_t id = pairs_add(index, caller, key, next);
	if (id != next)
		callees_list(index, f, caller, id);
	return id;
}

#endif

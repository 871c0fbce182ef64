/* unit_trie.h - the units that BFD 2.40 searches for an address, and their order.
 *
 * BFD keeps the address ranges of units in a trie of the address's bytes. If several units contain
 * an address, the first one in its leaf answers, which depends on the order of insertion. So this
 * trie has the same leaves, with the same contents in the same order. A leaf has room for 16
 * ranges; with one more it is split into 256, down to leaves for one byte. A range that touches or
 * overlaps one of the same unit in a leaf extends that one instead.
 *
 * A range that extends beyond the 256 bytes of a node for single bytes is not entered for the last
 * of these, so no unit has that byte. This is a bug of BFD that shows in its answers. */
#ifndef GNU_UNIT_TRIE_H
#define GNU_UNIT_TRIE_H

#include "base/arena.h"

struct unit_claim {
	uint64_t low, high;
	uint32_t unit;
};

/* Claims may be added while a leaf is in use: they appear in it, unless that overfills it. Then a
 * new leaf replaces it in the trie, and this one stays as it was. */
struct unit_leaf {
	uint32_t n, room; /* room: its limit before it is split, or replaced if it cannot be */
	uint32_t cap;
	struct unit_claim *at;
};

struct unit_trie {
	struct arena arena;
	struct unit_node *root;
	uint64_t work_left; /* claims that may still be visited; beyond it claims are lost */
};

void unit_trie_init(struct unit_trie *t, uint64_t work);
void unit_trie_done(struct unit_trie *t);
void unit_trie_add(struct unit_trie *t, uint32_t unit, uint64_t low, uint64_t high);
/* The leaf for an address; NULL if there is none. The answer holds up to *last. */
const struct unit_leaf *unit_trie_find(const struct unit_trie *t, uint64_t addr, uint64_t *last);

#endif

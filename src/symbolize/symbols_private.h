/* symbols_private.h - what the files that make struct symbols share. */
#ifndef SYMBOLIZE_SYMBOLS_PRIVATE_H
#define SYMBOLIZE_SYMBOLS_PRIVATE_H

#include "base/arena.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "symbolize/place_index.h"

struct placed { /* where a place stands in the object's symbol table */
	uint32_t position;
	symid id;
};

struct symbols_private {
	struct arena arena;
	struct strtab *files; /* interned: equal files are equal pointers */
	const char **display; /* [n], NULL until asked for */
	struct map64
		displays; /* name of a line place (pointer) -> one that has its readable form */
	struct place_index index;
	struct placed *placed; /* function places; by position once that was needed */
	size_t n_placed;
	bool by_position;
	bool all_located;
	VEC(const char *) all_files;
	bool have_files;
};

/* Places without an object, to stand behind all others. */
struct extra_place {
	const char *name; /* raw; lives as long as the symbols */
};

/* All of `parts`, which are consumed, in the order of their bases, as one; bases[i] is added to the
 * addresses of parts[i], so that no two overlap. The extra places get addresses of their own from
 * `low` on, one each, as the last part; with none of either there is nothing to find, but that is
 * no error. `program` of the parts is the one whose object is *the* object; NONE: there is none. */
struct symbols *symbols_join(struct symbols **parts, const uint64_t *bases, size_t n,
			     uint32_t program, const struct extra_place *extra, size_t n_extra,
			     uint64_t low, const struct symbols_opts *opts);

#endif

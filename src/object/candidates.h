/* candidates.h - symbols on their way into a symbol_table: gathered in any order from any number of
 * places, then sorted, and one chosen per address. Private to this module. */
#ifndef OBJECT_CANDIDATES_H
#define OBJECT_CANDIDATES_H

#include "base/vec.h"
#include "object/object_private.h"
#include "object/symbol_rules.h"

struct candidates {
	VEC(struct candidate) all;
	/* Whether c is to be shown rather than `kept`, which came first at the same address. */
	bool (*is_better)(const struct candidate *c, const struct candidate *kept);
	bool too_long;        /* the names, by far: the file was made to keep us busy */
	uint64_t end_of_last; /* where the last symbol ends, whatever its limit; 0: at its limit */
};

/* Sorts and takes one per address: the table, to be freed with free(), and its length. A symbol
 * ends where the next one starts, at its limit at the latest. Empties c. */
struct symbol_table candidates_finish(struct candidates *c);
void candidates_free(struct candidates *c);

/* As candidate_is_better(), and, where that says neither, as people call it: no old version,
 * "pwrite" and not "pwrite64". */
bool candidate_is_plainer(const struct candidate *c, const struct candidate *kept);

/* Finds the functions that "f.cold" and the like belong to and sets owner and SYMBOL_COLD.
 * (pieces.c) */
void candidates_find_owners(struct candidates *c);

/* Adds what the procedure linkage table of the file calls. (plt.c) */
void candidates_add_plt(struct candidates *c, struct object_file *o);

/* Adds the functions that call-frame information knows (with opts->hits those that matter), and
 * gives those of them that are in the table their names, "[0x1234]". (nameless.c) */
void candidates_add_nameless(struct candidates *c, struct object_file *o,
			     const struct symtab_opts *opts);
void nameless_name(struct object_file *o, struct symbol_table *t);

/* The symbols of an nm-like text file. (symfile.c) */
MUST_CHECK struct kin_error *candidates_read(struct candidates *c, const char *path,
					     const struct symtab_opts *opts, struct object_file *o);

#endif

/* candidates.h - symbols on their way into a symbol_table: gathered in any order from several
 * sources, then sorted, and one chosen per address. Private to this module. */
#ifndef OBJECT_CANDIDATES_H
#define OBJECT_CANDIDATES_H

#include "base/vec.h"
#include "object/object_private.h"
#include "object/symbol_rules.h"

struct candidates {
	VEC(struct candidate) all;
	/* Whether c is to be shown instead of `kept`, which came first at the same address. */
	bool (*is_better)(const struct candidate *c, const struct candidate *kept);
	bool too_long;        /* names are far too long: the file was made to keep us busy */
	uint64_t end_of_last; /* end of the last symbol, whatever its limit; 0: at its limit */
};

/* Sorts the candidates and chooses one per address. The table's array is to be freed with free(). A
 * symbol ends where the next one starts, at its limit at the latest. Empties c. */
struct symbol_table candidates_finish(struct candidates *c);
void candidates_free(struct candidates *c);

/* How many bytes of names may be looked at, of n symbols whose strings take `size` bytes. Every
 * symbol may have the same name, of the size of all. Sound tables have names that are together not
 * much longer than all the strings. */
static inline uint64_t candidates_name_budget(uint64_t n, uint64_t size)
{
	return 1 + 256 * n + 4 * size;
}

/* As candidate_is_better(); among equals, by what programmers call the function: no old version,
 * "pwrite" and not "pwrite64". */
bool candidate_is_plainer(const struct candidate *c, const struct candidate *kept);

/* Finds the functions that "f.cold" and the like belong to and sets owner and SYMBOL_COLD.
 * (pieces.c) */
void candidates_find_owners(struct candidates *c);

/* Adds the functions that the file's procedure linkage table calls. (plt.c) */
void candidates_add_plt(struct candidates *c, struct object_file *o);

/* Adds the functions of Go's own table. (go_symbols.c) */
void candidates_add_go(struct candidates *c, struct object_file *o);

/* Adds functions known from call-frame information (only those at opts->hits, if given), and names
 * those of them that are in the table already: "[0x1234]". (nameless.c) */
void candidates_add_nameless(struct candidates *c, struct object_file *o,
			     const struct symtab_opts *opts);
void nameless_name(struct object_file *o, struct symbol_table *t);

/* Adds the symbols of an nm-like text file. (symfile.c) */
MUST_CHECK struct kin_error *candidates_read(struct candidates *c, const char *path,
					     const struct symtab_opts *opts, struct object_file *o);

#endif

/* symbols_private.h - declarations shared by the files that make struct symbols. */
#ifndef SYMBOLIZE_SYMBOLS_PRIVATE_H
#define SYMBOLIZE_SYMBOLS_PRIVATE_H

#include "base/arena.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "symbolize/place_index.h"

struct placed { /* a place's position in the object's symbol table */
	uint32_t position;
	symid id;
};

struct symbols_private {
	struct arena arena;
	struct strtab *files; /* interned: equal files are equal pointers */
	const char **display; /* [n], NULL until needed */
	struct map64
		displays; /* name of a line place (pointer) -> a place that has its readable form */
	struct place_index index;
	struct placed *placed; /* function places; sorted by position once that was needed */
	size_t n_placed;
	bool by_position;
	bool all_located;
	VEC(const char *) all_files;
	bool have_files;
	struct alias_query *aliases; /* owned by aliases.c */
	size_t n_aliases;
	struct strtab *statics; /* raw names of static functions; NULL until needed */
	struct map64 twins;     /* part and name: static functions of several files have it */
};

/* The places of several objects in one flat address space. */
struct symbols_row {
	struct symbols **symbols; /* in the order of their bases */
	uint64_t *bases;          /* added to the addresses of each, so that no two overlap */
	size_t n;
	uint32_t program; /* index of the program's object; NONE: there is none */
	uint64_t next;    /* the first free flat address */
};

static inline const struct place_rules *symbols_rules(const struct symbols *s)
{
	static const struct place_rules ours;
	return s->opts.rules ? s->opts.rules : &ours;
}

void symbols_forget_aliases(struct symbols *s); /* aliases.c */

/* Joins all symbols of the row into one; consumes them. The extra places, by raw names that live as
 * long as the result, have no object: each gets an address of its own from row->next on, as the
 * last part. Without symbols and extra places the result is empty, which is no error. */
struct symbols *symbols_join(const struct symbols_row *row, const char *const *extra,
			     size_t n_extra, const struct symbols_opts *opts);

#endif

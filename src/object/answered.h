/* answered.h - what an ELF file was asked and has answered: kept for the next time, as finding it
 * out anew takes reading all symbols and unpacking the debug information.
 *
 * Of each address that was asked about the symbol that it is in, which functions are inlined
 * there, and its source line; each for as far around it as the answer is the same. What is asked
 * next is answered from here if all of it is known, and else by the file, whose answers are added.
 * Answers are the file's, so nothing tells where they come from.
 *
 * Kept in files (answered_file.c): one per build id in $XDG_CACHE_HOME/kin/names, else
 * ~/.cache/kin/names, for their user alone, replaced atomically; 256 MiB in all, beyond which those
 * go that were used least recently. Such a file counts only if it was written by this very build of
 * kin about the same files (build id, sizes and times of the object and of its debug files), and is
 * whole. */
#ifndef OBJECT_ANSWERED_H
#define OBJECT_ANSWERED_H

#include "base/file.h"
#include "base/vec.h"
#include "object/object.h"

struct answered_symbol {    /* as struct object_symbol */
	uint64_t addr, end; /* [addr, end) */
	uint64_t owner;     /* where that begins */
	const char *name;   /* "": made up of the address */
	uint32_t flags, position;
	bool asked; /* its end is right; others are there as owners, or as the first and last */
};

struct answered_inline {
	const char *name;
	uint32_t depth;
};

struct answered_span { /* list[first .. first + n) are inlined at all of [low, high) */
	uint64_t low, high;
	uint32_t first, n;
};

struct answered_line { /* all of [low, high) is of that line; file NULL: of none that is known */
	uint64_t low, high;
	struct srcloc at;
};

struct answered {
	VEC(struct answered_symbol) symbols; /* by address, not overlapping */
	VEC(uint64_t) nowhere;               /* ascending: addresses that no symbol has */
	VEC(struct answered_span) spans;     /* by address, not overlapping */
	VEC(struct answered_inline) list;    /* innermost first, of each span */
	VEC(struct answered_line) lines;     /* by address, not overlapping */
	VEC(struct answered_line) new_lines; /* in the order in which they were added */
	struct strtab *strings;              /* of names that were added; NULL: none */
	struct file file;                    /* of names that were read */
	bool changed;                        /* since it was read */
};

void answered_free(struct answered *a); /* NULL is fine */

/* The symbols that `hits` (ascending) are in, with the other ones that are known, *ret as of
 * object_symbols(); names live as long as a. False: not known of all hits. */
bool answered_symbols(const struct answered *a, const uint64_t *hits, size_t n,
		      struct symbol_table *ret);
/* All that the file has said of these hits. */
void answered_add_symbols(struct answered *a, const uint64_t *hits, size_t n,
			  const struct symbol_table *table);

/* As object_inlines(); false: not known of all addresses. */
bool answered_inlines(const struct answered *a, const uint64_t *addrs, size_t n,
		      struct object_inline **ret, size_t *count);
/* What the file has said of these addresses, of each as far as reach[i] says: that holds it; empty:
 * not to be kept. */
void answered_add_inlines(struct answered *a, const uint64_t *addrs,
			  const struct address_range *reach, size_t n,
			  const struct object_inline *list, size_t count);

/* As object_place(), of a line that was known when `a` was read: true if it was. ret->file may be
 * NULL. */
bool answered_line(const struct answered *a, uint64_t addr, struct srcloc *ret);
/* For the next time. Not more than some 100,000. */
void answered_add_line(struct answered *a, uint64_t low, uint64_t high, const struct srcloc *at);

/* ---- as bytes ---- */

enum { ANSWERED_FILES = 3, ANSWERED_ID = 64 };

/* What the answers are of, and whose they are. Compared byte for byte, so all of it is set. */
struct answered_key {
	uint8_t kin[ANSWERED_ID];           /* build id of this code */
	char build_id[2 * ANSWERED_ID + 8]; /* of the object, in hex */
	struct {
		uint64_t size, modified_ns; /* 0: there is no such file */
	} files[ANSWERED_FILES];            /* the object, its debug file, what dwz moved out */
};

/* Takes over the file's bytes. NULL if they are not sound, or of another key. */
struct answered *answered_read(struct file *f, const struct answered_key *key);
/* To be freed; *size bytes. NULL: nothing is known, or it is more than is worth keeping. */
uint8_t *answered_write(const struct answered *a, const struct answered_key *key, size_t *size);

/* Makes a head and a checksum that fit; false: too short to have them. */
bool answered_seal(uint8_t *data, size_t size, const struct answered_key *key);

/* ---- of an object (answered_file.c) ---- */

/* What its file was asked before; NULL if it is not to be kept. */
struct answered *object_answered(struct object_file *o);

#endif

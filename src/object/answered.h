/* answered.h - a cache of lookups in an ELF file: without it each run would read all symbols and
 * unpack the debug information.
 *
 * For each address looked up it holds the symbol, the functions inlined there and the source line,
 * each with the range of addresses that have the same answer. A later request is answered from here
 * if all of it is known; otherwise by the file, whose answers are added. Both answers are the same.
 *
 * Kept in files (answered_file.c): one per build id in $XDG_CACHE_HOME/kin/names, else
 * ~/.cache/kin/names, for their user alone, replaced atomically; beyond 56 MiB in all, the least
 * recently used are removed. A cache file is used only if it is undamaged and was written by the
 * same build of kin for the same files (build id, sizes and times of the object and of its debug
 * files). */
#ifndef OBJECT_ANSWERED_H
#define OBJECT_ANSWERED_H

#include "base/file.h"
#include "base/vec.h"
#include "object/object.h"

struct answered_symbol {    /* as struct object_symbol */
	uint64_t addr, end; /* [addr, end) */
	uint64_t owner;     /* start of the owner */
	const char *name;   /* "": made from the address */
	uint32_t flags, position;
	bool asked; /* was looked up, so its end is right; others are here as owners, or as the
		       first and the last */
};

struct answered_inline {
	const char *name, *call_file; /* call_file NULL: not known */
	uint32_t depth, call_line;
};

struct answered_span { /* list[first .. first + n) are inlined in all of [low, high) */
	uint64_t low, high;
	uint32_t first, n;
};

struct answered_line { /* all of [low, high) belongs to that line; file NULL: to no known line */
	uint64_t low, high;
	struct srcloc at;
};

struct answered {
	VEC(struct answered_symbol) symbols; /* by address, not overlapping */
	VEC(uint64_t) nowhere;               /* ascending: addresses outside of all symbols */
	VEC(struct answered_span) spans;     /* by address, not overlapping */
	VEC(struct answered_inline) list;    /* innermost first, for each span */
	VEC(struct answered_line) lines;     /* by address, not overlapping */
	VEC(struct answered_line) new_lines; /* in the order of addition */
	struct strtab *strings;              /* names that were added; NULL: none */
	struct file file;                    /* names that were read */
	bool changed;                        /* since it was read */
};

void answered_free(struct answered *a); /* NULL is fine */

/* The symbols that contain `hits` (ascending), with the other known ones: *ret as from
 * object_symbols(). Names live as long as a. False: not all hits are known. */
bool answered_symbols(const struct answered *a, const uint64_t *hits, size_t n,
		      struct symbol_table *ret);
/* Adds the file's answers for these hits. */
void answered_add_symbols(struct answered *a, const uint64_t *hits, size_t n,
			  const struct symbol_table *table);

/* As object_inlines(); false: not all addresses are known. */
bool answered_inlines(const struct answered *a, const uint64_t *addrs, size_t n,
		      struct object_inline **ret, size_t *count);
/* Adds the file's answers for these addresses. reach[i] is the range with the same answer as
 * addrs[i]; empty: do not keep it. */
void answered_add_inlines(struct answered *a, const uint64_t *addrs,
			  const struct address_range *reach, size_t n,
			  const struct object_inline *list, size_t count);

/* As object_place(), if the line was known when `a` was read; else false. ret->file may be NULL. */
bool answered_line(const struct answered *a, uint64_t addr, struct srcloc *ret);
/* Adds a line for the next run. At most some 100,000 are kept. */
void answered_add_line(struct answered *a, uint64_t low, uint64_t high, const struct srcloc *at);

/* ---- as bytes ---- */

enum { ANSWERED_FILES = 3, ANSWERED_ID = 64 };

/* Identifies the files that the answers are from, and this build of kin. Compared byte for byte, so
 * all bytes must be set. */
struct answered_key {
	uint8_t kin[ANSWERED_ID];           /* build id of this code */
	char build_id[2 * ANSWERED_ID + 8]; /* of the object, in hex */
	struct {
		uint64_t size, modified_ns; /* 0: there is no such file */
	} files[ANSWERED_FILES];            /* the object, its debug file, and its dwz file */
};

/* Takes over the file's bytes. NULL if they are damaged or have another key. */
struct answered *answered_read(struct file *f, const struct answered_key *key);
/* To be freed; *size bytes. NULL: nothing is known, or it is too large to keep. */
uint8_t *answered_write(const struct answered *a, const struct answered_key *key, size_t *size);

/* Sets the header and the checksum; false: data is too short for them. */
bool answered_seal(uint8_t *data, size_t size, const struct answered_key *key);

/* ---- of an object (answered_file.c) ---- */

/* The object's cache; NULL if it is not to be kept. */
struct answered *object_answered(struct object_file *o);

#endif

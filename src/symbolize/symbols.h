/* symbols.h - the named places of a profiled program, in address order.
 *
 * A place is what time and calls are charged to: a function, or, with line granularity, a run of
 * code of one source line. Places do not overlap. */
#ifndef SYMBOLIZE_SYMBOLS_H
#define SYMBOLIZE_SYMBOLS_H

#include "object/object.h"

typedef uint32_t symid; /* index into at[]; NONE: no place */

struct symbol {
	uint64_t addr, end; /* [addr, end) */
	const char *name;   /* raw: as in the object */
	const char *file;   /* of addr; NULL if unknown. Valid once located */
	uint32_t line;      /* likewise; 0 if unknown */
	symid owner;        /* the function a cold piece belongs to; itself for others */
	bool is_function;   /* false for labels and for lines */
	bool is_static;
	bool is_line; /* made for a source line */
	bool located; /* file and line have been looked up */
};

struct symbols_opts {
	struct symtab_opts table;
	bool lines;                /* gprof -l: a place per source line */
	enum demangle_style style; /* how symbols_display() shows names */
};

struct symbols {
	struct symbol *at; /* by address; [n] */
	size_t n;
	struct object_file *object; /* borrowed: must outlive this */
	struct address_range text;  /* .text */
	struct symbols_opts opts;
	struct symbols_private *priv;
};

/* Cannot be empty: an object without symbols is an error. */
MUST_CHECK struct kin_error *symbols_new(struct object_file *o, const struct symbols_opts *opts,
					 struct symbols **ret);
void symbols_free(struct symbols *s); /* NULL is fine */

/* The place that holds addr, or NONE. Cost: constant for evenly spread symbols. */
symid symbols_find(const struct symbols *s, uint64_t addr);

/* A hint that symbols_find(s, addr) comes soon: where there are millions to be found, most of the
 * time goes into waiting for memory. */
void symbols_prefetch(const struct symbols *s, uint64_t addr);

/* Fill in at[id].file and .line (GNU: the line table's entry for its first address). */
const struct symbol *symbols_locate(struct symbols *s, symid id);

/* Demangled as opts.style says; escaped for neither terminal nor HTML. Lives as long as s. */
const char *symbols_display(struct symbols *s, symid id);

/* All source files of the symbols, each once, in order of first appearance in the object's symbol
 * table, then of the line places. Locates every symbol: costs a line lookup for each, the first
 * time. */
const char *const *symbols_files(struct symbols *s, size_t *n);

#endif

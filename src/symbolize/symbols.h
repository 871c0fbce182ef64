/* symbols.h - the named places of a profiled program, in address order.
 *
 * A place is what time and calls are charged to: a function, or, with line granularity, a run of
 * code of one source line. Places do not overlap. */
#ifndef SYMBOLIZE_SYMBOLS_H
#define SYMBOLIZE_SYMBOLS_H

#include "object/object.h"

typedef uint32_t symid; /* index into at[]; NONE: no place */

struct symbol {
	uint64_t addr, end;   /* [addr, end) */
	const char *name;     /* raw: as in the object */
	const char *file;     /* of addr; NULL if unknown. Valid once located */
	uint32_t line;        /* likewise; 0 if unknown */
	symid owner;          /* the function a cold piece belongs to; itself for others */
	uint16_t part;        /* index into parts[] */
	bool is_function : 1; /* false for labels and for lines */
	bool is_static : 1;
	bool is_line : 1;     /* made for a source line */
	bool is_nameless : 1; /* made up for a function that has no symbol */
	bool located : 1;     /* file and line have been looked up */
};

struct symbols_part {               /* the places of one object */
	struct object_file *object; /* borrowed: must outlive this; NULL: places of no object */
	uint64_t base; /* what was added to the object's addresses to tell them from the others' */
	symid first, n;
	uint64_t low, high; /* [low, high), with the base added */
	bool is_chosen;     /* functions that were not hit have no places: see symtab_opts.hits */
};

/* How symbols and lines become places, for programs that have it otherwise than we do. */
struct place_rules {
	const struct line_rules *lines; /* NULL: ours */
	/* Whether a line that starts where a symbol does stands in its place. NULL: never. */
	bool (*line_wins)(const struct symbol *function, const struct symbol *line);
	/* Leaves symbols out before lines are added to them. NULL: none. */
	void (*trim)(struct symbol_table *t, struct address_range text);
	bool in_file_order; /* symbols' lines are asked for one by one, in the order of the file's
			     * table: what is answered depends on it */
	bool bare_lists;    /* symbols from a list (table.external) have no source lines */
	bool one_name;      /* a place goes by no name but the one that is shown */
};

struct symbols_opts {
	struct symtab_opts table;
	const struct place_rules *rules; /* NULL: ours */
	bool lines;                      /* gprof -l: a place per source line */
	bool no_inlines;                 /* lines are of functions as the linker knows them */
	enum demangle_style style;       /* how symbols_display() shows names */
	bool versions;                   /* it shows "@@GLIBC_2.34", too */
};

struct symbols {
	struct symbol *at; /* by address; [n] */
	size_t n;
	struct symbols_part
		*parts; /* by address; those of a program alone are one part, of base 0 */
	size_t n_parts;
	struct object_file *object; /* of the program: borrowed; NULL: not known */
	struct address_range text;  /* its .text */
	struct symbols_opts opts;
	struct symbols_private *priv;
};

/* Cannot be empty: an object without symbols is an error. */
MUST_CHECK struct kin_error *symbols_new(struct object_file *o, const struct symbols_opts *opts,
					 struct symbols **ret);
void symbols_free(struct symbols *s); /* NULL is fine */

/* Where the code at an address comes from: see object_place(). */
bool symbols_place(struct symbols *s, uint64_t addr, struct srcloc *ret);

/* Whether any object has line information. */
bool symbols_has_lines(struct symbols *s);

/* What to call all this in messages: the program's path. */
const char *symbols_path(const struct symbols *s);

/* The place that holds addr, or NONE. Cost: constant for evenly spread symbols. */
symid symbols_find(const struct symbols *s, uint64_t addr);

/* The function that the place is of, or NONE: the owner of a cold piece; of a line the function
 * before it. */
symid symbols_find_function(const struct symbols *s, uint64_t addr);

/* A hint that one of these comes soon: where there are millions to be found, most of the time goes
 * into waiting for memory. */
void symbols_prefetch(const struct symbols *s, uint64_t addr);

/* Fill in at[id].file and .line. */
const struct symbol *symbols_locate(struct symbols *s, symid id);

/* Demangled as opts.style says; escaped for neither terminal nor HTML. Lives as long as s. */
const char *symbols_display(struct symbols *s, symid id);

/* Whether the function that starts there has this name, too, which may not be the one that is
 * shown: a symbol with or without its version, or as function_name_is() has it. The first question
 * about a name reads the symbols of all objects; nothing is kept for those that nobody asks for. */
bool symbols_is_alias(struct symbols *s, symid id, const char *name);

/* Whether a person who wrote `name` means this function: its raw name, or function_name_is(), or
 * symbols_is_alias(). */
bool symbols_is_called(struct symbols *s, symid id, const char *name);

/* Hints that it will be asked for soon: the second one a little later, when what the first one
 * asked for is there. */
void symbols_prefetch_display(const struct symbols *s, symid id);
void symbols_prefetch_text(const struct symbols *s, symid id);

/* All source files of the symbols, each once, in order of first appearance in the object's symbol
 * table, then of the line places. Locates every symbol: costs a line lookup for each, the first
 * time. */
const char *const *symbols_files(struct symbols *s, size_t *n);

#endif

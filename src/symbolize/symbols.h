/* symbols.h - the named places of a profiled program, in address order.
 *
 * Time and calls are charged to places. A place is a function or, with line granularity, a range of
 * code of one source line. Places do not overlap. A function that begins with inlined code has an
 * empty place, which has the calls, before the place of the line, which has the time. */
#ifndef SYMBOLIZE_SYMBOLS_H
#define SYMBOLIZE_SYMBOLS_H

#include "object/object.h"

typedef uint32_t symid; /* index into at[]; NONE: no place */

struct symbol {
	uint64_t addr, end;   /* [addr, end) */
	const char *name;     /* raw: as in the object */
	const char *file;     /* source file of addr; NULL if unknown. Valid once located */
	uint32_t line;        /* 0 if unknown. Valid once located */
	symid owner;          /* the function that a split part belongs to; otherwise itself */
	uint16_t part;        /* index into parts[] */
	bool is_function : 1; /* false for labels and for lines */
	bool is_static : 1;
	bool is_line : 1;     /* made for a source line */
	bool is_nameless : 1; /* made for a function without a symbol */
	bool is_call : 1;     /* a line without code here, which calls what is inlined there */
	bool located : 1;     /* file and line have been looked up */
};

struct symbols_part { /* the places of one object */
	struct object_file
		*object; /* borrowed: must outlive this; NULL: places without an object */
	uint64_t base;   /* added to the object's addresses to distinguish them from those of other
			    objects */
	symid first, n;
	uint64_t low, high; /* [low, high), with the base added */
	bool is_chosen;     /* only functions that were hit have places: see symtab_opts.hits */
};

/* Rules for making places from symbols and lines, for programs that differ from our own. */
struct place_rules {
	const struct line_rules *lines; /* NULL: ours */
	/* Whether a line that starts at a symbol replaces it. NULL: never; the symbol replaces it,
	 * or has an empty place before it if the line is of inlined code (not with one_name). */
	bool (*line_wins)(const struct symbol *function, const struct symbol *line);
	/* Drops symbols before lines are added to them. NULL: none. */
	void (*trim)(struct symbol_table *t, struct address_range text);
	bool in_file_order; /* look up symbols' lines one by one, in the order of the file's symbol
			       table: answers depend on the order */
	bool bare_lists;    /* symbols from a list (table.external) have no source lines */
	bool one_name;      /* a place has no name but the one shown */
};

struct symbols_opts {
	struct symtab_opts table;
	const struct place_rules *rules; /* NULL: ours */
	bool lines;                      /* gprof -l: a place per source line */
	bool no_inlines;           /* lines belong to linkage functions, not to inlined ones */
	enum demangle_style style; /* how symbols_display() shows names */
	bool versions;             /* symbols_display() includes "@@GLIBC_2.34" */
};

struct symbols {
	struct symbol *at; /* by address; [n] */
	size_t n;
	struct symbols_part
		*parts; /* by address; the places of a single program are one part with base 0 */
	size_t n_parts;
	struct object_file *object; /* the program's object: borrowed; NULL: not known */
	struct address_range text;  /* its .text */
	struct symbols_opts opts;
	struct symbols_private *priv;
};

/* An object without symbols is an error. */
MUST_CHECK struct kin_error *symbols_new(struct object_file *o, const struct symbols_opts *opts,
					 struct symbols **ret);
void symbols_free(struct symbols *s); /* NULL is fine */

/* The source line at an address: see object_place(). */
bool symbols_place(struct symbols *s, uint64_t addr, struct srcloc *ret);

/* Whether any object has line information. */
bool symbols_has_lines(struct symbols *s);

/* The program's path, for messages. */
const char *symbols_path(const struct symbols *s);

/* The place that contains addr, or NONE. Cost: constant for evenly spread symbols. */
symid symbols_find(const struct symbols *s, uint64_t addr);

/* The place that starts at addr, or NONE: the function, even if its place is empty. */
symid symbols_find_start(const struct symbols *s, uint64_t addr);

/* The function at addr, or NONE: the owner of a split part; for a line the function before it. */
symid symbols_find_function(const struct symbols *s, uint64_t addr);

/* A hint that this address is looked up soon: with millions of lookups, most of the time goes into
 * waiting for memory. */
void symbols_prefetch(const struct symbols *s, uint64_t addr);

/* Fill in at[id].file and .line. */
const struct symbol *symbols_locate(struct symbols *s, symid id);

/* The name demangled by opts.style; not escaped for a terminal or HTML. Tidy names of static
 * functions that share one have their source files: "f (a.c)". Lives as long as s. */
const char *symbols_display(struct symbols *s, symid id);

/* The same for the name of any symbol of a file, or for a name in the data; to be freed. NULL: the
 * name is readable as it is. */
char *symbols_readable(const struct symbols *s, const char *name, bool is_symbol);

/* Whether the function that starts at this place also has this name, shown or not: a symbol with or
 * without its version, or a match by function_name_is(). The first query for a name reads the
 * symbols of all objects; other names are not kept. */
bool symbols_is_alias(struct symbols *s, symid id, const char *name);

/* Calls each() with each further name of each function: it lives for that call. Costs as much as
 * the first query of symbols_is_alias(). */
void symbols_for_each_alias(struct symbols *s, void (*each)(void *arg, symid id, const char *name),
			    void *arg);

/* Whether `name`, as typed by a user, means this function: its raw name, or people_name_is(), or
 * symbols_is_alias(). */
bool symbols_is_called(struct symbols *s, symid id, const char *name);

/* Hints that symbols_display() will be called soon; the second one comes a little later, when the
 * data requested by the first has arrived. */
void symbols_prefetch_display(const struct symbols *s, symid id);
void symbols_prefetch_text(const struct symbols *s, symid id);

/* All source files of the symbols, each once, in order of first appearance in the object's symbol
 * table, then of the line places. Locates every symbol: costs a line lookup for each, the first
 * time. */
const char *const *symbols_files(struct symbols *s, size_t *n);

#endif

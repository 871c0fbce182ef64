/* symbol_rules.h - rules for which symbols of a file count, and which of several at one address is
 * shown, for programs that differ from our own rules (symtab.c): see symtab_opts. */
#ifndef OBJECT_SYMBOL_RULES_H
#define OBJECT_SYMBOL_RULES_H

#include "base/map64.h"
#include "object/object.h"

/* Of several symbols at one address those with a smaller sum of these come first; among equals,
 * those that come first in the file. */
enum candidate_rank {
	RANK_LOCAL = 1,
	RANK_LABEL = 2, /* not typed as a function */
	RANK_LAST = 4,  /* ignored by GNU: never hides a symbol that GNU shows */
	RANKS = 8,
};

struct candidate { /* a symbol that could be shown */
	uint64_t addr;
	uint64_t limit; /* the end of its section */
	const char *name;
	uint32_t position; /* in the file's symbol table */
	uint32_t file;  /* number of the STT_FILE symbol before it; 0 if it is global or has none */
	uint32_t flags; /* enum symbol_flags */
	uint32_t rank;
	bool is_indirect; /* an ifunc: its code only returns the function to be called */
	uint32_t owner; /* index of the candidate it is a split part of, or NONE; lost by sorting */
};

/* Whether c is to be shown instead of `kept`, which came first at the same address: a function, a
 * global, or a name with fewer leading underscores wins. */
bool candidate_is_better(const struct candidate *c, const struct candidate *kept);

struct table_symbol { /* an entry of .symtab */
	uint64_t addr;
	const char *name;          /* "" if it lies outside of the strings */
	const char *strings, *end; /* the string table that the name is in */
	bool has_name;             /* its name lies in the string table, or there is none */
	uint8_t type, bind;        /* STT_, STB_ */
	uint32_t section;          /* an index, or SHN_UNDEF, SHN_COMMON ... */
	uint64_t section_flags;    /* flags of its section; 0: it has none */
	uint32_t position;         /* in the table */
	struct map64 *memory;      /* state of the rules for this table, initially empty */
};

struct listed_symbol { /* a line of a list as printed by nm */
	bool has_addr; /* the line has an address; else the candidate has the last one, or 0 */
	bool is_local;
};

struct symbol_rules {
	/* Fills *ret; false if the symbol does not count. */
	bool (*take)(const struct table_symbol *s, const struct symtab_opts *opts,
		     struct candidate *ret);
	/* May change *ret, which is set from the line and ends with its section; false if it does
	 * not count. */
	bool (*take_listed)(const struct listed_symbol *s, const struct symtab_opts *opts,
			    struct candidate *ret);
	bool (*is_better)(const struct candidate *c, const struct candidate *kept);
	/* A file without a section .text is an error; the last symbol ends with that section. */
	bool needs_text;
};

/* NAME_PLAIN: a name without '$', and without '.' except in the parts ".123", ".clone.123" and
 * ".constprop.123", where the digits may be missing at the end of the name. NAME_RUNS_ON: such a
 * part ends it, at *end. */
enum name_check { NAME_ODD, NAME_PLAIN, NAME_RUNS_ON };
enum name_check symbol_name_check(const char *name, const char **end);
/* Whether it is a marker symbol of old compilers: "__gnu_compiled...". */
bool symbol_is_mark(const char *name);

#endif

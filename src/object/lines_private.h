/* lines_private.h - declarations shared by the files of line lookup. */
#ifndef OBJECT_LINES_PRIVATE_H
#define OBJECT_LINES_PRIVATE_H

#include "base/strtab.h"
#include "object/dwarf_info.h"
#include "object/dwarf_line.h"
#include "object/dwarf_scope.h"
#include "object/interval.h"
#include "object/line_rules.h"
#include "object/object_private.h"

/* ---- functions of the symbol table (lines_elf.c) ---- */

struct elf_functions;
struct elf_functions *elf_functions_new(struct object_file *o);
void elf_functions_free(struct elf_functions *f);
/* The function at addr in a section; NULL if there is none. The answer holds up to *until; *start
 * is the symbol's address. */
const char *elf_functions_find(const struct elf_functions *f, uint32_t section, uint64_t addr,
			       uint64_t *start, uint64_t *until);

/* ---- one unit (lines_unit.c) ---- */

extern const struct unit_rules unit_rules; /* our own */

struct unit_name { /* of a function */
	const char *name;
	bool known;
};

/* The source of a unit's entries. */
struct unit_entries {
	struct dwarf_info *info;
	const struct dwarf_unit *unit;
	struct dwarf_scopes **scopes; /* pointer to the scopes cache; NULL until needed */
	bool is_split;                /* names are valid until the next unit is requested */
};

/* Units with split entries (lines_split.c). */
struct split_units {
	struct elf_file *package; /* package of many units; NULL: there is none */
	bool sought_package;
	uint64_t bytes_left; /* limit on bytes of entries still to be opened */

	/* The last unit requested. */
	const struct dwarf_unit *skeleton;
	struct elf_file *file;   /* NULL: it is in the package */
	struct dwarf_info *info; /* NULL: not found */
	const struct dwarf_unit *unit;
	struct dwarf_scopes *scopes;
};

/* The entries of a unit of l->info: its own, or those of its split part, if that is found. */
struct object_lines;
struct unit_entries object_entries(struct object_lines *l, const struct dwarf_unit *u);
void split_units_done(struct split_units *s);
/* The name of one of its functions, with scopes, as dwarf_scopes_name(); lives as long as l. */
const char *unit_entries_name(struct object_lines *l, const struct unit_entries *e,
			      const struct dwarf_function *f);

struct object_lines {
	struct object_file *object;
	struct dwarf_info *info;     /* NULL: no debugging information */
	struct dwarf_scopes *scopes; /* NULL until needed */
	struct strtab *paths;
	struct elf_functions *elf; /* NULL until needed */
	uint8_t *units;            /* per unit: enum unit_flags */
	struct split_units split;
	uint64_t work_left; /* limit on bytes still to be decoded: no honest file reaches it */

	/* Scratch memory for the current unit. */
	struct line_table table;
	struct dwarf_functions functions;
	struct intervals pieces;
	VEC(struct unit_name) names;

	/* The index that answers object_place(); NULL until needed. */
	struct line_index *index;
	const struct line_rules *rules; /* a caller's own rules, and what their open() returned */
	void *answers;
};

/* The object's line lookup, made at the first call. */
struct object_lines *object_lines(struct object_file *o);

/* The unit's line table, by address, with only sequences that start in code. False if none does. */
bool unit_table(struct object_lines *l, size_t unit, struct line_table *ret);
/* Whether its line table has rows of other units, too, so that only rows in the unit's own ranges
 * are its. */
bool unit_is_clipped(const struct object_lines *l, size_t unit);
/* The path of a file of that table: lives as long as l. NULL if there is no such file. */
const char *unit_path(struct object_lines *l, struct line_table *t, uint32_t file);

/* ---- single addresses (lines_index.c) ---- */

struct line_index;
struct line_index *line_index_new(struct object_lines *l);
void line_index_free(struct line_index *x);
/* The line at addr, without its function, and a range around addr that has the same line. False if
 * no unit has one. */
bool line_index_find(struct line_index *x, uint64_t addr, struct line_run *ret);

#endif

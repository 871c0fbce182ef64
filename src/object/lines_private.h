/* lines_private.h - what the files of line lookup share. */
#ifndef OBJECT_LINES_PRIVATE_H
#define OBJECT_LINES_PRIVATE_H

#include "base/strtab.h"
#include "object/dwarf_info.h"
#include "object/dwarf_line.h"
#include "object/interval.h"
#include "object/private.h"

/* ---- functions of the symbol table (lines_elf.c) ---- */

struct elf_functions;
struct elf_functions *elf_functions_new(struct object_file *o);
void elf_functions_free(struct elf_functions *f);
/* The function at addr in a section, NULL if there is none; the same answer holds up to *until, and
 * *start is the symbol's address. */
const char *elf_functions_find(const struct elf_functions *f, uint32_t section, uint64_t addr,
			       uint64_t *start, uint64_t *until);

/* ---- one unit (lines_unit.c) ---- */

struct run_list { /* a VEC */
	struct line_run *at;
	size_t n, cap;
};

enum unit_flags {
	UNIT_UNSEEN = 1,   /* BFD stops reading before it */
	UNIT_NO_CODE = 2,  /* types, and what dwz moved out: their line tables are other units' */
	UNIT_REPEATED = 4, /* an earlier unit has the same line table */
	UNIT_CODE_REPEATED = 8, /* an earlier unit with code has */
	UNIT_CODE_SHARED = 16,  /* a later unit with code has */
};

enum line_rules {
	RULES_RIGHT,
	RULES_GNU,
	RULES_PLACES, /* the right ones, functions left out */
	RULES_N
};

struct unit_name { /* of a function */
	const char *name;
	bool known;
};

struct object_lines {
	struct object_file *object;
	struct dwarf_info *info; /* NULL: no debugging information */
	struct strtab *paths;
	struct elf_functions *elf; /* NULL until needed */
	uint8_t *units;            /* per unit: enum unit_flags */
	uint64_t work_left;        /* bytes that may still be decoded: nothing honest needs all */

	/* Of the unit at hand, kept for their memory. */
	struct line_table table;
	struct dwarf_functions functions;
	struct intervals pieces;
	VEC(struct unit_name) names;

	struct line_index *index[RULES_N]; /* for object_locate() and object_place() */
};

/* The object's, made when first asked for. */
struct object_lines *object_lines(struct object_file *o);

/* All runs of a unit by address, appended to *ret. Neighbours that touch differ. */
void unit_runs(struct object_lines *l, size_t unit, enum line_rules rules, struct run_list *ret);

static inline bool run_same(const struct srcloc *a, const struct srcloc *b)
{
	if (a->line != b->line || a->file != b->file)
		return false;
	return a->function == b->function ||
	       (a->function && b->function && !strcmp(a->function, b->function));
}

/* ---- addresses one by one (lines_index.c) ---- */

struct line_index;
struct line_index *line_index_new(struct object_lines *l, enum line_rules rules);
void line_index_free(struct line_index *x);
/* The run that holds addr; valid until the next call. NULL if none does. */
const struct line_run *line_index_find(struct line_index *x, uint64_t addr);

#endif

/* dwarf_info.h - units and entries of .debug_info, as needed for source lines and functions.
 *
 * It replaces libdw: resolving all lines of a program takes a pass over all entries, some ten
 * million in 100 MB, and libdw keeps every line table that it has decoded. Everything here borrows
 * from the sections of the files. */
#ifndef OBJECT_DWARF_INFO_H
#define OBJECT_DWARF_INFO_H

#include "base/bytes.h"
#include "base/map64.h"
#include "base/vec.h"
#include "object/object.h"

/* The bytes of a section. Damage in debugging information is not reported: the readable part is
 * used. */
struct section {
	const uint8_t *data;
	size_t size;
};

/* A reader from an offset on; failed if the section ends before that. */
static inline struct bytes section_at(struct section s, uint64_t offset, bool swap)
{
	struct bytes b = bytes_of(NULL, s.data, s.data ? s.size : 0);
	b.swap = swap;
	if (offset > s.size)
		bytes_fail(&b);
	else if (s.data)
		b.pos += offset;
	return b;
}

struct dwarf_unit {
	/* Header. Offsets are from the start of .debug_info. */
	uint64_t offset, entries, end;
	uint64_t abbrev;
	uint8_t version, address_size, offset_size, type;
	uint16_t tag; /* of the top entry */
	/* The top entry. */
	bool has_lines;
	bool damaged;        /* unreadable */
	bool is_read;        /* all of it: see dwarf_unit_read() */
	bool indexed_ranges; /* its list of ranges has addresses by index */
	uint16_t language;   /* 0: not given */
	uint64_t lines;      /* offset in .debug_line */
	uint64_t low;        /* base of range lists */
	uint64_t str_offsets_base, addr_base, ranges_base;
	uint64_t old_ranges_base;       /* in .debug_ranges, for the entries in the split file */
	uint64_t split_id;              /* equal in a skeleton and its split part; 0: not split */
	const char *name, *comp_dir;    /* NULL if not said */
	const char *producer;           /* the compiler, and maybe its options; the same */
	const char *split_name;         /* the file that has its entries; NULL: this one */
	uint32_t first_range, n_ranges; /* in dwarf_info.ranges */
};

struct dwarf_file {
	struct section info, abbrev, line, str, line_str, ranges, rnglists, addr, str_offsets;
	struct elf_file *elf;                   /* borrowed */
	const struct elf_section *info_section; /* NULL without info */
	bool swap;
	VEC(struct dwarf_unit) units; /* by offset */
	/* A file with split entries ("x.dwo"): values that only the skeleton unit has. */
	bool is_split;
	uint64_t low, addr_base, old_ranges_base;
	uint64_t str_offsets_base, rnglists_base; /* after the headers of these sections */
};

struct abbrevs;
struct elf_file;
struct elf_section;

struct dwarf_name {
	const char *name;
	bool linkage; /* see dwarf_function_name() */
};

struct dwarf_info {
	struct dwarf_file file, alt; /* alt: entries and strings that dwz moved out; may be empty */
	struct address_ranges ranges; /* of all units of `file` */
	struct abbrevs *tables;       /* recently used */
	size_t n_tables;
	size_t table_bytes, abbrev_bytes_read;
	size_t top_ranges_left; /* how many more of the units' own ranges may be read */
	size_t ranges_left;     /* how many more ranges may be read: see dwarf_ranges_read() */
	bool indexed_ranges;    /* set when a list that is given by offset has addresses by index */
	bool plain_forms[256];  /* see abbrevs_read_one(): made when it is first called */
	struct map64 names;     /* entry -> index in named, for functions that others refer to */
	VEC(struct dwarf_name) named;
};

/* NULL if there is no .debug_info. `alt`: the dwz file, or NULL. Decompresses sections. */
struct dwarf_info *dwarf_info_new(struct elf_file *file, struct elf_file *alt);
void dwarf_info_free(struct dwarf_info *d);

/* The location of a unit's contribution to each section, in a package of many units. */
enum dwarf_part { PART_INFO, PART_ABBREV, PART_LINE, PART_STR_OFFSETS, PART_RNGLISTS, N_PARTS };
struct dwarf_parts {
	struct {
		uint64_t offset, size;
	} of[N_PARTS];
};
/* The split part of `skeleton`, a unit of `first`, in a file whose sections are called
 * .debug_X.dwo; `parts` NULL: the sections are this unit's alone. *unit is the split part. NULL if
 * it is missing. Borrows everything. */
struct dwarf_info *dwarf_info_new_split(struct elf_file *file, const struct dwarf_parts *parts,
					const struct dwarf_file *first,
					const struct dwarf_unit *skeleton,
					const struct dwarf_unit **unit);

/* Reads the entries of a unit of the file. Initially only the start of each unit of .debug_info is
 * read: entries are most of an executable, and requests need those of few units, or none. Call it
 * before a unit's entries are used. */
void dwarf_unit_read(const struct dwarf_file *f, const struct dwarf_unit *u);

/* ---- forms, also used by line tables ---- */

struct dwarf_value {
	enum {
		VALUE_NONE,    /* skipped */
		VALUE_NUMBER,  /* constants, flags, offsets into other sections */
		VALUE_ADDRESS, /* or an index into .debug_addr: see `indexed` */
		VALUE_STRING,
		VALUE_RANGES_INDEX,
		VALUE_ENTRY, /* offset of an entry in .debug_info */
	} kind;
	bool indexed; /* number is an index, to be looked up once the unit's bases are known */
	bool alt;     /* the entry is in the dwz file */
	uint64_t number;
	const char *string;
};

/* Reads one value. Fails the cursor on forms that do not exist. */
struct dwarf_value dwarf_value_read(const struct dwarf_info *d, const struct dwarf_file *f,
				    const struct dwarf_unit *u, struct bytes *c, uint64_t form,
				    int64_t implicit);
/* NULL if it is no string or lies outside of its section. */
const char *dwarf_value_string(const struct dwarf_file *f, const struct dwarf_unit *u,
			       const struct dwarf_value *v);

/* False if it lies outside of .debug_addr. */
bool dwarf_value_address(const struct dwarf_file *f, const struct dwarf_unit *u,
			 const struct dwarf_value *v, uint64_t *ret);

/* Appends the ranges given by DW_AT_low_pc, DW_AT_high_pc and DW_AT_ranges of one entry
 * (VALUE_NONE: missing) to *ret; empty ranges are left out. */
void dwarf_ranges_read(struct dwarf_info *d, const struct dwarf_file *f, const struct dwarf_unit *u,
		       const struct dwarf_value *low, const struct dwarf_value *high,
		       const struct dwarf_value *ranges, struct address_ranges *ret);

/* The unit that holds an offset; NULL if none does. */
const struct dwarf_unit *dwarf_unit_at(const struct dwarf_file *f, uint64_t offset);

/* ---- functions ---- */

struct dwarf_function {
	uint64_t offset;                 /* offset of its entry, if that is in a list */
	const char *name, *linkage_name; /* its own; NULL if missing */
	uint64_t origin;                 /* abstract origin or specification: offset of an entry */
	bool has_origin, origin_alt;
	bool is_inlined;               /* has no symbol of its own */
	uint32_t depth;                /* nesting among all entries */
	uint32_t call_file, call_line; /* where it was inlined: a file of the unit's line table */
	uint32_t first_range, n_ranges;
};

struct dwarf_functions {
	VEC(struct dwarf_function) at; /* functions with code, in the order of their entries */
	bool indexed_ranges;           /* a list of ranges has addresses by index */
	struct address_ranges ranges;
};

/* All subprograms and inlined subroutines of a unit of d->file that have code. `in`: the requested
 * ranges, disjoint and by address, each within one function; functions inlined into functions
 * without requested code may be missing. NULL: nothing is missing. `no_indexed_ranges`: functions
 * whose ranges are given by index count as having none. */
void dwarf_functions_read(struct dwarf_info *d, const struct dwarf_unit *u,
			  const struct address_ranges *in, bool no_indexed_ranges,
			  struct dwarf_functions *ret);
void dwarf_functions_free(struct dwarf_functions *f);

/* For disjoint ranges in address order: the index of the first one that ends after addr (n if none
 * does), and whether one overlaps [low, high). */
size_t ranges_first(const struct address_ranges *r, uint64_t addr);
bool ranges_meet(const struct address_ranges *r, uint64_t low, uint64_t high);

/* The function with the entry at an offset, in the dwz file if `alt`. Returns its unit; NULL if
 * there is none. */
const struct dwarf_unit *dwarf_function_at(struct dwarf_info *d, bool alt, uint64_t offset,
					   struct dwarf_function *ret);

/* Whether linkage names of a language (DW_LANG_) are the plain names. */
bool dwarf_is_unmangled(uint16_t language);

/* The name of a function, found by following the references of its entry; NULL if it has none.
 * *linkage: whether it is the linkage name (in BFD's sense: also every name in a language without
 * mangling). */
const char *dwarf_function_name(struct dwarf_info *d, const struct dwarf_unit *u,
				const struct dwarf_function *f, bool *linkage);

#endif

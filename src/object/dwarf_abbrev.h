/* dwarf_abbrev.h - abbreviation tables: the fields of a unit's entries. */
#ifndef OBJECT_DWARF_ABBREV_H
#define OBJECT_DWARF_ABBREV_H

#include "object/dwarf_info.h"

struct attribute {
	uint32_t name, form;
	int64_t implicit; /* the value, for DW_FORM_implicit_const */
};

/* How to skip the fields of an entry without interest: neighbouring fields of known size are one
 * step. */
struct skip {
	enum {
		SKIP_FIXED,
		SKIP_LEB,
		SKIP_STRING,
		SKIP_BLOCK,
		SKIP_BLOCK1,
		SKIP_BLOCK2,
		SKIP_BLOCK4,
		SKIP_INDIRECT
	} kind;
	uint32_t size;
};

struct abbrev {
	uint64_t code;
	uint32_t tag;
	bool children;
	bool has_code; /* a function with fields that give its addresses */
	bool is_fixed; /* all its fields together have a known size: fixed_size */
	uint32_t fixed_size;
	/* For an entry with a sibling reference and without children of interest: 1 + offset of the
	 * reference in its fields (4 bytes); 0: none. */
	uint32_t sibling;
	uint32_t attributes, n_attributes;
	uint32_t skips, n_skips;
};

struct abbrevs {
	/* What the table was made for. */
	const struct dwarf_file *file;
	uint64_t offset;
	uint8_t address_size, offset_size, reference_size;

	bool dense; /* at[i].code == i + 1, as compilers write them; otherwise sorted by code */
	VEC(struct abbrev) at;
	VEC(struct attribute) attributes;
	VEC(struct skip) skips;
	size_t bytes;        /* size in .debug_abbrev */
	const uint8_t *body; /* of a single abbreviation: where it is, behind its code */
};

/* The table of a unit; stays valid until the next call. NULL if it cannot be read. */
const struct abbrevs *abbrevs_of(struct dwarf_info *d, const struct dwarf_file *f,
				 const struct dwarf_unit *u);
/* Reads the one abbreviation into *t (at[0]), for entries that are looked at alone. *t is empty or
 * was filled by an earlier call with the same `d`. */
bool abbrevs_read_one(struct dwarf_info *d, const struct dwarf_file *f, const struct dwarf_unit *u,
		      uint64_t code, struct abbrevs *t);
void abbrevs_done(struct abbrevs *t);

const struct abbrev *abbrevs_find_sparse(const struct abbrevs *t, uint64_t code);

/* NULL if there is none with this code. */
static inline const struct abbrev *abbrevs_find(const struct abbrevs *t, uint64_t code)
{
	if (!t->dense)
		return abbrevs_find_sparse(t, code);
	return code - 1 < t->at.n ? &t->at.at[code - 1] : NULL;
}

/* The fields of an entry that describe functions and their scopes (dwarf_function.c). */
struct dwarf_entry {
	uint32_t tag;
	struct dwarf_value name, linkage_name, origin, low, high, ranges, sibling;
	uint64_t decl_file, decl_line, decl_column; /* 0: not given */
	uint64_t call_file, call_line;              /* of an inlined function; 0: not given */
};
/* Reads the fields of an entry; c->failed if they are damaged. */
void dwarf_entry_read(struct dwarf_info *d, const struct dwarf_file *f, const struct dwarf_unit *u,
		      const struct abbrevs *t, const struct abbrev *a, struct bytes *c,
		      struct dwarf_entry *ret);
/* The names of the entry and its references. */
struct dwarf_function dwarf_entry_function(const struct dwarf_file *f, const struct dwarf_unit *u,
					   const struct dwarf_entry *e);
/* Moves past an entry without interest. True if it also moved past its children, because they are
 * known to hold neither functions with code nor scopes. */
bool abbrevs_skip_entry(const struct dwarf_unit *u, const struct abbrevs *t, const struct abbrev *a,
			struct bytes *c);

void abbrevs_skip_indirect(struct bytes *c, const struct abbrevs *t);

/* Moves past the fields of an entry. */
static inline void abbrevs_skip(const struct abbrevs *t, const struct abbrev *a, struct bytes *c)
{
	const struct skip *s = t->skips.at + a->skips;
	if (a->is_fixed) {
		bytes_skip(c, a->fixed_size);
		return;
	}
	for (uint32_t i = 0; i < a->n_skips; i++, s++) {
		switch (s->kind) {
		case SKIP_FIXED:
			bytes_skip(c, s->size);
			break;
		case SKIP_LEB:
			bytes_skip_leb(c);
			break;
		case SKIP_STRING:
			bytes_str(c);
			break;
		case SKIP_BLOCK:
			bytes_skip(c, bytes_uleb(c));
			break;
		case SKIP_BLOCK1:
			bytes_skip(c, bytes_u8(c));
			break;
		case SKIP_BLOCK2:
			bytes_skip(c, bytes_u16(c));
			break;
		case SKIP_BLOCK4:
			bytes_skip(c, bytes_u32(c));
			break;
		case SKIP_INDIRECT:
			abbrevs_skip_indirect(c, t);
			break;
		}
	}
}

#endif

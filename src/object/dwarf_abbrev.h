/* dwarf_abbrev.h - abbreviation tables: what fields the entries of a unit have. */
#ifndef OBJECT_DWARF_ABBREV_H
#define OBJECT_DWARF_ABBREV_H

#include "object/dwarf_info.h"

struct attribute {
	uint32_t name, form;
	int64_t implicit; /* the value, for DW_FORM_implicit_const */
};

/* How to get past the fields of an entry that is of no interest: neighbours of known size are one
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
	bool has_code; /* a function with fields that say where its code is */
	bool is_fixed; /* all its fields together are of a known size: fixed_size */
	uint32_t fixed_size;
	/* An entry that holds no others of interest, and tells where the next one beside it is: 1 +
	 * where in its fields (4 bytes); 0: not so. */
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
	size_t bytes; /* of .debug_abbrev */
};

/* The table of a unit; stays valid until the next call. NULL if it cannot be read. */
const struct abbrevs *abbrevs_of(struct dwarf_info *d, const struct dwarf_file *f,
				 const struct dwarf_unit *u);
/* Reads the one abbreviation into *t (at[0]), for entries that are looked at alone. */
bool abbrevs_read_one(struct dwarf_info *d, const struct dwarf_file *f, const struct dwarf_unit *u,
		      uint64_t code, struct abbrevs *t);
void abbrevs_done(struct abbrevs *t);

const struct abbrev *abbrevs_find_sparse(const struct abbrevs *t, uint64_t code);

/* NULL if there is none of this code. */
static inline const struct abbrev *abbrevs_find(const struct abbrevs *t, uint64_t code)
{
	if (!t->dense)
		return abbrevs_find_sparse(t, code);
	return code - 1 < t->at.n ? &t->at.at[code - 1] : NULL;
}

void abbrevs_skip_indirect(struct cursor *c, const struct abbrevs *t);

/* Moves past the fields of an entry. */
static inline void abbrevs_skip(const struct abbrevs *t, const struct abbrev *a, struct cursor *c)
{
	const struct skip *s = t->skips.at + a->skips;
	if (a->is_fixed) {
		cursor_skip(c, a->fixed_size);
		return;
	}
	for (uint32_t i = 0; i < a->n_skips; i++, s++) {
		switch (s->kind) {
		case SKIP_FIXED:
			cursor_skip(c, s->size);
			break;
		case SKIP_LEB:
			cursor_uleb(c);
			break;
		case SKIP_STRING:
			cursor_str(c);
			break;
		case SKIP_BLOCK:
			cursor_skip(c, cursor_uleb(c));
			break;
		case SKIP_BLOCK1:
			cursor_skip(c, cursor_u8(c));
			break;
		case SKIP_BLOCK2:
			cursor_skip(c, cursor_u16(c));
			break;
		case SKIP_BLOCK4:
			cursor_skip(c, cursor_u32(c));
			break;
		case SKIP_INDIRECT:
			abbrevs_skip_indirect(c, t);
			break;
		}
	}
}

#endif

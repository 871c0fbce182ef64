/* dwarf_template.h - types without a name among the arguments of a template.
 *
 * GCC writes a closure type in the names of what is made with it as "run(int)::<lambda(int)>",
 * whichever lambda of the function it is. The entry's arguments say which: they refer to the type,
 * or to one that was made with it. */
#ifndef OBJECT_DWARF_TEMPLATE_H
#define OBJECT_DWARF_TEMPLATE_H

#include "object/dwarf_info.h"

struct dwarf_type { /* the entry of a type */
	const struct dwarf_unit *unit;
	uint64_t offset;
};

struct dwarf_types {
	VEC(struct dwarf_type) at;
};

/* Appends the types that have no name, or are called "<lambda...", of the arguments of the function
 * or class with the entry at an offset, in the order in which its name has them: those of arguments
 * made with them as well. `work_left`: as of dwarf_scopes_new(); what is beyond is left out. */
void dwarf_template_types(struct dwarf_info *d, const struct dwarf_unit *u, uint64_t offset,
			  uint64_t *work_left, struct dwarf_types *ret);

#endif

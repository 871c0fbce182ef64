/* dwarf_template.h - unnamed types among the arguments of a template.
 *
 * In the names of templates GCC writes every closure type as "run(int)::<lambda(int)>", whichever
 * lambda of the function it is. The arguments in the template's entry tell which: they refer to the
 * closure type, or to a type made with it. */
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

/* Appends the types that have no name, or are called "<lambda...", among the arguments of the
 * function or class with the entry at an offset, in the order of its name, including types inside
 * of arguments. `work_left`: as for dwarf_scopes_new(); types beyond that are left out. */
void dwarf_template_types(struct dwarf_info *d, const struct dwarf_unit *u, uint64_t offset,
			  uint64_t *work_left, struct dwarf_types *ret);

#endif

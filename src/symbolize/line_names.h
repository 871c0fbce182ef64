/* line_names.h - the functions that runs of lines belong to, by the names that their symbols have.
 *
 * The debug information may name a function by another of its symbols: "__GI___libc_free", where
 * the symbol shown is "free"; or by what it is a copy of, "f" in "f.constprop.0". Then the symbol's
 * name is the function's, as in all reports. */
#ifndef SYMBOLIZE_LINE_NAMES_H
#define SYMBOLIZE_LINE_NAMES_H

#include "object/object.h"

/* Names the functions of `n` runs of the object, by address, of which `t` has the symbols:
 * runs without a function, as of assembler sources, and all of them with `no_inlines`, have that of
 * their symbol. */
void line_names_set(const struct symbol_table *t, struct line_run *runs, size_t n, bool no_inlines);

/* Gives a symbol's name to the runs whose function is called by another name of that symbol. What
 * is left with another name is of code inlined. */
void line_names_unite(struct object_file *o, const struct symbol_table *t, struct line_run *runs,
		      size_t n);

#endif

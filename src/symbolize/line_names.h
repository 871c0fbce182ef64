/* line_names.h - names the functions that runs of lines belong to as their symbols do.
 *
 * The debug information may name a function by another of its symbols: "__GI___libc_free", where
 * the symbol shown is "free"; or a copy by the original: "f" for "f.constprop.0". Such runs get the
 * symbol's name, as in all reports. */
#ifndef SYMBOLIZE_LINE_NAMES_H
#define SYMBOLIZE_LINE_NAMES_H

#include "object/object.h"

/* Names the functions of `n` runs by the object's symbols, `t`: those of runs without a function
 * (assembler sources), and with `no_inlines` those of all runs. */
void line_names_set(const struct symbol_table *t, struct line_run *runs, size_t n, bool no_inlines);

/* Where a run's function is another name of its symbol, gives it the symbol's shown name. Runs that
 * keep another name are inlined code. */
void line_names_unite(struct object_file *o, const struct symbol_table *t, struct line_run *runs,
		      size_t n);

#endif

/* draw.h - a call graph drawn by Graphviz's dot, where that is installed. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include <stdio.h>

#include "base/base.h"

struct kin_error;
struct kin_table;

/* Writes the report "graph" as SVG. KIN_ERROR_UNSUPPORTED: dot is not installed. */
MUST_CHECK struct kin_error *draw_svg(struct kin_table *graph, bool full_names, FILE *out);

#endif

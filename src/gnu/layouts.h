/* layouts.h - the report layouts of GNU's and BSD's gprof, byte for byte. */
#ifndef GNU_LAYOUTS_H
#define GNU_LAYOUTS_H

#include "table/render.h"

/* GNU gprof's layouts of the reports "flat", "graph" and "index", and those for -T. */
extern const struct renderer gnu_flat_renderer, gnu_flat_traditional_renderer, gnu_graph_renderer,
	gnu_graph_traditional_renderer, gnu_index_renderer, gnu_index_traditional_renderer;

/* GNU gprof's layouts of a source file (gnu/annotate_files.h) and of the report "counts". */
extern const struct renderer gnu_annotate_renderer, gnu_counts_renderer;
/* BSD gprof's layouts; flat profiles differ between the BSDs. Their index is that of -T. */
extern const struct renderer freebsd_flat_renderer, openbsd_flat_renderer, bsd_graph_renderer;

#endif

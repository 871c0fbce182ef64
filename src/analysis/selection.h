/* selection.h - symbols and arcs that the user included or excluded: gprof's include and exclude
 * tables. Filled from symspecs by gnu/, read by the analysis and the reports. */
#ifndef ANALYSIS_SELECTION_H
#define ANALYSIS_SELECTION_H

#include "base/vec.h"
#include "symbolize/symbols.h"

enum sel { /* one bit each per symbol */
	   SEL_INCL_GRAPH,
	   SEL_EXCL_GRAPH,
	   SEL_INCL_TIME,
	   SEL_EXCL_TIME,
	   SEL_INCL_FLAT,
	   SEL_EXCL_FLAT,
	   SEL_INCL_ANNO,
	   SEL_EXCL_ANNO,
	   SEL_INCL_EXEC,
	   SEL_EXCL_EXEC,
	   SEL_N
};

struct sel_arc {          /* all arcs from one of `from` to one of `to` */
	symid *from, *to; /* ascending and distinct; owned; NULL: any symbol */
	size_t n_from, n_to;
};

struct selection {
	size_t n_symbols;
	uint16_t *bits;  /* [n_symbols], 1 << enum sel; NULL: nothing selected */
	bool any[SEL_N]; /* whether some symbol has the bit */
	VEC(struct sel_arc) incl_arcs, excl_arcs;
	bool any_incl_arc; /* arcs outside incl_arcs are excluded */
	uint8_t *arc_from; /* [n_symbols]: 1 << 0 if in some incl_arcs.from, 1 << 1 if in some
			      excl_arcs.from */
};

void selection_init(struct selection *s, size_t n_symbols);
void selection_add(struct selection *s, enum sel which, symid id);
/* Takes ownership of arc.from and arc.to. Even an included arc with an empty side sets
 * any_incl_arc: do not add it if it must have no effect. */
void selection_add_arc(struct selection *s, bool include, struct sel_arc arc);
void selection_done(struct selection *s);

static inline bool selection_in(const struct selection *s, enum sel which, symid id)
{
	return s->bits && s->bits[id] & 1u << which;
}

/* The profiler's own functions, which are excluded from time, graph and flat profile by default;
 * NULL-terminated. The first SELECTION_GNU_EXCLUDES of them are those of GNU gprof. */
enum { SELECTION_GNU_EXCLUDES = 6 };
extern const char *const selection_profiler_functions[];
void selection_exclude_profiler(struct selection *s, const struct symbols *symbols);

/* Whether the symbol is in the include table, or that is empty and the symbol is not in the exclude
 * table. `incl` is one of the SEL_INCL_*; the exclude table is the one after it. */
static inline bool selection_wants(const struct selection *s, enum sel incl, symid id)
{
	return s->any[incl] ? selection_in(s, incl, id) : !selection_in(s, incl + 1, id);
}

bool selection_wants_arc(const struct selection *s, symid from, symid to);

#endif

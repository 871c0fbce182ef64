/* selection.h - which symbols and arcs a person asked to see or leave out: gprof's include and
 * exclude tables. Filled from symspecs by gprof/, read by the analysis and the reports. */
#ifndef ANALYSIS_SELECTION_H
#define ANALYSIS_SELECTION_H

#include "base/vec.h"
#include "symbolize/symbols.h"

enum sel { /* one bit each per symbol */
	SEL_INCL_GRAPH, SEL_EXCL_GRAPH,
	SEL_INCL_TIME, SEL_EXCL_TIME,
	SEL_INCL_FLAT, SEL_EXCL_FLAT,
	SEL_INCL_ANNO, SEL_EXCL_ANNO,
	SEL_INCL_EXEC, SEL_EXCL_EXEC,
	SEL_N
};

struct sel_arc {	/* all arcs from one of `from` to one of `to`; NULL: from or to anything */
	uint8_t *from, *to; /* [n_symbols] booleans, owned */
};

struct selection {
	size_t n_symbols;
	uint16_t *bits;	  /* [n_symbols], 1 << enum sel; NULL: nothing was asked for */
	bool any[SEL_N];  /* whether some symbol has the bit */
	VEC(struct sel_arc) incl_arcs, excl_arcs;
	bool any_incl_arc; /* an included arc spec matched symbols on both sides */
};

void selection_init(struct selection *s, size_t n_symbols);
void selection_add(struct selection *s, enum sel which, symid id);
void selection_done(struct selection *s);

static inline bool selection_in(const struct selection *s, enum sel which, symid id)
{
	return s->bits && s->bits[id] & 1u << which;
}

/* In the include table, or that is empty and it is not in the exclude table. `incl` is one of the
 * SEL_INCL_*; the exclude table is the one after it. */
static inline bool selection_wants(const struct selection *s, enum sel incl, symid id)
{
	return s->any[incl] ? selection_in(s, incl, id) : !selection_in(s, incl + 1, id);
}

bool selection_wants_arc(const struct selection *s, symid from, symid to);

#endif

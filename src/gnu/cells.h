/* cells.h - cells of fixed width for the gprof layouts, collected in one buffer per line because a
 * large call graph has millions of lines. */
#ifndef GNU_CELLS_H
#define GNU_CELLS_H

#include "gnu/layouts.h"

struct line {
	char *buf; /* grows */
	size_t n, cap;
	FILE *out; /* destination of buf; NULL: not known yet */
};

/* Room for the next n bytes, for callers that write them directly and add their number to l->n. */
char *line_room(struct line *l, size_t n);
void line_char(struct line *l, char c);
void line_blanks(struct line *l, size_t n);
void line_text(struct line *l, const char *s);
/* "%*s" (negative width: left-aligned), truncated to |cut| characters if cut is not 0: "%*.*s". */
void line_field(struct line *l, const char *s, int width, size_t cut);
void line_fieldn(struct line *l, const char *s, size_t n, int width,
		 size_t cut);                           /* s has n characters */
void line_count(struct line *l, uint64_t v, int width); /* "%*lu" */
void line_fixed(struct line *l, double v, unsigned width, unsigned decimals); /* "%*.*f" */
void line_name(struct line *l, const char *name,
	       const struct render_opts *o); /* escaped unless raw */
void line_namen(struct line *l, const char *name, size_t n,
		const struct render_opts *o); /* name[n] is NUL */
bool name_is_plain(const char *name,
		   size_t n); /* nothing in name[n] needs escaping; name[n] is NUL */
/* Ends the line, which is written, together with others, by line_done() at the latest. Nothing else
 * may be written to `out` until then. */
void line_end(struct line *l, FILE *out);
void line_end_bare(struct line *l, FILE *out); /* without a newline */
void line_done(struct line *l);

/* Positions of the named columns; an error names the first that is missing. */
MUST_CHECK struct kin_error *gnu_columns(const struct kin_table *t, const char *format,
					 const char *const *keys, size_t n, size_t *ret);
double gnu_number(const struct kin_table *t, const char *key); /* a property; 0 if there is none */
const char *gnu_text(const struct kin_table *t, const char *key); /* likewise; "" */

/* Whether times are from sampled stacks, so that there is no histogram. */
bool gnu_is_of_stacks(const struct kin_table *t, const struct render_opts *o);
/* "granularity: each sample hit covers 4 byte(s) for 1.41% of 0.71 seconds" and a blank line. */
void gnu_granularity(const struct kin_table *t, const struct render_opts *o, double total,
		     const char *dimension, const char *without_time, FILE *out);

extern const char gnu_flat_blurb[], gnu_graph_blurb[], bsd_graph_notes[], freebsd_flat_notes[];

#endif

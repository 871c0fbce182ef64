/* output.h - where a report goes: a file, standard output, or a pager if there is more of it than
 * the terminal shows. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdio.h>

#include "base/base.h"

struct kin_error;

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct output_opts {
	const char *path; /* NULL or "-": standard output */
	enum color_when color;
	bool no_pager;
	bool has_width; /* width was given: 0 is unlimited */
	unsigned width;
	int status; /* what to exit with if the reader quits the pager early */
};

struct output {
	FILE *stream;
	const char *name; /* for messages */
	bool color;
	unsigned width;      /* 0: unlimited */
	struct pager *pager; /* NULL: none */
};

MUST_CHECK struct kin_error *output_open(const struct output_opts *o, struct output *ret);
/* Waits for the pager. Says whether everything could be written. */
MUST_CHECK struct kin_error *output_close(struct output *out);

#endif

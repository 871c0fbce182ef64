/* output.h - the destination of a report: a file, standard output, or a pager if the report is
 * longer than the terminal. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdio.h>
#include <sys/types.h>

#include "base/base.h"

struct kin_error;
struct out;

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct output_opts {
	const char *path; /* NULL or "-": standard output */
	mode_t mode;      /* widest permissions of a file */
	enum color_when color;
	bool no_pager;
	bool has_width; /* width was given: 0 is unlimited */
	unsigned width;
};

/* The mistake that standard output is named to a command that writes a file in its place. */
#define OUTPUT_NEEDS_NAME "-o -: this command writes a file, which has a name: -o FILE.kin"

struct output {
	FILE *stream;
	const char *name; /* for messages */
	bool color;
	unsigned width;      /* 0: unlimited */
	unsigned lines;      /* of the terminal; 0: not a terminal */
	bool is_seen;        /* the output is shown on a terminal, perhaps by the pager */
	struct pager *pager; /* NULL: none */
	struct out *file;    /* NULL: standard output */
};

/* The width of the terminal at a descriptor; if that is a pipe, the value of COLUMNS; 0: not
 * known. */
unsigned output_columns(int fd);

/* Whether output with these options would be shown on a terminal. */
bool output_is_terminal(const struct output_opts *o);
/* `status`: the exit status if the reader quits the pager early. */
MUST_CHECK struct kin_error *output_open(const struct output_opts *o, int status,
					 struct output *ret);
/* Closes the output and waits for the pager. After an error an existing file is as it was, and none
 * is created. Returns err, the error so far, or if that is NULL a write error. */
MUST_CHECK struct kin_error *output_finish(struct output *out, struct kin_error *err);

#endif

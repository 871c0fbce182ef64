/* output.h - where a report goes: a file, standard output, or a pager if there is more of it than
 * the terminal shows. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdio.h>
#include <sys/types.h>

#include "base/base.h"

struct kin_error;

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct output_opts {
	const char *path; /* NULL or "-": standard output */
	mode_t mode;      /* what a file may allow at most */
	enum color_when color;
	bool no_pager;
	bool has_width; /* width was given: 0 is unlimited */
	unsigned width;
};

struct output {
	FILE *stream;
	const char *name; /* for messages */
	bool color;
	unsigned width;           /* 0: unlimited */
	unsigned lines;           /* of the terminal; 0: it is none */
	bool is_seen;             /* it ends on a terminal */
	struct pager *pager;      /* NULL: none */
	struct output_file *file; /* NULL: none of our own */
};

/* Columns of the terminal that a file is, or of what a pipe leads to, where COLUMNS says so; 0: not
 * known. */
unsigned output_columns(int fd);

/* Whether what is opened with these would be read on a terminal. */
bool output_is_terminal(const struct output_opts *o);
/* `status` is what to exit with if the reader quits the pager early. */
MUST_CHECK struct kin_error *output_open(const struct output_opts *o, int status,
					 struct output *ret);
/* Closes it and waits for the pager. If something went wrong before anything was written, a file
 * that was there stays as it was, and one that was not there is not. Returns err, what went wrong
 * so far, or if that is NULL whether everything could be written. */
MUST_CHECK struct kin_error *output_finish(struct output *out, struct kin_error *err);

#endif

/* opt.h - command line options from tables.
 *
 * A table is the one place where an option is described: the parser, --help, the man page and the
 * shells' completions all read it. Letters may be clustered (-ab) and take their argument glued or
 * as the next word (-oFILE, -o FILE); long names may be cut to a unique prefix and take it with "="
 * or as the next word. An optional argument is only taken glued or with "=". Options and operands
 * mix; "--" ends the options.
 *
 *	struct opt_parser p = opt_parser(groups, argc, argv);
 *	for (int id; (id = opt_next(&p)) != OPT_END;)
 *		switch (id) { case OPT_OPERAND: ... p.arg ...; case OPT_ERROR: ... p.error ...; }
 */
#ifndef OPTIONS_OPT_H
#define OPTIONS_OPT_H

#include "base/base.h"

enum opt_completion {
	COMPLETE_NOTHING,
	COMPLETE_FILE,
	COMPLETE_DIRECTORY,
	COMPLETE_FORMAT /* that is written */
};

/* Whether the letter may go without the argument that follows it: at the end of the line, before an
 * option, and before some words. */
enum opt_lenience {
	ARG_NEEDED,
	ARG_OR_OPTION, /* where there are `values`, before a word that is none of them; the long
			* name may, too, but not before a word */
	ARG_OR_FILE,   /* before the name of a file that is none of the `values`: perf's -f, which
			* does nothing here */
};

/* A row of a table ends with the last of these that says something. */
struct opt {
	int id;             /* what opt_next() returns, > 0; 0 ends the table */
	char letter;        /* 0: only a long name */
	const char *name;   /* NULL: only a letter */
	const char *arg;    /* "FILE"; "[STYLE]" if it may be left out; NULL: takes none */
	const char *help;   /* a sentence without a full stop */
	const char *values; /* "text json csv": all there are; NULL: anything */
	enum opt_completion completion;
	enum opt_lenience lenient;
	bool more; /* behind a value a comma and more may follow; who takes it checks it */
};

struct opt_refusal { /* an option of another program that people type, and what to do instead */
	char letter; /* 0: none */
	const char *name; /* NULL ends the list */
	const char *why;  /* a phrase without a full stop: "kin info says that" */
};

struct opt_group {
	const char *title;
	const struct opt *opts;
};

enum { OPT_END = 0, OPT_OPERAND = -1, OPT_ERROR = -2 };

struct opt_parser {
	const struct opt_group *const *groups; /* NULL-terminated */
	const struct opt_refusal *const
		*refused; /* NULL-terminated; NULL: none. Set by the caller */
	int argc;
	char **argv;         /* borrowed: arguments point into it */
	int next;            /* index of the next word */
	const char *letters; /* rest of a cluster */
	bool ended;          /* "--" was seen */
	const char *arg;     /* of the option returned, NULL if none; or the operand */
	char error[512];     /* after OPT_ERROR: one line */
};

/* argv[0] is skipped. */
struct opt_parser opt_parser(const struct opt_group *const *groups, int argc, char **argv);
/* After OPT_ERROR it may be called again, to see what else there is. */
int opt_next(struct opt_parser *p);

static inline bool opt_arg_is_optional(const struct opt *o) { return o->arg && o->arg[0] == '['; }

#endif

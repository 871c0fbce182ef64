/* gnu_options.h - the command line of gprof in its GNU dialect.
 *
 * Options are described only in gprof_option_table[]: the parser, --help, the man page and the
 * shells' completions are made from it. Letters may be clustered (-bp), an optional argument is
 * glued to its letter (-pmain, never -p main), long names may be cut to a unique prefix, options
 * may follow file names (unless POSIXLY_CORRECT is set) and "--" ends them. */
#ifndef GNU_GNU_OPTIONS_H
#define GNU_GNU_OPTIONS_H

#include <stdio.h>

#include "base/vec.h"
#include "gnu/symspec.h"
#include "input/input.h"

enum gprof_arg { GPROF_ARG_NONE, GPROF_ARG_REQUIRED, GPROF_ARG_OPTIONAL };

struct gprof_option {
	int key;               /* the letter; above 255: only a long name */
	const char *long_name; /* NULL: only a letter */
	enum gprof_arg arg;
	const char *arg_name; /* "SYMSPEC"; NULL without argument */
	const char *help;     /* a sentence without a full stop */
	const char *group;    /* heading of the options from here on; NULL: the same as before */
};

extern const struct gprof_option gprof_option_table[];
extern const size_t gprof_n_options;

/* 0 if it has only a long name */
static inline char gprof_option_letter(const struct gprof_option *o)
{
	return o->key < 256 ? (char)o->key : 0;
}

enum gprof_style { /* what to print: a bit mask */
		   STYLE_FLAT = 1,
		   STYLE_GRAPH = 2,
		   STYLE_COUNTS = 4,
		   STYLE_ANNOTATE = 8,
		   STYLE_INFO = 16,
		   STYLE_FUNCTION_ORDER = 32,
		   STYLE_FILE_ORDER = 64,
		   STYLE_SUM = 128,
};

enum gprof_dialect { DIALECT_GNU, DIALECT_FREEBSD, DIALECT_OPENBSD };

enum gprof_compat {
	COMPAT_NO,     /* figures and layout are corrected where GNU's are wrong */
	COMPAT_OUTPUT, /* output as of GNU gprof 2.40; messages and exit status are kin's */
	COMPAT_GNU,    /* messages and exit status, too */
};

enum gprof_action { GPROF_RUN, GPROF_HELP, GPROF_VERSION };

struct gprof_options {
	enum gprof_action action;
	const char *whoami; /* argv[0] */
	bool is_misused; /* an unknown option, or a missing argument: printing the usage may help */
	enum gprof_dialect dialect;
	enum gprof_compat compat;
	unsigned styles;    /* enum gprof_style: requested */
	unsigned mentioned; /* requested or suppressed */
	bool brief, zeroes, traditional, print_path, inline_file_names;
	bool no_static, functions_only, static_calls, lines;
	bool all_lines, separate_files; /* -x, -y */
	enum demangle_style demangle;
	uint64_t min_count;    /* -m */
	uint32_t table_length; /* -t */
	uint32_t width;        /* -w */
	enum input_format format;
	bool format_prof;          /* -Op: known and not supported */
	const char *symbol_file;   /* -S; NULL: the executable's own symbols */
	const char *file_map;      /* -R */
	VEC(char *) source_dirs;   /* -I in order, then GPROF_PATH, then NULL; owned */
	VEC(struct symspec) specs; /* in the order given; the texts are argv's */
	const char *executable;
	VEC(const char *) data; /* never empty */
};

/* Parses argv[1..]; argv must outlive *ret, which is set even on error (KIN_ERROR_USAGE): its
 * `compat` says how to word the error. `compat`: unless an option says otherwise. `gprof_path` is
 * the environment's GPROF_PATH, or NULL. Options that take effect at once (-h, -v) end the parsing.
 */
MUST_CHECK struct kin_error *gprof_options_parse(int argc, char **argv, enum gprof_compat compat,
						 const char *gprof_path, struct gprof_options *ret);
void gprof_options_done(struct gprof_options *o);

/* The dialect that the command line requests, found before anything else is parsed: --dialect=NAME
 * or --dialect NAME. GNU by default. */
MUST_CHECK struct kin_error *gprof_dialect_of(int argc, char **argv, enum gprof_dialect *ret);

void gprof_usage(FILE *out);                         /* two lines */
void gprof_usage_gnu(const char *whoami, FILE *out); /* in the words of GNU gprof 2.40 */
void gprof_help(FILE *out);

#endif

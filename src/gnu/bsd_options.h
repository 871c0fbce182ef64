/* bsd_options.h - the command line of gprof in its BSD dialects.
 *
 * Simpler than GNU's: options come before operands. Each option is a word of its own, of which only
 * the first letter counts; its argument is the next word. --help, --version, --dialect=NAME and --
 * are added here; --dialect may stand anywhere. */
#ifndef GNU_BSD_OPTIONS_H
#define GNU_BSD_OPTIONS_H

#include <stdio.h>

#include "base/vec.h"
#include "gnu/gnu_options.h"

struct bsd_option {
	char letter;
	uint8_t n_args;
	bool freebsd_only;
	const char *args; /* "NAME"; NULL: no argument */
	const char *help; /* a sentence without a full stop */
};

extern const struct bsd_option bsd_option_table[];
extern const size_t bsd_n_options;

struct bsd_spec {
	char letter;           /* e E f F k */
	const char *name, *to; /* from argv; to: only for -k */
};

struct bsd_options {
	enum gprof_action action;
	enum gprof_dialect dialect;
	bool brief, zeroes, no_static, static_calls, sum;
	bool no_graph, no_flat, no_dotted; /* -l -L -u */
	bool break_cycles;
	uint32_t max_cycle;
	VEC(struct bsd_spec) specs; /* in the order given */
	const char *executable;
	VEC(const char *) data; /* never empty */
	char *default_data;     /* FreeBSD's default; owned */
};

/* Parses argv[1..]; argv must outlive *ret, which must be released even on error (KIN_ERROR_USAGE).
 * Options that are ignored, as on the BSDs, are reported on `warnings`. */
MUST_CHECK struct kin_error *bsd_options_parse(int argc, char **argv, enum gprof_dialect dialect,
					       FILE *warnings, struct bsd_options *ret);
void bsd_options_done(struct bsd_options *o);

void bsd_usage(enum gprof_dialect dialect, FILE *out); /* two lines */
void bsd_help(enum gprof_dialect dialect, FILE *out);

#endif

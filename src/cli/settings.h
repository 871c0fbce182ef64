/* settings.h - what the command line of a kin command asks for. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "base/arena.h"
#include "base/vec.h"
#include "cli/opt.h"
#include "cli/output.h"
#include "kin/kin.h"

struct command;

struct string_list {
	VEC(const char *) at; /* with a NULL after the last */
};

struct settings {
	const struct command *command;
	const char *executable;      /* NULL: to be found */
	struct string_list programs; /* operands, if the command compares */
	struct string_list data;
	struct string_list subjects;
	const char *debug_dir, *demangle;
	struct string_list source_dirs, gcov;
	const char *format; /* NULL: the command's usual one */
	const char *sort, *layout;
	const char *by, *time;
	bool assembly, with_source, all_lines; /* "annotate" only */
	struct string_list threads, comms, objects, events;
	char *columns_text; /* what the list below points into */
	struct string_list columns;
	double min_share;
	struct output_opts output;
	bool help, version, strict;
	/* "report" only */
	struct kin_hists_opts hists;
	struct kin_script_opts script; /* "script" only */
	char *call_graph;              /* owned */
	struct arena config;           /* of what a file says */
	const char *symfs, *kallsyms, *separator, *widths;
	bool tui; /* "report" */
	bool quiet, stats;
	unsigned about; /* enum kin_about */
	bool only_about;
	bool top_no_children; /* what a file says for kin top */
	bool no_branches;     /* samples as they are, though branches were recorded */
	/* "diff" only */
	struct kin_diff_opts diff;
	bool limited;
	double limit; /* of the total's growth, 0.05: 5 % */
};

/* The options that commands share, by subject. */
extern const struct opt_group input_options, recording_options, names_options, select_options,
	output_options, source_options, coverage_options, part_options, general_options;
/* What perf report and perf script both know, and no command here. */
extern const struct opt_refusal recording_refusals[];
enum {
	OPT_EXECUTABLE = 1,
	OPT_DATA,
	OPT_DEBUG_DIR,
	OPT_STRICT,
	OPT_INPUT,
	OPT_SYMFS,
	OPT_KALLSYMS,
	OPT_DEMANGLE,
	OPT_NO_DEMANGLE,
	OPT_SOURCE_DIR,
	OPT_GCOV,
	OPT_SORT,
	OPT_COLUMNS,
	OPT_MIN_SHARE,
	OPT_BY,
	OPT_THREAD,
	OPT_COMM,
	OPT_OBJECT,
	OPT_EVENT,
	OPT_SPAN,
	OPT_FORMAT,
	OPT_OUTPUT,
	OPT_COLOR,
	OPT_NO_PAGER,
	OPT_WIDTH,
	OPT_FOR,
	OPT_HELP,
	OPT_VERSION,
	OPT_OWN = 1000, /* a command's own begin here */
};

/* argv[0] is skipped; strings point into argv. On failure error[] holds one line. --help and
 * --version end the parsing. */
MUST_CHECK bool settings_parse(const struct command *c, int argc, char **argv, struct settings *ret,
			       char error[512]);
void settings_done(struct settings *s);

/* "auto", "always", "never" */
void set_color(struct output_opts *o, const char *when);

/* As the library wants it: NULL-terminated, or NULL if empty. */
static inline const char *const *string_list(const struct string_list *l)
{
	return l->at.n ? l->at.at : NULL;
}

#endif

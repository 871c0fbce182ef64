/* settings.h - the parsed command line of a kin command. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "base/arena.h"
#include "base/vec.h"
#include "cli/output.h"
#include "kin/kin.h"
#include "options/opt.h"
#include "perf/perf_config.h"

struct command;
struct fetching;

struct settings {
	const struct command *command;
	const char *executable;      /* NULL: search for it */
	struct string_list programs; /* operands, if the command compares */
	struct string_list data;
	struct string_list subjects;
	char *const *command_behind; /* "--", if the command takes one; NULL: there is no "--" */
	const char *debug_dir, *demangle;
	struct string_list source_dirs, gcov;
	const char *format; /* NULL: the command's default */
	const char *sort;
	const char *by, *time;
	bool assembly, with_source, all_lines; /* "annotate" only */
	struct string_list threads, comms, ranks, objects, events;
	struct arena words; /* memory of lists split into words */
	struct string_list columns;
	double min_share;
	bool has_min_share;
	size_t max_threads;      /* "info" */
	bool intel, of_function; /* "annotate" */
	bool every_row;          /* "imbalance" */
	bool sum_ranks;          /* "merge" */
	struct output_opts output;
	bool help, version, strict;
	bool full_names; /* --full-names */
	bool no_inlines, no_names, debuginfod, no_debuginfod, with_hooks;
	enum own_choice { OWN_DEFAULT, OWN_YES, OWN_NO } own;
	struct string_list own_dirs, foreign_dirs;
	struct fetching *fetching; /* owned; NULL: no debuginfod */
	/* "report" only */
	struct kin_hists_opts hists;
	struct kin_script_opts script; /* "script" only */
	struct kin_html_opts page;     /* "html" only */
	bool opens_page;               /* the same */
	char *call_graph;              /* owned */
	struct perf_config config;     /* from a configuration file, */
	bool read_config;              /* if it was read */
	const char *symfs, *kallsyms, *separator, *widths;
	bool tui; /* "report" */
	bool quiet, stats;
	unsigned about; /* enum kin_about */
	bool only_about;
	bool no_branches; /* use samples, even if branches were recorded */
	struct push_settings {
		const char *service, *version, *host;
		struct string_list labels;
		uint32_t bucket_s; /* 0: default */
	} push;                    /* "push" and "agent" */
	struct agent_settings {
		uint64_t frequency, every_ns, spool_bytes; /* 0: default */
		const char *spool;                         /* NULL: default */
		char *events;                              /* all -e, joined; NULL: default */
	} agent;                                           /* "agent" only */
	unsigned keep_days;                                /* "tidy"; 0: keep all */
	/* "diff", "compare" and "check" */
	struct kin_diff_opts diff;
	struct check_settings {
		struct check_limit {
			bool given, off;
			double share; /* allowed growth, as a share */
		} time, calls;
		struct string_list functions;
		const char *findings; /* kinds, separated by commas; NULL: none are checked */
		unsigned runs;
	} check; /* "check" only */
};

/* Whether names are shown whole, rather than in the form for people: by option, or because they are
 * in a style that the user chose. */
bool settings_full_names(const struct settings *s);

/* Reads the user's configuration file; errors in it are warnings. */
void settings_read_config(struct settings *s);
/* Puts the directories of the configuration file before those of the command line. */
void settings_add_own_dirs(struct settings *s);

/* Options that commands share, grouped by subject. */
extern const struct opt_group graph_output_options; /* output_options with formats of pictures */
extern const struct opt_group input_options, recording_options, names_options, inline_options,
	own_options, select_options, output_options, difference_output_options, source_options,
	coverage_options, part_options, general_options;
extern const struct opt_group chosen_part_options; /* part_options without --by */
/* All options of a command that prints a report of functions and has no options of its own. */
extern const struct opt_group *const report_command_options[];
extern const struct opt_group *const shared_options[]; /* kin help options; NULL-terminated */
enum {
	OPT_EXECUTABLE = 1,
	OPT_DEBUGINFOD,
	OPT_NO_DEBUGINFOD,
	OPT_DEMANGLE,
	OPT_NO_DEMANGLE,
	OPT_FULL_NAMES,
	OPT_EXPAND_INLINED,
	OPT_FOLD_INLINED,
	OPT_OWN_CODE,
	OPT_FOREIGN_CODE,
	OPT_COLUMNS,
	OPT_MIN_SHARE,
	OPT_THREADS_LIST,
	OPT_COMMS_LIST,
	OPT_OBJECTS_LIST,
	OPT_FORMAT,
	OPT_FORCE,
	OPT_NO_NAMES,
	OPT_NO_RANK,
	OPT_RANK,
	OPT_OUTPUT,
	OPT_COLOR,
	OPT_NO_PAGER,
	OPT_WIDTH,
	OPT_HELP,
	OPT_VERSION,
	OPT_OWN = 1000, /* ids of a command's own options begin here */
};

/* Option rows with the same meaning everywhere, for this table and for perf's. */
#define OPTION_BY(help)                                                                            \
	{                                                                                          \
		OPT_FIELD, 0, "by", "WHAT", help, "thread process run rank event object",          \
			OPT_SETS(struct settings, by)                                              \
	}
#define OPTIONS_OF_PARTS                                                                           \
	{ OPT_FIELD,                                                                               \
	  0,                                                                                       \
	  "thread",                                                                                \
	  "THREAD",                                                                                \
	  "only samples of this thread: NAME, NUMBER or NAME/NUMBER; this option and the next "    \
	  "three may be repeated",                                                                 \
	  OPT_SETS(struct settings, threads) },                                                    \
		{ OPT_FIELD,                                                                       \
		  0,                                                                               \
		  "comm",                                                                          \
		  "NAME",                                                                          \
		  "only samples of threads with this name",                                        \
		  OPT_SETS(struct settings, comms) },                                              \
		{ OPT_FIELD,                                                                       \
		  0,                                                                               \
		  "object",                                                                        \
		  "FILE",                                                                          \
		  "only samples taken, and calls of functions, in this program or library",        \
		  NULL,                                                                            \
		  COMPLETE_FILE,                                                                   \
		  OPT_SETS(struct settings, objects) },                                            \
		{ OPT_FIELD,                                                                       \
		  0,                                                                               \
		  "event",                                                                         \
		  "EVENT",                                                                         \
		  "only samples of this event; default for reports of time: the first "            \
		  "event that counts CPU time, or the first",                                      \
		  OPT_SETS(struct settings, events) },                                             \
	{                                                                                          \
		OPT_RANK, 0, "rank", "RANKS",                                                      \
			"only samples of these ranks of a parallel job: 3, 0-7, or a list of "     \
			"them"                                                                     \
	}

/* Separates rows by thread, process ...: puts that key before the keys of rows ("tid,comm,dso,sym")
 * or, if columns were chosen, after these. Does nothing for events, which have tables of their own.
 * Returns memory to be freed after `h`; NULL: none. */
char *settings_rows_by(const char *by, struct kin_hists_opts *h);

/* argv[0] is skipped; strings point into argv. On failure error[] holds one line. --help and
 * --version end the parsing. */
MUST_CHECK bool settings_parse(const struct command *c, int argc, char **argv, struct settings *ret,
			       char error[512]);
/* Sets one option, for commands that parse their command line themselves. False: error[] is set. */
MUST_CHECK bool settings_set(struct settings *s, const struct opt *row, const char *arg,
			     char error[512]);
void settings_done(struct settings *s);

/* "auto", "always", "never" */
void set_color(struct output_opts *o, const char *when);

/* The list in the library's form: NULL-terminated, or NULL if empty. */
static inline const char *const *string_list(const struct string_list *l)
{
	return l->at.n ? l->at.at : NULL;
}

#endif

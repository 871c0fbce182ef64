/* command.h - the description of a command. Each cmd_X.c defines one; command.c lists them.
 *
 * "kin help", the man pages and the shells' completions are made from it. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/settings.h"
#include "options/opt.h"

struct example {
	const char *command;
	const char *meaning; /* a sentence without a full stop */
};

enum command_group { /* in the order of kin help */
		     COMMANDS_START,
		     COMMANDS_GPROF,
		     COMMANDS_PERF,
		     COMMANDS_COMPARE,
		     COMMANDS_MANY,
		     COMMANDS_MORE,
};

struct command {
	const char *name;
	enum command_group group;
	const char *summary;                      /* a phrase without a full stop */
	const char *operands;                     /* "[PROGRAM] [DATA]..." */
	const char *const *description;           /* paragraphs; NULL-terminated */
	const struct opt_group *const *options;   /* NULL-terminated */
	const struct opt_refusal *const *refused; /* NULL: none */
	const struct example *examples;           /* ends with an element without a command */
	const char *exit_status;                  /* a paragraph; NULL: as for most commands */
	bool takes_pipe; /* without named data it reads standard input if that is a pipe, like perf
			  */
	bool names_subjects;  /* operands that are no files are functions or files of the program */
	bool compares_ranks;  /* compares ranks of a parallel job: its notes say which are
				 missing */
	bool compares;        /* several operands may be programs: settings.programs */
	bool lists_formats;   /* help and man page list the formats that are written */
	bool writes_profiles; /* its output may be a profile, and may replace a profile that it
				 wrote before */
	bool takes_command;   /* words after "--" are another command: settings.command_behind */
	bool is_in_fleet;     /* kin-fleet has it (cli/fleet.h); kin knows its name */
	bool main_is_elsewhere; /* gprof: has its own command line and main function */
	/* Parses the command line itself, using `options`, because it includes another program's.
	 * NULL: settings_parse() does. Not called if --help or --version come first. */
	int (*run_words)(const struct command *c, int argc, char **argv);
	/* Sets one of the command's own options: ids from OPT_OWN on; false: error[] is set. NULL:
	 * it has none. */
	bool (*set)(struct settings *s, int id, const char *arg, char error[512]);
	bool (*begin)(struct settings *s,
		      char error[512]); /* called before any option is set; NULL: nothing to do */
	/* Tells which data the command does not need, so that it is not read. NULL: it needs
	 * all. */
	void (*narrow)(const struct settings *s, struct kin_open_opts *o);
	int (*run)(const struct settings *s); /* returns the exit status */
};

extern const struct command agent_command;
extern const struct command annotate_command;
extern const struct command browse_command;
extern const struct command cc_command;
extern const struct command check_command;
extern const struct command compare_command;
extern const struct command counts_command;
extern const struct command cycles_command;
extern const struct command diff_command;
extern const struct command export_command;
extern const struct command flat_command;
extern const struct command gprof_command;
extern const struct command graph_command;
extern const struct command html_command;
extern const struct command info_command;
extern const struct command imbalance_command;
extern const struct command findings_command;
extern const struct command latency_command;
extern const struct command lines_command;
extern const struct command mark_command;
extern const struct command merge_command;
extern const struct command pack_command;
extern const struct command push_command;
extern const struct command record_command;
extern const struct command report_command;
extern const struct command run_command;
extern const struct command script_command;
extern const struct command tidy_command;
extern const struct command top_command;

extern const struct command *const commands[]; /* NULL-terminated, sorted by group */

const struct command *command_find(const char *name); /* NULL: none */

#endif

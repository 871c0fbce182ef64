/* command.h - what a command is. Each cmd_X.c defines one; command.c lists them.
 *
 * Everything said here about a command is shown by "kin help", and made into its man page and the
 * shells' completions. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/settings.h"
#include "options/opt.h"

struct example {
	const char *command;
	const char *meaning; /* a sentence without a full stop */
};

enum command_group { /* in the order of kin help */
		     COMMANDS_COLLECT,
		     COMMANDS_LOOK,
		     COMMANDS_DATA,
		     COMMANDS_GPROF,
};

struct command {
	const char *name;
	enum command_group group;
	const char *summary;                      /* a phrase without a full stop */
	const char *operands;                     /* "[PROGRAM] [DATA]..." */
	const char *const *description;           /* paragraphs; NULL-terminated */
	const struct opt_group *const *options;   /* NULL-terminated */
	const struct opt_refusal *const *refused; /* NULL: none */
	const struct example *examples;           /* until one without a command */
	const char *exit_status;                  /* a paragraph; NULL: what most commands have */
	bool takes_pipe; /* without data named, reads standard input if that is a pipe, as perf */
	bool names_subjects;  /* operands that are no files are functions or files of the program */
	bool compares;        /* operands that are programs may be several: settings.programs */
	bool lists_formats;   /* help and man page list the formats that are written */
	bool writes_profiles; /* what it writes may be a profile itself, and replace one it wrote */
	bool main_is_elsewhere; /* has its own command line: gprof */
	/* Reads its command line itself, by `options`: what it is given is another program's, too.
	 * NULL: settings_parse() does. Not for --help and --version, when they come first. */
	int (*run_words)(const struct command *c, int argc, char **argv);
	/* Of options of its own: ids from OPT_OWN on; false: error[] is set. NULL: it has none. */
	bool (*set)(struct settings *s, int id, const char *arg, char error[512]);
	bool (*begin)(struct settings *s,
		      char error[512]); /* before any option; NULL: nothing to do */
	/* Leaves out of what is read of the data what the command has no use for. NULL: nothing. */
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
extern const struct command latency_command;
extern const struct command lines_command;
extern const struct command mark_command;
extern const struct command merge_command;
extern const struct command order_command;
extern const struct command pack_command;
extern const struct command push_command;
extern const struct command record_command;
extern const struct command report_command;
extern const struct command run_command;
extern const struct command script_command;
extern const struct command tidy_command;
extern const struct command top_command;

extern const struct command *const commands[]; /* NULL-terminated, by group */

const struct command *command_find(const char *name); /* NULL if none */

#endif

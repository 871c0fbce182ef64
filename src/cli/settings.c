/* settings.c - the tables of shared options, and the code that sets them. */
#include "cli/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/wordlist.h"
#include "cli/arg.h"
#include "cli/command.h"
#include "cli/content.h"
#include "cli/fetching.h"
#include "cli/message.h"

#define DEMANGLE_STYLES "tidy auto none gnu-v3 rust dlang java gnat"

/* Where names come from, and what is taken off: of groups of input. */
#define DEBUG_FILE_ROWS                                                                            \
	{ OPT_FIELD,                                                                               \
	  0,                                                                                       \
	  "debug-dir",                                                                             \
	  "DIRECTORY",                                                                             \
	  "directory of separate debug files, instead of /usr/lib/debug",                          \
	  NULL,                                                                                    \
	  COMPLETE_DIRECTORY,                                                                      \
	  OPT_SETS(struct settings, debug_dir) },                                                  \
		{ OPT_DEBUGINFOD, 0, "debuginfod", NULL,                                           \
		  "ask the distribution's servers (/etc/debuginfod/*.urls) for debug files, "      \
		  "programs "                                                                      \
		  "and sources that are not here, unless DEBUGINFOD_URLS names others; always: "   \
		  "debuginfod.system = true in ~/.kinconfig" },                                    \
		{ OPT_NO_DEBUGINFOD, 0, "no-debuginfod", NULL,                                     \
		  "do not ask servers, those in DEBUGINFOD_URLS neither" },                        \
	{                                                                                          \
		OPT_FIELD, 0, "with-hooks", NULL,                                                  \
			"leave in the time that counting calls took (of kin run on a program "     \
			"built with "                                                              \
			"-pg); otherwise it is taken off, and said to be",                         \
			OPT_SETS(struct settings, with_hooks)                                      \
	}

const struct opt_group input_options = {
	"Input",
	(const struct opt[]){
		{ OPT_EXECUTABLE, 'e', "executable", "PROGRAM",
		  "the program that was profiled; otherwise an operand that is an ELF file, a.out, "
		  "or the only program built with -pg beside the data or here",
		  NULL, COMPLETE_FILE },
		{ OPT_FIELD, 'i', "input", "FILE",
		  "profile to read, or directory of them; repeatable. Default: the other "
		  "operands, else the newer in this directory of the last recording (*.kin, "
		  "perf.data) and gmon.out, gmon.out.*",
		  NULL, COMPLETE_FILE, OPT_SETS(struct settings, data) },
		{ OPT_FIELD, 'd', "data", "FILE", "the same as --input", NULL, COMPLETE_FILE,
		  OPT_SETS(struct settings, data) },
		{ OPT_FIELD, 0, "symfs", "DIRECTORY",
		  "look for programs and libraries of a recording below this directory", NULL,
		  COMPLETE_DIRECTORY, OPT_SETS(struct settings, symfs) },
		DEBUG_FILE_ROWS,
		{ OPT_FIELD, 0, "strict", NULL,
		  "exit with an error status after reporting if the data is unreliable: errors or "
		  "losses while recording, truncated stacks, time without a place, unreadable "
		  "files with names, or a profile of another program; kin help all info has the "
		  "list",
		  OPT_SETS(struct settings, strict) },
		{ 0 },
	},
	OPTS_SHARED,
};

const struct opt_group recording_options = {
	"Input",
	(const struct opt[]){
		{ OPT_FIELD, 'i', "input", "FILE", "the recording, instead of an operand", NULL,
		  COMPLETE_FILE, OPT_SETS(struct settings, data) },
		{ OPT_FIELD, 0, "data", "FILE", "the same as --input", NULL, COMPLETE_FILE,
		  OPT_SETS(struct settings, data) },
		{ OPT_EXECUTABLE, 'e', "executable", "PROGRAM", "the program that was profiled",
		  NULL, COMPLETE_FILE },
		{ OPT_FIELD, 0, "symfs", "DIRECTORY",
		  "look for programs and libraries below this directory", NULL, COMPLETE_DIRECTORY,
		  OPT_SETS(struct settings, symfs) },
		{ OPT_FIELD, 'k', "kallsyms", "FILE", "symbols of the kernel, as in /proc/kallsyms",
		  NULL, COMPLETE_FILE, OPT_SETS(struct settings, kallsyms) },
		DEBUG_FILE_ROWS,
		{ OPT_FIELD, 0, "strict", NULL,
		  "exit with an error status after reporting if the data is unreliable; kin help "
		  "info has the list",
		  OPT_SETS(struct settings, strict) },
		{ OPT_FORCE, 0, "force", NULL,
		  "accepted for compatibility with perf, without effect: files of other users are "
		  "read anyway" },
		{ 0 },
	},
	OPTS_SHARED,
};

const struct opt_group names_options = {
	"Names",
	(const struct opt[]){
		{ OPT_DEMANGLE, 0, "demangle", "[STYLE]",
		  "show C++, Rust, D and Fortran names as in the source; STYLE is one of tidy (the "
		  "default: without default template arguments, as std::string), auto "
		  "(with all of them), none, gnu-v3, rust, dlang, java, gnat",
		  DEMANGLE_STYLES, OPT_SETS(struct settings, demangle) },
		{ OPT_NO_DEMANGLE, 0, "no-demangle", NULL,
		  "show mangled names, as the linker uses them" },
		{ OPT_FULL_NAMES, 0, "full-names", NULL,
		  "show names of functions whole: with return types, parameters of templates' "
		  "instances, default template arguments and endings that compilers add. Formats "
		  "that programs read have whole names anyway, as have names in another STYLE "
		  "than tidy",
		  OPT_SETS(struct settings, full_names) },
		{ 0 },
	},
	OPTS_SHARED,
};

const struct opt_group inline_options = {
	"Inlined functions",
	(const struct opt[]){
		{ OPT_EXPAND_INLINED, 0, "inline", NULL,
		  "show inlined functions as functions (the default)",
		  OPT_CLEARS(struct settings, no_inlines) },
		{ OPT_FOLD_INLINED, 0, "no-inline", NULL,
		  "attribute inlined code to the function it was inlined into",
		  OPT_SETS(struct settings, no_inlines) },
		{ 0 },
	},
	OPTS_SHARED,
};

const struct opt_group own_options = {
	"Own code",
	(const struct opt[]){
		{ OPT_OWN_CODE, 0, "own", "[DIRECTORY]",
		  "charge the code of others (libraries, inlined templates, the kernel) to the own "
		  "function that calls it; what is in DIRECTORY is own, repeatable. --own=no: do "
		  "not, which is the default except for first screens",
		  NULL, COMPLETE_DIRECTORY },
		{ OPT_FOREIGN_CODE, 0, "foreign", "DIRECTORY",
		  "the same, and what is in DIRECTORY is the code of others; repeatable", NULL,
		  COMPLETE_DIRECTORY },
		{ 0 },
	},
	OPTS_SHARED,
};

const struct opt_group source_options = {
	"Sources",
	(const struct opt[]){
		{ OPT_FIELD, 'I', "source-dir", "DIRECTORY",
		  "search this directory, too, for sources that are not at the path in the "
		  "program; repeatable",
		  NULL, COMPLETE_DIRECTORY, OPT_SETS(struct settings, source_dirs) },
		{ 0 },
	},
	OPTS_SHARED,
};

const struct opt_group coverage_options = {
	"Coverage",
	(const struct opt[]){
		{ OPT_FIELD, 0, "gcov", "FILE",
		  "executions of lines as gcov --json-format writes them (X.gcov.json.gz), of this "
		  "or any other build of the same sources; repeatable",
		  NULL, COMPLETE_FILE, OPT_SETS(struct settings, gcov) },
		{ 0 },
	},
};

const struct opt_group select_options = {
	"Selection",
	(const struct opt[]){
		{ OPT_FIELD, 's', "sort", "COLUMN",
		  "sort rows by this column, ascending; -COLUMN: descending",
		  OPT_SETS(struct settings, sort) },
		{ OPT_COLUMNS, 'c', "columns", "LIST",
		  "show these columns, in this order: KEY,KEY,... or all; +KEY,... adds to the "
		  "usual ones. An unknown key prints the list of valid keys" },
		{ OPT_COLUMNS, 'F', "fields", "LIST", "the same as --columns" },
		{ OPT_MIN_SHARE, 'm', "min-share", "PERCENT",
		  "hide rows below this share of the total (0.5 or 0.5%)" },
		{ OPT_MIN_SHARE, 0, "percent-limit", "PERCENT", "the same as --min-share" },
		{ 0 },
	},
	OPTS_SHARED,
};

#define OPTIONS_OF_PART_LISTS                                                                      \
	{ OPT_FIELD,                                                                               \
	  0,                                                                                       \
	  "time",                                                                                  \
	  "SPAN",                                                                                  \
	  "only samples in this interval: START,STOP in seconds (+START,STOP: since the "          \
	  "first "                                                                                 \
	  "sample), 10%-20%, or 10%/2 (the second tenth)",                                         \
	  OPT_SETS(struct settings, time) },                                                       \
		{ OPT_THREADS_LIST, 0, "tid", "THREADS",                                           \
		  "the same as --thread, for each of a list" },                                    \
		{ OPT_COMMS_LIST, 0, "comms", "NAMES", "the same as --comm, for each of a list" }, \
	{                                                                                          \
		OPT_OBJECTS_LIST, 0, "dsos", "FILES", "the same as --object, for each of a list"   \
	}

const struct opt_group part_options = {
	"Parts of the data",
	(const struct opt[]){
		OPTION_BY("a section for each thread, process, run (of kin record -r), rank of a "
			  "parallel job, event or object"),
		OPTIONS_OF_PARTS,
		OPTIONS_OF_PART_LISTS,
		{ 0 },
	},
	OPTS_SHARED,
};

const struct opt_group chosen_part_options = {
	"Parts of the data",
	(const struct opt[]){
		OPTIONS_OF_PARTS,
		OPTIONS_OF_PART_LISTS,
		{ 0 },
	},
	OPTS_SHARED,
};

/* Options about output, without the format. */
#define OPTIONS_OF_OUTPUT                                                                          \
	{ OPT_OUTPUT, 'o',          "output", "FILE", "write to FILE instead of standard output",  \
	  NULL,       COMPLETE_FILE },                                                             \
		{ OPT_COLOR,                                                                       \
		  0,                                                                               \
		  "color",                                                                         \
		  "WHEN",                                                                          \
		  "auto (the default: on a terminal, unless NO_COLOR is set), always or never",    \
		  "auto always never" },                                                           \
		{ OPT_WIDTH, 'w', "width", "COLUMNS",                                              \
		  "truncate names so that lines fit; 0: never. Default: width of the terminal, "   \
		  "or 0" },                                                                        \
		{ OPT_NO_PAGER, 0, "no-pager", NULL, "do not use a pager" },                       \
	{                                                                                          \
		0                                                                                  \
	}

const struct opt_group output_options = {
	"Output",
	(const struct opt[]){
		{ OPT_FORMAT, 'f', "format", "FORMAT", "text (the default), json or csv",
		  "text json csv", .lenient = ARG_OR_FILE },
		OPTIONS_OF_OUTPUT,
	},
	OPTS_SHARED,
};

const struct opt_group graph_output_options = {
	"Output",
	(const struct opt[]){
		{ OPT_FORMAT, 'f', "format", "FORMAT",
		  "text (the default), json or csv; dot: the graph for Graphviz; svg: drawn by its "
		  "dot. Pictures leave out what has less than 0.5 % of the time: --min-share",
		  "text json csv dot svg", .lenient = ARG_OR_FILE },
		OPTIONS_OF_OUTPUT,
	},
	OPTS_SHARED,
};

const struct opt_group difference_output_options = {
	"Output",
	(const struct opt[]){
		{ OPT_FORMAT, 'f', "format", "FORMAT",
		  "text (the default), json or csv; html: a page with the differential flame graph",
		  "text json csv html", .lenient = ARG_OR_FILE },
		OPTIONS_OF_OUTPUT,
	},
	OPTS_SHARED,
};

const struct opt_group general_options = {
	"General",
	(const struct opt[]){
		{ OPT_HELP, 'h', "help", NULL, "print this help", OPT_SETS(struct settings, help) },
		{ OPT_VERSION, 'V', "version", NULL, "print the version",
		  OPT_SETS(struct settings, version) },
		{ 0 },
	},
	OPTS_SHARED,
};

const struct opt_group *const report_command_options[] = {
	&input_options, &names_options,  &inline_options,  &own_options, &select_options,
	&part_options,  &output_options, &general_options, NULL,
};

const struct opt_group *const shared_options[] = {
	&input_options,  &names_options, &inline_options, &own_options,     &source_options,
	&select_options, &part_options,  &output_options, &general_options, NULL,
};

static bool set_executable(struct settings *s, const char *path, char error[512])
{
	if (s->executable) {
		snprintf(error, 512, "two programs given: %.200s and %.200s%s", s->executable, path,
			 s->command->names_subjects ? "; a function goes behind --" : "");
		return false;
	}
	s->executable = path;
	return true;
}

bool settings_full_names(const struct settings *s)
{
	return s->full_names || (s->demangle && strcmp(s->demangle, "tidy") != 0);
}

/* ---- operands ---- */

/* Whether the word names a function: a program may be named after one of its functions. Once the
 * program is known, its name means the function. */
static bool is_function_of(const char *program, const char *word)
{
	return program && !strchr(word, '/') && !strcmp(base_name(program), word);
}

/* Programs are recognised by their contents. So is data, if the operand could also be a function or
 * a source file; old BSD's data cannot be recognised and needs -d. */
static bool add_operand(struct settings *s, const char *word, bool after_dashes, char error[512])
{
	if (s->command->names_subjects && (after_dashes || is_function_of(s->executable, word))) {
		string_list_add(&s->subjects, word);
		return true;
	}
	enum content content = content_of(word);
	if (content == CONTENT_PROGRAM && s->command->compares) {
		string_list_add(&s->programs, word);
		return true;
	}
	if (content == CONTENT_PROGRAM)
		return set_executable(s, word, error);
	if (!s->command->names_subjects || content == CONTENT_PROFILE ||
	    content == CONTENT_FOLDER || (s->command->begin && content == CONTENT_OTHER) ||
	    !strcmp(word, "-") || file_is_descriptor(word) || file_is_fifo(word) ||
	    content_named_profile(word) ||
	    (content == CONTENT_NONE && content_nearly_named_profile(word)))
		string_list_add(&s->data, word);
	else
		string_list_add(&s->subjects, word);
	return true;
}

/* ---- options ---- */

static bool set_share(struct settings *s, const char *arg, char error[512])
{
	if (!arg_share(arg, 0, 100, &s->min_share))
		return arg_bad("--min-share", arg, "a percentage from 0 to 100", error);
	s->has_min_share = true;
	return true;
}

void set_color(struct output_opts *o, const char *when)
{
	o->color = when[1] == 'l' ? COLOR_ALWAYS : when[1] == 'e' ? COLOR_NEVER : COLOR_AUTO;
}

static bool set_width(struct settings *s, const char *arg, char error[512])
{
	uint64_t n;
	if (!arg_u64(arg, 0, 1000000, &n))
		return arg_bad("--width", arg, "a number of columns", error);
	s->output.has_width = true;
	s->output.width = (unsigned)n;
	return true;
}

static void set_columns(struct settings *s, const char *arg)
{
	struct word w;
	s->columns.at.n = 0;
	while (words_next(&arg, ",", &w))
		string_list_add(&s->columns, word_copy(&s->words, w));
}

/* Adds each word of "WORD,WORD". */
static void add_each(struct settings *s, struct string_list *l, const char *words)
{
	struct word w;
	while (words_next_name(&words, &w))
		string_list_add(l, word_copy(&s->words, w));
}

char *settings_rows_by(const char *by, struct kin_hists_opts *h)
{
	static const char *const keys[][2] = { { "thread", "tid" },
					       { "process", "pid" },
					       { "run", "run" },
					       { "rank", "rank" },
					       { "object", "dso" } };
	const char *key = NULL;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(by, keys[i][0]))
			key = keys[i][1];
	if (!key)
		return NULL;
	char *text;
	if (h->fields && !h->sort)
		h->fields = text = xprintf("%s,%s", h->fields, key);
	else if (h->sort && *h->sort == '+')
		h->sort = text = xprintf("%s,comm,dso,sym,%s", key, h->sort + 1);
	else
		h->sort = text = xprintf("%s,%s", key, h->sort ? h->sort : "comm,dso,sym");
	return text;
}

bool settings_set(struct settings *s, const struct opt *row, const char *arg, char error[512])
{
	if (opt_store(row, "struct settings", s, arg))
		return true;
	if (row->id >= OPT_OWN)
		return s->command->set(s, row->id, arg, error);
	switch (row->id) {
	case OPT_EXECUTABLE:
		return set_executable(s, arg, error);
	case OPT_DEBUGINFOD:
	case OPT_NO_DEBUGINFOD:
		s->debuginfod = row->id == OPT_DEBUGINFOD;
		s->no_debuginfod = !s->debuginfod;
		break;
	case OPT_NO_DEMANGLE:
		s->demangle = "none";
		break;
	case OPT_OWN_CODE:
		s->own = arg && !strcmp(arg, "no") ? OWN_NO : OWN_YES;
		if (arg && s->own == OWN_YES)
			string_list_add(&s->own_dirs, arg);
		break;
	case OPT_FOREIGN_CODE:
		s->own = OWN_YES;
		string_list_add(&s->foreign_dirs, arg);
		break;
	case OPT_COLUMNS:
		set_columns(s, arg);
		break;
	case OPT_MIN_SHARE:
		return set_share(s, arg, error);
	case OPT_THREADS_LIST:
		add_each(s, &s->threads, arg);
		break;
	case OPT_COMMS_LIST:
		add_each(s, &s->comms, arg);
		break;
	case OPT_RANK:
		add_each(s, &s->ranks, arg);
		break;
	case OPT_OBJECTS_LIST:
		add_each(s, &s->objects, arg);
		break;
	case OPT_FORMAT:
		s->format = arg ? arg : s->format;
		break;
	case OPT_FORCE:
		break;
	case OPT_NO_NAMES:
		s->no_names = true;
		break;
	case OPT_OUTPUT:
		s->output.path = arg;
		break;
	case OPT_COLOR:
		set_color(&s->output, arg);
		break;
	case OPT_NO_PAGER:
		s->output.no_pager = true;
		break;
	case OPT_WIDTH:
		return set_width(s, arg, error);
	}
	return true;
}

void settings_add_own_dirs(struct settings *s)
{
	struct string_list own = s->own_dirs, foreign = s->foreign_dirs;
	s->own_dirs = s->foreign_dirs = (struct string_list){ 0 };
	if (s->own == OWN_YES && !s->read_config)
		settings_read_config(s);
	for (size_t i = 0; i < s->config.own_dirs.n; i++)
		string_list_add(&s->own_dirs, s->config.own_dirs.at[i]);
	for (size_t i = 0; i < s->config.foreign_dirs.n; i++)
		string_list_add(&s->foreign_dirs, s->config.foreign_dirs.at[i]);
	for (size_t i = 0; i < own.at.n; i++)
		string_list_add(&s->own_dirs, own.at.at[i]);
	for (size_t i = 0; i < foreign.at.n; i++)
		string_list_add(&s->foreign_dirs, foreign.at.at[i]);
	vec_free(&own.at);
	vec_free(&foreign.at);
}

/* Whether the distribution's servers are asked, by option or by the configuration file. */
static bool asks_system(struct settings *s)
{
	if (!s->debuginfod && !s->read_config && fetching_has_system())
		settings_read_config(s);
	return s->debuginfod || s->config.debuginfod_system;
}

bool settings_parse(const struct command *c, int argc, char **argv, struct settings *ret,
		    char error[512])
{
	struct opt_parser p = opt_parser(c->options, argc, argv);
	p.refused = c->refused;
	*ret = (struct settings){ .command = c };
	if (c->begin && !c->begin(ret, error))
		return false;
	for (int id; !ret->help && !ret->version && (id = opt_next(&p)) != OPT_END;) {
		if (c->takes_command && id == OPT_OPERAND && p.ended) {
			p.next--;
			break;
		}
		if (id == OPT_ERROR) {
			memcpy(error, p.error, sizeof(p.error));
			return false;
		}
		bool good = id == OPT_OPERAND ? add_operand(ret, p.arg, p.ended, error)
					      : settings_set(ret, p.row, p.arg, error);
		if (!good)
			return false;
	}
	if (c->takes_command && p.ended)
		ret->command_behind = argv + p.next;
	if (c->takes_pipe && !ret->data.at.n && !ret->help && !ret->version && content_is_piped())
		string_list_add(&ret->data, "-");
	settings_add_own_dirs(ret);
	if (!ret->no_debuginfod)
		ret->fetching = fetching_new(asks_system(ret));
	return true;
}

void settings_read_config(struct settings *s)
{
	char error[512];
	perf_config_read(&s->config, error);
	s->read_config = true;
	if (*error)
		message(s->command->name, "warning: %s", error);
}

void settings_done(struct settings *s)
{
	fetching_free(s->fetching);
	free(s->call_graph);
	perf_config_done(&s->config);
	arena_release(&s->words);
	vec_free(&s->push.labels.at);
	free(s->agent.events);
	vec_free(&s->data.at);
	vec_free(&s->programs.at);
	vec_free(&s->subjects.at);
	vec_free(&s->source_dirs.at);
	vec_free(&s->own_dirs.at);
	vec_free(&s->foreign_dirs.at);
	vec_free(&s->gcov.at);
	vec_free(&s->columns.at);
	vec_free(&s->threads.at);
	vec_free(&s->comms.at);
	vec_free(&s->ranks.at);
	vec_free(&s->objects.at);
	vec_free(&s->events.at);
	vec_free(&s->check.functions.at);
}

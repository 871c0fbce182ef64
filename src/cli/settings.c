#include "cli/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/arg.h"
#include "cli/command.h"
#include "cli/content.h"

#define DEMANGLE_STYLES "tidy auto none gnu-v3 rust dlang java gnat"

const struct opt_group input_options = {
	"Input",
	(const struct opt[]){
		{ OPT_EXECUTABLE, 'e', "executable", "PROGRAM",
		  "the program that was profiled; otherwise an operand that is an ELF file, a.out, "
		  "or the only program built with -pg beside the data or here",
		  NULL, COMPLETE_FILE },
		{ OPT_DATA, 'd', "data", "FILE",
		  "a profile, or a folder with gmon.out files; may be repeated; otherwise the "
		  "other operands, or what is newer here: the last recording (*.kin, perf.data), "
		  "or gmon.out and gmon.out.*",
		  NULL, COMPLETE_FILE },
		{ OPT_SYMFS, 0, "symfs", "FOLDER",
		  "look for programs and libraries of a recording below this folder", NULL,
		  COMPLETE_DIRECTORY },
		{ OPT_DEBUG_DIR, 0, "debug-dir", "FOLDER",
		  "where separate debug files are, instead of /usr/lib/debug", NULL,
		  COMPLETE_DIRECTORY },
		{ OPT_STRICT, 0, "strict", NULL,
		  "fail, after all is done, if the data is less than what it should be: samples or "
		  "calls were lost, more than 1 % of the stacks were cut short, sampled CPU time "
		  "is 5 % off the kernel's, or it is of another program",
		  NULL, COMPLETE_NOTHING },
		{ 0 },
	},
};

const struct opt_group recording_options = {
	"Input",
	(const struct opt[]){
		{ OPT_INPUT, 'i', "input", "FILE", "the recording, instead of an operand", NULL,
		  COMPLETE_FILE },
		{ OPT_EXECUTABLE, 'e', "executable", "PROGRAM", "the program that was profiled",
		  NULL, COMPLETE_FILE },
		{ OPT_SYMFS, 0, "symfs", "FOLDER",
		  "look for programs and libraries below this folder", NULL, COMPLETE_DIRECTORY },
		{ OPT_KALLSYMS, 'k', "kallsyms", "FILE",
		  "symbols of the kernel, as in /proc/kallsyms", NULL, COMPLETE_FILE },
		{ OPT_DEBUG_DIR, 0, "debug-dir", "FOLDER",
		  "where separate debug files are, instead of /usr/lib/debug", NULL,
		  COMPLETE_DIRECTORY },
		{ OPT_STRICT, 0, "strict", NULL,
		  "fail, after all is done, if the data is less than what it should be: see kin "
		  "info",
		  NULL, COMPLETE_NOTHING },
		{ 0 },
	},
};

const struct opt_refusal recording_refusals[] = {
	{ 0, "vmlinux",
	  "--kallsyms FILE names the kernel's symbols; its debug file is found by itself" },
	{ 0, "itrace",
	  "traces by the hardware are not decoded: perf inject --itrace makes samples of them" },
	{ 0, "stitch-lbr", "stacks by LBR are as deep as the CPU's record" },
	{ 0, "switch-on", "--time START,STOP shows a part of the recording" },
	{ 0, "switch-off", "--time START,STOP shows a part of the recording" },
	{ 0, "show-on-off-events", "--time START,STOP shows a part of the recording" },
	{ 0, "full-source-path", "kin lines has the whole paths of sources" },
	{ 0 },
};

const struct opt_group names_options = {
	"Names",
	(const struct opt[]){
		{ OPT_DEMANGLE, 0, "demangle", "[STYLE]",
		  "show C++, Rust, D and Fortran names as in the source; STYLE is one of tidy (the "
		  "default: without template arguments that nobody wrote, as std::string), auto "
		  "(with all of them), none, gnu-v3, rust, dlang, java, gnat",
		  DEMANGLE_STYLES, COMPLETE_NOTHING },
		{ OPT_NO_DEMANGLE, 0, "no-demangle", NULL, "show names as the linker sees them",
		  NULL, COMPLETE_NOTHING },
		{ 0 },
	},
};

const struct opt_group source_options = {
	"Sources",
	(const struct opt[]){
		{ OPT_SOURCE_DIR, 'I', "source-dir", "FOLDER",
		  "search sources here too when they are not where the program says; may be "
		  "repeated",
		  NULL, COMPLETE_DIRECTORY },
		{ 0 },
	},
};

const struct opt_group coverage_options = {
	"Coverage",
	(const struct opt[]){
		{ OPT_GCOV, 0, "gcov", "FILE",
		  "executions of lines as gcov --json-format writes them (X.gcov.json.gz), of this "
		  "or any other build of the same sources; may be repeated",
		  NULL, COMPLETE_FILE },
		{ 0 },
	},
};

const struct opt_group select_options = {
	"Selection",
	(const struct opt[]){
		{ OPT_SORT, 's', "sort", "COLUMN",
		  "order rows by this column, smallest first; -COLUMN: largest first", NULL,
		  COMPLETE_NOTHING },
		{ OPT_COLUMNS, 'c', "columns", "LIST",
		  "show these columns, in this order: KEY,KEY,... or all; +KEY,... adds to the "
		  "usual ones. A wrong key is answered with the right ones",
		  NULL, COMPLETE_NOTHING },
		{ OPT_MIN_SHARE, 'm', "min-share", "PERCENT",
		  "hide what takes less than this share of the total (0.5 or 0.5%)", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

const struct opt_group part_options = {
	"Parts of the data",
	(const struct opt[]){
		{ OPT_BY, 0, "by", "WHAT",
		  "a section for each thread, process, run (of kin record -r), event or object",
		  "thread process run event object", COMPLETE_NOTHING },
		{ OPT_THREAD, 0, "thread", "THREAD",
		  "only what this thread did: NAME, NUMBER or NAME/NUMBER; this option and the "
		  "next three may be repeated",
		  NULL, COMPLETE_NOTHING },
		{ OPT_COMM, 0, "comm", "NAME", "only threads of this name", NULL,
		  COMPLETE_NOTHING },
		{ OPT_OBJECT, 0, "object", "FILE",
		  "only samples taken, and calls of functions, in this program or library", NULL,
		  COMPLETE_FILE },
		{ OPT_EVENT, 0, "event", "EVENT",
		  "only samples of this event; otherwise times are of the first that counts time "
		  "on a CPU, or of the first",
		  NULL, COMPLETE_NOTHING },
		{ OPT_SPAN, 0, "time", "SPAN",
		  "only samples between START,STOP in seconds, with a + from the first sample on, "
		  "or of 10%-20%, or 10%/2",
		  NULL, COMPLETE_NOTHING },
		{ 0 },
	},
};

const struct opt_group output_options = {
	"Output",
	(const struct opt[]){
		{ OPT_FORMAT, 'f', "format", "FORMAT", "text (the default), json or csv",
		  "text json csv", COMPLETE_NOTHING },
		{ OPT_OUTPUT, 'o', "output", "FILE", "write to FILE instead of standard output",
		  NULL, COMPLETE_FILE },
		{ OPT_COLOR, 0, "color", "WHEN",
		  "auto (the default: on a terminal, unless NO_COLOR is set), always or never",
		  "auto always never", COMPLETE_NOTHING },
		{ OPT_WIDTH, 'w', "width", "COLUMNS",
		  "cut names so that lines fit; 0: never. The default is the terminal's width, or "
		  "0",
		  NULL, COMPLETE_NOTHING },
		{ OPT_NO_PAGER, 0, "no-pager", NULL,
		  "never start a pager, however long the output is", NULL, COMPLETE_NOTHING },
		{ 0 },
	},
};

const struct opt_group general_options = {
	"General",
	(const struct opt[]){
		{ OPT_HELP, 'h', "help", NULL, "say how the command is used", NULL,
		  COMPLETE_NOTHING },
		{ OPT_VERSION, 'V', "version", NULL, "say which version this is", NULL,
		  COMPLETE_NOTHING },
		{ 0 },
	},
};

static void add(struct string_list *l, const char *word)
{
	vec_reserve(&l->at, 2);
	l->at.at[l->at.n++] = word;
	l->at.at[l->at.n] = NULL;
}

static bool set_executable(struct settings *s, const char *path, char error[512])
{
	if (s->executable) {
		snprintf(error, 512, "two programs are named: %.200s and %.200s", s->executable,
			 path);
		return false;
	}
	s->executable = path;
	return true;
}

/* ---- operands ---- */

/* Programs are recognised by their content. So is data, if the operand could be a function or a
 * source file as well (old BSD's data has nothing to recognise it by: that takes -d). */
static bool add_operand(struct settings *s, const char *word, bool after_dashes, char error[512])
{
	if (s->command->names_subjects && after_dashes) {
		add(&s->subjects, word);
		return true;
	}
	enum content content = content_of(word);
	if (content == CONTENT_PROGRAM && s->command->compares) {
		add(&s->programs, word);
		return true;
	}
	if (content == CONTENT_PROGRAM)
		return set_executable(s, word, error);
	if (!s->command->names_subjects || content == CONTENT_PROFILE ||
	    content == CONTENT_FOLDER || (s->command->begin && content == CONTENT_OTHER) ||
	    !strcmp(word, "-") || file_is_descriptor(word) || content_named_profile(word))
		add(&s->data, word);
	else
		add(&s->subjects, word);
	return true;
}

/* ---- options ---- */

static bool set_share(struct settings *s, const char *arg, char error[512])
{
	double percent;
	if (!arg_double(arg, "%", 0, 100, &percent))
		return arg_bad("--min-share", arg, "a percentage from 0 to 100", error);
	s->min_share = percent / 100;
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
	free(s->columns_text);
	s->columns.at.n = 0;
	s->columns_text = xalloc(strlen(arg) + 1);
	strcpy(s->columns_text, arg);
	char *save = NULL;
	for (char *key = strtok_r(s->columns_text, ",", &save); key;
	     key = strtok_r(NULL, ",", &save))
		add(&s->columns, key);
}

static bool set(struct settings *s, int id, const struct opt_parser *p, char error[512])
{
	const char *arg = p->arg;
	if (id >= OPT_OWN)
		return s->command->set(s, id, arg, error);
	switch (id) {
	case OPT_OPERAND:
		return add_operand(s, arg, p->ended, error);
	case OPT_EXECUTABLE:
		return set_executable(s, arg, error);
	case OPT_DATA:
	case OPT_INPUT:
		add(&s->data, arg);
		break;
	case OPT_DEBUG_DIR:
		s->debug_dir = arg;
		break;
	case OPT_SYMFS:
		s->symfs = arg;
		break;
	case OPT_KALLSYMS:
		s->kallsyms = arg;
		break;
	case OPT_STRICT:
		s->strict = true;
		break;
	case OPT_DEMANGLE:
		s->demangle = arg ? arg : "tidy";
		break;
	case OPT_NO_DEMANGLE:
		s->demangle = "none";
		break;
	case OPT_SOURCE_DIR:
		add(&s->source_dirs, arg);
		break;
	case OPT_GCOV:
		add(&s->gcov, arg);
		break;
	case OPT_SORT:
		s->sort = arg;
		break;
	case OPT_COLUMNS:
		set_columns(s, arg);
		break;
	case OPT_MIN_SHARE:
		return set_share(s, arg, error);
	case OPT_BY:
		s->by = arg;
		break;
	case OPT_THREAD:
		add(&s->threads, arg);
		break;
	case OPT_COMM:
		add(&s->comms, arg);
		break;
	case OPT_OBJECT:
		add(&s->objects, arg);
		break;
	case OPT_EVENT:
		add(&s->events, arg);
		break;
	case OPT_SPAN:
		s->time = arg;
		break;
	case OPT_FORMAT:
		s->format = arg;
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
	case OPT_FOR:
		s->layout = arg;
		break;
	case OPT_HELP:
		s->help = true;
		break;
	case OPT_VERSION:
		s->version = true;
		break;
	}
	return true;
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
		if (id == OPT_ERROR) {
			memcpy(error, p.error, sizeof(p.error));
			return false;
		}
		if (!set(ret, id, &p, error))
			return false;
	}
	return true;
}

void settings_done(struct settings *s)
{
	free(s->call_graph);
	arena_release(&s->config);
	vec_free(&s->data.at);
	vec_free(&s->programs.at);
	vec_free(&s->subjects.at);
	vec_free(&s->source_dirs.at);
	vec_free(&s->gcov.at);
	vec_free(&s->columns.at);
	vec_free(&s->threads.at);
	vec_free(&s->comms.at);
	vec_free(&s->objects.at);
	vec_free(&s->events.at);
	free(s->columns_text);
}

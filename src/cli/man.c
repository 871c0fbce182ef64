/* man.c - man pages in man(7) macros. */
#include <string.h>

#include "cli/docgen.h"
#include "gnu/bsd_options.h"

/* Writes text for roff: hyphens that can be copied, no accidental requests. */
static void text(FILE *out, const char *s)
{
	if (*s == '.' || *s == '\'')
		fputs("\\&", out);
	for (; *s; s++) {
		if (*s == '\\')
			fputs("\\e", out);
		else if (*s == '-')
			fputs("\\-", out);
		else if (*s == '\'')
			fputs("\\(aq", out);
		else if (*s == '~')
			fputs("\\(ti", out);
		else if (*s == '^')
			fputs("\\(ha", out);
		else
			fputc(*s, out);
	}
}

static void line(FILE *out, const char *before, const char *s, const char *after)
{
	fputs(before, out);
	text(out, s);
	fputs(after, out);
	fputc('\n', out);
}

static void paragraphs(FILE *out, const char *const *p)
{
	for (; *p; p++) {
		fputs(".PP\n", out);
		line(out, "", *p, "");
	}
}

static void heading(FILE *out, const char *page)
{
	fputs(".TH ", out);
	for (const char *p = page; *p; p++)
		fputc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, out);
	fputs(" 1 \"\" \"kin " KIN_VERSION "\" \"User Commands\"\n.nh\n.ad l\n", out);
}

/* ---- options ---- */

static void option(FILE *out, const struct opt *o)
{
	fputs(".TP\n", out);
	if (o->letter)
		fprintf(out, "\\fB\\-%c\\fR", o->letter);
	if (o->letter && o->name)
		fputs(", ", out);
	if (o->name) {
		fputs("\\fB\\-\\-", out);
		text(out, o->name);
		fputs("\\fR", out);
	}
	if (o->arg) {
		bool optional = opt_arg_is_optional(o);
		fprintf(out, "%s%s\\fI", optional ? "[" : "", o->name ? "=" : optional ? "" : " ");
		for (const char *p = o->arg; *p; p++)
			if (*p != '[' && *p != ']')
				fputc(*p, out);
		fprintf(out, "\\fR%s", optional ? "]" : "");
	}
	fputc('\n', out);
	line(out, "", o->help, ".");
}

static void options(FILE *out, const struct command *c)
{
	struct arena a = { 0 };
	const struct opt_group *const *groups = docgen_options(c, &a);
	fputs(".SH OPTIONS\n", out);
	for (; *groups; groups++) {
		line(out, ".SS \"", (*groups)->title, "\"");
		for (const struct opt *o = (*groups)->opts; o->id; o++)
			option(out, o);
	}
	arena_release(&a);
}

/* ---- common to all pages ---- */

struct man_item {
	const char *name, *meaning;
};

static void items(FILE *out, const struct man_item *list)
{
	for (; list->name; list++) {
		line(out, ".TP\n\\fB", list->name, "\\fR");
		line(out, "", list->meaning, "");
	}
}

static const struct man_item exit_statuses[] = {
	{ "0", "All went well." },
	{ "1",
	  "Something could not be read or written. What could be read was reported all the same: a "
	  "truncated file gives a report on what stands before the cut, a message, and this "
	  "status." },
	{ "2",
	  "The command line makes no sense: an unknown option, command, column or function, or "
	  "neither data nor program to be found." },
	{ 0 },
};

static const struct man_item environment[] = {
	{ "KIN_PAGER, PAGER",
	  "The pager, KIN_PAGER first; less -FRX if neither is set. It is started when "
	  "standard output is a terminal and the output is longer than the screen. Empty or "
	  "cat: none." },
	{ "LESS, LESSCHARSET", "Set to FRX and utf-8 for the pager unless they are set already." },
	{ "NO_COLOR", "If it is not empty: no colour, unless --color=always is given." },
	{ "CLICOLOR", "If it is 0: the same." },
	{ "CLICOLOR_FORCE",
	  "If it is neither empty nor 0: colour in files and pipes, too, unless NO_COLOR or "
	  "--color=never is given." },
	{ "TERM", "No colour if it is unset, empty or dumb." },
	{ "DEBUGINFOD_URLS",
	  "Servers, separated by blanks, that are asked for debug files, programs and sources "
	  "that are not here, unless --no-debuginfod is given. Its other variables are those of "
	  "debuginfod-find(1)." },
	{ "KIN_CACHE", "off: nothing is kept in ~/.cache/kin, and what is there is not used." },
	{ "COLUMNS, LINES",
	  "The size of the terminal, if that does not say itself. COLUMNS is also the width of "
	  "what goes to a pipe; without it that is as wide as it has to be." },
	{ 0 },
};

static void exit_status(FILE *out)
{
	fputs(".SH EXIT STATUS\n", out);
	items(out, exit_statuses);
}

/* ---- one command ---- */

static void synopsis(FILE *out, const struct command *c)
{
	fputs(".SH SYNOPSIS\n", out);
	fprintf(out, ".B kin %s\n[\\fIOPTION\\fR]...\n", c->name);
	line(out, "", c->operands, "");
	if (c->main_is_elsewhere)
		line(out, ".br\n.B gprof\n[\\fIOPTION\\fR]...\n", c->operands, "");
}

static void examples(FILE *out, const struct command *c)
{
	if (!c->examples[0].command)
		return;
	fputs(".SH EXAMPLES\n", out);
	for (const struct example *e = c->examples; e->command; e++) {
		line(out, ".TP\n\\fB", e->command, "\\fR");
		line(out, "", e->meaning, ".");
	}
}

static void bsd_option(FILE *out, const struct bsd_option *o)
{
	fprintf(out, ".TP\n\\fB\\-%c\\fR", o->letter);
	if (o->args)
		fprintf(out, " \\fI%s\\fR", o->args);
	fputc('\n', out);
	line(out, "", o->help, o->freebsd_only ? ". FreeBSD only." : ".");
}

static const char *const dialects[] = {
	"With --dialect=freebsd or --dialect=openbsd gprof has the options and the layout that "
	"gprof has there. Everything above holds for the dialect gnu. The call graph, the flat "
	"profile and the index are printed, in this order, unless -l or -L is given. If no data "
	"is named, it is PROGRAM.gmon for FreeBSD and gmon.out for OpenBSD.",
	"Options come before PROGRAM. Each is a word of its own, of which only the first letter "
	"counts (-bz is -b), and arguments are the words after it. Letters that are no option are "
	"ignored, with a warning. A NAME is that of a function as in the symbol table, or that "
	"without an underscore in front; -e, -E, -f, -F and -k may be given several times. "
	"--help, --version and -- are understood, too.",
	"gmon.sum is written in the format of 4.4BSD, which every gprof reads. Where its 16 bits "
	"are not enough for a sum, FreeBSD's wider bins are used in that dialect; what has no room "
	"in these formats is written in GNU's, with a warning.",
	NULL,
};

static void gprof_dialects(FILE *out)
{
	fputs(".SH DIALECTS\n", out);
	paragraphs(out, dialects);
	for (size_t i = 0; i < bsd_n_options; i++)
		bsd_option(out, &bsd_option_table[i]);
}

static const struct man_item gprof_environment[] = {
	{ "GPROF_PATH",
	  "Directories to search sources in, separated by colons, after those given with -I." },
	{ "POSIXLY_CORRECT", "If set, options end at the first file name." },
	{ 0 },
};

static void written_formats(FILE *out)
{
	const struct kin_format *f;
	fputs(".SH FORMATS\n", out);
	for (size_t i = 0; (f = kin_format_at(i)); i++) {
		if (!f->is_written)
			continue;
		line(out, ".TP\n\\fB", f->name, "\\fR");
		line(out, "", f->what, ".");
	}
}

void man_command(const struct command *c, FILE *out)
{
	char page[64];
	snprintf(page, sizeof(page), "kin-%s", c->name);
	heading(out, page);
	fputs(".SH NAME\n", out);
	line(out, "", page, "");
	line(out, "\\- ", c->summary, "");
	synopsis(out, c);
	fputs(".SH DESCRIPTION\n", out);
	paragraphs(out, c->description);
	options(out, c);
	if (c->main_is_elsewhere)
		gprof_dialects(out);
	if (c->lists_formats)
		written_formats(out);
	examples(out, c);
	if (c->exit_status) {
		fputs(".SH EXIT STATUS\n", out);
		line(out, "", c->exit_status, "");
	} else {
		exit_status(out);
	}
	fputs(".SH ENVIRONMENT\n", out);
	items(out, c->main_is_elsewhere ? gprof_environment : environment);
	fputs(".SH SEE ALSO\n.BR kin (1)", out);
	for (size_t i = 0; commands[i]; i++)
		if (commands[i] != c)
			fprintf(out, ",\n.BR kin\\-%s (1)", commands[i]->name);
	fputc('\n', out);
}

/* ---- kin(1) ---- */

static const char *const about[] = {
	"kin shows where programs spend their time, and on whose behalf. Of any program kin record "
	"samples the stacks of calls. In programs compiled with -pg kin run counts every call, in "
	"all threads and libraries, and samples them too. And kin reads what others left: the "
	"gmon.out of such programs, perf.data, folded stacks.",
	"All of it is shown in the same ways. kin report has a row per function, with what it took "
	"itself and with all that it called; kin graph has callers and callees of each function; "
	"the other commands show lines, source text, counts and cycles.",
	"Times of a function's own code are samples. What went along a call is measured where "
	"there are stacks. From gmon.out, which has none, it is estimated, in proportion to "
	"counted calls. Reports say which of the two it is.",
	"kin ./PROGRAM, a path in place of a command, records the program as kin record does and "
	"shows where its time went: on the terminal as kin browse, elsewhere as kin report.",
	"In a directory with data the commands that look at it need no arguments: they take the "
	"newest recording (*.kin, perf.data), or gmon.out if that is newer. Otherwise the operands "
	"are the program and the data, in any order: both are recognised by their content. Several "
	"data files are added up. A directory stands for the gmon.out files in it, each replaced "
	"by the recording of the same run if kin run left both, or else for the recordings; "
	"reports say which recordings are left out. - is standard input.",
	"Recordings say which programs and libraries ran. gmon.out does not, nor does a .kin file "
	"that was merged from it. If no program is named, it is a.out, or the only program built "
	"with -pg, in the directory of the first data file that does not say it; failing that, in "
	"the current one. kin checks that the two belong together, and "
	"warns if they do not.",
	NULL,
};

static const char *const formats[] = {
	"Every report can be written in three formats with --format.",
	NULL,
};

static const struct man_item format_items[] = {
	{ "text",
	  "Aligned columns, for people. Names that hold control characters, bidirectional marks or "
	  "bytes that are not UTF-8 show them as \\xNN, so no name can take over a terminal." },
	{ "json", "One object: name, title, rate (samples per second), properties, notes, columns "
		  "(key, title, type and help of each) and rows, one per line. Times are in "
		  "seconds, shares from 0 to 1, addresses strings \"0x...\". 3 of 7 calls are "
		  "{\"of\":[3,7]}, 3 calls and 7 recursive ones {\"plus\":[3,7]}, and null is a "
		  "cell with nothing to show. Rows of a call graph say their kind (caller, "
		  "function, callee, cycle, member), depth and group: rows of one group form a "
		  "block. Always valid UTF-8: a byte that is not becomes U+FFFD." },
	{ "csv",
	  "A line of column keys, then a line per row, quoted as in RFC 4180 and ended by a line "
	  "feed. Values as in JSON, but 3/7 and 3+7 are written so, and control characters in "
	  "names as \\xNN. A call graph begins with the columns kind, depth and group." },
	{ 0 },
};

static const struct man_item files[] = {
	{ "profile.kin",
	  "What kin record and kin run write; kin run writes profile.PID.kin for each further "
	  "process." },
	{ "gmon.out",
	  "What a program compiled with -pg writes when it exits, in its current "
	  "directory; gmon.out.PID if GMON_OUT_PREFIX=gmon.out is in its environment." },
	{ "gmon.sum, merged.kin", "What kin merge writes: the second of recordings." },
	{ "~/.kinconfig, ~/.perfconfig",
	  "Defaults of kin report and kin top: see kin-report(1), kin-top(1). PERF_CONFIG in the "
	  "environment names another file instead." },
	{ "~/.cache/kin/unwind, ~/.cache/kin/names, ~/.cache/kin/kernel",
	  "Tables for walking stacks and what reports have looked up, one file per program or "
	  "library, and the kernel's names; they may be deleted. Those used least recently are, "
	  "when they are more than 256 MiB. Below $XDG_CACHE_HOME/kin, if that is set." },
	{ 0 },
};

void man_overview(FILE *out)
{
	heading(out, "kin");
	fputs(".SH NAME\nkin \\- where a program spends its time, and on whose behalf\n"
	      ".SH SYNOPSIS\n.B kin\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIPROGRAM\\fR] "
	      "[\\fIDATA\\fR]...\n"
	      ".br\n.B kin\n\\fI./PROGRAM\\fR [\\fIARGUMENT\\fR]...\n"
	      ".br\n.B kin help\n[\\fICOMMAND\\fR]\n.br\n.B kin \\-\\-version\n"
	      ".SH DESCRIPTION\n",
	      out);
	paragraphs(out, about);
	fputs(".SH COMMANDS\n", out);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, ".TP\n.BR kin\\-%s (1)\n", commands[i]->name);
		line(out, "", commands[i]->summary, "");
	}
	fputs(".SH OUTPUT FORMATS\n", out);
	paragraphs(out, formats);
	items(out, format_items);
	exit_status(out);
	fputs(".SH ENVIRONMENT\n", out);
	items(out, environment);
	fputs(".PP\nFurther variables are those of single commands, and of gprof: kin\\-gprof(1).\n"
	      ".SH FILES\n",
	      out);
	items(out, files);
	fputs(".SH EXAMPLES\n.nf\nkin record ./prog\nkin report\nkin graph \\-\\-min\\-share=5\n\n"
	      "cc \\-g \\-O2 \\-pg prog.c \\-o prog\nkin run ./prog\nkin flat\n.fi\n",
	      out);
}

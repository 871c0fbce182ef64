/* gnu_options.c - the table of GNU's options, and the parser with their quirks. */
#include "gnu/gnu_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "gnu/words.h"

#define NO  GPROF_ARG_NONE
#define REQ GPROF_ARG_REQUIRED
#define OPT GPROF_ARG_OPTIONAL

enum { KEY_DEMANGLE = 256, KEY_NO_DEMANGLE, KEY_INLINE_FILE_NAMES, KEY_COMPAT, KEY_DIALECT };

/* clang-format off */
const struct gprof_option gprof_option_table[] = {
	{ 'p', "flat-profile", OPT, "SYMSPEC", "print the flat profile; of the functions named only",
	  "What to print (by default the flat profile and the call graph, as far as there is data)" },
	{ 'P', "no-flat-profile", OPT, "SYMSPEC", "do not print the flat profile; with SYMSPEC: print it without these functions", NULL },
	{ 'q', "graph", OPT, "SYMSPEC", "print the call graph and its index; of the functions, or calls FROM/TO, named only", NULL },
	{ 'Q', "no-graph", OPT, "SYMSPEC", "do not print the call graph; with SYMSPEC: print it without these functions or calls", NULL },
	{ 'B', NULL, NO, NULL, "print the call graph and its index, as -q does", NULL },
	{ 'C', "exec-counts", OPT, "SYMSPEC", "print how often each function was called; of the functions named only", NULL },
	{ 'Z', "no-exec-counts", OPT, "SYMSPEC", "do not print call counts; with SYMSPEC: print them without these functions", NULL },
	{ 'A', "annotated-source", OPT, "SYMSPEC", "print the source with call counts; of the files or functions named only", NULL },
	{ 'J', "no-annotated-source", OPT, "SYMSPEC", "do not print annotated source; with SYMSPEC: print it without these functions", NULL },
	{ 'i', "file-info", NO, NULL, "print how many records of each kind every data file holds", NULL },
	{ 's', "sum", NO, NULL, "add the data files up into gmon.sum", NULL },
	{ 'r', "function-ordering", NO, NULL, "suggest an order of functions that puts callers near callees", NULL },
	{ 'R', "file-ordering", REQ, "MAP", "suggest an order of object files; MAP says which function is in which (nm --extern-only --defined-only -v --print-file-name)", NULL },

	{ 'a', "no-static", NO, NULL, "leave static functions out: what they did is charged to the function before them", "Which functions count" },
	{ 'D', "ignore-non-functions", NO, NULL, "leave out static symbols that are not functions", NULL },
	{ 'S', "external-symbol-table", REQ, "FILE", "take the functions from FILE (lines as nm prints them), not from the executable", NULL },
	{ 'c', "static-call-graph", NO, NULL, "add calls that are in the code but never happened", NULL },
	{ 'k', NULL, REQ, "FROM/TO", "leave these calls out; an empty side stands for any function", NULL },
	{ 'n', "time", REQ, "SYMSPEC", "hand only the time of these functions on to callers", NULL },
	{ 'N', "no-time", REQ, "SYMSPEC", "do not hand the time of these functions on to callers", NULL },
	{ 'e', NULL, REQ, "SYMSPEC", "no graph entry for these functions", NULL },
	{ 'E', NULL, REQ, "SYMSPEC", "no graph entry for these functions, and none of their time", NULL },
	{ 'f', NULL, REQ, "SYMSPEC", "graph entries for these functions and what they call only", NULL },
	{ 'F', NULL, REQ, "SYMSPEC", "the same, and only their time", NULL },
	{ 'm', "min-count", REQ, "N", "annotated source: mark lines executed fewer than N times with ##### (default 1)", NULL },
	{ 'z', "display-unused-functions", NO, NULL, "also list functions never called and never sampled", NULL },

	{ 'b', "brief", NO, NULL, "do not explain the columns", "How it looks" },
	{ 'T', "traditional", NO, NULL, "the layout of BSD's gprof", NULL },
	{ 'l', "line", NO, NULL, "count per source line, not per function", NULL },
	{ 'L', "print-path", NO, NULL, "print file names with their directories", NULL },
	{ KEY_INLINE_FILE_NAMES, "inline-file-names", NO, NULL, "print file and line after each function", NULL },
	{ KEY_DEMANGLE, "demangle", OPT, "STYLE", "print C++, D and Rust names readably (the default); STYLE is none, auto, gnu-v3, java, gnat, dlang or rust", NULL },
	{ KEY_NO_DEMANGLE, "no-demangle", NO, NULL, "print names as they are in the executable", NULL },
	{ 't', "table-length", REQ, "N", "annotated source: list the N busiest lines (default 10)", NULL },
	{ 'w', "width", REQ, "N", "columns to lay the index out in (default 80)", NULL },
	{ 'x', "all-lines", NO, NULL, "annotated source: a count on every line", NULL },
	{ 'y', "separate-files", NO, NULL, "annotated source: write each file to NAME-ann here", NULL },

	{ 'I', "directory-path", REQ, "DIRS", "search sources in these directories too (DIR:DIR...); GPROF_PATH adds more", "Files and formats" },
	{ 'O', "file-format", REQ, "FORMAT", "of the data files, and of gmon.sum: auto, magic, bsd or 4.4bsd", NULL },

	{ KEY_COMPAT, "compat", REQ, "WHAT", "what to do as GNU gprof 2.40 does, mistakes included: output (the default of gprof), gnu (also messages and exit status; gnu-2.40 is the same), or no (the default of kin gprof): nothing that is wrong", "Other" },
	{ KEY_DIALECT, "dialect", REQ, "NAME", "options and layout of gnu (the default), freebsd or openbsd", NULL },
	{ 'd', "debug", OPT, "N", "ignored: GNU gprof's internal traces", NULL },
	{ 'h', "help", NO, NULL, "print this", NULL },
	{ 'v', "version", NO, NULL, "print the version", NULL },
};
/* clang-format on */
const size_t gprof_n_options = ARRAY_LEN(gprof_option_table);

/* ---- effects of options ---- */

static void add_spec(struct gprof_options *o, const char *text, int table, int letter)
{
	vec_push(&o->specs, ((struct symspec){ text, table, (char)letter }));
}

/* -p -q -A -C: on, for the functions named by arg. -P -Q -J -Z: off, or with an argument on, except
 * for the functions that it names. */
static void set_style(struct gprof_options *o, enum gprof_style style, bool on, const char *arg,
		      int table, int letter)
{
	o->mentioned |= style;
	if (arg)
		add_spec(o, arg, table, letter);
	if (on || arg)
		o->styles |= style;
	else
		o->styles &= ~(unsigned)style;
}

static int graph_table(const char *arg, bool include)
{
	if (arg && strchr(arg, '/'))
		return include ? SPEC_INCL_ARCS : SPEC_EXCL_ARCS;
	return include ? SEL_INCL_GRAPH : SEL_EXCL_GRAPH;
}

static void add_dirs(struct gprof_options *o, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ":");
		if (n)
			vec_push(&o->source_dirs, xprintf("%.*s", (int)n, list));
		list += n + (list[n] == ':');
	}
}

static struct kin_error *set_format(struct gprof_options *o, const char *arg)
{
	switch (arg[0]) {
	case 'a':
		o->format = INPUT_AUTO;
		break;
	case 'm':
		o->format = INPUT_MAGIC;
		break;
	case 'b':
		o->format = INPUT_BSD;
		break;
	case '4':
		o->format = INPUT_44BSD;
		break;
	case 'p':
		break;
	default:
		/* GNU has the two the wrong way round. */
		return gnu_words_are(
			err_new(KIN_ERROR_USAGE,
				"unknown file format '%s': there are auto, magic, bsd and 4.4bsd",
				arg),
			false, "%s: unknown file format %s", arg, o->whoami);
	}
	o->format_prof = arg[0] == 'p';
	return NULL;
}

/* GNU reads numbers with strtoul() and atoi(), which take anything; *ret is what those give. */
static struct kin_error *set_number(const char *arg, const char *option, int64_t *ret)
{
	char *end;
	errno = 0;
	long long v = strtoll(arg, &end, 10);
	*ret = v;
	if (end == arg || *end)
		return err_new(KIN_ERROR_USAGE, "%s: '%s' is not a number", option, arg);
	if (errno)
		return err_new(KIN_ERROR_USAGE, "%s: %s is too large", option, arg);
	return NULL;
}

static struct kin_error *ignored(struct kin_error *err)
{
	kin_error_free(err);
	return NULL;
}

/* A number in least..INT32_MAX; numbers outside are replaced by the nearer limit. COMPAT_GNU:
 * errors are ignored, as by atoi(). */
static struct kin_error *set_small(const char *arg, const char *option, enum gprof_compat compat,
				   int64_t least, uint32_t *ret)
{
	int64_t v;
	struct kin_error *err = set_number(arg, option, &v);
	if (compat == COMPAT_GNU)
		err = ignored(err);
	if (compat)
		v = (int32_t)v;
	if (v < least)
		v = least;
	*ret = v > INT32_MAX ? INT32_MAX : (uint32_t)v;
	return err;
}

static struct kin_error *set_min_count(struct gprof_options *o, const char *arg)
{
	int64_t v;
	struct kin_error *err = set_number(arg, "-m", &v);
	o->min_count = o->compat ? strtoul(arg, NULL, 10) : v < 0 ? 0 : (uint64_t)v;
	return o->compat == COMPAT_GNU ? ignored(err) : err;
}

static struct kin_error *set_demangle(struct gprof_options *o, const char *arg)
{
	if (!arg) {
		o->demangle = DEMANGLE_AUTO;
		return NULL;
	}
	if (demangle_style_find(arg, &o->demangle))
		return NULL;
	return gnu_words_are(
		err_new(KIN_ERROR_USAGE,
			"unknown demangling style '%s': there are none, auto, gnu-v3, java, gnat, "
			"dlang and rust",
			arg),
		true, "unknown demangling style `%s'", arg);
}

static struct kin_error *dialect_find(const char *name, enum gprof_dialect *ret)
{
	static const char *const names[] = { "gnu", "freebsd", "openbsd" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!strcmp(names[i], name)) {
			*ret = (enum gprof_dialect)i;
			return NULL;
		}
	}
	return err_new(KIN_ERROR_USAGE, "unknown dialect '%s': there are gnu, freebsd and openbsd",
		       name);
}

static struct kin_error *set_compat(struct gprof_options *o, const char *arg)
{
	static const struct {
		const char *name;
		enum gprof_compat value;
	} values[] = { { "output", COMPAT_OUTPUT },
		       { "gnu", COMPAT_GNU },
		       { "gnu-2.40", COMPAT_GNU },
		       { "no", COMPAT_NO } };

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		if (strcmp(values[i].name, arg))
			continue;
		o->compat = values[i].value;
		return NULL;
	}
	return err_new(
		KIN_ERROR_USAGE,
		"--compat: '%s' is not known: there are output, gnu (that is, gnu-2.40) and no",
		arg);
}

static struct kin_error *apply(struct gprof_options *o, int key, const char *arg)
{
	switch (key) {
	case 'p':
	case 'P':
		set_style(o, STYLE_FLAT, key == 'p', arg,
			  key == 'p' ? SEL_INCL_FLAT : SEL_EXCL_FLAT, key);
		return NULL;
	case 'q':
	case 'Q':
		set_style(o, STYLE_GRAPH, key == 'q', arg, graph_table(arg, key == 'q'), key);
		return NULL;
	case 'C':
	case 'Z':
		set_style(o, STYLE_COUNTS, key == 'C', arg,
			  key == 'C' ? SEL_INCL_EXEC : SEL_EXCL_EXEC, key);
		return NULL;
	case 'A':
	case 'J':
		set_style(o, STYLE_ANNOTATE, key == 'A', arg,
			  key == 'A' ? SEL_INCL_ANNO : SEL_EXCL_ANNO, key);
		return NULL;
	case 'B':
		set_style(o, STYLE_GRAPH, true, NULL, 0, key);
		return NULL;
	case 'i':
		set_style(o, STYLE_INFO, true, NULL, 0, key);
		return NULL;
	case 's':
		set_style(o, STYLE_SUM, true, NULL, 0, key);
		return NULL;
	case 'r':
		set_style(o, STYLE_FUNCTION_ORDER, true, NULL, 0, key);
		return NULL;
	case 'R':
		set_style(o, STYLE_FILE_ORDER, true, NULL, 0, key);
		o->file_map = arg;
		return NULL;
	case 'E':
		add_spec(o, arg, SEL_EXCL_TIME, key);
		add_spec(o, arg, SEL_EXCL_GRAPH, key);
		return NULL;
	case 'F':
		add_spec(o, arg, SEL_INCL_TIME, key);
		add_spec(o, arg, SEL_INCL_GRAPH, key);
		return NULL;
	case 'e':
		add_spec(o, arg, SEL_EXCL_GRAPH, key);
		return NULL;
	case 'f':
		add_spec(o, arg, SEL_INCL_GRAPH, key);
		return NULL;
	case 'k':
		add_spec(o, arg, SPEC_EXCL_ARCS, key);
		return NULL;
	case 'n':
		add_spec(o, arg, SEL_INCL_TIME, key);
		return NULL;
	case 'N':
		add_spec(o, arg, SEL_EXCL_TIME, key);
		return NULL;
	case 'a':
		o->no_static = true;
		return NULL;
	case 'D':
		o->functions_only = true;
		return NULL;
	case 'S':
		o->symbol_file = arg;
		return NULL;
	case 'c':
		o->static_calls = true;
		return NULL;
	case 'b':
		o->brief = true;
		return NULL;
	case 'T':
		o->traditional = true;
		return NULL;
	case 'l':
		o->lines = true;
		return NULL;
	case 'L':
		o->print_path = true;
		return NULL;
	case 'x':
		o->all_lines = true;
		return NULL;
	case 'y':
		o->separate_files = true;
		return NULL;
	case 'z':
		o->zeroes = true;
		return NULL;
	case 'I':
		add_dirs(o, arg);
		return NULL;
	case 'O':
		return set_format(o, arg);
	case 'm':
		return set_min_count(o, arg);
	case 't':
		return set_small(arg, "-t", o->compat, 0, &o->table_length);
	case 'w':
		return set_small(arg, "-w", o->compat, 1, &o->width);
	case 'h':
		o->action = GPROF_HELP;
		return NULL;
	case 'v':
		o->action = GPROF_VERSION;
		return NULL;
	case KEY_DEMANGLE:
		return set_demangle(o, arg);
	case KEY_NO_DEMANGLE:
		o->demangle = DEMANGLE_NONE;
		return NULL;
	case KEY_INLINE_FILE_NAMES:
		o->inline_file_names = true;
		return NULL;
	case KEY_COMPAT:
		return set_compat(o, arg);
	case KEY_DIALECT:
		return dialect_find(arg, &o->dialect);
	default: /* -d */
		return NULL;
	}
}

/* ---- parsing words ---- */

struct gnu_words {
	int n, next;
	char **at;
};

/* "possibilities: '--file-info' '--file-format'", in the order of GNU's table. */
static struct kin_error *add_possibilities(struct kin_error *err, const char *name, size_t n)
{
	static const char *const order[] = {
		"line",
		"no-static",
		"ignore-non-functions",
		"external-symbol-table",
		"annotated-source",
		"no-annotated-source",
		"flat-profile",
		"no-flat-profile",
		"graph",
		"no-graph",
		"exec-counts",
		"no-exec-counts",
		"function-ordering",
		"file-ordering",
		"file-info",
		"sum",
		"all-lines",
		"demangle",
		"no-demangle",
		"directory-path",
		"display-unused-functions",
		"inline-file-names",
		"min-count",
		"print-path",
		"separate-files",
		"static-call-graph",
		"table-length",
		"time",
		"no-time",
		"width",
		"brief",
		"debug",
		"help",
		"file-format",
		"traditional",
		"version",
	};
	struct arena scratch = { 0 };
	const char *list = "";
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		if (!strncmp(order[i], name, n))
			list = arena_printf(&scratch, "%s '--%s'", list, order[i]);
	err = gnu_words_are(err, true, "option '--%s' is ambiguous; possibilities:%s", name, list);
	arena_release(&scratch);
	return err;
}

static struct kin_error *find_long(const char *name, size_t n, const struct gprof_option **ret)
{
	const struct gprof_option *found = NULL, *other = NULL;

	for (size_t i = 0; i < gprof_n_options; i++) {
		const struct gprof_option *o = &gprof_option_table[i];
		if (!o->long_name || strncmp(o->long_name, name, n))
			continue;
		if (!o->long_name[n]) { /* full names are never ambiguous */
			*ret = o;
			return NULL;
		}
		other = found;
		found = o;
	}
	if (!found)
		return gnu_words_are(
			err_new(KIN_ERROR_USAGE, "there is no option '--%.*s'", (int)n, name), true,
			"unrecognized option '--%s'", name);
	if (other)
		return add_possibilities(err_new(KIN_ERROR_USAGE,
						 "option '--%.*s' could be --%s or --%s", (int)n,
						 name, other->long_name, found->long_name),
					 name, n);
	*ret = found;
	return NULL;
}

static struct kin_error *misuse(struct gprof_options *o, struct kin_error *err)
{
	o->is_misused = true;
	return err;
}

static struct kin_error *parse_long(struct gprof_options *o, struct gnu_words *w, const char *word)
{
	const struct gprof_option *opt = NULL;
	const char *name = word + 2, *value = strchr(name, '=');
	size_t n = value ? (size_t)(value - name) : strlen(name);
	struct kin_error *err = find_long(name, n, &opt);

	if (err)
		return misuse(o, err);
	if (value)
		value++;
	if (value && opt->arg == GPROF_ARG_NONE) {
		err = err_new(KIN_ERROR_USAGE, "option '--%s' takes no argument", opt->long_name);
		return misuse(o, gnu_words_are(err, true, "option '--%s' doesn't allow an argument",
					       opt->long_name));
	}
	if (!value && opt->arg == GPROF_ARG_REQUIRED) {
		if (w->next == w->n) {
			err = err_new(KIN_ERROR_USAGE, "option '--%s' needs an argument: %s",
				      opt->long_name, opt->arg_name);
			return misuse(o,
				      gnu_words_are(err, true, "option '--%s' requires an argument",
						    opt->long_name));
		}
		value = w->at[w->next++];
	}
	return apply(o, opt->key, value);
}

static const struct gprof_option *find_letter(char c)
{
	for (size_t i = 0; i < gprof_n_options; i++)
		if (gprof_option_table[i].key == c)
			return &gprof_option_table[i];
	return NULL;
}

static struct kin_error *parse_letters(struct gprof_options *o, struct gnu_words *w,
				       const char *word)
{
	for (const char *c = word + 1; *c && o->action == GPROF_RUN; c++) {
		const struct gprof_option *opt = find_letter(*c);
		const char *arg = NULL;
		if (!opt)
			return misuse(o, gnu_words_are(err_new(KIN_ERROR_USAGE,
							       "there is no option '-%c'", *c),
						       true, "invalid option -- '%c'", *c));
		if (opt->arg != GPROF_ARG_NONE && c[1])
			arg = c + 1;
		else if (opt->arg == GPROF_ARG_REQUIRED && w->next < w->n)
			arg = w->at[w->next++];
		else if (opt->arg == GPROF_ARG_REQUIRED)
			return misuse(o, gnu_words_are(err_new(KIN_ERROR_USAGE,
							       "option '-%c' needs an argument: %s",
							       *c, opt->arg_name),
						       true, "option requires an argument -- '%c'",
						       *c));
		struct kin_error *err = apply(o, *c, arg);
		if (err || arg)
			return err;
	}
	return NULL;
}

static void operand(struct gprof_options *o, const char *word)
{
	if (!o->executable)
		o->executable = word;
	else
		vec_push(&o->data, word);
}

struct kin_error *gprof_options_parse(int argc, char **argv, enum gprof_compat compat,
				      const char *gprof_path, struct gprof_options *ret)
{
	struct gnu_words w = { .n = argc, .next = 1, .at = argv };
	bool in_order = getenv("POSIXLY_CORRECT") != NULL, only_operands = false;
	struct kin_error *err = NULL;

	*ret = (struct gprof_options){ .whoami = argc > 0 ? argv[0] : "gprof",
				       .compat = compat,
				       .demangle = DEMANGLE_AUTO,
				       .min_count = 1,
				       .table_length = 10,
				       .width = 80 };
	while (!err && ret->action == GPROF_RUN && w.next < w.n) {
		const char *word = w.at[w.next++];
		if (only_operands || word[0] != '-' || !word[1]) {
			operand(ret, word);
			only_operands |= in_order;
		} else if (!strcmp(word, "--")) {
			only_operands = true;
		} else if (word[1] == '-') {
			err = parse_long(ret, &w, word);
		} else {
			err = parse_letters(ret, &w, word);
		}
	}
	if (gprof_path)
		add_dirs(ret, gprof_path);
	vec_push(&ret->source_dirs, NULL);
	if (!ret->executable)
		ret->executable = "a.out";
	if (!ret->data.n)
		vec_push(&ret->data, "gmon.out");
	if (!err && ret->styles & STYLE_FUNCTION_ORDER && ret->styles & STYLE_FILE_ORDER)
		err = gnu_words_are(
			err_new(KIN_ERROR_USAGE,
				"-r (functions) and -R (files) cannot be asked for together"),
			true,
			"Only one of --function-ordering and --file-ordering may be specified.");
	return err;
}

void gprof_options_done(struct gprof_options *o)
{
	for (size_t i = 0; i < o->source_dirs.n; i++)
		free(o->source_dirs.at[i]);
	vec_free(&o->source_dirs);
	vec_free(&o->specs);
	vec_free(&o->data);
}

struct kin_error *gprof_dialect_of(int argc, char **argv, enum gprof_dialect *ret)
{
	struct kin_error *err = NULL;

	*ret = DIALECT_GNU;
	for (int i = 1; i < argc && !err && strcmp(argv[i], "--") != 0; i++) {
		if (!strncmp(argv[i], "--dialect=", 10))
			err = dialect_find(argv[i] + 10, ret);
		else if (!strcmp(argv[i], "--dialect") && i + 1 < argc)
			err = dialect_find(argv[++i], ret);
	}
	return err;
}

/* ---- help ---- */

void gprof_usage(FILE *out)
{
	fputs("Usage: gprof [OPTION]... [EXECUTABLE [DATA-FILE]...]\n"
	      "Try 'gprof --help' for the options.\n",
	      out);
}

void gprof_usage_gnu(const char *whoami, FILE *out)
{
	fprintf(out,
		"Usage: %s [-[abcDhilLrsTvwxyz]] [-[ABCeEfFJnNOpPqQRStZ][name]] [-I dirs]\n"
		"\t[-d[num]] [-k from/to] [-m min-count] [-t table-length]\n"
		"\t[--[no-]annotated-source[=name]] [--[no-]exec-counts[=name]]\n"
		"\t[--[no-]flat-profile[=name]] [--[no-]graph[=name]]\n"
		"\t[--[no-]time=name] [--all-lines] [--brief] [--debug[=level]]\n"
		"\t[--function-ordering] [--file-ordering] [--inline-file-names]\n"
		"\t[--directory-path=dirs] [--display-unused-functions]\n"
		"\t[--file-format=name] [--file-info] [--help] [--line] [--min-count=n]\n"
		"\t[--no-static] [--print-path] [--separate-files]\n"
		"\t[--static-call-graph] [--sum] [--table-length=len] [--traditional]\n"
		"\t[--version] [--width=n] [--ignore-non-functions]\n"
		"\t[--demangle[=STYLE]] [--no-demangle] [--external-symbol-table=name] [@FILE]\n"
		"\t[image-file] [profile-file...]\n",
		whoami);
}

static void help_text(FILE *out, const char *text, size_t indent, size_t width)
{
	size_t col = indent;
	while (*text) {
		size_t n = strcspn(text, " ");
		if (col > indent && col + 1 + n > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			col = indent;
		} else if (col > indent) {
			fputc(' ', out);
			col++;
		}
		fwrite(text, 1, n, out);
		col += n;
		text += n + (text[n] == ' ');
	}
	fputc('\n', out);
}

static void help_option(FILE *out, const struct gprof_option *o)
{
	enum { TEXT_COLUMN = 34, WIDTH = 100 };
	char head[100];
	char letter = gprof_option_letter(o);
	int n = letter ? snprintf(head, sizeof(head), "  -%c", letter)
		       : snprintf(head, sizeof(head), "    ");

	if (letter && !o->long_name)
		n += snprintf(head + n, sizeof(head) - (size_t)n, "%s%s", o->arg ? " " : "",
			      o->arg ? o->arg_name : "");
	else
		n += snprintf(head + n, sizeof(head) - (size_t)n, "%s--%s%s%s%s",
			      letter ? ", " : "  ", o->long_name,
			      o->arg == GPROF_ARG_OPTIONAL ? "[="
			      : o->arg                     ? "="
							   : "",
			      o->arg ? o->arg_name : "", o->arg == GPROF_ARG_OPTIONAL ? "]" : "");
	if (n < TEXT_COLUMN - 1)
		fprintf(out, "%-*s", TEXT_COLUMN, head);
	else
		fprintf(out, "%s\n%*s", head, TEXT_COLUMN, "");
	help_text(out, o->help, TEXT_COLUMN, WIDTH);
}

void gprof_help(FILE *out)
{
	fputs("Usage: gprof [OPTION]... [EXECUTABLE [DATA-FILE]...]\n"
	      "\n"
	      "Say where the program EXECUTABLE (default a.out) spent its time and who called "
	      "whom, from\n"
	      "the DATA-FILEs it left behind (default gmon.out; - is standard input; several are "
	      "added up).\n",
	      out);
	for (size_t i = 0; i < gprof_n_options; i++) {
		const struct gprof_option *o = &gprof_option_table[i];
		if (o->group)
			fprintf(out, "\n%s:\n", o->group);
		help_option(out, o);
	}
	fputs("\n"
	      "An optional argument is glued to its letter: -pmain, --flat-profile=main.\n"
	      "SYMSPEC names functions: FUNCTION, FILE:FUNCTION, FILE:LINE, FILE: or LINE. A name "
	      "with a dot\n"
	      "is a file, one that starts with a digit a line; :NAME is always a function. For "
	      "calls: FROM/TO.\n"
	      "@FILE on the command line is replaced by the words in FILE.\n",
	      out);
}

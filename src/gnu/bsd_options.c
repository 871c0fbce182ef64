/* bsd_options.c - the table of the BSDs' options, and the parser with their quirks. */
#include "gnu/bsd_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"

/* clang-format off */
const struct bsd_option bsd_option_table[] = {
	{ 'a', 0, false, NULL, "leave static functions out: what they did is charged to the function before them" },
	{ 'b', 0, false, NULL, "do not explain the columns" },
	{ 'c', 0, false, NULL, "add calls that are in the code but never happened" },
	{ 'C', 1, false, "COUNT", "delete calls from the graph until no cycle has more than COUNT members, and list them" },
	{ 'd', 1, false, "N", "ignored: traces of gprof itself" },
	{ 'e', 1, false, "NAME", "no graph entry for this function" },
	{ 'E', 1, false, "NAME", "no graph entry for this function, and none of its time" },
	{ 'f', 1, false, "NAME", "graph entries for this function and what it calls only" },
	{ 'F', 1, false, "NAME", "the same, and only their time" },
	{ 'k', 2, false, "FROM TO", "leave out the calls of TO by FROM" },
	{ 'K', 0, true, NULL, "symbols of the running kernel: not to be had here; name the kernel's image instead" },
	{ 'l', 0, true, NULL, "do not print the call graph" },
	{ 'L', 0, true, NULL, "do not print the flat profile" },
	{ 's', 0, false, NULL, "add the data files up into gmon.sum, besides printing" },
	{ 'u', 0, true, NULL, "leave out functions with a dot in their name: what they did is charged to the function before them" },
	{ 'z', 0, false, NULL, "also list functions never called and never sampled" },
};
/* clang-format on */
const size_t bsd_n_options = ARRAY_LEN(bsd_option_table);

struct bsd_words {
	int n, next;
	char **at;
};

static const struct bsd_option *find_option(char letter, enum gprof_dialect dialect)
{
	for (size_t i = 0; i < bsd_n_options; i++)
		if (bsd_option_table[i].letter == letter &&
		    (dialect == DIALECT_FREEBSD || !bsd_option_table[i].freebsd_only))
			return &bsd_option_table[i];
	return NULL;
}

/* ---- effects of options ---- */

static struct kin_error *set_max_cycle(struct bsd_options *o, const char *arg)
{
	char *end;

	errno = 0;
	long long v = strtoll(arg, &end, 10);
	if (end == arg || *end || v < 0)
		return err_new(KIN_ERROR_USAGE, "-C: '%s' is not a number of members", arg);
	o->break_cycles = true;
	o->max_cycle = errno || v > INT32_MAX ? INT32_MAX : (uint32_t)v;
	return NULL;
}

static void add_spec(struct bsd_options *o, char letter, const char *name, const char *to)
{
	vec_push(&o->specs, ((struct bsd_spec){ letter, name, to }));
}

static struct kin_error *apply(struct bsd_options *o, char letter, char **args, FILE *warnings)
{
	switch (letter) {
	case 'a':
		o->no_static = true;
		return NULL;
	case 'b':
		o->brief = true;
		return NULL;
	case 'c':
		o->static_calls = true;
		return NULL;
	case 'C':
		return set_max_cycle(o, args[0]);
	case 'd':
		fprintf(warnings, "gprof: warning: -d is ignored: there are no traces\n");
		return NULL;
	case 'e':
	case 'E':
	case 'f':
	case 'F':
		add_spec(o, letter, args[0], NULL);
		return NULL;
	case 'k':
		add_spec(o, letter, args[0], args[1]);
		return NULL;
	case 'K':
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "-K: the running kernel's symbols are not to be had here; name "
			       "the kernel's image as the program");
	case 'l':
		o->no_graph = true;
		o->no_flat = false;
		return NULL;
	case 'L':
		o->no_flat = true;
		o->no_graph = false;
		return NULL;
	case 's':
		o->sum = true;
		return NULL;
	case 'u':
		o->no_dotted = true;
		return NULL;
	case 'z':
		o->zeroes = true;
		return NULL;
	}
	return NULL;
}

/* ---- parsing words ---- */

static struct kin_error *parse_letter(struct bsd_options *o, struct bsd_words *w, const char *word,
				      FILE *warnings)
{
	const struct bsd_option *opt = find_option(word[1], o->dialect);
	char *shown = escape_copy(word);

	if (!opt)
		fprintf(warnings, "gprof: warning: there is no option '%s': ignored\n", shown);
	else if (word[2])
		fprintf(warnings,
			"gprof: warning: of '%s' only -%c counts: each option is a word of its "
			"own\n",
			shown, word[1]);
	free(shown);
	if (!opt)
		return NULL;
	if (w->n - w->next < opt->n_args)
		return err_new(KIN_ERROR_USAGE, "option '-%c' needs after it: %s", opt->letter,
			       opt->args);
	char **args = &w->at[w->next];
	w->next += opt->n_args;
	return apply(o, opt->letter, args, warnings);
}

/* Skips --dialect=NAME or --dialect NAME, which was handled before. */
static bool skip_dialect(struct bsd_words *w, const char *word)
{
	if (!strncmp(word, "--dialect=", 10))
		return true;
	if (strcmp(word, "--dialect") != 0)
		return false;
	w->next += w->next < w->n;
	return true;
}

static struct kin_error *parse_long(struct bsd_options *o, const char *word)
{
	if (!strcmp(word, "--help"))
		o->action = GPROF_HELP;
	else if (!strcmp(word, "--version"))
		o->action = GPROF_VERSION;
	else
		return err_new(KIN_ERROR_USAGE, "there is no option '%s' in this dialect", word);
	return NULL;
}

static void operand(struct bsd_options *o, const char *word)
{
	if (!o->executable)
		o->executable = word;
	else
		vec_push(&o->data, word);
}

static struct kin_error *parse_words(struct bsd_options *o, struct bsd_words *w, FILE *warnings)
{
	bool in_options = true, in_dialect = true;
	struct kin_error *err = NULL;

	while (!err && o->action == GPROF_RUN && w->next < w->n) {
		const char *word = w->at[w->next++];
		if (in_dialect && skip_dialect(w, word))
			continue;
		if (in_dialect && !strcmp(word, "--")) {
			in_options = in_dialect = false;
			continue;
		}
		in_options = in_options && word[0] == '-' && word[1];
		if (!in_options)
			operand(o, word);
		else if (word[1] == '-')
			err = parse_long(o, word);
		else
			err = parse_letter(o, w, word, warnings);
	}
	return err;
}

/* FreeBSD's C library names the data after the program. */
static void set_defaults(struct bsd_options *o)
{
	if (!o->executable)
		o->executable = "a.out";
	if (o->data.n)
		return;
	if (o->dialect == DIALECT_FREEBSD) {
		size_t n = strlen(o->executable);
		o->default_data = xalloc(n + sizeof(".gmon"));
		memcpy(o->default_data, o->executable, n);
		memcpy(o->default_data + n, ".gmon", sizeof(".gmon"));
		vec_push(&o->data, o->default_data);
	} else {
		vec_push(&o->data, "gmon.out");
	}
}

struct kin_error *bsd_options_parse(int argc, char **argv, enum gprof_dialect dialect,
				    FILE *warnings, struct bsd_options *ret)
{
	struct bsd_words w = { .n = argc, .next = 1, .at = argv };

	*ret = (struct bsd_options){ .dialect = dialect };
	struct kin_error *err = parse_words(ret, &w, warnings);
	set_defaults(ret);
	return err;
}

void bsd_options_done(struct bsd_options *o)
{
	vec_free(&o->specs);
	vec_free(&o->data);
	free(o->default_data);
}

/* ---- help ---- */

static const char *name_of(enum gprof_dialect dialect)
{
	return dialect == DIALECT_FREEBSD ? "freebsd" : "openbsd";
}

void bsd_usage(enum gprof_dialect dialect, FILE *out)
{
	fprintf(out,
		"Usage: gprof --dialect=%s [OPTION]... [PROGRAM [DATA-FILE]...]\n"
		"Try 'gprof --dialect=%s --help' for the options.\n",
		name_of(dialect), name_of(dialect));
}

void bsd_help(enum gprof_dialect dialect, FILE *out)
{
	fprintf(out,
		"Usage: gprof --dialect=%s [OPTION]... [PROGRAM [DATA-FILE]...]\n"
		"\n"
		"Say where PROGRAM (default a.out) spent its time and who called whom, from the "
		"DATA-FILEs\n"
		"it left behind (default %s; several are added up): the call graph, the flat\n"
		"profile and an index by name, in the layout of BSD's gprof.\n"
		"\n",
		name_of(dialect), dialect == DIALECT_FREEBSD ? "PROGRAM.gmon" : "gmon.out");
	for (size_t i = 0; i < bsd_n_options; i++) {
		const struct bsd_option *o = &bsd_option_table[i];
		if (o->freebsd_only && dialect != DIALECT_FREEBSD)
			continue;
		fprintf(out, "  -%c %-9s %s\n", o->letter, o->args ? o->args : "", o->help);
	}
	fputs("  --help       print this\n"
	      "  --version    print the version\n"
	      "\n"
	      "Each option is a word of its own, arguments are the words after it, and options "
	      "come before\n"
	      "PROGRAM. A NAME is that of a function in the program's symbol table, or that "
	      "without an\n"
	      "underscore in front. -e, -E, -f, -F and -k may be given several times.\n",
	      out);
}

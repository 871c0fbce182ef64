#include "tap.h"

#include <stdlib.h>

#include "base/err.h"
#include "gnu/bsd_options.h"
#include "gnu/bsd_select.h"

static struct bsd_options o;
static char message[200], warnings[200];

/* Parses the words; true if they are right. Sets `message` to the error, and `warnings`. */
static bool parse(enum gprof_dialect dialect, const char *const *words)
{
	static char name[] = "gprof", *argv[40] = { name };
	FILE *out = fmemopen(warnings, sizeof(warnings), "w");
	int argc = 1;

	bsd_options_done(&o);
	for (; words[argc - 1]; argc++)
		argv[argc] = UNCONST(char *, words[argc - 1]);
	warnings[0] = '\0';
	struct kin_error *err = bsd_options_parse(argc, argv, dialect, out, &o);
	snprintf(message, sizeof(message), "%s", err ? kin_error_message(err) : "");
	bool ok = !err;
	kin_error_free(err);
	fclose(out);
	return ok;
}

#define FREEBSD(...) parse(DIALECT_FREEBSD, (const char *[]){ __VA_ARGS__, NULL })
#define OPENBSD(...) parse(DIALECT_OPENBSD, (const char *[]){ __VA_ARGS__, NULL })

static void test_operands(void)
{
	OK(FREEBSD(NULL));
	OK_STR(o.executable, "a.out");
	OK(o.data.n == 1);
	OK_STR(o.data.at[0], "a.out.gmon");
	OK(FREEBSD("dir/prog"));
	OK_STR(o.data.at[0], "dir/prog.gmon");
	OK(OPENBSD("dir/prog"));
	OK_STR(o.data.at[0], "gmon.out");

	/* Options end where operands begin. */
	OK(FREEBSD("-b", "prog", "one", "-z", "-"));
	OK(o.brief && !o.zeroes && o.data.n == 3);
	OK_STR(o.data.at[1], "-z");
	OK_STR(o.data.at[2], "-");
	OK(FREEBSD("--", "-b", "-z"));
	OK(!o.brief && o.data.n == 1);
	OK_STR(o.executable, "-b");

	/* The dialect may be anywhere among the words. */
	OK(FREEBSD("--dialect", "freebsd", "-b", "prog", "--dialect=freebsd", "one"));
	OK(o.brief && o.data.n == 1);
	OK_STR(o.data.at[0], "one");
}

static void test_words(void)
{
	OK(FREEBSD("-bz", "prog"));
	OK(o.brief && !o.zeroes);
	OK_STR(warnings,
	       "gprof: warning: of '-bz' only -b counts: each option is a word of its own\n");
	OK(FREEBSD("-q", "-z"));
	OK(o.zeroes);
	OK_STR(warnings, "gprof: warning: there is no option '-q': ignored\n");
	OK(FREEBSD("-a", "-c", "-s", "-u"));
	OK(o.no_static && o.static_calls && o.sum && o.no_dotted);
	OK_STR(warnings, "");
	OK(OPENBSD("-u", "-l"));
	OK(!o.no_dotted && !o.no_graph);
	OK(FREEBSD("-L", "-l"));
	OK(o.no_graph && !o.no_flat);
	OK(FREEBSD("-l", "-L"));
	OK(!o.no_graph && o.no_flat);
}

static void test_arguments(void)
{
	OK(FREEBSD("-e", "-b", "-k", "from", "to", "-E", "x", "prog"));
	OK(!o.brief && o.specs.n == 3);
	OK(o.specs.at[0].letter == 'e' && o.specs.at[1].letter == 'k');
	OK_STR(o.specs.at[0].name, "-b");
	OK_STR(o.specs.at[1].name, "from");
	OK_STR(o.specs.at[1].to, "to");
	OK(o.specs.at[2].letter == 'E' && !o.specs.at[2].to);
	OK_STR(o.executable, "prog");

	OK(FREEBSD("-C", "7"));
	OK(o.break_cycles && o.max_cycle == 7);
	OK(FREEBSD("-C", "99999999999999999999"));
	OK(o.max_cycle == INT32_MAX);
	OK(!FREEBSD("-C", "-1"));
	OK(!FREEBSD("-C", "7x"));
	OK_STR(message, "-C: '7x' is not a number of members");
	OK(!FREEBSD("-C"));
	OK(!FREEBSD("-k", "from"));
	OK_STR(message, "option '-k' needs after it: FROM TO");
	OK(!FREEBSD("-K"));
	OK(!FREEBSD("--brief"));
	OK(FREEBSD("--help") && o.action == GPROF_HELP);
	OK(FREEBSD("--version", "-C") && o.action == GPROF_VERSION);
}

/* ---- names ---- */

static struct symbol places[] = {
	{ .name = "f" },         { .name = "_f" },      { .name = "__f" },
	{ .name = "g" },         { .name = "f" },       { .name = "_ff" },
	{ .name = "_mcleanup" }, { .name = ".mcount" }, { .name = "mcount" },
};
static const struct symbols program = { .at = places, .n = ARRAY_LEN(places) };

/* The symbols in a table, "0 1 4". */
static const char *in_table(const struct bsd_spec *specs, size_t n, enum sel table)
{
	static char text[100];
	struct selection sel;
	FILE *out = fmemopen(warnings, sizeof(warnings), "w");
	size_t at = 0;

	warnings[0] = text[0] = '\0';
	selection_init(&sel, program.n);
	bsd_select(&program, specs, n, out, &sel);
	for (symid i = 0; i < program.n; i++)
		if (selection_in(&sel, table, i))
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u", at ? " " : "",
					       i);
	selection_done(&sel);
	fclose(out);
	return text;
}

static void test_names(void)
{
	const struct bsd_spec specs[] = {
		{ 'e', "f", NULL },  { 'E', "g", NULL },      { 'F', "_f", NULL },
		{ 'f', "ff", NULL }, { 'f', "nosuch", NULL },
	};
	size_t n = ARRAY_LEN(specs);

	/* As written, or without one underscore; the profiler's own are left out in any case. */
	OK_STR(in_table(specs, n, SEL_EXCL_GRAPH), "0 1 3 4 6 7 8");
	OK_STR(in_table(specs, n, SEL_EXCL_TIME), "3 6 7 8");
	OK_STR(in_table(specs, n, SEL_INCL_GRAPH), "1 2 5");
	OK_STR(in_table(specs, n, SEL_INCL_TIME), "1 2");
	OK_STR(in_table(specs, n, SEL_EXCL_FLAT), "");
	OK_STR(warnings, "gprof: warning: -f: there is no function 'nosuch'\n");
}

static void test_calls(void)
{
	const struct bsd_spec specs[] = { { 'k', "f", "g" },
					  { 'k', "ff", "__f" },
					  { 'k', "g", "x" } };
	struct selection sel;
	FILE *out = fmemopen(warnings, sizeof(warnings), "w");

	selection_init(&sel, program.n);
	bsd_select(&program, specs, ARRAY_LEN(specs), out, &sel);
	fclose(out);
	OK(!selection_wants_arc(&sel, 0, 3) && !selection_wants_arc(&sel, 1, 3));
	OK(!selection_wants_arc(&sel, 5, 2));
	/* Pair by pair: not everything on the left with everything on the right. */
	OK(selection_wants_arc(&sel, 5, 3) && selection_wants_arc(&sel, 0, 2));
	OK(selection_wants_arc(&sel, 3, 0));
	OK_STR(warnings, "gprof: warning: -k: there is no function 'x'\n");
	selection_done(&sel);
}

/* Once something was included, nothing else is, whatever is excluded then. */
static void test_included_calls(void)
{
	struct selection sel;
	symid *one[2] = { xalloc(sizeof(symid)), xalloc(sizeof(symid)) };
	*one[0] = 1;
	*one[1] = 2;
	selection_init(&sel, program.n);
	selection_add_arc(&sel, true, (struct sel_arc){ one[0], one[1], 1, 1 });
	selection_add_arc(&sel, false, (struct sel_arc){ NULL, NULL, 0, 0 });
	OK(selection_wants_arc(&sel, 1, 2));
	OK(!selection_wants_arc(&sel, 1, 3) && !selection_wants_arc(&sel, 0, 2));
	selection_done(&sel);
}

int main(void)
{
	test_operands();
	test_words();
	test_arguments();
	test_names();
	test_calls();
	test_included_calls();
	bsd_options_done(&o);
	return DONE();
}

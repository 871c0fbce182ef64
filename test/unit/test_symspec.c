#include "tap.h"

#include <stdlib.h>

#include "gnu/symspec.h"

/* A program of ten functions in three files, two of which are called util.c. These stand in for
 * symbols.c, so that no ELF file is needed. */
static struct symbol places[] = {
	{ .name = "_start" },
	{ .name = "main", .file = "src/main.c", .line = 10 },
	{ .name = "helper", .file = "src/main.c", .line = 20, .is_static = true },
	{ .name = "helper", .file = "lib/util.c", .line = 5, .is_static = true },
	{ .name = "work", .file = "lib/util.c", .line = 20 },
	{ .name = "work.part.0", .file = "lib/util.c", .line = 21, .is_static = true },
	{ .name = "tool", .file = "app/util.c", .line = 7 },
	{ .name = "_ZN1a1bEi", .file = "app/util.c", .line = 9 },
	{ .name = "mcount" },
	{ .name = "last" },
};
enum { N = ARRAY_LEN(places) };
static char object; /* stands for one: object_path() does not look at it */
static struct symbols program = { .at = places,
				  .n = N,
				  .object = (struct object_file *)(void *)&object };
static size_t locations;

const struct symbol *symbols_locate(struct symbols *s, symid id)
{
	locations++;
	return &s->at[id];
}

const char *const *symbols_files(struct symbols *s, size_t *n)
{
	static const char *const files[] = { "src/main.c", "lib/util.c", "app/util.c" };
	(void)s;
	*n = ARRAY_LEN(files);
	return files;
}

const char *object_path(const struct object_file *o)
{
	(void)o;
	return "./prog";
}

char *demangle(const char *name, enum demangle_style style)
{
	(void)style;
	return !strcmp(name, "_ZN1a1bEi") ? strdup("a::b(int)") : NULL;
}

/* Called for line places only; there are none. */
struct kin_error *object_symbols(struct object_file *o, const struct symtab_opts *opts,
				 struct symbol_table *ret)
{
	(void)o, (void)opts, (void)ret;
	return NULL;
}

static void note(const char *text, void *arg) { fprintf(arg, "gprof: %s\n", text); }

/* Which of the ten are in the table after these specs: "0110000000". */
static char *table(bool gnu, enum sel which, const char *const *texts, char *warnings)
{
	static char ret[N + 1];
	struct symspec specs[8];
	size_t n = 0;
	char *said = NULL;
	size_t n_said;
	FILE *f = open_memstream(&said, &n_said);

	for (; texts[n]; n++)
		specs[n] = (struct symspec){ texts[n], which, 'p' };
	struct selection sel;
	selection_init(&sel, N);
	locations = 0;
	symspec_select(&program, specs, n,
		       &(struct symspec_opts){ .gnu = gnu, .warn = gnu ? NULL : note, .arg = f },
		       &sel);
	for (symid i = 0; i < N; i++)
		ret[i] = selection_in(&sel, which, i) ? '1' : '0';
	selection_done(&sel);
	fclose(f);
	if (warnings)
		snprintf(warnings, 200, "%s", said);
	free(said);
	return ret;
}

#define TABLE(gnu, ...) table(gnu, SEL_INCL_FLAT, (const char *[]){ __VA_ARGS__, NULL }, NULL)

static void test_grammar(bool gnu)
{
	OK_STR(TABLE(gnu, "helper"), "0011000000");
	OK(locations == 0); /* names alone need no line information */
	OK_STR(TABLE(gnu, "main.c:helper"), "0010000000");
	OK_STR(TABLE(gnu, "main.c"), "0110000000");
	OK_STR(TABLE(gnu, "main.c:"), "0110000000");
	OK_STR(TABLE(gnu, "main.c:20"), "0010000000");
	OK_STR(TABLE(gnu, "20"), "0010100000");
	OK_STR(TABLE(gnu, ":20"), "0010100000");
	OK_STR(TABLE(gnu, ":work.part.0"), "0000010000");
	OK_STR(TABLE(gnu, ""), "1111111111");
	OK_STR(TABLE(gnu, "main.c:nosuch"), "0000000000");
	OK_STR(TABLE(gnu, "nosuch.c:main"), "0000000000");
	OK_STR(TABLE(gnu, "help"), "0000000000");
	OK_STR(TABLE(gnu, "99999999999999999999"), "0000000000");
	OK_STR(TABLE(gnu, "main", "last"), "0100000001");
}

static void test_differences(void)
{
	/* GNU knows one file of each base name: the one it met last. */
	OK_STR(TABLE(true, "util.c"), "0000001100");
	OK_STR(TABLE(false, "util.c"), "0001111100");
	OK_STR(TABLE(false, "lib/util.c"), "0001110000");
	OK_STR(TABLE(false, "ib/util.c"), "0000000000");
	OK_STR(TABLE(true, "main/util"), "0100000000");
	/* A dot is not the mark of a file if there is no such file. */
	OK_STR(TABLE(true, "work.part.0"), "0000000000");
	OK_STR(TABLE(false, "work.part.0"), "0000010000");
	/* Names as people read them. */
	OK_STR(TABLE(true, "a::b"), "0000000000");
	OK_STR(TABLE(false, "a::b"), "0000000100");
	OK_STR(TABLE(false, "a::b(int)"), "0000000100");
	OK_STR(TABLE(false, "util.c:a::b"), "0000000100");
	OK_STR(TABLE(false, "main.c:a::b"), "0000000000");
	OK_STR(TABLE(false, "a::bb"), "0000000000");
	OK_STR(TABLE(false, "_ZN1a1bEi"), "0000000100");
	/* GNU: the range lib/util.c was 3..5; a later range within hides the rest of it. */
	OK_STR(TABLE(true, "main.c", "helper"), "0111000000");
	OK_STR(TABLE(true, "main.c:", "main"), "0100000000");
	OK_STR(TABLE(false, "main.c:", "main"), "0110000000");
	OK_STR(TABLE(true, "", "tool"), "1111111000");
	OK_STR(TABLE(false, "", "tool"), "1111111111");
}

static void test_warnings(void)
{
	char said[200];

	table(false, SEL_INCL_FLAT, (const char *[]){ "main", NULL }, said);
	OK_STR(said, "");
	table(false, SEL_INCL_FLAT, (const char *[]){ "nosuch", NULL }, said);
	OK_STR(said,
	       "gprof: -p nosuch: has no effect: ./prog has no such function, file or line\n");
}

static void test_defaults(void)
{
	OK_STR(table(true, SEL_EXCL_TIME, (const char *[]){ NULL }, NULL), "0000000010");
	OK_STR(table(false, SEL_EXCL_FLAT, (const char *[]){ NULL }, NULL), "0000000010");
	OK_STR(table(false, SEL_EXCL_GRAPH, (const char *[]){ "main", NULL }, NULL), "0100000010");
}

static struct selection arcs(bool gnu, int which, const char *const *texts)
{
	struct symspec specs[8];
	struct selection sel;
	size_t n = 0;

	for (; texts[n]; n++)
		specs[n] = (struct symspec){ texts[n], which, 'k' };
	selection_init(&sel, N);
	symspec_select(&program, specs, n, &(struct symspec_opts){ .gnu = gnu }, &sel);
	return sel;
}

#define ARCS(gnu, which, ...) arcs(gnu, which, (const char *[]){ __VA_ARGS__, NULL })

enum { START, MAIN, HELPER_MAIN, HELPER_UTIL, WORK, PART, TOOL };

static void test_arcs(bool gnu)
{
	struct selection s = ARCS(gnu, SPEC_EXCL_ARCS, "main/helper");
	OK(!selection_wants_arc(&s, MAIN, HELPER_MAIN));
	OK(!selection_wants_arc(&s, MAIN, HELPER_UTIL));
	OK(selection_wants_arc(&s, MAIN, WORK));
	OK(selection_wants_arc(&s, WORK, HELPER_MAIN));
	selection_done(&s);

	s = ARCS(gnu, SPEC_EXCL_ARCS, "/main.c:helper");
	OK(!selection_wants_arc(&s, MAIN, HELPER_MAIN));
	OK(!selection_wants_arc(&s, WORK, HELPER_MAIN));
	OK(selection_wants_arc(&s, MAIN, HELPER_UTIL));
	selection_done(&s);

	s = ARCS(gnu, SPEC_EXCL_ARCS, "main/");
	OK(!selection_wants_arc(&s, MAIN, TOOL));
	OK(selection_wants_arc(&s, WORK, TOOL));
	selection_done(&s);

	s = ARCS(gnu, SPEC_EXCL_ARCS, "main");
	OK(selection_wants_arc(&s, MAIN, TOOL));
	selection_done(&s);

	s = ARCS(gnu, SPEC_INCL_ARCS, "main/work");
	OK(selection_wants_arc(&s, MAIN, WORK));
	OK(!selection_wants_arc(&s, MAIN, TOOL));
	OK(!selection_wants_arc(&s, START, WORK));
	selection_done(&s);

	s = ARCS(gnu, SPEC_INCL_ARCS, "nosuch/work");
	OK(selection_wants_arc(&s, MAIN, TOOL));
	selection_done(&s);
}

static void test_arc_differences(void)
{
	/* Of GNU's specs from the same function only the last has an effect. */
	struct selection s = ARCS(true, SPEC_EXCL_ARCS, "main/work", "main/tool");
	OK(selection_wants_arc(&s, MAIN, WORK));
	OK(!selection_wants_arc(&s, MAIN, TOOL));
	selection_done(&s);

	s = ARCS(false, SPEC_EXCL_ARCS, "main/work", "main/tool");
	OK(!selection_wants_arc(&s, MAIN, WORK));
	OK(!selection_wants_arc(&s, MAIN, TOOL));
	selection_done(&s);

	/* Ranges that overlap without starting at the same function all count. */
	s = ARCS(true, SPEC_EXCL_ARCS, "/work", "main/tool");
	OK(!selection_wants_arc(&s, MAIN, WORK));
	OK(!selection_wants_arc(&s, MAIN, TOOL));
	OK(selection_wants_arc(&s, WORK, TOOL));
	selection_done(&s);

	/* An unknown callee: GNU then shows no arc at all. */
	s = ARCS(true, SPEC_INCL_ARCS, "main/nosuch");
	OK(!selection_wants_arc(&s, MAIN, WORK));
	selection_done(&s);
	s = ARCS(false, SPEC_INCL_ARCS, "main/nosuch");
	OK(selection_wants_arc(&s, MAIN, WORK));
	selection_done(&s);
}

/* GNU's -r takes what is named for calls of the program. */
static void test_calls(void)
{
	struct symspec specs[] = { { "main/work", SPEC_EXCL_ARCS, 'k' },
				   { "main/tool", SPEC_EXCL_ARCS, 'k' },
				   { "helper/work", SPEC_EXCL_ARCS, 'k' },
				   { "tool/nosuch", SPEC_EXCL_ARCS, 'k' } };
	struct symspec_calls calls = { 0 };
	struct selection sel;

	selection_init(&sel, N);
	symspec_select(&program, specs, ARRAY_LEN(specs),
		       &(struct symspec_opts){ .gnu = true, .calls = &calls }, &sel);
	/* The second range from main is dropped, and those behind it move up, but not the indices
	 * that point there. */
	OK(calls.v.n == 3);
	OK(calls.v.at[0].from == TOOL && calls.v.at[0].to == WORK);
	OK(calls.v.at[1].from == MAIN && calls.v.at[1].to == TOOL);
	OK(calls.v.at[2].from == HELPER_MAIN && calls.v.at[2].to == WORK);
	vec_free(&calls.v);
	selection_done(&sel);
}

int main(void)
{
	for (size_t i = 0; i < N; i++)
		places[i].addr = 16 * i;
	program.text = (struct address_range){ 0, 16 * N };
	test_grammar(true);
	test_grammar(false);
	test_differences();
	test_warnings();
	test_defaults();
	test_arcs(true);
	test_arcs(false);
	test_arc_differences();
	test_calls();
	return DONE();
}

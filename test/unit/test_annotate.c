/* Annotated source, execution counts, lines and info, on a small program whose line table is
 * written by hand: its code is nothing but no-ops, each place has 16 bytes, so that addresses are
 * known. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/coverage.h"
#include "analysis/mismatch.h"
#include "base/err.h"
#include "gnu/annotate_files.h"
#include "gnu/layouts.h"
#include "gnu/rules.h"
#include "gnu/words.h"
#include "object/source.h"
#include "report/reports.h"
#include "tap.h"

static const char assembly[] = "	.macro place file line\n"
			       "	.loc \\file \\line\n"
			       "	nop\n"
			       "	.balign 16\n"
			       "	.endm\n"
			       "	.macro function name\n"
			       "	.globl \\name\n"
			       "	.type \\name, %function\n"
			       "\\name:\n"
			       "	.endm\n"
			       "	.text\n"
			       "	.file 1 \"main.c\"\n"
			       "	.file 2 \"sub/other.c\"\n"
			       "	.file 3 \"e\\033[31mvil.c\"\n"
			       "	function f\n"
			       "	place 1 3\n"
			       "	place 1 4\n"
			       "	place 1 5\n"
			       "	function other\n"
			       "	place 2 3\n"
			       "	place 2 2\n"
			       "	function main\n"
			       "	place 1 8\n"
			       "	place 1 9\n"
			       "	function evil\n"
			       "	place 3 1\n"
			       "	.globl bare\n"
			       "	.type bare, %function\n"
			       "bare:	nop\n"
			       "	.balign 16\n"
			       "	.section .note.GNU-stack,\"\",%progbits\n";

static const char main_c[] = "/* main.c */\n"
			     "extern int x;\n"
			     "int f(void) {\n"
			     "\treturn x;\n"
			     "}\n"
			     "\n"
			     "\n"
			     "int main(void) {\n"
			     "\treturn f(); }\n";

static const char other_c[] = "int y;\n"
			      "#define BODY y++\n"
			      "void other(void) { BODY; }\n";

static const char evil_c[] = "int evil; /* \033[31mred\r\n";

/* ---- the program, and data on it ---- */

struct fixture {
	struct object_file *object;
	struct symbols *symbols;
	struct profile *profile;
	struct callgraph *graph;
	struct report_input in;
};

/* An old file: sources newer than the program are remarked upon. */
static void write_file(const char *path, const char *text, size_t n)
{
	static const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	FILE *f = fopen(path, "w");
	if (!f || fwrite(text, 1, n, f) != n || fclose(f) || utimensat(AT_FDCWD, path, old, 0)) {
		perror(path);
		exit(99);
	}
}

static bool make_program(void)
{
	write_file("prog.s", assembly, sizeof(assembly) - 1);
	write_file("main.c", main_c, sizeof(main_c) - 1);
	mkdir("sub", 0777);
	write_file("sub/other.c", other_c, sizeof(other_c) - 1);
	write_file("e\033[31mvil.c", evil_c, sizeof(evil_c) - 1);
	return !system("as --debug-prefix-map \"$PWD=.\" -o prog.o prog.s && "
		       "ld -static -e main -Ttext=0x401000 --build-id=none -o prog prog.o");
}

static symid find(const struct fixture *x, const char *name)
{
	for (symid i = 0; i < x->symbols->n; i++)
		if (x->symbols->at[i].is_function && !strcmp(x->symbols->at[i].name, name))
			return i;
	fprintf(stderr, "no symbol %s\n", name);
	exit(99);
}

/* Address of byte `offset` in the given place of a function. */
static uint64_t at(const struct fixture *x, const char *name, unsigned place, unsigned offset)
{
	return x->symbols->at[find(x, name)].addr + place * 16 + offset;
}

static void call(struct profile_builder *b, uint64_t from, uint64_t to, uint64_t count)
{
	profile_add_arc(b, (struct arc){ .from = from, .to = to, .count = count });
}

static void block(struct profile_builder *b, uint64_t addr, uint64_t count)
{
	profile_add_block(b, (struct block){ .addr = addr, .count = count });
}

/* Adds the data that a test wants. */
typedef void filler(const struct fixture *x, struct profile_builder *b);

static struct fixture setup(filler *fill, bool lines, bool gnu)
{
	struct fixture x = { 0 };
	struct symbols_opts opts = { .lines = lines,
				     .table = { .rules = gnu ? &gnu_symbol_rules : NULL },
				     .rules = gnu ? &gnu_place_rules : NULL };
	struct kin_error *err = object_open("prog", &(struct object_opts){ 0 }, &x.object);
	if (!err)
		err = symbols_new(x.object, &opts, &x.symbols);
	if (err) {
		fprintf(stderr, "%s\n", kin_error_message(err));
		exit(99);
	}
	struct profile_builder *b = profile_builder_new();
	fill(&x, b);
	x.profile = profile_finish(b);
	x.graph = callgraph_new(
		x.profile, x.symbols,
		&(struct callgraph_opts){ .rules = gnu ? &gnu_callgraph_rules : NULL });
	x.in = (struct report_input){ .profile = x.profile,
				      .symbols = x.symbols,
				      .graph = x.graph };
	return x;
}

static void done(struct fixture *x)
{
	callgraph_free(x->graph);
	profile_free(x->profile);
	symbols_free(x->symbols);
	object_free(x->object);
}

/* ---- output as text; the result is the caller's ---- */

/* NULs stand as @ in it. */
static char *rendered(struct kin_table *t, const struct renderer *r, bool raw)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct kin_error *err =
		r->render(t, &(struct render_opts){ .raw = raw, .exact = raw }, out);
	fclose(out);
	if (err)
		printf("# %s\n", kin_error_message(err));
	for (size_t i = 0; i < n; i++)
		text[i] = text[i] ? text[i] : '@';
	kin_error_free(err);
	kin_table_free(t);
	return text;
}

/* All files one after the other, errors in GNU's words among them. */
static char *annotated(const struct fixture *x, const struct report_opts *report,
		       struct annotate_opts how)
{
	char *all = NULL;
	size_t n;
	FILE *out = open_memstream(&all, &n);
	struct annotate_file f;
	how.report = report;
	how.compat = how.any_source = report->rules != NULL;
	struct annotate *a = annotate_new(&x->in, &how);
	while (annotate_next(a, &f)) {
		if (f.err) {
			bool whoami;
			char *words = gnu_words(f.err, &whoami);
			fprintf(out, "ERROR %s\n", words);
			free(words);
			kin_error_free(f.err);
			continue;
		}
		char *text = rendered(f.table, &gnu_annotate_renderer, report->rules != NULL);
		fputs(text, out);
		free(text);
	}
	annotate_free(a);
	fclose(out);
	return all;
}

static char *reported(const struct fixture *x, const struct report *r, const struct report_opts *o,
		      const struct renderer *renderer)
{
	struct kin_table *t;
	struct kin_error *err = r->run(&x->in, o, &t);
	if (err) {
		char *text = strdup(kin_error_message(err));
		kin_error_free(err);
		return text;
	}
	return rendered(t, renderer, o->rules != NULL);
}

static void check(char *got, const char *want, const char *what, int line)
{
	tap_str(got, want, __FILE__, line, what);
	free(got);
}
#define CHECK(got, want) check(got, want, #got, __LINE__)

/* ---- gprof's annotated source ---- */

/* f is called three times and has twelve blocks on its second line; main's calls were not counted.
 */
static void busy(const struct fixture *x, struct profile_builder *b)
{
	call(b, at(x, "main", 1, 4), at(x, "f", 0, 4), 3);
	call(b, at(x, "f", 1, 4), at(x, "other", 0, 4), 5);
	for (unsigned i = 0; i < 12; i++)
		block(b, at(x, "f", 1, 11 - i), 100 + i);
	block(b, at(x, "f", 2, 1), 0);
}

static const struct annotate_opts plain = { .min_count = 1, .top = 3 };
static const struct annotate_opts all_lines = { .min_count = 1, .top = 0, .all_lines = true };

static void test_blocks_as_gnu(void)
{
	struct fixture x = setup(busy, true, true);
	struct report_opts o = { .rules = &gnu_report_rules };
	CHECK(annotated(&x, &o, plain), "*** File ./sub/other.c:\n"
					"                int y;\n"
					"                #define BODY y++\n"
					"           5 -> void other(void) { BODY; }\n"
					"\n"
					"\n"
					"Top 3 Lines:\n"
					"\n"
					"     Line      Count\n"
					"\n"
					"        3          5\n"
					"\n"
					"Execution Summary:\n"
					"\n"
					"        2   Executable lines in this file\n"
					"        1   Lines executed\n"
					"    50.00   Percent of the file executed\n"
					"\n"
					"        5   Total number of line executions\n"
					"     2.50   Average executions per line\n"
					"*** File ./main.c:\n"
					"                /* main.c */\n"
					"                extern int x;\n"
					"           3 -> int f(void) {\n"
					"100,101,102,103,\treturn x;\n"
					"       ##### -> }\n"
					"                \n"
					"                \n"
					"       ##### -> int main(void) {\n"
					"                \treturn f(); }\n"
					"\n"
					"\n"
					"Top 3 Lines:\n"
					"\n"
					"     Line      Count\n"
					"\n"
					"        3          3\n"
					"\n"
					"Execution Summary:\n"
					"\n"
					"        5   Executable lines in this file\n"
					"        4   Lines executed\n"
					"    80.00   Percent of the file executed\n"
					"\n"
					"        3   Total number of line executions\n"
					"     0.60   Average executions per line\n");
	CHECK(annotated(&x, &o, all_lines), "*** File ./sub/other.c:\n"
					    "                int y;\n"
					    "       ##### -> #define BODY y++\n"
					    "           5 -> void other(void) { BODY; }\n"
					    "\n"
					    "Execution Summary:\n"
					    "\n"
					    "        2   Executable lines in this file\n"
					    "        2   Lines executed\n"
					    "   100.00   Percent of the file executed\n"
					    "\n"
					    "        5   Total number of line executions\n"
					    "     2.50   Average executions per line\n"
					    "*** File ./main.c:\n"
					    "                /* main.c */\n"
					    "                extern int x;\n"
					    "           3 -> int f(void) {\n"
					    "3,100,101,102,10\treturn x;\n"
					    "       109,0 -> }\n"
					    "                \n"
					    "                \n"
					    "       ##### -> int main(void) {\n"
					    "       ##### -> \treturn f(); }\n"
					    "\n"
					    "Execution Summary:\n"
					    "\n"
					    "        5   Executable lines in this file\n"
					    "        5   Lines executed\n"
					    "   100.00   Percent of the file executed\n"
					    "\n"
					    "        3   Total number of line executions\n"
					    "     0.60   Average executions per line\n");
	done(&x);
}

/* All blocks count, the arrow stays, and of main it is only known that it made calls. */
static void test_blocks_as_they_are(void)
{
	struct fixture x = setup(busy, true, false);
	struct report_opts o = { 0 };
	CHECK(annotated(&x, &o, plain), "*** File ./sub/other.c:\n"
					"                int y;\n"
					"                #define BODY y++\n"
					"           5 -> void other(void) { BODY; }\n"
					"\n"
					"\n"
					"Top 3 Lines:\n"
					"\n"
					"     Line      Count\n"
					"\n"
					"        3          5\n"
					"\n"
					"Execution Summary:\n"
					"\n"
					"        2   Executable lines in this file\n"
					"        1   Lines executed\n"
					"    50.00   Percent of the file executed\n"
					"\n"
					"        5   Total number of line executions\n"
					"     2.50   Average executions per line\n"
					"*** File ./main.c:\n"
					"                /* main.c */\n"
					"                extern int x;\n"
					"           3 -> int f(void) {\n"
					"  111,110,.. -> \treturn x;\n"
					"       ##### -> }\n"
					"                \n"
					"                \n"
					"           ? -> int main(void) {\n"
					"                \treturn f(); }\n"
					"\n"
					"\n"
					"Top 3 Lines:\n"
					"\n"
					"     Line      Count\n"
					"\n"
					"        4       1266\n"
					"        3          3\n"
					"\n"
					"Execution Summary:\n"
					"\n"
					"        5   Executable lines in this file\n"
					"        4   Lines executed\n"
					"    80.00   Percent of the file executed\n"
					"\n"
					"     1269   Total number of line executions\n"
					"   253.80   Average executions per line\n");
	CHECK(annotated(&x, &o, all_lines), "*** File ./sub/other.c:\n"
					    "                int y;\n"
					    "           5 -> #define BODY y++\n"
					    "           5 -> void other(void) { BODY; }\n"
					    "\n"
					    "Execution Summary:\n"
					    "\n"
					    "        2   Executable lines in this file\n"
					    "        2   Lines executed\n"
					    "   100.00   Percent of the file executed\n"
					    "\n"
					    "        5   Total number of line executions\n"
					    "     2.50   Average executions per line\n"
					    "*** File ./main.c:\n"
					    "                /* main.c */\n"
					    "                extern int x;\n"
					    "           3 -> int f(void) {\n"
					    "  111,110,.. -> \treturn x;\n"
					    "       100,0 -> }\n"
					    "                \n"
					    "                \n"
					    "           ? -> int main(void) {\n"
					    "                \treturn f(); }\n"
					    "\n"
					    "Execution Summary:\n"
					    "\n"
					    "        5   Executable lines in this file\n"
					    "        4   Lines executed\n"
					    "    80.00   Percent of the file executed\n"
					    "\n"
					    "     1269   Total number of line executions\n"
					    "   253.80   Average executions per line\n");
	done(&x);
}

static void evil_and_outside(const struct fixture *x, struct profile_builder *b)
{
	call(b, 0x10, at(x, "main", 0, 4), 1);
	call(b, at(x, "main", 1, 4), at(x, "evil", 0, 4), 7);
	call(b, at(x, "evil", 0, 4), at(x, "evil", 0, 4), 20);
	call(b, at(x, "evil", 0, 4), at(x, "f", 0, 4), 2);
}

/* Control characters in names and text go through unchanged only for --compat; calls from outside
 * the program and recursion count. */
static void test_hostile_text(void)
{
	struct fixture gnu = setup(evil_and_outside, false, true);
	struct fixture x = setup(evil_and_outside, false, false);
	static const char *const dirs[] = { "sub", NULL };
	struct report_opts o = { .source_dirs = dirs },
			   gnu_opts = { .source_dirs = dirs, .rules = &gnu_report_rules };
	write_file("main.c", "\0a\n\xff\t\001\nf\nx\ny\nz\n\n main\0()", 24);
	CHECK(annotated(&gnu, &gnu_opts, (struct annotate_opts){ .min_count = 1 }),
	      "*** File ./main.c:\n"
	      "                @a\n"
	      "                \377\t\001\n"
	      "           2 -> f\n"
	      "                x\n"
	      "                y\n"
	      "                z\n"
	      "                \n"
	      "       ##### ->  main@()\n"
	      "Execution Summary:\n"
	      "\n"
	      "        2   Executable lines in this file\n"
	      "        2   Lines executed\n"
	      "   100.00   Percent of the file executed\n"
	      "\n"
	      "        2   Total number of line executions\n"
	      "     1.00   Average executions per line\n"
	      "*** File ./e\033[31mvil.c:\n"
	      "           7 -> int evil; /* \033[31mred\r\n"
	      "\n"
	      "Execution Summary:\n"
	      "\n"
	      "        1   Executable lines in this file\n"
	      "        1   Lines executed\n"
	      "   100.00   Percent of the file executed\n"
	      "\n"
	      "        7   Total number of line executions\n"
	      "     7.00   Average executions per line\n");
	CHECK(annotated(&x, &o, (struct annotate_opts){ .min_count = 1 }),
	      "*** File ./main.c:\n"
	      "                \\x00a\n"
	      "                \\xff\t\\x01\n"
	      "           2 -> f\n"
	      "                x\n"
	      "                y\n"
	      "                z\n"
	      "                \n"
	      "           1 ->  main\\x00()\n"
	      "Execution Summary:\n"
	      "\n"
	      "        2   Executable lines in this file\n"
	      "        2   Lines executed\n"
	      "   100.00   Percent of the file executed\n"
	      "\n"
	      "        3   Total number of line executions\n"
	      "     1.50   Average executions per line\n"
	      "*** File ./e\\x1b[31mvil.c:\n"
	      "          27 -> int evil; /* \\x1b[31mred\r\n"
	      "\n"
	      "Execution Summary:\n"
	      "\n"
	      "        1   Executable lines in this file\n"
	      "        1   Lines executed\n"
	      "   100.00   Percent of the file executed\n"
	      "\n"
	      "       27   Total number of line executions\n"
	      "    27.00   Average executions per line\n");
	write_file("main.c", main_c, sizeof(main_c) - 1);
	done(&gnu);
	done(&x);
}

/* The source has fewer lines than the program: their counts are not lost. */
static void test_short_source(void)
{
	struct fixture x = setup(busy, true, false);
	struct report_opts o = { 0 };
	static const char *const subjects[] = { "main.c", NULL };
	write_file("main.c", "1\n2\n3\n4", 7);
	CHECK(annotated(&x, &o, plain), "*** File ./sub/other.c:\n"
					"                int y;\n"
					"                #define BODY y++\n"
					"           5 -> void other(void) { BODY; }\n"
					"\n"
					"\n"
					"Top 3 Lines:\n"
					"\n"
					"     Line      Count\n"
					"\n"
					"        3          5\n"
					"\n"
					"Execution Summary:\n"
					"\n"
					"        2   Executable lines in this file\n"
					"        1   Lines executed\n"
					"    50.00   Percent of the file executed\n"
					"\n"
					"        5   Total number of line executions\n"
					"     2.50   Average executions per line\n"
					"*** File ./main.c:\n"
					"                1\n"
					"                2\n"
					"           3 -> 3\n"
					"  111,110,.. -> 4\n"
					"\n"
					"Top 3 Lines:\n"
					"\n"
					"     Line      Count\n"
					"\n"
					"        4       1266\n"
					"        3          3\n"
					"\n"
					"Execution Summary:\n"
					"\n"
					"        5   Executable lines in this file\n"
					"        4   Lines executed\n"
					"    80.00   Percent of the file executed\n"
					"\n"
					"     1269   Total number of line executions\n"
					"   253.80   Average executions per line\n");
	o.subjects = subjects;
	CHECK(reported(&x, &annotate_report, &o, &text_renderer),
	      "Annotated source\n"
	      "  source './main.c' has 4 lines, but there is code of line 9: it was changed, or is "
	      "another file\n"
	      "\n"
	      "% time  self (s)  count  line  source\n"
	      "                               ./main.c\n"
	      "                            1    1\n"
	      "                            2    2\n"
	      "                      3     3    3\n"
	      "                    111     4    4\n"
	      "                      0     5\n"
	      "                            8\n"
	      "                            9\n");
	write_file("main.c", main_c, sizeof(main_c) - 1);
	done(&x);
}

static void test_missing_sources(void)
{
	struct fixture x = setup(busy, true, true);
	static const char *const dirs[] = { "nowhere", "else", NULL };
	struct report_opts o = { .rules = &gnu_report_rules, .source_dirs = dirs };
	struct source_text text;

	/* Only regular files are opened; otherwise the next folder that has the name counts. */
	unlink("main.c");
	OK(!mkfifo("main.c", 0666));
	rename("sub/other.c", "sub/away.c");
	mkdir("sub/other.c", 0777);
	CHECK(annotated(&x, &o, plain), "ERROR could not locate `./sub/other.c'\n"
					"ERROR could not locate `./main.c'\n");
	struct kin_error *err = source_open("./main.c", dirs, false, &text);
	OK_STR(kin_error_message(err), "source './main.c': ./main.c: not a regular file");
	kin_error_free(err);
	mkdir("else", 0777);
	write_file("else/main.c", "found", 5);
	OK(!source_open("./main.c", dirs, false, &text));
	OK_STR(text.path, "else/./main.c");
	source_done(&text);
	err = source_open("/nonexistent/main.c", dirs, false, &text);
	OK(!err);
	OK_STR(text.path, "else/main.c");
	source_done(&text);
	err = source_open("-", NULL, false, &text); /* not standard input */
	OK_STR(kin_error_message(err),
	       "source '-': no such file, neither as named nor in the current directory; "
	       "-I DIRECTORY names its directory");
	kin_error_free(err);

	unlink("else/main.c");
	unlink("main.c");
	rmdir("sub/other.c");
	rename("sub/away.c", "sub/other.c");
	write_file("main.c", main_c, sizeof(main_c) - 1);
	done(&x);
}

static bool is_shown(const char *path, const char *const *dirs, bool any)
{
	struct source_text text = { 0 };
	struct kin_error *err = source_open(path, dirs, any, &text);
	bool refused =
		err && strstr(kin_error_message(err), "does not look like source code; "
						      "if it is, -I DIRECTORY names its directory");
	bool shown = !err;
	OK(shown || refused);
	kin_error_free(err);
	source_done(&text);
	return shown;
}

/* Debug information names source files; a file that is no source is not shown nevertheless. */
static void test_secrets(void)
{
	char away[] = "/tmp/kin-secret-XXXXXX", secret[64], link[64], code[64], header[64];
	OK(mkdtemp(away));
	snprintf(secret, sizeof(secret), "%s/shadow", away);
	snprintf(link, sizeof(link), "%s/link.c", away);
	snprintf(code, sizeof(code), "%s/code.RS", away);
	snprintf(header, sizeof(header), "%s/include", away);
	write_file(secret, "x", 1);
	write_file(code, "x", 1);
	OK(!symlink(secret, link) && !mkdir(header, 0777));
	snprintf(header, sizeof(header), "%s/include/vector", away);
	write_file(header, "x", 1);
	write_file("no_ending", "x", 1);

	OK(!is_shown("/etc/passwd", NULL, false));
	OK(!is_shown("/usr/include/../../etc/passwd", NULL, false));
	OK(is_shown("/etc/passwd", NULL, true)); /* as GNU gprof does it */
	OK(!is_shown(secret, NULL, false));
	OK(!is_shown(link, NULL, false));
	OK(is_shown(secret, (const char *const[]){ "/nowhere", away, NULL }, false));
	OK(is_shown(code, NULL, false));
	OK(is_shown(header, NULL, false));
	OK(is_shown("no_ending", NULL, false));
	/* Everything is below the root directory, and the first shell of a container is there. */
	char *here = realpath(".", NULL);
	OK(here && !chdir("/"));
	OK(!is_shown("/etc/passwd", NULL, false) && !is_shown("etc/passwd", NULL, false));
	OK(is_shown("/etc/passwd", (const char *const[]){ "/", NULL }, false));
	OK(!chdir(here));
	free(here);
	const char *const files[] = { secret, link, code, header, "no_ending" };
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		unlink(files[i]);
	*strrchr(header, '/') = '\0';
	OK(!rmdir(header) && !rmdir(away));
}

/* A block that starts with its function says the same as the calls, and may know of more; the calls
 * of functions that start on one line are one count. */
static void block_at_entry(const struct fixture *x, struct profile_builder *b)
{
	call(b, at(x, "main", 1, 4), at(x, "f", 0, 4), 3);
	block(b, at(x, "f", 0, 0), 4);
	call(b, at(x, "main", 1, 4), at(x, "evil", 0, 4), 7);
	call(b, at(x, "main", 1, 4), at(x, "bare", 0, 4), 2);
}

static void test_one_count_of_calls(void)
{
	struct fixture x = setup(block_at_entry, true, false);
	struct coverage *c =
		coverage_new(x.profile, x.symbols, x.graph, &(struct coverage_opts){ 0 });
	for (size_t i = 0; i < c->n_files; i++) {
		const struct coverage_line *l = &c->lines[c->files[i].first_line];
		if (!strcmp(c->files[i].path, "./main.c"))
			OK(l->line == 3 && l->n_counts == 1 && l->total == 4 && l->calls == 3);
		if (strstr(c->files[i].path, "vil.c"))
			OK(l->line == 1 && l->n_counts == 1 && l->total == 9 && l->calls == 9);
	}
	coverage_free(c);
	done(&x);
}

static void recursion(const struct fixture *x, struct profile_builder *b)
{
	call(b, at(x, "f", 0, 4), at(x, "f", 0, 4), 41);
	call(b, at(x, "main", 0, 4), at(x, "f", 0, 4), 1);
	call(b, 0x10, at(x, "main", 0, 4), 1);
}

/* A function without counted blocks, at any address: each line gets the count of the function's
 * calls, if that is requested. */
static void test_calls_carried_to_lines(void)
{
	struct fixture x = setup(recursion, true, false);
	struct coverage *c = coverage_new(x.profile, x.symbols, x.graph,
					  &(struct coverage_opts){ .carry = CARRY_CALLS });
	uint64_t counts[10] = { 0 };
	for (size_t i = 0; i < c->n_files; i++)
		for (uint32_t k = 0; k < c->files[i].n_lines; k++) {
			const struct coverage_line *l = &c->lines[c->files[i].first_line + k];
			if (!strcmp(c->files[i].path, "./main.c") && l->line < ARRAY_LEN(counts))
				counts[l->line] = l->sum;
		}
	OK(counts[3] == 42 && counts[4] == 42 && counts[5] == 42); /* f, the first of all */
	OK(counts[8] == 1 && counts[9] == 1);                      /* main */
	coverage_free(c);
	done(&x);
}

/* ---- gprof -y ---- */

static const char *created(struct annotate *a, const char *path)
{
	const char *name;
	FILE *f = NULL;
	struct kin_error *err = annotate_create(a, path, &name, &f);
	static char message[200];
	if (!err) {
		fputs("new", f);
		fclose(f);
		return name;
	}
	snprintf(message, sizeof(message), "%s", kin_error_message(err));
	kin_error_free(err);
	return message;
}

static void test_separate_files(void)
{
	struct fixture x = setup(busy, true, false);
	struct report_opts o = { 0 }, gnu_opts = { .rules = &gnu_report_rules };
	struct annotate_opts how = { .report = &o }, gnu = { .report = &gnu_opts, .compat = true };
	struct annotate *a = annotate_new(&x.in, &how);
	struct stat st;

	write_file("precious", "precious", 8);
	OK(!symlink("../precious", "sub/link") && !symlink("precious", "d.c-ann"));
	write_file("b.c-ann", "much longer than before", 23);
	OK_STR(created(a, "x/a.c"), "a.c-ann");
	OK_STR(created(a, "y/a.c"), "a.c.2-ann");
	OK_STR(created(a, "a.c"), "a.c.3-ann");
	OK_STR(created(a, "b.c"), "b.c-ann");
	OK(!stat("b.c-ann", &st) && st.st_size == 3);
	OK_STR(created(a, "d.c"),
	       "d.c-ann: is a symbolic link, which is not written through; remove it");
	OK(!stat("precious", &st) && st.st_size == 8);
	mkdir("e.c-ann", 0777);
	OK_STR(created(a, "e.c"), "e.c-ann: Is a directory");
	mkfifo("f.c-ann", 0666);
	OK_STR(created(a, "f.c"), "f.c-ann: No such device or address");
	annotate_free(a);

	a = annotate_new(&x.in, &gnu);
	OK_STR(created(a, "x/a.c"), "a.c-ann");
	OK_STR(created(a, "y/a.c"), "a.c-ann");
	annotate_free(a);
	done(&x);
}

/* ---- execution counts ---- */

static void test_counts(void)
{
	struct fixture gnu = setup(busy, true, true), x = setup(busy, true, false);
	struct fixture by_function = setup(busy, false, false);
	struct report_opts gnu_opts = { .rules = &gnu_report_rules }, o = { 0 },
			   zeroes = { .zeroes = true };
	CHECK(reported(&gnu, &counts_report, &gnu_opts, &gnu_counts_renderer),
	      "./main.c:3: (f:0x401000) 3 executions\n"
	      "./main.c:4: (f:0x40101b) 100 executions\n"
	      "./main.c:4: (f:0x40101a) 101 executions\n"
	      "./main.c:4: (f:0x401019) 102 executions\n"
	      "./main.c:4: (f:0x401018) 103 executions\n"
	      "./main.c:4: (f:0x401017) 104 executions\n"
	      "./main.c:4: (f:0x401016) 105 executions\n"
	      "./main.c:4: (f:0x401015) 106 executions\n"
	      "./main.c:4: (f:0x401014) 107 executions\n"
	      "./main.c:4: (f:0x401013) 108 executions\n"
	      "./main.c:4: (f:0x401012) 109 executions\n"
	      "./sub/other.c:3: (other:0x401030) 5 executions\n");
	gnu_opts.zeroes = true;
	CHECK(reported(&gnu, &counts_report, &gnu_opts, &gnu_counts_renderer),
	      "./e\033[31mvil.c:1: (evil:0x401070) 0 executions\n"
	      "./e\033[31mvil.c:1: (bare:0x401080) 0 executions\n"
	      "./main.c:3: (f:0x401000) 3 executions\n"
	      "./main.c:4: (f:0x401010) 0 executions\n"
	      "./main.c:4: (f:0x40101b) 100 executions\n"
	      "./main.c:4: (f:0x40101a) 101 executions\n"
	      "./main.c:4: (f:0x401019) 102 executions\n"
	      "./main.c:4: (f:0x401018) 103 executions\n"
	      "./main.c:4: (f:0x401017) 104 executions\n"
	      "./main.c:4: (f:0x401016) 105 executions\n"
	      "./main.c:4: (f:0x401015) 106 executions\n"
	      "./main.c:4: (f:0x401014) 107 executions\n"
	      "./main.c:4: (f:0x401013) 108 executions\n"
	      "./main.c:4: (f:0x401012) 109 executions\n"
	      "./main.c:5: (f:0x401020) 0 executions\n"
	      "./main.c:5: (f:0x401021) 0 executions\n"
	      "./main.c:8: (main:0x401050) 0 executions\n"
	      "./main.c:9: (main:0x401060) 0 executions\n"
	      "./sub/other.c:2: (other:0x401040) 0 executions\n"
	      "./sub/other.c:3: (other:0x401030) 5 executions\n");
	CHECK(reported(&x, &counts_report, &zeroes, &gnu_counts_renderer),
	      "./e\\x1b[31mvil.c:1: (evil:0x401070) 0 executions\n"
	      "./e\\x1b[31mvil.c:1: (bare:0x401080) 0 executions\n"
	      "./main.c:3: (f:0x401000) 3 executions\n"
	      "./main.c:4: (f:0x401010) 111 executions\n"
	      "./main.c:4: (f:0x401011) 110 executions\n"
	      "./main.c:4: (f:0x401012) 109 executions\n"
	      "./main.c:4: (f:0x401013) 108 executions\n"
	      "./main.c:4: (f:0x401014) 107 executions\n"
	      "./main.c:4: (f:0x401015) 106 executions\n"
	      "./main.c:4: (f:0x401016) 105 executions\n"
	      "./main.c:4: (f:0x401017) 104 executions\n"
	      "./main.c:4: (f:0x401018) 103 executions\n"
	      "./main.c:4: (f:0x401019) 102 executions\n"
	      "./main.c:4: (f:0x40101a) 101 executions\n"
	      "./main.c:4: (f:0x40101b) 100 executions\n"
	      "./main.c:5: (f:0x401021) 0 executions\n"
	      "./sub/other.c:3: (other:0x401030) 5 executions\n");
	CHECK(reported(&by_function, &counts_report, &o, &gnu_counts_renderer),
	      "./main.c:3: (f:0x401000) 3 executions\n"
	      "./sub/other.c:3: (other:0x401030) 5 executions\n");
	CHECK(reported(&by_function, &counts_report, &zeroes, &csv_renderer),
	      "kind,depth,group,count,name,file,line\n"
	      "function,0,0,0,evil,./e\\x1b[31mvil.c,1\n"
	      "function,0,0,0,bare,./e\\x1b[31mvil.c,1\n"
	      "function,0,0,3,f,./main.c,3\n"
	      "member,1,0,111,f,./main.c,4\n"
	      "member,1,0,110,f,./main.c,4\n"
	      "member,1,0,109,f,./main.c,4\n"
	      "member,1,0,108,f,./main.c,4\n"
	      "member,1,0,107,f,./main.c,4\n"
	      "member,1,0,106,f,./main.c,4\n"
	      "member,1,0,105,f,./main.c,4\n"
	      "member,1,0,104,f,./main.c,4\n"
	      "member,1,0,103,f,./main.c,4\n"
	      "member,1,0,102,f,./main.c,4\n"
	      "member,1,0,101,f,./main.c,4\n"
	      "member,1,0,100,f,./main.c,4\n"
	      "member,1,0,0,f,./main.c,5\n"
	      "function,0,0,5,other,./sub/other.c,3\n");
	done(&gnu);
	done(&x);
	done(&by_function);
}

static void test_recursion_counts(void)
{
	struct fixture gnu = setup(recursion, false, true), x = setup(recursion, false, false);
	struct report_opts gnu_opts = { .rules = &gnu_report_rules }, o = { 0 };
	CHECK(reported(&gnu, &counts_report, &gnu_opts, &gnu_counts_renderer),
	      "./main.c:3: (f:0x401000) 1 executions\n");
	CHECK(reported(&x, &counts_report, &o, &gnu_counts_renderer),
	      "./main.c:3: (f:0x401000) 42 executions\n"
	      "./main.c:8: (main:0x401050) 1 executions\n");
	done(&gnu);
	done(&x);
}

static void many_blocks(const struct fixture *x, struct profile_builder *b)
{
	block(b, at(x, "f", 1, 3), UINT64_MAX - 1);
	block(b, at(x, "f", 1, 2), 5);
	block(b, at(x, "f", 1, 3), 3);
	block(b, at(x, "f", 1, 2), 0);
	block(b, 0x10, 1);
}

static void test_block_sums(void)
{
	struct fixture x = setup(many_blocks, true, true);
	struct blocks *b = blocks_new(x.profile, x.symbols, NULL);
	OK(b->n == 2 && b->n_outside == 1 && b->has_saturated);
	OK(b->at[0].count == 5 && b->at[1].count == UINT64_MAX && b->at[0].addr < b->at[1].addr);
	blocks_free(b);
	b = blocks_new(x.profile, x.symbols, &gnu_block_rules);
	OK(b->n == 2 && b->at[0].count == 1 && b->at[1].count == 5); /* in the order read; wraps */
	blocks_free(b);
	done(&x);
}

/* f is called, and has three blocks on its second line, of which two were executed as often; other
 * is called; main has a block on its second line, and its calls were not counted. */
static void some_blocks(const struct fixture *x, struct profile_builder *b)
{
	call(b, at(x, "main", 1, 4), at(x, "f", 0, 0), 3);
	call(b, at(x, "main", 1, 8), at(x, "other", 0, 0), 5);
	block(b, at(x, "f", 1, 1), 7);
	block(b, at(x, "f", 1, 2), 7);
	block(b, at(x, "f", 1, 3), 9);
	block(b, at(x, "main", 1, 1), 2);
}

/* "LINE:COUNT,COUNT=SUM": the counts listed for each line of a file, and the sum. "+": it was
 * executed; "?": its calls were not counted. */
static char *lines_listed(enum coverage_carry carry, const char *path)
{
	struct fixture x = setup(some_blocks, true, false);
	struct coverage *c = coverage_new(x.profile, x.symbols, x.graph,
					  &(struct coverage_opts){ .carry = carry });
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (size_t i = 0; i < c->n_files; i++) {
		const struct coverage_file *f = &c->files[i];
		for (uint32_t k = 0; k < f->n_lines && strstr(f->path, path); k++) {
			const struct coverage_line *l = &c->lines[f->first_line + k];
			uint64_t most = 0;
			fprintf(out, "%s%u:", k ? " " : "", l->line);
			for (uint32_t m = 0; m < l->n_counts; m++) {
				uint64_t count = c->counts.at[l->first_count + m];
				fprintf(out, "%s%u", m ? "," : "", (unsigned)count);
				most = count > most ? count : most;
			}
			if (l->is_known)
				fprintf(out, "=%u", (unsigned)l->sum);
			fprintf(out, "%s%s", l->is_executed ? "+" : "", l->is_unsure ? "?" : "");
			OK(l->is_known == (l->n_counts > 0) && l->most == most);
		}
	}
	fclose(out);
	coverage_free(c);
	done(&x);
	return text;
}

/* Lines within a block, and lines of functions without blocks, get counts if that is requested. */
static void test_carried_counts(void)
{
	CHECK(lines_listed(CARRY_NONE, "main.c"), "3:3=3+ 4:7,7,9=23+ 5:+ 8:+? 9:2=2+");
	CHECK(lines_listed(CARRY_NONE, "other.c"), "2: 3:5=5+");
	CHECK(lines_listed(CARRY_MEASURED, "main.c"), "3:3=3+ 4:7,7,9=23+ 5:9=9+ 8:+? 9:2=2+");
	CHECK(lines_listed(CARRY_MEASURED, "other.c"), "2: 3:5=5+");
	CHECK(lines_listed(CARRY_CALLS, "main.c"), "3:3=3+ 4:7,7,9=23+ 5:9=9+ 8:+? 9:2=2+");
	CHECK(lines_listed(CARRY_CALLS, "other.c"), "2:5=5+ 3:5=5+");
	CHECK(lines_listed(CARRY_ALL, "other.c"), "2:5=5+ 3:5=5+");
}

/* ---- data of another program ---- */

static void to_no_function(const struct fixture *x, struct profile_builder *b)
{
	call(b, at(x, "main", 1, 4), at(x, "f", 1, 3), 1);
	call(b, at(x, "main", 1, 4), at(x, "f", 0, 0), 1);
	call(b, at(x, "main", 1, 4), at(x, "other", 0, 0), 1);
	profile_add_source(b, "gmon.out", (struct source){ .kind = "gmon" });
}

/* One per line; to be freed. */
static char *warnings_in(const struct fixture *x)
{
	struct remarks r = { 0 };
	char *text = xalloc(2000);
	mismatch_check(x->profile, x->object, x->symbols, &r);
	for (size_t i = 0; i < r.at.n; i++)
		strcat(strcat(text, r.at.at[i].text), "\n");
	remarks_free(&r);
	return text;
}

static char *warnings_of(filler *fill)
{
	struct fixture x = setup(fill, false, false);
	char *text = warnings_in(&x);
	done(&x);
	return text;
}

/* It has the symbols for begin and end of code that gcrt1.o makes linkers define. */
static const char ranged[] = "	.globl __executable_start, etext, f, g\n"
			     "	.type f, %function\n"
			     "	.type g, %function\n"
			     "__executable_start:\n"
			     "f:	nop\n"
			     "	.balign 4096\n"
			     "g:	nop\n"
			     "	.balign 4096\n"
			     "etext:\n"
			     "	.section .note.GNU-stack,\"\",%progbits\n";

/* Calls that are beyond that program's code, calls of libraries that it makes, and of its own. */
static char *warnings_of_ranged(unsigned n_beyond, unsigned n_out, unsigned n_within)
{
	struct fixture x = { 0 };
	write_file("ranged.s", ranged, sizeof(ranged) - 1);
	OK(!system(
		"as -o ranged.o ranged.s && ld -static -e f -Ttext=0x401000 -o ranged ranged.o"));
	kin_error_free(object_open("ranged", &(struct object_opts){ 0 }, &x.object));
	kin_error_free(symbols_new(x.object, &(struct symbols_opts){ 0 }, &x.symbols));
	struct profile_builder *b = profile_builder_new();
	for (unsigned i = 0; i < n_beyond; i++)
		call(b, 0x60000000, 0x70000000 + i, 1);
	for (unsigned i = 0; i < n_out; i++)
		call(b, at(&x, "f", 0, 0), 0x70000000 + i, 1);
	for (unsigned i = 0; i < n_within; i++)
		call(b, at(&x, "f", i, 0), at(&x, "g", 0, 0), 1);
	x.profile = profile_finish(b);
	char *text = warnings_in(&x);
	done(&x);
	return text;
}

static void test_mismatch(void)
{
	CHECK(warnings_of(recursion),
	      "3 of 3 call counts in the data are for addresses where no function of prog counts "
	      "calls (0x401004 ...): it was written by another program, or by another build of "
	      "this one\n");
	CHECK(warnings_of(to_no_function),
	      "1 of 3 call counts in gmon.out are for addresses where no function of prog counts "
	      "calls (0x401013): the data is damaged, or partly of another build\n");
	CHECK(warnings_of_ranged(2, 0, 0),
	      "none of the 2 call counts in the data is for a function "
	      "of ranged: it was written by "
	      "another program\n");
	CHECK(warnings_of_ranged(2, 1, 0), "");
	CHECK(warnings_of_ranged(0, 2, 0), "");
	CHECK(warnings_of_ranged(2, 0, 1), "");
	CHECK(warnings_of_ranged(0, 0, 2), "");
	CHECK(warnings_of_ranged(0, 0, 0), "");
}

/* As ld lays out programs: headers before the code, and something behind it in its segment. */
static void make_laid_out(void)
{
	static const char code[] = "	.globl etext, f, g\n"
				   "	.type f, %function\n"
				   "	.type g, %function\n"
				   "f:	nop\n"
				   "	.balign 4096\n"
				   "g:	nop\n"
				   "	.balign 4096\n"
				   "etext:\n"
				   "	.section .behind, \"ax\"\n"
				   "	.zero 64\n"
				   "	.section .note.GNU-stack,\"\",%progbits\n";
	write_file("laid.s", code, sizeof(code) - 1);
	OK(!system("as -o laid.o laid.s && ld -static -e f --defsym __executable_start=0x400000 "
		   "-Ttext=0x401000 -o laid laid.o"));
}

/* The warnings for that program if the data covers these addresses. */
static char *warnings_of_range(uint64_t low, uint64_t high)
{
	struct fixture x = { 0 };
	struct histogram h = {
		.n = 1, .low = low, .high = high, .rate = 100, .dimension = "seconds", .abbrev = 's'
	};
	kin_error_free(object_open("laid", &(struct object_opts){ 0 }, &x.object));
	kin_error_free(symbols_new(x.object, &(struct symbols_opts){ 0 }, &x.symbols));
	struct profile_builder *b = profile_builder_new();
	kin_error_free(profile_add_histogram(b, h));
	x.profile = profile_finish(b);
	char *text = warnings_in(&x);
	done(&x);
	return text;
}

static bool is_whole(uint64_t low, uint64_t high)
{
	char *text = warnings_of_range(low, high);
	bool whole = !*text;
	free(text);
	return whole;
}

static bool is_a_part(uint64_t low, uint64_t high)
{
	char *text = warnings_of_range(low, high);
	bool part = strstr(text, "only a part of the program was profiled") != NULL;
	OK(part || strstr(text, "it was written by another program"));
	free(text);
	return part;
}

/* The code is 0x401000-0x403000; the program begins at 0x400000, and its segment ends at
 * 0x403040. Ranges are rounded to less than 16 bytes. */
static void test_ranges(void)
{
	enum { START = 0x400000, CODE = 0x401000, END = 0x403000, SEGMENT = 0x403040 };
	make_laid_out();
	OK(is_whole(START, END) && is_whole(START + 15, END - 15) &&
	   is_whole(START - 15, END + 15));
	OK(is_whole(START, SEGMENT) && is_whole(START, SEGMENT - 15));
	OK(is_whole(CODE, END) && is_whole(CODE - 1, END) && !is_whole(CODE + 1, END));
	OK(!is_whole(START - 16, END) && !is_whole(START, END - 16) && !is_whole(START, END + 16));
	OK(!is_whole(START, SEGMENT + 16));
	CHECK(warnings_of_range(START, 0x402000),
	      "the data covers addresses 0x400000-0x402000, laid has 0x400000-0x403000: only a "
	      "part of the program was profiled, or it was built anew since\n");
	CHECK(warnings_of_range(0x500000, 0x600000),
	      "the data covers addresses 0x500000-0x600000, laid has 0x400000-0x403000: it was "
	      "written by another program, or by another build of this one\n");
	OK(is_a_part(START - 15, 0x402000) && !is_a_part(START - 16, 0x402000));
	OK(is_a_part(0x402000, END + 15) && !is_a_part(0x402000, END + 16));
}

/* Calls of addresses outside of the program are calls of libraries, except within the rounding. */
static char *warnings_of_call(uint64_t to)
{
	struct fixture x = { 0 };
	kin_error_free(object_open("laid", &(struct object_opts){ 0 }, &x.object));
	kin_error_free(symbols_new(x.object, &(struct symbols_opts){ 0 }, &x.symbols));
	struct profile_builder *b = profile_builder_new();
	call(b, 0x60000000, to, 1);
	x.profile = profile_finish(b);
	char *text = warnings_in(&x);
	done(&x);
	return text;
}

static bool is_elsewhere(uint64_t to)
{
	char *text = warnings_of_call(to);
	bool elsewhere = !strncmp(text, "none of the 1 call counts ", 26);
	OK(elsewhere || !strncmp(text, "1 of 1 call counts ", 19));
	free(text);
	return elsewhere;
}

static void test_calls_elsewhere(void)
{
	OK(!is_elsewhere(0x400000) && is_elsewhere(0x3fffff));
	OK(!is_elsewhere(0x40300f) && is_elsewhere(0x403010));
}

/* Ticks of a bin of one histogram, and some in f of another one. */
struct ticks {
	int low, high; /* of the first, from the start of all code */
	uint32_t n, bin;
	uint64_t count, within;
};
static struct ticks ticks;

static void with_ticks(const struct fixture *x, struct profile_builder *b)
{
	uint64_t code = at(x, "f", 0, 0);
	const struct hit hit = { ticks.bin, ticks.count }, in_f = { 0, ticks.within };
	struct histogram h = { .n = ticks.n,
			       .low = code + (uint64_t)(int64_t)ticks.low,
			       .high = code + (uint64_t)(int64_t)ticks.high,
			       .hits = &hit,
			       .n_hits = 1,
			       .rate = 100,
			       .dimension = "seconds",
			       .abbrev = 's' };
	uint64_t size = (h.high - h.low) / h.n;
	struct histogram f = h;
	f.n = 1;
	f.low = at(x, "f", 1, 0);
	f.high = f.low + size;
	f.hits = &in_f;
	if (ticks.within)
		kin_error_free(profile_add_histogram(b, f));
	kin_error_free(profile_add_histogram(b, h));
	profile_add_source(b, "-", (struct source){ .kind = "gmon" });
}

static char *warnings_of_ticks(uint64_t within, uint64_t outside)
{
	ticks = (struct ticks){ .low = -40, .high = 8, .n = 3, .count = outside, .within = within };
	return warnings_of(with_ticks);
}

/* Whether a bin is. Both its ends are looked at; one of less than a byte has one. */
static bool is_outside(int low, int high, uint32_t n, uint32_t bin)
{
	ticks = (struct ticks){ .low = low, .high = high, .n = n, .bin = bin, .count = 2 };
	char *text = warnings_of(with_ticks);
	bool outside = !strncmp(text, "100% of the samples ", 20);
	OK(outside || !*text);
	free(text);
	return outside;
}

static void test_ticks(void)
{
	enum { END = 9 * 16 };
	CHECK(warnings_of_ticks(18, 2),
	      "10% of the samples in standard input are outside of all functions of prog: code "
	      "without symbols, or another build\n");
	CHECK(warnings_of_ticks(19, 2), "");
	CHECK(warnings_of_ticks(910, 100), "");
	CHECK(warnings_of_ticks(1, 1), ""); /* one may be anything */
	CHECK(warnings_of_ticks(1, 3),
	      "75% of the samples in standard input are outside of all functions of prog: code "
	      "without symbols, or another build\n");
	OK(is_outside(-16, 0, 1, 0) && !is_outside(-15, 1, 1, 0));
	OK(is_outside(-32, 16, 3, 1) && !is_outside(-32, 16, 3, 2));
	OK(is_outside(END, END + 16, 1, 0) && !is_outside(END - 1, END + 15, 1, 0));
	OK(is_outside(END, END + 4, 8, 0) && !is_outside(END - 1, END + 3, 8, 0));
}

/* The first covers all code, the second does not. */
static void test_second_range(void)
{
	struct fixture x = { 0 };
	const struct histogram h[] = { { .n = 0x3000, .low = 0x400000, .high = 0x403000 },
				       { .n = 0x1000, .low = 0x500000, .high = 0x501000 } };
	kin_error_free(object_open("laid", &(struct object_opts){ 0 }, &x.object));
	struct profile_builder *b = profile_builder_new();
	for (size_t i = 0; i < ARRAY_LEN(h); i++)
		kin_error_free(profile_add_histogram(b, h[i]));
	x.profile = profile_finish(b);
	char *text = warnings_in(&x);
	OK_STR(text,
	       "the data covers addresses 0x500000-0x501000, laid has 0x400000-0x403000: it was "
	       "written by another program, or by another build of this one\n");
	free(text);
	done(&x);
}

static void half_wrong(const struct fixture *x, struct profile_builder *b)
{
	for (uint64_t i = 0; i < 4; i++)
		call(b, 0x10000 + i, at(x, "f", 0, i % 2 ? 3 : 0), 1);
}

static void too_large(const struct fixture *x, struct profile_builder *b)
{
	call(b, at(x, "main", 1, 4), at(x, "f", 0, 0), 1);
	profile_note_saturated(b);
	profile_add_source(b, "a.out", (struct source){ .kind = "gmon" });
	profile_add_source(b, "b.out", (struct source){ .kind = "gmon" });
}

/* One of two is looked at. */
static void many_wrong_calls(const struct fixture *x, struct profile_builder *b)
{
	for (uint64_t i = 0; i < 10000; i++)
		call(b, 0x10000 + i, at(x, "f", 0, i < 3000 ? 3 : 0), 1);
}

static void test_large_data(void)
{
	CHECK(warnings_of(too_large),
	      "a sum in the data is too large for 64 bits and stays at the largest value\n");
	CHECK(warnings_of(half_wrong),
	      "2 of 4 call counts in the data are for addresses where no function of prog counts "
	      "calls (0x401003 ...): the data is damaged, or partly of another build\n");
	CHECK(warnings_of(many_wrong_calls),
	      "1500 of 5000 call counts looked at in the data are for addresses where no function "
	      "of prog counts calls (0x401003 ...): the data is damaged, or partly of another "
	      "build\n");
}

/* ---- kin's reports ---- */

/* Ticks on one bin in each place of f and other, calls as before. */
static void timed(const struct fixture *x, struct profile_builder *b)
{
	static const struct hit hits[] = { { 0, 10 }, { 1, 20 }, { 3, 40 }, { 6, 5 } };
	struct histogram h = { .n = 7,
			       .low = at(x, "f", 0, 0),
			       .high = at(x, "f", 7, 0),
			       .hits = hits,
			       .n_hits = 4,
			       .rate = 100,
			       .dimension = "seconds",
			       .abbrev = 's' };
	busy(x, b);
	kin_error_free(profile_add_histogram(b, h));
	profile_add_source(b, "gmon.out",
			   (struct source){ .kind = "gmon", .version = 1, .n_histograms = 1 });
}

static void test_lines(void)
{
	struct fixture x = setup(timed, true, false);
	struct report_opts o = { 0 };
	static const char *const subjects[] = { "other.c", NULL }, *const missing[] = { "f",
											"ther.c",
											NULL };
	CHECK(reported(&x, &lines_report, &o, &text_renderer),
	      "Source lines\n"
	      "\n"
	      "% time  self (s)  calls  count  time/count  file     line  function\n"
	      "53.33%      0.40      5                     other.c     3  other\n"
	      "26.67%      0.20           111      1.80ms  main.c      4  f\n"
	      "13.33%      0.10      3                     main.c      3  f\n"
	      " 6.67%      0.05                            main.c      9  main\n");
	o.subjects = subjects;
	CHECK(reported(&x, &lines_report, &o, &csv_renderer),
	      "share,self,calls,count,per_count,file,line,name\n"
	      "0.53333333333333333,0.4,5,,,other.c,3,other\n");
	o.subjects = missing;
	CHECK(reported(&x, &lines_report, &o, &csv_renderer),
	      "no function or source file 'ther.c' in 'prog'");
	CHECK(reported(&x, &counts_report, &o, &csv_renderer),
	      "no function or source file 'ther.c' in 'prog'");
	done(&x);
}

static void test_annotate(void)
{
	struct fixture x = setup(timed, true, false);
	static const char *const function[] = { "f", NULL }, *const missing[] = { "f", "g", NULL };
	static const char *const file[] = { "sub/other.c", NULL };
	struct report_opts o = { .subjects = function };
	CHECK(reported(&x, &annotate_report, &o, &text_renderer),
	      "Annotated source\n"
	      "\n"
	      "% time  self (s)  count  time/count  line  source\n"
	      "                                           f (./main.c)\n"
	      "13.33%      0.10      3      33.3ms     3    int f(void) {\n"
	      "26.67%      0.20    111      1.80ms     4            return x;\n"
	      "                      0                 5    }\n");
	o.subjects = file;
	CHECK(reported(&x, &annotate_report, &o, &csv_renderer),
	      "kind,depth,group,share,self,count,per_count,line,source\n"
	      "function,0,0,,,,,,./sub/other.c\n"
	      "plain,1,0,,,,,1,int y;\n"
	      "plain,1,0,,,,,2,#define BODY y++\n"
	      "plain,1,0,0.53333333333333333,0.4,5,0.08,3,void other(void) { BODY; }\n");
	o.subjects = missing;
	CHECK(reported(&x, &annotate_report, &o, &text_renderer),
	      "no function or source file 'g' in 'prog'");
	rename("main.c", "away");
	o.subjects = function;
	CHECK(reported(&x, &annotate_report, &o, &text_renderer),
	      "Annotated source\n"
	      "  source './main.c': no such file, neither as named nor in the current directory; "
	      "-I DIRECTORY names its directory\n"
	      "\n"
	      "% time  self (s)  count  time/count  line  source\n"
	      "                                           f (./main.c)\n"
	      "13.33%      0.10      3      33.3ms     3\n"
	      "26.67%      0.20    111      1.80ms     4\n"
	      "                      0                 5\n");
	rename("away", "main.c");
	rename("sub/other.c", "away");
	o.subjects = NULL; /* files that exist here come first, although they are less busy */
	char *all = reported(&x, &annotate_report, &o, &text_renderer);
	OK(strstr(all, "  1 source is not here, neither as named nor in the current directory "
		       "(--source-dir names others): './sub/other.c'\n"));
	const char *other = strstr(all, " ./sub/other.c\n"), *own = strstr(all, " ./main.c\n");
	OK(other && own && own < other);
	free(all);
	/* A long file: lines with time, and some lines around them. */
	FILE *longer = fopen("sub/other.c", "w");
	for (int i = 1; i <= 60; i++)
		fprintf(longer, "text%d.\n", i);
	fclose(longer);
	all = reported(&x, &annotate_report, &o, &text_renderer);
	OK(strstr(all, "text1.\n") && strstr(all, "text8.\n") && !strstr(all, "text9.\n") &&
	   !strstr(all, "text60.\n"));
	free(all);
	o.all_lines = true;
	all = reported(&x, &annotate_report, &o, &text_renderer);
	OK(strstr(all, "text9.\n") && strstr(all, "text60.\n"));
	free(all);
	o.all_lines = false;
	rename("away", "sub/other.c");
	done(&x);
}

/* The lines of a file add up to its functions' time. */
static void test_sums(void)
{
	struct fixture x = setup(timed, true, false);
	struct coverage *c =
		coverage_new(x.profile, x.symbols, x.graph, &(struct coverage_opts){ 0 });
	double self = 0, lines = 0;
	for (size_t i = 0; i < c->n_files; i++)
		self += c->files[i].self;
	for (size_t i = 0; i < c->n_lines; i++)
		lines += c->lines[i].self;
	OK(self == x.graph->total && lines == self && self == 75);
	coverage_free(c);
	done(&x);
}

/* Removes a line that differs between machines. */
static char *without_line(char *text, const char *start)
{
	char *line = strstr(text, start);
	char *end = line ? strchr(line, '\n') : NULL;
	if (end)
		memmove(line, end + 1, strlen(end));
	return text;
}

static void test_info(void)
{
	struct fixture x = setup(timed, false, false);
	struct remarks remarks = { 0 };
	struct report_opts o = { 0 };
	remarks_add(&remarks, KIN_REMARK_WARNING, "gmon.out is of another program");
	x.in.remarks = &remarks;
	CHECK(without_line(without_line(reported(&x, &info_report, &o, &csv_renderer),
					"program,machine"),
			   "program,byte order"),
	      "about,fact,value,detail\n"
	      "program,path,prog,\n"
	      "program,bits of an address,64,\n"
	      "program,functions,5,\n"
	      "program,line information,yes,\n"
	      "file,path,gmon.out,\"gmon, version 1: 1 histogram, 0 call, 0 block records\"\n"
	      "time,histogram,75,0x401000-0x401070 in 7 bins of 16 bytes\n"
	      "time,ticks,75,\n"
	      "time,rate,100,per unit of 'seconds'\n"
	      "time,total,0.75,\n"
	      "time,outside all functions,0,\n"
	      "time,of functions,measured,split where two share a bin\n"
	      "calls,records,2,pairs of call site and callee\n"
	      "calls,calls,8,\n"
	      "calls,from elsewhere,0,\n"
	      "calls,to elsewhere,0,\n"
	      "calls,cycles,0,\n"
	      "calls,time with callees,estimated,apportioned by call counts\n"
	      "blocks,records,0,\n"
	      "blocks,block counts,13,\n"
	      "blocks,outside all functions,0,\n"
	      "check,data fits the program,in doubt,\n"
	      "check,warning,gmon.out is of another program,\n"
	      "check,a sum was too large,no,\n"
	      "check,can be trusted,yes,\n");
	remarks_free(&remarks);
	done(&x);
}

int main(void)
{
	char dir[] = "/tmp/test_annotate.XXXXXX", command[100];
	if (!mkdtemp(dir) || chdir(dir) || !make_program()) {
		printf("1..0 # SKIP no assembler and linker here\n");
		return 0;
	}
	test_blocks_as_gnu();
	test_blocks_as_they_are();
	test_hostile_text();
	test_short_source();
	test_missing_sources();
	test_secrets();
	test_one_count_of_calls();
	test_calls_carried_to_lines();
	test_separate_files();
	test_counts();
	test_recursion_counts();
	test_block_sums();
	test_carried_counts();
	test_mismatch();
	test_ranges();
	test_second_range();
	test_calls_elsewhere();
	test_ticks();
	test_large_data();
	test_lines();
	test_annotate();
	test_sums();
	test_info();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	OK(!system(command));
	return DONE();
}

#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "gnu/argfile.h"
#include "gnu/gnu_options.h"
#include "gnu/words.h"

static struct gprof_options o;
static char message[300], gnu[300];

/* Parses the words; true if they are right. The options are in `o`, an error in `message`. */
static bool parse(const char *const *words)
{
	int argc = 1;
	static char whoami_text[] = "gprof", *argv[40] = { whoami_text };
	struct kin_error *err;
	bool whoami;

	gprof_options_done(&o);
	while (words[argc - 1]) {
		argv[argc] = UNCONST(char *, words[argc - 1]);
		argc++;
	}
	message[0] = gnu[0] = '\0';
	if (!(err = gprof_options_parse(argc, argv, COMPAT_NO, NULL, &o)))
		return true;
	snprintf(message, sizeof(message), "%s", kin_error_message(err));
	char *theirs = gnu_words(err, &whoami);
	if (theirs)
		snprintf(gnu, sizeof(gnu), "%s%s", whoami ? "W: " : "", theirs);
	free(theirs);
	kin_error_free(err);
	return false;
}

#define PARSE(...) parse((const char *[]){ __VA_ARGS__, NULL })

static void test_operands(void)
{
	OK(PARSE(NULL));
	OK_STR(o.executable, "a.out");
	OK(o.data.n == 1);
	OK_STR(o.data.at[0], "gmon.out");
	OK(o.styles == 0);

	OK(PARSE("prog", "-b", "one", "-p", "-", "--", "-q"));
	OK_STR(o.executable, "prog");
	OK(o.data.n == 3);
	OK_STR(o.data.at[1], "-");
	OK_STR(o.data.at[2], "-q");
	OK(o.brief && o.styles == STYLE_FLAT);
}

static void test_letters(void)
{
	OK(PARSE("-bzT", "-w40"));
	OK(o.brief && o.zeroes && o.traditional && o.width == 40);
	OK(PARSE("-w", "132", "-t", "-5", "-m7"));
	OK(o.width == 132 && o.table_length == 0 && o.min_count == 7);

	/* Optional arguments are glued; the next word is something else. */
	OK(PARSE("-p", "main"));
	OK(o.specs.n == 0);
	OK_STR(o.executable, "main");
	OK(PARSE("-bpmain"));
	OK(o.specs.n == 1 && o.specs.at[0].table == SEL_INCL_FLAT);
	OK_STR(o.specs.at[0].text, "main");
	OK(PARSE("-d2", "-d", "-d1024"));
	OK_STR(o.executable, "a.out");

	OK(!PARSE("-g"));
	OK_STR(message, "there is no option '-g'");
	OK(!PARSE("-k"));
	OK_STR(message, "option '-k' needs an argument: FROM/TO");
}

static void test_long_names(void)
{
	OK(PARSE("--br", "--flat", "--graph=a", "--width", "7", "--time=x", "--no-demangle"));
	OK(o.brief && o.styles == (STYLE_FLAT | STYLE_GRAPH) && o.width == 7 && o.specs.n == 2);
	OK(o.demangle == DEMANGLE_NONE);
	OK(!PARSE("--no-"));
	OK(!PARSE("--d"));
	OK(PARSE("--line"));
	OK(o.lines);
	OK(PARSE("--demangle"));
	OK(!PARSE("--nosuch"));
	OK_STR(message, "there is no option '--nosuch'");
	OK(!PARSE("--brief=1"));
	OK_STR(message, "option '--brief' takes no argument");
	OK(!PARSE("--width"));
	OK_STR(message, "option '--width' needs an argument: N");
}

static void test_styles(void)
{
	OK(PARSE("-P"));
	OK(o.styles == 0 && o.mentioned == STYLE_FLAT);
	OK(PARSE("-p", "-P"));
	OK(o.styles == 0 && o.mentioned == STYLE_FLAT);
	OK(PARSE("-Pmain", "-Qa/b", "-Jx.c", "-Zy"));
	OK(o.styles == (STYLE_FLAT | STYLE_GRAPH | STYLE_ANNOTATE | STYLE_COUNTS));
	OK(o.specs.at[0].table == SEL_EXCL_FLAT && o.specs.at[1].table == SPEC_EXCL_ARCS);
	OK(o.specs.at[2].table == SEL_EXCL_ANNO && o.specs.at[3].table == SEL_EXCL_EXEC);
	OK(PARSE("-B", "-i", "-s"));
	OK(o.styles == (STYLE_GRAPH | STYLE_INFO | STYLE_SUM));
	OK(PARSE("-E", "x", "-F", "y", "-e", "z", "-f", "z"));
	OK(o.specs.n == 6 && o.specs.at[0].table == SEL_EXCL_TIME &&
	   o.specs.at[1].table == SEL_EXCL_GRAPH);
	OK(!PARSE("-r", "-R", "map"));
	OK_STR(gnu, "W: Only one of --function-ordering and --file-ordering may be specified.");
}

static void test_values(void)
{
	OK(PARSE("-O4whatever") && o.format == INPUT_44BSD);
	OK(PARSE("-Ob") && o.format == INPUT_BSD);
	OK(PARSE("--file-format=magic") && o.format == INPUT_MAGIC);
	OK(PARSE("-Op") && o.format_prof);
	OK(!PARSE("-Oxyz"));
	OK_STR(gnu, "xyz: unknown file format gprof");
	OK(PARSE("-b") && o.compat == COMPAT_NO);
	OK(PARSE("--compat=gnu") && o.compat == COMPAT_GNU);
	OK(PARSE("--compat=gnu-2.40") && o.compat == COMPAT_GNU);
	OK(PARSE("--compat=gnu", "--compat=output") && o.compat == COMPAT_OUTPUT);
	OK(PARSE("--compat=gnu", "--compat=no") && o.compat == COMPAT_NO);
	OK(!PARSE("--compat=bsd"));
	OK(!PARSE("--demangle=foo"));
	OK_STR(gnu, "W: unknown demangling style `foo'");

	OK(!PARSE("-w", "wide"));
	OK_STR(message, "-w: 'wide' is not a number");
	OK(!PARSE("-t5x"));
	OK(!PARSE("-w99999999999999999999"));
	OK(PARSE("--compat=gnu", "-w", "wide", "-t5x", "-mx"));
	OK(o.width == 1 && o.table_length == 5 && o.min_count == 0);

	OK(PARSE("-I", "a:b::c", "-Id"));
	OK(o.source_dirs.n == 5 && !o.source_dirs.at[4]);
	OK_STR(o.source_dirs.at[2], "c");
	OK_STR(o.source_dirs.at[3], "d");
}

static void test_at_once(void)
{
	OK(PARSE("-v", "-g") && o.action == GPROF_VERSION);
	OK(PARSE("-bhx") && o.action == GPROF_HELP);
	OK(!PARSE("-g", "-v"));
}

static void test_dialect(void)
{
	enum gprof_dialect d;
	char *a[] = { (char[]){ "gprof" }, (char[]){ "-b" }, (char[]){ "--dialect=freebsd" },
		      NULL };
	char *b[] = { (char[]){ "gprof" }, (char[]){ "--dialect" }, (char[]){ "openbsd" }, NULL };
	char *c[] = { (char[]){ "gprof" }, (char[]){ "--" }, (char[]){ "--dialect=freebsd" },
		      NULL };
	OK(!gprof_dialect_of(3, a, &d) && d == DIALECT_FREEBSD);
	OK(!gprof_dialect_of(3, b, &d) && d == DIALECT_OPENBSD);
	OK(!gprof_dialect_of(3, c, &d) && d == DIALECT_GNU);
}

/* "@FILE" with these contents between two other words, joined with '|'. */
static char *expand(const char *contents)
{
	static char joined[400], path[] = "/tmp/test_gprof_options.XXXXXX", word[64];
	struct arena arena = { 0 };
	int fd = mkstemp(path), argc = 4;
	char first[] = "gprof", before[] = "a", after[] = "z";
	char *words[] = { first, before, word, after, NULL }, **argv = words;

	if (fd < 0 || write(fd, contents, strlen(contents)) < 0)
		return NULL;
	close(fd);
	snprintf(word, sizeof(word), "@%s", path);
	struct kin_error *err = argfile_expand(&arena, &argc, &argv);
	joined[0] = '\0';
	for (int i = 1; !err && i < argc; i++) {
		strcat(joined, argv[i]);
		strcat(joined, i + 1 < argc ? "|" : "");
	}
	kin_error_free(err);
	arena_release(&arena);
	unlink(path);
	strcpy(path, "/tmp/test_gprof_options.XXXXXX");
	return joined;
}

static void test_argfile(void)
{
	OK_STR(expand("-b  -p\n\t-q\n"), "a|-b|-p|-q|z");
	OK_STR(expand(""), "a|z");
	OK_STR(expand("'one word' \"two words\" th\\ ree '' it\\'s"),
	       "a|one word|two words|th ree||it's|z");
	OK_STR(expand("'a\\'b' x'y z'w"), "a|a'b|xy zw|z");
	OK_STR(expand("open 'end"), "a|open|end|z");
	OK_STR(expand("@/nonexistent/file @"), "a|@/nonexistent/file|@|z");
}

static void test_argfile_loop(void)
{
	struct arena arena = { 0 };
	char path[] = "/tmp/test_gprof_options.XXXXXX", word[64], first[] = "gprof";
	char *words[] = { first, word, NULL }, **argv = words;
	int fd = mkstemp(path), argc = 2;

	snprintf(word, sizeof(word), "@%s", path);
	OK(fd >= 0 && write(fd, word, strlen(word)) > 0);
	close(fd);
	struct kin_error *err = argfile_expand(&arena, &argc, &argv);
	OK(err && strstr(kin_error_message(err), "too many @-files"));
	kin_error_free(err);
	arena_release(&arena);
	unlink(path);
}

int main(void)
{
	test_operands();
	test_letters();
	test_long_names();
	test_styles();
	test_values();
	test_at_once();
	test_dialect();
	test_argfile();
	test_argfile_loop();
	gprof_options_done(&o);
	return DONE();
}

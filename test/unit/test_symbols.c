/* Places of source lines, of a program compiled here: where code inlined begins a function, and
 * where a function has several names. */
#include "symbolize/symbols.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "tap.h"

/* The attributes keep everything in its place, whatever the compiler thinks best. "__inside" is the
 * name in the debug information, "known" the name that is shown. */
static const char header_text[] = "static inline __attribute__((always_inline)) void work(void)\n"
				  "{\n"
				  "	for (volatile int i = 0; i < 9; i++)\n"
				  "		;\n"
				  "}\n";
static const char program_text[] = "#include \"part.h\"\n"
				   "#define KEEP __attribute__((noinline, noipa))\n"
				   "KEEP void begins(void) { work(); }\n" /* 3 */
				   "volatile int x;\n"
				   "KEEP void __inside(void)\n"
				   "{\n"
				   "	x = 1;\n" /* 7 */
				   "	x = 2;\n"
				   "}\n"
				   "void known(void) __attribute__((weak, alias(\"__inside\")));\n"
				   "int main(void) { begins(); known(); return 0; }\n";

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f)) {
		perror(path);
		exit(99);
	}
}

static bool compile(void)
{
	write_text("part.h", header_text);
	write_text("program.c", program_text);
	return !system("gcc -g -O2 -fcf-protection=none -o program program.c 2>/dev/null");
}

static symid find_function(const struct symbols *s, const char *name)
{
	for (symid i = 0; i < s->n; i++)
		if (s->at[i].is_function && !strcmp(s->at[i].name, name))
			return i;
	return NONE;
}

static bool is_at(const struct symbols *s, symid id, const char *file, uint32_t line)
{
	const char *path = s->at[id].file;
	return path && !strcmp(base_name(path), file) && s->at[id].line == line;
}

/* The function's place is empty: it is called there, and the time is the inlined function's. */
static void test_inlined_at_start(struct symbols *s)
{
	symid begins = find_function(s, "begins");
	if (!OK(begins != NONE && begins + 1 < s->n))
		return;
	uint64_t addr = s->at[begins].addr;
	symid line = symbols_find(s, addr);
	OK(s->at[begins].end == addr);
	if (!OK(line == begins + 1 && s->at[line].is_line))
		return;
	OK_STR(s->at[line].name, "work");
	OK(is_at(s, line, "part.h", 3) && s->at[line].addr == addr && s->at[line].end > addr);
	OK(is_at(s, begins, "program.c", 3));
	OK(symbols_find_function(s, addr) == begins && symbols_find_start(s, addr) == begins);
	OK(symbols_find_function(s, s->at[line].end - 1) == begins);
	OK(symbols_find_start(s, addr + 1) == NONE);
	OK(symbols_find_start(s, s->at[line].end) == line + 1);
	OK(symbols_is_called(s, begins, "begins") && symbols_is_called(s, line, "work"));
}

/* Lines have the name that the function has everywhere. */
static void test_one_name(struct symbols *s)
{
	symid known = find_function(s, "known");
	if (!OK(known != NONE && find_function(s, "__inside") == NONE))
		return;
	size_t lines = 0;
	for (symid i = known; i < s->n && (i == known || s->at[i].is_line); i++, lines++)
		if (strcmp(s->at[i].name, "known") != 0)
			OK_STR(s->at[i].name, "known");
	OK(lines > 1 && s->at[known].end > s->at[known].addr);
}

/* Without code inlined all of it is the function's own. */
static void test_folded(struct object_file *o)
{
	struct symbols_opts opts = { .table.exact = true, .lines = true, .no_inlines = true };
	struct symbols *s = NULL;
	if (!OK(!symbols_new(o, &opts, &s)))
		return;
	symid begins = find_function(s, "begins");
	OK(begins != NONE && s->at[begins].end > s->at[begins].addr &&
	   symbols_find(s, s->at[begins].addr) == begins);
	symbols_free(s);
}

int main(void)
{
	struct symbols_opts opts = { .table.exact = true, .lines = true };
	char dir[] = "/tmp/test_symbols.XXXXXX", command[100];
	struct object_file *o = NULL;
	struct symbols *s = NULL;

	if (!mkdtemp(dir) || chdir(dir) || !compile()) {
		printf("1..0 # SKIP no gcc here\n");
		return 0;
	}
	if (OK(!object_open("program", &(struct object_opts){ 0 }, &o)) &&
	    OK(!symbols_new(o, &opts, &s))) {
		test_inlined_at_start(s);
		test_one_name(s);
		test_folded(o);
	}
	symbols_free(s);
	object_free(o);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	OK(!system(command));
	return DONE();
}

/* Source lines: programs compiled here, in every version of DWARF, and debugging information that
 * lies. */
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "gnu/rules.h"
#include "kin/kin.h"
#include "object/object.h"

static char dir[] = "/tmp/kin-lines-XXXXXX";

static const char header_text[] = "#define KEEP __attribute__((noinline))\nstatic inline "
				  "__attribute__((always_inline)) int twice(int a)\n"
				  "{\n"
				  "	return a * 2 + sink;\n"
				  "}\n"
				  "KEEP int from_header(int a) { return a + sink; }\n";

static const char program_text[] =
	"volatile int sink;\n"                /* 1 */
	"#include \"sub/part.h\"\n"           /* 2 */
	"KEEP int first(int a) { sink = a;\n" /* 3 */
	"	sink = twice(a);\n"           /* 4 */
	"	return 0;\n"                  /* 5 */
	"}\n"                                 /* 6 */
	"int dropped(int a) { sink = 2; return first(a); }\n"
	"#line 100 \"made.y\"\n" /* 7 */
	"KEEP int made(int a) { sink = a; return 0; }\n"
	"int main(void) { return first(1) + made(2) + from_header(3); }\n";

/* Names mangled, one of them only where it is declared; a constructor that is inlined. */
static const char mangled_text[] =
	"volatile int sink;\n"
	"struct point {\n"
	"	int x;\n"
	"	__attribute__((always_inline)) point(int a) : x(a) { sink = a; }\n"
	"	int get() const;\n"
	"};\n"
	"int point::get() const { return x + sink; }\n"
	"namespace here { static __attribute__((noinline)) int hidden(int a) { return a + sink; } "
	"}\n"
	"int main(int n, char **)\n"
	"{\n"
	"	point p(n);\n"
	"	return p.get() + here::hidden(n);\n"
	"}\n";

/* Inlined functions that have no linkage name with GCC: of an anonymous namespace, a local class, a
 * template in one, four lambdas, two of which are on one line and one of which captures, without a
 * constructor. */
static const char scoped_text[] =
	"volatile int sink;\n"
	"#define IN __attribute__((always_inline)) inline\n"
	"namespace n { namespace {\n"
	"struct hidden { IN int get(int a) const { return a + sink; } };\n"
	"template <class T> struct box { T t; IN int get(int a) { return a * t + sink; } };\n"
	"IN int helper(int a) { return a ^ sink; } template <class F> IN int call(F &&f) { return "
	"f(); }\n"
	"} }\n"
	"int run(int a)\n"
	"{\n"
	"	struct local { IN static int get(int x) { return x / (sink | 1); } };\n"
	"	auto f = [](int x) __attribute__((always_inline)) { return x - sink; };\n"
	"	auto g = [](int x) __attribute__((always_inline)) { return x | sink; }; "
	"auto h = [](int x) __attribute__((always_inline)) { return x & sink; };\n"
	"	return f(a) + g(a) + h(a) + local::get(a) +\n"
	"		n::call([a]() __attribute__((always_inline)) { return a * sink; });\n"
	"}\n"
	"int main(int a, char **)\n"
	"{\n"
	"	n::box<int> b{a};\n"
	"	return run(a) + n::hidden().get(a) + b.get(a) + n::helper(a);\n"
	"}\n";

/* Templates made with two lambdas, which GCC calls by one name: alone, together, one in a
 * template's argument, and one within another. */
static const char closures_text[] =
	"#include <tuple>\n"
	"volatile int sink;\n"
	"#define IN __attribute__((always_inline))\n"
	"template <class F> struct task { F f; IN int go() { return f(); } };\n"
	"template <class F, class G> IN inline int both(F f, G *g) { return f() ^ (*g)(); }\n"
	"template <class T> struct held { T t; IN int go() { return std::get<0>(t)(); } };\n"
	"template <class F> IN inline int twice(F f) { return f() + f(); }\n"
	"int run(int a)\n"
	"{\n"
	"	auto f = [a]() { return a * sink; };\n"
	"	auto g = [a]() { return a / (sink | 1); };\n"
	"	task<decltype(f)> t{f};\n"
	"	task<decltype(g)> u{g};\n"
	"	held<std::tuple<decltype(g)>> h{std::make_tuple(g)};\n"
	"	return t.go() + u.go() + h.go() + both(g, &f) + twice([&]() IN {\n"
	"		return twice([&]() IN { return f(); });\n"
	"	});\n"
	"}\n"
	"int main(int a, char **) { return run(a); }\n";

/* A function of GNU C within another one, and code that OpenMP moved out of one. */
static const char nested_text[] =
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) int twice(int a)\n"
	"{\n"
	"	return a * 2 + sink;\n"
	"}\n"
	"__attribute__((noinline)) int outer(int n)\n"
	"{\n"
	"	int more = n;\n"
	"	__attribute__((noinline)) int inner(int x) { return twice(x) + more; }\n"
	"	for (int i = 0; i < 3; i++)\n"
	"		sink += inner(twice(i));\n"
	"	return more;\n"
	"}\n"
	"__attribute__((noinline)) void parallel(int n)\n"
	"{\n"
	"#pragma omp parallel for\n"
	"	for (int i = 0; i < n; i++)\n"
	"		sink = twice(sink);\n"
	"}\n"
	"int main(int n, char **v)\n"
	"{\n"
	"	parallel(twice(n));\n"
	"	return outer(n);\n"
	"}\n";

static const char contained_text[] = "program main\n"
				     "  integer :: i, s\n"
				     "  s = 0\n"
				     "  do i = 1, 10\n"
				     "    s = s + part(i)\n"
				     "  end do\n"
				     "  print *, s\n"
				     "contains\n"
				     "  integer function part(n)\n"
				     "    integer, intent(in) :: n\n"
				     "    part = n * 2\n"
				     "  end function\n"
				     "end program\n";

/* Two units; a function whose entry refers to itself, one that refers to the first, ranges that are
 * no ranges, entries nested without an end. */
static const char lying_text[] = "	.text\n"
				 "	.globl _start\n"
				 "_start: .fill 64, 1, 0x90\n"
				 "	.section .debug_abbrev,\"\",@progbits\n"
				 "	.byte 1, 0x11, 1, 0x10, 0x17, 0x11, 0x1, 0x12, 0xb, 0, 0\n"
				 "	.byte 2, 0x2e, 1, 0x31, 0x13, 0x11, 0x1, 0x12, 0x6, 0, 0\n"
				 "	.byte 0\n"
				 "	.section .debug_info,\"\",@progbits\n"
				 "start: .4byte end - start - 4\n"
				 "	.2byte 4\n"
				 "	.4byte 0\n"
				 "	.byte 8, 1\n"
				 "	.4byte 0\n"
				 "	.8byte _start\n"
				 "	.byte 64\n"
				 "self:	.byte 2\n"
				 "	.4byte self - start\n"
				 "	.8byte _start\n"
				 "	.4byte 16\n"
				 "other:	.byte 2\n"
				 "	.4byte self - start\n"
				 "	.8byte _start + 16\n"
				 "	.4byte 0xffffffff\n"
				 "	.rept 200000\n"
				 "	.byte 2\n"
				 "	.4byte other - start\n"
				 "	.8byte _start + 8\n"
				 "	.4byte 8\n"
				 "	.endr\n"
				 "end:\n"
				 "	.section .debug_line,\"\",@progbits\n"
				 "line:	.4byte line_end - line - 4\n"
				 "	.2byte 4\n"
				 "	.4byte program - after\n"
				 "after:	.byte 1, 1, 1, 0xfb, 14, 13\n"
				 "	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1\n"
				 "	.byte 0\n"
				 "	.asciz \"lie.c\"\n"
				 "	.byte 0, 0, 0, 0\n"
				 "program:\n"
				 "	.byte 0, 9, 2\n"
				 "	.8byte _start\n"
				 "	.byte 3, 9, 1\n"        /* line 10 at 0 */
				 "	.byte 3, 1, 2, 16, 1\n" /* 11 at 16 */
				 "	.byte 0, 9, 2\n"
				 "	.8byte _start + 8\n"
				 "	.byte 3, 1, 1\n" /* 12 at 8, late */
				 "	.byte 4, 77\n"   /* a file that is not there */
				 "	.byte 0, 9, 2\n"
				 "	.8byte _start + 32\n"
				 "	.byte 3, 1, 1\n"       /* 13 at 32 */
				 "	.byte 4, 1, 3, 1, 1\n" /* 14 there too: the last counts */
				 "	.byte 2, 8, 0, 1, 1\n" /* ends at 40 */
				 "	.byte 0, 9, 2\n"       /* a second one, inside the first */
				 "	.8byte _start + 4\n"
				 "	.byte 3, 98, 1, 2, 8, 0, 1, 1\n"
				 "	.byte 0, 9, 2\n" /* code that the linker dropped */
				 "	.8byte 0\n"
				 "	.byte 3, 50, 1, 2, 8, 0, 1, 1\n"
				 "	.byte 0, 9, 2\n" /* never ended */
				 "	.8byte _start + 48\n"
				 "	.byte 3, 19, 1, 2, 4, 3, 1, 1\n"
				 "line_end:\n";

/* ---- making objects ---- */

static void write_text(const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static const char *built(const char *name)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static bool have(const char *compiler)
{
	char command[256];
	snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", compiler);
	return system(command) == 0;
}

static bool compile(const char *compiler, const char *options)
{
	char command[512];
	snprintf(command, sizeof(command), "cd %s && %s %s -o out 2>log", dir, compiler, options);
	if (system(command) == 0)
		return true;
	printf("# failed: %s\n", command);
	return false;
}

static struct object_file *open_object(const char *name)
{
	static const struct object_opts opts = { .no_debug_files = true };
	struct object_file *o = NULL;
	struct kin_error *err = object_open(built(name), &opts, &o);
	if (err)
		printf("# %s\n", kin_error_message(err));
	kin_error_free(err);
	return o;
}

static uint64_t address_of(struct object_file *o, const char *name)
{
	struct symbol_table t = { 0 };
	struct kin_error *err = object_symbols(o, &(struct symtab_opts){ 0 }, &t);
	kin_error_free(err);
	uint64_t found = 0;
	for (size_t i = 0; i < t.n && !found; i++)
		if (!strcmp(t.at[i].name, name))
			found = t.at[i].addr;
	free(t.at);
	return found;
}

/* ---- laws ---- */

static bool same(const struct srcloc *a, const struct srcloc *b)
{
	const char *f = a->function ? a->function : "", *g = b->function ? b->function : "";
	const char *p = a->file ? a->file : "", *q = b->file ? b->file : "";
	return a->line == b->line && !strcmp(f, g) && !strcmp(p, q);
}

/* Runs are in order and differ from their neighbours. */
static bool well_formed(const struct line_run *r, size_t n, struct address_range range)
{
	bool good = true;
	for (size_t i = 0; i < n; i++) {
		good &= r[i].addr < r[i].end && r[i].addr >= range.low && r[i].end <= range.high;
		good &= !i || (r[i - 1].end <= r[i].addr &&
			       (r[i - 1].end < r[i].addr || !same(&r[i - 1].at, &r[i].at)));
	}
	return good;
}

/* Lookups byte by byte agree with the runs (by the right rules, without the function). */
static bool place_agrees(struct object_file *o, bool gnu, const struct line_run *r, size_t n,
			 struct address_range range)
{
	size_t i = 0;
	for (uint64_t addr = range.low; addr < range.high; addr++) {
		struct srcloc at;
		bool found = object_place(o, addr, gnu ? &gnu_line_rules : NULL, &at);
		while (i < n && r[i].end <= addr)
			i++;
		bool within = i < n && r[i].addr <= addr;
		if (within && found && !gnu)
			at.function = r[i].at.function;
		if (found ? !within || !same(&at, &r[i].at) : within && !gnu)
			return false;
	}
	return true;
}

/* Lookups in one range agree with the runs of the whole file. */
static bool runs_agree(struct object_file *o, struct address_range in, const struct line_run *all,
		       size_t n_all)
{
	size_t n, i = 0, k = 0;
	struct line_run *r = object_line_runs_of(o, &(struct address_ranges){ &in, 1, 1 }, &n);
	bool good = well_formed(r, n, in);
	for (uint64_t addr = in.low; addr < in.high && good; addr++) {
		while (i < n && r[i].end <= addr)
			i++;
		while (k < n_all && all[k].end <= addr)
			k++;
		bool found = i < n && r[i].addr <= addr,
		     is_there = k < n_all && all[k].addr <= addr;
		good = found == is_there && (!found || same(&r[i].at, &all[k].at));
	}
	free(r);
	return good;
}

/* The same of functions that are inlined; `all`: those at all addresses from `low` on. */
static bool inlines_agree(struct object_file *o, struct address_range in,
			  const struct object_inline *all, size_t n_all, uint64_t low)
{
	size_t n_addrs = in.high - in.low, n, k = 0;
	uint64_t *addrs = malloc((n_addrs + 1) * sizeof(*addrs));
	for (size_t i = 0; i < n_addrs; i++)
		addrs[i] = in.low + i;
	struct object_inline *r = object_inlines(o, addrs, n_addrs, &n);
	while (k < n_all && low + all[k].address < in.low)
		k++;
	bool good = true;
	for (size_t i = 0; i < n && good; i++, k++)
		good = k < n_all && low + all[k].address == addrs[r[i].address] &&
		       all[k].depth == r[i].depth && !strcmp(all[k].name, r[i].name);
	good &= k == n_all || low + all[k].address >= in.high;
	free(addrs);
	free(r);
	return good;
}

/* A function that is looked up alone has the same lines and inlined functions as in the whole file.
 */
static bool parts_agree(struct object_file *o)
{
	struct address_range text = object_text(o);
	struct symbol_table t = { 0 };
	size_t n, n_inlines, n_addrs = text.high - text.low;
	uint64_t *addrs = malloc((n_addrs + 1) * sizeof(*addrs));
	for (size_t i = 0; i < n_addrs; i++)
		addrs[i] = text.low + i;
	struct line_run *all = object_line_runs(o, text, NULL, &n);
	struct object_inline *inlines = object_inlines(o, addrs, n_addrs, &n_inlines);
	bool good = true;
	kin_error_free(object_symbols(o, &(struct symtab_opts){ 0 }, &t));
	for (size_t i = 0; i < t.n; i++) {
		struct address_range in = { t.at[i].addr,
					    i + 1 < t.n ? t.at[i + 1].addr : text.high };
		if (in.low < text.low || in.high > text.high || in.low >= in.high)
			continue;
		good &= runs_agree(o, in, all, n) &&
			inlines_agree(o, in, inlines, n_inlines, text.low);
		if (!good)
			printf("# %s\n", t.at[i].name);
	}
	free(t.at);
	free(addrs);
	free(all);
	free(inlines);
	return good;
}

static bool consistent(struct object_file *o)
{
	bool good = true;
	for (int gnu = 0; gnu < 2; gnu++) {
		size_t n;
		struct address_range text = object_text(o);
		struct line_run *r = object_line_runs(o, text, gnu ? &gnu_line_rules : NULL, &n);
		good &= well_formed(r, n, text);
		good &= place_agrees(o, gnu, r, n, text);
		free(r);
	}
	return good && parts_agree(o);
}

static bool find_line(struct object_file *o, uint64_t addr, bool gnu, struct srcloc *ret)
{
	size_t n;
	struct address_range byte = { addr, addr + 1 };
	if (gnu)
		return object_place(o, addr, gnu ? &gnu_line_rules : NULL, ret);
	struct line_run *r = object_line_runs(o, byte, gnu ? &gnu_line_rules : NULL, &n);
	if (n)
		*ret = r[0].at;
	free(r);
	return n;
}

static const char *at_address(struct object_file *o, uint64_t addr, bool gnu)
{
	static char text[2][512];
	static int i;
	struct srcloc at;
	i = !i;
	if (!find_line(o, addr, gnu, &at))
		return "nothing";
	const char *base = at.file ? strrchr(at.file, '/') : NULL;
	snprintf(text[i], sizeof(text[i]), "%s %s:%u", at.function ? at.function : "?",
		 base      ? base + 1
		 : at.file ? at.file
			   : "?",
		 at.line);
	return text[i];
}

static bool has_run(struct object_file *o, bool gnu, const char *function, const char *file,
		    uint32_t line)
{
	size_t n;
	bool found = false;
	struct line_run *r = object_line_runs(o, object_text(o), gnu ? &gnu_line_rules : NULL, &n);
	for (size_t i = 0; i < n; i++) {
		const struct srcloc *at = &r[i].at;
		const char *base = at->file ? strrchr(at->file, '/') : NULL;
		found |= at->function && base && !strcmp(at->function, function) &&
			 !strcmp(base + 1, file) && at->line == line;
	}
	free(r);
	return found;
}

/* ---- tests ---- */

static void test_program(const char *compiler, const char *options)
{
	char all[256];
	printf("# %s %s\n", compiler, options);
	snprintf(all, sizeof(all), "%s program.c", options);
	if (!OK(compile(compiler, all)))
		return;
	struct object_file *o = open_object("out");
	if (!OK(o != NULL))
		return;
	OK(object_has_lines(o));
	OK_STR(at_address(o, address_of(o, "first"), false), "first program.c:3");
	OK_STR(at_address(o, address_of(o, "made"), false), "made made.y:100");
	OK_STR(at_address(o, address_of(o, "made"), true), "made made.y:100");
	OK_STR(at_address(o, address_of(o, "from_header"), false), "from_header part.h:6");
	OK_STR(at_address(o, address_of(o, "_start"), false), "nothing");
	OK_STR(at_address(o, address_of(o, "_start"), true), "nothing");
	OK(has_run(o, false, "twice", "part.h", 4));
	OK(has_run(o, true, "twice", "part.h", 4));
	OK(has_run(o, false, "first", "program.c", 4) || strstr(options, "-O2"));
	OK(consistent(o));
	object_free(o);
}

static void test_compilers(void)
{
	static const char *const compilers[] = { "gcc", "clang" };
	static const char *const levels[] = { "-O0", "-O2" };
	int tried = 0;
	for (size_t i = 0; i < ARRAY_LEN(compilers); i++) {
		for (int version = 2; version <= 5 && have(compilers[i]); version++) {
			for (size_t k = 0; k < ARRAY_LEN(levels); k++, tried++) {
				char options[64];
				snprintf(options, sizeof(options), "-gdwarf-%d %s", version,
					 levels[k]);
				test_program(compilers[i], options);
			}
		}
	}
	test_program("gcc", "-g -gz -O1");
	test_program("gcc", "-g -O1 -ffunction-sections -Wl,--gc-sections");
	test_program("gcc", "-g -O1 -gdwarf64 -gdwarf-5");
	OK(tried > 0);
}

/* GNU: rows before the first file in DWARF 5 belong to the unit's own file. */
static void test_first_file(void)
{
	if (!OK(compile("gcc", "-gdwarf-5 -O0 program.c")))
		return;
	struct object_file *o = open_object("out");
	OK_STR(at_address(o, address_of(o, "from_header"), false), "from_header part.h:6");
	OK_STR(at_address(o, address_of(o, "from_header"), true), "from_header program.c:6");
	object_free(o);
}

static void test_mangled(void)
{
	if (!OK(compile("g++", "-g -O2 mangled.cc")))
		return;
	struct object_file *o = open_object("out");
	OK(has_run(o, false, "_ZNK5point3getEv", "mangled.cc", 7));
	OK(has_run(o, false, "_ZN4hereL6hiddenEi", "mangled.cc", 8));
	OK(!has_run(o, false, "hidden", "mangled.cc", 8));
	OK(has_run(o, true, "_ZN4hereL6hiddenEi", "mangled.cc", 8));
	OK(has_run(o, false, "main", "mangled.cc", 12));
	OK(consistent(o));
	object_free(o);
}

static void test_units(void)
{
	write_text("other.c", "int sink2; int other(int a)\n{\n	return a + sink2;\n}\n");
	write_text("bare.s", "	.globl bare\nbare: nop\n	ret\n");
	if (!OK(compile("gcc", "-g -c other.c -o other.o && gcc -c bare.s -o bare.o && "
			       "gcc -g -O1 program.c other.o bare.o -Wl,-z,noexecstack")))
		return;
	struct object_file *o = open_object("out");
	OK_STR(at_address(o, address_of(o, "other"), false), "other other.c:2");
	OK_STR(at_address(o, address_of(o, "bare"), false), "nothing");
	OK_STR(at_address(o, address_of(o, "first"), false), "first program.c:3");
	OK(consistent(o));

	size_t n; /* only a part */
	uint64_t at = address_of(o, "other");
	struct line_run *r =
		object_line_runs(o, (struct address_range){ at + 1, at + 2 }, NULL, &n);
	OK(n == 1 && r[0].addr == at + 1 && r[0].end == at + 2 && r[0].at.line == 2);
	free(r);
	object_free(o);
}

/* Type units share the line table of the unit that holds the code. */
static void test_type_units(void)
{
	if (!OK(compile("g++", "-gdwarf-5 -fdebug-types-section -O2 mangled.cc")))
		return;
	struct object_file *o = open_object("out");
	OK_STR(at_address(o, address_of(o, "_ZNK5point3getEv"), false),
	       "_ZNK5point3getEv mangled.cc:7");
	OK(consistent(o));
	object_free(o);
}

static void test_none(void)
{
	size_t n = 1;
	struct srcloc at = { .line = 77 };
	if (!OK(compile("gcc", "-O1 program.c")))
		return;
	struct object_file *o = open_object("out");
	OK(!object_has_lines(o));
	OK(!object_place(o, object_text(o).low, NULL, &at) && at.line == 77);
	free(object_line_runs(o, object_text(o), NULL, &n));
	OK(n == 0);
	object_free(o);
}

static void test_lies(void)
{
	if (!OK(compile("gcc", "-nostdlib -static lying.s")))
		return;
	struct object_file *o = open_object("out");
	uint64_t start = address_of(o, "_start");
	OK_STR(at_address(o, start, false), "_start lie.c:10");
	OK_STR(at_address(o, start + 7, false), "_start lie.c:10");
	OK_STR(at_address(o, start + 8, false), "? lie.c:12");
	OK_STR(at_address(o, start + 8, true), "_start lie.c:12");
	OK_STR(at_address(o, start + 16, false), "? lie.c:11");
	OK_STR(at_address(o, start + 32, false), "? lie.c:14");
	OK_STR(at_address(o, start + 39, false), "? lie.c:14");
	OK_STR(at_address(o, start + 40, false), "nothing");
	OK_STR(at_address(o, start + 48, false), "? lie.c:20");
	OK_STR(at_address(o, start + 52, false), "nothing");
	OK(consistent(o));
	object_free(o);
}

/* ---- damage ---- */

static void try_damaged(const struct file *f, size_t size)
{
	FILE *out = fopen(built("damaged"), "wb");
	if (!out || fwrite(f->data, 1, size, out) != size || fclose(out))
		abort();
	static const struct object_opts opts = { .no_debug_files = true };
	struct object_file *o = NULL;
	struct kin_error *err = object_open(built("damaged"), &opts, &o);
	kin_error_free(err);
	if (o) {
		for (int gnu = 0; gnu < 2; gnu++) {
			size_t n;
			struct srcloc at;
			struct address_range text = object_text(o);
			struct line_run *r =
				object_line_runs(o, text, gnu ? &gnu_line_rules : NULL, &n);
			if (!well_formed(r, n, text))
				abort();
			free(r);
			object_place(o, text.low + 20, gnu ? &gnu_line_rules : NULL, &at);
		}
	}
	object_free(o);
}

/* Random bytes in the second half of the file, where the debugging information is. */
static void test_damage(void)
{
	struct file f = { 0 };
	uint32_t seed = 1;
	if (!OK(compile("gcc", "-gdwarf-5 -O2 -c program.c -o out.o && gcc -gdwarf-4 -O2 out.o")))
		return;
	struct kin_error *err = file_read(built("out"), &(struct file_opts){ 0 }, &f);
	if (!OK(err == NULL))
		return;
	for (int i = 0; i < 400; i++) {
		uint8_t old[8];
		size_t at[8];
		for (int k = 0; k < 8; k++) {
			seed = seed * 1664525u + 1013904223u;
			at[k] = f.size * 2 / 5 + (seed >> 4) % (f.size * 3 / 5);
			old[k] = f.data[at[k]];
			f.data[at[k]] = (uint8_t)(seed >> 24);
		}
		try_damaged(&f, f.size);
		for (int k = 7; k >= 0; k--)
			f.data[at[k]] = old[k];
	}
	OK("nothing bad happened");
	file_free(&f);
}

/* Whether a function of that name is inlined somewhere in .text. */
static bool is_inlined(const struct object_inline *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		char *readable = demangle(list[i].name, DEMANGLE_SHORT);
		bool same = !strcmp(readable ? readable : list[i].name, name);
		free(readable);
		if (same)
			return true;
	}
	printf("# no %s\n", name);
	return false;
}

static void test_inlined(const char *options, const char *const *names, size_t n_names)
{
	printf("# %s\n", options);
	if (!OK(compile("g++", options)))
		return;
	struct object_file *o = open_object("out");
	struct address_range text = object_text(o);
	size_t n = text.high - text.low, found;
	uint64_t *all = xalloc(n * sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = text.low + i;
	struct object_inline *list = object_inlines(o, all, n, &found);
	for (size_t i = 0; i < n_names; i++)
		OK(is_inlined(list, found, names[i]));
	free(list);
	free(all);
	object_free(o);
}

static void test_scopes(const char *options)
{
	static const char *const names[] = {
		"n::(anonymous namespace)::hidden::get", "n::(anonymous namespace)::box<int>::get",
		"n::(anonymous namespace)::helper",      "run(int)::local::get",
		"run(int)::{lambda at scoped.cc:11}",    "run(int)::{lambda at scoped.cc:12:12}",
		"run(int)::{lambda at scoped.cc:12:84}", "run(int)::{lambda at scoped.cc:14}",
	};
	test_inlined(options, names, ARRAY_LEN(names));
}

/* Functions declared in others: their entries are among those of functions inlined there. */
static void test_nested(const char *compiler, const char *options)
{
	if (!have(compiler)) {
		printf("# %s is not there\n", compiler);
		return;
	}
	if (!OK(compile(compiler, options)))
		return;
	struct object_file *o = open_object("out");
	OK(consistent(o));
	object_free(o);
}

static void test_closures(const char *options)
{
	static const char *const names[] = {
		"task<{lambda at closures.cc:10}>::go",
		"task<{lambda at closures.cc:11}>::go",
		"held<std::tuple<{lambda at closures.cc:11}> >::go",
		"both<{lambda at closures.cc:11}, {lambda at closures.cc:10}>",
		"twice<{lambda at closures.cc:15}>",
		"twice<{lambda at closures.cc:16}>",
	};
	test_inlined(options, names, ARRAY_LEN(names));
}

int main(void)
{
	char command[300];
	if (!mkdtemp(dir))
		return 1;
	snprintf(command, sizeof(command), "mkdir %s/sub", dir);
	if (system(command))
		return 1;
	write_text("sub/part.h", header_text);
	write_text("program.c", program_text);
	write_text("mangled.cc", mangled_text);
	write_text("scoped.cc", scoped_text);
	write_text("closures.cc", closures_text);
	write_text("nested.c", nested_text);
	write_text("contained.f90", contained_text);
	write_text("lying.s", lying_text);

	test_compilers();
	test_first_file();
	test_mangled();
	test_scopes("-gdwarf-5 -O2 scoped.cc");
	test_scopes("-gdwarf-4 -O2 scoped.cc");
	test_scopes("-g -flto -O2 scoped.cc");
	test_closures("-gdwarf-5 -O2 closures.cc");
	test_closures("-gdwarf-4 -O2 closures.cc");
	test_nested("gcc", "-g -O0 -fopenmp nested.c");
	test_nested("gcc", "-g -O2 -fopenmp nested.c");
	test_nested("gfortran", "-g -O0 contained.f90");
	test_nested("gfortran", "-g -O1 contained.f90");
	test_units();
	test_type_units();
	test_none();
	test_lies();
	test_damage();
	snprintf(command, sizeof(command), "rm -r %s", dir);
	OK(system(command) == 0);
	return DONE();
}

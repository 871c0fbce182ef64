/* Object files: identity, which symbols count, names, pieces, linkage tables, calls, hostile bytes. */
#include "tap.h"

#include <errno.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/elf_build.h"
#include "object/object.h"

enum { TEXT = 0x1000 };

static char dir[] = "/tmp/kin-object-XXXXXX";
static const uint8_t nops[0x400];

static const char *in_dir(const char *name)
{
	static char path[4][256];
	static int i;
	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

static void write_file(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, n, f) != n || fclose(f))
		abort();
}

/* A 64-bit x86 file with .text (section 1) at 0x1000. */
static struct elf_build program(void)
{
	struct elf_build b = elf_new(64, false, EM_X86_64);
	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, nops, sizeof(nops));
	return b;
}

static struct object_file *open_path(const char *path, const struct object_opts *opts)
{
	struct object_file *o = NULL;
	struct kin_error *err = object_open(path, opts, &o);
	if (err)
		printf("# %s\n", kin_error_message(err));
	kin_error_free(err);
	return o;
}

static struct object_file *open_build(struct elf_build *b)
{
	const char *path = in_dir("prog");
	const struct object_opts opts = { .debug_dir = in_dir("debug") };
	return elf_write(b, path) ? open_path(path, &opts) : NULL;
}

/* Every symbol as "ADDR-END NAME[ flags][ >OWNER]\n". */
static const char *list(struct object_file *o, const struct symtab_opts *opts)
{
	static char out[65536];
	struct symbol_table t = { 0 };
	size_t n = 0;
	struct kin_error *err = object_symbols(o, opts, &t);
	if (err) {
		bool whoami;
		snprintf(out, sizeof(out), "%s", err_gnu_message(err, &whoami));
		kin_error_free(err);
		return out;
	}
	out[0] = '\0';
	for (size_t i = 0; i < t.n && n < sizeof(out) - 512; i++) {
		const struct object_symbol *s = &t.at[i];
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%lx-%lx %.80s%s%s%s%s%s", (long)s->addr,
				      (long)s->end, s->name, s->flags & SYMBOL_FUNCTION ? "" : " label",
				      s->flags & SYMBOL_STATIC ? " static" : "",
				      s->flags & SYMBOL_WEAK ? " weak" : "",
				      s->flags & SYMBOL_PLT ? " plt" : "",
				      s->flags & SYMBOL_COLD ? " cold" : "");
		if (s->owner != i)
			n += (size_t)snprintf(out + n, sizeof(out) - n, " >%lx", (long)t.at[s->owner].addr);
		n += (size_t)snprintf(out + n, sizeof(out) - n, "\n");
	}
	return out;
}

static const struct symtab_opts ours, gnu = { .gnu = true };

static void func(struct elf_build *b, const char *name, uint64_t addr)
{
	elf_symbol(b, name, addr, 16, STB_GLOBAL, STT_FUNC, 1);
}

static void local(struct elf_build *b, const char *name, uint64_t addr)
{
	elf_symbol(b, name, addr, 16, STB_LOCAL, STT_FUNC, 1);
}

/* ---- opening ---- */

static const char *refusal(const char *path, const char **gnu_words)
{
	static char words[2][512];
	struct object_file *o;
	struct kin_error *err = object_open(path, NULL, &o);
	bool whoami = false;
	if (!err) {
		object_free(o);
		return "opened";
	}
	const char *theirs = err_gnu_message(err, &whoami);
	const char *message = kin_error_message(err);
	const char *after = strncmp(message, path, strlen(path)) ? message : message + strlen(path);
	snprintf(words[0], sizeof(words[0]), "%s", after);
	snprintf(words[1], sizeof(words[1]), "%s%s", whoami ? "W: " : "", theirs ? theirs : "(none)");
	*gnu_words = words[1];
	kin_error_free(err);
	return words[0];
}

static void test_refusals(void)
{
	const char *theirs;
	OK_STR(refusal("/nonexistent/x", &theirs), ": No such file or directory");
	OK_STR(theirs, "/nonexistent/x: No such file or directory");
	OK_STR(refusal("/", &theirs), ": Is a directory");
	OK_STR(theirs, "/: No such file or directory");

	write_file(in_dir("f"), "", 0);
	OK_STR(refusal(in_dir("f"), &theirs), ": empty file, not an ELF file");
	write_file(in_dir("f"), "#!/bin/sh\n", 10);
	OK_STR(refusal(in_dir("f"), &theirs),
	       ": a script, not an ELF file: give the program that it starts");
	write_file(in_dir("f"), "!<arch>\nxxxx", 12);
	OK_STR(refusal(in_dir("f"), &theirs),
	       ": an archive: extract the member or give the linked program");
	OK(strstr(theirs, "W: ") == theirs && strstr(theirs, ": not in executable format"));
	write_file(in_dir("f"), "\x7f"
				"ELF\2\1\1",
		   7);
	OK_STR(refusal(in_dir("f"), &theirs), ": damaged ELF file: its header makes no sense");

	if (!mkfifo(in_dir("fifo"), 0600)) /* nobody writes: must not wait */
		OK_STR(refusal(in_dir("fifo"), &theirs), ": not a regular file");

	struct elf_build b = elf_new(64, false, EM_X86_64);
	elf_section(&b, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, TEXT, nops, 16);
	OK(elf_write(&b, in_dir("f")));
	OK(strstr(refusal(in_dir("f"), &theirs), "no section holds code") != NULL);
	OK(strstr(theirs, "W: can't find .text section in ") == theirs);
	b = program();
	b.type = ET_CORE;
	OK(elf_write(&b, in_dir("f")));
	OK_STR(refusal(in_dir("f"), &theirs), ": a core file: give the program that dumped it");
}

static void test_identity(void)
{
	static const struct {
		int bits;
		bool big;
		uint16_t machine;
		const char *name;
	} kinds[] = {
		{ 64, false, EM_X86_64, "i386:x86-64" }, { 32, false, EM_X86_64, "i386:x64-32" },
		{ 32, false, EM_386, "i386" },		 { 64, true, EM_AARCH64, "aarch64" },
		{ 32, true, EM_PPC, "powerpc:common" },	 { 64, false, EM_NONE, "unknown" },
	};
	static const uint8_t note[] = { 4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 1, 0xab, 0xff, 0 };
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct elf_build b = elf_new(kinds[i].bits, kinds[i].big, kinds[i].machine);
		elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, nops, 0x80);
		func(&b, "f", TEXT + 0x10);
		struct object_file *o = open_build(&b);
		OK(o && object_is_64bit(o) == (kinds[i].bits == 64) &&
		   object_big_endian(o) == kinds[i].big);
		OK_STR(object_machine(o), kinds[i].name);
		OK(object_text(o).low == TEXT && object_text(o).high == TEXT + 0x80);
		OK(!object_build_id(o));
		OK_STR(list(o, &ours), "1010-1080 f\n");
		OK_STR(list(o, &gnu), "1010-1080 f\n");
		object_free(o);
	}

	struct elf_build b = program();
	elf_section(&b, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0x900, note, sizeof(note));
	elf_symbol(&b, "__executable_start", 0x800, 0, STB_GLOBAL, STT_NOTYPE, SHN_ABS);
	elf_symbol(&b, "_etext", 0x1111, 0, STB_GLOBAL, STT_NOTYPE, 1);
	elf_symbol(&b, "etext", 0x1234, 0, STB_GLOBAL, STT_NOTYPE, 1);
	struct object_file *o = open_build(&b);
	OK_STR(object_build_id(o), "01abff");
	OK(object_profiled(o).low == 0x800 && object_profiled(o).high == 0x1234);
	object_free(o);
}

static void test_code(void)
{
	const uint8_t one[] = { 1, 2, 3, 4 }, two[] = { 5, 6 };
	struct elf_build b = elf_new(64, false, EM_X86_64);
	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, one, 4);
	elf_section(&b, ".fini", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT + 8, two, 2);
	elf_section(&b, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x2000, one, 4);
	elf_section(&b, ".zero", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x3000, NULL, 4);
	struct object_file *o = open_build(&b);
	size_t n;
	const uint8_t *p = object_code(o, TEXT + 1, &n);
	OK(p && n == 3 && p[0] == 2);
	p = object_code(o, TEXT + 9, &n);
	OK(p && n == 1 && p[0] == 6);
	OK(!object_code(o, TEXT + 4, &n) && !n);
	OK(!object_code(o, TEXT - 1, &n) && !object_code(o, TEXT + 10, &n));
	OK(!object_code(o, 0x2000, &n) && !object_code(o, 0x3000, &n));
	object_free(o);
}

/* ---- which symbols count ---- */

static void test_acceptance(void)
{
	struct elf_build b = program();
	elf_section(&b, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x2000, nops, 0x100); /* 2 */
	elf_section(&b, ".fini", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1800, nops, 0x10); /* 3 */
	elf_symbol(&b, "file.c", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS);
	elf_symbol(&b, "", TEXT, 0, STB_LOCAL, STT_SECTION, 1);
	local(&b, "stat", 0x1010);
	local(&b, "piece.part.0", 0x1020);
	local(&b, "dollar$", 0x1030);
	local(&b, "__gnu_compiled_c", 0x1040);
	elf_symbol(&b, "$x", 0x1048, 0, STB_LOCAL, STT_NOTYPE, 1);
	elf_symbol(&b, "label", 0x1050, 0, STB_LOCAL, STT_NOTYPE, 1);
	func(&b, "glob.part.0", 0x1060);
	elf_symbol(&b, "notype", 0x1070, 0, STB_GLOBAL, STT_NOTYPE, 1);
	elf_symbol(&b, "weak", 0x1080, 0, STB_WEAK, STT_FUNC, 1);
	elf_symbol(&b, "ifunc", 0x1090, 0, STB_GLOBAL, STT_GNU_IFUNC, 1);
	elf_symbol(&b, "object", 0x10a0, 4, STB_GLOBAL, STT_OBJECT, 2);
	elf_symbol(&b, "weak_object", 0x2000, 4, STB_WEAK, STT_OBJECT, 2);
	elf_symbol(&b, "data_start", 0x2010, 0, STB_WEAK, STT_NOTYPE, 2);
	elf_symbol(&b, "undef", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF);
	elf_symbol(&b, "absolute", 0x1100, 0, STB_GLOBAL, STT_FUNC, SHN_ABS);
	elf_symbol(&b, "unique", 0x10b0, 0, STB_GNU_UNIQUE, STT_FUNC, 1);
	elf_symbol(&b, "etext", TEXT + sizeof(nops), 0, STB_GLOBAL, STT_NOTYPE, 1);
	elf_symbol(&b, "_fini", 0x1800, 0, STB_GLOBAL, STT_FUNC, 3);
	elf_symbol_at(&b, &b.symbols, 99999, 0x1104, 0, STB_GLOBAL, STT_FUNC, 1);
	elf_symbol(&b, "far", 0x1108, 0, STB_GLOBAL, STT_FUNC, 77);
	struct object_file *o = open_build(&b);

	OK_STR(list(o, &gnu), "1010-1050 stat static\n"
			      "1050-1060 label label static\n"
			      "1060-1070 glob.part.0\n"
			      "1070-1080 notype label\n"
			      "1080-1104 weak weak\n"
			      "1104-1400 (null)\n"
			      "1400-1800 etext label\n"
			      "1800-2010 _fini\n"
			      "2010-2010 data_start label weak\n");
	OK_STR(list(o, &ours), "1010-1020 stat static\n"
			       "1020-1030 piece.part.0 static\n"
			       "1030-1040 dollar$ static\n"
			       "1040-1050 __gnu_compiled_c static\n"
			       "1050-1060 label label static\n"
			       "1060-1070 glob.part.0\n"
			       "1070-1080 notype label\n"
			       "1080-1090 weak weak\n"
			       "1090-10b0 ifunc\n"
			       "10b0-1400 unique\n"
			       "1800-1810 _fini\n");
	const struct symtab_opts gnu_a = { .gnu = true, .no_static = true };
	OK_STR(list(o, &gnu_a), "1060-1070 glob.part.0\n"
				"1070-1080 notype label\n"
				"1080-1104 weak weak\n"
				"1104-1400 (null)\n"
				"1400-1800 etext label\n"
				"1800-2010 _fini\n"
				"2010-2010 data_start label weak\n");
	const struct symtab_opts gnu_d = { .gnu = true, .functions_only = true };
	OK(strstr(list(o, &gnu_d), "label label") == NULL && strstr(list(o, &gnu_d), "notype label"));
	const struct symtab_opts our_ad = { .no_static = true, .functions_only = true };
	OK_STR(list(o, &our_ad), "1060-1080 glob.part.0\n"
				 "1080-1090 weak weak\n"
				 "1090-10b0 ifunc\n"
				 "10b0-1400 unique\n"
				 "1800-1810 _fini\n");
	object_free(o);
}

/* GNU's check of a name that ends in ".digits" goes on into the next string. */
static void test_names_run_on(void)
{
	struct elf_build b = program();
	local(&b, "a.constprop.0", 0x1010); /* next: good */
	local(&b, "good", 0x1020);
	local(&b, "b.1", 0x1030); /* next: bad */
	local(&b, "bad.part.0", 0x1040);
	local(&b, "c.2", 0x1050); /* next runs on into a good one */
	local(&b, "d.clone.3", 0x1060);
	local(&b, "good.4x.", 0x1070);
	local(&b, "e.5.6", 0x1080);
	local(&b, "dot.", 0x1090);
	local(&b, "__gnu_compiled", 0x10a0); /* as a string it passes, as a symbol not */
	local(&b, "f..7", 0x10b0);
	local(&b, "g.constprop.", 0x10c0); /* at the end of the strings */
	struct object_file *o = open_build(&b);
	OK_STR(list(o, &gnu), "1010-1020 a.constprop.0 static\n"
			      "1020-1080 good static\n"
			      "1080-1090 e.5.6 static\n"
			      "1090-1400 dot. static\n");
	object_free(o);
}

static void test_aliases(void)
{
	static const struct {
		const char *first, *second; /* "l" local, "g" global, then "f" function, "n" label */
		const char *wins;
	} pairs[] = {
		{ "lf a", "gf b", "b" },    { "gf a", "lf b", "a" },	{ "gn a", "gf b", "b" },
		{ "lf a", "gn b", "b" },    { "gf _a", "gf b", "b" },	{ "gf a", "gf b", "a" },
		{ "gf __a", "gf _b", "_b" }, { "gf _a", "gf __b", "_a" }, { "gf a", "gf _b", "a" },
		{ "lf __a", "gf __b", "__b" }, { "lf x", "lf _y", "x" },
	};
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct elf_build b = program();
		for (int j = 0; j < 2; j++) {
			const char *s = j ? pairs[i].second : pairs[i].first;
			elf_symbol(&b, s + 3, 0x1010, 0, s[0] == 'l' ? STB_LOCAL : STB_GLOBAL,
				   s[1] == 'f' ? STT_FUNC : STT_NOTYPE, 1);
		}
		struct object_file *o = open_build(&b);
		for (int j = 0; j < 2; j++) {
			struct symbol_table t = { 0 };
			struct kin_error *err = object_symbols(o, j ? &gnu : &ours, &t);
			OK(!err && t.n == 1 && t.at[0].position == 1);
			OK_STR(t.at[0].name, pairs[i].wins);
		}
		object_free(o);
	}

	struct elf_build b = program(); /* what GNU does not see does not hide what it shows */
	local(&b, "a.isra.0", 0x1010);
	local(&b, "_b", 0x1010);
	elf_symbol(&b, "c", 0x1010, 0, STB_GLOBAL, STT_GNU_IFUNC, 1);
	struct object_file *o = open_build(&b);
	OK_STR(list(o, &ours), "1010-1400 _b static\n");
	object_free(o);
}

static void test_cold_pieces(void)
{
	struct elf_build b = program();
	elf_symbol(&b, "one.c", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS);
	local(&b, "f", 0x1100);
	local(&b, "f.cold", 0x1010);
	local(&b, "g.part.0.cold", 0x1020);
	local(&b, "g.part.0", 0x1110);
	local(&b, "h.part.2.cold.7", 0x1030);
	elf_symbol(&b, "two.c", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS);
	local(&b, "f.cold", 0x1040);
	local(&b, "f", 0x1120);
	local(&b, "nobody.cold", 0x1050);
	local(&b, ".cold", 0x1058);
	local(&b, "cold.cold.cold", 0x1060);
	local(&b, "is.colder", 0x1070);
	elf_symbol(&b, "", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS);
	func(&b, "h", 0x1130);
	func(&b, "cold", 0x1140);
	struct object_file *o = open_build(&b);
	OK_STR(list(o, &ours), "1010-1020 f.cold static cold >1100\n"
			       "1020-1030 g.part.0.cold static cold >1110\n"
			       "1030-1040 h.part.2.cold.7 static cold >1130\n"
			       "1040-1050 f.cold static cold >1120\n"
			       "1050-1058 nobody.cold static\n"
			       "1058-1060 .cold static\n"
			       "1060-1070 cold.cold.cold static cold >1140\n"
			       "1070-1100 is.colder static\n"
			       "1100-1110 f static\n"
			       "1110-1120 g.part.0 static\n"
			       "1120-1130 f static\n"
			       "1130-1140 h\n"
			       "1140-1400 cold\n");
	const struct symtab_opts no_static = { .no_static = true };
	OK_STR(list(o, &no_static), "1030-1060 h.part.2.cold.7 static cold >1130\n"
				    "1060-1130 cold.cold.cold static cold >1140\n"
				    "1130-1140 h\n"
				    "1140-1400 cold\n");
	object_free(o);
}

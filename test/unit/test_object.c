/* Object files: identity, which symbols count, names, pieces, linkage tables, calls, hostile bytes.
 */
#include "tap.h"

#include <inttypes.h>
#include <link.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "gnu/rules.h"
#include "gnu/words.h"
#include "lib/cfi_build.h"
#include "lib/elf_build.h"
#include "lib/go_build.h"
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
		char *words = gnu_words(err, &whoami);
		snprintf(out, sizeof(out), "%s", words);
		free(words);
		kin_error_free(err);
		return out;
	}
	out[0] = '\0';
	for (size_t i = 0; i < t.n && n < sizeof(out) - 512; i++) {
		const struct object_symbol *s = &t.at[i];
		n += (size_t)snprintf(
			out + n, sizeof(out) - n, "%lx-%lx %.80s%s%s%s%s%s", (long)s->addr,
			(long)s->end, s->name, s->flags & SYMBOL_FUNCTION ? "" : " label",
			s->flags & SYMBOL_STATIC ? " static" : "",
			s->flags & SYMBOL_WEAK ? " weak" : "", s->flags & SYMBOL_PLT ? " plt" : "",
			s->flags & SYMBOL_COLD ? " cold" : "");
		if (s->owner != i)
			n += (size_t)snprintf(out + n, sizeof(out) - n, " >%lx",
					      (long)t.at[s->owner].addr);
		n += (size_t)snprintf(out + n, sizeof(out) - n, "\n");
	}
	free(t.at);
	return out;
}

static const struct symtab_opts ours, gnu = { .rules = &gnu_symbol_rules };

static void func(struct elf_build *b, const char *name, uint64_t addr)
{
	elf_symbol(b, name, addr, 16, STB_GLOBAL, STT_FUNC, 1);
}

static void local(struct elf_build *b, const char *name, uint64_t addr)
{
	elf_symbol(b, name, addr, 16, STB_LOCAL, STT_FUNC, 1);
}

/* ---- opening ---- */

static const char *refusal(const char *path, const char **theirs)
{
	static char words[2][512];
	struct object_file *o;
	struct kin_error *err = object_open(path, NULL, &o);
	bool whoami = false;
	if (!err) {
		object_free(o);
		return "opened";
	}
	char *said = gnu_words(err, &whoami);
	const char *message = kin_error_message(err);
	const char *after = strncmp(message, path, strlen(path)) ? message : message + strlen(path);
	snprintf(words[0], sizeof(words[0]), "%s", after);
	snprintf(words[1], sizeof(words[1]), "%s%s", whoami ? "W: " : "", said ? said : "(none)");
	free(said);
	*theirs = words[1];
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
	write_file(in_dir("f"),
		   "\x7f"
		   "ELF\2\1\1",
		   7);
	OK_STR(refusal(in_dir("f"), &theirs), ": damaged ELF file: its header makes no sense");

	if (!mkfifo(in_dir("fifo"), 0600)) /* a FIFO without a writer: must not wait */
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
		{ 32, false, EM_386, "i386" },           { 64, true, EM_AARCH64, "aarch64" },
		{ 32, true, EM_PPC, "powerpc:common" },  { 64, false, EM_NONE, "unknown" },
	};
	static const uint8_t note[] = { 4, 0, 0,   0,   3,   0, 0, 0,    3,    0,
					0, 0, 'G', 'N', 'U', 0, 1, 0xab, 0xff, 0 };
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
	elf_section(&b, ".fini", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1800, nops,
		    0x10); /* 3 */
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
	const struct symtab_opts gnu_a = { .rules = &gnu_symbol_rules, .no_static = true };
	OK_STR(list(o, &gnu_a), "1060-1070 glob.part.0\n"
				"1070-1080 notype label\n"
				"1080-1104 weak weak\n"
				"1104-1400 (null)\n"
				"1400-1800 etext label\n"
				"1800-2010 _fini\n"
				"2010-2010 data_start label weak\n");
	const struct symtab_opts gnu_d = { .rules = &gnu_symbol_rules, .functions_only = true };
	OK(strstr(list(o, &gnu_d), "label label") == NULL &&
	   strstr(list(o, &gnu_d), "notype label"));
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
		const char *first,
			*second; /* "l" local, "g" global, then "f" function, "n" label */
		const char *wins;
	} pairs[] = {
		{ "lf a", "gf b", "b" },     { "gf a", "lf b", "a" },
		{ "gn a", "gf b", "b" },     { "lf a", "gn b", "b" },
		{ "gf _a", "gf b", "b" },    { "gf a", "gf b", "a" },
		{ "gf __a", "gf _b", "_b" }, { "gf _a", "gf __b", "_a" },
		{ "gf a", "gf _b", "a" },    { "lf __a", "gf __b", "__b" },
		{ "lf x", "lf _y", "x" },
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
			free(t.at);
		}
		object_free(o);
	}

	static const struct {
		const char *names[3], *ours; /* GNU shows the first */
	} families[] = {
		{ { "pwrite64", "pwrite" }, "pwrite" },
		{ { "pread", "pread64" }, "pread" },
		{ { "__pwrite64", "__libc_pwrite", "__pwrite" }, "__pwrite" },
		{ { "sinf32x", "sin", "sinf64" }, "sin" },
		{ { "open64", "other", "open" }, "open" },
		{ { "memcpy@V1", "memmove" }, "memmove" },
		{ { "memcpy@V1", "memcpy@@V2" }, "memcpy@@V2" },
		{ { "get6", "get64" }, "get6" },
		{ { "read_all", "read" }, "read_all" },
	};
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		struct elf_build b = program();
		for (int j = 0; j < 3 && families[i].names[j]; j++)
			elf_symbol(&b, families[i].names[j], 0x1010, 0, STB_GLOBAL, STT_FUNC, 1);
		struct object_file *o = open_build(&b);
		for (int j = 0; j < 2; j++) {
			struct symbol_table t = { 0 };
			struct kin_error *err = object_symbols(o, j ? &gnu : &ours, &t);
			OK(!err && t.n == 1);
			OK_STR(t.at[0].name, j ? families[i].names[0] : families[i].ours);
			free(t.at);
		}
		object_free(o);
	}

	struct elf_build b = program(); /* symbols that GNU ignores do not hide others */
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

/* ---- linkage tables ---- */

static void rela(struct elf_build *b, struct elf_bytes *to, uint64_t slot, uint32_t symbol,
		 uint32_t type, uint64_t addend)
{
	elf_number(b, to, slot, 8);
	elf_number(b, to, (uint64_t)symbol << 32 | type, 8);
	elf_number(b, to, addend, 8);
}

static void add_dynamic(struct elf_build *b, const char *const *names,
			struct elf_bytes *relocations)
{
	struct elf_bytes symbols = { 0 }, strings = { 0 };
	elf_put(&strings, "", 1);
	elf_symbol_at(b, &symbols, 0, 0, 0, 0, 0, 0);
	for (size_t i = 0; names[i]; i++) {
		elf_symbol_at(b, &symbols, (uint32_t)strings.n, 0, 0, STB_GLOBAL, STT_FUNC,
			      SHN_UNDEF);
		elf_put(&strings, names[i], strlen(names[i]) + 1);
	}
	uint32_t dynsym = (uint32_t)b->n_parts + 1;
	struct elf_part *p =
		elf_section(b, ".dynsym", SHT_DYNSYM, SHF_ALLOC, 0, symbols.at, symbols.n);
	p->entsize = 24;
	p->link = dynsym + 1;
	elf_section(b, ".dynstr", SHT_STRTAB, SHF_ALLOC, 0, strings.at, strings.n);
	p = elf_section(b, ".rela.plt", SHT_RELA, SHF_ALLOC, 0, relocations->at, relocations->n);
	p->entsize = 24;
	p->link = dynsym;
	free(symbols.at);
	free(strings.at);
	free(relocations->at);
}

static void jump_x86(struct elf_build *b, struct elf_bytes *to, uint64_t section, uint64_t slot)
{
	uint64_t next = section + to->n + 6;
	elf_put(to, "\xff\x25", 2);
	elf_number(b, to, slot - next, 4);
	while (to->n % 16)
		elf_put(to, "\x90", 1);
}

static void test_plt_x86(void)
{
	static const char *const names[] = { "puts", "exit", NULL };
	struct elf_build b = program();
	struct elf_bytes plt = { 0 }, sec = { 0 }, relocations = { 0 };
	elf_put(&plt, "\xff\x35....\xff\x25....\x0f\x1f\x40\0", 16);
	jump_x86(&b, &plt, 0x2000, 0x3020); /* not in the order of the relocations */
	jump_x86(&b, &plt, 0x2000, 0x3018);
	elf_put(&sec, "\xf3\x0f\x1e\xfa\xf2", 5);
	jump_x86(&b, &sec, 0x2100, 0x3030);
	jump_x86(&b, &sec, 0x2100, 0x3040); /* a slot that nothing is known of */
	elf_section(&b, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, plt.at, plt.n);
	elf_section(&b, ".plt.sec", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2100, sec.at, sec.n);
	rela(&b, &relocations, 0x3018, 1, R_X86_64_JUMP_SLOT, 0);
	rela(&b, &relocations, 0x3020, 2, R_X86_64_JUMP_SLOT, 0);
	rela(&b, &relocations, 0x3030, 0, R_X86_64_IRELATIVE, 0x1010);
	rela(&b, &relocations, 0x3040, 77, R_X86_64_GLOB_DAT, 0);
	add_dynamic(&b, names, &relocations);
	elf_symbol(&b, "chosen", 0x1010, 0, STB_GLOBAL, STT_GNU_IFUNC, 1);
	local(&b, "resolver", 0x1010);
	struct object_file *o = open_build(&b);
	OK_STR(list(o, &ours), "1010-1400 resolver static\n"
			       "2000-2010 .plt plt\n"
			       "2010-2020 exit@plt plt\n"
			       "2020-2030 puts@plt plt\n"
			       "2100-2120 chosen@plt plt\n");
	OK_STR(list(o, &gnu), "1010-1400 resolver static\n");
	object_free(o);
	free(plt.at);
	free(sec.at);
}

static void test_plt_aarch64(void)
{
	static const char *const names[] = { "puts", "exit", NULL };
	static const uint32_t code[] = {
		0xa9bf7bf0, 0xd0000010,
		0xf9400a11, 0xd61f0220, /* head: slot 4010 */
		0xd0000010, 0xf9400e11,
		0x91006210, 0xd61f0220, /* adrp x16, 4000; ldr x17, [x16, 24] */
		0xd503245f, 0xd0000010,
		0xf9401211, 0xd61f0220, /* bti c; ... 32 */
	};
	struct elf_build b = elf_new(64, false, EM_AARCH64);
	struct elf_bytes relocations = { 0 }, words = { 0 };
	for (size_t i = 0; i < ARRAY_LEN(code); i++)
		elf_number(&b, &words, code[i], 4);
	elf_section(&b, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, words.at, words.n);
	rela(&b, &relocations, 0x4018, 2, R_AARCH64_JUMP_SLOT, 0);
	rela(&b, &relocations, 0x4020, 1, R_AARCH64_JUMP_SLOT, 0);
	add_dynamic(&b, names, &relocations);
	struct object_file *o = open_build(&b);
	OK_STR(list(o, &ours), "2000-2010 .plt plt\n"
			       "2010-2020 exit@plt plt\n"
			       "2020-2030 puts@plt plt\n");
	object_free(o);
	free(words.at);
}

/* ---- other places to take symbols from ---- */

/* A symbol with a size ends there; one without goes on to the next, or to the section's end. */
static void test_sizes(void)
{
	struct elf_build b = program();
	elf_symbol(&b, "a", TEXT, 16, STB_GLOBAL, STT_FUNC, 1);
	elf_symbol(&b, "b", TEXT + 64, 0, STB_GLOBAL, STT_FUNC, 1);
	elf_symbol(&b, "c", TEXT + 128, UINT64_MAX, STB_GLOBAL, STT_FUNC, 1);
	struct object_file *o = open_build(&b);
	const struct symtab_opts exact = { .exact = true };
	struct symbol_table t = { 0 };
	kin_error_free(object_symbols(o, &exact, &t));
	OK(t.n == 3 && t.at[0].end == TEXT + 16 && t.at[1].end == TEXT + 128 &&
	   t.at[2].end == TEXT + sizeof(nops));
	free(t.at);
	kin_error_free(object_symbols(o, &ours, &t));
	OK(t.n == 3 && t.at[0].end == TEXT + 64);
	free(t.at);
	object_free(o);
}

/* A file without symbols has the functions of its call-frame information, if requested. */
/* Tables of megabytes are read in another way than small ones, if they have this machine's form. */
static void test_large_tables(void)
{
	enum { MANY = 150000 };
	static const struct {
		int bits;
		bool big;
		uint16_t machine;
	} forms[] = { { 64, false, EM_X86_64 }, { 64, true, EM_PPC64 }, { 32, false, EM_386 } };
	static const uint8_t code[16 * MANY];

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct elf_build b = elf_new(forms[i].bits, forms[i].big, forms[i].machine);
		elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, code,
			    sizeof(code));
		for (uint64_t k = 0; k < MANY; k++) {
			char name[16];
			snprintf(name, sizeof(name), "f%" PRIu64, k);
			elf_symbol(&b, name, 0x1000 + 16 * k, 16, STB_GLOBAL, STT_FUNC, 1);
		}
		elf_symbol(&b, "__executable_start", 0x1000, 0, STB_GLOBAL, STT_NOTYPE, 1);
		elf_symbol(&b, "etext", 0x1230, 0, STB_GLOBAL, STT_NOTYPE, 1);
		struct object_file *o = open_build(&b);
		for (int again = 0; o && again < 2; again++) { /* each reads the table */
			struct symbol_table t = { 0 };
			bool right = true;
			kin_error_free(object_symbols(o, &ours, &t));
			OK(t.n == MANY);
			for (size_t k = 0; k < t.n; k++)
				right &= t.at[k].addr == 0x1000 + 16 * k &&
					 strtoul(t.at[k].name + 1, NULL, 10) == k;
			OK(right);
			OK(object_profiled(o).low == 0x1000 && object_profiled(o).high == 0x1230);
			free(t.at);
		}
		object_free(o);
	}
}

static void test_nameless(void)
{
	static const uint8_t code[] = { 0x0c, 7, 8, 0x90, 1 }; /* cfa = rsp + 8; ra at cfa - 8 */
	struct elf_build b = program();
	struct cfi_build *f = calloc(1, sizeof(*f));
	cfi_cie(f, false, 16, code, sizeof(code));
	cfi_fde(f, TEXT, 16, code, 0);
	cfi_fde(f, TEXT + 32, 64, code, 0);
	cfi_fde(f, 0x900000, 64, code, 0); /* not code */
	elf_section(&b, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, CFI_ADDR, f->at, f->n);
	struct object_file *o = open_build(&b);
	struct symbol_table t = { 0 };
	kin_error_free(object_symbols(o, &(struct symtab_opts){ .exact = true }, &t));
	OK(t.n == 2 && t.at[0].addr == TEXT && t.at[1].addr == TEXT + 32);
	OK(t.n == 2 && t.at[0].flags & SYMBOL_NAMELESS && t.at[1].flags & SYMBOL_NAMELESS);
	OK_STR(t.n == 2 ? t.at[1].name : "", "[0x1020]");
	free(t.at);
	kin_error_free(object_symbols(o, &ours, &t));
	OK(t.n == 0);
	free(t.at);
	object_free(o);
	free(f);
}

static void test_external(void)
{
	static const char text[] = "0000000000001000 T alpha\n"
				   "0000000000001010 t beta\n"
				   "                 U gamma\n"
				   "0000000000001020 D data\n"
				   "0000000000001030 T with extra words\n"
				   "junk\n\n"
				   "0000000000001040 t\n"
				   "0x1050 T prefixed\n"
				   "zzz T no_address\n"
				   "11112222333344445 T too_long\n"
				   "1060 T late\r\n"
				   "1070 Tx\n"
				   "1080 t last";
	struct elf_build b = program();
	struct object_file *o = open_build(&b);
	write_file(in_dir("nm"), text, sizeof(text) - 1);
	struct symtab_opts opts = { .external = in_dir("nm"), .rules = &gnu_symbol_rules };
	OK_STR(list(o, &opts), "1000-1010 alpha\n"
			       "1010-1030 beta static\n"
			       "1030-1050 with\n"
			       "1050-1060 prefixed\n"
			       "1060-1070 late\n"
			       "1070-1080 x\n"
			       "1080-1400 last static\n");
	opts.no_static = true; /* which GNU forgets here */
	OK(strstr(list(o, &opts), "beta") != NULL);
	opts.rules = NULL;
	OK_STR(list(o, &opts), "1000-1030 alpha\n"
			       "1030-1050 with\n"
			       "1050-1060 prefixed\n"
			       "1060-1070 late\n"
			       "1070-1400 x\n");

	char want[300];
	opts.external = "/nonexistent/nm";
	OK_STR(list(o, &opts), "could not open /nonexistent/nm.");
	write_file(in_dir("nm2"), "no\n", 3);
	opts.external = in_dir("nm2");
	snprintf(want, sizeof(want), "file `%s' has no symbols", opts.external);
	OK_STR(list(o, &opts), want);
	object_free(o);
}

static const uint8_t id_note[] = { 4, 0, 0,   0,   3,   0, 0,    0,    3, 0,
				   0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 1, 0 };

/* A program without symbols; with a build-id if `id`. */
static struct elf_build stripped(bool id)
{
	struct elf_build b = program();
	b.no_symtab = true;
	if (id)
		elf_section(&b, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0x900, id_note,
			    sizeof(id_note));
	return b;
}

static struct elf_build debug_file(bool id, uint8_t last)
{
	uint8_t note[sizeof(id_note)];
	memcpy(note, id_note, sizeof(note));
	note[18] = last;
	struct elf_build b = elf_new(64, false, EM_X86_64);
	elf_section(&b, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, NULL, sizeof(nops));
	if (id)
		elf_section(&b, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0x900, note,
			    sizeof(note));
	func(&b, "hidden", 0x1010);
	return b;
}

static void test_build_id_file(void)
{
	struct elf_build b = debug_file(true, 2), p = stripped(true);
	mkdir(in_dir("debug"), 0700);
	mkdir(in_dir("debug/.build-id"), 0700);
	mkdir(in_dir("debug/.build-id/ab"), 0700);
	OK(elf_write(&b, in_dir("debug/.build-id/ab/cd01.debug")));
	struct object_file *o = open_build(&p);
	OK_STR(list(o, &ours), ""); /* another build-id */
	object_free(o);

	b = debug_file(true, 1);
	p = stripped(true);
	OK(elf_write(&b, in_dir("debug/.build-id/ab/cd01.debug")));
	o = open_build(&p);
	OK_STR(list(o, &ours), "1010-1400 hidden\n");
	OK_STR(list(o, &gnu), "");
	object_free(o);

	const struct object_opts no_debug = { .debug_dir = in_dir("debug"),
					      .no_debug_files = true };
	o = open_path(in_dir("prog"), &no_debug);
	OK_STR(list(o, &ours), "");
	object_free(o);
	unlink(in_dir("debug/.build-id/ab/cd01.debug"));
}

static void write_linked(const char *name, uint32_t crc)
{
	struct elf_bytes link = { 0 };
	struct elf_build b = stripped(false);
	elf_put(&link, name, strlen(name) + 1);
	elf_put(&link, "\0\0\0", -link.n & 3);
	elf_number(&b, &link, crc, 4);
	elf_section(&b, ".gnu_debuglink", SHT_PROGBITS, 0, 0, link.at, link.n);
	OK(elf_write(&b, in_dir("prog")));
	free(link.at);
}

static void test_debuglink(void)
{
	static const char *const places[] = { "p.debug", ".debug/p.debug" };
	const struct object_opts opts = { .debug_dir = in_dir("debug") };
	mkdir(in_dir(".debug"), 0700);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct elf_build b = debug_file(true, 1);
		size_t n;
		uint8_t *data = elf_finish(&b, &n);
		uint32_t crc = lzma_crc32(data, n, 0);
		write_file(in_dir(places[i]), data, n);
		free(data);

		write_linked("p.debug", crc);
		struct object_file *o = open_path(in_dir("prog"), &opts);
		OK_STR(list(o, &ours), "1010-1400 hidden\n");
		object_free(o);
		write_linked("../../../../../../../../../x/p.debug",
			     crc); /* only the last part counts */
		o = open_path(in_dir("prog"), &opts);
		OK_STR(list(o, &ours), "1010-1400 hidden\n");
		object_free(o);
		write_linked("p.debug", crc ^ 1);
		o = open_path(in_dir("prog"), &opts);
		OK_STR(list(o, &ours), "");
		object_free(o);
		unlink(in_dir(places[i]));
	}
}

static void test_packed_symbols(void)
{
	size_t n, packed = 0;
	struct elf_build b = debug_file(false, 0), p = stripped(false);
	struct elf_bytes none = { 0 };
	uint8_t *data = elf_finish(&b, &n), *out = malloc(n + 4096);
	OK(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, data, n, out, &packed, n + 4096) ==
	   LZMA_OK);
	elf_section(&p, ".gnu_debugdata", SHT_PROGBITS, 0, 0, out, packed);
	struct elf_part *dynsym = &p.parts[p.n_parts];
	add_dynamic(&p, (const char *const[]){ "exported", NULL }, &none);
	memcpy(dynsym->data.at + 24 + 6, "\1\0\x00\x11", 4); /* section 1, address 0x1100 */
	struct object_file *o = open_build(&p);
	OK_STR(list(o, &ours), "1010-1100 hidden\n1100-1400 exported\n");
	OK_STR(list(o, &gnu), "");
	object_free(o);

	/* Unpacks to far more than any symbol table: refused, and soon. */
	lzma_stream lz = LZMA_STREAM_INIT;
	enum { OUT = 1 << 20, ZEROES = 1 << 20, TIMES = 300 };
	uint8_t *zeroes = calloc(1, ZEROES);
	out = realloc(out, OUT);
	lz.next_out = out;
	lz.avail_out = OUT;
	OK(lzma_easy_encoder(&lz, 0, LZMA_CHECK_NONE) == LZMA_OK);
	for (int i = 0; i <= TIMES; i++) {
		lz.next_in = zeroes;
		lz.avail_in = i < TIMES ? ZEROES : 0;
		while (lzma_code(&lz, i < TIMES ? LZMA_RUN : LZMA_FINISH) == LZMA_OK && lz.avail_in)
			;
	}
	packed = OUT - lz.avail_out;
	lzma_end(&lz);
	p = stripped(false);
	elf_section(&p, ".gnu_debugdata", SHT_PROGBITS, 0, 0, out, packed);
	o = open_build(&p);
	OK_STR(list(o, &ours), "");
	object_free(o);
	free(zeroes);
	free(out);
	free(data);
}

/* ---- calls ---- */

static char calls_text[512];

static void note_call(uint64_t site, uint64_t target, void *arg)
{
	size_t n = strlen(calls_text);
	(void)arg;
	snprintf(calls_text + n, sizeof(calls_text) - n, "%lx>%lx ", (long)site, (long)target);
}

static const char *calls(struct object_file *o, uint64_t low, uint64_t high, bool as_gnu)
{
	calls_text[0] = '\0';
	return object_calls(o, low, high, as_gnu ? &gnu_call_rules : NULL, note_call, NULL)
		       ? calls_text
		       : "unsupported";
}

/* Where calls end in .text, and nowhere else. */
static const char *ends(const struct object_file *o)
{
	calls_text[0] = '\0';
	for (uint64_t addr = TEXT; addr < object_text(o).high; addr++)
		if (object_call_ends_at(o, addr))
			snprintf(calls_text + strlen(calls_text), 8, "%lx ", (long)addr);
	return calls_text;
}

static void test_calls(void)
{
	static const uint8_t x86[] = {
		0xe8, 0x10, 0,    0,    0,       /* 1000: call 1015 */
		0xb8, 0xe8, 0xe8, 0xe8, 0xe8,    /* 1005: mov $0xe8e8e8e8, %eax */
		0xe8, 0xf1, 0xff, 0xff, 0xff,    /* 100a: call 1000, backwards */
		0x67, 0xe8, 0,    0,    0,    0, /* 100f: addr32 call 1015 */
		0xff, 0xd0,                      /* 1015: call *%rax */
		0x06,                            /* 1017: not an instruction */
		0xe9, 0xe3, 0xff, 0xff, 0xff,    /* 1018: jmp 1000 */
		0xe8, 1,                         /* 101d: cut off */
	};
	static const uint32_t arm[] = { 0x94000002, 0x97ffffff, 0x14000001, 0xd503201f };
	struct elf_build b = elf_new(64, false, EM_X86_64);
	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, x86, sizeof(x86));
	elf_section(&b, ".other", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, x86, 5);
	struct object_file *o = open_build(&b);
	OK_STR(calls(o, 0, 0x1fff, false), "1000>1015 100a>1000 100f>1015 ");
	OK_STR(calls(o, 0x100a, 0x3000, false), "100a>1000 100f>1015 2000>2015 ");
	OK_STR(calls(o, 0x1000, 0x100a, false), "1000>1015 ");
	OK_STR(calls(o, 0x1000, 0x1000, false), "");
	OK_STR(calls(o, 0x1000, 0x1006, true), "1000>1015 ");
	OK_STR(calls(o, 0x100a, 0x3000, true), "100a>100001000 1010>1015 ");
	OK_STR(ends(o), "1005 100b 100c 100d 100e 100f 1015 1017 "); /* the mov might be some */
	object_free(o);

	b = elf_new(64, false, EM_AARCH64);
	struct elf_bytes words = { 0 };
	for (size_t i = 0; i < ARRAY_LEN(arm); i++)
		elf_number(&b, &words, arm[i], 4);
	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, words.at, words.n);
	o = open_build(&b);
	OK_STR(calls(o, 0, UINT64_MAX, false), "1000>1008 1004>1000 ");
	OK_STR(calls(o, 0, UINT64_MAX, true), "1000>1008 1004>1000 1008>100c ");
	OK_STR(ends(o), "1004 1008 ");
	object_free(o);
	free(words.at);

	b = elf_new(32, true, EM_PPC);
	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, x86, sizeof(x86));
	o = open_build(&b);
	OK_STR(calls(o, 0, UINT64_MAX, false), "unsupported");
	OK_STR(calls(o, 0, UINT64_MAX, true), "unsupported");
	OK(object_call_ends_at(o, TEXT)); /* who knows */
	object_free(o);
}

static void test_indirect_calls(void)
{
	static const uint8_t code[] = {
		0xff, 0x10,                   /* 1000: call *(%rax) */
		0x41, 0xff, 0x55, 8,          /* 1002: call *8(%r13) */
		0xff, 0x14, 0xc8,             /* 1006: call *(%rax,%rcx,8) */
		0xff, 0x14, 0x25, 1, 2, 3, 4, /* 1009: call *0x4030201 */
		0xff, 0x15, 1,    2, 3, 4,    /* 1010: call *0x4030201(%rip) */
		0xff, 0x94, 0x24, 1, 2, 3, 4, /* 1016: call *0x4030201(%rsp) */
		0xff, 0x20,                   /* 101d: jmp *(%rax) */
		0x90,
	};
	struct elf_build b = elf_new(64, false, EM_X86_64);
	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, code, sizeof(code));
	struct object_file *o = open_build(&b);
	OK_STR(ends(o), "1002 1006 1009 1010 1016 101d ");
	object_free(o);
}

/* ---- names ---- */

static void test_demangling(void)
{
	static const struct {
		enum demangle_style style;
		const char *name, *want;
	} names[] = {
		{ DEMANGLE_AUTO, "_Z3foov", "foo()" },
		{ DEMANGLE_AUTO, "main", NULL },
		{ DEMANGLE_AUTO, "i", NULL },
		{ DEMANGLE_AUTO, "", NULL },
		{ DEMANGLE_AUTO, "@", NULL },
		{ DEMANGLE_AUTO, "._Z3foov", ".foo()" },
		{ DEMANGLE_AUTO, "$_Z3foov@@V1", "$foo()@@V1" },
		{ DEMANGLE_AUTO, "_Z3foov@plt", "foo()@plt" },
		{ DEMANGLE_AUTO, "_Z3foov.part.0", "foo() [clone .part.0]" },
		{ DEMANGLE_AUTO, "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ DEMANGLE_AUTO, "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ DEMANGLE_AUTO, "_D3foo3barFZv", NULL },
		{ DEMANGLE_GNU_V3, "_RNvNtCs1234_7mycrate3foo3bar", NULL },
		{ DEMANGLE_RUST, "_Z3foov", NULL },
		{ DEMANGLE_DLANG, "_D3foo3barFZv", "foo.bar()" },
		{ DEMANGLE_JAVA, "_ZN3FooC1Ev", "Foo.Foo()" },
		{ DEMANGLE_GNAT, "ada__text_io__put", "ada.text_io.put" },
		{ DEMANGLE_NONE, "_Z3foov", NULL },
		{ DEMANGLE_SHORT, "_ZN3app4sortIiEEvPT_", "app::sort<int>" },
		{ DEMANGLE_SHORT, "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ DEMANGLE_TIDY, "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ DEMANGLE_TIDY, "_Z3foov", "foo()" },
		{ DEMANGLE_TIDY, "main", NULL },
		{ DEMANGLE_TIDY,
		  "_Z5wordsRKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_"
		  "EE",
		  "words(std::vector<std::string> const&)" },
		{ DEMANGLE_TIDY, "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEm",
		  "std::string::reserve(unsigned long)" },
		{ DEMANGLE_TIDY, "_ZNSolsEi", "std::ostream::operator<<(int)" },
		{ DEMANGLE_TIDY,
		  "_ZStltIcSt11char_traitsIcESaIcEEbRKNSt7__cxx1112basic_stringIT_T0_T1_EESA_",
		  "bool std::operator< <char, std::char_traits<char>, std::allocator<char>>"
		  "(std::string const&, std::string const&)" },
		{ DEMANGLE_TIDY, "__linalg_MOD_norm", "linalg::norm" },
		{ DEMANGLE_TIDY, "__libc_MOD", NULL },
		{ DEMANGLE_TIDY, "_D3foo3barFZv", "foo.bar()" },
		{ DEMANGLE_TIDY, "_Dmain", "D main" },
		{ DEMANGLE_TIDY, "_D5tools4PairTiTlZQk6__dtorMFNbNiZv",
		  NULL }, /* no such reference */
		{ DEMANGLE_TIDY, "_Draw", NULL },
		/* so many references could stand for each other */
		{ DEMANGLE_TIDY, "_D17QQQQQQQQQQQQQQQQQ3barFZv", NULL },
		{ DEMANGLE_TIDY, "std::vector<int, std::allocator<int> >::at",
		  "std::vector<int>::at" },
		/* arguments other than the defaults stay */
		{ DEMANGLE_TIDY, "std::vector<int, mine<int>>::at", NULL },
		{ DEMANGLE_TIDY, "std::vector<int, std::allocator<long>>::at", NULL },
		{ DEMANGLE_TIDY,
		  "std::map<int, A, std::greater<int>, std::allocator<std::pair<int const, A> > "
		  ">::at",
		  "std::map<int, A, std::greater<int>>::at" },
		{ DEMANGLE_TIDY,
		  "std::unordered_map<K, V, std::hash<K>, std::equal_to<K>, "
		  "std::allocator<std::pair<K const, V> > >",
		  "std::unordered_map<K, V>" },
		{ DEMANGLE_TIDY,
		  "my::vector<std::basic_string<int, std::char_traits<int>, std::allocator<int> > "
		  ">",
		  "my::vector<std::basic_string<int>>" },
		{ DEMANGLE_TIDY,
		  "std::__1::basic_ostringstream<wchar_t, std::__1::char_traits<wchar_t>, "
		  "std::__1::allocator<wchar_t>>::str",
		  "std::wostringstream::str" },
		{ DEMANGLE_TIDY,
		  "f<std::list<A, std::allocator<A> >, ((1<<2)>(3)), 4>(int (*)(B->c))",
		  "f<std::list<A>, ((1<<2)>(3)), 4>(int (*)(B->c))" },
		{ DEMANGLE_TIDY,
		  "main::{lambda(auto:1&)#1}::operator()<std::set<int, std::less<int>, "
		  "std::allocator<int> > >",
		  "main::{lambda(auto:1&)#1}::operator()<std::set<int>>" },
		{ DEMANGLE_TIDY, "std::a<b(c>d", NULL },
		{ DEMANGLE_TIDY, "std::a<b>)", NULL },
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char *got = demangle(names[i].name, names[i].style);
		OK_STR(got ? got : "(as it is)", names[i].want ? names[i].want : "(as it is)");
		free(got);
	}

	enum demangle_style style = DEMANGLE_NONE;
	OK(demangle_style_find("gnu-v3", &style) && style == DEMANGLE_GNU_V3);
	OK(!demangle_style_find("nosuch", &style) && style == DEMANGLE_GNU_V3);
}

/* Each parameter is twice as long as the one before. */
static void test_demangling_bombs(void)
{
	char name[512] = "_Z1f1AIiiE1BIS0_S0_E";
	for (char c = '2'; c <= 'Z'; c = c == '9' ? 'A' : c + 1)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "S1_IS%c_S%c_E", c, c);
	OK(!demangle(name, DEMANGLE_AUTO)); /* would be 2^36 bytes */
	name[42] = '\0';
	char *readable = demangle(name, DEMANGLE_AUTO);
	OK(readable && strlen(readable) > 64);
	free(readable);

	char *deep = malloc(100001);
	memset(deep, 'P', 100000);
	memcpy(deep, "_Z1f", 4);
	deep[100000] = '\0';
	OK(!demangle(deep, DEMANGLE_AUTO));
	deep[1000] = '\0';
	OK(!demangle(deep, DEMANGLE_AUTO));
	memset(deep, '<', 1000);
	memcpy(deep, "std::a", 6);
	OK(!demangle(deep, DEMANGLE_TIDY));
	free(deep);
}

/* ---- hostile files ---- */

static void ask_everything(struct object_file *o)
{
	for (int i = 0; i < 2; i++) {
		struct symbol_table t = { 0 };
		struct kin_error *err = object_symbols(o, i ? &gnu : &ours, &t);
		for (size_t j = 1; j < t.n; j++)
			if (t.at[j - 1].addr >= t.at[j].addr || t.at[j].owner >= t.n)
				abort();
		free(t.at);
		kin_error_free(err);
		object_calls(o, 0, UINT64_MAX, i ? &gnu_call_rules : NULL, note_call, NULL);
	}
	object_profiled(o);
	object_free(o);
}

static struct elf_build everything(void)
{
	static const char *const names[] = { "puts", NULL };
	struct elf_build b = program();
	struct elf_bytes plt = { 0 }, relocations = { 0 };
	jump_x86(&b, &plt, 0x2000, 0x3018);
	elf_section(&b, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, plt.at, plt.n);
	rela(&b, &relocations, 0x3018, 1, R_X86_64_JUMP_SLOT, 0);
	add_dynamic(&b, names, &relocations);
	elf_section(&b, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0x900, id_note, sizeof(id_note));
	local(&b, "f.cold", 0x1010);
	local(&b, "a.1", 0x1018);
	func(&b, "f", 0x1020);
	b.parts[0].data.n = b.parts[0].size = 0x40; /* small: every byte is tried */
	free(plt.at);
	return b;
}

static void try_bytes(const uint8_t *data, size_t n, unsigned *opened)
{
	struct object_file *o;
	char path[64];
	const struct object_opts opts = { .debug_dir = "/nonexistent" };
	int fd = memfd_create("hostile", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct kin_error *err = object_open(path, &opts, &o);
	*opened += !err;
	if (!err)
		ask_everything(o);
	else if (strchr(kin_error_message(err), '\n'))
		abort();
	kin_error_free(err);
	close(fd);
}

static void test_damaged(void)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct elf_build b = everything();
	size_t n;
	unsigned whole = 0, cut = 0, changed = 0;
	uint8_t *data = elf_finish(&b, &n);
	try_bytes(data, n, &whole);
	OK(whole == 1);
	for (size_t i = 0; i < n; i++)
		try_bytes(data, i, &cut);
	for (size_t i = 0; i < n; i++) {
		uint8_t old = data[i];
		if (i >= 64 && i < 128) /* code */
			continue;
		for (size_t j = 0; j < ARRAY_LEN(values); j++) {
			data[i] = values[j];
			try_bytes(data, n, &changed);
		}
		data[i] = old;
	}
	printf("# %zu bytes; opened %u of those cut short, %u of those changed\n", n, cut, changed);
	OK(!cut && changed > n); /* the section headers are at the end */
	free(data);
}

/* The file shrinks while it is open: an error or less data, no signal. */
static void test_cut_while_open(void)
{
	struct elf_build b = everything();
	struct object_file *o = open_build(&b);
	OK(o && !truncate(in_dir("prog"), 100));
	ask_everything(o);

	b = everything();
	o = open_build(&b);
	OK(o && !truncate(in_dir("prog"), 0));
	ask_everything(o);
}

static void test_cyclic_links(void)
{
	struct elf_build b = everything();
	for (size_t i = 0; i < b.n_parts; i++)
		b.parts[i].link = (uint32_t)i + 1; /* every section names itself */
	struct elf_part *p = elf_section(&b, ".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 0, nops, 64);
	p->link = (uint32_t)b.n_parts + 1;
	struct object_file *o = open_build(&b);
	OK(o != NULL);
	ask_everything(o);
}

/* A million names that all run on to the end; half of them at one address. */
static void test_many(void)
{
	enum { MANY = 1000000 };
	struct elf_build b = elf_new(64, false, EM_X86_64);
	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, NULL, 0)->size =
		1 << 20;
	size_t symbols = (MANY + 1) * 24, strings = 4 * MANY + 1;
	b.symbols.at = realloc(b.symbols.at, symbols);
	b.strings.at = realloc(b.strings.at, strings);
	for (uint32_t i = 0; i < MANY; i++) {
		struct elf_build one = { .bits = 64 };
		struct elf_bytes s = { 0 };
		elf_symbol_at(&one, &s, 1 + 4 * (MANY - 1 - i),
			      TEXT + (i & 1 ? 0 : i * (uint64_t)7919 % MANY), 0, STB_LOCAL,
			      STT_FUNC, 1);
		memcpy(b.symbols.at + 24 * (i + 1), s.at, 24);
		memcpy(b.strings.at + 1 + 4 * i, "a.1", 4);
		free(s.at);
	}
	b.symbols.n = symbols;
	b.strings.n = strings;
	struct object_file *o = open_build(&b);
	struct symbol_table t = { 0 };
	struct kin_error *err = object_symbols(o, &gnu, &t);
	OK(!err && t.n == MANY / 2);
	free(t.at);
	err = object_symbols(o, &ours, &t);
	OK(!err && t.n > MANY / 3 && t.at[0].addr == TEXT);
	free(t.at);
	object_free(o);
}

/* A hundred thousand symbols, each with a name nearly as long as the string table. */
static void test_overlapping_names(void)
{
	enum { MANY = 100000, LENGTH = 4000000 };
	struct elf_build b = program();
	b.strings.at = realloc(b.strings.at, LENGTH + 2);
	memset(b.strings.at + 1, 'x', LENGTH);
	b.strings.at[LENGTH + 1] = 0;
	b.strings.n = LENGTH + 2;
	for (uint32_t i = 0; i < MANY; i++)
		elf_symbol_at(&b, &b.symbols, 1 + i % 100, TEXT + i % 1000, 0, STB_LOCAL, STT_FUNC,
			      1);
	struct object_file *o = open_build(&b);
	for (int i = 0; i < 2; i++) {
		struct symbol_table t;
		struct kin_error *err = object_symbols(o, i ? &gnu : &ours, &t);
		OK(err && strstr(kin_error_message(err), "names overlap"));
		kin_error_free(err);
	}
	object_free(o);
}

/* Sections that all are the same bytes of the file, with relocations, code and notes in them. */
static void test_overlapping_sections(void)
{
	enum { SIZE = 1 << 22, MANY = 20000 };
	struct elf_build b = everything();
	uint8_t *zeroes = calloc(1, SIZE);
	elf_section(&b, ".big", SHT_PROGBITS, 0, 0, zeroes, SIZE);
	size_t old_n, count = b.n_parts + 4;
	uint8_t *old = elf_finish(&b, &old_n);
	struct elf_bytes file = { 0 };
	uint64_t headers = old_n - count * 64;
	elf_put(&file, old, old_n);
	for (unsigned i = 0; i < MANY; i++) {
		static const uint32_t types[] = { SHT_PROGBITS, SHT_RELA, SHT_NOTE, SHT_SYMTAB,
						  SHT_DYNSYM };
		struct elf_part p = { .type = types[i % 5],
				      .flags = SHF_ALLOC | SHF_EXECINSTR,
				      .addr = 0x100000 + (uint64_t)i * SIZE,
				      .size = SIZE,
				      .entsize = 24,
				      .link = i % 50 };
		elf_section_header(&b, &file, 1 + i % 30, &p, 64);
	}
	file.at[60] = (uint8_t)((count + MANY) & 0xff);
	file.at[61] = (uint8_t)((count + MANY) >> 8);
	OK(headers == (file.at[40] | (uint64_t)file.at[41] << 8 | (uint64_t)file.at[42] << 16));
	unsigned opened = 0;
	try_bytes(file.at, file.n, &opened);
	OK(opened == 1);
	free(file.at);
	free(old);
	free(zeroes);
}

/* ---- variables ---- */

static void test_variables(void)
{
	struct elf_build b = program();
	static const uint8_t zeroes[64];
	struct symbol_table t;
	elf_section(&b, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x3000, zeroes, 64);
	func(&b, "f", TEXT);
	elf_symbol(&b, "later", 0x3020, 8, STB_GLOBAL, STT_OBJECT, 2);
	elf_symbol(&b, "first", 0x3000, 16, STB_LOCAL, STT_OBJECT, 2);
	elf_symbol(&b, "alias", 0x3020, 8, STB_GLOBAL, STT_OBJECT, 2);
	elf_symbol(&b, "no_size", 0x3030, 0, STB_GLOBAL, STT_OBJECT, 2);
	elf_symbol(&b, "elsewhere", 0, 8, STB_GLOBAL, STT_OBJECT, SHN_UNDEF);
	elf_symbol(&b, "beyond", UINT64_MAX - 3, 8, STB_GLOBAL, STT_OBJECT, 2);
	struct object_file *o = open_build(&b);
	object_variables(o, &t);
	OK(t.n == 2);
	OK(t.n == 2 && t.at[0].addr == 0x3000 && t.at[0].end == 0x3010);
	OK_STR(t.n == 2 ? t.at[0].name : "", "first");
	OK_STR(t.n == 2 ? t.at[1].name : "", "later");
	free(t.at);
	object_free(o);
}

/* ---- the vdso ---- */

/* The build id of the one in this process, by its program headers; "" if there is none. */
static const char *vdso_build_id(void)
{
	static char hex[2 * 64 + 1];
	const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *h = (const void *)base;
	for (size_t i = 0; base && i < h->e_phnum; i++) {
		const ElfW(Phdr) *p = (const void *)(base + h->e_phoff + i * h->e_phentsize);
		const uint8_t *at = base + p->p_offset, *end = at + p->p_filesz;
		while (p->p_type == PT_NOTE && at + 12 < end) {
			const ElfW(Nhdr) *n = (const void *)at;
			const uint8_t *id = at + 12 + (n->n_namesz + 3) / 4 * 4;
			for (size_t k = 0;
			     n->n_type == NT_GNU_BUILD_ID && k < n->n_descsz && k < 64; k++)
				snprintf(hex + 2 * k, 3, "%02x", id[k]);
			at = id + (n->n_descsz + 3) / 4 * 4;
		}
	}
	return hex;
}

static void test_vdso(void)
{
	const char *id = vdso_build_id();
	struct object_file *o = NULL;
	struct kin_error *err = object_open_vdso(&(struct object_opts){ 0 }, &o);
	OK(err && !o); /* the caller did not say which vdso */
	kin_error_free(err);
	err = object_open_vdso(&(struct object_opts){ .build_id = "0123456789" }, &o);
	OK(err && !o); /* another kernel's */
	kin_error_free(err);
	if (!*id) {
		printf("# NOT TESTED: there is none here\n");
		return;
	}
	err = object_open_vdso(&(struct object_opts){ .build_id = id }, &o);
	OK(!err && o);
	kin_error_free(err);
	OK_STR(o ? object_build_id(o) : "", id);
	OK(o && strstr(list(o, &ours), "clock_gettime"));
	object_free(o);
}

/* ---- programs of Go ---- */

static const char go_symbols[] = "401000-401010 main.main\n401020-401030 main.work[...]\n";

/* A stripped program whose table lies `at` bytes into a section of that name. `text`: what the
 * table says of where the code starts. */
static struct elf_build go_program(enum go_form form, const char *section, size_t at, uint64_t text)
{
	static const uint8_t code[0x40];
	static const struct go_run run[] = { { 0, 0x10 }, { 0, 0 } };
	static const struct go_made_function functions[] = {
		{ "main.main", 0, run, run, run, 0 },
		{ "main.work[...]", 0x20, run, run, run, 0 },
		{ NULL, 0x40, NULL, NULL, NULL, 0 },
	};
	static uint8_t table[2 * sizeof(((struct go_made *)0)->at)];
	struct go_made m;
	go_make(&m, form, functions);
	if (form >= GO_FORM_1_18)
		go_put(&m, 24, text, 8);
	memset(table, 0, sizeof(table));
	memcpy(table + at, m.at, sizeof(m.at));
	struct elf_build b = elf_new(64, false, EM_X86_64);
	b.no_symtab = true;
	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, GO_TEXT, code,
		    sizeof(code));
	elf_section(&b, section, SHT_PROGBITS, SHF_ALLOC, GO_TABLE - at, table, sizeof(table));
	return b;
}

static const char *go_list(struct elf_build *b)
{
	static const struct symtab_opts exact = { .exact = true };
	struct object_file *o = open_build(b);
	const char *text = o ? list(o, &exact) : "not opened";
	object_free(o);
	return text;
}

static void test_go(void)
{
	struct elf_build b = go_program(GO_FORM_1_2, ".gopclntab", 0, 0);
	OK_STR(go_list(&b), go_symbols);
	b = go_program(GO_FORM_1_16, ".gopclntab", 0, 0);
	OK_STR(go_list(&b), go_symbols);
	b = go_program(GO_FORM_1_18, ".data.rel.ro.gopclntab", 0, GO_TEXT);
	OK_STR(go_list(&b), go_symbols);
	b = go_program(GO_FORM_1_20, ".gopclntab", 0, GO_TEXT + 0x1000); /* there is no code */
	OK_STR(go_list(&b), "");

	/* linked by C's linker, with other data */
	b = go_program(GO_FORM_1_20, ".data.rel.ro", 0x120, GO_TEXT);
	OK_STR(go_list(&b), ""); /* nothing says that it is Go's */
	b = go_program(GO_FORM_1_20, ".data.rel.ro", 0x120, GO_TEXT);
	elf_section(&b, ".go.buildinfo", SHT_PROGBITS, SHF_ALLOC, 0x700000, "", 1);
	OK_STR(go_list(&b), go_symbols);
	b = go_program(GO_FORM_1_20, ".data.rel.ro", 0x120, 0);
	struct elf_bytes relocations = { 0 };
	rela(&b, &relocations, GO_TABLE + 24, 0, R_X86_64_RELATIVE, GO_TEXT);
	elf_section(&b, ".rela.dyn", SHT_RELA, SHF_ALLOC, 0, relocations.at, relocations.n)
		->entsize = 24;
	free(relocations.at);
	elf_section(&b, ".go.buildinfo", SHT_PROGBITS, SHF_ALLOC, 0x700000, "", 1);
	OK_STR(go_list(&b), go_symbols);

	/* Go 1.26 */
	uint64_t module[23] = { [0] = GO_TABLE, [22] = GO_TEXT };
	b = go_program(GO_FORM_1_20, ".gopclntab", 0, 0);
	elf_section(&b, ".go.module", SHT_PROGBITS, SHF_ALLOC, GO_MODULE, module, sizeof(module));
	OK_STR(go_list(&b), go_symbols);
	module[0]++;
	b = go_program(GO_FORM_1_20, ".gopclntab", 0, 0);
	elf_section(&b, ".go.module", SHT_PROGBITS, SHF_ALLOC, GO_MODULE, module, sizeof(module));
	OK_STR(go_list(&b), "");

	/* symbols come first */
	b = go_program(GO_FORM_1_20, ".gopclntab", 0, GO_TEXT);
	b.no_symtab = false;
	func(&b, "main.main.abi0", GO_TEXT);
	OK_STR(go_list(&b), "401000-401010 main.main.abi0\n");
}

int main(void)
{
	if (!mkdtemp(dir))
		return 2;
	test_refusals();
	test_identity();
	test_code();
	test_acceptance();
	test_names_run_on();
	test_aliases();
	test_cold_pieces();
	test_plt_x86();
	test_plt_aarch64();
	test_sizes();
	test_large_tables();
	test_nameless();
	test_external();
	test_build_id_file();
	test_debuglink();
	test_packed_symbols();
	test_calls();
	test_indirect_calls();
	test_demangling();
	test_demangling_bombs();
	test_damaged();
	test_cut_while_open();
	test_cyclic_links();
	test_many();
	test_overlapping_names();
	test_overlapping_sections();
	test_variables();
	test_go();
	test_vdso();
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) ? 2 : DONE();
}

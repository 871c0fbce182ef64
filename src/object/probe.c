/* probe.c - looks for symbols that only profiled programs have. */
#include "object/probe.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef bool dynamic_test(const GElf_Dyn *entry, const char *name);

static bool has_dynamic(Elf *elf, dynamic_test *test)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		size_t size = gelf_fsize(elf, ELF_T_DYN, 1, EV_CURRENT);
		for (size_t i = 0; data && size && i < data->d_size / size; i++) {
			GElf_Dyn entry;
			if (!gelf_getdyn(data, (int)i, &entry))
				continue;
			bool named = entry.d_tag == DT_NEEDED;
			if (test(&entry,
				 named ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : NULL))
				return true;
		}
	}
	return false;
}

/* Linkers mark position-independent programs. A static one has no interpreter to tell it from a
 * library. */
static bool is_mark_of_program(const GElf_Dyn *entry, const char *name)
{
	(void)name;
	return entry->d_tag == DT_FLAGS_1 && entry->d_un.d_val & DF_1_PIE;
}

static bool needs_runtime(const GElf_Dyn *entry, const char *name)
{
	static const char runtime[] = "libkinrt.so.";
	(void)entry;
	return name && !strncmp(name, runtime, strlen(runtime));
}

bool object_is_program(Elf *elf)
{
	GElf_Ehdr header;
	size_t n;
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return false;
	if (header.e_type == ET_EXEC)
		return true;
	if (header.e_type != ET_DYN || elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr segment;
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_INTERP)
			return true;
	}
	return has_dynamic(elf, is_mark_of_program);
}

/* Names in .symtab may carry a version: "mcount@GLIBC_2.2.5". */
static bool is_one_of(const char *name, const char *const *names)
{
	size_t n = strcspn(name, "@");
	for (; *names; names++)
		if (strlen(*names) == n && !memcmp(*names, name, n))
			return true;
	return false;
}

static bool calls_profiler(const char *name, const GElf_Sym *symbol)
{
	static const char *const entries[] = { "mcount", "_mcount", "__mcount", "__fentry__",
					       NULL };
	(void)symbol;
	return is_one_of(name, entries);
}

/* Symbols that linking with -pg adds: a startup file defines one of the first, and refers to one of
 * the second. So does the runtime, linked statically. */
static bool starts_profiler(const char *name, const GElf_Sym *symbol)
{
	static const char *const defined[] = { "__gmon_start__", "kinrt_start", NULL };
	static const char *const wanted[] = { "__monstartup", "monstartup", NULL };
	return is_one_of(name, symbol->st_shndx == SHN_UNDEF ? wanted : defined);
}

typedef bool symbol_test(const char *name, const GElf_Sym *symbol);

static bool has_symbol(Elf *elf, GElf_Word type, symbol_test *test)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
		for (size_t i = 0; data && size && i < data->d_size / size; i++) {
			GElf_Sym symbol;
			const char *name = gelf_getsym(data, (int)i, &symbol)
						   ? elf_strptr(elf, header.sh_link, symbol.st_name)
						   : NULL;
			if (name && test(name, &symbol))
				return true;
		}
	}
	return false;
}

static bool is_profiled(Elf *elf)
{
	return has_symbol(elf, SHT_DYNSYM, calls_profiler) ||
	       has_symbol(elf, SHT_SYMTAB, calls_profiler);
}

static bool starts(Elf *elf)
{
	return has_symbol(elf, SHT_DYNSYM, starts_profiler) ||
	       has_symbol(elf, SHT_SYMTAB, starts_profiler) || has_dynamic(elf, needs_runtime);
}

static bool probe(const char *path, bool (*test)(Elf *elf))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	char magic[SELFMAG];
	bool yes = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && pread(fd, magic, SELFMAG, 0) == SELFMAG &&
	    !memcmp(magic, ELFMAG, SELFMAG)) {
		elf_version(EV_CURRENT);
		Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
		yes = elf && object_is_program(elf) && test(elf);
		elf_end(elf);
	}
	close(fd);
	return yes;
}

bool object_probe_profiled(const char *path) { return probe(path, is_profiled); }

bool object_probe_starts(const char *path) { return probe(path, starts); }

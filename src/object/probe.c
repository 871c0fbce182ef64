/* probe.c - looks for symbols that only profiled programs have. */
#include "object/probe.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/elf_file.h"

/* Names in .symtab may carry a version: "mcount@GLIBC_2.2.5". */
static bool is_one_of(const char *name, const char *const *names)
{
	size_t n = strcspn(name, "@");
	for (; *names; names++)
		if (strlen(*names) == n && !memcmp(*names, name, n))
			return true;
	return false;
}

static bool calls_profiler(const char *name, const Elf64_Sym *symbol)
{
	static const char *const entries[] = { "mcount", "_mcount", "__mcount", "__fentry__",
					       NULL };
	(void)symbol;
	return is_one_of(name, entries);
}

/* Symbols that linking with -pg adds: a startup file defines one of the first, and refers to one of
 * the second. So does the runtime, linked statically. */
static bool starts_profiler(const char *name, const Elf64_Sym *symbol)
{
	static const char *const defined[] = { "__gmon_start__", "kinrt_start", NULL };
	static const char *const wanted[] = { "__monstartup", "monstartup", NULL };
	return is_one_of(name, symbol->st_shndx == SHN_UNDEF ? wanted : defined);
}

typedef bool symbol_test(const char *name, const Elf64_Sym *symbol);

static bool has_symbol_of(const struct elf_file *f, uint32_t type, symbol_test *test)
{
	struct elf_symbols s;
	Elf64_Sym symbol;
	uint32_t section;
	bool found = false;
	if (!elf_file_symbols(f, type, &s))
		return false;
	for (size_t i = 0; !found && i < s.n; i++)
		found = elf_symbols_at(&s, i, &symbol, &section) &&
			test(elf_symbols_name(&s, &symbol), &symbol);
	elf_symbols_release(f, &s);
	return found;
}

static bool has_symbol(const struct elf_file *f, symbol_test *test)
{
	return has_symbol_of(f, SHT_DYNSYM, test) || has_symbol_of(f, SHT_SYMTAB, test);
}

static bool needs_runtime(const struct elf_file *f)
{
	static const char runtime[] = "libkinrt.so.";
	const char *strings;
	size_t size;
	bool found = false;
	struct bytes b = elf_file_dynamic(f, &strings, &size);
	while (bytes_left(&b) >= elf_dyn_size(&f->image)) {
		Elf64_Dyn d = elf_dyn(&f->image, &b);
		found |= d.d_tag == DT_NEEDED && d.d_un.d_val < size &&
			 !strncmp(strings + d.d_un.d_val, runtime, strlen(runtime));
	}
	return found;
}

static bool is_profiled(const struct elf_file *f) { return has_symbol(f, calls_profiler); }

static bool starts(const struct elf_file *f)
{
	return has_symbol(f, starts_profiler) || needs_runtime(f);
}

/* Many files are probed, most of which are no programs. */
static bool probe(const char *path, bool (*test)(const struct elf_file *f))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	struct elf_file *f = NULL;
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		struct elf_image im = { .fd = fd, .size = (uint64_t)st.st_size };
		if (!elf_image_open(&im) && elf_image_is_program(&im))
			f = elf_file_of_open(path, fd, UINT64_MAX);
	}
	bool yes = f && test(f);
	elf_file_free(f);
	close(fd);
	return yes;
}

bool object_probe_profiled(const char *path) { return probe(path, is_profiled); }

bool object_probe_starts(const char *path) { return probe(path, starts); }

/* elf_file.h - one ELF file whose sections, symbols and code are read when they are needed, and
 * kept.
 *
 * Every object is made of such files (object.h); the recorder walks stacks by one. Returned
 * pointers live as long as the file. */
#ifndef OBJECT_ELF_FILE_H
#define OBJECT_ELF_FILE_H

#include "base/arena.h"
#include "base/vec.h"
#include "object/elf_image.h"

struct go_table;
struct kin_error;
struct machine;
struct unwind_table;

struct elf_section {
	const char *name; /* "" if damaged */
	uint64_t addr, size, flags;
	uint64_t entsize;
	uint32_t type, link, info; /* type SHT_NULL if it must not be used */
	uint64_t offset;           /* in the file */
	uint8_t *contents;         /* NULL until needed; a NUL is behind them */
	bool is_partial;           /* only the requested parts of contents have been read */
	bool is_unpacked;          /* contents were compressed in the file */
};

struct code_range {
	uint64_t low, high;
	uint32_t section;
};

struct elf_word { /* a word that the dynamic linker sets to an address */
	uint64_t addr, value;
};

/* An object is made of up to four of these: the file itself, its debug file, the dwz file that both
 * refer to, and the symbols packed into .gnu_debugdata. */
struct elf_file {
	char *path;
	struct elf_image
		image;   /* read, not mapped: a file cut short gives an error and no SIGBUS */
	uint8_t *memory; /* of the image; owned; NULL: it is a file */
	struct elf_section *sections; /* by index, so [0] is the null section */
	size_t n_sections;
	struct arena arena;
	int *trouble; /* errno of the first failure to read data that exists: out of memory, a
			 failing disk; 0: none. (A pointer because it may be set through a const
			 file.) */
	uint64_t section_max; /* larger sections are ignored; UINT64_MAX: none are too large */
	bool borrows;         /* image.fd is the caller's */
	bool remembers;       /* unpacked sections are kept in the user's cache (unpacked.h) */

	/* Executable sections, by address; not overlapping. Set by elf_file_find_code(). */
	struct code_range *code;
	size_t n_code;
	Elf64_Phdr *segments; /* NULL until needed */
	/* private to elf_code.c */
	VEC(struct elf_word) words; /* by address; read at first use */
	bool has_words;
	const struct go_table *go; /* NULL: none, or not yet sought */
	bool sought_go;
};

MUST_CHECK struct kin_error *elf_file_open(const char *path, struct elf_file **ret);
/* The ELF file that the caller has open, and keeps open as long; NULL if it is none. Sections of
 * more than section_max bytes are ignored. */
struct elf_file *elf_file_of_open(const char *path, int fd, uint64_t section_max);
/* Takes ownership of `memory` (malloc), even on failure. NULL if it is no ELF file. */
struct elf_file *elf_file_from_memory(const char *path, uint8_t *memory, size_t size);
/* The vdso of this process, which all 64-bit processes share. (vdso.c) */
MUST_CHECK struct kin_error *elf_file_vdso(struct elf_file **ret);
void elf_file_free(struct elf_file *f);

const struct elf_section *elf_file_section(const struct elf_file *f,
					   const char *name); /* or NULL */
/* Contents as in the file, unless elf_file_decompress()ed; NULL if there are none or they cannot be
 * read. */
const uint8_t *elf_file_contents(const struct elf_file *f, const struct elf_section *s,
				 size_t *size);
/* The same, but large sections are not read yet: each part must be requested before use. */
const uint8_t *elf_file_unread_contents(const struct elf_file *f, const struct elf_section *s,
					size_t *size);
void elf_file_read_part(const struct elf_file *f, const struct elf_section *s, uint64_t from,
			uint64_t to);
/* Contents to be read entry by entry (elf_image.h). */
struct bytes elf_file_bytes(const struct elf_file *f, const struct elf_section *s);
/* Replaces the section's compressed contents by the unpacked ones. False if they are damaged or
 * unpack to an absurd size. */
bool elf_file_decompress(struct elf_file *f, const struct elf_section *s);
/* Raw bytes of the build-id; NULL if there is none. */
const uint8_t *elf_file_build_id(const struct elf_file *f, size_t *size);

static inline bool elf_section_is_code(const struct elf_section *s)
{
	return (s->flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR);
}

/* A symbol table with its strings. */
struct elf_symbols {
	size_t section; /* index of its section */
	const struct elf_image *image;
	const uint8_t *at; /* n entries, as in the file */
	size_t n, entry;
	struct bytes shndx;  /* numbers of sections that are too large for a symbol */
	size_t first_global; /* from the section header: 0 if implausible */
	bool has_modes;      /* bit 0 of a function's address selects the instruction set (Thumb) */
	const char *strings; /* ends in NUL; never NULL */
	size_t strings_size;
};

/* The first section of that type (SHT_SYMTAB, SHT_DYNSYM). False if there is none, or it cannot be
 * read. */
bool elf_file_symbols(const struct elf_file *f, uint32_t type, struct elf_symbols *ret);
/* Gives back the memory of a large table; the strings stay. A later elf_file_symbols() reads the
 * table again. */
void elf_symbols_release(const struct elf_file *f, struct elf_symbols *s);
/* The i-th symbol; *shndx is its section even if there are more than 65279, and st_value the
 * address of its code. False if it cannot be read. */
bool elf_symbols_at(const struct elf_symbols *s, size_t i, Elf64_Sym *ret, uint32_t *shndx);
/* Its name; "" if that lies outside of the strings. */
static inline const char *elf_symbols_name(const struct elf_symbols *s, const Elf64_Sym *sym)
{
	return sym->st_name < s->strings_size ? s->strings + sym->st_name : "";
}

/* The program headers, image.n_segments of them; NULL: there are none. */
const Elf64_Phdr *elf_file_segments(struct elf_file *f);
/* The first dynamic section; `strings` of its names, which end in NUL, may be NULL. (Empty: there
 * is none.) */
struct bytes elf_file_dynamic(const struct elf_file *f, const char **strings, size_t *strings_size);

/* ---- code as it is loaded (elf_code.c) ---- */

/* NULL: unknown machine. */
const struct machine *elf_file_machine(const struct elf_file *f);
void elf_file_find_code(struct elf_file *f);
/* Index of the first code range that ends after addr; n_code if there is none. */
size_t elf_file_code_after(const struct elf_file *f, uint64_t addr);
/* Bytes of code from addr on, at most `wanted` or to the end of its range; NULL if there are none.
 */
const uint8_t *elf_file_code_part(const struct elf_file *f, uint64_t addr, size_t wanted,
				  size_t *size);
/* Bytes of code or constant data from addr on, at most to the end of its section, of which at least
 * `wanted` are read if there are so many; NULL if there are none. */
const uint8_t *elf_file_loaded(const struct elf_file *f, uint64_t addr, size_t wanted,
			       size_t *size);
/* The same as object_unwind_table(), without a debug file. (frames.c) */
struct unwind_table *elf_file_unwind_table(struct elf_file *f, const struct machine *m,
					   bool not_followed);
/* Go's table of functions; NULL if there is none. */
const struct go_table *elf_file_go_table(struct elf_file *f);

#endif

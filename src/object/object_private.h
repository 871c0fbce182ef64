/* object_private.h - declarations shared by the files of this module. Nobody outside includes this.
 */
#ifndef OBJECT_OBJECT_PRIVATE_H
#define OBJECT_OBJECT_PRIVATE_H

#include <gelf.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vec.h"
#include "object/object.h"

/* ---- one ELF file as it lies on disk (elffile.c) ---- */

struct elf_section {
	const char *name; /* "" if damaged */
	uint64_t addr, size, flags;
	uint64_t entsize;
	uint32_t type, link, info; /* type SHT_NULL if it must not be used */
	uint8_t *contents;         /* of a large section, read here; NULL until needed */
	uint64_t offset;           /* of contents in the file */
	bool is_partial;           /* only the requested parts of contents have been read */
	bool is_unpacked;          /* contents were compressed in the file */
};

/* An object is made of up to four of these: the file itself, its debug file, the dwz file that both
 * refer to, and the symbols packed into .gnu_debugdata. */
struct elf_file {
	char *path;
	int fd; /* -1: in memory */
	uint8_t *memory;
	Elf *elf; /* read, not mapped: a file cut short under us gives an error and no SIGBUS */
	GElf_Ehdr header;
	struct elf_section *sections; /* by index, so [0] is the null section */
	size_t n_sections;
	struct arena arena;
	int *trouble;   /* errno of the first failure to read data that exists: out of memory, a
			   failing disk; 0: none. (A pointer because it may be set through a const
			   file.) */
	bool remembers; /* unpacked sections are kept in the user's cache (unpacked.h) */
};

MUST_CHECK struct kin_error *elf_file_open(const char *path, struct elf_file **ret);
/* Takes ownership of `memory` (malloc), even on failure. NULL if it is no ELF file. */
struct elf_file *elf_file_from_memory(const char *path, uint8_t *memory, size_t size, int *trouble);
void elf_file_free(struct elf_file *f);

const struct elf_section *elf_file_section(const struct elf_file *f,
					   const char *name); /* or NULL */
/* Contents as in the file, unless elf_file_decompress()ed; NULL if there are none or they cannot be
 * read. */
const uint8_t *elf_file_contents(const struct elf_file *f, const struct elf_section *s,
				 size_t *size);
/* The same, but large sections are not read yet: each part, or all, must be requested before use.
 */
const uint8_t *elf_file_unread_contents(const struct elf_file *f, const struct elf_section *s,
					size_t *size);
void elf_file_read_part(const struct elf_file *f, const struct elf_section *s, uint64_t from,
			uint64_t to);
void elf_file_read_all(const struct elf_file *f, const struct elf_section *s);
/* In this machine's byte order. */
Elf_Data *elf_file_data(const struct elf_file *f, size_t index);
/* Replaces the section's compressed contents by the unpacked ones. False if they are damaged or
 * unpack to an absurd size. */
bool elf_file_decompress(struct elf_file *f, const struct elf_section *s);
/* Raw bytes of the build-id; NULL if there is none. */
const uint8_t *elf_file_build_id(const struct elf_file *f, size_t *size);
/* The bytes of the first GNU build-id in a section of notes; NULL if there is none. */
const uint8_t *elf_notes_build_id(struct bytes *b, size_t *size);

static inline bool elf_section_is_code(const struct elf_section *s)
{
	return (s->flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR);
}

/* A symbol table with its strings. */
struct elf_symbols {
	size_t section;          /* index of its section */
	const Elf64_Sym *native; /* a large table in this machine's form, read here; or NULL: */
	Elf_Data *data, *shndx;
	size_t n;
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
bool elf_symbols_at(const struct elf_symbols *s, size_t i, GElf_Sym *ret, uint32_t *shndx);
/* Its name; "" if that lies outside of the strings. */
static inline const char *elf_symbols_name(const struct elf_symbols *s, const GElf_Sym *sym)
{
	return sym->st_name < s->strings_size ? s->strings + sym->st_name : "";
}

/* ---- the object ---- */

struct code_range {
	uint64_t low, high;
	uint32_t section;
};

struct object_word { /* a word that the dynamic linker sets to an address */
	uint64_t addr, value;
};

struct object_file {
	char *path;
	char *debug_dir;
	char *symfs; /* files are looked for below this folder, then as named; NULL: / */
	bool no_debug_files;
	struct debuginfod *debuginfod; /* borrowed; NULL: no servers */
	struct arena arena;
	struct elf_file *main;
	char *build_id; /* hex, or NULL */
	struct address_range text;
	struct code_range
		*code; /* executable sections with contents, by address; not overlapping */
	size_t n_code;

	struct object_segment *segments; /* NULL until needed: frames.c */
	size_t n_segments;

	VEC(struct object_word) words; /* by address; read at first use: steps.c */
	bool has_words;

	const struct go_table *go; /* NULL: none, or not yet sought: go_symbols.c */
	bool sought_go;

	/* Opened at first use: see debugfile.c. */
	bool sought_debug, sought_packed, sought_dwarf;
	struct elf_file *debug, *alt, *packed;
	struct elf_file *dwarf;  /* the file that has .debug_info: main, debug or none */
	int trouble;             /* as in struct elf_file: from looking for the other files */
	const char *missing_alt; /* the dwz file that is not here; NULL: it is, or there is none */
	const char *missing; /* as object_missing_part(); the dwz file only if a name is in it */

	struct object_lines *lines;      /* owned by lines.c; NULL until needed */
	const struct kept_object *kept;  /* NULL: the object has its file */
	bool remembers, sought_answered; /* see object_opts; answered.h */
	struct answered *answered;       /* NULL: not kept, or not yet needed */
	char *answered_path;
	struct disassembler *disassembler; /* NULL until needed ... */
	const char *no_disassembler;       /* ... or why there is none */
};

/* object.c: takes ownership of `file`, even on failure. */
MUST_CHECK struct kin_error *object_of_file(struct elf_file *file, const char *path,
					    const struct object_opts *opts,
					    struct object_file **ret);

/* Index of the first code range that ends after addr; n_code if there is none. (object.c) */
size_t object_code_after(const struct object_file *o, uint64_t addr);

/* Opens perf's copy in ~/.debug of build opts->build_id, as `path`; `what`: "elf", "vdso". NULL if
 * there is none. (object.c) */
struct object_file *object_open_cached(const char *path, const struct object_opts *opts,
				       const char *what);

/* The word of `size` bytes at an address, as the dynamic linker sets it; false: there is none.
 * (steps.c) */
bool object_word(struct object_file *o, uint64_t addr, size_t size, uint64_t *ret);

/* Go's table of functions; NULL if there is none. (go_symbols.c) */
const struct go_table *object_go_table(struct object_file *o);

/* Fills in `code` from the sections of `main`. (object.c) */
void object_find_code(struct object_file *o);

/* Answers of an object made of kept names; each corresponds to a function of object.h.
 * (kept_object.c) */
struct symbol_table kept_symbols(const struct kept_object *k, const struct symtab_opts *opts);
void kept_each_name(const struct kept_object *k,
		    void (*see)(void *arg, const char *name, uint64_t addr), void *arg);
bool kept_place(const struct kept_object *k, uint64_t addr, struct srcloc *ret);
struct line_run *kept_line_runs(const struct kept_object *k, struct address_range range, size_t *n);
struct object_inline *kept_inlines(const struct kept_object *k, const uint64_t *addrs, size_t n,
				   size_t *count);

struct answered;
void answered_free(struct answered *a);

/* Called by object_free(); o->lines may be NULL. (lines.c) */
void object_lines_free(struct object_lines *lines);

/* ---- debugfile.c ---- */

/* The separate debug file, or NULL. */
struct elf_file *object_debug_file(struct object_file *o);
/* The file packed into .gnu_debugdata (symbols only), or NULL. */
struct elf_file *object_packed_file(struct object_file *o);
/* The file that has the DWARF: main or the debug file; o->alt is then its dwz file, if any. NULL if
 * there is no DWARF. */
struct elf_file *object_dwarf(struct object_file *o);

/* Opens a file with split units, or a package of them ("x.dwo", "prog.dwp"); NULL if there is none
 * for this machine. The caller frees it. */
struct elf_file *object_split_file(struct object_file *o, const char *path);

/* ---- elf_machine.c ---- */

const char *machine_name(const GElf_Ehdr *header);
/* NULL: unknown machine. */
const struct machine *object_kind(const struct object_file *o);

#endif

/* object_private.h - what the files of this module share. Nobody outside of it includes this. */
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
	uint32_t type, link, info; /* type SHT_NULL if it is not to be looked at */
	uint8_t *contents;         /* of a large one, read here; NULL until asked for */
	uint64_t offset;           /* of contents in the file */
	bool is_partial;           /* of contents only what was asked for has been read */
	bool is_unpacked;          /* contents are what was compressed in the file */
};

/* An object is made of up to four of these: the file itself, its debug file, what both refer to
 * (dwz), and the symbols packed into .gnu_debugdata. */
struct elf_file {
	char *path;
	int fd; /* -1: in memory */
	uint8_t *memory;
	Elf *elf; /* read, not mapped: a file cut short under us gives an error and no SIGBUS */
	GElf_Ehdr header;
	struct elf_section *sections; /* by index, so [0] is the null section */
	size_t n_sections;
	struct arena arena;
	int *trouble; /* errno of the first time that something which is there could not be read:
		       * no memory, a failing disk; 0: never. (Behind a pointer as it is no part of
		       * what the file is.) */
};

MUST_CHECK struct kin_error *elf_file_open(const char *path, struct elf_file **ret);
/* Takes over `memory` (malloc) in any case. NULL if it is no ELF file. */
struct elf_file *elf_file_from_memory(const char *path, uint8_t *memory, size_t size, int *trouble);
void elf_file_free(struct elf_file *f);

const struct elf_section *elf_file_section(const struct elf_file *f,
					   const char *name); /* or NULL */
/* Contents as in the file, unless elf_file_decompress()ed; NULL if there are none or they cannot be
 * read. */
const uint8_t *elf_file_contents(const struct elf_file *f, const struct elf_section *s,
				 size_t *size);
/* The same, but the contents of a large section are not read: each part must be asked for, or all
 * of them, before it is looked at. */
const uint8_t *elf_file_unread_contents(const struct elf_file *f, const struct elf_section *s,
					size_t *size);
void elf_file_read_part(const struct elf_file *f, const struct elf_section *s, uint64_t from,
			uint64_t to);
void elf_file_read_all(const struct elf_file *f, const struct elf_section *s);
/* In this machine's byte order. */
Elf_Data *elf_file_data(const struct elf_file *f, size_t index);
/* From now on the section's contents are what was compressed into it. False if they are damaged or
 * unfold to absurdly much. */
bool elf_file_decompress(struct elf_file *f, const struct elf_section *s);
/* Whether `packed` bytes may unfold to that many: a limit on what a small file can make us
 * allocate. */
bool elf_may_unfold(uint64_t packed, uint64_t unpacked);
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
	size_t section; /* index of its section */
	Elf_Data *data, *shndx;
	size_t n;
	size_t first_global; /* what the section header claims: 0 if senseless */
	bool has_modes; /* bit 0 of a function's address says how its code is encoded (Thumb) */
	const char *strings; /* ends in NUL; never NULL */
	size_t strings_size;
};

/* The first section of that type (SHT_SYMTAB, SHT_DYNSYM). False if there is none that can be read.
 */
bool elf_file_symbols(const struct elf_file *f, uint32_t type, struct elf_symbols *ret);
/* The i-th; *shndx is its section even if there are more than 65279, and st_value where its code
 * is. False if it cannot be read. */
bool elf_symbols_at(const struct elf_symbols *s, size_t i, GElf_Sym *ret, uint32_t *shndx);
/* Its name: "" if it lies outside of the strings. */
static inline const char *elf_symbols_name(const struct elf_symbols *s, const GElf_Sym *sym)
{
	return sym->st_name < s->strings_size ? s->strings + sym->st_name : "";
}

/* ---- the object ---- */

struct code_range {
	uint64_t low, high;
	uint32_t section;
};

struct object_word { /* the dynamic linker puts an address there */
	uint64_t addr, value;
};

struct object_file {
	char *path;
	char *debug_dir;
	char *symfs; /* files that it names are below this folder, or else as they are; NULL: / */
	bool no_debug_files;
	struct debuginfod *debuginfod; /* borrowed; NULL: nobody is asked */
	struct arena arena;
	struct elf_file *main;
	char *build_id; /* hex, or NULL */
	struct address_range text;
	struct code_range
		*code; /* executable sections with contents, by address; not overlapping */
	size_t n_code;

	struct object_segment *segments; /* NULL until asked for: frames.c */
	size_t n_segments;

	VEC(struct object_word) words; /* by address; read when first asked for: steps.c */
	bool has_words;

	/* Opened when first asked for: see debugfile.c. */
	bool sought_debug, sought_packed, sought_dwarf;
	struct elf_file *debug, *alt, *packed;
	struct elf_file *dwarf; /* which of them holds .debug_info: main, debug or none */
	int trouble;            /* as in struct elf_file: looking for the others */

	struct object_lines *lines;      /* lines.c's own; NULL until needed */
	const struct kept_object *kept;  /* NULL: the file is at hand */
	bool remembers, sought_answered; /* see object_opts; answered.h */
	struct answered *answered;       /* NULL: not kept, or not yet asked for */
	char *answered_path;
	struct disassembler *disassembler; /* NULL until needed ... */
	const char *no_disassembler;       /* ... or because of this */
};

/* object.c: takes `file` over, in any case. */
MUST_CHECK struct kin_error *object_of_file(struct elf_file *file, const char *path,
					    const struct object_opts *opts,
					    struct object_file **ret);

/* Index of the first range of code that ends after addr; n_code if none does. (object.c) */
size_t object_code_after(const struct object_file *o, uint64_t addr);

/* The copy that perf keeps in ~/.debug of the build that opts->build_id names, as `path`; `what`:
 * "elf", "vdso". NULL if there is none. (object.c) */
struct object_file *object_open_cached(const char *path, const struct object_opts *opts,
				       const char *what);

/* Fills in `code`, from the sections of `main`. (object.c) */
void object_find_code(struct object_file *o);

/* The answers of an object that was kept, each as the function of object.h that asks for it.
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
/* The file that holds the DWARF, itself or its debug file; o->alt is then the one that dwz made, if
 * any. NULL if there is no DWARF. */
struct elf_file *object_dwarf(struct object_file *o);

/* A file with the other half of units, or many of them ("x.dwo", "prog.dwp"); NULL if there is none
 * for this machine. The caller frees it. */
struct elf_file *object_split_file(struct object_file *o, const char *path);

/* ---- elf_machine.c ---- */

const char *machine_name(const GElf_Ehdr *header);
/* NULL: its code is not known here. */
const struct machine *object_kind(const struct object_file *o);

/* ---- names (tidy.c) ---- */

/* Both return what is to be freed, or NULL: the name is right as it is. */
char *tidy_name(const char *readable);  /* "std::string" for what a demangler makes of it */
char *tidy_fortran(const char *symbol); /* "linalg::norm" for "__linalg_MOD_norm" */

#endif

/* object_private.h - declarations shared by the files of this module. Nobody outside includes this.
 */
#ifndef OBJECT_OBJECT_PRIVATE_H
#define OBJECT_OBJECT_PRIVATE_H

#include "base/vec.h"
#include "object/elf_file.h"
#include "object/object.h"

/* ---- the object ---- */

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

	struct object_segment *segments; /* NULL until needed: frames.c */
	size_t n_segments;

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

/* Opens perf's copy in ~/.debug of build opts->build_id, as `path`; `what`: "elf", "vdso". NULL if
 * there is none. (object.c) */
struct object_file *object_open_cached(const char *path, const struct object_opts *opts,
				       const char *what);

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

const char *machine_name(const struct elf_image *im);
/* NULL: unknown machine. */
const struct machine *object_kind(const struct object_file *o);

#endif

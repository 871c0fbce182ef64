/* object.h - one ELF file: symbols, code, source lines. Knows nothing about profiles.
 *
 * Everything handed out lives until object_free(). Lookups that need DWARF decode a unit when first
 * asked for it, hence the non-const argument. One object may be used by one thread at a time. */
#ifndef OBJECT_OBJECT_H
#define OBJECT_OBJECT_H

#include "base/base.h"
#include "machine/machine.h"

struct kin_error;
struct debuginfod;
struct kept_object;
struct object_file;
struct source_text;

struct object_opts {
	const char *debug_dir; /* NULL: /usr/lib/debug */
	bool no_debug_files;   /* symbols only from the file itself; lines from debug files, too */
	/* The path is below this folder; so are debug files, which are then sought as they are
	 * named, too. NULL: / */
	const char *symfs;
	const char *build_id; /* in hex: what the file must be, if it has one; NULL, "": anything */
	struct debuginfod *debuginfod; /* asked for debug files that are not at hand; borrowed;
					* NULL: nobody is */
	/* What it answers is kept in the user's cache (answered.h), and the next one of the same
	 * file answers from there. See object_remember(). */
	bool remembers;
};

/* Errors say in words what is wrong (not an ELF file, no .text ...). An object without symbols
 * opens; object_symbols() then finds none. Where the file is gone, or another build than the one
 * asked for, the copy of that build is opened that perf may keep in ~/.debug. KIN_ERROR_MISMATCH:
 * it is another build than the one asked for. */
MUST_CHECK struct kin_error *object_open(const char *path, const struct object_opts *opts,
					 struct object_file **ret);
/* The code that the kernel maps into every process, if that of this machine has opts->build_id: an
 * error if not, or if that is not given. */
MUST_CHECK struct kin_error *object_open_vdso(const struct object_opts *opts,
					      struct object_file **ret);
/* That which opts->debuginfod has of opts->build_id, as `path`. NULL: it has none, or is not to be
 * asked. */
struct object_file *object_open_fetched(const char *path, const struct object_opts *opts);
/* One that answers from what a recording keeps of it (names/kept.h), which must outlive it. What
 * was not kept is as if the file did not have it. */
struct object_file *object_of_kept(const struct kept_object *kept);
void object_free(struct object_file *o); /* NULL is fine */
/* Writes into the user's cache what it was asked and had to find out, if it was opened so. Where
 * that cannot be, it is left. */
void object_remember(struct object_file *o);

/* The text of a source file that its debug information names, as a debuginfod server has it; to be
 * freed with source_done(). False: none is asked, or has it. */
bool object_fetch_source(struct object_file *o, const char *path, struct source_text *ret);

/* Why something that the file or its debug file does hold could not be read, though asked for: no
 * memory, a failing disk. NULL if that never happened. What is merely missing or damaged is no
 * trouble; what was answered meanwhile lacks it. */
MUST_CHECK struct kin_error *object_trouble(const struct object_file *o);

const char *object_path(const struct object_file *o);
bool object_is_64bit(const struct object_file *o);
bool object_big_endian(const struct object_file *o);
const char *object_machine(const struct object_file *o);  /* BFD's name: "i386:x86-64", "aarch64" */
uint32_t object_elf_machine(const struct object_file *o); /* e_machine */
const char *object_build_id(const struct object_file *o); /* hex, or NULL */
/* What it answers from; NULL: from its file. */
const struct kept_object *object_kept(const struct object_file *o);

struct address_range {
	uint64_t low, high; /* [low, high) */
};
struct address_ranges { /* a VEC */
	struct address_range *at;
	size_t n, cap;
};
struct address_range object_text(const struct object_file *o); /* .text; {0, 0} if there is none */
/* What mcount's runtime covers: [__executable_start, etext), {0, 0} if these are not known. */
struct address_range object_profiled(const struct object_file *o);
/* Whether its code is at hand: not where only names were kept. */
bool object_has_code(const struct object_file *o);
/* Bytes of code from addr on, to the end of its section at most; NULL if there are none. */
const uint8_t *object_code(const struct object_file *o, uint64_t addr, size_t *size);
/* The same, `wanted` bytes at most: no more of the file is read. */
const uint8_t *object_code_part(const struct object_file *o, uint64_t addr, size_t wanted,
				size_t *size);

/* ---- symbols (symtab.c) ---- */

enum symbol_flags {
	SYMBOL_FUNCTION = 1, /* STT_FUNC (or said to be one by the rules below) */
	SYMBOL_STATIC = 2,   /* local binding */
	SYMBOL_WEAK = 4,
	SYMBOL_PLT = 8,       /* made up for a procedure linkage table entry: "puts@plt" */
	SYMBOL_COLD = 16,     /* "f.cold": a piece of the function `owner` */
	SYMBOL_NAMELESS = 32, /* no symbol at all: made up from call-frame information */
};

struct object_symbol {
	uint64_t addr, end; /* [addr, end): up to the next symbol, or the end of its section */
	const char *name;   /* as in the file: not demangled */
	uint32_t owner;     /* index of the function this is a piece of; its own index for others */
	uint32_t flags;     /* enum symbol_flags */
	uint32_t position;  /* in the file's symbol table: of the first accepted symbol at addr */
};

struct symtab_opts {
	bool no_static;      /* gprof -a */
	bool functions_only; /* gprof -D */
	/* A symbol that says its size ends there, and of a stripped file the functions that only
	 * unwinders know have places, too. */
	bool exact;
	bool no_dotted; /* BSD gprof -u: no names with a dot, but for pieces */
	/* Which symbols count and which alias wins; then there are no entries of the linkage table,
	 * no pieces with owners, and `exact` and `no_dotted` mean nothing. NULL: our rules, written
	 * down at the top of symtab.c. */
	const struct symbol_rules *rules;
	const void *rules_arg; /* what the rules want to know, or NULL */
	const char *external;  /* gprof -S: nm-like text file to take the symbols from, or NULL */
	/* Only symbols that one of these addresses is in, what they are pieces of, and the first
	 * and the last: of large files not many more are wanted. NULL: all. */
	const uint64_t *hits;
	size_t n_hits;
};

struct symbol_table {
	struct object_symbol *at; /* by address; one per address; to be freed with free() */
	size_t n;
};

/* The index of the symbol that covers addr; NONE: none does. */
uint32_t symbol_covering(const struct symbol_table *t, uint64_t addr);

/* Variables that say their size, by address, one per address (data.c): at, to be freed, may be
 * NULL; of `owner` and `flags` nothing is known. */
void object_variables(struct object_file *o, struct symbol_table *ret);

MUST_CHECK struct kin_error *object_symbols(struct object_file *o, const struct symtab_opts *opts,
					    struct symbol_table *ret);

/* What the file's own tables take in memory when its symbols have been read, at most. */
uint64_t object_table_bytes(const struct object_file *o);

/* All names that functions have, also those that are not shown for their address. Reads the symbols
 * anew, and keeps nothing. */
void object_for_each_name(struct object_file *o,
			  void (*see)(void *arg, const char *name, uint64_t addr), void *arg);

/* ---- source lines (lines.c) ---- */

struct srcloc {
	const char *function; /* as DWARF names it (linkage name if any), or NULL */
	const char *file;     /* NULL if unknown */
	uint32_t line;        /* 0 if unknown */
};

/* Who says what line an address is of (line_rules.h); its answers may depend on what was asked
 * before. NULL: we do. */
struct line_rules;

/* The file and line of addr; the function is NULL, or not: what cost nothing to find out. Returns
 * false if unknown, *ret untouched. Cost: a binary search, plus decoding the unit of addr the first
 * time. */
bool object_place(struct object_file *o, uint64_t addr, const struct line_rules *rules,
		  struct srcloc *ret);

struct line_run { /* consecutive addresses of one (function, file, line) */
	uint64_t addr, end;
	struct srcloc at;
};
/* All runs within [low, high), by address, *n of them, freed with free(). Those that touch differ.
 */
struct line_run *object_line_runs(struct object_file *o, struct address_range range,
				  const struct line_rules *rules, size_t *n);

struct line_start {
	uint64_t addr;
	bool has_line;     /* false: the compiler says that the code is of no line */
	bool is_optimized; /* as far as the unit tells */
};
/* Where rows of the line table begin within [low, high), also of the line before: ascending,
 * possibly repeated, *n of them, freed with free(). */
struct line_start *object_line_rows(struct object_file *o, struct address_range range, size_t *n);

/* The same, not `gnu`, where several ranges are of interest, by address and not overlapping: of
 * what lies between them there may be some runs, or none. Units without code in them are not
 * decoded. */
struct line_run *object_line_runs_of(struct object_file *o, const struct address_range *ranges,
				     size_t n_ranges, size_t *n);

/* Whether the file has line information at all. */
bool object_has_lines(struct object_file *o);

/* Whether debug information is at hand, in the file or a debug file of it: a quicker question. */
bool object_has_dwarf(struct object_file *o);

/* ---- call frames and loading (frames.c) ---- */

struct object_section {
	const uint8_t *data; /* NULL if there is none */
	size_t size;
	uint64_t addr; /* as linked */
};
/* Where call-frame information is. Little-endian 64-bit objects only; else all is empty. */
struct object_frames {
	struct object_section eh_frame, eh_frame_hdr; /* of the file itself */
	struct object_section debug_frame;            /* unpacked; else of its debug file */
	uint64_t text_addr, data_addr; /* .text and .got: what pointers may be relative to */
};
struct object_frames object_frames(struct object_file *o);

struct object_segment { /* PT_LOAD: file bytes [offset, offset + file_size) go to addr */
	uint64_t addr, size, offset, file_size;
	bool executable;
};
/* All of them, as in the file, *n; lives as long as o. Where a mapping of file offset `x` lies at
 * address `a`, the bias (run-time minus link-time address) is a - x - (addr - offset) of the
 * segment that holds x. */
const struct object_segment *object_segments(struct object_file *o, size_t *n);

/* ---- inlined functions (inlines.c) ---- */

struct object_inline {
	uint32_t address; /* which of those asked for */
	uint32_t depth;   /* larger: further in */
	const char *name; /* as in the debug information: mangled if it says so; never NULL */
};
/* The functions inlined at each of `n` ascending addresses: by address, innermost first. *count of
 * them, freed with free(). Units that hold none of the addresses are not decoded. */
struct object_inline *object_inlines(struct object_file *o, const uint64_t *addrs, size_t n,
				     size_t *count);

/* ---- names (demangle.c) ---- */

enum demangle_style {
	DEMANGLE_NONE,
	DEMANGLE_AUTO,
	DEMANGLE_GNU_V3,
	DEMANGLE_JAVA,
	DEMANGLE_GNAT,
	DEMANGLE_DLANG,
	DEMANGLE_RUST,
	DEMANGLE_SHORT, /* auto, without parameters and what functions return: "app::sort<int>" */
	DEMANGLE_TIDY   /* auto, without the template arguments that nobody wrote: "std::string";
			   and gfortran's "linalg::norm" */
};
bool demangle_style_find(const char *name, enum demangle_style *ret); /* false if there is none */
/* The readable form, allocated with malloc; NULL if name is not mangled (or the form would be
 * absurdly long). */
char *demangle(const char *name, enum demangle_style style);

/* ---- code (disasm.c) ---- */

/* Bytes of the instruction at addr, *size of them, as long as the object lives; NULL: no code is
 * there, or it is of a machine that is not known, or takes capstone, which is not here. */
const uint8_t *object_instruction(struct object_file *o, uint64_t addr, size_t *size);

struct object_code { /* bytes[0] is at addr */
	const uint8_t *bytes;
	size_t n; /* up to the end of the section: an instruction may reach beyond the range */
	uint64_t addr, high;
};
/* What is a call, for programs that have it otherwise than the disassembler. */
struct call_rules {
	/* Calls call(site, target, arg) for each that starts before c->high. False if the machine
	 * (EM_) is not known, which is asked with no code as well. */
	bool (*scan)(uint16_t machine, const struct object_code *c,
		     void (*call)(uint64_t site, uint64_t target, void *arg), void *arg);
};
/* Direct calls in [low, high): call(target, arg) for each, in address order; with rules, those in
 * .text. `rules`: NULL: what the disassembler (capstone) says. Returns false if the machine is not
 * supported. */
bool object_calls(struct object_file *o, uint64_t low, uint64_t high,
		  const struct call_rules *rules,
		  void (*call)(uint64_t site, uint64_t target, void *arg), void *arg);
/* Why object_calls() failed, if it is not the machine: the disassembler is not installed. Else
 * NULL. */
const char *object_calls_problem(const struct object_file *o);

struct object_instruction {
	uint64_t addr;
	const uint8_t *bytes; /* [size] */
	size_t size;
	const char *mnemonic, *operands; /* valid during the call; ".byte" for what is none */
};
/* The instructions of [low, high), which lies in one section, in order. False, and
 * object_calls_problem() as above, if the machine is not supported (x86 and aarch64 are). `intel`:
 * x86 in that syntax, not in that of AT&T. */
bool object_instructions(struct object_file *o, uint64_t low, uint64_t high, bool intel,
			 void (*add)(const struct object_instruction *insn, void *arg), void *arg);

/* ---- where control goes (steps.c) ---- */

struct object_step { /* an instruction; the rest as in struct machine_step */
	uint64_t addr, target;
	uint32_t size;
	enum step_kind kind;
	bool ends_call;
};
/* The instructions of [low, high); false as with object_instructions(). */
bool object_steps(struct object_file *o, uint64_t low, uint64_t high,
		  void (*add)(const struct object_step *step, void *arg), void *arg);
/* Where the table at at.low, which ends by at.high, lets a switch jump to: its entries up to the
 * first that is not in `range`, and their number. `is_relative`: they are 32-bit differences to the
 * table's address. */
size_t object_jump_table(struct object_file *o, struct address_range at, bool is_relative,
			 struct address_range range, void (*add)(uint64_t target, void *arg),
			 void *arg);

/* The size of the direct call at addr, and where it goes; 0: there is none, or the machine is not
 * known. */
size_t object_call_at(const struct object_file *o, uint64_t addr, uint64_t *target);
/* Whether a call may be what stands before addr; false only where there is code of a known machine
 * that is none. */
bool object_call_ends_at(const struct object_file *o, uint64_t addr);

#endif

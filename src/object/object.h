/* object.h - one ELF file: symbols, code, source lines. Knows nothing about profiles.
 *
 * Returned pointers live until object_free(). Lookups that need DWARF decode a unit at its first
 * use, hence the non-const argument. One object may be used by one thread at a time. */
#ifndef OBJECT_OBJECT_H
#define OBJECT_OBJECT_H

#include "base/base.h"
#include "machine/machine.h"

struct kin_error;
struct debuginfod;
struct go_table;
struct kept_object;
struct object_file;
struct source_text;
struct unwind_table;

struct object_opts {
	const char *debug_dir; /* NULL: /usr/lib/debug */
	bool no_debug_files;   /* symbols only from the file itself; lines from debug files, too */
	/* Root folder of the path and of debug files, which are also looked for under the names
	 * they are given; NULL: / */
	const char *symfs;
	const char *build_id; /* in hex: the build id that the file must have; NULL, "": any */
	struct debuginfod
		*debuginfod; /* source of debug files that are missing here; borrowed; NULL: none */
	/* Keep lookups in the user's cache (answered.h), from which the next object of the same
	 * file answers. See object_remember(). */
	bool remembers;
};

/* Error messages say what is wrong (not an ELF file, no .text ...). An object without symbols
 * opens; object_symbols() then finds none. If the file is gone or is another build than requested,
 * the copy of that build that perf may keep in ~/.debug is opened. KIN_ERROR_MISMATCH: it is
 * another build than requested. */
MUST_CHECK struct kin_error *object_open(const char *path, const struct object_opts *opts,
					 struct object_file **ret);
/* Opens the vdso of this machine, if it has opts->build_id: an error if not, or if no build id is
 * given. */
MUST_CHECK struct kin_error *object_open_vdso(const struct object_opts *opts,
					      struct object_file **ret);
/* Opens the file of build opts->build_id from opts->debuginfod, as `path`. NULL: the servers do not
 * have it, or there are none. */
struct object_file *object_open_fetched(const char *path, const struct object_opts *opts);
/* An object that answers from the names in a recording (names/kept.h), which must outlive it. What
 * was not kept counts as missing from the file. */
struct object_file *object_of_kept(const struct kept_object *kept);
void object_free(struct object_file *o); /* NULL is fine */
/* Writes new lookups into the user's cache, if the object was opened so. Failures are ignored. */
void object_remember(struct object_file *o);

/* The text of a source file named by debug information, from debuginfod; to be freed with
 * source_done(). False: there are no servers, or they do not have it. */
bool object_fetch_source(struct object_file *o, const char *path, struct source_text *ret);

/* Why data that the file or its debug file does hold could not be read: out of memory, a failing
 * disk. NULL if that never happened. Missing or damaged data is no trouble. Answers given meanwhile
 * lack the data. */
MUST_CHECK struct kin_error *object_trouble(const struct object_file *o);

/* A file to which a part of the debug information was moved, which a lookup needed and did not
 * find; as the debug information names it. NULL: there is none. *shared: dwz made it, for several
 * objects; otherwise it is that of a unit compiled with -gsplit-dwarf. */
const char *object_missing_part(const struct object_file *o, bool *shared);

const char *object_path(const struct object_file *o);
/* The file that is read, which is perf's copy where another file is at the path now; and when it
 * was last changed, in ns since 1970. If the file is gone and has no build id, the recording knows
 * the time. 0: not known. */
const char *object_read_path(const struct object_file *o);
uint64_t object_modified_ns(const struct object_file *o);
bool object_is_64bit(const struct object_file *o);
bool object_big_endian(const struct object_file *o);
const char *object_machine(const struct object_file *o);  /* BFD's name: "i386:x86-64", "aarch64" */
uint32_t object_elf_machine(const struct object_file *o); /* e_machine */
/* Whether its code can be decoded. If not, it has names and lines, but neither calls nor
 * instructions. */
bool object_is_of_known_machine(const struct object_file *o);
bool object_knows_machine(uint32_t elf); /* the same, for files with this e_machine */
/* Whether functions that are not exported have lost their names: neither the file nor one of its
 * debug files has a full symbol table. */
bool object_is_stripped(struct object_file *o);
const char *object_build_id(const struct object_file *o); /* hex, or NULL */
/* The kept names that it answers from; NULL: it answers from its file. */
const struct kept_object *object_kept(const struct object_file *o);

struct address_range {
	uint64_t low, high; /* [low, high) */
};
struct address_ranges { /* a VEC */
	struct address_range *at;
	size_t n, cap;
};
struct address_range object_text(const struct object_file *o); /* .text; {0, 0} if there is none */
/* The range that mcount's runtime covers: [__executable_start, etext); {0, 0} if it is not known.
 */
struct address_range object_profiled(const struct object_file *o);
/* Whether its code is available: not if only names were kept. */
bool object_has_code(const struct object_file *o);
/* Bytes of code from addr on, at most to the end of its section; NULL if there are none. */
const uint8_t *object_code(const struct object_file *o, uint64_t addr, size_t *size);
/* The bytes before addr: as many as a call can have, or all there are; NULL if there are none. */
const uint8_t *object_code_before(const struct object_file *o, uint64_t addr, size_t *size);
/* The same as object_code(), but at most `wanted` bytes: no more of the file is read. */
const uint8_t *object_code_part(const struct object_file *o, uint64_t addr, size_t wanted,
				size_t *size);

/* ---- symbols (symtab.c) ---- */

enum symbol_flags {
	SYMBOL_FUNCTION = 1, /* STT_FUNC (or a function by the rules below) */
	SYMBOL_STATIC = 2,   /* local binding */
	SYMBOL_WEAK = 4,
	SYMBOL_PLT = 8,       /* made for a procedure linkage table entry: "puts@plt" */
	SYMBOL_COLD = 16,     /* "f.cold": a split part of the function `owner` */
	SYMBOL_NAMELESS = 32, /* has no symbol: made from call-frame information */
};

struct object_symbol {
	uint64_t addr, end; /* [addr, end): up to the next symbol, or the end of its section */
	const char *name;   /* as in the file: not demangled */
	uint32_t owner; /* index of the function this is a split part of; otherwise its own index */
	uint32_t flags; /* enum symbol_flags */
	uint32_t position; /* index in the file's symbol table, of the first accepted symbol at addr
			    */
};

struct symtab_opts {
	bool no_static;      /* gprof -a */
	bool functions_only; /* gprof -D */
	/* Symbols with a size end there; in a stripped file, functions known only from call-frame
	 * information are included. */
	bool exact;
	bool no_dotted; /* BSD gprof -u: no names with a dot, except split parts */
	/* Rules for which symbols count and which alias is shown; with rules there are no entries
	 * of the linkage table and no split parts with owners, and `exact` and `no_dotted` have no
	 * effect. NULL: our rules, at the top of symtab.c. */
	const struct symbol_rules *rules;
	const void *rules_arg; /* argument of the rules, or NULL */
	const char *external;  /* gprof -S: nm-like text file to take the symbols from, or NULL */
	/* Keep only symbols that contain one of these addresses, their owners, and the first and
	 * the last: large files have few of interest. NULL: all. */
	const uint64_t *hits;
	size_t n_hits;
};

struct symbol_table {
	struct object_symbol *at; /* by address; one per address; to be freed with free() */
	size_t n;
};

/* The index of the symbol that contains addr; NONE if none does. */
uint32_t symbol_covering(const struct symbol_table *t, uint64_t addr);

/* Bytes of symbol tables (object_table_bytes) from which on only symbols that were hit are read, as
 * reading all takes longer than most reports. */
enum { SYMBOLS_LARGE = 1 << 20 };

/* Marks in marked[t->n] also the static functions that have the name of a marked one: such
 * functions are shown with their source files. For tables that are not large. */
void symbol_mark_namesakes(const struct symbol_table *t, bool *marked);

/* Variables with a size, by address, one per address (data.c). ret->at, to be freed, may be NULL;
 * `owner` and `flags` are not set. */
void object_variables(struct object_file *o, struct symbol_table *ret);

MUST_CHECK struct kin_error *object_symbols(struct object_file *o, const struct symtab_opts *opts,
					    struct symbol_table *ret);

/* An upper bound for the memory of the file's own tables once its symbols have been read. */
uint64_t object_table_bytes(const struct object_file *o);

/* Calls see() with all names of functions, including aliases that are not shown. Reads the symbols
 * anew and keeps nothing. */
void object_for_each_name(struct object_file *o,
			  void (*see)(void *arg, const char *name, uint64_t addr), void *arg);

/* ---- source lines (lines.c) ---- */

struct srcloc {
	const char *function; /* as DWARF names it (linkage name if any), or NULL */
	const char *file;     /* NULL if unknown */
	uint32_t line;        /* 0 if unknown */
};

/* Rules for the line of an address (line_rules.h); answers may depend on earlier requests. NULL:
 * our own. */
struct line_rules;

/* The file and line of addr; the function only if it is known at no cost, else NULL. False if
 * unknown, with *ret untouched. Cost: a binary search, plus decoding the unit of addr the first
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

/* As object_line_runs(), but for several ranges, by address and disjoint, each in one function, and
 * only by our own rules. If only names were kept, runs between the ranges may be included. Units
 * and functions without code in the ranges are not read. */
struct line_run *object_line_runs_of(struct object_file *o, const struct address_ranges *in,
				     size_t *n);

/* Whether the file has line information at all. */
bool object_has_lines(struct object_file *o);

/* The compiler that made the code at addr, with the options that it says: "GNU C17 12.2.0 -O2 -g".
 * NULL: not known. Lives as long as o. */
const char *object_producer(struct object_file *o, uint64_t addr);

/* Whether debug information is available, in the file or its debug file: cheaper than
 * object_has_lines(). */
bool object_has_dwarf(struct object_file *o);

/* Calls see() with the name of each file, an absolute path, to which a program compiled with
 * --coverage adds its counters (counter_files.c); the path lives as long as o. None without line
 * information in the file itself. */
void object_for_each_counter_file(struct object_file *o, void (*see)(void *arg, const char *path),
				  void *arg);

/* ---- call frames and loading (frames.c) ---- */

struct object_section {
	const uint8_t *data; /* NULL if there is none */
	size_t size;
	uint64_t addr; /* as linked */
};
/* The sections of call-frame information. Only for little-endian 64-bit objects; otherwise all are
 * empty. */
struct object_frames {
	struct object_section eh_frame, eh_frame_hdr; /* of the file itself */
	struct object_section debug_frame; /* unpacked; from its debug file if the file has none */
	struct object_section symbols, strings; /* the file's own: .symtab, else .dynsym */
	bool is_stripped;                       /* there is no .symtab */
	uint64_t text_addr, data_addr; /* .text and .got: what pointers may be relative to */
	uint64_t entry;                /* where the program starts; 0: it is a library */
	uint64_t loader_entry; /* the same of a library that the kernel may start: code_file.h */
	const struct go_table *go; /* NULL: it is no program of Go */
};
struct object_frames object_frames(struct object_file *o);
/* The rules by which stacks are walked in its code (unwind_table.h), to be freed; NULL: there are
 * none. `not_followed`: code_file.h. */
struct unwind_table *object_unwind_table(struct object_file *o, const struct machine *m,
					 bool not_followed);
/* The i-th section with code, by address; {0, 0} behind the last. */
struct address_range object_code_section(const struct object_file *o, size_t i);
struct object_segment { /* PT_LOAD: file bytes [offset, offset + file_size) go to addr */
	uint64_t addr, size, offset, file_size;
	bool executable;
};
/* All load segments, as in the file, *n; lives as long as o. If file offset `x` is mapped at
 * address `a`, the bias (run-time minus link-time address) is a - x - (addr - offset) of the
 * segment that contains x. */
const struct object_segment *object_segments(struct object_file *o, size_t *n);

/* ---- inlined functions (inlines.c) ---- */

struct object_inline {
	uint32_t address;      /* index of the requested address */
	uint32_t depth;        /* larger: further in */
	const char *name;      /* as in the debug information: mangled if it says so; never NULL */
	const char *call_file; /* where it is called, in the next function further out; NULL: not
				* known */
	uint32_t call_line;
};
/* The functions inlined at each of `n` ascending addresses: by address, innermost first. *count of
 * them, freed with free(). Units without any of the addresses are not decoded. */
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
	DEMANGLE_SHORT, /* auto, without parameters and return type: "app::sort<int>" */
	DEMANGLE_TIDY   /* auto, without default template arguments: "std::string"; and gfortran's
			   "linalg::norm" */
};
bool demangle_style_find(const char *name, enum demangle_style *ret); /* false if there is none */
/* The readable form, allocated with malloc; NULL if name is not mangled (or the form would be
 * absurdly long). */
char *demangle(const char *name, enum demangle_style style);

/* ---- code (disasm.c) ---- */

/* The instruction at addr, *size bytes; lives as long as the object. NULL: there is no code, the
 * machine is unknown, or it needs capstone, which is not installed. */
const uint8_t *object_instruction(struct object_file *o, uint64_t addr, size_t *size);

struct object_code { /* bytes[0] is at addr */
	const uint8_t *bytes;
	size_t n; /* up to the end of the section: an instruction may reach beyond the range */
	uint64_t addr, high;
};
/* Rules for what is a call, for programs that differ from the disassembler. */
struct call_rules {
	/* Calls call(site, target, arg) for each call that starts before c->high. False if the
	 * machine (EM_) is unknown; may be called without code to test that. */
	bool (*scan)(uint16_t machine, const struct object_code *c,
		     void (*call)(uint64_t site, uint64_t target, void *arg), void *arg);
};
/* Calls call(site, target, arg) for each direct call in [low, high), in address order; with rules,
 * only those in .text. `rules` NULL: calls are those of the disassembler (capstone). False if the
 * machine is not supported. */
bool object_calls(struct object_file *o, uint64_t low, uint64_t high,
		  const struct call_rules *rules,
		  void (*call)(uint64_t site, uint64_t target, void *arg), void *arg);
/* Why object_calls() failed, if not because of the machine: the disassembler is not installed.
 * Otherwise NULL. */
const char *object_calls_problem(const struct object_file *o);

struct object_instruction {
	uint64_t addr;
	const uint8_t *bytes; /* [size] */
	size_t size;
	const char *mnemonic,
		*operands; /* valid during the call; ".byte" for bytes that are no instruction */
};
/* Decodes the instructions of [low, high), which lies in one section, in order. False, with
 * object_calls_problem() as above, if the machine is not supported (x86 and aarch64 are, and RISC-V
 * with capstone 5). `intel`: x86 in Intel syntax instead of AT&T. */
bool object_instructions(struct object_file *o, uint64_t low, uint64_t high, bool intel,
			 void (*add)(const struct object_instruction *insn, void *arg), void *arg);

/* A hash of the code of [low, high), which lies in one section: equal for functions with the same
 * instructions, wherever they and the things they refer to are. 0: not known, or too short to tell
 * one function from another. */
uint64_t object_gist(struct object_file *o, uint64_t low, uint64_t high);

/* ---- where control goes (steps.c) ---- */

struct object_step { /* an instruction */
	uint64_t addr, target;
	uint32_t size;
	enum step_kind kind;
};
/* The instructions of [low, high); false as with object_instructions(). */
bool object_steps(struct object_file *o, uint64_t low, uint64_t high,
		  void (*add)(const struct object_step *step, void *arg), void *arg);
/* Whether the instruction right before addr is a direct call; its target. */
bool object_call_before(const struct object_file *o, uint64_t addr, uint64_t *target);
/* Calls add(site, target, arg) for each jump from [low, high) to code elsewhere. False: some jump
 * goes to an unknown place, the code goes on behind `high`, or some of it is not known. */
bool object_tail_calls(const struct object_file *o, uint64_t low, uint64_t high,
		       void (*add)(uint64_t site, uint64_t target, void *arg), void *arg);
/* Whether the code at addr is that by which a signal handler returns to what it interrupted. */
bool object_returns_from_signal(const struct object_file *o, uint64_t addr);

/* Whether the bytes before addr may be a call. False only if they are code of a known machine that
 * is no call. */
bool object_call_ends_at(const struct object_file *o, uint64_t addr);

#endif

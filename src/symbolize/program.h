/* program.h - names for everything in a profile: the places of all its objects in one list.
 *
 * Each sampled object of the profile is opened once and gets a range of one *flat* address space,
 * in which the places of all objects lie side by side as a struct symbols. Frames without a symbol
 * get places of their own after them: those whose names are in the data (folded stacks, JIT code,
 * the kernel), and those without a name, one per address. So each frame has exactly one place, and
 * an analysis of places covers them all.
 *
 * Objects that cannot be opened, or are not the builds that ran, get their names from the recording
 * (names/kept.h). If it has none that is no error: their frames stay unnamed, and
 * program_remarks() say why. */
#ifndef SYMBOLIZE_PROGRAM_H
#define SYMBOLIZE_PROGRAM_H

#include "base/remarks.h"
#include "profile/profile.h"
#include "symbolize/symbols.h"

struct program_files;

struct program_opts {
	struct program_files *files;   /* opened files; NULL: opened for this program alone */
	const char *debug_dir;         /* NULL: /usr/lib/debug */
	const char *symfs;             /* root folder of objects' paths; NULL: / */
	struct debuginfod *debuginfod; /* as in object_opts */
	const char *kallsyms; /* kernel symbols in the format of /proc/kallsyms; NULL: only those in
				 the data */
	bool lines;           /* a place per source line */
	bool call_lines;      /* with lines: program_lines() has those of inlined calls, too */
	/* With `lines`: the line of each frame, [n_frames], where it is not that of its address;
	 * file NULL: it is. Needed until the program is made. NULL: all are. */
	const struct srcloc *lines_of;
	bool linker_lines; /* lines belong to linkage functions, not to inlined ones */
	bool no_inlines;   /* program_inlines() finds none; saves decoding debug information */
	bool hit_only; /* leave out functions that were not hit; otherwise only large files leave
			  them out */
	bool group_unknown; /* code without a name is one place per object, "[libfoo.so]" */
	bool by_appearance; /* places are in the data's order, as perf's rows; otherwise by path and
			       name: equal rows are in the order of places */
	enum demangle_style style;
};

enum place_kind {
	PLACE_SYMBOL,  /* from an object's symbol table */
	PLACE_NAMED,   /* named by the data */
	PLACE_UNKNOWN, /* an address; shown as such */
	PLACE_INLINED, /* an inlined function, named by debug information */
	PLACE_CALL,    /* a line that calls an inlined function: symbol.is_call */
};

struct program;

/* The opened files of a profile's objects, and the kernel's names, shared by several programs.
 * Files are opened when a program first needs them. Must outlive the programs. */
struct program_files *program_files_new(const struct profile *p);
void program_files_free(struct program_files *f); /* NULL is fine */

/* `main_object`, borrowed, may be NULL; it serves object 0 and the objects that equal it by path or
 * build id. Cannot fail: missing files leave frames without names. */
struct program *program_new(const struct profile *p, struct object_file *main_object,
			    const struct program_opts *opts);
void program_free(struct program *g); /* NULL is fine */
/* Whether `given`, as `main_object`, serves the object, which is not object 0. */
bool program_is_given(const struct profile *p, objid object, const struct object_file *given);

struct symbols *program_symbols(struct program *g); /* lives as long as g */

/* The flat address of an object's address, as used in arcs and histograms. */
uint64_t program_flat(const struct program *g, objid object, uint64_t addr);

/* The same for the return address of a counted call: if a function that was inlined there makes the
 * call, that function's flat address. */
uint64_t program_flat_caller(const struct program *g, objid object, uint64_t addr);

/* The place of a frame; NONE only for frame 0. Constant time: all frames are looked up once, by
 * address. */
symid program_place(const struct program *g, frameid frame);
const symid *program_places(const struct program *g); /* all of them: [n_frames] */
/* An address within the frame's instruction; for a return address that is the call. */
uint64_t program_instruction(const struct program *g, frameid frame);
/* The code of the frame's instruction, *size bytes; NULL: it is not available. Valid as long as g.
 */
const uint8_t *program_code(const struct program *g, frameid frame, size_t *size);
/* The same for an address in an object. `branches`, if not NULL, is set to whether control may go
 * elsewhere than to the next instruction. */
const uint8_t *program_code_at(const struct program *g, objid object, uint64_t addr, size_t *size,
			       bool *branches);
/* The place at an address outside of stacks; NONE: no symbol there. */
symid program_find(const struct program *g, objid object, uint64_t addr);

enum place_kind program_kind(const struct program *g, symid place);
/* Whether it stands for missing callers and is no function: MARK_CUT, MARK_INTERRUPTED. */
bool program_is_no_caller(const struct program *g, symid place);
objid program_object(const struct program *g, symid place);
const char *program_object_name(const struct program *g, objid object); /* path, or what is known */
/* The name for an object's code without names, "[libfoo.so]"; to be freed. */
char *program_object_code(const struct program *g, objid object);
struct object_file *program_object_file(const struct program *g,
					objid object); /* NULL: not opened */

/* The start of the place in its object's addresses, as in frames; 0 if it is not known. */
uint64_t program_start(const struct program *g, symid place);

/* False: the object's addresses were made up for names that came without (a store, callgrind), so
 * that offsets in functions, and their sizes, are not known. */
bool program_has_offsets(const struct program *g, objid object);

/* The size of the place in bytes; 0 if it is not known. */
uint64_t program_size(const struct program *g, symid place);

/* The demangled name; "0x0000000000401136" for a place without a name. Lives as long as g. */
const char *program_name(struct program *g, symid place);

/* The functions inlined at a frame's address, innermost first, without the function they are in; *n
 * of them; valid as long as g. Each is a place of kind PLACE_INLINED, interned by name and by the
 * function that it was inlined into. Of places with the same readable name in an object
 * the first is the owner. */
const symid *program_inlines(struct program *g, frameid frame, size_t *n);

/* Whether functions are inlined at the innermost frame of a sample: then its stack has callers,
 * even if it has one frame. `s`: samples of the program's profile, or of a part of it. */
bool program_has_inlined(const struct program *g, const struct samples *s);

/* Whether the place is an inlined instance of a function, by debug information or by the data;
 * always false with the option no_inlines. */
bool program_is_inlined(const struct program *g, symid place);
bool program_folds(const struct program *g); /* it was made with no_inlines */

/* With the option lines: the places of the lines that a frame is in, *n of them: that of its code,
 * and those that call the functions inlined there. Valid as long as g. */
const symid *program_lines(const struct program *g, frameid frame, size_t *n);

/* The source line of a frame's address (the call, for return addresses), in its innermost inlined
 * function. False if it is not known. */
bool program_line(struct program *g, frameid frame, struct srcloc *ret);
/* The line of the call of program_inlines()[i]; ret->function is not set. */
bool program_call_line(const struct program *g, frameid frame, size_t i, struct srcloc *ret);

/* The same in the function that `depth` others are inlined into at the frame: the line that calls
 * the outermost of these. 0: as program_line(). */
bool program_line_at(struct program *g, frameid frame, size_t depth, struct srcloc *ret);

/* Leaves out some functions of a frame: keeps[i] is for the i-th function inlined there, the last
 * for the function that these are in. Some are kept. From then on the outermost of them is the
 * frame's place, and its line is in the innermost. */
void program_keep(struct program *g, frameid frame, const bool *keeps);

/* What there is to say of where names come from, each about an object. Warnings: objects that could
 * not be read, "libfoo.so: its code has no names: no such file"; a doubt, too, if an existing file
 * was not read, or if more than 1 % of the samples are in the object and have no name. Origins:
 * objects whose names came from the recording, and why: "libfoo.so (no such file)". */
const struct remarks *program_remarks(const struct program *g);
/* Adds failures since the program was made: most of a file is read at its first use. */
void program_look_for_troubles(struct program *g);
/* The number of objects that are another build of an earlier object with the same path. Functions
 * of the same name in both are one; the first is the owner. */
size_t program_n_joined(const struct program *g);
objid program_joined_at(const struct program *g, size_t i);
/* Whether debuginfod is used for missing files; whether the files are not those of this machine
 * (symfs). */
const struct debuginfod *program_servers(const struct program *g);
bool program_is_elsewhere(const struct program *g);
/* The number of samples whose program counter was in the object and has no name: for the audit. */
uint64_t program_unnamed(const struct program *g, objid object);
/* Whether the code of the frame has no name. */
bool program_is_unnamed(const struct program *g, frameid frame);

/* The arcs, histograms and blocks with flat addresses, all in object 0, for analyses of a single
 * list of places. Without the samples: frames have places. To be freed; p may be freed first. */
struct profile *program_flatten(const struct program *g, const struct profile *p);

#endif

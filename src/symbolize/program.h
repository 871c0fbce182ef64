/* program.h - names for everything in a profile: the places of all its objects in one row.
 *
 * Each object of the profile that was hit is opened once and gets a stretch of one *flat* address
 * space, in which the places of all objects lie side by side as a struct symbols. Frames that no
 * object has a symbol for get places of their own behind them: those whose names are in the data
 * (folded stacks, code made at run time, the kernel), and those that nobody can name, one per
 * address. So each frame has exactly one place, and every analysis that knows places knows them
 * all.
 *
 * Objects that cannot be opened, or are not the ones that ran (other build id), are named by what
 * the recording keeps of them (names/kept.h). Where it keeps nothing that is no error, either:
 * their frames stay unnamed, and program_trouble_at() says why. */
#ifndef SYMBOLIZE_PROGRAM_H
#define SYMBOLIZE_PROGRAM_H

#include "profile/profile.h"
#include "symbolize/symbols.h"

struct program_files;

struct program_opts {
	struct program_files *files;   /* where files are opened and kept; NULL: each by itself */
	const char *debug_dir;         /* NULL: /usr/lib/debug */
	const char *symfs;             /* paths of objects are below this folder; NULL: / */
	struct debuginfod *debuginfod; /* as in object_opts */
	const char *kallsyms; /* symbols of the kernel, in the format of /proc/kallsyms; NULL: only
			       * what is in the data */
	bool lines;           /* a place per source line */
	bool linker_lines;    /* these are of functions as the linker knows them */
	bool no_inlines;      /* program_inlines() finds none; saves decoding debug information */
	bool hit_only;        /* functions that were not hit have no places; without it those of
			       * large files alone have none */
	bool group_unknown;   /* what cannot be named is one place per object, "[libfoo.so]" */
	enum demangle_style style;
};

enum place_kind {
	PLACE_SYMBOL,  /* of an object's symbol table */
	PLACE_NAMED,   /* the data says its name */
	PLACE_UNKNOWN, /* an address; shown as such */
	PLACE_INLINED, /* a function that was inlined; the name is in the debug information */
};

struct program;

/* The files of a profile's objects, and the kernel's names: opened when a program first needs them,
 * for all that are made with it. Must outlive these. */
struct program_files *program_files_new(const struct profile *p);
void program_files_free(struct program_files *f); /* NULL is fine */

/* `main_object`, if not NULL, stands for object 0 and for those that are it by path or build id; it
 * is borrowed. Cannot fail: what is missing is missing. */
struct program *program_new(const struct profile *p, struct object_file *main_object,
			    const struct program_opts *opts);
void program_free(struct program *g); /* NULL is fine */

struct symbols *program_symbols(struct program *g); /* lives as long as g */

/* The flat address of an address in an object, as arcs and histograms have it. */
uint64_t program_flat(const struct program *g, objid object, uint64_t addr);

/* The same of an address that a counted call returns to: if the call is one of a function that was
 * inlined there, that function's. */
uint64_t program_flat_caller(const struct program *g, objid object, uint64_t addr);

/* The place of a frame: never NONE, except for frame 0. Constant time: all frames are looked up
 * once, by address. */
symid program_place(const struct program *g, frameid frame);
const symid *program_places(const struct program *g); /* all of them: [n_frames] */
/* An address within the instruction that the frame is at, which for a return address is the call.
 */
uint64_t program_instruction(const struct program *g, frameid frame);
/* The code of the instruction that a frame is at, *size bytes; NULL: it is not at hand. Valid as
 * long as g. */
const uint8_t *program_code(const struct program *g, frameid frame, size_t *size);
/* The same of an address in an object. `branches`, if not NULL, says whether control may go on
 * elsewhere than behind it. */
const uint8_t *program_code_at(const struct program *g, objid object, uint64_t addr, size_t *size,
			       bool *branches);
/* The same for an address that the profile has outside of stacks; NONE: no symbol there. */
symid program_find(const struct program *g, objid object, uint64_t addr);

enum place_kind program_kind(const struct program *g, symid place);
objid program_object(const struct program *g, symid place);
const char *program_object_name(const struct program *g, objid object); /* path, or what is known */
struct object_file *program_object_file(const struct program *g,
					objid object); /* NULL: not opened */

/* Where it begins, as frames of its object have addresses; 0 if that is not known. */
uint64_t program_start(const struct program *g, symid place);

/* Bytes of it; 0 if that is not known. */
uint64_t program_size(const struct program *g, symid place);

/* As a person reads it: demangled; "0x0000000000401136" for what has no name. Lives as long as g.
 */
const char *program_name(struct program *g, symid place);

/* The functions inlined at a frame's address, innermost first, without the function they are in;
 * *n of them; valid as long as g. Each is a place of kind PLACE_INLINED, interned by name and by
 * the function that it was inlined into; of those of one name in an object the first is the owner.
 */
const symid *program_inlines(struct program *g, frameid frame, size_t *n);

/* Whether the place is of a function where it was inlined: by debug information, or as the data
 * says; false for all if the options say no_inlines. */
bool program_is_inlined(const struct program *g, symid place);
bool program_folds(const struct program *g); /* they say no_inlines */

/* Source line of a frame's address (of the call, for return addresses); of its innermost inlined
 * function. False if not known. */
bool program_line(struct program *g, frameid frame, struct srcloc *ret);

/* Objects that were hit and could not be read as they were: "libfoo.so: no such file". */
struct program_trouble {
	char *text;
	objid object;
	/* Something that is there was not read, or more than a hundredth of the samples were in the
	 * object and have no name. */
	bool in_doubt;
};
size_t program_n_troubles(const struct program *g);
const struct program_trouble *program_trouble_at(const struct program *g, size_t i);
/* Adds what has failed since, as most of a file is read when it is first needed. */
void program_look_for_troubles(struct program *g);
/* Objects whose names are those that the recording keeps, and why: "libfoo.so (no such file)". */
size_t program_n_origins(const struct program *g);
const char *program_origin_at(const struct program *g, size_t i);
/* Objects of which there is another build before, with the same path: functions that have the same
 * name in both are one, whose owner is the first's. */
size_t program_n_joined(const struct program *g);
objid program_joined_at(const struct program *g, size_t i);
/* Whether debuginfod servers are asked for what is not at hand; whether the files are not those of
 * this machine (symfs). */
bool program_has_servers(const struct program *g);
bool program_is_elsewhere(const struct program *g);
/* Samples whose program counter was in the object, and has no name: for the audit. */
uint64_t program_unnamed(const struct program *g, objid object);

/* The arcs, histograms and blocks with flat addresses, and all of object 0: what analyses that know
 * one row of places take. Without the samples: frames have places. To be freed; p may go first. */
struct profile *program_flatten(const struct program *g, const struct profile *p);

#endif

/* kept.h - names that a recording keeps of its programs: enough to name all sampled code without
 * the files.
 *
 * Not files but answers: for each object the symbols, source lines and inlined functions at the
 * sampled addresses, as object/object.h gave them when the recording was made, and the tail calls
 * on its stacks, as symbolize/tail_ways.h found them. After "kin pack" also the code of the
 * functions and the text of their sources. object_of_kept() makes an object that answers from them.
 *
 * Entries are added in any order, also from several recordings; kept_sort() sorts them and drops
 * duplicates. After that it does not change any more, and is shared by reference counting. */
#ifndef NAMES_KEPT_H
#define NAMES_KEPT_H

#include "base/strtab.h"
#include "base/vec.h"

struct kept_symbol {        /* as struct object_symbol */
	uint64_t addr, end; /* [addr, end) */
	uint64_t owner;     /* start of the function it is a split part of; else addr */
	const char *name;   /* not demangled */
	uint32_t flags;     /* enum symbol_flags */
	uint32_t position;
};

struct kept_alias { /* a name of a function other than the one shown */
	uint64_t addr;
	const char *name;
};

struct kept_line { /* consecutive addresses of one source line */
	uint64_t addr, end;
	const char *function, *file; /* NULL: not known */
	uint32_t line;
};

struct kept_inline { /* one of the functions inlined at an address */
	uint64_t addr;
	uint32_t depth; /* larger: further in */
	const char *name;
	const char *call_file; /* where it is called; NULL: not known */
	uint32_t call_line;
};

struct kept_code {
	uint64_t addr; /* addr + size does not wrap */
	const char *bytes;
	size_t size; /* > 0 */
};

enum { KEPT_JUMPS_MAX = 16, KEPT_NO_WAY = 255 };
struct kept_tail_call { /* where a call leads to another function than the one that it names */
	uint64_t addr;  /* where the call returns to */
	uint64_t to;    /* start of the function that runs */
	/* Jumps on the way to it, KEPT_JUMPS_MAX at most; 0: it is not known; KEPT_NO_WAY: there is
	 * none, so the call did not make it run. */
	uint32_t n;
	uint64_t *jump; /* [kept_n_jumps()]: their addresses; owned */
};
static inline uint32_t kept_n_jumps(const struct kept_tail_call *t)
{
	return t->n == KEPT_NO_WAY ? 0 : t->n;
}

enum kept_flags {
	KEPT_64BIT = 1,
	KEPT_BIG_ENDIAN = 2,
	KEPT_LINES = 4, /* the file, or its debug file, has line information */
	KEPT_CODE = 8,  /* the code of the functions is here ("kin pack") */
	/* The addresses are made-up numbers instead of the file's, which must not be used. The
	 * build id ends in KEPT_NUMBERING digits, which differ where the numbers do. */
	KEPT_GIVEN = 16,
	KEPT_TAIL_CALLS = 32, /* all tail calls on the recording's stacks are here */
};
enum { KEPT_NUMBERING = 16 };

struct kept_object {
	const char *path;           /* as in the recording */
	const char *build_id;       /* in hex; "": none, and these two identify the build: */
	uint64_t size, modified_ns; /* of the file when names were read */
	uint32_t flags;             /* enum kept_flags */
	uint32_t machine;           /* e_machine of ELF */
	uint64_t text_low, text_high;
	uint64_t profiled_low, profiled_high; /* object_profiled() */
	uint64_t n_functions;                 /* in the file, kept or not */
	VEC(struct kept_symbol) symbols;      /* by address, one each */
	VEC(struct kept_alias) aliases;
	VEC(struct kept_line) lines;           /* by address, not overlapping */
	VEC(struct kept_inline) inlines;       /* by address, innermost first */
	VEC(struct kept_code) code;            /* by address */
	VEC(struct kept_tail_call) tail_calls; /* by `addr` and `to`, one each */
};

struct kept_source {
	const char *path;  /* as in debug information */
	const char *found; /* the path where it was found */
	const char *text;  /* [size], and a NUL; may hold NULs */
	size_t size;
};

struct kept {
	unsigned refs;
	struct strtab *strings;
	VEC(struct kept_object *) objects;
	VEC(struct kept_source) sources; /* by path */
	VEC(char *) owned;               /* bytes of code and sources */
};

struct kept *kept_new(void);
struct kept *kept_ref(struct kept *k); /* NULL is fine */
void kept_free(struct kept *k);        /* drops a reference; NULL is fine */

/* The object in k, which is added if it is missing. Objects are equal if path and build id are, or,
 * without a build id, size and time. */
struct kept_object *kept_add_object(struct kept *k, const struct kept_object *like);
const char *kept_string(struct kept *k, const char *s); /* interned: lives as long as k */
const char *kept_bytes(struct kept *k, const void *bytes, size_t n); /* a copy, with a NUL behind */
void kept_add_tail_call(struct kept_object *o, uint64_t addr, uint64_t to, const uint64_t *jump,
			uint32_t n);
/* Appends a piece of a source to its text. */
void kept_add_source(struct kept *k, const char *path, const char *found, const char *text,
		     size_t n);
/* Adds the sources of `from` that are missing. `from` may be NULL. */
void kept_add_sources(struct kept *into, const struct kept *from);
/* Adds everything in `from`. */
void kept_merge(struct kept *into, const struct kept *from);
void kept_sort(struct kept *k);

/* The object with that path and build id; build_id NULL or "": any build. NULL if there is none. */
const struct kept_object *kept_find(const struct kept *k, const char *path, const char *build_id);
/* The index of the function at an address, as a split part belongs to it; NONE: none is kept. */
uint32_t kept_function_at(const struct kept_object *o, uint64_t addr);
/* The index of the first tail call whose call returns to an address; NONE: there is none. */
uint32_t kept_tail_call_at(const struct kept_object *o, uint64_t addr);
/* The length of a build id without a numbering (KEPT_GIVEN): of this object's, or of one that need
 * not be in k, which may be NULL. */
size_t kept_id_length(const struct kept_object *o);
size_t kept_build_id_length(const struct kept *k, const char *path, const char *build_id);
const struct kept_source *kept_find_source(const struct kept *k, const char *path);
/* Whether the file there is the one that names were read from, by its size and time: for files
 * without a build id. */
bool kept_is_of_file(const struct kept_object *o, const char *path);

#endif

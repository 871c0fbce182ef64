/* kept.h - what a recording keeps of the programs it was made of: enough to name what was hit
 * without them.
 *
 * Answers, not files: of each object the symbols, source lines and inlined functions at the
 * addresses that were hit, as object/object.h gave them when the recording was made. After "kin
 * pack" also the code of the functions and the text of their sources. object_open_kept() makes an
 * object of it that answers the same questions.
 *
 * Built by adding in any order, also from several recordings; kept_sort() puts it in order and
 * drops what is there twice. Then it does not change any more, and is shared by counting
 * references. */
#ifndef NAMES_KEPT_H
#define NAMES_KEPT_H

#include "base/strtab.h"
#include "base/vec.h"

struct kept_symbol {        /* as struct object_symbol */
	uint64_t addr, end; /* [addr, end) */
	uint64_t owner;     /* where the function starts that it is a piece of; else addr */
	const char *name;   /* not demangled */
	uint32_t flags;     /* enum symbol_flags */
	uint32_t position;
};

struct kept_alias { /* a name of a function that is not the one shown */
	uint64_t addr;
	const char *name;
};

struct kept_line { /* consecutive addresses of one source line */
	uint64_t addr, end;
	const char *function, *file; /* NULL: not known */
	uint32_t line;
};

struct kept_inline { /* of the functions inlined at an address one */
	uint64_t addr;
	uint32_t depth; /* larger: further in */
	const char *name;
};

struct kept_code {
	uint64_t addr; /* addr + size does not wrap */
	const char *bytes;
	size_t size; /* > 0 */
};

enum kept_flags {
	KEPT_64BIT = 1,
	KEPT_BIG_ENDIAN = 2,
	KEPT_LINES = 4,  /* the file, or its debug file, has line information */
	KEPT_CODE = 8,   /* the code of the functions is here ("kin pack") */
	KEPT_GIVEN = 16, /* at addresses that are not those of the file, which is not to be asked */
};

struct kept_object {
	const char *path;           /* as in the recording */
	const char *build_id;       /* in hex; "": it has none, then: */
	uint64_t size, modified_ns; /* of the file when it was asked */
	uint32_t flags;             /* enum kept_flags */
	uint32_t machine;           /* e_machine of ELF */
	uint64_t text_low, text_high;
	uint64_t profiled_low, profiled_high; /* object_profiled() */
	uint64_t n_functions;                 /* of the file, kept or not */
	VEC(struct kept_symbol) symbols;      /* by address, one each */
	VEC(struct kept_alias) aliases;
	VEC(struct kept_line) lines;     /* by address, not overlapping */
	VEC(struct kept_inline) inlines; /* by address, innermost first */
	VEC(struct kept_code) code;      /* by address */
};

struct kept_source {
	const char *path;  /* as debug information names it */
	const char *found; /* where it was */
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

/* The object, which is added if it is not there: equal ones have equal path and build id, and
 * without one equal size and time. */
struct kept_object *kept_add_object(struct kept *k, const struct kept_object *like);
const char *kept_string(struct kept *k, const char *s); /* interned: lives as long as k */
const char *kept_bytes(struct kept *k, const void *bytes, size_t n); /* a copy, with a NUL behind */
/* A piece of a source, which follows what is there of it. */
void kept_add_source(struct kept *k, const char *path, const char *found, const char *text,
		     size_t n);
/* The sources of `from` that are not there; NULL: none. */
void kept_add_sources(struct kept *into, const struct kept *from);
/* All of `from`. */
void kept_merge(struct kept *into, const struct kept *from);
void kept_sort(struct kept *k);

/* NULL if there is none. build_id NULL or "": any of that path. */
const struct kept_object *kept_find(const struct kept *k, const char *path, const char *build_id);
const struct kept_source *kept_find_source(const struct kept *k, const char *path);

#endif

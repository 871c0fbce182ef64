/* names.h - names for addresses as they come: an object is opened when it is first needed, and
 * those used lately stay open; how many is bounded.
 *
 * For live recordings, where the set of addresses is not known in advance. For a finished profile
 * use struct program. */
#ifndef SYMBOLIZE_NAMES_H
#define SYMBOLIZE_NAMES_H

#include "object/object.h"
#include "symbolize/symbols.h"

struct names_opts {
	const char *debug_dir; /* NULL: /usr/lib/debug */
	const char *symfs;     /* paths of objects are below this folder; NULL: / */
	enum demangle_style style;
};

struct names;
struct names *names_new(const struct names_opts *opts); /* borrows the strings */
void names_free(struct names *n);                       /* NULL is fine */

/* Where the object can be opened that its path does not lead to. What it was named before stays. */
void names_put_place(struct names *n, const char *path, const char *build_id, const char *place);

/* The function at a link-time address, as a person reads it; NULL: it has no name, or the object
 * cannot be read, or is another one than that which ran (build_id in hex, "": not known). Lives
 * until the next call. */
const char *names_find(struct names *n, const char *path, const char *build_id, uint64_t addr);

#endif

/* names.h - looks up names of single addresses: objects are opened when first needed, and a bounded
 * number of recently used ones stay open.
 *
 * For live recordings, where the set of addresses is not known in advance. For a finished profile
 * use struct program. */
#ifndef SYMBOLIZE_NAMES_H
#define SYMBOLIZE_NAMES_H

#include "object/object.h"
#include "symbolize/symbols.h"

struct names_opts {
	const char *debug_dir; /* NULL: /usr/lib/debug */
	const char *symfs;     /* root folder of objects' paths; NULL: / */
	enum demangle_style style;
};

struct names;
struct names *names_new(const struct names_opts *opts); /* borrows the strings */
void names_free(struct names *n);                       /* NULL is fine */

/* The demangled name of the function at a link-time address; NULL: it has no name, or the object
 * cannot be read or is not the build that ran (build_id in hex, "": not known). Valid until the
 * next call. */
const char *names_find(struct names *n, const char *path, const char *build_id, uint64_t addr);

#endif

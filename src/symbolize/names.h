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

/* Sets where an object can be opened, for one that its path does not lead to. Names that it already
 * has stay. */
void names_put_place(struct names *n, const char *path, const char *build_id, const char *place);

/* The demangled name of the function at a link-time address; NULL: it has no name, or the object
 * cannot be read or is not the build that ran (build_id in hex, "": not known). Valid until the
 * next call. */
const char *names_find(struct names *n, const char *path, const char *build_id, uint64_t addr);

/* The source file of that function; NULL: not known. *has_lines: whether the object has debug
 * information. Both until the next call. */
const char *names_find_file(struct names *n, const char *path, const char *build_id, uint64_t addr,
			    bool *has_lines);

/* Calls `found(arg, i, name, file)` for each function inlined at addrs[i], innermost first, `name`
 * demangled, with the source file of its code (NULL: not known), both valid during the call.
 * `addrs` are `n_addrs` ascending link-time addresses of one object: a unit of debug information is
 * decoded once for all of them that are new, and what was found is kept. Nothing is found in an
 * object that cannot be read or has no debug information. */
void names_find_inlined(struct names *n, const char *path, const char *build_id,
			const uint64_t *addrs, size_t n_addrs,
			void (*found)(void *arg, size_t i, const char *name, const char *file),
			void *arg);

#endif

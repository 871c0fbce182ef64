/* filemap.h - gprof -R's map: which function is in which object file, one per line, as
 * nm --extern-only --defined-only -v --print-file-name writes it. */
#ifndef GNU_FILEMAP_H
#define GNU_FILEMAP_H

#include "base/arena.h"
#include "base/vec.h"
#include "gnu/gnu_order.h"

struct kin_error;

struct filemap {
	VEC(struct file_map_entry) entries; /* in the order of the file */
	struct filemap_name *by_function;   /* [entries.n], by function; only with gnu */
	struct arena arena;
};

/* A line is "FILE:ADDRESS TYPE FUNCTION"; what matters is the text before the colon and the last
 * word. "No symbols in ..." is skipped. `gnu`: the first colon ends FILE, not the last (which is
 * that of "lib.a:member.o:ADDRESS ..."). *ret is to be released also after an error. */
MUST_CHECK struct kin_error *filemap_read(const char *path, bool gnu, struct filemap *ret);
void filemap_done(struct filemap *m);

/* What GNU gprof calls a symbol when it has a map: a function that stands first among those of its
 * file is called as the file is, by the very string of its entry; others of the map do not exist
 * (NULL), and what is not in the map keeps its name. For gnu_symbol_rules. */
const char *filemap_rename(const char *name, const void *filemap);

#endif

/* filemap.h - the map of gprof -R: functions and their object files, one per line, in the format of
 * nm --extern-only --defined-only -v --print-file-name. */
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

/* Lines are "FILE:ADDRESS TYPE FUNCTION"; only the text before the colon and the last word are
 * used. "No symbols in ..." is skipped. `gnu`: the first colon ends FILE, not the last (as in
 * "lib.a:member.o:ADDRESS ..."). *ret must be released even on error. */
MUST_CHECK struct kin_error *filemap_read(const char *path, bool gnu, struct filemap *ret);
void filemap_done(struct filemap *m);

/* The name that GNU gprof gives a symbol when it has a map: the first function of a file gets the
 * file's name, i.e. the very string of its entry; other functions in the map do not exist (NULL);
 * symbols outside of the map keep their names. For gnu_symbol_rules. */
const char *filemap_rename(const char *name, const void *filemap);

#endif

/* filemap.h - gprof -R's map: which function is in which object file, one per line, as
 * nm --extern-only --defined-only -v --print-file-name writes it. */
#ifndef GPROF_FILEMAP_H
#define GPROF_FILEMAP_H

#include "analysis/order.h"
#include "base/arena.h"
#include "base/vec.h"

struct kin_error;

struct filemap {
	VEC(struct file_map_entry) entries; /* in the order of the file */
	struct arena arena;
};

/* A line is "FILE:ADDRESS TYPE FUNCTION"; what matters is the text before the colon and the last
 * word. "No symbols in ..." is skipped. `gnu`: the first colon ends FILE, not the last (which is
 * that of "lib.a:member.o:ADDRESS ..."). *ret is to be released also after an error. */
MUST_CHECK struct kin_error *filemap_read(const char *path, bool gnu, struct filemap *ret);
void filemap_done(struct filemap *m);

#endif

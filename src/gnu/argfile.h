/* argfile.h - "@FILE" on a command line is replaced by the words in FILE, as in the GNU tools. */
#ifndef GNU_ARGFILE_H
#define GNU_ARGFILE_H

#include "base/arena.h"

struct kin_error;

/* Replaces every "@FILE" among argv[1..] by the words of FILE, which may name more files. Words are
 * separated by white space; '...', "..." and backslash quote, backslash also within quotes. A file
 * that cannot be read leaves its word as it was. *argc and *argv are replaced by a NULL-terminated
 * list that lives in `a`. Fails if files include each other endlessly. */
MUST_CHECK struct kin_error *argfile_expand(struct arena *a, int *argc, char ***argv);

#endif

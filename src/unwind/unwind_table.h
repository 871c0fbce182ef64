/* unwind_table.h - the call-frame information of a module, compiled for fast lookup.
 *
 * A table is a sorted list of points, addresses at which the unwind rule changes (8 bytes each, a
 * bucket index on top), and the distinct rules (struct unwind_row, 16 bytes each), which are few:
 * libc has 20,000 points and some 1,000 rules. Compiling takes about 0.1 us per point. Looking up
 * is one bucket and about four probes.
 *
 * Read-only after it was made: any number of threads may use one. */
#ifndef UNWIND_UNWIND_TABLE_H
#define UNWIND_UNWIND_TABLE_H

#include "unwind/cfi.h"
#include "unwind/outermost.h"

struct kin_error;
struct unwind_table;

/* Compiles the sections of one module (.eh_frame, .debug_frame, in this order: earlier ones take
 * precedence), all for that machine and with link-time addresses, its outermost functions (NULL:
 * none), Go's table, and, where nothing else says anything of it, its code (NULL: neither). Never
 * fails: damaged entries are left out. NULL if they cover nothing, or more than 4 GiB. */
struct unwind_table *unwind_table_new(const struct machine *machine,
				      const struct cfi_section *sections, size_t n,
				      const struct outermost *outermost,
				      const struct code_file *code);
/* The same for a file, which tells its machine, its outermost functions and its code. */
struct unwind_table *unwind_table_of(const struct code_file *code,
				     const struct cfi_section *sections, size_t n);
void unwind_table_free(struct unwind_table *t); /* NULL is fine */
/* False: it was made with code_file.not_followed, and some code was left out for that. */
bool unwind_table_is_followed(const struct unwind_table *t);

const struct machine *unwind_table_machine(const struct unwind_table *t);
size_t unwind_table_rows(const struct unwind_table *t); /* number of points */
size_t unwind_table_bytes(const struct unwind_table *t);

/* The rule for a link-time address; UNWIND_CFA_NONE if nothing covers it, never NULL. Lives as long
 * as the table. */
const struct unwind_row *unwind_table_find(const struct unwind_table *t, uint64_t addr);
/* Whether a table that follows all code may say more of a stack that leads to the address: nothing
 * covers it, or the address behind it. (A return address may be where the next function begins.) */
bool unwind_table_lacks(const struct unwind_table *t, uint64_t addr);

/* ---- cache (unwind_table_file.c) ----
 *
 * One file per id in $XDG_CACHE_HOME/kin/unwind (else ~/.cache/kin/unwind), for its user
 * alone, replaced atomically. Files are in this machine's byte order and of one version. Other
 * files and damaged ones (length, checksum, order) are errors when loading; the table is then made
 * again. */

/* The folder, allocated; NULL if neither variable names one by an absolute path. */
char *unwind_cache_folder(void);
/* NULL result without an error: not cached. `id` is hex: a build-id, and a checksum of what else
 * tells one file from another with the same. */
struct kin_error *unwind_table_load(const char *folder, const char *id, struct unwind_table **ret)
	__attribute__((warn_unused_result));
/* Removes the files used least recently, so that at most 96 MiB are left. */
void unwind_cache_trim(void);
/* Creates the folder if it is missing. */
struct kin_error *unwind_table_save(const struct unwind_table *t, const char *folder,
				    const char *id) __attribute__((warn_unused_result));

#endif

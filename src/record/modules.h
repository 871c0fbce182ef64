/* modules.h - executable mappings: ELF files, the vdso, JIT code.
 *
 * Modules are interned by path and build-id (or inode, if the kernel gives only that). A file is
 * opened when it is first seen mapped, since it may be gone when it is needed. Its call-frame
 * information is read when a stack first leads into it, from the cache if possible. If very many
 * are open, those opened first are closed until needed.
 *
 * The memory of these tables is limited. Beyond the limit the least recently used are freed, and
 * read again when needed; except tables that could not be read again because the file is gone and
 * they are not in the cache. */
#ifndef RECORD_MODULES_H
#define RECORD_MODULES_H

#include <sys/types.h>

#include "base/vec.h"
#include "kin/format.h"
#include "record/held_files.h"
#include "unwind/unwind_table.h"

enum { BUILD_ID_MAX = 20 }; /* the kernel's limit; longer ids are truncated, too */

struct module {
	enum kinf_module_kind kind;
	char *path; /* as the process sees it */
	char *name; /* the path; with " (2)" and so on for another file of that path, if none of
		     * them has a build id */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
	uint64_t inode;            /* 0: not known */
	bool main;                 /* the executable of a process */
	uint32_t file_id;          /* its id in the file being written; 0: none yet */
	uint64_t failures;         /* stacks that ended too early in it */
	uint64_t failures_written; /* number of failures already in finished files */

	/* the rest is private to modules.c */
	struct modules *all;
	int fd;      /* -1: not open */
	int held;    /* descriptor kept for names; -1: not open */
	size_t root; /* index of the root it was found in, as in struct mapped_file */
	bool sought;
	bool evicted;               /* its table was freed or its file closed: read it again */
	bool cached;                /* the cache has the table */
	bool kept;                  /* the table cannot be read again */
	uint64_t used;              /* time of last use, by modules.uses */
	uint64_t size, modified_ns; /* of the file; 0: not known */
	uint64_t sections;          /* checksum of its section headers */
	struct module *namesake;    /* the one before with the same path and no build id */
	struct unwind_table *table; /* NULL: none */
	struct segment {
		uint64_t offset, vaddr, size;
	} * segments; /* executable ones */
	size_t n_segments;
};

struct modules;
/* table_limit: bytes for tables; 0: 64 MiB. */
struct modules *modules_new(size_t table_limit);
void modules_free(struct modules *m); /* NULL is fine */
/* Keeps files open from now on, at most a third of n descriptors: n is the limit in the process
 * that makes the names. */
void modules_hold_files(struct modules *m, uint64_t n);
/* Hands over the files and roots held open; the caller frees them. May be called once. */
struct held_files modules_take_held(struct modules *m);
size_t modules_table_bytes(const struct modules *m); /* of all tables in memory */

struct module_key {
	const char *path; /* as in maps, with " (deleted)"; "[vdso]", "//anon", or "" */
	const uint8_t *build_id;
	size_t build_id_size; /* 0: not known */
	uint64_t inode;       /* 0: not known */
	uint64_t generation;  /* tells apart files that had the same inode; 0: not known */
	pid_t pid;            /* the process that maps it at [start, end) */
	pid_t parent; /* the process that started it, or was there before exec; 0: not known */
	uint64_t start, end;
};
/* Lives as long as m. */
struct module *modules_find(struct modules *m, const struct module_key *key);
size_t modules_count(const struct modules *m);
struct module *modules_at(const struct modules *m, size_t i);

/* A path to open it by, valid as long as m: below the root of its process, or by the descriptor if
 * another file had its path before; to be freed. NULL if its own path leads there, or files are not
 * held. */
char *module_place(const struct module *m);

/* The bias (run-time minus link-time address) of a mapping at `start` from file offset `offset` on.
 */
uint64_t module_bias(const struct module *m, uint64_t start, uint64_t offset);
/* The file offset of a link-time address. */
uint64_t module_offset(const struct module *m, uint64_t addr);
/* Copies up to `size` bytes of code at a link-time address from the file; returns how many: 0 if it
 * is not open. */
size_t module_code(const struct module *m, uint64_t addr, void *ret, size_t size);
/* The table, with all that is known of a link-time address; NULL if there is none. Valid until the
 * next call for any module. */
const struct unwind_table *module_table(struct module *m, uint64_t addr);

#endif

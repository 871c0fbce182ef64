/* modules.h - what can be mapped and executed: ELF files, the vdso, code made at run time.
 *
 * Modules are interned by path and build-id (or inode, where the kernel says that alone). A file is
 * opened when it is first seen mapped, since it may be gone when it is first needed; its
 * call-frame information is read when a stack first leads into it, from the cache if it is there.
 * Of very many those that were opened first are closed until they are needed.
 *
 * Tables of that information have a limit of memory. Beyond it those that were used least recently
 * are freed, and read again when a stack leads there; but not those that could not be read again,
 * since their file is gone and the cache does not have them. */
#ifndef RECORD_MODULES_H
#define RECORD_MODULES_H

#include <sys/types.h>

#include "base/vec.h"
#include "kin/format.h"
#include "record/held_files.h"
#include "unwind/unwind_table.h"

enum { BUILD_ID_MAX = 20 }; /* as the kernel has them; longer ones are cut there, too */

struct module {
	enum kinf_module_kind kind;
	char *path; /* as the process sees it */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
	uint64_t inode;            /* 0: not known */
	bool main;                 /* the executable of a process */
	uint32_t file_id;          /* in the data written; 0: not yet */
	uint64_t failures;         /* stacks that ended in it too early */
	uint64_t failures_written; /* of those, in files that are finished */

	/* the rest is for modules.c */
	struct modules *all;
	int fd;      /* -1: not open */
	int held;    /* the same, for names; -1: it is not */
	size_t root; /* in which it was found, as in struct mapped_file */
	bool sought;
	bool evicted;               /* had a table, or its file open: is to be read again */
	bool cached;                /* the cache has the table */
	bool kept;                  /* the table cannot be read again */
	uint64_t used;              /* when last: by modules.uses */
	struct unwind_table *table; /* NULL: none */
	struct segment {
		uint64_t offset, vaddr, size;
	} * segments; /* executable ones */
	size_t n_segments;
};

struct modules;
/* table_limit: for tables, in bytes; 0: 64 MiB. */
struct modules *modules_new(size_t table_limit);
void modules_free(struct modules *m); /* NULL is fine */
/* From now on files are held. */
void modules_hold_files(struct modules *m);
/* The files and roots that are held; to be done with by the caller, once. */
struct held_files modules_take_held(struct modules *m);
size_t modules_table_bytes(const struct modules *m); /* of all tables that are in memory */

struct module_key {
	const char *path; /* as in maps: with " (deleted)", "[vdso]", "//anon", or "" */
	const uint8_t *build_id;
	size_t build_id_size; /* 0: not known */
	uint64_t inode;       /* 0: not known */
	pid_t pid;            /* that maps it at [start, end) */
	pid_t parent;         /* that started it, or had its place before exec; 0: not known */
	uint64_t start, end;
};
/* Lives as long as m. */
struct module *modules_find(struct modules *m, const struct module_key *key);
size_t modules_count(const struct modules *m);
struct module *modules_at(const struct modules *m, size_t i);

/* Run-time minus link-time address of what is mapped at `start` from `offset` of the file on. */
uint64_t module_bias(const struct module *m, uint64_t start, uint64_t offset);
/* Offset in the file of a link-time address. */
uint64_t module_offset(const struct module *m, uint64_t addr);
/* NULL if there is none. Valid until the next call for any module. */
const struct unwind_table *module_table(struct module *m);

#endif

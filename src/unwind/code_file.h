/* code_file.h - the parts of an ELF file that tell about its functions: symbols and code. */
#ifndef UNWIND_CODE_FILE_H
#define UNWIND_CODE_FILE_H

#include "machine/machine.h"

struct go_table;

struct code_span { /* addresses [low, high) */
	uint64_t low, high;
};

/* A 64-bit file of this machine's byte order. Addresses are link-time ones; nothing is trusted. */
struct code_file {
	const struct machine *machine;
	const uint8_t *symbols; /* .symtab, else .dynsym; at any address; NULL: there are none */
	size_t symbols_size;
	const char *strings; /* of the symbols */
	size_t strings_size;
	/* Copies up to `size` bytes at an address; returns how many. */
	size_t (*code)(void *arg, uint64_t addr, uint8_t *ret, size_t size);
	void *arg;
	bool is_stripped;      /* there are no other symbols than .dynsym */
	uint64_t entry;        /* where the program starts; 0: the file is no program */
	uint64_t loader_entry; /* where the file says it starts though it is no program: the kernel
				* starts dynamic linkers, and old linkers said it of all files */
	uint64_t starts[2];    /* functions that are called when the file is loaded, and at the end:
				* .init,    .fini; 0: none */
	const struct code_span *sections; /* those with code, in any order */
	size_t n_sections;
	const struct go_table *go; /* NULL: it is no program of Go */
	/* Code that nothing else tells about is not followed, and has no rules. To follow it may
	 * take longer than all else. */
	bool not_followed;
};

#endif

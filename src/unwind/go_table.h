/* go_table.h - Go's table of functions (.gopclntab), read in place.
 *
 * The runtime of Go needs it for its own stack traces, so every program has it, stripped or not. Of
 * each function it has the name, where the code starts, the size of the frame at each instruction,
 * and the source lines. Four forms are known, by their first four bytes: those of Go 1.2, 1.16,
 * 1.18 and 1.20, each in use until the next.
 *
 * The bytes are not trusted: nothing outside of [data, data + size) is read. Functions do not
 * overlap, and going through the values of one takes as many steps as it has bytes, at most. */
#ifndef UNWIND_GO_TABLE_H
#define UNWIND_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct machine;
struct unwind_row;

/* Indices of the sections in question; 0: the file has no such section. */
struct go_sections {
	uint32_t table;  /* the table's own section */
	uint32_t others; /* .data.rel.ro, into which C's linker puts the table of
			    position-independent programs */
	uint32_t module; /* .go.module, since Go 1.26 */
	bool is_go;
};
/* Takes note of section i if it has one of their names. */
void go_sections_see(struct go_sections *s, const char *name, uint32_t i);
/* The section that the table is in; 0: there is none. */
uint32_t go_sections_table(const struct go_sections *s);

/* The section that the table is in. */
struct go_section {
	const uint8_t *data;
	size_t size;
	uint64_t addr;   /* of data[0] */
	uint64_t module; /* address of .go.module; 0: there is none */
	bool swap;       /* the file has the other byte order */
	/* The word of `size` bytes at an address, as it is in memory before the program starts;
	 * false: there is none. */
	bool (*word)(void *arg, uint64_t addr, size_t size, uint64_t *ret);
	/* Whether all of [low, high) is code of one section, whose bytes are in the file. */
	bool (*is_code)(void *arg, uint64_t low, uint64_t high);
	void *arg;
};

enum go_form { GO_FORM_1_2, GO_FORM_1_16, GO_FORM_1_18, GO_FORM_1_20 };

struct go_table {
	struct bytes all;
	enum go_form form;
	unsigned word, quantum; /* sizes of an address, and of the smallest instruction */
	uint64_t n;             /* functions */
	uint64_t text;          /* base of the functions' addresses */
	/* Offsets in the table: the list of functions, the base of the offsets in that list, names,
	 * lists of files, files, values that change with the address. */
	size_t list, records, names, units, files, values;
	bool has_marks; /* of functions that write sp: since Go 1.17 */
};

/* False: the section holds no table, or a damaged one. *ret borrows the section's data. */
bool go_table_open(const struct go_section *s, struct go_table *ret);

struct go_function {
	uint64_t low, high; /* addresses [low, high): not empty */
	uint64_t frames;    /* frame sizes, for go_table_values(); 0: none */
	/* the rest is private to this module */
	uint64_t lines, numbers, name, unit;
	bool moves_sp; /* marked as writing sp in a way that frame sizes do not tell */
};

/* The i-th function, by address; false: it is damaged. */
bool go_table_at(const struct go_table *t, uint64_t i, struct go_function *ret);
/* The function that covers addr; false: none does. */
bool go_table_find(const struct go_table *t, uint64_t addr, struct go_function *ret);
/* Its name; NULL if it does not end within `limit` bytes. */
const char *go_table_name(const struct go_table *t, const struct go_function *f, size_t limit);

/* A value that changes with the address. */
struct go_values {
	struct bytes at;
	uint64_t low, high; /* the value holds for [low, high) */
	uint64_t end;       /* of the function */
	int32_t value;
	unsigned quantum;
};
struct go_values go_table_values(const struct go_table *t, const struct go_function *f,
				 uint64_t values);
/* Moves on to the next range; false behind the last, or if the rest is damaged. */
bool go_values_next(struct go_values *v);

/* The source file and line of an address in f; NULL: not known. */
const char *go_table_line(const struct go_table *t, const struct go_function *f, uint64_t addr,
			  uint32_t *line);

/* Whether the frame sizes of f describe all changes of sp in it. */
bool go_table_knows_frames(const struct go_table *t, const struct go_function *f);
/* The rule for a frame of that size on a machine: UNWIND_CFA_NONE if there is no such frame. */
struct unwind_row go_row(const struct machine *m, int32_t frame);

#endif

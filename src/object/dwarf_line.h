/* dwarf_line.h - one line table of .debug_line, decoded. */
#ifndef OBJECT_DWARF_LINE_H
#define OBJECT_DWARF_LINE_H

#include "object/dwarf_info.h"

struct line_row {
	uint64_t addr;
	uint32_t file; /* number of the file in the table: see line_table_path() */
	uint32_t line;
};

struct line_sequence { /* rows for one range of code */
	uint64_t low, high;
	uint32_t first_row, n_rows; /* by address, all different, within [low, high) */
	uint32_t position;          /* in the table */
};

struct late_row { /* a row that came after a row of a higher address */
	struct line_row row;
	size_t position;
};

struct line_file {
	const char *name; /* NULL if damaged */
	uint64_t dir;
	uint32_t path; /* for the caller's use; NONE at first */
};

struct line_table {
	unsigned version;
	size_t bytes; /* of .debug_line */
	const char *comp_dir;
	uint32_t first_file; /* initial file of a sequence */
	VEC(const char *) dirs;
	VEC(struct line_file) files;
	VEC(struct line_row) rows;
	VEC(struct line_sequence) sequences; /* in the table's order */
	/* Scratch memory for the current sequence. */
	VEC(struct late_row) late;
	VEC(struct line_row) merged;
};

/* Decodes the table of `u` into *ret, whose memory is reused. False if it is empty. `from_first`:
 * sequences start in the first file even if DWARF 5 counts files from 0. */
bool line_table_read(const struct dwarf_info *d, const struct dwarf_unit *u, bool from_first,
		     struct line_table *ret);
/* Reads only its directories and files, no rows. False if there is no table. */
bool line_table_read_files(const struct dwarf_info *d, const struct dwarf_unit *u,
			   struct line_table *ret);
/* Orders the sequences by address and trims each by the earlier ones: afterwards no two overlap. */
void line_table_sort(struct line_table *t);
void line_table_done(struct line_table *t);

/* Index of a row's file in t->files; NONE if there is no such file. */
uint32_t line_table_file(const struct line_table *t, uint32_t file);
/* Its path, with the known directories prefixed; allocated with malloc. */
char *line_table_path(const struct line_table *t, uint32_t index);

#endif

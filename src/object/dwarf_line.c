/* dwarf_line.c - runs line programs, and puts their rows in order. */
#include "object/dwarf_line.h"
#include "base/sort.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- header ---- */

struct line_header {
	unsigned offset_size;
	uint8_t min_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	uint8_t lengths[256]; /* number of operands of each standard opcode */
	struct bytes program;
};

/* Directories and files before DWARF 5. */
static void read_old_names(struct bytes *c, struct line_table *t)
{
	while (!c->failed) {
		const char *dir = bytes_str(c);
		if (!*dir)
			break;
		vec_push(&t->dirs, dir);
	}
	while (!c->failed) {
		struct line_file f = { .path = NONE, .name = bytes_str(c) };
		if (!*f.name)
			break;
		f.dir = bytes_uleb(c);
		bytes_uleb(c);
		bytes_uleb(c);
		vec_push(&t->files, f);
	}
}

/* A DWARF 5 table of directories or files, which begins with a description of its fields. */
static void read_names(const struct dwarf_info *d, const struct dwarf_unit *u, struct bytes *c,
		       bool files, struct line_table *t)
{
	uint64_t content[256], form[256];
	unsigned n_fields = bytes_u8(c);
	for (unsigned i = 0; i < n_fields; i++) {
		content[i] = bytes_uleb(c);
		form[i] = bytes_uleb(c);
	}
	uint64_t n = bytes_uleb(c);
	if (!n_fields)
		return;
	/* A hostile table may have entries of no size: the loop ends with the bytes. */
	for (uint64_t i = 0; i < n && bytes_left(c); i++) {
		struct line_file f = { .path = NONE };
		for (unsigned k = 0; k < n_fields; k++) {
			struct dwarf_value v = dwarf_value_read(d, &d->file, u, c, form[k], 0);
			if (content[k] == DW_LNCT_path)
				f.name = dwarf_value_string(&d->file, u, &v);
			else if (content[k] == DW_LNCT_directory_index)
				f.dir = v.number;
		}
		if (c->failed)
			return;
		if (files)
			vec_push(&t->files, f);
		else
			vec_push(&t->dirs, f.name);
	}
}

static bool read_header(const struct dwarf_info *d, const struct dwarf_unit *u,
			struct line_table *t, struct line_header *h)
{
	struct bytes c = section_at(d->file.line, u->lines, d->file.swap);
	h->offset_size = 4;
	uint64_t length = bytes_u32(&c);
	if (length == UINT32_MAX) {
		h->offset_size = 8;
		length = bytes_u64(&c);
	}
	if (c.failed || length > bytes_left(&c))
		return false;
	c.end = c.pos + length;
	t->bytes = length;

	t->version = bytes_u16(&c);
	if (t->version < 2 || t->version > 5)
		return false;
	struct dwarf_unit forms = *u;
	forms.offset_size = (uint8_t)h->offset_size;
	if (t->version >= 5) {
		forms.address_size = bytes_u8(&c);
		bytes_u8(&c); /* segment selectors are not used anywhere */
	}
	uint64_t header_length = bytes_word(&c, h->offset_size);
	if (c.failed || header_length > bytes_left(&c))
		return false;
	h->program = c;
	bytes_skip(&h->program, header_length);

	h->min_length = bytes_u8(&c);
	h->max_ops = t->version >= 4 ? bytes_u8(&c) : 1;
	bytes_u8(&c); /* default_is_stmt */
	h->line_base = (int8_t)bytes_u8(&c);
	h->line_range = bytes_u8(&c);
	h->opcode_base = bytes_u8(&c);
	for (unsigned i = 1; i < h->opcode_base; i++)
		h->lengths[i] = bytes_u8(&c);
	if (c.failed || !h->max_ops)
		return false;
	if (t->version >= 5) {
		read_names(d, &forms, &c, false, t);
		read_names(d, &forms, &c, true, t);
	} else {
		read_old_names(&c, t);
	}
	return !c.failed;
}

/* ---- rows ---- */

struct line_machine {
	uint64_t addr;
	uint32_t op_index;
	uint32_t file, line;
	bool open; /* a sequence has begun */
	size_t first_row;
};

static int late_by_addr(const void *a, const void *b)
{
	const struct late_row *l = a, *r = b;
	if (l->row.addr != r->row.addr)
		return l->row.addr < r->row.addr ? -1 : 1;
	return ORDER(l->position, r->position);
}

/* Moves the late rows to their places; at an address that has a row already that row counts. */
static void place_late(struct line_table *t, size_t first)
{
	size_t i = first, k = 0;

	qsort(t->late.at, t->late.n, sizeof(*t->late.at), late_by_addr);
	t->merged.n = 0;
	while (i < t->rows.n || k < t->late.n) {
		bool early = k == t->late.n ||
			     (i < t->rows.n && t->rows.at[i].addr <= t->late.at[k].row.addr);
		struct line_row row = early ? t->rows.at[i++] : t->late.at[k++].row;
		if (!t->merged.n || t->merged.at[t->merged.n - 1].addr != row.addr)
			vec_push(&t->merged, row);
	}
	t->rows.n = first;
	for (i = 0; i < t->merged.n; i++)
		vec_push(&t->rows, t->merged.at[i]);
	t->late.n = 0;
}

static void add_row(struct line_table *t, struct line_machine *m)
{
	struct line_row row = { m->addr, m->file, m->line };
	if (!m->open) {
		m->open = true;
		m->first_row = t->rows.n;
		vec_push(&t->rows, row);
		return;
	}
	struct line_row *last = &t->rows.at[t->rows.n - 1];
	if (row.addr > last->addr)
		vec_push(&t->rows, row);
	else if (row.addr == last->addr)
		*last = row; /* the one before covers no code */
	else
		vec_push(&t->late, ((struct late_row){ row, t->late.n }));
}

static void end_sequence(struct line_table *t, struct line_machine *m, uint64_t end)
{
	if (!m->open)
		return;
	if (t->late.n)
		place_late(t, m->first_row);
	while (t->rows.n > m->first_row && t->rows.at[t->rows.n - 1].addr >= end)
		t->rows.n--;
	if (t->rows.n > m->first_row) {
		struct line_sequence s = { .low = t->rows.at[m->first_row].addr, .high = end };
		s.first_row = (uint32_t)m->first_row;
		s.n_rows = (uint32_t)(t->rows.n - m->first_row);
		s.position = (uint32_t)t->sequences.n;
		vec_push(&t->sequences, s);
	}
	m->open = false;
}

/* ---- the program ---- */

static struct line_machine at_start(const struct line_table *t)
{
	return (struct line_machine){ .file = t->first_file, .line = 1 };
}

static void advance(struct line_machine *m, const struct line_header *h, uint64_t operations)
{
	if (h->max_ops == 1) {
		m->addr += operations * h->min_length;
		return;
	}
	m->addr += (m->op_index + operations) / h->max_ops * h->min_length;
	m->op_index = (uint32_t)((m->op_index + operations) % h->max_ops);
}

static void define_file(struct line_table *t, struct bytes *c)
{
	struct line_file f = { .path = NONE, .name = bytes_str(c) };
	f.dir = bytes_uleb(c);
	vec_push(&t->files, f);
}

static void run_extended(struct line_table *t, struct line_machine *m, struct bytes *c)
{
	uint64_t length = bytes_uleb(c);
	if (c->failed || !length || length > bytes_left(c))
		return;
	struct bytes operand = *c;
	operand.end = c->pos + length;
	bytes_skip(c, length);
	switch (bytes_u8(&operand)) {
	case DW_LNE_end_sequence:
		end_sequence(t, m, m->addr);
		*m = at_start(t);
		break;
	case DW_LNE_set_address:
		m->addr = bytes_word(&operand, (unsigned)bytes_left(&operand));
		m->op_index = 0;
		break;
	case DW_LNE_define_file:
		define_file(t, &operand);
		break;
	}
}

/* False if the program cannot go on. */
static bool run_standard(struct line_table *t, struct line_machine *m, const struct line_header *h,
			 struct bytes *c, uint8_t opcode)
{
	switch (opcode) {
	case 0:
		run_extended(t, m, c);
		break;
	case DW_LNS_copy:
		add_row(t, m);
		break;
	case DW_LNS_advance_pc:
		advance(m, h, bytes_uleb(c));
		break;
	case DW_LNS_advance_line:
		m->line += (uint32_t)bytes_sleb(c);
		break;
	case DW_LNS_set_file:
		m->file = (uint32_t)bytes_uleb(c);
		break;
	case DW_LNS_set_column:
	case DW_LNS_set_isa:
		bytes_uleb(c);
		break;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	case DW_LNS_const_add_pc:
		if (!h->line_range)
			return false;
		advance(m, h, (255u - h->opcode_base) / h->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		m->addr += bytes_u16(c);
		m->op_index = 0;
		break;
	default:
		for (unsigned i = 0; i < h->lengths[opcode]; i++)
			bytes_uleb(c);
	}
	return !c->failed;
}

static void line_program_run(struct line_table *t, const struct line_header *h)
{
	struct bytes c = h->program;
	struct line_machine m = at_start(t);
	while (bytes_left(&c)) {
		uint8_t opcode = bytes_u8(&c);
		if (opcode < h->opcode_base) {
			if (!run_standard(t, &m, h, &c, opcode))
				break;
			continue;
		}
		if (!h->line_range)
			break;
		unsigned adjusted = (unsigned)opcode - h->opcode_base;
		advance(&m, h, adjusted / h->line_range);
		m.line += (uint32_t)(h->line_base + (int)(adjusted % h->line_range));
		add_row(t, &m);
	}
	/* An unfinished sequence does not say where its last row ends: that row is left out. */
	if (m.open)
		end_sequence(t, &m, t->rows.at[t->rows.n - 1].addr);
}

static bool begin_table(const struct dwarf_info *d, const struct dwarf_unit *u,
			struct line_table *ret, struct line_header *h)
{
	ret->comp_dir = u->comp_dir;
	ret->dirs.n = ret->files.n = ret->rows.n = ret->sequences.n = ret->late.n = 0;
	ret->bytes = 0;
	return read_header(d, u, ret, h);
}

bool line_table_read_files(const struct dwarf_info *d, const struct dwarf_unit *u,
			   struct line_table *ret)
{
	struct line_header h = { 0 };
	return begin_table(d, u, ret, &h);
}

bool line_table_read(const struct dwarf_info *d, const struct dwarf_unit *u, bool from_first,
		     struct line_table *ret)
{
	struct line_header h = { 0 };
	if (!begin_table(d, u, ret, &h))
		return false;
	ret->first_file = from_first && ret->version >= 5 ? 0 : 1;
	line_program_run(ret, &h);
	return ret->sequences.n > 0;
}

void line_table_done(struct line_table *t)
{
	vec_free(&t->dirs);
	vec_free(&t->files);
	vec_free(&t->rows);
	vec_free(&t->sequences);
	vec_free(&t->late);
	vec_free(&t->merged);
}

/* ---- order ---- */

/* Of sequences with the same start the longer one is first, then the one that came last. */
static int by_low(const void *a, const void *b)
{
	const struct line_sequence *l = a, *r = b;
	if (l->low != r->low)
		return l->low < r->low ? -1 : 1;
	if (l->high != r->high)
		return l->high > r->high ? -1 : 1;
	return (l->position < r->position) - (l->position > r->position);
}

void line_table_sort(struct line_table *t)
{
	size_t n = 0;
	uint64_t covered = 0;

	if (t->sequences.n)
		qsort(t->sequences.at, t->sequences.n, sizeof(*t->sequences.at), by_low);
	for (size_t i = 0; i < t->sequences.n; i++) {
		struct line_sequence s = t->sequences.at[i];
		if (n && s.high <= covered)
			continue;
		if (n && s.low < covered)
			s.low = covered;
		covered = s.high;
		t->sequences.at[n++] = s;
	}
	t->sequences.n = n;
}

/* ---- files ---- */

uint32_t line_table_file(const struct line_table *t, uint32_t file)
{
	uint32_t i = t->version >= 5 ? file : file - 1;
	return i < t->files.n && t->files.at[i].name ? i : NONE;
}

static char *join(const char *dir, const char *subdir, const char *name)
{
	size_t a = dir ? strlen(dir) + 1 : 0, b = subdir ? strlen(subdir) + 1 : 0,
	       n = strlen(name) + 1;
	char *path = xrealloc(NULL, a + b + n, 1), *p = path;
	if (dir) {
		memcpy(p, dir, a);
		p[a - 1] = '/';
	}
	p += a;
	if (subdir) {
		memcpy(p, subdir, b);
		p[b - 1] = '/';
	}
	memcpy(p + b, name, n);
	return path;
}

char *line_table_path(const struct line_table *t, uint32_t index)
{
	const struct line_file *f = &t->files.at[index];
	uint64_t dir = t->version >= 5 ? f->dir : f->dir - 1;
	const char *subdir = dir < t->dirs.n ? t->dirs.at[dir] : NULL;

	if (*f->name == '/')
		return join(NULL, NULL, f->name);
	return join(subdir && *subdir == '/' ? NULL : t->comp_dir, subdir, f->name);
}

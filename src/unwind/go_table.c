/* go_table.c - the four forms of Go's table, and what they have in common. */
#include "unwind/go_table.h"

#include <string.h>

#include "base/base.h"
#include "base/search.h"
#include "machine/machine.h"
#include "unwind/row.h"

enum {
	HEADER = 8,       /* bytes in front of the first word */
	FILE_MAX = 4096,  /* bytes of a file's name */
	MODULE_TEXT = 22, /* the word of the module's description that has the start of the code */
	MOVES_SP = 2,     /* a flag of functions */
	TABLE_ALIGN = 8,
	TRIES_MAX = 64, /* places in a section that look like a table */
};

static const uint32_t magics[] = {
	[GO_FORM_1_2] = 0xfffffffb,
	[GO_FORM_1_16] = 0xfffffffa,
	[GO_FORM_1_18] = 0xfffffff0,
	[GO_FORM_1_20] = 0xfffffff1,
};

/* ---- where it is ---- */

void go_sections_see(struct go_sections *s, const char *name, uint32_t i)
{
	if (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab"))
		s->table = i;
	else if (!strcmp(name, ".data.rel.ro"))
		s->others = i;
	else if (!strcmp(name, ".go.module"))
		s->module = i;
	else if (!strcmp(name, ".go.buildinfo"))
		s->is_go = true;
}

uint32_t go_sections_table(const struct go_sections *s)
{
	return s->table ? s->table : s->is_go ? s->others : 0;
}

/* ---- bytes ---- */

/* The table from a place on; empty if that is outside. */
static struct bytes from(const struct go_table *t, uint64_t at)
{
	struct bytes b = t->all;
	bytes_skip(&b, at);
	return b;
}

static uint64_t number_at(const struct go_table *t, uint64_t at, size_t size, bool *good)
{
	struct bytes b = from(t, at);
	uint64_t v = bytes_word(&b, size);
	*good &= !b.failed;
	return v;
}

/* ---- the header ---- */

static bool find_form(uint32_t magic, enum go_form *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(magics); i++)
		if (magics[i] == magic) {
			*ret = (enum go_form)i;
			return true;
		}
	return false;
}

/* Until Go 1.25 the table says where the code starts; later the description of the module does. */
static bool find_text(const struct go_section *s, uint64_t table, struct go_table *t)
{
	uint64_t own;
	if (t->form < GO_FORM_1_18)
		return true;
	if (s->word(s->arg, table + HEADER + 2 * t->word, t->word, &t->text) && t->text)
		return true;
	return s->module && s->word(s->arg, s->module, t->word, &own) && own == table &&
	       s->word(s->arg, s->module + MODULE_TEXT * t->word, t->word, &t->text) && t->text;
}

/* The header of the first form has one number; of the others, where each part is. */
static bool read_parts(struct go_table *t)
{
	struct bytes b = from(t, HEADER);
	t->n = bytes_word(&b, t->word);
	if (t->form == GO_FORM_1_2) {
		t->list = HEADER + t->word;
		return !b.failed;
	}
	bytes_word(&b, t->word); /* number of files */
	if (t->form >= GO_FORM_1_18)
		bytes_word(&b, t->word); /* where the code starts */
	size_t *const parts[] = { &t->names, &t->units, &t->files, &t->values, &t->list };
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		uint64_t at = bytes_word(&b, t->word);
		if (at >= bytes_left(&t->all))
			return false;
		*parts[i] = (size_t)at;
	}
	t->records = t->list;
	return !b.failed;
}

/* The size of an address in the list. */
static size_t list_word(const struct go_table *t) { return t->form < GO_FORM_1_18 ? t->word : 4; }

/* The address that the i-th function starts at; behind the last, the one that it ends at. */
static uint64_t start_of(const struct go_table *t, uint64_t i, bool *good)
{
	size_t size = list_word(t);
	return t->text + number_at(t, t->list + 2 * size * i, size, good);
}

/* Whether the functions are in order. */
static bool is_ordered(const struct go_table *t)
{
	bool good = true;
	uint64_t last = 0;
	for (uint64_t i = 0; i <= t->n && good; i++) {
		uint64_t start = start_of(t, i, &good);
		good &= start >= last;
		last = start;
	}
	return good;
}

/* Go 1.17 has the form of Go 1.16, in which there are no marks. The runtime's switch of stacks has
 * one. */
static bool has_marks(const struct go_table *t)
{
	struct go_function f;
	if (t->form != GO_FORM_1_16)
		return t->form > GO_FORM_1_16;
	for (uint64_t i = 0; i < t->n; i++)
		if (go_table_at(t, i, &f) && f.moves_sp)
			return true;
	return false;
}

/* Whether a table is at that place of the section. */
static bool open_at(const struct go_section *s, size_t at, struct go_table *t)
{
	struct bytes b = bytes_of(NULL, s->data + at, s->size - at);
	b.swap = s->swap;
	*t = (struct go_table){ .all = b };
	uint32_t magic = bytes_u32(&b);
	uint16_t zero = bytes_u16(&b);
	t->quantum = bytes_u8(&b);
	t->word = bytes_u8(&b);
	if (b.failed || zero || !find_form(magic, &t->form) ||
	    (t->quantum != 1 && t->quantum != 2 && t->quantum != 4) ||
	    (t->word != 4 && t->word != 8) || !read_parts(t) || !find_text(s, s->addr + at, t))
		return false;
	uint64_t left = bytes_left(&t->all) - t->list;
	bool good = t->n && t->n < UINT32_MAX && t->n < left / (2 * list_word(t));
	uint64_t low = good ? start_of(t, 0, &good) : 0, high = good ? start_of(t, t->n, &good) : 0;
	if (!good || low >= high || !s->is_code(s->arg, low, high) || !is_ordered(t))
		return false;
	t->has_marks = has_marks(t);
	return true;
}

bool go_table_open(const struct go_section *s, struct go_table *ret)
{
	enum go_form form;
	int tries = 0;
	for (size_t at = 0; at + HEADER < s->size && tries < TRIES_MAX; at += TABLE_ALIGN) {
		if (!find_form((uint32_t)bytes_load(s->data + at, 4, s->swap), &form))
			continue;
		if (open_at(s, at, ret))
			return true;
		tries++;
	}
	return false;
}

/* ---- functions ---- */

/* The end of the last instruction: padding behind it does not belong to the function. Of all values
 * file numbers change least often, so they are the quickest to go through. */
static uint64_t end_of(const struct go_table *t, const struct go_function *f)
{
	struct go_values v = go_table_values(t, f, f->numbers);
	while (go_values_next(&v))
		;
	return v.at.failed || v.high == f->low ? f->high : v.high;
}

bool go_table_at(const struct go_table *t, uint64_t i, struct go_function *ret)
{
	struct go_function f = { 0 };
	bool good = i < t->n;
	size_t size = list_word(t);
	f.low = good ? start_of(t, i, &good) : 0;
	f.high = good ? start_of(t, i + 1, &good) : 0;
	uint64_t record = good ? number_at(t, t->list + 2 * size * i + size, size, &good) : 0;
	if (!good || f.low >= f.high || record > SIZE_MAX - t->records)
		return false;
	struct bytes b = from(t, t->records + record);
	bytes_word(&b, list_word(t)); /* where it starts, again */
	f.name = t->names + bytes_u32(&b);
	bytes_skip(&b, 8); /* arguments; what runs deferred calls */
	f.frames = bytes_u32(&b);
	f.numbers = bytes_u32(&b);
	f.lines = bytes_u32(&b);
	bytes_skip(&b, 4); /* number of further values */
	if (t->form >= GO_FORM_1_16) {
		f.unit = bytes_u32(&b);
		if (t->form >= GO_FORM_1_20)
			bytes_skip(&b, 4); /* the line that it starts on */
		bytes_u8(&b);              /* which function of the runtime */
		f.moves_sp = bytes_u8(&b) & MOVES_SP;
	}
	if (b.failed)
		return false;
	f.high = end_of(t, &f);
	*ret = f;
	return true;
}

bool go_table_find(const struct go_table *t, uint64_t addr, struct go_function *ret)
{
	bool good = true;
	uint64_t i = COUNT_WHILE(t->n, k, start_of(t, k, &good) <= addr);
	return good && i && go_table_at(t, i - 1, ret) && addr >= ret->low && addr < ret->high;
}

static const char *text_at(const struct go_table *t, uint64_t at, size_t limit)
{
	struct bytes b = from(t, at);
	if (bytes_left(&b) > limit)
		b.end = b.pos + limit;
	const char *text = bytes_str(&b);
	return b.failed ? NULL : text;
}

const char *go_table_name(const struct go_table *t, const struct go_function *f, size_t limit)
{
	return text_at(t, f->name, limit);
}

/* ---- values ---- */

struct go_values go_table_values(const struct go_table *t, const struct go_function *f,
				 uint64_t values)
{
	struct go_values v = {
		.low = f->low, .high = f->low, .end = f->high, .value = -1, .quantum = t->quantum
	};
	v.at = from(t, values ? t->values + values : UINT64_MAX);
	return v;
}

/* A difference to the last value, and the length that the new one holds for. A difference of 0 ends
 * the list, but the first may be one. */
bool go_values_next(struct go_values *v)
{
	bool is_first = v->low == v->high;
	if (v->high >= v->end || v->at.failed)
		return false;
	uint64_t step = bytes_uleb(&v->at);
	if (v->at.failed || step > UINT32_MAX || (!step && !is_first))
		return false;
	uint64_t length = bytes_uleb(&v->at);
	if (v->at.failed || !length || length > (v->end - v->high + v->quantum - 1) / v->quantum)
		return false;
	uint32_t change = (uint32_t)step >> 1 ^ (step & 1 ? UINT32_MAX : 0);
	v->value = (int32_t)((uint32_t)v->value + change);
	v->low = v->high;
	v->high = min_u64(v->high + length * v->quantum, v->end);
	return true;
}

/* ---- source lines ---- */

/* False: not known. */
static bool value_at(const struct go_table *t, const struct go_function *f, uint64_t values,
		     uint64_t addr, int32_t *ret)
{
	struct go_values v = go_table_values(t, f, values);
	while (go_values_next(&v))
		if (addr < v.high) {
			*ret = v.value;
			return true;
		}
	return false;
}

/* NULL: there is none. */
static const char *file_of(const struct go_table *t, const struct go_function *f, uint32_t number)
{
	bool good = true;
	uint64_t at;
	if (t->form == GO_FORM_1_2) {
		at = number_at(t, t->list + (2 * t->n + 1) * t->word, 4, &good);
		at = good ? number_at(t, at + 4 * (uint64_t)number, 4, &good) : 0;
	} else {
		at = number_at(t, t->units + 4 * (f->unit + number), 4, &good);
		good &= at != UINT32_MAX;
		at += t->files;
	}
	const char *name = good ? text_at(t, at, FILE_MAX) : NULL;
	return name && *name ? name : NULL;
}

const char *go_table_line(const struct go_table *t, const struct go_function *f, uint64_t addr,
			  uint32_t *line)
{
	int32_t number, value;
	if (!value_at(t, f, f->numbers, addr, &number) || number < 0 ||
	    !value_at(t, f, f->lines, addr, &value) || value < 0)
		return NULL;
	*line = (uint32_t)value;
	return file_of(t, f, (uint32_t)number);
}

/* ---- frames ---- */

/* A handler returns to it from a signal: the frame is the kernel's. */
static bool is_of_signal(const struct go_table *t, const struct go_function *f)
{
	static const char name[] = "runtime.sigreturn";
	struct bytes b = from(t, f->name);
	return bytes_left(&b) >= sizeof(name) && !memcmp(b.pos, name, sizeof(name) - 1);
}

/* Only assembly writes sp. Tables without marks identify it by its source file. */
static bool is_assembly(const struct go_table *t, const struct go_function *f)
{
	uint32_t line;
	const char *file = go_table_line(t, f, f->low, &line);
	size_t n = file ? strlen(file) : 0;
	return !n || (n > 2 && !strcmp(file + n - 2, ".s"));
}

bool go_table_knows_frames(const struct go_table *t, const struct go_function *f)
{
	return f->frames && !is_of_signal(t, f) &&
	       (t->has_marks ? !f->moves_sp : !is_assembly(t, f));
}

/* The frame lies below the return address that a call pushed. With a link register, that address is
 * at the frame's lower end. Go's functions preserve no register but sp and the frame pointer, and
 * the table does not say where the frame pointer is saved. */
struct unwind_row go_row(const struct machine *m, int32_t frame)
{
	struct unwind_row row = { .cfa = UNWIND_CFA_REG,
				  .reg = UNWIND_SP,
				  .ra = UNWIND_AT_CFA,
				  .fp = UNWIND_UNKNOWN,
				  .bx = UNWIND_UNKNOWN };
	bool has_link = m->lr != MACHINE_NO_REGISTER;
	if (frame < 0 || frame > INT32_MAX - 8 || frame % 8 || (has_link && frame / 8 > -INT16_MIN))
		return (struct unwind_row){ 0 };
	row.cfa_offset = has_link ? frame : frame + 8;
	row.ra_offset = (int16_t)(has_link ? -(frame / 8) : -1);
	if (has_link && !frame)
		row.ra = UNWIND_SAME;
	return row;
}

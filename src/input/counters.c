/* counters.c - reads .gcno and .gcda: counters by function, then blocks, jumps and lines of one
 * function after the other. */
#include "input/counters.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/map64.h"
#include "base/sort.h"
#include "base/strtab.h"
#include "input/flow_graph.h"

enum tag {
	TAG_FUNCTION = 0x01000000,
	TAG_BLOCKS = 0x01410000,
	TAG_ARCS = 0x01430000,
	TAG_LINES = 0x01450000,
	TAG_COUNTERS = 0x01a10000,
	TAG_SUMMARY = 0xa1000000,
	TAG_CLANG_SUMMARY = 0xa3000000,
};

enum {
	MAGIC_NOTES = 0x67636e6f,  /* "gcno" */
	MAGIC_COUNTS = 0x67636461, /* "gcda" */
	ON_TREE = 1,               /* flag of an arc without a counter */
	FILE_MAX_SIZE = 256 << 20,
};

/* gcc's version: 93 for 9.3, 122 for 12.2; clang writes 48. */
enum { V_GCC = 90, V_LENGTHS_IN_BYTES = 120 };

struct counter_list { /* a function's record in .gcda */
	uint32_t checksum;
	struct bytes counters;
	bool all_zero;
};

struct line_place { /* block that a line has code in */
	uint32_t block, order;
	strid file;
	uint32_t line;
	bool ends; /* the last line of a list: gcov counts the block there */
};

/* What is known of a line: gcov's count is that of the blocks that end there, if there are some,
 * otherwise the sum of all. */
struct line_sum {
	strid file;
	uint32_t line;
	uint64_t of_blocks, of_ends;
	bool has_ends, is_unknown;
};

struct unit {
	struct bytes notes;
	int version;
	strid folder;
	struct strtab *strings;
	VEC(struct counter_list) counted;
	struct map64 by_ident; /* in counted[] */
	struct map64 starts;   /* MAP64_PAIR(file, line): number of functions that start there */
	VEC(struct line_sum) sums;
	struct map64 by_line; /* MAP64_PAIR(file, line): in sums[] */
	struct line_counts *into;
};

struct unit_function {
	uint32_t ident, checksum;
	strid file;
	uint32_t start, end; /* lines */
	bool is_artificial;
	bool is_group; /* several functions start on the line: instances of a template */
	struct flow_graph graph;
	VEC(struct line_place) places;
};

/* ---- records ---- */

/* Both files begin with their magic number, in their own byte order, version and stamp. */
static bool read_header(struct bytes *b, uint32_t magic, int *version, uint32_t *stamp)
{
	uint32_t found = bytes_u32(b);
	if (found == __builtin_bswap32(magic))
		b->swap = true;
	else if (found != magic)
		return false;
	uint32_t v = bytes_u32(b);
	int major = (int)(v >> 24), middle = (int)(v >> 16 & 255), minor = (int)(v >> 8 & 255);
	*version = major >= 'A' ? (major - 'A') * 100 + (middle - '0') * 10 + (minor - '0')
				: (major - '0') * 10 + (minor - '0');
	*stamp = bytes_u32(b);
	if (*version >= V_LENGTHS_IN_BYTES)
		bytes_u32(b); /* checksum */
	return !b->failed;
}

/* The next record; its length is that of the data, which *all_zero counters do not have. */
static bool next_record(struct bytes *b, int version, uint32_t *tag, struct bytes *data,
			bool *all_zero)
{
	*tag = bytes_left(b) ? bytes_u32(b) : 0;
	if (!*tag) /* the end */
		return false;
	int32_t length = (int32_t)bytes_u32(b);
	*all_zero = length < 0 && *tag == TAG_COUNTERS;
	uint64_t size = *all_zero ? 0 : (uint32_t)length;
	*data = bytes_take(b, version >= V_LENGTHS_IN_BYTES ? size : size * 4);
	return !b->failed;
}

static strid read_string(struct unit *u, struct bytes *b)
{
	uint64_t length = bytes_u32(b);
	struct bytes text = bytes_take(b, u->version >= V_LENGTHS_IN_BYTES ? length : length * 4);
	const char *at = (const char *)text.pos;
	return strtab_addn(u->strings, at, strnlen(at, bytes_left(&text)));
}

/* ---- .gcda ---- */

static struct kin_error *damaged(const struct bytes *b)
{
	return err_new(KIN_ERROR_FORMAT, "%s: damaged at byte %zu", b->name,
		       (size_t)(b->pos - b->start));
}

static struct kin_error *read_counts(struct unit *u, struct bytes b, uint32_t stamp, uint32_t *runs)
{
	int version;
	uint32_t own_stamp, tag, ident = 0;
	struct counter_list c = { 0 };
	struct bytes data;

	if (!read_header(&b, MAGIC_COUNTS, &version, &own_stamp))
		return err_new(KIN_ERROR_FORMAT, "%s: not what a program of --coverage writes",
			       b.name);
	if (version != u->version || own_stamp != stamp)
		return err_new(KIN_ERROR_MISMATCH,
			       "%s: its program was not compiled when %s was written", b.name,
			       u->notes.name);
	for (bool all_zero; next_record(&b, version, &tag, &data, &all_zero);) {
		if (tag == TAG_SUMMARY) {
			*runs = bytes_u32(&data);
		} else if (tag == TAG_CLANG_SUMMARY) {
			bytes_skip(&data, 8);
			*runs = bytes_u32(&data);
		} else if (tag == TAG_FUNCTION && bytes_left(&data)) {
			ident = bytes_u32(&data);
			bytes_u32(&data);
			c.checksum = bytes_u32(&data);
		} else if (tag == TAG_COUNTERS) {
			c.counters = data;
			c.all_zero = all_zero;
			*map64_at(&u->by_ident, ident) = (uint32_t)u->counted.n;
			vec_push(&u->counted, c);
		}
		if (data.failed)
			return damaged(&data);
	}
	return b.failed ? damaged(&b) : NULL;
}

/* ---- .gcno ---- */

static void read_function(struct unit *u, struct bytes *b, struct unit_function *f)
{
	f->ident = bytes_u32(b);
	bytes_u32(b);
	f->checksum = bytes_u32(b);
	read_string(u, b); /* its name */
	f->is_artificial = u->version >= V_GCC && bytes_u32(b);
	f->file = read_string(u, b);
	f->start = bytes_u32(b);
	if (u->version >= V_GCC) {
		bytes_u32(b); /* column */
		f->end = bytes_u32(b);
	}
}

static void read_arcs(struct unit_function *f, struct bytes *b)
{
	uint32_t from = bytes_u32(b);
	while (bytes_left(b) && !b->failed) {
		struct flow_arc a = { .from = from, .to = bytes_u32(b) };
		a.is_known = !(bytes_u32(b) & ON_TREE);
		if (a.from >= f->graph.n_blocks || a.to >= f->graph.n_blocks)
			bytes_fail(b);
		if (!b->failed)
			vec_push(&f->graph.arcs, a);
	}
}

/* Ends the list of the lines in one file. gcov counts a block on the last one, but takes the last
 * block for the exit, which has no lines; in clang's notes it counts on each. */
static void end_list(const struct unit *u, struct unit_function *f, size_t first)
{
	size_t last = first;
	if (u->version >= V_GCC && first < f->places.n &&
	    f->places.at[first].block + 1 == f->graph.n_blocks)
		return;
	for (size_t i = first; i < f->places.n; i++) {
		f->places.at[i].ends = u->version < V_GCC;
		if (f->places.at[i].line >= f->places.at[last].line)
			last = i;
	}
	if (last < f->places.n)
		f->places.at[last].ends = true;
}

static void read_lines(struct unit *u, struct unit_function *f, struct bytes *b)
{
	uint32_t block = bytes_u32(b);
	strid file = 0;
	size_t first = f->places.n;

	if (block >= f->graph.n_blocks)
		bytes_fail(b);
	while (!b->failed) {
		uint32_t line = bytes_u32(b);
		if (line) {
			vec_push(&f->places, ((struct line_place){ .block = block,
								   .order = (uint32_t)f->places.n,
								   .file = file,
								   .line = line }));
			continue;
		}
		end_list(u, f, first);
		first = f->places.n;
		file = read_string(u, b);
		if (!file) /* the end */
			return;
	}
}

/* ---- counts ---- */

static struct line_sum *sum_at(struct unit *u, strid file, uint32_t line)
{
	uint32_t *at = map64_at(&u->by_line, MAP64_PAIR(file, line));
	if (*at == NONE) {
		*at = (uint32_t)u->sums.n;
		vec_push(&u->sums, ((struct line_sum){ .file = file, .line = line }));
	}
	return &u->sums.at[*at];
}

/* Hands over the lines, in the order in which they were met, and forgets them. */
static void end_lines(struct unit *u)
{
	for (size_t i = 0; i < u->sums.n; i++) {
		const struct line_sum *s = &u->sums.at[i];
		uint64_t count = s->has_ends ? s->of_ends : s->of_blocks;
		if (!s->is_unknown && (int64_t)count >= 0)
			line_counts_add(u->into, strtab_get(u->strings, u->folder),
					strtab_get(u->strings, s->file), s->line, count);
	}
	u->sums.n = 0;
	map64_free(&u->by_line);
}

static int by_block(const void *l, const void *r)
{
	const struct line_place *a = l, *b = r;
	if (a->block != b->block)
		return ORDER(a->block, b->block);
	return ORDER(a->order, b->order);
}

static int by_line(const void *l, const void *r)
{
	const struct line_place *a = l, *b = r;
	if (a->file != b->file)
		return ORDER(a->file, b->file);
	if (a->line != b->line)
		return ORDER(a->line, b->line);
	return by_block(l, r);
}

/* Whether the place is counted with the lines of its own function or, of an instance of a template,
 * with those of others. */
static bool is_of_group(const struct unit_function *f, const struct line_place *p)
{
	return f->is_group && p->file == f->file && p->line >= f->start && p->line <= f->end;
}

static void count_line(struct unit *u, struct unit_function *f, const struct line_place *places,
		       size_t n)
{
	uint32_t *blocks = xrealloc(NULL, n, sizeof(*blocks));
	struct line_sum *s = sum_at(u, places->file, places->line);
	size_t n_ends = 0;
	uint64_t visits;

	for (size_t i = 0; i < n; i++) {
		s->of_blocks += f->graph.blocks[places[i].block].count;
		if (places[i].ends)
			blocks[n_ends++] = places[i].block;
	}
	s->has_ends |= n_ends > 0;
	if (n_ends && flow_graph_visits(&f->graph, blocks, n_ends, &visits))
		s->of_ends += visits;
	else if (n_ends)
		s->is_unknown = true;
	free(blocks);
}

/* Counts the lines of the function that are, or are not, of its group. */
static void count_lines(struct unit *u, struct unit_function *f, bool of_group)
{
	for (size_t i = 0, end; i < f->places.n; i = end) {
		const struct line_place *p = &f->places.at[i];
		for (end = i + 1; end < f->places.n && f->places.at[end].file == p->file &&
				  f->places.at[end].line == p->line;)
			end++;
		if (is_of_group(f, p) == of_group)
			count_line(u, f, p, end - i);
	}
}

/* Assigns counters to arcs. False: there are more or fewer. */
static bool take_counters(const struct counter_list *c, struct unit_function *f)
{
	struct bytes b = c->counters;
	size_t n = 0;

	for (size_t i = 0; i < f->graph.arcs.n; i++) {
		struct flow_arc *a = &f->graph.arcs.at[i];
		if (!a->is_known)
			continue;
		uint32_t low = c->all_zero ? 0 : bytes_u32(&b);
		uint32_t high = c->all_zero ? 0 : bytes_u32(&b);
		a->count = (uint64_t)high << 32 | low;
		n++;
	}
	return !b.failed && !bytes_left(&b);
}

/* A function without counters has another instance in the program. */
static struct kin_error *count_function(struct unit *u, struct unit_function *f)
{
	uint32_t k = map64_get(&u->by_ident, f->ident);
	if (k == NONE || f->is_artificial)
		return NULL;
	const struct counter_list *c = &u->counted.at[k];
	if (c->checksum != f->checksum)
		return err_new(KIN_ERROR_MISMATCH, "%s: a function is another one than in %s",
			       c->counters.name, u->notes.name);
	uint32_t *same = map64_at(&u->starts, MAP64_PAIR(f->file, f->start));
	f->is_group = u->version >= V_GCC && *same > 1;
	/* There is no block without a jump. */
	if (f->graph.n_blocks > 2 * f->graph.arcs.n + 2 || !take_counters(c, f) ||
	    !flow_graph_solve(&f->graph))
		return err_new(KIN_ERROR_FORMAT, "%s: its counters do not fit %s", c->counters.name,
			       u->notes.name);
	if (f->places.n)
		qsort(f->places.at, f->places.n, sizeof(*f->places.at), by_line);
	count_lines(u, f, false);
	if (f->is_group) {
		struct unit own = *u;
		memset(&own.sums, 0, sizeof(own.sums));
		memset(&own.by_line, 0, sizeof(own.by_line));
		count_lines(&own, f, true);
		end_lines(&own);
		vec_free(&own.sums);
	}
	return NULL;
}

/* ---- both files ---- */

/* Ends a function, if there is one, and begins anew. */
static struct kin_error *end_function(struct unit *u, struct unit_function *f, bool any)
{
	struct kin_error *err = any ? count_function(u, f) : NULL;
	flow_graph_done(&f->graph);
	vec_free(&f->places);
	memset(f, 0, sizeof(*f));
	return err;
}

/* Counts how many functions start on each line. */
static void find_groups(struct unit *u, struct bytes b)
{
	uint32_t tag;
	struct bytes data;

	for (bool unused; next_record(&b, u->version, &tag, &data, &unused);) {
		struct unit_function f = { 0 };
		if (tag != TAG_FUNCTION)
			continue;
		read_function(u, &data, &f);
		if (f.is_artificial || data.failed)
			continue;
		uint32_t *n = map64_at(&u->starts, MAP64_PAIR(f.file, f.start));
		*n = *n == NONE ? 1 : *n + 1;
	}
}

static struct kin_error *read_functions(struct unit *u, struct bytes b)
{
	struct unit_function f = { 0 };
	struct kin_error *err = NULL;
	uint32_t tag;
	struct bytes data;
	bool any = false;

	for (bool unused; !err && next_record(&b, u->version, &tag, &data, &unused);) {
		if (tag == TAG_FUNCTION) {
			err = end_function(u, &f, any);
			any = true;
			read_function(u, &data, &f);
		} else if (tag == TAG_BLOCKS) { /* clang writes a word per block */
			if (f.graph.n_blocks)   /* what was read refers to them */
				bytes_fail(&data);
			f.graph.n_blocks = u->version >= V_GCC ? bytes_u32(&data)
							       : (uint32_t)(bytes_left(&data) / 4);
		} else if (tag == TAG_ARCS) {
			read_arcs(&f, &data);
		} else if (tag == TAG_LINES) {
			read_lines(u, &f, &data);
		}
		if (data.failed && !err)
			err = damaged(&data);
	}
	if (!err && b.failed)
		err = damaged(&b);
	struct kin_error *last = end_function(u, &f, any && !err);
	return err ? err : last;
}

static struct kin_error *parse(struct unit *u, struct bytes counts, uint32_t *runs)
{
	struct bytes b = u->notes;
	uint32_t stamp;

	if (!read_header(&b, MAGIC_NOTES, &u->version, &stamp))
		return err_new(KIN_ERROR_FORMAT, "%s: not what a compiler writes for --coverage",
			       b.name);
	if (u->version < V_GCC && u->version / 10 != 4)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "%s: of a compiler before gcc 9 (gcov --json-format and --gcov will "
			       "do)",
			       b.name);
	struct kin_error *err = read_counts(u, counts, stamp, runs);
	if (err)
		return err;
	if (u->version >= V_GCC) {
		u->folder = read_string(u, &b);
		bytes_u32(&b);
	}
	find_groups(u, b);
	err = read_functions(u, b);
	end_lines(u);
	return err;
}

struct kin_error *counters_parse(struct bytes notes, struct bytes counts, struct line_counts *into,
				 uint32_t *runs)
{
	struct unit u = { .notes = notes, .strings = strtab_new(), .into = into };

	*runs = 0;
	struct kin_error *err = parse(&u, counts, runs);
	strtab_free(u.strings);
	vec_free(&u.counted);
	vec_free(&u.sums);
	map64_free(&u.by_ident);
	map64_free(&u.starts);
	map64_free(&u.by_line);
	return err;
}

/* ".gcda" becomes ".gcno"; to be freed. */
static char *notes_of(const char *path) { return xprintf("%.*sno", (int)strlen(path) - 2, path); }

struct kin_error *counters_read(const char *path, const char *built, struct line_counts *into,
				uint32_t *runs)
{
	char *name = notes_of(path);
	struct file_opts opts = { .max = FILE_MAX_SIZE };
	struct file counts, notes;

	if (access(name, F_OK)) {
		free(name);
		name = notes_of(built);
	}
	struct kin_error *err = file_read(path, &opts, &counts);
	if (!err && (err = file_read(name, &opts, &notes)))
		file_free(&counts);
	if (!err) {
		err = counters_parse(bytes_of(name, notes.data, notes.size),
				     bytes_of(path, counts.data, counts.size), into, runs);
		file_free(&counts);
		file_free(&notes);
	}
	free(name);
	return err;
}

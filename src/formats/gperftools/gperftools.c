/* gperftools.c - CPU profiles of gperftools' libprofiler (its doc/cpuprofile-fileformat.html).
 *
 * The file consists of machine words: a header; records, each of a count, a number of addresses,
 * and the addresses, innermost first (all others are return addresses); an end record. The
 * process's mappings follow, as text like /proc/self/maps. A record stands for `count` ticks of the
 * sampling period. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/search.h"
#include "base/vec.h"
#include "formats/formats.h"
#include "input/input.h"
#include "object/object.h"

enum { HEADER_WORDS = 5, NS_PER_US = 1000, MOST_PERIOD_US = 100000000 };

struct gperftools_mapping { /* [start, end) maps the file from `offset` on */
	uint64_t start, end, offset;
	uint32_t object; /* index into objects[] */
};

struct mapped_object {
	objid id;
	bool is_file, is_vdso;
	struct object_file *file; /* NULL: not available; addresses are then file offsets */
};

struct gperftools_reader {
	struct bytes b;
	struct profile_builder *into;
	const struct input_opts *opts;
	unsigned word;
	VEC(struct gperftools_mapping) mappings; /* by address */
	VEC(struct mapped_object) objects;
	struct map64 object_ids; /* by string of the profile */
	struct map64 frame_ids;  /* by address: return addresses are odd keys */
	VEC(uint64_t) path;
	uint16_t event;
	uint64_t period_ns;
};

static uint64_t take_word(struct bytes *b, unsigned word)
{
	return word == 4 ? bytes_u32(b) : bytes_u64(b);
}

/* ---- mappings ---- */

struct gperftools_text {
	const char *at, *end;
};

static bool take_hex(struct gperftools_text *t, char behind, uint64_t *ret)
{
	const char *start = t->at;
	for (*ret = 0; t->at < t->end && isxdigit((unsigned char)*t->at); t->at++)
		*ret = *ret << 4 | (uint64_t)num_hex_digit(*t->at);
	if (t->at == start || t->at == t->end || *t->at != behind)
		return false;
	t->at++;
	return true;
}

static void skip_word(struct gperftools_text *t)
{
	while (t->at < t->end && *t->at != ' ')
		t->at++;
	while (t->at < t->end && *t->at == ' ')
		t->at++;
}

static enum object_kind kind_of(const char *path)
{
	return !strcmp(path, "[vdso]") ? OBJECT_VDSO : *path == '/' ? OBJECT_ELF : OBJECT_OTHER;
}

/* The first file is the program. */
static uint32_t add_object(struct gperftools_reader *r, const char *path, size_t n)
{
	strid name = profile_add_string(r->into, path, n);
	uint32_t *known = map64_at(&r->object_ids, name);
	if (*known != NONE)
		return *known;
	*known = (uint32_t)r->objects.n;
	char *copy = xprintf("%.*s", (int)n, path);
	struct object_opts how = { .symfs = r->opts->symfs };
	struct mapped_object o = { .is_file = kind_of(copy) == OBJECT_ELF };
	o.is_vdso = kind_of(copy) == OBJECT_VDSO;
	o.id = profile_add_object_of(r->into, copy, "", kind_of(copy), o.is_file && !r->objects.n);
	if (o.is_file)
		kin_error_free(object_open(copy, &how, &o.file));
	vec_push(&r->objects, o);
	free(copy);
	return *known;
}

/* "start-end perms offset device inode  path"; lines without a file, or without code, are left out.
 */
static void read_mapping(struct gperftools_reader *r, struct gperftools_text line)
{
	enum { MOST_PATH = 4096 };
	struct gperftools_mapping m;
	if (!take_hex(&line, '-', &m.start) || !take_hex(&line, ' ', &m.end))
		return;
	bool is_code = line.end - line.at > 3 && line.at[2] == 'x';
	skip_word(&line);
	if (!take_hex(&line, ' ', &m.offset))
		return;
	skip_word(&line);
	skip_word(&line);
	size_t n = (size_t)(line.end - line.at);
	if (!is_code || !n || n > MOST_PATH || m.start >= m.end || memchr(line.at, '\0', n))
		return;
	m.object = add_object(r, line.at, n);
	vec_push(&r->mappings, m);
}

static int by_start(const void *x, const void *y)
{
	const struct gperftools_mapping *a = x, *b = y;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Returns whether the text is whole. A line without an end is not read: its path may be cut off,
 * and would name another file. */
static bool read_mappings(struct gperftools_reader *r, struct bytes b)
{
	const uint8_t *end;
	while ((end = memchr(b.pos, '\n', bytes_left(&b)))) {
		read_mapping(r, (struct gperftools_text){ (const char *)b.pos, (const char *)end });
		b.pos = end + 1;
	}
	if (r->mappings.n)
		qsort(r->mappings.at, r->mappings.n, sizeof(*r->mappings.at), by_start);
	return !bytes_left(&b);
}

static const struct gperftools_mapping *find_mapping(const struct gperftools_reader *r,
						     uint64_t addr)
{
	size_t low = COUNT_WHILE(r->mappings.n, i, r->mappings.at[i].start <= addr);
	const struct gperftools_mapping *m = low ? &r->mappings.at[low - 1] : NULL;
	return m && addr < m->end ? m : NULL;
}

/* ---- records ---- */

static uint64_t link_time(const struct mapped_object *o, uint64_t offset)
{
	size_t n = 0;
	const struct object_segment *s = o->file ? object_segments(o->file, &n) : NULL;
	for (size_t i = 0; i < n; i++)
		if (s[i].executable && offset >= s[i].offset &&
		    offset - s[i].offset < s[i].file_size)
			return s[i].addr + (offset - s[i].offset);
	return offset;
}

static frameid frame_at(struct gperftools_reader *r, uint64_t addr, bool is_return)
{
	uint32_t *known = map64_at(&r->frame_ids, addr << 1 | is_return);
	if (*known != NONE)
		return *known;
	struct frame f = { .addr = addr, .flags = is_return ? FRAME_RETURN : 0 };
	/* The call may be the last instruction of a mapping. */
	const struct gperftools_mapping *m = find_mapping(r, is_return && addr ? addr - 1 : addr);
	if (m) {
		const struct mapped_object *o = &r->objects.at[m->object];
		f.object = o->id;
		if (o->is_file)
			f.addr = link_time(o, addr - is_return - m->start + m->offset) + is_return;
		else if (o->is_vdso)
			f.addr = addr - m->start;
	}
	return *known = profile_add_frame(r->into, f);
}

static void add_sample(struct gperftools_reader *r, uint64_t count)
{
	stackid stack = 0;
	uint64_t weight;
	for (size_t i = r->path.n; i--;)
		stack = profile_add_stack(r->into, stack, frame_at(r, r->path.at[i], i > 0));
	if (__builtin_mul_overflow(count, r->period_ns, &weight)) {
		weight = UINT64_MAX;
		profile_note_saturated(r->into);
	}
	profile_add_sample(r->into, (struct sample){ .stack = stack,
						     .event = r->event,
						     .cpu = CPU_NONE,
						     .count = count < UINT32_MAX ? (uint32_t)count
										 : UINT32_MAX,
						     .weight = weight });
}

/* False at the end record, or if the file is truncated. */
static bool next_record(struct bytes *b, unsigned word, uint64_t *count, uint64_t *n)
{
	*count = take_word(b, word);
	*n = take_word(b, word);
	if (b->failed || *n > bytes_left(b) / word) {
		b->failed = true;
		return false;
	}
	return *count || *n != 1;
}

static void read_records(struct gperftools_reader *r)
{
	uint64_t count, n;
	while (next_record(&r->b, r->word, &count, &n)) {
		r->path.n = 0;
		for (uint64_t i = 0; i < n; i++)
			vec_push(&r->path, take_word(&r->b, r->word));
		if (count)
			add_sample(r, count);
	}
}

/* Mappings come after the records, which cannot be read without them. */
static struct bytes behind_records(struct bytes b, unsigned word)
{
	uint64_t count, n;
	while (next_record(&b, word, &count, &n))
		bytes_take(&b, n * word);
	take_word(&b, word); /* the end record's address, 0 */
	return b.failed ? (struct bytes){ 0 } : b;
}

/* ---- the file ---- */

struct gperftools_header {
	uint64_t word, period_us;
	bool swap;
};

/* Reads 0, 3, 0, period, 0: words of four or eight bytes, in either byte order. */
static bool take_header(struct bytes *b, struct gperftools_header *ret)
{
	for (unsigned word = 4; word <= 8; word += 4)
		for (int swap = 0; swap < 2; swap++) {
			struct bytes at = *b;
			uint64_t w[HEADER_WORDS];
			at.swap = swap;
			for (size_t i = 0; i < HEADER_WORDS; i++)
				w[i] = take_word(&at, word);
			if (at.failed || w[0] || w[1] != 3 || w[2] || !w[3] ||
			    w[3] > MOST_PERIOD_US || w[4])
				continue;
			*ret = (struct gperftools_header){ word, w[3], swap };
			*b = at;
			return true;
		}
	return false;
}

static struct kin_error *gperftools_read(struct bytes all, const struct input_opts *o,
					 struct profile_builder *into, struct source *source)
{
	struct gperftools_reader r = { .b = all, .into = into, .opts = o };
	struct gperftools_header h;
	(void)source;
	if (!take_header(&r.b, &h))
		return err_new(KIN_ERROR_FORMAT, "%s: cut off in its header", all.name);
	r.word = (unsigned)h.word;
	r.period_ns = h.period_us * NS_PER_US;
	struct event e = {
		.unit = EVENT_NS, .period = r.period_ns, .stacks = true, .is_timeless = true
	};
	e.name = profile_add_string(into, "cpu-clock", strlen("cpu-clock"));
	r.event = profile_add_event(into, e);
	struct bytes text = behind_records(r.b, r.word);
	bool is_whole = bytes_left(&text) ? read_mappings(&r, text) : true;
	read_records(&r);
	bool damaged = r.b.failed;
	for (size_t i = 0; i < r.objects.n; i++)
		object_free(r.objects.at[i].file);
	vec_free(&r.objects);
	vec_free(&r.mappings);
	vec_free(&r.path);
	map64_free(&r.object_ids);
	map64_free(&r.frame_ids);
	if (damaged)
		return err_new(KIN_ERROR_FORMAT,
			       "%s: cut off: what stands before was read, and without the "
			       "mappings at its end there are no names",
			       all.name);
	return is_whole ? NULL
			: err_new(KIN_ERROR_FORMAT,
				  "%s: cut off in the mappings at its end: code of the libraries "
				  "that are missing there has no names",
				  all.name);
}

static bool gperftools_recognise(struct bytes head, const struct input_opts *o)
{
	struct gperftools_header h;
	(void)o;
	return take_header(&head, &h);
}

const struct format gperftools_format = {
	.about = { .name = "gperftools",
		   .what = "CPU profile of gperftools' libprofiler",
		   .endings = (const char *const[]){ ".prof", NULL },
		   .is_read = true,
		   .is_binary = true },
	.recognise = gperftools_recognise,
	.read = gperftools_read,
};

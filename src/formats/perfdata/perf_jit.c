/* perf_jit.c - names of code made at run time, and its call-frame information.
 *
 * /tmp/perf-PID.map has a line "START SIZE NAME" per piece, with numbers in hex; jitdumps have
 * records. If pieces overlap, the later one holds: code moves and goes, and addresses are used
 * again. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include "base/search.h"
#include "formats/perfdata/perf.h"
#include "input/jitdump.h"

enum { JIT_FILE_MAX = 256 << 20 };

struct jit_names {
	VEC(struct perf_name) at; /* in the order of the file */
	struct map64 last;        /* for jitdumps: start -> the last piece there */
	VEC(struct perf_made_frames) frames;
	uint64_t frames_size;
	uint32_t pending; /* index + 1 of the frames for the next piece; 0: none */
};

/* ---- overlaps ---- */

static int by_start(const void *a, const void *b)
{
	const struct perf_name *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void resolve_overlaps(struct perf *p, struct jit_names *names)
{
	struct perf_space space;
	struct jit_names flat = { 0 };
	struct perf_map m;

	/* Mappings in an address space follow the same rule. */
	perf_space_init(p, &space);
	for (size_t i = 0; i < names->at.n; i++)
		perf_space_map(p, &space,
			       (struct perf_map){ .start = names->at.at[i].start,
						  .end = names->at.at[i].end,
						  .object = names->at.at[i].frames,
						  .name = names->at.at[i].name });
	for (uint64_t at = 0; perf_space_next(&space, at, &m); at = m.end)
		vec_push(&flat.at, ((struct perf_name){ m.start, m.end, m.name, m.object }));
	vec_free(&names->at);
	names->at.at = flat.at.at;
	names->at.n = flat.at.n;
}

/* Sorts the pieces, and resolves overlaps, of which there are mostly none. */
static void settle(struct perf *p, struct jit_names *names)
{
	struct perf_name *at = names->at.at;
	bool sorted = true, overlap = false;

	for (size_t i = 1; i < names->at.n; i++) {
		sorted &= at[i - 1].start <= at[i].start;
		overlap |= at[i - 1].end > at[i].start;
	}
	if (sorted && !overlap)
		return;
	struct perf_name *copy = xrealloc(NULL, names->at.n, sizeof(*copy));
	memcpy(copy, at, names->at.n * sizeof(*copy));
	qsort(copy, names->at.n, sizeof(*copy), by_start);
	overlap = false;
	for (size_t i = 1; i < names->at.n; i++)
		overlap |= copy[i - 1].end > copy[i].start;
	if (overlap)
		resolve_overlaps(p, names);
	else
		memcpy(at, copy, names->at.n * sizeof(*copy));
	free(copy);
}

static void add_name(struct perf *p, struct jit_names *names, uint64_t start, uint64_t size,
		     const char *name, size_t n)
{
	if (!size || start + size < start || !n)
		return;
	vec_push(&names->at, ((struct perf_name){ .start = start,
						  .end = start + size,
						  .name = profile_add_string(p->into, name, n) }));
}

/* ---- perf-PID.map ---- */

static bool read_hex(const char **at, const char *end, uint64_t *ret)
{
	const char *s = *at;
	uint64_t v = 0;

	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	const char *first = s;
	for (; s < end && s - first < 16; s++) {
		int digit = num_hex_digit(*s);
		if (digit < 0)
			break;
		v = v << 4 | (unsigned)digit;
	}
	if (s == first)
		return false;
	for (*at = s; *at < end && **at == ' '; ++*at)
		;
	*ret = v;
	return *at > s;
}

static void read_map(struct perf *p, struct jit_names *names, const struct file *f)
{
	const char *at = (const char *)f->data, *all = at + f->size;

	while (at < all) {
		const char *end = memchr(at, '\n', (size_t)(all - at));
		uint64_t start, size;
		if (!end)
			end = all;
		if (read_hex(&at, end, &start) && read_hex(&at, end, &size))
			add_name(p, names, start, size, at, strnlen(at, (size_t)(end - at)));
		at = end + 1;
	}
}

/* ---- jitdump ---- */

/* Copies call-frame information; returns its index + 1, or 0 if too much is kept already. */
static uint32_t add_frames(struct jit_names *names, const uint8_t *at, uint64_t size,
			   uint64_t hdr_size)
{
	struct perf_made_frames f = { .said = { .size = size, .hdr_size = hdr_size } };
	if (size > MADE_FRAMES_MAX || names->frames_size + size > MADE_FRAMES_ALL_MAX)
		return 0;
	f.said.at = xalloc(size);
	memcpy(f.said.at, at, size);
	names->frames_size += size;
	vec_push(&names->frames, f);
	return (uint32_t)names->frames.n;
}

static void add_code(struct jit_names *names, const struct jitdump_record *r, strid name,
		     uint32_t frames)
{
	*map64_at(&names->last, r->addr) = (uint32_t)names->at.n;
	vec_push(&names->at, ((struct perf_name){ r->addr, r->addr + r->code_size, name, frames }));
	if (!frames)
		return;
	names->frames.at[frames - 1].code = r->addr;
	names->frames.at[frames - 1].size = r->code_size;
}

static void take_load(struct perf *p, struct jit_names *names, const struct jitdump_record *r)
{
	add_code(names, r, profile_add_string(p->into, r->name, r->name_size), names->pending);
	names->pending = 0;
}

static void take_move(struct jit_names *names, const struct jitdump_record *r)
{
	uint32_t known = map64_get(&names->last, r->from), frames = 0;
	if (known == NONE)
		return;
	struct perf_name was = names->at.at[known];
	if (was.frames) {
		struct made_frames said = names->frames.at[was.frames - 1].said;
		frames = add_frames(names, said.at, said.size, said.hdr_size);
	}
	add_code(names, r, was.name, frames);
}

/* An incomplete last record is ignored. */
static void read_dump(struct perf *p, struct jit_names *names, const struct file *f)
{
	struct bytes b = bytes_of("jitdump", f->data, f->size), header = b;
	uint32_t size = jitdump_header(&header);
	struct jitdump_record r;
	if (!size)
		return;
	b.swap = header.swap;
	bytes_skip(&b, size);
	while (jitdump_next(b, &r)) {
		const uint8_t *record = b.pos;
		bytes_skip(&b, r.size);
		if (b.failed)
			return;
		if (r.kind == JITDUMP_LOAD)
			take_load(p, names, &r);
		else if (r.kind == JITDUMP_MOVE)
			take_move(names, &r);
		else if (r.kind == JITDUMP_FRAMES)
			names->pending = add_frames(names, record + JITDUMP_BEFORE_FRAMES,
						    r.frames_size, r.frames_hdr_size);
	}
}

/* ---- files ---- */

/* Anybody may leave files in /tmp: trusted are our own and root's; root trusts all. */
static bool is_trusted(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) &&
	       (st.st_uid == geteuid() || !st.st_uid || !geteuid());
}

static void read_one(struct perf *p, struct jit_names *names, const char *path,
		     void (*read)(struct perf *p, struct jit_names *names, const struct file *f))
{
	struct file f = { 0 };
	struct file_opts opts = { .max = JIT_FILE_MAX };
	struct kin_error *err = path && is_trusted(path) ? file_read(path, &opts, &f) : NULL;

	if (!err && f.data)
		read(p, names, &f);
	kin_error_free(err);
	file_free(&f);
}

struct perf_made perf_jit_read(struct perf *p, const char *map, const char *dump)
{
	struct jit_names names = { 0 };

	read_one(p, &names, map, read_map);
	read_one(p, &names, dump, read_dump);
	map64_free(&names.last);
	settle(p, &names);
	return (struct perf_made){ .names = names.at.at,
				   .n_names = names.at.n,
				   .frames = names.frames.at,
				   .n_frames = names.frames.n };
}

void perf_made_free(struct perf_made *made)
{
	for (size_t i = 0; i < made->n_frames; i++)
		free(made->frames[i].said.at);
	free(made->frames);
	free(made->names);
	*made = (struct perf_made){ 0 };
}

const struct perf_name *perf_made_at(const struct perf_made *made, uint64_t addr)
{
	size_t low = COUNT_WHILE(made->n_names, i, made->names[i].end <= addr);

	return low < made->n_names && made->names[low].start <= addr ? &made->names[low] : NULL;
}

/* perf_jit.c - names of code made at run time.
 *
 * /tmp/perf-PID.map: a line "START SIZE NAME" per piece, numbers in hex; or a jitdump. Of pieces
 * that overlap the later ones are believed: code moves and goes, and addresses are used again. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "formats/perfdata/perf.h"
#include "input/jitdump.h"

enum { JIT_FILE_MAX = 256 << 20 };

struct jit_names {
	VEC(struct perf_name) at; /* in the order of the file */
	struct map64 last;        /* jitdump: start -> the last one there */
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

	/* An address space has the same rule. */
	perf_space_init(p, &space);
	for (size_t i = 0; i < names->at.n; i++)
		perf_space_map(p, &space,
			       (struct perf_map){ .start = names->at.at[i].start,
						  .end = names->at.at[i].end,
						  .object = 0,
						  .name = names->at.at[i].name });
	for (uint64_t at = 0; perf_space_next(&space, at, &m); at = m.end)
		vec_push(&flat.at, ((struct perf_name){ m.start, m.end, m.name }));
	vec_free(&names->at);
	*names = flat;
}

/* Mostly there are none. */
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

static void add(struct perf *p, struct jit_names *names, uint64_t start, uint64_t size,
		const char *name, size_t n)
{
	if (!size || start + size < start || !n)
		return;
	vec_push(&names->at,
		 ((struct perf_name){ start, start + size, profile_add_string(p->into, name, n) }));
}

/* ---- perf-PID.map ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_hex(const char **at, const char *end, uint64_t *ret)
{
	const char *s = *at;
	uint64_t v = 0;

	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	const char *first = s;
	for (; s < end && s - first < 16; s++) {
		int digit = hex_digit(*s);
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
			add(p, names, start, size, at, strnlen(at, (size_t)(end - at)));
		at = end + 1;
	}
}

/* ---- jitdump ---- */

static void take_load(struct perf *p, struct jit_names *names, const struct jitdump_record *r)
{
	*map64_at(&names->last, r->addr) = (uint32_t)names->at.n;
	add(p, names, r->addr, r->code_size, r->name, r->name_size);
}

static void take_move(struct jit_names *names, const struct jitdump_record *r)
{
	uint32_t known = map64_get(&names->last, r->from);
	if (known == NONE)
		return;
	*map64_at(&names->last, r->addr) = (uint32_t)names->at.n;
	struct perf_name moved = { r->addr, r->addr + r->code_size, names->at.at[known].name };
	vec_push(&names->at, moved);
}

/* A last record that is cut says nothing. */
static void read_dump(struct perf *p, struct jit_names *names, struct bytes b)
{
	struct bytes header = b;
	uint32_t size = jitdump_header(&header);
	struct jitdump_record r;
	if (!size)
		return;
	b.swap = header.swap;
	bytes_skip(&b, size);
	while (jitdump_next(b, &r)) {
		bytes_skip(&b, r.size);
		if (b.failed)
			return;
		if (r.kind == JITDUMP_LOAD)
			take_load(p, names, &r);
		else if (r.kind == JITDUMP_MOVE)
			take_move(names, &r);
	}
}

/* ---- files ---- */

/* Anybody may leave a file in /tmp: one's own are believed, and the system's; root sees all. */
static bool is_trusted(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) &&
	       (st.st_uid == geteuid() || !st.st_uid || !geteuid());
}

struct perf_name *perf_jit_read(struct perf *p, const char *path, size_t *n)
{
	struct jit_names names = { 0 };
	struct file f = { 0 };
	struct file_opts opts = { .max = JIT_FILE_MAX };
	size_t length = strlen(path);

	*n = 0;
	struct kin_error *err = is_trusted(path) ? file_read(path, &opts, &f) : NULL;
	if (!err && f.data && length > 5 && !strcmp(path + length - 5, ".dump"))
		read_dump(p, &names, bytes_of(path, f.data, f.size));
	else if (!err && f.data)
		read_map(p, &names, &f);
	kin_error_free(err);
	file_free(&f);
	map64_free(&names.last);
	settle(p, &names);
	*n = names.at.n;
	return names.at.at;
}

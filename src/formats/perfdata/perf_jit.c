/* perf_jit.c - names of code made at run time.
 *
 * /tmp/perf-PID.map: a line "START SIZE NAME" per piece, numbers in hex. jitdump (perf's
 * Documentation/jitdump-specification.txt): binary records with time stamps. Of pieces that overlap
 * the later ones are believed: code moves and goes, and addresses are used again. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "formats/perfdata/perf.h"

enum { JIT_FILE_MAX = 256 << 20 };

struct names {
	VEC(struct perf_name) at; /* in the order of the file */
	struct map64 last;        /* jitdump: start -> the last one there */
};

/* ---- overlaps ---- */

static int by_start(const void *a, const void *b)
{
	const struct perf_name *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void resolve_overlaps(struct perf *p, struct names *names)
{
	struct perf_space space;
	struct names flat = { 0 };
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
static void settle(struct perf *p, struct names *names)
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

static void add(struct perf *p, struct names *names, uint64_t start, uint64_t size,
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

static void read_map(struct perf *p, struct names *names, const struct file *f)
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

/* JIT_CODE_LOAD: u32 pid, tid; u64 vma, address, size, index; name, NUL; code. */
static void read_load(struct perf *p, struct names *names, struct bytes b)
{
	bytes_u64(&b);
	bytes_u64(&b);
	uint64_t addr = bytes_u64(&b), size = bytes_u64(&b);
	bytes_u64(&b);
	size_t before = names->at.n;
	if (!b.failed)
		add(p, names, addr, size, (const char *)b.pos,
		    strnlen((const char *)b.pos, bytes_left(&b)));
	if (names->at.n > before)
		*map64_at(&names->last, addr) = (uint32_t)before;
}

/* JIT_CODE_MOVE: u32 pid, tid; u64 vma, address before, address now, size, index. */
static void read_move(struct names *names, struct bytes b)
{
	bytes_u64(&b);
	bytes_u64(&b);
	uint64_t from = bytes_u64(&b), to = bytes_u64(&b), size = bytes_u64(&b);
	uint32_t known = map64_get(&names->last, from);
	if (b.failed || known == NONE || !size || to + size < to)
		return;
	*map64_at(&names->last, to) = (uint32_t)names->at.n;
	struct perf_name moved = { to, to + size, names->at.at[known].name };
	vec_push(&names->at, moved);
}

static void read_dump(struct perf *p, struct names *names, struct bytes b)
{
	enum { MAGIC = 0x4a695444, LOAD = 0, MOVE = 1, RECORD = 16, HEADER = 40 };

	b.swap = bytes_left(&b) >= 4 && bytes_load(b.pos, 4, false) != MAGIC;
	if (bytes_u32(&b) != MAGIC)
		return;
	bytes_u32(&b); /* version */
	uint32_t header = bytes_u32(&b);
	if (header < HEADER)
		return;
	bytes_take(&b, header - 12);
	while (bytes_left(&b) >= RECORD) {
		uint32_t type = bytes_u32(&b), size = bytes_u32(&b);
		bytes_u64(&b); /* time */
		if (size < RECORD)
			return;
		struct bytes record = bytes_take(&b, size - RECORD);
		if (type == LOAD && !b.failed)
			read_load(p, names, record);
		else if (type == MOVE && !b.failed)
			read_move(names, record);
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
	struct names names = { 0 };
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

/* perf_symbols.c - the functions that a file says of the files it names: Android's simpleperf
 * writes those that were hit, because the phone's files are not where its data is read. */
#include <stdlib.h>

#include "base/sort.h"
#include "formats/perfdata/perf.h"
#include "formats/protobuf.h"

/* simpleperf's kinds of files. */
enum { KERNEL_FILE, KERNEL_MODULE_FILE, ELF_FILE };

static const uint64_t NOT_SAID = UINT64_MAX;

static void add_name(struct perf *p, struct perf_symbols *s, uint64_t start, uint32_t size,
		     const char *name)
{
	if (!size || start + size < start || !*name)
		return;
	vec_push(&s->names,
		 ((struct perf_name){ .start = start,
				      .end = start + size,
				      .name = profile_add_string(p->into, name, strlen(name)) }));
}

static int by_start(const void *a, const void *b)
{
	const struct perf_name *x = a, *y = b;
	return ORDER(x->start, y->start);
}

/* Takes over what was read of a file. Of functions that overlap each ends where the next begins. */
static void add_file(struct perf *p, const char *path, struct perf_symbols *s)
{
	if (s->names.n)
		qsort(s->names.at, s->names.n, sizeof(*s->names.at), by_start);
	for (size_t i = 1; i < s->names.n; i++)
		s->names.at[i - 1].end = min_u64(s->names.at[i - 1].end, s->names.at[i].start);
	uint32_t *at = map64_at(&p->symbols_of, strtab_add(p->strings, path));
	if (*at != NONE || !s->names.n) {
		vec_free(&s->names);
		return;
	}
	*at = (uint32_t)p->symbols.n;
	vec_push(&p->symbols, *s);
}

/* ---- FILE ---- */

static bool read_plain(struct perf *p, struct bytes b)
{
	enum { LEAST = 8 + 4 + 1 }; /* bytes of a function */
	struct perf_symbols s = { .offset = NOT_SAID };
	const char *path = bytes_str(&b);
	s.kind = bytes_u32(&b);
	s.addr = bytes_u64(&b);
	uint32_t n = bytes_u32(&b);

	bool fits = !b.failed && n <= bytes_left(&b) / LEAST;
	for (uint32_t i = 0; fits && i < n; i++) {
		uint64_t start = bytes_u64(&b);
		uint32_t size = bytes_u32(&b);
		add_name(p, &s, start, size, bytes_str(&b));
	}
	fits = fits && !b.failed;
	if (s.kind == ELF_FILE && bytes_left(&b) >= 8)
		s.offset = bytes_u64(&b);
	add_file(p, path, &s);
	return fits;
}

/* ---- FILE2: messages of protocol buffers ---- */

static const char *text_of(struct perf *p, struct bytes b)
{
	size_t n = strnlen((const char *)b.pos, bytes_left(&b));
	return arena_printf(&p->arena, "%.*s", (int)min_u64(n, INT32_MAX), (const char *)b.pos);
}

static bool read_function(struct perf *p, struct perf_symbols *s, struct bytes b)
{
	enum { ADDR = 1, SIZE, NAME };
	struct proto_field f, name = { 0 };
	uint64_t addr = 0, size = 0;

	while (proto_next(&b, &f)) {
		addr = f.number == ADDR ? f.value : addr;
		size = f.number == SIZE ? f.value : size;
		name = f.number == NAME ? f : name;
	}
	if (name.bytes.pos)
		add_name(p, s, addr, (uint32_t)size, text_of(p, name.bytes));
	return !b.failed;
}

static bool read_message(struct perf *p, struct bytes b)
{
	enum { PATH = 1, KIND, ADDR, FUNCTION, ELF = 6 };
	struct perf_symbols s = { .offset = NOT_SAID };
	const char *path = "";
	struct proto_field f, inner;
	bool fits = true;

	while (proto_next(&b, &f)) {
		if (f.number == PATH && f.bytes.pos)
			path = text_of(p, f.bytes);
		else if (f.number == KIND)
			s.kind = (uint32_t)f.value;
		else if (f.number == ADDR)
			s.addr = f.value;
		else if (f.number == FUNCTION && f.bytes.pos)
			fits &= read_function(p, &s, f.bytes);
		else if (f.number == ELF && f.bytes.pos) /* an offset of 0 is left out */
			s.offset = proto_next(&f.bytes, &inner) ? inner.value : 0;
	}
	add_file(p, path, &s);
	return fits && !b.failed;
}

bool perf_symbols_read(struct perf *p, struct bytes b, bool is_message)
{
	bool fits = true;

	while (bytes_left(&b) && fits) {
		struct bytes file = bytes_take(&b, bytes_u32(&b));
		fits = !b.failed && (is_message ? read_message(p, file) : read_plain(p, file));
	}
	return fits;
}

/* ---- looking up ---- */

uint32_t perf_symbols_find(struct perf *p, const char *path)
{
	return map64_get(&p->symbols_of, strtab_add(p->strings, path));
}

strid perf_symbols_name(const struct perf *p, uint32_t symbols, const struct perf_map *m,
			uint64_t ip, uint64_t *addr)
{
	const struct perf_symbols *s = &p->symbols.at[symbols];
	uint64_t in_file = ip - m->start + m->offset;

	if (s->kind == KERNEL_FILE)
		*addr = ip;
	else if (s->kind != ELF_FILE)
		*addr = in_file;
	else
		*addr = s->addr + (s->offset == NOT_SAID ? ip - m->start : in_file - s->offset);
	struct perf_made all = { .names = s->names.at, .n_names = s->names.n };
	const struct perf_name *name = perf_made_at(&all, *addr);
	return name ? name->name : 0;
}

void perf_symbols_done(struct perf *p)
{
	for (size_t i = 0; i < p->symbols.n; i++)
		vec_free(&p->symbols.at[i].names);
	vec_free(&p->symbols);
	map64_free(&p->symbols_of);
}

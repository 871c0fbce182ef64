/* kernel_image.c - reads /proc/kallsyms, sorts it, and lays it out as one image. */
#include "object/kernel_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"
#include "object/kernel_names.h"

enum { VERSION = 3, CHUNK = 8 << 10, NAMES_MAX = 128 << 20, LINE = 1024 };

static const char magic[8] = "KINKSYM\n";

/* ---- memory without malloc() ---- */

/* Grows at its end, and may move. */
struct area {
	char *at;
	size_t size, cap;
};

static bool area_grow(struct area *a, size_t more)
{
	size_t cap = a->cap ? a->cap : 1 << 20;
	while (cap < a->size + more)
		cap *= 2;
	if (cap == a->cap)
		return true;
	void *p = a->cap ? mremap(a->at, a->cap, cap, MREMAP_MAYMOVE)
			 : mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				0);
	if (p == MAP_FAILED)
		return false;
	a->at = p;
	a->cap = cap;
	return true;
}

static bool area_add(struct area *a, const void *data, size_t size)
{
	if (!area_grow(a, size))
		return false;
	memcpy(a->at + a->size, data, size);
	a->size += size;
	return true;
}

static void area_free(struct area *a)
{
	if (a->cap)
		munmap(a->at, a->cap);
}

/* ---- lines of /proc ---- */

/* Reads a file by lines. lines_next() is false at the end, or if reading failed. A line lives until
 * the next one, and is cut to LINE - 1 bytes. */
struct image_lines {
	int fd, failed; /* failed: errno, or 0 */
	size_t at, n;
	char buf[CHUNK], line[LINE];
};

static bool lines_next(struct image_lines *l)
{
	size_t n = 0;
	for (;;) {
		if (l->at == l->n) {
			ssize_t got = read(l->fd, l->buf, sizeof(l->buf));
			if (got < 0 && errno == EINTR)
				continue;
			l->failed = got < 0 ? errno : 0;
			if (got < 0)
				return false;
			if (!got)
				break;
			l->at = 0;
			l->n = (size_t)got;
		}
		char *from = l->buf + l->at, *end = memchr(from, '\n', l->n - l->at);
		size_t piece = end ? (size_t)(end - from) : l->n - l->at;
		size_t fits = piece < LINE - 1 - n ? piece : LINE - 1 - n;
		memcpy(l->line + n, from, fits);
		n += fits;
		l->at += piece + !!end;
		if (end) {
			l->line[n] = '\0';
			return true;
		}
	}
	l->line[n] = '\0';
	return n;
}

static bool lines_open(struct image_lines *l, const char *path)
{
	l->fd = open(path, O_RDONLY | O_CLOEXEC);
	l->failed = l->fd < 0 ? errno : 0;
	l->at = l->n = 0;
	return l->fd >= 0;
}

/* ---- the running kernel ---- */

/* "ext4 1000000 1 - Live 0xffffffffc0000000" */
static bool module_line(const char *line, uint64_t *start, uint64_t *size)
{
	unsigned long long s, a;
	if (sscanf(line, "%*s %llu %*s %*s %*s %llx", &s, &a) != 2)
		return false;
	*size = s;
	*start = a;
	return a;
}

static uint64_t sum(uint64_t h, const void *data, size_t n)
{
	for (const uint8_t *p = data; n; n--)
		h = (h ^ *p++) * UINT64_C(0x100000001b3);
	return h;
}

bool kernel_image_now(struct kernel_image_header *ret, int *errnum)
{
	struct image_lines l;
	uint64_t start, size;
	*ret = (struct kernel_image_header){ .version = VERSION,
					     .block = KERNEL_BLOCK,
					     .modules = UINT64_C(0xcbf29ce484222325) };
	memcpy(ret->magic, magic, sizeof(magic));
	bool known = lines_open(&l, "/proc/sys/kernel/random/boot_id") && lines_next(&l) &&
		     strlen(l.line) < sizeof(ret->boot);
	*errnum = l.failed == ENOENT || l.failed == EACCES ? 0 : l.failed;
	if (known)
		strcpy(ret->boot, l.line);
	if (l.fd >= 0)
		close(l.fd);
	if (!known)
		return false;
	if (!lines_open(&l, "/proc/modules"))
		return true; /* a kernel without modules */
	while (lines_next(&l)) {
		if (!module_line(l.line, &start, &size))
			continue;
		ret->modules = sum(ret->modules, l.line, strcspn(l.line, " "));
		ret->modules = sum(ret->modules, &start, sizeof(start));
	}
	close(l.fd);
	*errnum = l.failed;
	return !l.failed;
}

/* ---- reading ---- */

struct image_making {
	struct image_lines lines;
	struct kernel_image_header header;
	struct area symbols, names, index;
	uint32_t module; /* of the last line that had a module: offset in names */
	uint64_t last;   /* highest address of the kernel without modules */
	bool passing;
};

static bool add_symbol(struct image_making *m, uint64_t addr, uint32_t name, uint32_t module)
{
	struct kernel_image_symbol s = { addr, name, module };
	return area_add(&m->symbols, &s, sizeof(s));
}

static bool add_name(struct image_making *m, const char *s, uint32_t *ret)
{
	*ret = (uint32_t)m->names.size;
	return m->names.size < NAMES_MAX && area_add(&m->names, s, strlen(s) + 1);
}

/* Code that is not from a module's file may vanish at any time. */
static bool comes_and_goes(const char *module)
{
	return !strncmp(module, "bpf", 3) || !strncmp(module, "__builtin__", 11);
}

static bool add_module(struct image_making *m, char *bracket, uint32_t *ret)
{
	bracket[strcspn(bracket, "]")] = '\0';
	if (!m->module || strcmp(m->names.at + m->module, bracket + 1) != 0)
		if (!add_name(m, bracket + 1, &m->module))
			return false;
	*ret = m->module;
	return true;
}

/* Code that runs while the kernel starts may lie behind the rest: either may be the end. */
static bool is_end_of_code(const char *symbol)
{
	return !strcmp(symbol, "_etext") || !strcmp(symbol, "_einittext");
}

/* "ffffffff81000000 T _stext\t[module]"; false: no memory. */
static bool add_line(struct image_making *m, char *line)
{
	char *end = line;
	uint32_t name, module = 0;
	uint64_t addr = 0;
	for (int digit; (digit = num_hex_digit(*end)) >= 0; end++)
		addr = addr << 4 | (unsigned)digit;
	if (!addr || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) || end[2] != ' ')
		return true;
	char *tab = strchr(end + 3, '\t');
	if (tab)
		*tab++ = '\0';
	if (tab && tab[0] == '[') {
		if (!m->passing && comes_and_goes(tab + 1))
			return true;
		if (!add_module(m, tab, &module))
			return false;
	} else if (addr > m->last) {
		m->last = addr;
	}
	const char *symbol = end + 3;
	if (!strcmp(symbol, "_text") || (!m->header.start && !strcmp(symbol, "_stext")))
		m->header.start = addr;
	else if (addr > m->header.end && is_end_of_code(symbol))
		m->header.end = addr;
	return add_name(m, symbol, &name) && add_symbol(m, addr, name, module);
}

/* Returns 0 or an errno, as the functions below do. */
static int read_symbols(struct image_making *m)
{
	bool good = add_name(m, "", &m->module); /* offset 0 is no name */
	if (!good)
		return ENOMEM;
	if (!lines_open(&m->lines, "/proc/kallsyms"))
		return m->lines.failed;
	while (good && lines_next(&m->lines))
		good = add_line(m, m->lines.line);
	close(m->lines.fd);
	return !good ? ENOMEM : m->lines.failed ? m->lines.failed : m->symbols.size ? 0 : ENODATA;
}

/* Adds a symbol without a name behind the last symbol of the kernel and of each module, where an
 * unknown range begins. */
static int add_ends(struct image_making *m)
{
	enum { LAST_FUNCTION = 1 << 20 };
	uint64_t start, size;
	bool good = add_symbol(m, m->last + LAST_FUNCTION, 0, 0);
	if (!good || !lines_open(&m->lines, "/proc/modules"))
		return good ? 0 : ENOMEM; /* a kernel without modules */
	while (good && lines_next(&m->lines))
		if (module_line(m->lines.line, &start, &size))
			good = add_symbol(m, start + size, 0, 0);
	close(m->lines.fd);
	return good ? m->lines.failed : ENOMEM;
}

/* ---- sorting and writing ---- */

/* Of several symbols at one address the first in the list counts; an end comes after them. */
static int by_address(const void *a, const void *b)
{
	const struct kernel_image_symbol *s = a, *t = b;
	if (s->addr != t->addr)
		return s->addr < t->addr ? -1 : 1;
	if (!s->name != !t->name)
		return s->name ? -1 : 1;
	return s->name < t->name ? -1 : s->name > t->name;
}

/* Heap sort: in place, and without malloc(), which qsort() calls. */
static void sift(struct kernel_image_symbol *s, size_t at, size_t n)
{
	struct kernel_image_symbol moved = s[at];
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && by_address(&s[child], &s[child + 1]) < 0;
		if (by_address(&moved, &s[child]) >= 0)
			break;
		s[at] = s[child];
	}
	s[at] = moved;
}

static bool is_sorted(const struct kernel_image_symbol *s, size_t n)
{
	size_t i = 1;
	while (i < n && by_address(&s[i - 1], &s[i]) <= 0)
		i++;
	return i >= n;
}

static void sort(struct kernel_image_symbol *s, size_t n)
{
	if (is_sorted(s, n))
		return;
	for (size_t i = n / 2; i-- > 0;)
		sift(s, i, n);
	for (size_t last = n; last-- > 1;) {
		struct kernel_image_symbol most = s[0];
		s[0] = s[last];
		s[last] = most;
		sift(s, 0, last);
	}
}

/* Keeps one symbol per address, by the rank of the names. */
static size_t unique(struct kernel_image_symbol *s, size_t n, const char *names)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (!kept || s[kept - 1].addr != s[i].addr)
			s[kept++] = s[i];
		else if (s[i].name && kernel_name_rank(names + s[i].name) <
					      kernel_name_rank(names + s[kept - 1].name))
			s[kept - 1] = s[i];
	return kept;
}

static int write_image(struct image_making *m, int fd)
{
	struct kernel_image_symbol *s = (void *)m->symbols.at;
	size_t n = m->symbols.size / sizeof(*s);
	sort(s, n);
	n = unique(s, n, m->names.at);
	m->header.n = n;
	m->header.names_size = m->names.size;
	for (size_t i = 0; i < n; i += KERNEL_BLOCK)
		if (!area_add(&m->index, &s[i].addr, sizeof(s[i].addr)))
			return ENOMEM;
	errno = EIO;
	bool good = file_write_all(fd, &m->header, sizeof(m->header)) &&
		    file_write_all(fd, m->index.at, m->index.size) &&
		    file_write_all(fd, s, n * sizeof(*s)) &&
		    file_write_all(fd, m->names.at, m->names.size);
	return good ? 0 : errno;
}

int kernel_image_write(int fd, const struct kernel_image_header *now, bool passing)
{
	struct image_making *m =
		mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m == MAP_FAILED)
		return ENOMEM;
	m->header = *now;
	m->passing = passing;
	int failed = read_symbols(m);
	if (!failed)
		failed = add_ends(m);
	if (!failed)
		failed = write_image(m, fd);
	area_free(&m->symbols);
	area_free(&m->names);
	area_free(&m->index);
	munmap(m, sizeof(*m));
	return failed;
}

/* rt_made.c - code made at run time: executable memory that the loader does not know. This includes
 * code of a module that the program maps once more, as V8 does to have it near its own code.
 *
 * Such regions are found in the kernel's list of mappings. The list is read when an address lies in
 * no known module. Reading takes a tenth of a millisecond, so the list is read again only after a
 * multiple of that time; until then new addresses are not known to be code. Regions stay on our
 * list when they are unmapped. In the file they are modules of their own. */
#include "rt.h"

#include <fcntl.h>
#include <time.h>

enum {
	MOST = 1024,      /* regions */
	BUFFER = 8 << 10, /* bytes; a line contains at most one path */
	LOWEST = 4096,
	HIGHEST_BITS = 56, /* bits of user addresses on any machine */
	LINES = 256,
	RESTS = 32,        /* pause after a reading that found something, as a multiple of the
			      reading's duration */
	MOST_RESTS = 4096, /* the longest pause: it doubles with each reading that finds nothing
			      new */
};

static const char anonymous[] = "//anon"; /* the same name as in the kernel's mmap events */

/* One line of the list of mappings. */
struct mapping_line {
	uint64_t start, end;
	bool executable;
	uint64_t offset, inode; /* inode: combined with the device; 0: no file */
	const char *path;       /* "": no path */
	size_t path_size;
};

/* ---- known regions ---- */

const struct rt_module *rt_made_known(uint64_t addr)
{
	for (const struct rt_module *m = atomic_load(&rt.made.regions); m; m = m->next)
		if (addr >= m->start && addr < m->end)
			return m;
	return NULL;
}

static bool begins(const struct mapping_line *l, const char *with)
{
	size_t n = text_size(with), i = 0;

	while (i < n && i < l->path_size && l->path[i] == with[i])
		i++;
	return i == n;
}

/* The path's last part is jit-*.dump. */
static bool is_jitdump(const struct mapping_line *l)
{
	static const char first[] = "/jit-", last[] = ".dump";
	enum { FIRST = sizeof(first) - 1, LAST = sizeof(last) - 1 };
	size_t slash = l->path_size;

	while (slash && l->path[slash] != '/')
		slash--;
	if (l->path_size - slash < FIRST + LAST)
		return false;
	for (size_t i = 0; i < FIRST; i++)
		if (l->path[slash + i] != first[i])
			return false;
	for (size_t i = 0; i < LAST; i++)
		if (l->path[l->path_size - LAST + i] != last[i])
			return false;
	return true;
}

static bool is_anonymous(const struct mapping_line *l)
{
	static const char *const starts[] = { "[anon",   "[heap]",    "[stack", "//anon",
					      "/memfd:", "/dev/zero", "/SYSV" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (begins(l, starts[i]))
			return true;
	return !l->path_size;
}

/* ---- with the lock ---- */

static void write_region(struct rt_module *m)
{
	rt_module_write(m);
	if (m->record)
		m->record->mapped_at = 0; /* the code existed before we looked for it */
}

static void extend(struct rt_module *m, uint64_t start, uint64_t end)
{
	if (start < m->start)
		m->start = start;
	if (end > m->end)
		m->end = end;
	if (m->record) {
		m->record->start = m->start;
		m->record->end = m->end;
	}
}

/* The region of anonymous code that the line continues or overlaps. */
static struct rt_module *neighbour(const struct mapping_line *l)
{
	for (struct rt_module *m = rt.made.regions; m; m = m->next)
		if (m->name == anonymous && l->start <= m->end && m->start <= l->end)
			return m;
	return NULL;
}

static const char *keep_path(const struct mapping_line *l)
{
	char *path = rt_memory(l->path_size + 1);

	if (path)
		copy_bytes(path, l->path, l->path_size);
	return path;
}

static void add_made(struct rt_module like)
{
	struct rt_module *m = rt.made.n < MOST ? rt_memory(sizeof(*m)) : NULL;

	if (!m) {
		rt_lose(KINF_LOST_MODULES, 1);
		return;
	}
	*m = like;
	m->next = rt.made.regions;
	rt.made.n++;
	rt.made.rests = RESTS;
	if (rt.header)
		write_region(m);
	atomic_store(&rt.made.regions, m);
}

static void add_anonymous(const struct mapping_line *l)
{
	struct rt_module *m = neighbour(l);

	if (!m) {
		add_made((struct rt_module){ .start = l->start,
					     .end = l->end,
					     .flags = KINF_MODULE_MADE,
					     .name = anonymous });
		return;
	}
	extend(m, l->start, l->end);
	rt.made.rests = RESTS;
}

static void add_dump(const struct mapping_line *l)
{
	const char *path = keep_path(l);

	if (path)
		add_made((struct rt_module){ .start = l->start,
					     .end = l->end,
					     .flags = KINF_MODULE_MADE,
					     .name = path });
}

/* Lines of the list that map code of modules. */
static struct {
	struct module_line {
		struct rt_module *module;
		uint64_t start, size, offset, inode;
	} at[LINES];
	uint32_t n;
} lines;

static void add_line(const struct mapping_line *l, struct rt_module *m)
{
	if (l->inode && lines.n < LINES)
		lines.at[lines.n++] =
			(struct module_line){ m, l->start, l->end - l->start, l->offset, l->inode };
}

static void add_copy(const struct mapping_line *l)
{
	for (uint32_t i = 0; i < lines.n; i++) {
		const struct module_line *o = &lines.at[i];
		struct rt_module m = *o->module;

		if (o->inode != l->inode || l->offset - o->offset >= o->size)
			continue;
		m.bias += l->start - (o->start + (l->offset - o->offset));
		m.start = l->start;
		m.end = l->end;
		m.origin = o->module;
		o->module->keeps_fp = true;
		m.record = NULL;
		add_made(m);
		return;
	}
}

static void take_line(const struct mapping_line *l)
{
	const struct rt_module *known = rt_made_known(l->start);
	struct rt_module *m = rt_module_at(l->start);

	if (!l->executable || l->start >= l->end)
		return;
	if (m)
		add_line(l, m);
	if (m || (known && l->end <= known->end))
		return;
	if (is_jitdump(l))
		add_dump(l);
	else if (is_anonymous(l))
		add_anonymous(l);
	else if (l->inode)
		add_copy(l);
}

/* ---- the list of mappings ---- */

static const char *take_hex(const char *s, uint64_t *ret)
{
	for (*ret = 0;; s++) {
		if (*s >= '0' && *s <= '9')
			*ret = *ret << 4 | (uint64_t)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			*ret = *ret << 4 | (uint64_t)(*s - 'a' + 10);
		else
			return s;
	}
}

static const char *next_field(const char *s, const char *end)
{
	while (s < end && *s != ' ')
		s++;
	while (s < end && *s == ' ')
		s++;
	return s;
}

/* "start-end rwxp offset device inode path". The line ends with '\n'. */
static void read_line(const char *s, const char *end)
{
	struct mapping_line l = { 0 };
	uint64_t device = 0;

	s = take_hex(s, &l.start);
	if (*s != '-')
		return;
	s = take_hex(s + 1, &l.end);
	if (end - s < 5)
		return;
	l.executable = s[3] == 'x';
	s = next_field(next_field(s, end), end);
	take_hex(s, &l.offset);
	for (s = next_field(s, end); s < end && *s != ' '; s++)
		device = device << 8 ^ (uint64_t)*s;
	s = next_field(s, end);
	while (s < end && *s >= '0' && *s <= '9')
		l.inode = l.inode * 10 + (uint64_t)(*s++ - '0');
	if (l.inode)
		l.inode ^= device << 32;
	l.path = next_field(s, end);
	s = l.path;
	l.path_size = (size_t)(end - s);
	take_line(&l);
}

static void read_lines(long fd)
{
	static char buffer[BUFFER]; /* guarded by the lock */
	size_t have = 0;
	long n;

	while ((n = SYS3(read, fd, buffer + have, BUFFER - have)) > 0) {
		size_t from = 0;

		have += (size_t)n;
		for (size_t i = 0; i < have; i++)
			if (buffer[i] == '\n') {
				read_line(buffer + from, buffer + i);
				from = i + 1;
			}
		if (!from)
			from = have < BUFFER ? 0 : have;
		copy_bytes(buffer, buffer + from, have - from);
		have -= from;
	}
}

static void look(void)
{
	uint64_t start = rt_now_ns(CLOCK_MONOTONIC), end;
	long fd = SYS4(openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);

	if (rt.made.rests < MOST_RESTS)
		rt.made.rests = rt.made.rests ? 2 * rt.made.rests : RESTS;
	lines.n = 0;
	if (fd >= 0) {
		read_lines(fd);
		SYS1(close, fd);
	}
	end = rt_now_ns(CLOCK_MONOTONIC);
	atomic_store(&rt.made.next_ns, end + rt.made.rests * (end - start));
}

/* ---- interface ---- */

const struct rt_module *rt_made_at(uint64_t addr)
{
	const struct rt_module *m;
	uint64_t mask;

	if (addr < LOWEST || addr >> HIGHEST_BITS)
		return NULL;
	m = rt_made_known(addr);
	if (m)
		return m;
	if (rt.silent || rt_now_ns(CLOCK_MONOTONIC) < atomic_load(&rt.made.next_ns) ||
	    !rt_lock(&mask))
		return NULL;
	if (!rt_made_known(addr) && !rt_module_at(addr))
		look();
	rt_unlock(mask);
	return rt_made_known(addr);
}

void rt_made_start(void)
{
	for (struct rt_module *m = rt.made.regions; m; m = m->next) {
		m->record = NULL;
		write_region(m);
	}
}

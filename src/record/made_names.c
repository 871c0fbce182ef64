/* made_names.c - finds the addresses in stacks that are in code made at run time, asks for their
 * names and appends them to the file. */
#include "record/made_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sort.h"
#include "base/vec.h"
#include "record/jit.h"
#include "record/runtime_file.h"

struct made {
	struct file f;
	size_t end; /* offset after the last block */
	VEC(struct kinf_module) regions;
	VEC(uint64_t) hit; /* sorted, once each */
	VEC(uint8_t) out;  /* the records */
	struct jit *jit;
	bool named; /* names of JIT code or of modules were appended already */
	struct kinf_header header;
};

/* ---- sampled addresses ---- */

static size_t padded(size_t n) { return (n + 7) & ~(size_t)7; }

static void add_regions(struct made *m, struct runtime_part p)
{
	struct kinf_module k;
	while (p.size >= sizeof(k)) {
		memcpy(&k, p.at, sizeof(k));
		if (k.size < sizeof(k) + padded(k.path_size) || k.size > p.size)
			return;
		char *path = xprintf("%.*s", (int)k.path_size, (const char *)p.at + sizeof(k));
		if (k.flags & KINF_MODULE_MADE)
			vec_push(&m->regions, k);
		if (k.flags & KINF_MODULE_MADE && path[0] == '/' && path[1] != '/')
			jit_add_dump(m->jit, (pid_t)m->header.pid, path, 0);
		free(path);
		p.at += k.size;
		p.size -= k.size;
	}
}

static bool is_made(const struct made *m, uint64_t addr)
{
	for (size_t i = 0; i < m->regions.n; i++)
		if (addr >= m->regions.at[i].start && addr < m->regions.at[i].end)
			return true;
	return false;
}

static void add_hits(struct made *m, struct runtime_part p)
{
	struct kinf_stack s;
	const uint8_t *pcs;
	while (runtime_part_next_stack(&p, &s, &pcs)) {
		for (uint32_t i = 0; i < s.depth; i++) {
			uint64_t pc;
			memcpy(&pc, pcs + i * sizeof(pc), sizeof(pc));
			pc -= i > 0; /* the call is before the return address */
			if (is_made(m, pc))
				vec_push(&m->hit, pc);
		}
	}
}

/* True for a block of names that the runtime wrote for Python functions. */
static bool is_of_python(struct runtime_part p)
{
	struct kinf_made first = { 0 };
	if (p.size >= sizeof(first))
		memcpy(&first, p.at, sizeof(first));
	return first.start < KINF_PYTHON_END;
}

static void find_hits(struct made *m)
{
	struct kinf_block head;
	struct runtime_part p;
	for (size_t at = KINF_PAGE; runtime_file_next_block(&m->f, &at, &head, &p); m->end = at) {
		if (head.type == KINF_MODULES)
			add_regions(m, p);
		m->named |= (head.type == KINF_MADE && !is_of_python(p)) || head.type == KINF_NAMES;
	}
	if (!m->regions.n || m->named)
		return;
	for (size_t at = KINF_PAGE; runtime_file_next_block(&m->f, &at, &head, &p);)
		if (head.type == KINF_STACKS)
			add_hits(m, p);
	m->hit.n = sort_unique(m->hit.at, m->hit.n);
}

/* ---- names ---- */

static void put_record(struct made *m, uint64_t first, uint64_t last, const char *name)
{
	size_t n = strlen(name);
	struct kinf_made r = { .size = (uint32_t)(sizeof(r) + padded(n)),
			       .name_size = (uint32_t)n,
			       .start = first,
			       .end = last + 1 };
	vec_reserve(&m->out, r.size);
	memcpy(m->out.at + m->out.n, &r, sizeof(r));
	memset(m->out.at + m->out.n + sizeof(r), 0, r.size - sizeof(r));
	memcpy(m->out.at + m->out.n + sizeof(r), name, n);
	m->out.n += r.size;
}

/* Writes one record for neighbouring addresses with the same name: nothing between them was hit. */
static void put_names(struct made *m)
{
	const char *name = NULL;
	size_t first = 0;
	for (size_t i = 0; i <= m->hit.n; i++) {
		const char *next = i < m->hit.n ? jit_find(m->jit, (pid_t)m->header.pid,
							   m->hit.at[i], UINT64_MAX)
						: NULL;
		if (next == name && i < m->hit.n)
			continue;
		if (name)
			put_record(m, m->hit.at[first], m->hit.at[i - 1], name);
		name = next;
		first = i;
	}
}

/* ---- appending to the file ---- */

/* A block is valid once its magic is written, and is part of the file once the header counts it. */
static bool append(const struct made *m, int fd)
{
	struct kinf_block head = { .magic = KINF_BLOCK_MAGIC,
				   .type = KINF_MADE,
				   .size = (sizeof(head) + m->out.n + 63) & ~(uint64_t)63,
				   .used = m->out.n };
	uint64_t end = m->end + head.size;
	struct iovec v[] = { { &head, sizeof(head) }, { m->out.at, m->out.n } };
	ssize_t all = (ssize_t)(sizeof(head) + m->out.n);
	if (pwritev(fd, v, 2, (off_t)m->end) != all ||
	    (end > m->f.size && ftruncate(fd, (off_t)end)))
		return false;
	return end <= m->header.size ||
	       pwrite(fd, &end, sizeof(end), offsetof(struct kinf_header, size)) == sizeof(end);
}

static struct kin_error *put_block(const struct made *m, const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || !append(m, fd)) {
		struct kin_error *err = err_os(errno, "%s: names of code made at run time", path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	return close(fd) ? err_os(errno, "%s", path) : NULL;
}

static bool is_of_runtime(struct made *m)
{
	if (m->f.size < KINF_PAGE)
		return false;
	memcpy(&m->header, m->f.data, sizeof(m->header));
	return m->header.magic == KINF_MAGIC && m->header.writer == KINF_BY_RUNTIME &&
	       m->header.size >= KINF_PAGE && m->header.size <= m->f.size;
}

struct kin_error *made_names_put(const char *path)
{
	struct made m = { .jit = jit_new(), .end = KINF_PAGE };
	struct kin_error *err = file_read(path, &(struct file_opts){ 0 }, &m.f);
	if (!err && is_of_runtime(&m)) {
		jit_add_ended(m.jit, (pid_t)m.header.pid, m.header.start_time_ns);
		find_hits(&m);
		jit_update(m.jit);
		put_names(&m);
		if (m.out.n)
			err = put_block(&m, path);
	}
	jit_free(m.jit);
	vec_free(&m.regions);
	vec_free(&m.hit);
	vec_free(&m.out);
	file_free(&m.f);
	return err;
}

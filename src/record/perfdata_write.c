/* perfdata_write.c - writes headers and records of a perf.data. */
#include "record/perfdata_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map64.h"

enum { BUFFER = 1 << 18, RECORD_MAX = 65528 };

struct perfdata_section {
	uint64_t offset, size;
};
struct perfdata_header {
	char magic[8];
	uint64_t size, attr_size;
	struct perfdata_section attrs, data, types;
	uint64_t features[4];
};
struct file_attr {
	struct perf_event_attr attr;
	struct perfdata_section ids;
};
_Static_assert(sizeof(struct perfdata_header) == 104, "perf.data");

struct perfdata {
	char *path;
	int fd, errnum;
	struct perfdata_header header;
	uint64_t ids[64];
	size_t n_events;
	struct map64 introduced; /* tid -> 1 */
	struct kernel *kernel;
	bool kernel_seen;
	uint8_t *buffer;
	size_t used;
};

/* ---- writing ---- */

static void put_at(struct perfdata *p, uint64_t offset, const void *data, size_t n)
{
	for (const char *at = data; n && !p->errnum;) {
		ssize_t done = pwrite(p->fd, at, n, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			p->errnum = done ? errno : ENOSPC;
			return;
		}
		at += done;
		offset += (uint64_t)done;
		n -= (size_t)done;
	}
}

void perfdata_flush(struct perfdata *p)
{
	put_at(p, p->header.data.offset + p->header.data.size, p->buffer, p->used);
	if (!p->errnum)
		p->header.data.size += p->used;
	p->used = 0;
	put_at(p, 0, &p->header, sizeof(p->header));
}

static void *space_for(struct perfdata *p, size_t n)
{
	if (p->used + n > BUFFER)
		perfdata_flush(p);
	void *at = p->buffer + p->used;
	p->used += n;
	return at;
}

/* ---- opening ---- */

static struct kin_error *may_replace(const char *path)
{
	char magic[8];
	struct stat st;
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? NULL : err_os(errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_new(KIN_ERROR_USAGE, "%s is not an ordinary file", path);
	if (!st.st_size)
		return NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool same = fd >= 0 && read(fd, magic, 8) == 8 && !memcmp(magic, "PERFILE2", 8);
	if (fd >= 0)
		close(fd);
	return same ? NULL : err_new(KIN_ERROR_USAGE, "%s is there and no perf.data file", path);
}

/* A new file in the place of the old one, which stays as it is for who has it open. */
static struct kin_error *create(const char *path, int *ret)
{
	struct kin_error *err = may_replace(path);
	if (err)
		return err;
	char *temporary = xprintf("%s.%d.new", path, (int)getpid());
	int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		err = err_os(errno, "%s", path);
	else if (rename(temporary, path) < 0) {
		err = err_os(errno, "%s", path);
		unlink(temporary);
		close(fd);
	}
	free(temporary);
	if (!err)
		*ret = fd;
	return err;
}

static void write_attrs(struct perfdata *p, const struct rings *rings)
{
	uint64_t offset = sizeof(p->header) + p->n_events * sizeof(uint64_t);
	put_at(p, sizeof(p->header), p->ids, p->n_events * sizeof(uint64_t));
	p->header.attrs =
		(struct perfdata_section){ offset, p->n_events * sizeof(struct file_attr) };
	for (size_t i = 0; i < p->n_events; i++) {
		struct file_attr a = { .attr = *rings_attr(rings, i) };
		a.attr.sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
						  PERF_SAMPLE_READ);
		a.attr.read_format &= ~(uint64_t)(PERF_FORMAT_GROUP | PERF_FORMAT_ID);
		a.attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		a.attr.read_format &= ~(uint64_t)PERF_FORMAT_LOST; /* perf 5 refuses it */
		a.attr.sample_regs_user = 0;
		a.attr.sample_stack_user = 0;
		a.attr.exclude_callchain_user = 0;
		a.ids = (struct perfdata_section){ sizeof(p->header) + i * sizeof(uint64_t),
						   sizeof(uint64_t) };
		put_at(p, offset + i * sizeof(a), &a, sizeof(a));
	}
	p->header.data.offset = offset + p->header.attrs.size;
}

/* perf reads no trace point without the kernel's description of its fields, of which there is a
 * format of its own. */
static struct kin_error *check_events(const char *path, const struct rings *rings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rings_attr(rings, i)->type == PERF_TYPE_TRACEPOINT)
			return err_new(KIN_ERROR_UNSUPPORTED,
				       "%s is not written: a perf.data of kin has no trace points; "
				       "kin script prints those of the recording, and perf record "
				       "makes one",
				       path);
	return NULL;
}

struct kin_error *perfdata_open(const char *path, const struct rings *rings, size_t n_events,
				struct kernel *kernel, struct perfdata **ret)
{
	int fd;
	struct kin_error *err = check_events(path, rings, n_events);
	if (!err)
		err = create(path, &fd);
	if (err)
		return err;
	struct perfdata *p = xalloc(sizeof(*p));
	p->path = xprintf("%s", path);
	p->fd = fd;
	p->kernel = kernel;
	p->n_events = n_events < ARRAY_LEN(p->ids) ? n_events : ARRAY_LEN(p->ids);
	p->buffer = xalloc(BUFFER + RECORD_MAX);
	memcpy(p->header.magic, "PERFILE2", 8);
	p->header.size = sizeof(p->header);
	p->header.attr_size = sizeof(struct file_attr);
	for (size_t i = 0; i < p->n_events; i++)
		rings_ids(rings, i, &p->ids[i], 1); /* one stands for those of all CPUs */
	write_attrs(p, rings);
	perfdata_flush(p);
	*ret = p;
	return NULL;
}

/* ---- records ---- */

/* tid, time, cpu, identifier: behind every record that is no sample. */
static void put_trailer(uint64_t *at, const struct perfdata *p, const struct ring_record *r)
{
	at[0] = r->pid | (uint64_t)r->tid << 32;
	at[1] = r->time_ns;
	at[2] = r->cpu;
	at[3] = p->ids[0];
}

void perfdata_other(struct perfdata *p, const struct ring_record *r)
{
	size_t n = r->header->size;
	if (r->header->type == PERF_RECORD_SWITCH || n < sizeof(*r->header) + 32)
		return;
	uint8_t *at = space_for(p, n);
	memcpy(at, r->header, n);
	memcpy(at + n - 8, &p->ids[r->event < p->n_events ? r->event : 0], 8);
	if (r->header->type == PERF_RECORD_COMM)
		*map64_at(&p->introduced, r->tid) = 1;
}

static void put_mapping(struct perfdata *p, const struct ring_record *r, uint32_t pid,
			uint64_t start, uint64_t end, uint64_t offset, const char *path,
			bool kernel)
{
	size_t name = (strlen(path) + 8) & ~(size_t)7, n = 8 + 8 + 24 + name + 32;
	if (n > RECORD_MAX)
		return;
	uint64_t *at = space_for(p, n);
	memset(at, 0, n);
	struct perf_event_header h = { PERF_RECORD_MMAP,
				       kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
				       (uint16_t)n };
	memcpy(at, &h, 8);
	at[1] = pid | (uint64_t)(kernel ? 0 : pid) << 32;
	at[2] = start;
	at[3] = end - start;
	at[4] = offset;
	memcpy(at + 5, path, strlen(path));
	put_trailer(at + 5 + name / 8, p, r);
}

/* What the kernel's records did not say of a thread, since it was there before them. */
static void introduce(struct perfdata *p, const struct ring_record *r, const struct thread *t)
{
	uint32_t *known = map64_at(&p->introduced, r->tid);
	if (*known != NONE)
		return;
	*known = 1;
	uint64_t *at = space_for(p, 8 + 8 + 16 + 32);
	struct perf_event_header h = { PERF_RECORD_COMM, 0, 64 };
	memcpy(at, &h, 8);
	at[1] = r->pid | (uint64_t)r->tid << 32;
	memset(at + 2, 0, 16);
	memcpy(at + 2, t->comm, strnlen(t->comm, 15));
	put_trailer(at + 4, p, r);
	for (size_t i = 0; i < t->space->at.n; i++) {
		const struct mapping *m = &t->space->at.at[i];
		uint64_t offset = module_offset(m->module, m->start - m->bias);
		put_mapping(p, r, r->pid, m->start, m->end, offset,
			    *m->module->path ? m->module->path : "//anon", false);
	}
}

/* perf knows of no such thing. */
static size_t count_marks(const struct unwound *stack)
{
	size_t n = 0;
	for (size_t i = stack->n_kernel; i < stack->n; i++)
		n += !!(stack->frames[i].flags & KINF_FRAME_MARK);
	return n;
}

/* What follows the call chain, and the address. */
static size_t more_bytes(const struct ring_record *r)
{
	const struct ring_details *d = &r->details;
	const uint64_t single = PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC |
				PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR |
				PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
	size_t words = (size_t)__builtin_popcountll(d->fields & single);
	if (d->fields & PERF_SAMPLE_BRANCH_STACK)
		words += 1 + 3 * d->n_branches;
	if (d->fields & PERF_SAMPLE_REGS_INTR)
		words += 1 + (d->abi ? (size_t)__builtin_popcountll(d->mask) : 0);
	return 8 * words;
}

static uint64_t *put_words(uint64_t *at, const uint64_t *from, size_t n)
{
	if (n)
		memcpy(at, from, n * sizeof(*from));
	return at + n;
}

static void put_details(uint64_t *at, const struct ring_details *d)
{
	if (d->fields & PERF_SAMPLE_BRANCH_STACK) {
		*at++ = d->n_branches;
		at = put_words(at, d->branches, 3 * d->n_branches);
	}
	if (d->fields & PERF_SAMPLE_WEIGHT_TYPE)
		*at++ = d->weight;
	if (d->fields & PERF_SAMPLE_DATA_SRC)
		*at++ = d->data_src;
	if (d->fields & PERF_SAMPLE_TRANSACTION)
		*at++ = d->transaction;
	if (d->fields & PERF_SAMPLE_REGS_INTR) {
		*at++ = d->abi;
		if (d->abi)
			at = put_words(at, d->registers, (size_t)__builtin_popcountll(d->mask));
	}
	if (d->fields & PERF_SAMPLE_PHYS_ADDR)
		*at++ = d->phys_addr;
	if (d->fields & PERF_SAMPLE_DATA_PAGE_SIZE)
		*at++ = d->data_page;
	if (d->fields & PERF_SAMPLE_CODE_PAGE_SIZE)
		*at++ = d->code_page;
}

void perfdata_sample(struct perfdata *p, const struct ring_record *r, struct thread *t,
		     const struct unwound *stack)
{
	introduce(p, r, t);
	p->kernel_seen |= stack->n_kernel != 0;
	bool user = stack->n > stack->n_kernel;
	size_t n_frames = stack->n - count_marks(stack);
	size_t n_chain = n_frames + (stack->n_kernel != 0) + user;
	size_t n = 8 + 8 * (6 + 1 + n_chain) + more_bytes(r);
	if (n > RECORD_MAX || r->event >= p->n_events)
		return;
	uint64_t *at = space_for(p, n);
	struct perf_event_header h = { PERF_RECORD_SAMPLE, r->header->misc, (uint16_t)n };
	memcpy(at++, &h, 8);
	uint64_t first[] = { p->ids[r->event], r->ip, r->pid | (uint64_t)r->tid << 32, r->time_ns };
	at = put_words(at, first, ARRAY_LEN(first));
	if (r->details.fields & PERF_SAMPLE_ADDR)
		*at++ = r->details.addr;
	*at++ = r->cpu;
	*at++ = r->period;
	*at++ = n_chain;
	if (stack->n_kernel)
		*at++ = (uint64_t)PERF_CONTEXT_KERNEL;
	for (size_t i = 0; i < stack->n_kernel; i++)
		*at++ = stack->frames[i].pc;
	if (user)
		*at++ = (uint64_t)PERF_CONTEXT_USER;
	for (size_t i = stack->n_kernel; i < stack->n; i++)
		if (!(stack->frames[i].flags & KINF_FRAME_MARK))
			*at++ = stack->frames[i].pc;
	put_details(at, &r->details);
}

/* At the end, when the kernel's names are there anyway. Readers put it first, by its time. */
static void map_kernel(struct perfdata *p)
{
	static const struct ring_record first = { .tid = 0 };
	uint64_t start, end;
	if (kernel_range(p->kernel, &start, &end))
		put_mapping(p, &first, UINT32_MAX, start, end, start, "[kernel.kallsyms]_text",
			    true);
}

struct kin_error *perfdata_close(struct perfdata *p)
{
	if (p->kernel_seen)
		map_kernel(p);
	perfdata_flush(p);
	struct kin_error *err = p->errnum ? err_os(p->errnum, "writing %s", p->path) : NULL;
	if (close(p->fd) < 0 && !err)
		err = err_os(errno, "writing %s", p->path);
	map64_free(&p->introduced);
	free(p->buffer);
	free(p->path);
	free(p);
	return err;
}

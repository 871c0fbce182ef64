/* rt_frames.c - looks up call-frame information of modules for samples.
 *
 * For a module that may be unloaded, the information is copied when a thread is first seen in it,
 * and only the copy is read from then on. So a thread with a stale address in such a module never
 * reads memory that may vanish. The kernel makes the copy, and the loader is asked before and after
 * whether the module is there. A copy is never freed. It is used again when the same file is mapped
 * again. */
#include "rt.h"

#include <sys/mman.h>

#include "unwind/cfi.h"

enum {
	LARGEST = 16 << 20, /* bytes to copy; the few larger modules are read in place, while that
			       is safe */
	NO_TABLE = 0xff,
	RELATIVE = 0x1b, /* encoding: 4 bytes, signed, relative to their own address */
};

/* A readable part of a module that holds all of its call-frame information. */
struct frame_tables {
	const uint8_t *at;
	uint64_t addr, size; /* addr: run-time address */
};

static struct frame_tables in_place(const struct rt_module *m)
{
	return (struct frame_tables){ (const uint8_t *)(uintptr_t)m->segment, m->segment,
				      m->segment_size };
}

/* From the first byte of the call-frame information to the end of its segment. */
static struct frame_tables needed(const struct rt_module *m)
{
	uint8_t hdr[8];
	struct frame_tables t = in_place(m);
	uint64_t first = m->unwind;
	int32_t frames;

	if (!rt_peek(m->unwind, hdr, sizeof(hdr)) || hdr[1] != RELATIVE)
		return t;
	__builtin_memcpy(&frames, hdr + 4, sizeof(frames));
	if (frames < 0)
		first = m->unwind + 4 + (uint64_t)frames;
	if (first < t.addr || first >= t.addr + t.size)
		return t;
	return (struct frame_tables){ t.at + (first - t.addr), first, t.size - (first - t.addr) };
}

static const struct rt_module *copied_before(const struct rt_module *m)
{
	for (const struct rt_module *o = rt.all; o; o = o->older)
		if (o->copy && o->hash == m->hash && o->end - o->start == m->end - m->start)
			return o;
	return NULL;
}

/* The kernel copies: that is fast, and an error instead of SIGSEGV if the module has gone after
 * all. */
static uint8_t *copy(const struct rt_module *m, const struct frame_tables *t)
{
	long at = SYS6(mmap, NULL, t->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (at < 0 && at > -4096)
		return NULL;
	if (rt_peek(t->addr, (void *)at, t->size) && !rt_module_is_gone(m))
		return (uint8_t *)at;
	SYS2(munmap, at, t->size);
	return NULL;
}

/* With the lock. */
static void make_copy(struct rt_module *m)
{
	const struct rt_module *before = copied_before(m);
	struct frame_tables t = needed(m);

	m->copy_addr = t.addr;
	m->copy_size = t.size;
	if (before)
		atomic_store(&m->copy, before->copy);
	else if (t.size <= LARGEST)
		atomic_store(&m->copy, copy(m, &t));
}

static bool find_tables(struct rt_module *m, bool doubtful, struct frame_tables *ret)
{
	uint64_t mask;

	if (!m->transient) {
		*ret = in_place(m);
		return true;
	}
	if (!m->copy) {
		if (rt.sampling.unloading || rt_module_is_gone(m) || !rt_lock(&mask))
			return false;
		if (!m->copy)
			make_copy(m);
		rt_unlock(mask);
	}
	if (!m->copy && doubtful) /* the module may be unloaded while we read */
		return false;
	*ret = m->copy ? (struct frame_tables){ m->copy, m->copy_addr, m->copy_size } : in_place(m);
	return true;
}

bool rt_frames_row(struct rt_module *m, bool doubtful, uint64_t pc, struct unwind_row *ret)
{
	struct cfi_section s;
	struct cfi_fde fde;
	struct frame_tables t;
	const uint8_t *hdr;

	if (!m->unwind || m->unwind_size < 8 || !find_tables(m, doubtful, &t))
		return false;
	hdr = t.at + (m->unwind - t.addr);
	if (hdr[2] == NO_TABLE || hdr[3] == NO_TABLE)
		return false;
	return cfi_from_segment(&RT_MACHINE, t.at, t.size, t.addr, m->unwind, m->unwind_size, &s) &&
	       cfi_find(&s, pc, &fde) && cfi_row(&s, &fde, pc, ret) && ret->cfa != UNWIND_CFA_NONE;
}

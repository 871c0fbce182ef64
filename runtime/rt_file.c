/* rt_file.c - the .kin file of the process: creates, maps and grows it, and records losses. */
#include "rt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

static const uint64_t first_extent = 128 << 10;
static const uint64_t largest_extent = 32 << 20;
static const uint64_t page_size = 64 << 10; /* the largest of any machine */
enum { HIGH_FD = 1000 };

uint64_t rt_now_ns(int clock)
{
	struct timespec t = { 0 };

	if (rt.silent)
		return 0;
	SYS2(clock_gettime, clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- errors and losses ---- */

void rt_lose(enum kinf_loss what, uint64_t n)
{
	if (rt.header)
		__atomic_fetch_add(&rt.header->losses[what], n, __ATOMIC_RELAXED);
}

void rt_error(const char *what, long err)
{
	char line[240];
	struct text t = { .at = line, .size = sizeof(line) };

	text_add(&t, what);
	if (err) {
		text_add(&t, ": error ");
		text_number(&t, (uint64_t)-err);
	}
	if (rt.header && !rt.header->error[0])
		copy_bytes(rt.header->error, line, t.used + 1);
	if (!rt.options.verbose || rt.silent)
		return;
	text_add(&t, "\n");
	rt_say("kinrt: ", 7);
	rt_say(line, t.used);
}

void rt_say(const char *text, size_t n)
{
	struct stat st;

	if (!SYS2(fstat, 2, &st) && st.st_dev == rt.err_dev && st.st_ino == rt.err_ino)
		SYS3(write, 2, text, n);
}

/* ---- the file ---- */

static int above_others(int fd)
{
	for (int from = HIGH_FD; from > 10; from /= 4) {
		long high = SYS3(fcntl, fd, F_DUPFD_CLOEXEC, from);

		if (high >= 0) {
			SYS1(close, fd);
			return (int)high;
		}
	}
	return fd;
}

int rt_open_output(const char *path, int flags, int mode)
{
	struct stat st;
	long fd = SYS4(openat, AT_FDCWD, path,
		       flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, mode);

	if (fd < 0)
		return (int)fd;
	long err = SYS2(fstat, fd, &st);
	if (!err && !S_ISREG(st.st_mode))
		err = -EINVAL;
	if (!err && st.st_nlink != 1) /* the file has other names, too */
		err = -EMLINK;
	if (err) {
		SYS1(close, fd);
		if (flags & O_EXCL)
			SYS3(unlinkat, AT_FDCWD, path, 0);
		return (int)err;
	}
	return (int)fd;
}

static bool is_ours(int fd)
{
	struct stat st;

	return fd >= 0 && !SYS2(fstat, fd, &st) && st.st_dev == rt.dev && st.st_ino == rt.ino;
}

/* The file's descriptor. It is reopened if the program has closed it. */
static int our_fd(void)
{
	long fd;

	if (is_ours(rt.fd))
		return rt.fd;
	rt.fd = -1;
	if (!rt.path[0])
		return -1;
	fd = SYS4(openat, AT_FDCWD, rt.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (!is_ours((int)fd)) {
		SYS1(close, fd);
		return -1;
	}
	rt.fd = above_others((int)fd);
	return rt.fd;
}

static const uint64_t xfsz = (uint64_t)1 << (SIGXFSZ - 1);

bool rt_xfsz_pending(void)
{
	uint64_t pending = 0;

	SYS2(rt_sigpending, &pending, 8);
	return pending & xfsz;
}

void rt_forget_xfsz(void)
{
	const struct timespec now = { 0 };

	if (rt_xfsz_pending())
		SYS4(rt_sigtimedwait, &xfsz, NULL, &now, 8);
}

/* Allocates disk space, so that a full disk is an error here and not SIGBUS later. All signals are
 * blocked; a SIGXFSZ caused by a limit on file sizes is removed. */
static long reserve(int fd, uint64_t offset, uint64_t size)
{
	static const uint8_t zeros[4096];
	bool before = rt_xfsz_pending();
	long err = SYS4(fallocate, fd, 0, offset, size);

	if (err == -EOPNOTSUPP || err == -ENOSYS)
		for (err = 0; size && !err;) {
			uint64_t part = size < sizeof(zeros) ? size : sizeof(zeros);
			long n = SYS4(pwrite64, fd, zeros, part, offset);

			err = n == (long)part ? 0 : n < 0 ? n : -ENOSPC;
			offset += part;
			size -= part;
		}
	if (err && !before)
		rt_forget_xfsz();
	return err;
}

static bool map_extent(uint64_t offset, uint64_t size, int fd)
{
	struct rt_extent *e = &rt.extent[rt.n_extents];
	long m = SYS6(mmap, NULL, size, PROT_READ | PROT_WRITE,
		      fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, offset);

	if (m < 0 && m > -4096) {
		rt_error("mapping memory", m);
		return false;
	}
	*e = (struct rt_extent){
		.at = (uint8_t *)m, .size = size, .offset = offset, .in_file = fd >= 0
	};
	rt.n_extents++;
	rt.used = 0;
	return true;
}

/* Adds space behind the last extent: in the file, or in memory if the file cannot grow. */
static bool extend(uint64_t need)
{
	struct rt_extent *last = rt.n_extents ? &rt.extent[rt.n_extents - 1] : NULL;
	uint64_t offset = last ? last->offset + last->size : 0;
	uint64_t size = offset < largest_extent ? offset : largest_extent;
	long err = -EBADF;

	if (rt.silent || rt.n_extents == RT_EXTENTS)
		return false;
	if (size < first_extent)
		size = first_extent;
	if (size < need)
		size = (need + page_size - 1) & ~(page_size - 1);
	if (!last || last->in_file) {
		int fd = our_fd();

		if (fd >= 0)
			err = reserve(fd, offset, size);
		if (!err && map_extent(offset, size, fd))
			return true;
		if (rt.header || rt.path[0])
			rt_error("space in the file", err);
	}
	return map_extent(offset, size, -1);
}

static bool in_file(void) { return rt.n_extents && rt.extent[rt.n_extents - 1].in_file; }

/* Puts a block at the end. header.size is updated when the block can be read. */
static struct kinf_block *place(enum kinf_type type, uint64_t size, uint64_t payload,
				uint32_t thread)
{
	struct rt_extent *e = &rt.extent[rt.n_extents - 1];
	struct kinf_block *b = (struct kinf_block *)(e->at + rt.used);

	b->type = type;
	b->size = size;
	b->used = payload;
	b->thread = thread;
	__atomic_store_n(&b->magic, KINF_BLOCK_MAGIC, __ATOMIC_RELEASE);
	rt.used += size;
	if (in_file())
		__atomic_store_n(&rt.header->size, e->offset + rt.used, __ATOMIC_RELEASE);
	return b;
}

bool rt_room(uint64_t size)
{
	uint32_t last = rt.n_extents - 1;
	uint64_t left;

	if (!rt.n_extents)
		return false;
	left = rt.extent[last].size - rt.used;
	if (left >= size)
		return true;
	if (left) /* fill the gap, so that readers find the next block */
		place(KINF_INFO, left, 0, 0);
	if (extend(size))
		return true;
	rt.used = rt.extent[last].size;
	rt.full = true;
	return false;
}

struct kinf_block *rt_block(enum kinf_type type, uint64_t payload, uint32_t thread)
{
	uint64_t size = (sizeof(struct kinf_block) + payload + 63) & ~(uint64_t)63;

	return rt_room(size) ? place(type, size, payload, thread) : NULL;
}

struct kinf_block *rt_next_block(const struct kinf_block *b)
{
	for (uint32_t i = 0; i < rt.n_extents; i++) {
		const struct rt_extent *e = &rt.extent[i];
		uint64_t start = i ? 0 : KINF_PAGE;
		uint64_t end = i + 1 == rt.n_extents ? rt.used : e->size;
		const uint8_t *at = (const uint8_t *)b;

		if (!b && start < end)
			return (struct kinf_block *)(e->at + start);
		if (b && b->size < sizeof(*b)) /* the file was truncated */
			return NULL;
		if (b && at >= e->at && at < e->at + e->size) {
			if (at + b->size < e->at + end)
				return (struct kinf_block *)(uintptr_t)(at + b->size);
			b = NULL; /* continue with the first block of the next extent */
		}
	}
	return NULL;
}

void rt_block_rest(const struct kinf_block *b)
{
	const uint8_t *at = (const uint8_t *)b;

	for (uint32_t i = 0; i < rt.n_extents && !rt.silent; i++) {
		const struct rt_extent *e = &rt.extent[i];
		uint64_t start, end;

		if (!e->in_file || at < e->at || at >= e->at + e->size)
			continue;
		start = ((uint64_t)(at - e->at) + page_size - 1) & ~(page_size - 1);
		end = ((uint64_t)(at - e->at) + b->size) & ~(page_size - 1);
		if (start < end)
			SYS3(madvise, e->at + start, end - start, MADV_DONTNEED);
	}
}

static bool open_file(void)
{
	struct stat st;
	int fd = -EEXIST;

	for (int i = 0; i < 5 && fd == -EEXIST; i++) {
		rt_output_path(i);
		fd = rt_open_output(rt.path, O_RDWR | O_EXCL, 0600);
	}
	if (fd >= 0 && SYS2(fstat, fd, &st)) {
		SYS3(unlinkat, AT_FDCWD, rt.path, 0);
		SYS1(close, fd);
		fd = -EIO;
	}
	if (fd < 0) {
		rt_error(rt.path, fd);
		rt.path[0] = 0;
		return false;
	}
	rt.dev = st.st_dev;
	rt.ino = st.st_ino;
	rt.fd = above_others(fd);
	return true;
}

/* No space was left: removes the file, which was only just created and is empty. */
static void discard_file(void)
{
	SYS3(unlinkat, AT_FDCWD, rt.path, 0);
	if (is_ours(rt.fd))
		SYS1(close, rt.fd);
	rt.fd = -1;
	rt.path[0] = 0;
	for (uint32_t i = 0; i < rt.n_extents; i++)
		rt.extent[i].written = 0;
}

/* ---- beginning and end of the file ---- */

static void write_header(void)
{
	struct kinf_header *h = rt.header;

	h->version = KINF_VERSION;
	h->page = KINF_PAGE;
	h->writer = KINF_BY_RUNTIME;
	h->pid = rt.pid;
	h->ppid = rt.ppid;
	h->start_ns = rt_now_ns(CLOCK_MONOTONIC);
	h->start_time_ns = rt_now_ns(CLOCK_REALTIME);
	h->machine = RT_MACHINE.elf;
	h->rank = rt.rank;
	h->ranks = rt.ranks;
	copy_bytes(h->job, rt.job, sizeof(h->job));
	h->size = in_file() ? KINF_PAGE : 0;
	__atomic_store_n(&h->magic, KINF_MAGIC, __ATOMIC_RELEASE);
}

bool rt_file_start(void)
{
	bool named = open_file();

	if (named)
		rt_bus_init();
	if (!extend(first_extent)) {
		if (named)
			discard_file();
		return false;
	}
	if (named && !in_file())
		discard_file();
	rt.header = (struct kinf_header *)rt.extent[0].at;
	rt.used = KINF_PAGE;
	write_header();
	rt_info_start();
	rt_modules_start();
	rt_made_start();
	return true;
}

/* Counts n as lost until a later flush writes it. */
static void lose_unwritten(enum kinf_loss what, uint64_t n)
{
	rt.unwritten[what] += n;
	rt_lose(what, n);
}

static void lose_block(const struct kinf_block *b)
{
	const struct kinf_retired_arc *retired = (const struct kinf_retired_arc *)b->payload;
	const struct kinf_arc *arc = (const struct kinf_arc *)b->payload;
	const struct kinf_call *call = (const struct kinf_call *)b->payload;

	if (b->type == KINF_ARCS)
		for (uint64_t n = b->used / sizeof(*arc); n--; arc++)
			lose_unwritten(KINF_LOST_ARCS, rt_read(&arc->count));
	if (b->type == KINF_CALLS)
		for (uint64_t n = b->used / sizeof(*call); n--; call++)
			lose_unwritten(KINF_LOST_ARCS, rt_call_at(call).count);
	if (b->type == KINF_RETIRED_ARCS)
		for (uint64_t n = b->used / sizeof(*retired); n--; retired++)
			lose_unwritten(KINF_LOST_ARCS, rt_read(&retired->count));
	for (uint64_t at = 0; b->type == KINF_STACKS && at < b->used;) {
		const struct kinf_stack *s = (const struct kinf_stack *)(b->payload + at);

		lose_unwritten(KINF_LOST_SAMPLES, rt_read(&s->count));
		at += sizeof(*s) + s->depth * sizeof(s->pc[0]);
	}
}

/* Takes back the losses of an earlier flush, because this one tries again. */
static void take_back(void)
{
	for (int what = 0; what < KINF_N_LOSSES; what++) {
		__atomic_fetch_sub(&rt.header->losses[what], rt.unwritten[what], __ATOMIC_RELAXED);
		rt.unwritten[what] = 0;
	}
}

/* Counts data in memory that did not reach the file as lost: extent `first` except its first
 * `written` bytes, and all later extents. */
static void lose_rest(uint32_t first, uint64_t written)
{
	const struct kinf_block *b = NULL;

	while ((b = rt_next_block(b)))
		for (uint32_t i = first; i < rt.n_extents; i++) {
			const struct rt_extent *e = &rt.extent[i];
			const uint8_t *start = e->at + (i == first ? written : 0);

			if ((const uint8_t *)b >= start && (const uint8_t *)b < e->at + e->size)
				lose_block(b);
		}
}

/* Writes an extent. Returns how many of its bytes the file now has: all, or as many as before if
 * there is no space for more. */
static uint64_t write_extent(int fd, struct rt_extent *e, uint64_t size)
{
	if (reserve(fd, e->offset, size))
		size = e->written;
	for (uint64_t done = 0; done < size;) {
		long n = SYS4(pwrite64, fd, e->at + done, size - done, e->offset + done);

		if (n <= 0)
			return 0;
		done += (uint64_t)n;
	}
	e->written = size;
	return size;
}

void rt_file_finish(void)
{
	uint64_t mask, size, written;
	uint32_t first = 0;
	int fd;

	if (rt.silent || rt.state == RT_OFF || !rt_lock(&mask))
		return;
	while (first < rt.n_extents && rt.extent[first].in_file)
		first++;
	if (first == rt.n_extents) {
		rt_unlock(mask);
		return;
	}
	take_back();
	if (!first && !rt.path[0])
		open_file(); /* it could not be created at the start, perhaps for lack of space */
	fd = our_fd();
	for (uint32_t i = first; i < rt.n_extents; i++) {
		size = i + 1 == rt.n_extents ? rt.used : rt.extent[i].size;
		written = fd < 0 ? 0 : write_extent(fd, &rt.extent[i], size);
		rt.header->size = rt.extent[i].offset + written;
		if (written < size) {
			lose_rest(i, written);
			break;
		}
	}
	/* A header in memory is written once more: its size has changed meanwhile. Otherwise the
	 * file has it. */
	if (!first && fd >= 0 &&
	    (!rt.header->size || SYS4(pwrite64, fd, rt.header, KINF_PAGE, 0) != KINF_PAGE))
		discard_file();
	rt_unlock(mask);
}

/* Stores to mapped memory do not change the modification time, but readers look for the newest
 * file. This rewrites the magic number with pwrite64(): a program restricted by seccomp allows that
 * call if it writes files at all. */
void rt_file_touch(void)
{
	int fd = in_file() ? our_fd() : -1;

	if (fd >= 0)
		SYS4(pwrite64, fd, rt.header, sizeof(rt.header->magic), 0);
}

/* The parent's file is not ours. Memory at the same address receives a count that was in progress
 * when a signal handler forked. */
void rt_file_drop(void)
{
	for (uint32_t i = 0; i < rt.n_extents; i++) {
		SYS6(mmap, rt.extent[i].at, rt.extent[i].size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
		if (rt.extent[i].before)
			SYS2(munmap, rt.extent[i].before, rt.extent[i].size);
	}
	if (is_ours(rt.fd))
		SYS1(close, rt.fd);
	rt.fd = -1;
	rt.n_extents = 0;
	rt.header = NULL;
	clear_bytes(rt.unwritten, sizeof(rt.unwritten));
	rt.path[0] = 0;
	rt.full = false;
}

/* kernel.c - opens the image of the kernel's symbols, makes it anew when it is stale, and searches
 * it. */
#include "object/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/folder.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "object/kernel_image.h"
#include "object/kernel_names.h"
#include "object/object_private.h"

enum { STACK = 256 << 10, KEPT_MAX = 56 << 20, SYMBOLS_MAX = 16 << 20 };
enum { REMEMBERED = 1 << 16 };     /* addresses; about 3 MB with their symbols */
enum { PAGE = 16384, PAGES = 64 }; /* bytes of a page of the image; pages in memory */

struct kernel_page {
	uint64_t number; /* 1 + index of the page in the image; 0: none */
	size_t size;     /* bytes that the file has of it */
	uint8_t data[PAGE];
};

struct kernel {
	bool begun, joined; /* until it is joined, the rest belongs to the thread */
	atomic_bool done;
	bool threaded, fresh; /* fresh: the image has symbols that come and go, too */
	pthread_t thread;
	int fd;                 /* the image; -1: none */
	int trouble;            /* errno of a read that failed; 0: none */
	char *path, *temporary; /* the kept image, and where it is written first; NULL: not kept */
	struct kernel_image_header header;
	uint64_t *index;
	size_t n_blocks;
	/* [PAGES]: the pages read last, by the low bits of their index. The functions of a profile
	 * are close together in the kernel, and so are their names. NULL: none was read. */
	struct kernel_page *pages;
	/* Addresses that were looked up, as the same ones come again and again. Each of the
	 * kernel's names is stored at most once. */
	struct map64 found_ids;          /* address -> index in found */
	VEC(struct kernel_symbol) found; /* name NULL: no symbol was found */
	struct strtab *names;
};

struct kernel *kernel_new(void)
{
	struct kernel *k = xalloc(sizeof(*k));
	k->fd = -1;
	k->names = strtab_new();
	return k;
}

/* ---- the image ---- */

static uint64_t symbols_offset(const struct kernel *k)
{
	return sizeof(k->header) + k->n_blocks * sizeof(*k->index);
}

static uint64_t names_offset(const struct kernel *k)
{
	return symbols_offset(k) + k->header.n * sizeof(struct kernel_image_symbol);
}

static ssize_t read_file(struct kernel *k, uint64_t offset, void *ret, size_t size)
{
	ssize_t n;
	do {
		n = pread(k->fd, ret, size, (off_t)offset);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && !k->trouble)
		k->trouble = errno;
	return n;
}

static bool read_at(struct kernel *k, uint64_t offset, void *ret, size_t size)
{
	return read_file(k, offset, ret, size) == (ssize_t)size;
}

/* NULL: it cannot be read. */
static const struct kernel_page *page_at(struct kernel *k, uint64_t number)
{
	if (!k->pages) {
		k->pages = xrealloc(NULL, PAGES, sizeof(*k->pages));
		for (size_t i = 0; i < PAGES; i++)
			k->pages[i].number = 0;
	}
	struct kernel_page *p = &k->pages[number % PAGES];
	if (p->number == number + 1)
		return p;
	ssize_t n = read_file(k, number * PAGE, p->data, PAGE);
	p->number = n < 0 ? 0 : number + 1;
	p->size = n < 0 ? 0 : (size_t)n;
	return n < 0 ? NULL : p;
}

/* As read_at(), through the pages in memory: for small pieces that are close together. */
static bool read_near(struct kernel *k, uint64_t offset, void *ret, size_t size)
{
	uint8_t *to = ret;
	while (size) {
		const struct kernel_page *p = page_at(k, offset / PAGE);
		size_t at = offset % PAGE, n = p && p->size > at ? p->size - at : 0;
		if (!n)
			return false;
		n = n < size ? n : size;
		memcpy(to, p->data + at, n);
		to += n;
		offset += n;
		size -= n;
	}
	return true;
}

/* Takes over the image in k->fd; false if it is damaged or not of the running kernel. */
static bool take_image(struct kernel *k, const struct kernel_image_header *now)
{
	struct kernel_image_header h, same = *now;
	struct stat st;
	if (fstat(k->fd, &st) || !S_ISREG(st.st_mode) || !read_at(k, 0, &h, sizeof(h)))
		return false;
	same.n = h.n;
	same.names_size = h.names_size;
	same.start = h.start;
	same.end = h.end;
	if (memcmp(&same, &h, sizeof(h)) != 0 || !h.n || h.n > SYMBOLS_MAX)
		return false;
	k->header = h;
	k->n_blocks = (h.n + KERNEL_BLOCK - 1) / KERNEL_BLOCK;
	if (names_offset(k) + h.names_size != (uint64_t)st.st_size)
		return false;
	k->index = xalloc(k->n_blocks * sizeof(*k->index));
	if (read_at(k, sizeof(h), k->index, k->n_blocks * sizeof(*k->index)))
		return true;
	free(k->index);
	k->index = NULL;
	return false;
}

static void drop_image(struct kernel *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
	free(k->index);
	k->index = NULL;
	free(k->pages);
	k->pages = NULL;
}

/* ---- the cache ---- */

/* folder_cache() gives no folder that anybody can write to. */
static void name_files(struct kernel *k, const struct kernel_image_header *now)
{
	char *folder = folder_cache("kernel");
	if (!folder)
		return;
	k->path = xprintf("%s/%s-%016llx", folder, now->boot, (unsigned long long)now->modules);
	k->temporary = xprintf("%s/.XXXXXX", folder);
	free(folder);
}

/* A new file for the image: in the cache, else in memory. A descriptor, or -1. */
static int make_file(struct kernel *k)
{
	char *folder =
		k->path ? xprintf("%.*s", (int)(strrchr(k->path, '/') - k->path), k->path) : NULL;
	struct kin_error *err = folder ? folder_make(folder) : NULL;
	int fd = folder && !err ? mkostemp(k->temporary, O_CLOEXEC) : -1;
	if (fd >= 0) {
		folder_trim(folder, KEPT_MAX);
	} else {
		free(k->path);
		k->path = NULL;
		fd = memfd_create("kallsyms", MFD_CLOEXEC);
	}
	kin_error_free(err);
	free(folder);
	return fd;
}

/* ---- making the image ---- */

/* Writes the image; false if that failed. A kernel that hides its addresses is no trouble. */
static bool write_image(struct kernel *k, const struct kernel_image_header *now)
{
	int failed = kernel_image_write(k->fd, now, k->fresh);
	k->trouble = failed == ENODATA ? 0 : failed;
	return !failed;
}

static void *load(void *arg)
{
	struct kernel *k = arg;
	struct kernel_image_header now = k->header;
	bool good = write_image(k, &now);
	if (k->path && (!good || rename(k->temporary, k->path) < 0))
		unlink(k->temporary);
	if (!good && k->path) { /* perhaps no space: try in memory */
		close(k->fd);
		k->fd = memfd_create("kallsyms", MFD_CLOEXEC);
		good = k->fd >= 0 && write_image(k, &now);
	}
	if (!good && k->fd >= 0) {
		close(k->fd);
		k->fd = -1;
	}
	atomic_store(&k->done, true);
	return NULL;
}

/* In a thread with a small stack, as memory may be limited; if there is none, in this one. */
static void start(struct kernel *k)
{
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, STACK);
	k->threaded = !pthread_create(&k->thread, &a, load, k);
	pthread_attr_destroy(&a);
	if (!k->threaded)
		load(k);
}

static void begin(struct kernel *k)
{
	struct kernel_image_header now;
	if (k->begun)
		return;
	k->begun = true;
	if (!kernel_image_now(&now, &k->trouble)) {
		k->joined = true;
		atomic_store(&k->done, true);
		return;
	}
	name_files(k, &now);
	k->fd = k->path ? open(k->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	if (k->fd >= 0 && take_image(k, &now)) {
		folder_used(k->path);
		k->joined = true;
		atomic_store(&k->done, true);
		return;
	}
	drop_image(k);
	k->header = now;
	k->fd = make_file(k);
	if (k->fd >= 0)
		start(k);
	else
		atomic_store(&k->done, true);
}

bool kernel_is_ready(struct kernel *k)
{
	begin(k);
	return atomic_load(&k->done);
}

bool kernel_has_names(struct kernel *k)
{
	begin(k);
	if (!k->joined) {
		struct kernel_image_header now = k->header;
		if (k->threaded)
			pthread_join(k->thread, NULL);
		if (k->fd >= 0 && !take_image(k, &now))
			drop_image(k);
		k->joined = true;
	}
	return k->index;
}

/* ---- searching ---- */

/* Index of the last of n addresses, `stride` words apart, that is at most addr; at[0] is. */
static size_t last_below(const uint64_t *at, size_t stride, size_t n, uint64_t addr)
{
	size_t low = 0, high = n;
	while (low + 1 < high) {
		size_t mid = low + (high - low) / 2;
		if (at[mid * stride] <= addr)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* NULL: there is none. */
static const char *read_name(struct kernel *k, uint32_t offset)
{
	char name[KERNEL_NAME_MAX];
	uint64_t left = offset < k->header.names_size ? k->header.names_size - offset : 0;
	size_t n = left < KERNEL_NAME_MAX - 1 ? (size_t)left : KERNEL_NAME_MAX - 1;
	name[n] = '\0';
	if (!offset || !n || !read_near(k, names_offset(k) + offset, name, n) || !*name)
		return NULL;
	return strtab_get(k->names, strtab_add(k->names, name));
}

static bool search(struct kernel *k, uint64_t addr, struct kernel_symbol *ret)
{
	struct kernel_image_symbol s[KERNEL_BLOCK];
	if (addr < k->index[0])
		return false;
	uint64_t first = (uint64_t)KERNEL_BLOCK * last_below(k->index, 1, k->n_blocks, addr);
	uint64_t n = k->header.n - first < KERNEL_BLOCK ? k->header.n - first : KERNEL_BLOCK;
	if (!read_near(k, symbols_offset(k) + first * sizeof(*s), s, n * sizeof(*s)))
		return false;
	const struct kernel_image_symbol *found =
		&s[last_below(&s[0].addr, sizeof(*s) / sizeof(s->addr), n, addr)];
	if (addr - found->addr > KERNEL_FUNCTION_MAX)
		return false;
	const char *name = read_name(k, found->name);
	if (!name)
		return false;
	*ret = (struct kernel_symbol){ name, read_name(k, found->module), found->addr };
	return true;
}

static void forget_found(struct kernel *k)
{
	map64_free(&k->found_ids);
	k->found_ids = (struct map64){ 0 };
	k->found.n = 0;
}

/* For an address that is not in the cached image: reads all current symbols, once. */
static bool refresh(struct kernel *k)
{
	struct kernel_image_header now;
	int errnum;
	if (k->fresh)
		return false;
	if (!kernel_image_now(&now, &errnum)) {
		k->trouble = k->trouble ? k->trouble : errnum;
		return false;
	}
	k->fresh = true;
	forget_found(k);
	drop_image(k);
	free(k->path);
	k->path = NULL;
	k->header = now;
	k->fd = memfd_create("kallsyms", MFD_CLOEXEC);
	if (k->fd >= 0 && (!write_image(k, &now) || !take_image(k, &now)))
		drop_image(k);
	return k->index;
}

/* Stores the result for addr; returns its index in k->found. */
static uint32_t remember(struct kernel *k, uint64_t addr, const struct kernel_symbol *s)
{
	if (k->found.n == REMEMBERED)
		forget_found(k);
	uint32_t id = (uint32_t)k->found.n;
	vec_push(&k->found, *s);
	*map64_at(&k->found_ids, addr) = id;
	return id;
}

int kernel_trouble(const struct kernel *k) { return k->trouble; }

bool kernel_find(struct kernel *k, uint64_t addr, struct kernel_symbol *ret)
{
	bool kernel = addr >> 63;
	if (!kernel || !kernel_has_names(k))
		return false;
	uint32_t id = map64_get(&k->found_ids, addr);
	if (id == NONE) {
		struct kernel_symbol s = { 0 };
		if (!search(k, addr, &s) && refresh(k))
			search(k, addr, &s);
		id = remember(k, addr, &s);
	}
	if (!k->found.at[id].name)
		return false;
	*ret = k->found.at[id];
	return true;
}

/* At most `size` bytes; -1: errno says why. */
static ssize_t read_notes(uint8_t *notes, size_t size)
{
	int fd = open(KERNEL_NOTES, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t part = fd < 0 ? -1 : 1;
	while (part > 0 && n < size) {
		part = read(fd, notes + n, size - n);
		n += part > 0 ? (size_t)part : 0;
		part = part < 0 && errno == EINTR ? 1 : part;
	}
	int errnum = errno;
	if (fd >= 0)
		close(fd);
	errno = errnum;
	return part < 0 ? -1 : (ssize_t)n;
}

bool kernel_build_id(char ret[41], int *errnum)
{
	enum { SHA1 = 20 };
	uint8_t notes[4096];
	size_t size = 0;
	ssize_t n = read_notes(notes, sizeof(notes));
	bool may_lack = n < 0 && (errno == ENOENT || errno == EACCES || errno == EPERM);
	*errnum = n < 0 && !may_lack ? errno : 0;
	if (n < 0)
		return false;
	struct bytes b = bytes_of(KERNEL_NOTES, notes, (size_t)n);
	const uint8_t *id = elf_notes_build_id(&b, &size);
	if (!id || size > SHA1)
		return false;
	num_hex(ret, id, size);
	return true;
}

bool kernel_is_running(const char *build_id, int *errnum)
{
	char running[41];
	*errnum = 0;
	return build_id && kernel_build_id(running, errnum) && !strcmp(running, build_id);
}

bool kernel_range(struct kernel *k, uint64_t *start, uint64_t *end)
{
	if (!kernel_has_names(k) || !k->header.start || k->header.start >= k->header.end)
		return false;
	*start = k->header.start;
	*end = k->header.end;
	return true;
}

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	if (k->begun)
		kernel_has_names(k);
	drop_image(k);
	map64_free(&k->found_ids);
	vec_free(&k->found);
	strtab_free(k->names);
	free(k->path);
	free(k->temporary);
	free(k);
}

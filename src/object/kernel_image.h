/* kernel_image.h - the kernel's symbols in a file that is searched in place.
 *
 * The kernel takes a tenth of a second to write /proc/kallsyms, a page at a time. So it is read
 * once per boot, sorted, and kept in the cache folder. A search reads two small pieces of that
 * file; an index and some pages of it stay in memory.
 *
 *	header | index: the address of each block's first symbol | symbols by address | names */
#ifndef OBJECT_KERNEL_IMAGE_H
#define OBJECT_KERNEL_IMAGE_H

#include "base/base.h"

enum { KERNEL_BLOCK = 256, KERNEL_NAME_MAX = 512 };

struct kernel_image_symbol {
	uint64_t addr;
	uint32_t name, module; /* offsets in the names; 0: none. A symbol without a name ends the
				  known range */
};

struct kernel_image_header {
	char magic[8];
	uint32_t version, block;
	uint64_t n, names_size;
	uint64_t start, end; /* the kernel's code without modules; 0: not known */
	uint64_t modules;    /* a hash of /proc/modules: loaded modules and their addresses */
	char boot[40];       /* /proc/sys/kernel/random/boot_id */
};

/* The header of a valid image, except for sizes. False if the kernel does not tell (*errnum 0), or
 * if that could not be read. */
bool kernel_image_now(struct kernel_image_header *ret, int *errnum);

/* Writes an image to fd, which is empty. `passing`: include symbols that come and go while the
 * kernel runs (BPF code); an image that is kept has none. Allocates no memory with malloc, so that
 * a thread can do it. Returns 0 or an errno: ENODATA if the kernel hides its addresses. */
int kernel_image_write(int fd, const struct kernel_image_header *now, bool passing);

#endif

/* kernel_image.h - the kernel's symbols as one file that is searched where it lies.
 *
 * /proc/kallsyms comes a page at a time and takes the kernel a tenth of a second to write: so it is
 * read once per boot, sorted, and kept in the cache folder. A search reads two small pieces of that
 * file; nothing of it stays in memory but an index.
 *
 *	header | index: the address of each block's first symbol | symbols by address | names */
#ifndef OBJECT_KERNEL_IMAGE_H
#define OBJECT_KERNEL_IMAGE_H

#include "base/base.h"

enum { KERNEL_BLOCK = 256, KERNEL_NAME_MAX = 512 };

struct kernel_image_symbol {
	uint64_t addr;
	uint32_t name, module; /* offsets in the names; 0: none. A symbol without a name is the end
				  of what is known */
};

struct kernel_image_header {
	char magic[8];
	uint32_t version, block;
	uint64_t n, names_size;
	uint64_t start, end; /* the kernel's code without modules; 0: not known */
	uint64_t modules;    /* a sum over /proc/modules: what is loaded, and where */
	char boot[40];       /* /proc/sys/kernel/random/boot_id */
};

/* What an image that is still true must have: all but the sizes. False if the kernel does not say,
 * *errnum then being 0, or if that could not be read. */
bool kernel_image_now(struct kernel_image_header *ret, int *errnum);

/* Writes an image to fd, which is empty. `passing`: with what comes and goes while the kernel runs
 * (code of BPF); an image that is kept is without. Needs no memory of malloc's, so that a thread
 * can do it. Returns 0, or an errno: ENODATA if the kernel keeps its addresses secret. */
int kernel_image_write(int fd, const struct kernel_image_header *now, bool passing);

#endif

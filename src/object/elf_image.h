/* elf_image.h - the tables of one ELF file, of either class and byte order: header, segments,
 * sections, and what the contents of sections consist of.
 *
 * The bytes are in a file, of which only the requested ones are read, or in memory. They are not
 * trusted: nothing outside of [0, size) is read. All is given in the structs of 64-bit files and in
 * this machine's byte order. Nothing is kept: elf_file.h does that. */
#ifndef OBJECT_ELF_IMAGE_H
#define OBJECT_ELF_IMAGE_H

#include <elf.h>

#include "base/base.h"
#include "base/bytes.h"

struct elf_image {
	int fd;                /* borrowed; -1: in memory */
	const uint8_t *memory; /* borrowed */
	uint64_t size;
	/* set by elf_image_open() */
	Elf64_Ehdr header;
	bool is_64bit;
	bool swap; /* the file is of the other byte order */
	size_t n_segments, n_sections;
	size_t names; /* index of the section that has the names of sections; 0: none */
};

/* To be called once fd or memory, and size are set. 0; ENOEXEC: it is no ELF file, or its header
 * makes no sense; another errno: it cannot be read. */
int elf_image_open(struct elf_image *im);
bool elf_image_has(const struct elf_image *im, uint64_t offset, uint64_t size);
/* 0 or errno; EIO: the file has become shorter. Missing bytes are zero. */
int elf_image_read(const struct elf_image *im, uint64_t offset, void *ret, size_t size);
/* A copy, to be freed; NULL if size is 0 or not all bytes are there. errnum may be NULL; it is set
 * if bytes that are there cannot be read. */
void *elf_image_copy(const struct elf_image *im, uint64_t offset, uint64_t size, int *errnum);

/* Whether its tables are in the form of this machine's programs of 64 bits. */
static inline bool elf_image_is_native(const struct elf_image *im)
{
	return im->is_64bit && !im->swap;
}

/* All segments or sections, to be freed; NULL: there are none, or the table is cut off. */
Elf64_Phdr *elf_image_segments(const struct elf_image *im);
Elf64_Shdr *elf_image_sections(const struct elf_image *im, int *errnum);

/* Whether it is a program rather than a shared library, which may have an entry as well. */
bool elf_image_is_program(const struct elf_image *im);

/* ---- entries of contents ----
 *
 *	struct bytes b = elf_bytes(im, contents, n);
 *	while (bytes_left(&b) >= elf_dyn_size(im)) {
 *		Elf64_Dyn d = elf_dyn(im, &b); */

static inline struct bytes elf_bytes(const struct elf_image *im, const void *data, size_t size)
{
	struct bytes b = bytes_of(NULL, data, data ? size : 0);
	b.swap = im->swap;
	return b;
}

static inline size_t elf_sym_size(const struct elf_image *im)
{
	return im->is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

static inline size_t elf_dyn_size(const struct elf_image *im)
{
	return im->is_64bit ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
}

/* `addend`: of a section of type SHT_RELA. */
static inline size_t elf_rela_size(const struct elf_image *im, bool addend)
{
	return (im->is_64bit ? 8 : 4) * (addend ? 3 : 2);
}

Elf64_Sym elf_sym(const struct elf_image *im, struct bytes *b);
Elf64_Dyn elf_dyn(const struct elf_image *im, struct bytes *b);
Elf64_Rela elf_rela(const struct elf_image *im, struct bytes *b, bool addend);

/* The bytes of the first GNU build id among notes; NULL if there is none. */
const uint8_t *elf_notes_build_id(struct bytes *notes, size_t *size);

#endif

/* elf_image.c - reads an ELF file's tables, and turns their entries into this machine's form. */
#include "object/elf_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No file has more; a sparse one could claim as many as its size allows. */
enum { SEGMENTS_MAX = 1 << 16, SECTIONS_MAX = 1 << 20 };

/* ---- bytes ---- */

bool elf_image_has(const struct elf_image *im, uint64_t offset, uint64_t size)
{
	return offset <= im->size && size <= im->size - offset;
}

int elf_image_read(const struct elf_image *im, uint64_t offset, void *ret, size_t size)
{
	uint8_t *to = ret;
	size_t done = 0;
	bool is_there = elf_image_has(im, offset, size);
	if (is_there && im->memory) {
		memcpy(to, im->memory + offset, size);
		return 0;
	}
	while (is_there && done < size) {
		ssize_t n = pread(im->fd, to + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			memset(to + done, 0, size - done);
			return n < 0 ? errno : EIO;
		}
		done += (size_t)n;
	}
	if (!is_there)
		memset(to, 0, size);
	return is_there ? 0 : EIO;
}

void *elf_image_copy(const struct elf_image *im, uint64_t offset, uint64_t size, int *errnum)
{
	if (!size || !elf_image_has(im, offset, size))
		return NULL;
	void *p = xrealloc(NULL, size, 1);
	int failed = elf_image_read(im, offset, p, size);
	if (!failed)
		return p;
	if (errnum)
		*errnum = failed;
	free(p);
	return NULL;
}

/* ---- entries ---- */

static uint64_t word(const struct elf_image *im, struct bytes *b)
{
	return bytes_word(b, im->is_64bit ? 8 : 4);
}

static Elf64_Ehdr ehdr(const struct elf_image *im, struct bytes *b)
{
	Elf64_Ehdr h;
	memcpy(h.e_ident, bytes_take(b, EI_NIDENT).pos, EI_NIDENT);
	h.e_type = bytes_u16(b);
	h.e_machine = bytes_u16(b);
	h.e_version = bytes_u32(b);
	h.e_entry = word(im, b);
	h.e_phoff = word(im, b);
	h.e_shoff = word(im, b);
	h.e_flags = bytes_u32(b);
	h.e_ehsize = bytes_u16(b);
	h.e_phentsize = bytes_u16(b);
	h.e_phnum = bytes_u16(b);
	h.e_shentsize = bytes_u16(b);
	h.e_shnum = bytes_u16(b);
	h.e_shstrndx = bytes_u16(b);
	return h;
}

static Elf64_Phdr phdr(const struct elf_image *im, struct bytes *b)
{
	Elf64_Phdr p;
	p.p_type = bytes_u32(b);
	p.p_flags = im->is_64bit ? bytes_u32(b) : 0;
	p.p_offset = word(im, b);
	p.p_vaddr = word(im, b);
	p.p_paddr = word(im, b);
	p.p_filesz = word(im, b);
	p.p_memsz = word(im, b);
	if (!im->is_64bit)
		p.p_flags = bytes_u32(b);
	p.p_align = word(im, b);
	return p;
}

static Elf64_Shdr shdr(const struct elf_image *im, struct bytes *b)
{
	Elf64_Shdr s;
	s.sh_name = bytes_u32(b);
	s.sh_type = bytes_u32(b);
	s.sh_flags = word(im, b);
	s.sh_addr = word(im, b);
	s.sh_offset = word(im, b);
	s.sh_size = word(im, b);
	s.sh_link = bytes_u32(b);
	s.sh_info = bytes_u32(b);
	s.sh_addralign = word(im, b);
	s.sh_entsize = word(im, b);
	return s;
}

Elf64_Sym elf_sym(const struct elf_image *im, struct bytes *b)
{
	Elf64_Sym s = { .st_name = bytes_u32(b) };
	if (!im->is_64bit) {
		s.st_value = bytes_u32(b);
		s.st_size = bytes_u32(b);
	}
	s.st_info = bytes_u8(b);
	s.st_other = bytes_u8(b);
	s.st_shndx = bytes_u16(b);
	if (im->is_64bit) {
		s.st_value = bytes_u64(b);
		s.st_size = bytes_u64(b);
	}
	return s;
}

Elf64_Dyn elf_dyn(const struct elf_image *im, struct bytes *b)
{
	Elf64_Dyn d;
	d.d_tag = bytes_sword(b, im->is_64bit ? 8 : 4);
	d.d_un.d_val = word(im, b);
	return d;
}

Elf64_Rela elf_rela(const struct elf_image *im, struct bytes *b, bool addend)
{
	Elf64_Rela r;
	r.r_offset = word(im, b);
	r.r_info = word(im, b);
	r.r_addend = addend ? bytes_sword(b, im->is_64bit ? 8 : 4) : 0;
	if (!im->is_64bit)
		r.r_info = ELF64_R_INFO(ELF32_R_SYM(r.r_info), ELF32_R_TYPE(r.r_info));
	return r;
}

const uint8_t *elf_notes_build_id(struct bytes *b, size_t *size)
{
	while (bytes_left(b) >= 12) {
		uint32_t name_size = bytes_u32(b);
		uint32_t id_size = bytes_u32(b);
		uint32_t type = bytes_u32(b);
		struct bytes name = bytes_take(b, name_size);
		bytes_take(b, -name_size & 3);
		struct bytes id = bytes_take(b, id_size);
		if (b->failed)
			return NULL;
		if (type == NT_GNU_BUILD_ID && id_size && name_size == 4 &&
		    !memcmp(name.pos, "GNU", 4)) {
			*size = id_size;
			return id.pos;
		}
		bytes_take(b, -id_size & 3);
	}
	return NULL;
}

/* ---- tables ---- */

static size_t phdr_size(const struct elf_image *im)
{
	return im->is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
}

static size_t shdr_size(const struct elf_image *im)
{
	return im->is_64bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

/* Numbers too large for the header are in the first section's. */
static int count_tables(struct elf_image *im)
{
	const Elf64_Ehdr *h = &im->header;
	bool is_large = !h->e_shnum || h->e_phnum == PN_XNUM || h->e_shstrndx == SHN_XINDEX;
	Elf64_Shdr first = { 0 };
	uint8_t raw[sizeof(Elf64_Shdr)];
	if (h->e_shoff && is_large && elf_image_has(im, h->e_shoff, shdr_size(im))) {
		int errnum = elf_image_read(im, h->e_shoff, raw, shdr_size(im));
		if (errnum)
			return errnum;
		struct bytes b = elf_bytes(im, raw, shdr_size(im));
		first = shdr(im, &b);
	}
	im->n_segments = h->e_phnum == PN_XNUM ? first.sh_info : h->e_phnum;
	im->n_sections = h->e_shnum ? h->e_shnum : first.sh_size;
	im->names = h->e_shstrndx == SHN_XINDEX ? first.sh_link : h->e_shstrndx;
	uint64_t left = h->e_phoff && h->e_phoff < im->size ? im->size - h->e_phoff : 0;
	im->n_segments = min_u64(im->n_segments, left / phdr_size(im));
	im->n_segments = min_u64(im->n_segments, SEGMENTS_MAX);
	left = h->e_shoff && h->e_shoff < im->size ? im->size - h->e_shoff : 0;
	if (im->n_sections > left / shdr_size(im) || im->n_sections > SECTIONS_MAX)
		im->n_sections = 0;
	return 0;
}

int elf_image_open(struct elf_image *im)
{
	uint8_t raw[sizeof(Elf64_Ehdr)];
	size_t n = min_u64(im->size, sizeof(raw));
	int errnum = elf_image_read(im, 0, raw, n);
	if (errnum)
		return errnum;
	if (n < EI_NIDENT || memcmp(raw, ELFMAG, SELFMAG) != 0 || raw[EI_VERSION] != EV_CURRENT ||
	    (raw[EI_CLASS] != ELFCLASS32 && raw[EI_CLASS] != ELFCLASS64) ||
	    (raw[EI_DATA] != ELFDATA2LSB && raw[EI_DATA] != ELFDATA2MSB))
		return ENOEXEC;
	im->is_64bit = raw[EI_CLASS] == ELFCLASS64;
	im->swap = bytes_other_order(raw[EI_DATA] == ELFDATA2MSB);
	struct bytes b = elf_bytes(im, raw, n);
	im->header = ehdr(im, &b);
	return b.failed ? ENOEXEC : count_tables(im);
}

Elf64_Phdr *elf_image_segments(const struct elf_image *im)
{
	size_t size = im->n_segments * phdr_size(im);
	uint8_t *raw = elf_image_copy(im, im->header.e_phoff, size, NULL);
	if (!raw || elf_image_is_native(im))
		return (void *)raw;
	struct bytes b = elf_bytes(im, raw, size);
	Elf64_Phdr *ret = xrealloc(NULL, im->n_segments, sizeof(*ret));
	for (size_t i = 0; i < im->n_segments; i++)
		ret[i] = phdr(im, &b);
	free(raw);
	return ret;
}

Elf64_Shdr *elf_image_sections(const struct elf_image *im, int *errnum)
{
	size_t size = im->n_sections * shdr_size(im);
	uint8_t *raw = elf_image_copy(im, im->header.e_shoff, size, errnum);
	if (!raw || elf_image_is_native(im))
		return (void *)raw;
	struct bytes b = elf_bytes(im, raw, size);
	Elf64_Shdr *ret = xrealloc(NULL, im->n_sections, sizeof(*ret));
	for (size_t i = 0; i < im->n_sections; i++)
		ret[i] = shdr(im, &b);
	free(raw);
	return ret;
}

/* Linkers mark position-independent programs. A static one has no interpreter to tell it from a
 * library; nor does an entry point: old linkers gave one to libraries as well. */
static bool has_mark_of_program(const struct elf_image *im, const Elf64_Phdr *dynamic)
{
	uint8_t *data = dynamic->p_filesz > 1 << 16
				? NULL
				: elf_image_copy(im, dynamic->p_offset, dynamic->p_filesz, NULL);
	struct bytes b = elf_bytes(im, data, dynamic->p_filesz);
	bool found = false;
	while (bytes_left(&b) >= elf_dyn_size(im)) {
		Elf64_Dyn d = elf_dyn(im, &b);
		found |= d.d_tag == DT_FLAGS_1 && d.d_un.d_val & DF_1_PIE;
	}
	free(data);
	return found;
}

bool elf_image_is_program(const struct elf_image *im)
{
	if (im->header.e_type != ET_DYN)
		return im->header.e_type == ET_EXEC;
	Elf64_Phdr *p = elf_image_segments(im);
	bool found = false;
	for (size_t i = 0; p && !found && i < im->n_segments; i++)
		found = p[i].p_type == PT_INTERP ||
			(p[i].p_type == PT_DYNAMIC && has_mark_of_program(im, &p[i]));
	free(p);
	return found;
}

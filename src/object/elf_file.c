/* elf_file.c - opens ELF files, and keeps what was read of them. */
#include "object/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "object/section_packing.h"
#include "object/unpacked.h"

/* Sections of at least that size are read in parts, where parts are asked for. Most requests for
 * code are for a few bytes. */
enum { LARGE_SECTION = 3 << 20, LARGE_CODE = 128 << 10 };

/* ---- opening ---- */

static struct kin_error *not_executable(const char *path, const char *what)
{
	return err_about(err_new(KIN_ERROR_UNSUPPORTED, "%s: %s", path, what),
			 (struct err_facts){ ERR_NO_PROGRAM, path });
}

/* A path may come from data, and opening a device (a tape, a watchdog) has effects. */
static bool is_device(const char *path)
{
	struct stat st;
	return !stat(path, &st) && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));
}

static struct kin_error *check_kind(int fd, const char *path, struct stat *st)
{
	if (fstat(fd, st) < 0)
		return err_os(errno, "%s", path);
	if (S_ISDIR(st->st_mode))
		return err_about(err_os(EISDIR, "%s", path),
				 (struct err_facts){ ERR_IS_DIRECTORY, path });
	if (!S_ISREG(st->st_mode))
		return not_executable(path, "not a regular file");
	if (!st->st_size)
		return not_executable(path, "empty file, not an ELF file");
	return NULL;
}

/* Describes a file that people mistake for an ELF file, by its magic. */
static const char *describe_foreign(const char *magic, size_t n)
{
	static const struct {
		const char *magic;
		size_t n;
		const char *what;
	} known[] = {
		{ "#!", 2, "a script, not an ELF file: give the program that it starts" },
		{ "!<arch>\n", 8, "an archive: extract the member or give the linked program" },
		{ "!<thin>\n", 8, "an archive: give the member or the linked program" },
		{ "gmon", 4, "profile data, not an ELF file: give the program first" },
		{ "MZ", 2, "a Windows program, not an ELF file" },
		{ "\xcf\xfa\xed\xfe", 4, "a Mach-O file, not an ELF file" },
		{ "\x1f\x8b", 2, "compressed, not an ELF file: unpack it first" },
		{ "\xfd"
		  "7zXZ",
		  5, "compressed, not an ELF file: unpack it first" },
		{ "\x28\xb5\x2f\xfd", 4, "compressed, not an ELF file: unpack it first" },
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (n >= known[i].n && !memcmp(magic, known[i].magic, known[i].n))
			return known[i].what;
	return "not an ELF file";
}

static struct kin_error *check_elf(struct elf_file *f)
{
	char magic[8];
	size_t n = min_u64(f->image.size, sizeof(magic));
	int errnum = elf_image_open(&f->image);
	if (!errnum && f->image.header.e_type == ET_CORE)
		return not_executable(f->path, "a core file: give the program that dumped it");
	if (!errnum)
		return NULL;
	if (errnum != ENOEXEC || (errnum = elf_image_read(&f->image, 0, magic, n)))
		return err_os(errnum, "reading %s", f->path);
	return not_executable(f->path, n >= SELFMAG && !memcmp(magic, ELFMAG, SELFMAG)
					       ? "damaged ELF file: its header makes no sense"
					       : describe_foreign(magic, n));
}

/* Up to the last NUL, so that every string that starts inside also ends inside. */
static size_t terminated_size(const char *s, size_t n)
{
	const char *last = n ? memrchr(s, '\0', n) : NULL;
	return last ? (size_t)(last - s) + 1 : 0;
}

static void note_failure(const struct elf_file *f, int errnum)
{
	if (!*f->trouble)
		*f->trouble = errnum;
}

/* Limits for the size of a section, and of all together, beyond which sections are ignored: each is
 * read into memory of its own. In a sound file they do not overlap, so they are at most as large as
 * the file. */
struct budget {
	uint64_t one, all;
};

static struct elf_section section_of(const Elf64_Shdr *h, struct budget *budget)
{
	struct elf_section s = { .name = "",
				 .addr = h->sh_addr,
				 .size = h->sh_size,
				 .flags = h->sh_flags,
				 .entsize = h->sh_entsize,
				 .type = h->sh_type,
				 .link = h->sh_link,
				 .info = h->sh_info,
				 .offset = h->sh_offset };
	if (s.type == SHT_NOBITS)
		return s;
	if (s.size > budget->one || s.size > budget->all)
		s.type = SHT_NULL;
	else
		budget->all -= s.size;
	return s;
}

static void name_sections(struct elf_file *f, const Elf64_Shdr *headers)
{
	size_t n = 0;
	if (!f->image.names || f->image.names >= f->n_sections)
		return;
	const char *names = (const char *)elf_file_contents(f, &f->sections[f->image.names], &n);
	n = names ? terminated_size(names, n) : 0;
	for (size_t i = 1; i < f->n_sections; i++)
		if (headers[i].sh_name < n)
			f->sections[i].name = names + headers[i].sh_name;
}

static void read_sections(struct elf_file *f)
{
	struct budget budget = { .one = f->section_max, .all = 4 * f->image.size };
	Elf64_Shdr *headers = elf_image_sections(&f->image, f->trouble);
	if (!headers)
		return;
	f->n_sections = f->image.n_sections;
	f->sections = arena_alloc(&f->arena, f->n_sections * sizeof(*f->sections));
	for (size_t i = 0; i < f->n_sections; i++)
		f->sections[i] = section_of(&headers[i], &budget);
	name_sections(f, headers);
	free(headers);
}

static struct elf_file *new_file(const char *path, int fd, uint8_t *memory, uint64_t size)
{
	struct elf_file *f = xalloc(sizeof(*f));
	f->path = arena_printf(&f->arena, "%s", path);
	f->trouble = arena_alloc(&f->arena, sizeof(*f->trouble));
	f->memory = memory;
	f->section_max = UINT64_MAX;
	f->image = (struct elf_image){ .fd = fd, .memory = memory, .size = size };
	return f;
}

struct kin_error *elf_file_open(const char *path, struct elf_file **ret)
{
	struct stat st;
	if (is_device(path))
		return not_executable(path, "not a regular file");
	/* Does not wait for a FIFO's writer; without effect for regular files. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_about(err_os(errno, "%s", path),
				 (struct err_facts){ ERR_OPENING, path });
	struct kin_error *err = check_kind(fd, path, &st);
	if (err) {
		close(fd);
		return err;
	}

	struct elf_file *f = new_file(path, fd, NULL, (uint64_t)st.st_size);
	err = check_elf(f);
	if (err) {
		elf_file_free(f);
		return err;
	}
	read_sections(f);
	*ret = f;
	return NULL;
}

struct elf_file *elf_file_of_open(const char *path, int fd, uint64_t section_max)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return NULL;
	struct elf_file *f = new_file(path, fd, NULL, (uint64_t)st.st_size);
	f->borrows = true;
	f->section_max = section_max;
	if (elf_image_open(&f->image)) {
		elf_file_free(f);
		return NULL;
	}
	read_sections(f);
	return f;
}

struct elf_file *elf_file_from_memory(const char *path, uint8_t *memory, size_t size)
{
	struct elf_file *f = new_file(path, -1, memory, size);
	if (elf_image_open(&f->image)) {
		elf_file_free(f);
		return NULL;
	}
	read_sections(f);
	return f;
}

void elf_file_free(struct elf_file *f)
{
	if (!f)
		return;
	if (f->image.fd >= 0 && !f->borrows)
		close(f->image.fd);
	for (size_t i = 0; i < f->n_sections; i++)
		free(f->sections[i].contents);
	free(f->segments);
	free(f->memory);
	vec_free(&f->words);
	struct arena arena = f->arena;
	free(f);
	arena_release(&arena);
}

/* ---- sections ---- */

const struct elf_section *elf_file_section(const struct elf_file *f, const char *name)
{
	for (size_t i = 1; i < f->n_sections; i++)
		if (!strcmp(f->sections[i].name, name))
			return &f->sections[i];
	return NULL;
}

static void read_into(const struct elf_file *f, uint8_t *to, size_t size, uint64_t offset)
{
	int errnum = elf_image_read(&f->image, offset, to, size);
	if (errnum)
		note_failure(f, errnum);
}

static bool is_packed(const struct elf_section *s)
{
	return s->flags & SHF_COMPRESSED || !strncmp(s->name, ".zdebug", 7);
}

/* A large section lies on large pages, as the page faults would cost more than the reading. */
static bool is_large(const struct elf_section *s)
{
	uint64_t large = elf_section_is_code(s) ? LARGE_CODE : LARGE_SECTION;
	return s->size >= large && !is_packed(s);
}

/* Allocates the section's contents, not yet read. */
static bool make_room(const struct elf_file *f, struct elf_section *s)
{
	if (s->type == SHT_NOBITS || s->type == SHT_NULL)
		return false;
	if (s->contents)
		return true;
	if (!s->size || !elf_image_has(&f->image, s->offset, s->size))
		return false;
	s->contents = is_large(s) ? xalloc_aligned(s->size + 1) : xrealloc(NULL, s->size + 1, 1);
	s->contents[s->size] = '\0'; /* ends the last string */
	s->is_partial = true;
	return true;
}

const uint8_t *elf_file_unread_contents(const struct elf_file *f, const struct elf_section *s,
					size_t *size)
{
	struct elf_section *own = &f->sections[s - f->sections];
	if (!is_large(own) || !make_room(f, own))
		return elf_file_contents(f, s, size);
	*size = own->size;
	return own->contents;
}

void elf_file_read_part(const struct elf_file *f, const struct elf_section *s, uint64_t from,
			uint64_t to)
{
	if (!s->is_partial || from >= s->size)
		return;
	to = to < s->size ? to : s->size;
	read_into(f, s->contents + from, to - from, s->offset + from);
}

static void read_all(const struct elf_file *f, const struct elf_section *s)
{
	struct elf_section *own = &f->sections[s - f->sections];
	if (!own->is_partial)
		return;
	if (is_large(own))
		xuse_large_pages(own->contents, own->size);
	read_into(f, own->contents, own->size, own->offset);
	own->is_partial = false;
}

const uint8_t *elf_file_contents(const struct elf_file *f, const struct elf_section *s,
				 size_t *size)
{
	struct elf_section *own = &f->sections[s - f->sections];
	*size = 0;
	if (!make_room(f, own))
		return NULL;
	read_all(f, own);
	*size = own->size;
	return own->contents;
}

struct bytes elf_file_bytes(const struct elf_file *f, const struct elf_section *s)
{
	size_t n;
	const uint8_t *data = elf_file_contents(f, s, &n);
	return elf_bytes(&f->image, data, n);
}

/* The section's unpacked bytes, *size and room for a mark behind; NULL if they are damaged. */
static uint8_t *unpack_section(struct elf_file *f, const struct elf_section *s, uint64_t *size)
{
	bool is_old = !strncmp(s->name, ".zdebug", 7), no_memory = false;
	struct section_packing p;
	uint8_t *to = NULL;
	int errnum = 0;
	uint8_t *data = elf_image_copy(&f->image, s->offset, s->size, &errnum);
	if (data &&
	    (is_old ? section_packing_old(data, s->size, &p)
		    : section_packing_of(data, s->size, f->image.is_64bit,
					 f->image.header.e_ident[EI_DATA] == ELFDATA2MSB, &p))) {
		to = xalloc_aligned(p.size + sizeof(struct unpacked_mark));
		*size = p.size;
		if (!section_unpack(&p, to, &no_memory)) {
			free(to);
			to = NULL;
		}
	}
	if (errnum || no_memory)
		note_failure(f, errnum ? errnum : ENOMEM);
	free(data);
	return to;
}

/* The section's place in the cache; empty if it is not to be kept. */
static void find_kept(struct unpacked *ret, const struct elf_file *f, const struct elf_section *s)
{
	struct stat st;
	size_t n;
	*ret = (struct unpacked){ 0 };
	if (!f->remembers || f->image.fd < 0 || fstat(f->image.fd, &st) < 0)
		return;
	const uint8_t *id = elf_file_build_id(f, &n);
	struct unpacked_mark of = { .file_size = (uint64_t)st.st_size,
				    .modified_ns = clock_ns_of(st.st_mtim),
				    .changed_ns = clock_ns_of(st.st_ctim),
				    .index = (uint64_t)(s - f->sections),
				    .packed_size = s->size };
	unpacked_init(ret, id, n, &of);
}

bool elf_file_decompress(struct elf_file *f, const struct elf_section *s)
{
	struct elf_section *own = &f->sections[s - f->sections];
	struct unpacked kept;
	uint64_t size;
	if (s->type == SHT_NOBITS || !is_packed(s) || own->is_unpacked)
		return true;
	if (own->contents || s->type == SHT_NULL)
		return false;
	find_kept(&kept, f, s);
	uint8_t *contents = unpacked_read(&kept, &size);
	if (!contents && (contents = unpack_section(f, s, &size))) {
		if (!*f->trouble)
			unpacked_write(&kept, contents, size);
		contents[size] = '\0';
	}
	unpacked_done(&kept);
	if (contents) {
		own->contents = contents;
		own->size = size;
		own->is_unpacked = true;
	}
	return own->is_unpacked;
}

const uint8_t *elf_file_build_id(const struct elf_file *f, size_t *size)
{
	*size = 0;
	for (size_t i = 1; i < f->n_sections; i++) {
		if (f->sections[i].type != SHT_NOTE)
			continue;
		struct bytes notes = elf_file_bytes(f, &f->sections[i]);
		const uint8_t *id = elf_notes_build_id(&notes, size);
		if (id)
			return id;
	}
	return NULL;
}

const Elf64_Phdr *elf_file_segments(struct elf_file *f)
{
	if (!f->segments)
		f->segments = elf_image_segments(&f->image);
	return f->segments;
}

/* ---- symbols ---- */

/* Section numbers too large for a symbol stand in a section of their own, which points back. */
static struct bytes extended_indices(const struct elf_file *f, size_t symtab)
{
	for (size_t i = 1; i < f->n_sections; i++)
		if (f->sections[i].type == SHT_SYMTAB_SHNDX && f->sections[i].link == symtab)
			return elf_file_bytes(f, &f->sections[i]);
	return (struct bytes){ 0 };
}

/* The strings of a section; NULL if there are none. Their last is ended. */
static const char *strings_of(const struct elf_file *f, const struct elf_section *s, size_t *size)
{
	const char *strings = NULL;
	if (s->link && s->link < f->n_sections)
		strings = (const char *)elf_file_contents(f, &f->sections[s->link], size);
	*size = strings ? terminated_size(strings, *size) : 0;
	return strings;
}

/* The symbols in section `index`. */
static bool symbols_in(const struct elf_file *f, size_t index, struct elf_symbols *ret)
{
	const struct elf_section *s = &f->sections[index];
	size_t entry = elf_sym_size(&f->image), size = 0;
	const uint8_t *at = s->entsize == entry ? elf_file_contents(f, s, &size) : NULL;
	if (!at)
		return false;
	*ret = (struct elf_symbols){ .section = index,
				     .image = &f->image,
				     .at = at,
				     .n = size / entry,
				     .entry = entry,
				     .shndx = extended_indices(f, index),
				     .has_modes = f->image.header.e_machine == EM_ARM };
	ret->first_global = s->info <= ret->n ? s->info : 0;
	ret->strings = strings_of(f, s, &ret->strings_size);
	if (!ret->strings)
		ret->strings = "";
	return true;
}

bool elf_file_symbols(const struct elf_file *f, uint32_t type, struct elf_symbols *ret)
{
	for (size_t i = 1; i < f->n_sections; i++)
		if (f->sections[i].type == type && symbols_in(f, i, ret))
			return true;
	return false;
}

void elf_symbols_release(const struct elf_file *f, struct elf_symbols *s)
{
	if (is_large(&f->sections[s->section]))
		free(TAKE(f->sections[s->section].contents));
	s->at = NULL;
	s->n = 0;
}

bool elf_symbols_at(const struct elf_symbols *s, size_t i, Elf64_Sym *ret, uint32_t *shndx)
{
	if (i >= s->n)
		return false;
	const uint8_t *at = s->at + i * s->entry;
	struct bytes b = elf_bytes(s->image, at, s->entry);
	if (elf_image_is_native(s->image))
		memcpy(ret, at, sizeof(*ret));
	else
		*ret = elf_sym(s->image, &b);
	*shndx = ret->st_shndx;
	if (*shndx == SHN_XINDEX)
		*shndx = i < bytes_left(&s->shndx) / 4
				 ? (uint32_t)bytes_load(s->shndx.pos + 4 * i, 4, s->shndx.swap)
				 : 0;
	int type = ELF64_ST_TYPE(ret->st_info);
	if (s->has_modes && (type == STT_FUNC || type == STT_GNU_IFUNC))
		ret->st_value &= ~(uint64_t)1;
	return true;
}

struct bytes elf_file_dynamic(const struct elf_file *f, const char **strings, size_t *strings_size)
{
	for (size_t i = 1; i < f->n_sections; i++) {
		if (f->sections[i].type != SHT_DYNAMIC)
			continue;
		*strings = strings_of(f, &f->sections[i], strings_size);
		return elf_file_bytes(f, &f->sections[i]);
	}
	*strings = NULL;
	*strings_size = 0;
	return (struct bytes){ 0 };
}

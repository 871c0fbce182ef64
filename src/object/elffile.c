/* elffile.c - opens ELF files with libelf, and tells damage from failures of the system. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"
#include "object/object_private.h"
#include "object/section_packing.h"
#include "object/unpacked.h"

/* ---- failures ---- */

/* libelf's own error numbers: not published, but it only ever adds to them. */
enum { NO_MEMORY = 8, CANNOT_READ = 19 };

/* Sections of at least that size are read here. Most requests for code are for a few bytes. */
enum { LARGE_SECTION = 3 << 20, LARGE_CODE = 128 << 10 };

/* errno must be 0 before libelf is called: for some failures of the system libelf's own number says
 * that the file is damaged. */
static int last_failure(void)
{
	int from_system = errno == ENOMEM || errno == EIO ? errno : 0;
	switch (elf_errno()) {
	case NO_MEMORY:
		return ENOMEM;
	case CANNOT_READ:
		return EIO;
	}
	return from_system;
}

/* To be called when libelf returned nothing: notes a failure if memory or the disk is the reason,
 * rather than the file's contents. */
static void note_failure(const struct elf_file *f)
{
	int errnum = last_failure();
	if (!*f->trouble)
		*f->trouble = errnum;
}

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

static struct kin_error *check_kind(int fd, const char *path)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_os(errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return err_about(err_os(EISDIR, "%s", path),
				 (struct err_facts){ ERR_IS_DIRECTORY, path });
	if (!S_ISREG(st.st_mode))
		return not_executable(path, "not a regular file");
	if (!st.st_size)
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

/* `failed`: errno, if the system kept libelf from opening the file; else 0. */
static struct kin_error *check_elf(struct elf_file *f, int failed)
{
	char magic[8];
	ssize_t n;
	do {
		n = pread(f->fd, magic, sizeof(magic), 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_os(errno, "reading %s", f->path);
	if (n < SELFMAG || memcmp(magic, ELFMAG, SELFMAG))
		return not_executable(f->path, describe_foreign(magic, (size_t)n));
	if (failed)
		return err_os(failed, "reading %s", f->path);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header))
		return not_executable(f->path, "damaged ELF file: its header makes no sense");
	if (f->header.e_type == ET_CORE)
		return not_executable(f->path, "a core file: give the program that dumped it");
	return NULL;
}

/* Up to the last NUL, so that every string that starts inside also ends inside. */
static size_t terminated_size(const char *s, size_t n)
{
	const char *last = n ? memrchr(s, '\0', n) : NULL;
	return last ? (size_t)(last - s) + 1 : 0;
}

/* The limit for the size of all sections together, beyond which sections are ignored: each is read
 * into memory of its own. In a sound file they do not overlap, so they are at most as large as the
 * file. */
static uint64_t most_contents(const struct elf_file *f, size_t memory_size)
{
	struct stat st;
	uint64_t size = memory_size;
	if (f->fd >= 0 && !fstat(f->fd, &st))
		size = (uint64_t)st.st_size;
	return 4 * size;
}

static struct elf_section read_section(const struct elf_file *f, size_t i, uint64_t *budget)
{
	struct elf_section s = { .name = "" };
	Elf_Scn *scn = elf_getscn(f->elf, i);
	GElf_Shdr sh;
	errno = 0;
	if (!scn || !gelf_getshdr(scn, &sh)) {
		note_failure(f);
		return s;
	}
	s = (struct elf_section){ .name = "",
				  .addr = sh.sh_addr,
				  .size = sh.sh_size,
				  .flags = sh.sh_flags,
				  .entsize = sh.sh_entsize,
				  .type = sh.sh_type,
				  .link = sh.sh_link,
				  .info = sh.sh_info };
	if (s.type == SHT_NOBITS)
		return s;
	if (s.size > *budget)
		s.type = SHT_NULL;
	else
		*budget -= s.size;
	return s;
}

static void name_sections(struct elf_file *f)
{
	size_t index = 0, n = 0;
	errno = 0;
	if (elf_getshdrstrndx(f->elf, &index) < 0)
		note_failure(f);
	if (!index || index >= f->n_sections)
		return;
	const char *names = (const char *)elf_file_contents(f, &f->sections[index], &n);
	n = names ? terminated_size(names, n) : 0;
	for (size_t i = 1; i < f->n_sections; i++) {
		GElf_Shdr sh;
		Elf_Scn *scn = elf_getscn(f->elf, i);
		if (scn && gelf_getshdr(scn, &sh) && sh.sh_name < n)
			f->sections[i].name = names + sh.sh_name;
	}
}

static void read_sections(struct elf_file *f, size_t memory_size)
{
	size_t n = 0;
	uint64_t budget = most_contents(f, memory_size);
	errno = 0;
	if (elf_getshdrnum(f->elf, &n) < 0) {
		note_failure(f);
		return;
	}
	f->sections = arena_alloc(&f->arena, n * sizeof(*f->sections));
	for (; f->n_sections < n; f->n_sections++)
		f->sections[f->n_sections] = read_section(f, f->n_sections, &budget);
	name_sections(f);
}

struct kin_error *elf_file_open(const char *path, struct elf_file **ret)
{
	if (is_device(path))
		return not_executable(path, "not a regular file");
	/* Does not wait for a FIFO's writer; without effect for regular files. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_about(err_os(errno, "%s", path),
				 (struct err_facts){ ERR_OPENING, path });
	struct kin_error *err = check_kind(fd, path);
	if (err) {
		close(fd);
		return err;
	}

	struct elf_file *f = xalloc(sizeof(*f));
	f->fd = fd;
	f->path = arena_printf(&f->arena, "%s", path);
	f->trouble = arena_alloc(&f->arena, sizeof(*f->trouble));
	elf_version(EV_CURRENT);
	errno = 0;
	f->elf = elf_begin(fd, ELF_C_READ, NULL);
	err = check_elf(f, f->elf ? 0 : last_failure());
	if (err) {
		elf_file_free(f);
		return err;
	}
	read_sections(f, 0);
	*ret = f;
	return NULL;
}

struct elf_file *elf_file_from_memory(const char *path, uint8_t *memory, size_t size, int *trouble)
{
	struct elf_file *f = xalloc(sizeof(*f));
	f->fd = -1;
	f->path = arena_printf(&f->arena, "%s", path);
	f->trouble = arena_alloc(&f->arena, sizeof(*f->trouble));
	f->memory = memory;
	elf_version(EV_CURRENT);
	errno = 0;
	f->elf = elf_memory((char *)memory, size);
	*trouble = f->elf ? 0 : last_failure();
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header)) {
		elf_file_free(f);
		return NULL;
	}
	read_sections(f, size);
	return f;
}

void elf_file_free(struct elf_file *f)
{
	if (!f)
		return;
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	for (size_t i = 0; i < f->n_sections; i++)
		free(f->sections[i].contents);
	free(f->memory);
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

/* Missing bytes, because reading fails or the file was truncated, are zero. */
static void read_into(const struct elf_file *f, uint8_t *to, size_t size, uint64_t offset)
{
	size_t done = 0;
	while (done < size) {
		ssize_t n = pread(f->fd, to + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (!*f->trouble)
				*f->trouble = n < 0 ? errno : EIO;
			memset(to + done, 0, size - done);
			break;
		}
		done += (size_t)n;
	}
}

/* Whether all of a section is in the file, at *offset. False: libelf says what is wrong. */
static bool is_there(const struct elf_file *f, const struct elf_section *s, uint64_t *offset)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_getscn(f->elf, (size_t)(s - f->sections));
	struct stat st;
	if (f->fd < 0 || !scn || !gelf_getshdr(scn, &sh) || fstat(f->fd, &st) < 0 ||
	    sh.sh_size != s->size || sh.sh_offset > (uint64_t)st.st_size ||
	    s->size > (uint64_t)st.st_size - sh.sh_offset)
		return false;
	*offset = sh.sh_offset;
	return true;
}

static bool is_packed(const struct elf_section *s)
{
	return s->flags & SHF_COMPRESSED || !strncmp(s->name, ".zdebug", 7);
}

/* Allocates a large section's contents, which are read here: into large pages, as with small ones
 * the page faults cost more than the reading. False: leave the section to libelf. */
static bool make_room(const struct elf_file *f, struct elf_section *s)
{
	if (s->type == SHT_NOBITS || s->type == SHT_NULL)
		return false;
	if (s->contents)
		return true;
	uint64_t large = elf_section_is_code(s) ? LARGE_CODE : LARGE_SECTION;
	if (s->size < large || is_packed(s) || !is_there(f, s, &s->offset))
		return false;
	s->contents = xalloc_aligned(s->size + 1);
	/* Ends the last string, even if the file has changed since. */
	s->contents[s->size] = '\0';
	s->is_partial = true;
	return true;
}

const uint8_t *elf_file_unread_contents(const struct elf_file *f, const struct elf_section *s,
					size_t *size)
{
	struct elf_section *own = &f->sections[s - f->sections];
	if (!make_room(f, own))
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

void elf_file_read_all(const struct elf_file *f, const struct elf_section *s)
{
	struct elf_section *own = &f->sections[s - f->sections];
	if (!own->is_partial)
		return;
	xuse_large_pages(own->contents, own->size);
	read_into(f, own->contents, own->size, own->offset);
	own->is_partial = false;
}

const uint8_t *elf_file_contents(const struct elf_file *f, const struct elf_section *s,
				 size_t *size)
{
	*size = 0;
	if (s->type == SHT_NOBITS || s->type == SHT_NULL)
		return NULL;
	struct elf_section *own = &f->sections[s - f->sections];
	if (make_room(f, own)) {
		elf_file_read_all(f, own);
		*size = own->size;
		return own->contents;
	}
	Elf_Scn *scn = elf_getscn(f->elf, (size_t)(s - f->sections));
	errno = 0;
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (!data)
		note_failure(f);
	if (!data || !data->d_buf)
		return NULL;
	*size = data->d_size;
	return data->d_buf;
}

/* The section's unpacked bytes, *size and room for a mark behind; NULL if they are damaged. */
static uint8_t *unpack_section(struct elf_file *f, const struct elf_section *s, uint64_t *size)
{
	bool is_old = !strncmp(s->name, ".zdebug", 7), no_memory = false;
	bool is_64bit = f->header.e_ident[EI_CLASS] == ELFCLASS64;
	bool is_big = f->header.e_ident[EI_DATA] == ELFDATA2MSB;
	struct section_packing p;
	uint8_t *packed = NULL; /* owned; libelf would keep it as long as the file */
	uint8_t *to = NULL;
	uint64_t offset;
	size_t n = s->size;
	if (is_there(f, s, &offset)) {
		packed = xrealloc(NULL, n, 1);
		read_into(f, packed, n, offset);
	}
	const uint8_t *data = packed ? packed : elf_file_contents(f, s, &n);
	if (data && (is_old ? section_packing_old(data, n, &p)
			    : section_packing_of(data, n, is_64bit, is_big, &p))) {
		to = xalloc_aligned(p.size + sizeof(struct unpacked_mark));
		*size = p.size;
		if (!section_unpack(&p, to, &no_memory)) {
			free(to);
			to = NULL;
		}
	}
	if (no_memory && !*f->trouble)
		*f->trouble = ENOMEM;
	free(packed);
	return to;
}

/* The section's place in the cache; empty if it is not to be kept. */
static void find_kept(struct unpacked *ret, const struct elf_file *f, const struct elf_section *s)
{
	struct stat st;
	size_t n;
	*ret = (struct unpacked){ 0 };
	if (!f->remembers || f->fd < 0 || fstat(f->fd, &st) < 0)
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
	if (own->contents)
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

const uint8_t *elf_file_build_id(const struct elf_file *f, size_t *size)
{
	bool is_big = f->header.e_ident[EI_DATA] == ELFDATA2MSB;
	*size = 0;
	for (size_t i = 1; i < f->n_sections; i++) {
		size_t n;
		const uint8_t *notes = NULL;
		if (f->sections[i].type == SHT_NOTE)
			notes = elf_file_contents(f, &f->sections[i], &n);
		if (!notes)
			continue;
		struct bytes b = bytes_of(f->path, notes, n);
		b.swap = is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		const uint8_t *id = elf_notes_build_id(&b, size);
		if (id)
			return id;
	}
	return NULL;
}

/* ---- symbols ---- */

Elf_Data *elf_file_data(const struct elf_file *f, size_t index)
{
	Elf_Scn *scn = elf_getscn(f->elf, index);
	errno = 0;
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	if (!data)
		note_failure(f);
	return data;
}

/* Section numbers too large for a symbol stand in a section of their own, which points back. */
static Elf_Data *extended_indices(const struct elf_file *f, size_t symtab)
{
	for (size_t i = 1; i < f->n_sections; i++)
		if (f->sections[i].type == SHT_SYMTAB_SHNDX && f->sections[i].link == symtab)
			return elf_file_data(f, i);
	return NULL;
}

/* libelf keeps what it has read as long as the file is open, which is too much for millions of
 * symbols. Symbols that need no conversion are read here. */
static const Elf64_Sym *native_symbols(const struct elf_file *f, size_t index)
{
	struct elf_section *own = &f->sections[index];
	if (f->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    bytes_other_order(f->header.e_ident[EI_DATA] == ELFDATA2MSB) || !make_room(f, own))
		return NULL;
	elf_file_read_all(f, own);
	return (const void *)own->contents;
}

/* The symbols in section `index`. */
static bool symbols_in(const struct elf_file *f, size_t index, struct elf_symbols *ret)
{
	if (!index || index >= f->n_sections)
		return false;
	const struct elf_section *s = &f->sections[index];
	size_t entry = gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
	Elf_Data *shndx = extended_indices(f, index), *data = NULL;
	if (s->entsize != entry)
		return false;
	const Elf64_Sym *native = shndx ? NULL : native_symbols(f, index);
	if (!native)
		data = elf_file_data(f, index);
	if (!native && (!data || !data->d_buf || data->d_type != ELF_T_SYM))
		return false;

	*ret = (struct elf_symbols){
		.native = native, .data = data, .shndx = shndx, .strings = "", .section = index
	};
	ret->n = (native ? s->size : data->d_size) / entry;
	ret->first_global = s->info <= ret->n ? s->info : 0;
	ret->has_modes = f->header.e_machine == EM_ARM;
	size_t n = 0;
	const char *strings = NULL;
	if (s->link && s->link < f->n_sections)
		strings = (const char *)elf_file_contents(f, &f->sections[s->link], &n);
	if (strings) {
		ret->strings = strings;
		ret->strings_size = terminated_size(strings, n);
	}
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
	if (s->native)
		free(TAKE(f->sections[s->section].contents));
	s->native = NULL;
	s->n = 0;
}

bool elf_symbols_at(const struct elf_symbols *s, size_t i, GElf_Sym *ret, uint32_t *shndx)
{
	Elf32_Word extended = 0;
	if (s->native && i < s->n)
		*ret = s->native[i];
	else if (!gelf_getsymshndx(s->data, s->shndx, (int)i, ret, &extended))
		return false;
	*shndx = ret->st_shndx == SHN_XINDEX ? extended : ret->st_shndx;
	int type = GELF_ST_TYPE(ret->st_info);
	if (s->has_modes && (type == STT_FUNC || type == STT_GNU_IFUNC))
		ret->st_value &= ~(GElf_Addr)1;
	return true;
}

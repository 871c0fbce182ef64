/* modules.c - opens mapped files once each, and compiles their call-frame information. */
#include "record/modules.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/folder.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/strtab.h"
#include "object/section_packing.h"
#include "unwind/go_table.h"

enum { OPEN_MAX_FILES = 200, HEADERS_MAX = 1024, SECTION_MAX = 256 << 20, NOTES_MAX = 4096 };
enum { TABLE_LIMIT = 64 << 20 };
/* Limits of files kept open where many descriptors are allowed. Files of our own file system have
 * the lower limit, since most of them can be opened again by their paths. */
enum { HELD_MAX = 192, HELD_OWN_MAX = 64, HELD_ROOTS_MAX = 64 };

struct modules {
	VEC(struct module *) at;
	struct strtab *keys;
	VEC(char) key;          /* of the module that is looked up */
	struct map64 by_key;    /* strid -> index */
	struct map64 namesakes; /* strid of a path -> index of the last module without a build id
				 * that has it */
	size_t n_open, oldest_open; /* open files; no module before oldest_open has one open */
	size_t table_bytes, table_limit;
	uint64_t uses; /* counts uses of tables */
	bool saved;    /* a table was saved to the cache */
	bool holds;
	size_t n_held, most_held, most_own; /* files held; limits for other roots, and for ours */
	struct held_files held;             /* roots; also the files, when they are handed over */
};

struct modules *modules_new(size_t table_limit)
{
	struct modules *m = xalloc(sizeof(*m));
	m->table_limit = table_limit ? table_limit : TABLE_LIMIT;
	m->keys = strtab_new();
	return m;
}

static void module_free(struct module *m)
{
	if (m->fd >= 0)
		close(m->fd);
	if (m->held >= 0)
		close(m->held);
	unwind_table_free(m->table);
	free(m->segments);
	free(m->path);
	free(m->name);
	free(m);
}

void modules_free(struct modules *m)
{
	if (!m)
		return;
	if (m->saved)
		unwind_cache_trim();
	for (size_t i = 0; i < m->at.n; i++)
		module_free(m->at.at[i]);
	vec_free(&m->at);
	held_files_done(&m->held);
	map64_free(&m->by_key);
	map64_free(&m->namesakes);
	strtab_free(m->keys);
	vec_free(&m->key);
	free(m);
}

size_t modules_table_bytes(const struct modules *m) { return m->table_bytes; }
size_t modules_count(const struct modules *m) { return m->at.n; }
struct module *modules_at(const struct modules *m, size_t i) { return m->at.at[i]; }

/* ---- reading ELF ---- */

/* Where bytes are read from: a file, or memory laid out like one (the vdso). */
struct image {
	int fd;
	const uint8_t *memory;
	uint64_t size;
};

static bool image_read(const struct image *im, uint64_t offset, void *ret, size_t n)
{
	if (offset > im->size || n > im->size - offset)
		return false;
	if (im->memory) {
		memcpy(ret, im->memory + offset, n);
		return true;
	}
	return pread(im->fd, ret, n, (off_t)offset) == (ssize_t)n;
}

/* A copy of n bytes at an offset; NULL if n is 0 or above max, or not all bytes are there. */
static void *image_copy(const struct image *im, uint64_t offset, uint64_t n, size_t max)
{
	if (!n || n > max || offset > im->size || n > im->size - offset)
		return NULL;
	void *p = malloc(n);
	if (p && image_read(im, offset, p, n))
		return p;
	free(p);
	return NULL;
}

static bool image_header(const struct image *im, Elf64_Ehdr *ret)
{
	return image_read(im, 0, ret, sizeof(*ret)) && !memcmp(ret->e_ident, ELFMAG, SELFMAG) &&
	       ret->e_ident[EI_CLASS] == ELFCLASS64 && ret->e_ident[EI_DATA] == ELFDATA2LSB &&
	       ret->e_phentsize == sizeof(Elf64_Phdr);
}

static Elf64_Phdr *image_segments(const struct image *im, const Elf64_Ehdr *h)
{
	if (h->e_phnum > HEADERS_MAX)
		return NULL;
	return image_copy(im, h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr),
			  HEADERS_MAX * sizeof(Elf64_Phdr));
}

static void read_note(struct module *m, const struct image *im, const Elf64_Phdr *p)
{
	uint8_t *notes = image_copy(im, p->p_offset, p->p_filesz, NOTES_MAX);
	Elf64_Nhdr n;
	size_t left = notes ? p->p_filesz : 0;
	for (const uint8_t *at = notes; left >= sizeof(n);) {
		memcpy(&n, at, sizeof(n));
		size_t name = (n.n_namesz + 3ull) & ~3ull, desc = (n.n_descsz + 3ull) & ~3ull;
		if (n.n_namesz > left || n.n_descsz > left || sizeof(n) + name + desc > left)
			break;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(at + sizeof(n), "GNU", 4)) {
			m->build_id_size =
				(uint8_t)(n.n_descsz < BUILD_ID_MAX ? n.n_descsz : BUILD_ID_MAX);
			memcpy(m->build_id, at + sizeof(n) + name, m->build_id_size);
			break;
		}
		at += sizeof(n) + name + desc;
		left -= sizeof(n) + name + desc;
	}
	free(notes);
}

/* Files of one build id may differ: it stays when a file is stripped, and linkers take any that
 * they are given. */
static uint64_t sum_sections(const struct image *im, const Elf64_Ehdr *h)
{
	size_t size = (size_t)h->e_shnum * sizeof(Elf64_Shdr);
	uint8_t *at = image_copy(im, h->e_shoff, size, UINT16_MAX * sizeof(Elf64_Shdr));
	uint64_t ret = at ? folder_checksum(at, size) : 0;
	free(at);
	return ret;
}

/* Executable segments, the build-id, and what tells files apart; false if it is no ELF file. */
static bool read_layout(struct module *m, const struct image *im)
{
	Elf64_Ehdr h;
	if (!image_header(im, &h))
		return false;
	Elf64_Phdr *p = image_segments(im, &h);
	for (size_t i = 0; p && i < h.e_phnum; i++) {
		if (p[i].p_type == PT_NOTE)
			read_note(m, im, &p[i]);
		if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X))
			continue;
		m->segments = xrealloc(m->segments, m->n_segments + 1, sizeof(*m->segments));
		m->segments[m->n_segments++] =
			(struct segment){ p[i].p_offset, p[i].p_vaddr, p[i].p_filesz };
	}
	free(p);
	m->sections = sum_sections(im, &h);
	return true;
}

/* ---- call-frame information ---- */

/* The program headers, read once, to find code at link-time addresses. */
struct linked {
	const struct image *image;
	Elf64_Phdr *at;
	size_t n;
};

struct frame_sections {
	struct cfi_section at[2];
	uint8_t *data[2]; /* to be freed */
	size_t n;
	struct code_file file; /* its symbols, strings and sections are to be freed */
	struct go_table go;
	uint8_t *go_data; /* to be freed */
};

/* Go packs .debug_frame. NULL: there is none, or it is damaged; frees `packed`. */
static uint8_t *unpacked_section(uint8_t *packed, bool is_old, size_t *size)
{
	struct section_packing p;
	bool no_memory;
	uint8_t *to = NULL;
	if (packed &&
	    (is_old ? section_packing_old(packed, *size, &p)
		    : section_packing_of(packed, *size, true, false, &p)) &&
	    p.size <= SECTION_MAX)
		to = malloc(p.size);
	if (to && !section_unpack(&p, to, &no_memory)) {
		free(to);
		to = NULL;
	}
	if (to)
		*size = p.size;
	free(packed);
	return to;
}

static void add_section(struct frame_sections *f, const struct image *im, const Elf64_Shdr *s,
			bool debug_frame, bool is_old)
{
	if (f->n == ARRAY_LEN(f->at) || s->sh_type == SHT_NOBITS)
		return;
	size_t size = s->sh_size;
	uint8_t *data = image_copy(im, s->sh_offset, size, SECTION_MAX);
	if (is_old || s->sh_flags & SHF_COMPRESSED)
		data = unpacked_section(data, is_old, &size);
	if (!data)
		return;
	f->data[f->n] = data;
	f->at[f->n++] = (struct cfi_section){ .machine = machine_native(),
					      .debug_frame = debug_frame,
					      .data = data,
					      .size = size,
					      .addr = s->sh_addr };
}

/* Code at a link-time address. */
static size_t linked_code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	const struct linked *l = arg;
	for (size_t i = 0; i < l->n; i++) {
		const Elf64_Phdr *p = &l->at[i];
		if (p->p_type != PT_LOAD || addr < p->p_vaddr || addr - p->p_vaddr >= p->p_filesz)
			continue;
		uint64_t at = addr - p->p_vaddr, left = p->p_filesz - at;
		size_t n = left < size ? left : size;
		if (p->p_offset <= l->image->size && image_read(l->image, p->p_offset + at, ret, n))
			return n;
	}
	return 0;
}

/* .symtab, else .dynsym; NULL: there is neither. */
static const Elf64_Shdr *symbols_of(const Elf64_Shdr *s, size_t n)
{
	const Elf64_Shdr *found = NULL;
	for (size_t i = 0; i < n; i++)
		if (s[i].sh_type == SHT_SYMTAB || (s[i].sh_type == SHT_DYNSYM && !found))
			found = &s[i];
	return found;
}

static void find_symbols(struct code_file *f, const struct image *im, const Elf64_Shdr *s, size_t n)
{
	const Elf64_Shdr *symbols = symbols_of(s, n);
	f->is_stripped = !symbols || symbols->sh_type != SHT_SYMTAB;
	if (!symbols || symbols->sh_link >= n)
		return;
	const Elf64_Shdr *strings = &s[symbols->sh_link];
	uint8_t *at = image_copy(im, symbols->sh_offset, symbols->sh_size, SECTION_MAX);
	char *names = image_copy(im, strings->sh_offset, strings->sh_size, SECTION_MAX);
	if (!at || !names) {
		free(at);
		free(names);
		return;
	}
	f->symbols = at;
	f->symbols_size = symbols->sh_size;
	f->strings = names;
	f->strings_size = strings->sh_size;
}

static void find_code(struct code_file *f, const Elf64_Shdr *s, size_t n)
{
	struct code_span *at = xrealloc(NULL, n + 1, sizeof(*at));
	for (size_t i = 0; i < n; i++)
		if (s[i].sh_type == SHT_PROGBITS && s[i].sh_flags & SHF_EXECINSTR &&
		    s[i].sh_addr + s[i].sh_size > s[i].sh_addr)
			at[f->n_sections++] =
				(struct code_span){ s[i].sh_addr, s[i].sh_addr + s[i].sh_size };
	f->sections = at;
}

/* ---- Go's table ---- */

struct go_words {
	const struct image *image;
	const struct code_file *file;
	Elf64_Rela *at; /* what the dynamic linker sets: in a program of its own addresses alone */
	size_t n;
};

static bool go_word(void *arg, uint64_t addr, size_t size, uint64_t *ret)
{
	const struct go_words *w = arg;
	uint8_t bytes[8];
	if (size != sizeof(bytes) || w->file->code(w->file->arg, addr, bytes, size) != size)
		return false;
	*ret = bytes_load(bytes, sizeof(bytes), false);
	for (size_t i = 0; i < w->n; i++)
		if (w->at[i].r_offset == addr &&
		    ELF64_R_TYPE(w->at[i].r_info) == w->file->machine->relative)
			*ret = (uint64_t)w->at[i].r_addend;
	return true;
}

static bool go_code(void *arg, uint64_t low, uint64_t high)
{
	const struct go_words *w = arg;
	const struct code_file *f = w->file;
	for (size_t i = 0; i < f->n_sections; i++)
		if (f->sections[i].low <= low && high <= f->sections[i].high)
			return high - low <= w->image->size;
	return false;
}

/* Linkers put them all into one section. */
static void find_words(struct go_words *w, const Elf64_Shdr *s, size_t n)
{
	for (size_t i = 0; i < n && !w->at; i++) {
		if (s[i].sh_type != SHT_RELA || !(s[i].sh_flags & SHF_ALLOC) || !s[i].sh_size)
			continue;
		w->at = image_copy(w->image, s[i].sh_offset, s[i].sh_size, SECTION_MAX);
		w->n = w->at ? s[i].sh_size / sizeof(*w->at) : 0;
	}
}

static void find_go(struct frame_sections *f, const struct image *im, const Elf64_Shdr *s, size_t n,
		    const struct go_sections *found)
{
	uint32_t i = go_sections_table(found);
	if (!i)
		return;
	struct go_words words = { .image = im, .file = &f->file };
	struct go_section at = { .size = s[i].sh_size,
				 .addr = s[i].sh_addr,
				 .module = s[found->module].sh_addr,
				 .word = go_word,
				 .is_code = go_code,
				 .arg = &words };
	at.data = f->go_data = image_copy(im, s[i].sh_offset, at.size, SECTION_MAX);
	find_words(&words, s, n);
	if (at.data && go_table_open(&at, &f->go))
		f->file.go = &f->go;
	free(words.at);
}

static void find_sections(struct frame_sections *f, const struct image *im, const Elf64_Ehdr *h)
{
	if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shstrndx >= h->e_shnum)
		return;
	Elf64_Shdr *s =
		image_copy(im, h->e_shoff, h->e_shnum * sizeof(*s), UINT16_MAX * sizeof(*s));
	const Elf64_Shdr *strings = s ? &s[h->e_shstrndx] : NULL;
	char *names = s ? image_copy(im, strings->sh_offset, strings->sh_size, 1 << 20) : NULL;
	struct go_sections go = { 0 };
	for (size_t i = 0; names && i < h->e_shnum; i++) {
		size_t at = s[i].sh_name;
		if (at >= strings->sh_size || names[strings->sh_size - 1])
			continue;
		if (s[i].sh_type == SHT_PROGBITS)
			go_sections_see(&go, names + at, (uint32_t)i);
		if (!strcmp(names + at, ".init"))
			f->file.starts[0] = s[i].sh_addr;
		else if (!strcmp(names + at, ".fini"))
			f->file.starts[1] = s[i].sh_addr;
		else if (!strcmp(names + at, ".eh_frame"))
			add_section(f, im, &s[i], false, false);
		else if (!strcmp(names + at, ".debug_frame"))
			add_section(f, im, &s[i], true, false);
		else if (!strcmp(names + at, ".zdebug_frame"))
			add_section(f, im, &s[i], true, true);
	}
	if (s) {
		find_symbols(&f->file, im, s, h->e_shnum);
		find_code(&f->file, s, h->e_shnum);
		find_go(f, im, s, h->e_shnum, &go);
	}
	free(names);
	free(s);
}

/* For files without section headers: .eh_frame through PT_GNU_EH_FRAME, which the run-time also
 * uses. */
static void find_by_segment(struct frame_sections *f, const struct image *im, const Elf64_Ehdr *h)
{
	Elf64_Phdr *p = image_segments(im, h);
	const Elf64_Phdr *hdr = NULL;
	for (size_t i = 0; p && i < h->e_phnum; i++)
		if (p[i].p_type == PT_GNU_EH_FRAME)
			hdr = &p[i];
	for (size_t i = 0; hdr && i < h->e_phnum; i++) {
		if (p[i].p_type != PT_LOAD || hdr->p_vaddr < p[i].p_vaddr ||
		    hdr->p_vaddr - p[i].p_vaddr >= p[i].p_filesz)
			continue;
		uint8_t *data = image_copy(im, p[i].p_offset, p[i].p_filesz, SECTION_MAX);
		if (!data)
			break;
		f->data[0] = data;
		if (cfi_from_segment(machine_native(), data, p[i].p_filesz, p[i].p_vaddr,
				     hdr->p_vaddr, hdr->p_memsz, &f->at[0]))
			f->n = 1;
		break;
	}
	free(p);
}

/* Whether the file is a PIE program (possibly static). An entry point is no sign of one: old
 * linkers gave one to libraries as well. */
static bool is_pie(const struct image *im, const Elf64_Phdr *dynamic)
{
	Elf64_Dyn *d = image_copy(im, dynamic->p_offset, dynamic->p_filesz, 1 << 16);
	bool found = false;
	for (size_t i = 0; d && i < dynamic->p_filesz / sizeof(*d); i++)
		found |= d[i].d_tag == DT_FLAGS_1 && d[i].d_un.d_val & DF_1_PIE;
	free(d);
	return found;
}

/* The program's entry point; 0: it is a library. */
static uint64_t entry_of(const struct linked *l, const Elf64_Ehdr *h)
{
	bool is_program = h->e_type == ET_EXEC;
	for (size_t i = 0; i < l->n; i++)
		is_program |= l->at[i].p_type == PT_INTERP ||
			      (l->at[i].p_type == PT_DYNAMIC && is_pie(l->image, &l->at[i]));
	return is_program ? h->e_entry : 0;
}

static struct unwind_table *compile(const struct image *im, bool not_followed)
{
	Elf64_Ehdr h;
	struct unwind_table *t = NULL;
	if (!machine_native() || !image_header(im, &h))
		return NULL;
	struct linked l = { .image = im, .at = image_segments(im, &h) };
	struct frame_sections f = { .file = { .machine = machine_native(),
					      .code = linked_code,
					      .arg = &l,
					      .not_followed = not_followed } };
	l.n = l.at ? h.e_phnum : 0;
	f.file.entry = entry_of(&l, &h);
	f.file.loader_entry = f.file.entry ? 0 : h.e_entry;
	find_sections(&f, im, &h);
	if (!f.n)
		find_by_segment(&f, im, &h);
	t = unwind_table_of(&f.file, f.at, f.n);
	free(UNCONST(void *, f.file.symbols));
	free(UNCONST(void *, f.file.strings));
	free(UNCONST(void *, f.file.sections));
	free(f.go_data);
	for (size_t i = 0; i < ARRAY_LEN(f.data); i++)
		free(f.data[i]);
	free(l.at);
	return t;
}

/* The vdso of this process, which all 64-bit processes share. The given size may be smaller than
 * the mapping's. */
static bool own_vdso(struct image *ret)
{
	const void *vdso = UNCONST(void *, getauxval(AT_SYSINFO_EHDR));
	*ret = (struct image){ .fd = -1, .memory = vdso, .size = 2 * 4096 };
	return vdso;
}

static void find_vdso(struct module *m)
{
	struct module t = { 0 };
	struct image im;
	if (own_vdso(&im) && read_layout(&t, &im)) {
		memcpy(m->build_id, t.build_id, sizeof(m->build_id));
		m->build_id_size = t.build_id_size;
	}
	free(t.segments);
}

/* ---- files ---- */

/* Opens regular files only, and never blocks. */
static int open_file(const char *path, struct stat *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, ret) < 0 || !S_ISREG(ret->st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Whether the file at `path` is the one that was mapped. If so, the module keeps it open. */
static bool try_file(struct module *m, const struct module_key *key, const char *path)
{
	struct stat st;
	int fd = open_file(path, &st);
	if (fd < 0)
		return false;
	struct module t = { .fd = fd };
	struct image im = { .fd = fd, .size = (uint64_t)st.st_size };
	bool elf = read_layout(&t, &im);
	bool same = key->build_id_size
			    ? t.build_id_size >= key->build_id_size &&
				      !memcmp(t.build_id, key->build_id, key->build_id_size)
			    : !key->inode || key->inode == st.st_ino;
	if (!elf || !same) {
		free(t.segments);
		close(fd);
		return false;
	}
	memcpy(m->build_id, t.build_id, sizeof(m->build_id));
	m->build_id_size = t.build_id_size;
	m->segments = t.segments;
	m->n_segments = t.n_segments;
	m->sections = t.sections;
	m->size = im.size;
	m->modified_ns = clock_ns_of(st.st_mtim);
	m->fd = fd;
	return true;
}

static bool try_below(struct module *m, const struct module_key *key, size_t root)
{
	if (root == SIZE_MAX)
		return false;
	char *top = held_path(m->all->held.roots.at[root].fd),
	     *path = xprintf("%s%s", top, m->path);
	bool found = try_file(m, key, path);
	if (found)
		m->root = root;
	free(path);
	free(top);
	return found;
}

/* For processes that have already ended. A process in a container was most likely started by
 * another one in it, so its parent's root is tried first. */
static bool find_below_roots(struct module *m, const struct module_key *key)
{
	struct held_files *held = &m->all->held;
	if (!m->all->holds || !key->build_id_size)
		return false;
	if (key->parent && try_below(m, key, held_files_root(held, key->parent)))
		return true;
	for (size_t i = held->roots.n; i-- > 0;)
		if (try_below(m, key, i))
			return true;
	return false;
}

/* The process may see other files under the same paths than we do, and its file may have no name
 * any more. */
static void find_file(struct module *m, const struct module_key *key)
{
	char *links[] = {
		xprintf("%s", m->path), xprintf("/proc/%d/root%s", (int)key->pid, m->path),
		xprintf("/proc/%d/map_files/%llx-%llx", (int)key->pid,
			(unsigned long long)key->start, (unsigned long long)key->end),
		xprintf("/proc/%d/exe", (int)key->pid), /* readable where map_files is not */
	};
	bool certain = key->build_id_size || key->inode;
	bool found = false;
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		bool risky = i == 0 || i == 3; /* may be another file */
		if (!found && (certain || !risky || i == 0))
			found = try_file(m, key, links[i]);
		if (found && i && m->root == SIZE_MAX && m->all->holds)
			m->root = held_files_root(&m->all->held, key->pid);
		free(links[i]);
	}
	if (!found)
		find_below_roots(m, key);
}

/* ---- tables ---- */

enum { CACHE_ID_MAX = 2 * (BUILD_ID_MAX + sizeof(uint64_t)) + 1 };

/* The cache folder, and the id of the file with this build id, these sections, and this size and
 * time; NULL: the module has no build id, or there is no cache. */
static char *cache_place(const struct module *m, char id[CACHE_ID_MAX])
{
	const uint64_t file[] = { m->sections, m->size, m->modified_ns };
	uint64_t sum = folder_checksum((const uint8_t *)file, sizeof(file));
	size_t n = num_hex(id, m->build_id, m->build_id_size);
	num_hex(id + n, (const uint8_t *)&sum, sizeof(sum));
	return m->build_id_size ? unwind_cache_folder() : NULL;
}

/* The cache is optional: on any error the table is compiled. */
static void load(struct module *m)
{
	char id[CACHE_ID_MAX], *folder = cache_place(m, id);
	if (folder)
		kin_error_free(unwind_table_load(folder, id, &m->table));
	m->cached = m->table;
	free(folder);
}

static void save(struct module *m)
{
	char id[CACHE_ID_MAX], *folder = cache_place(m, id);
	struct kin_error *err = folder ? unwind_table_save(m->table, folder, id) : NULL;
	m->cached = folder && !err;
	m->all->saved |= m->cached;
	kin_error_free(err);
	free(folder);
}

static void close_file(struct module *m)
{
	if (m->fd < 0)
		return;
	close(m->fd);
	m->fd = -1;
	m->all->n_open--;
}

/* Whether put_away() keeps the file, or has kept it. */
static bool is_held(const struct module *m)
{
	const struct modules *all = m->all;
	size_t most = m->root == SIZE_MAX ? all->most_own : all->most_held;
	return m->held >= 0 || (m->fd >= 0 && all->holds && all->n_held < most);
}

/* Keeps the file for names if there is room, since stacks lead into it; otherwise closes it. */
static void put_away(struct module *m)
{
	struct modules *all = m->all;
	if (m->held >= 0 || !is_held(m)) {
		close_file(m);
		return;
	}
	m->held = m->fd;
	m->fd = -1;
	all->n_open--;
	all->n_held++;
}

/* Opens the file by its path, if that still leads to the same file. */
static bool reopen(struct module *m)
{
	struct module t = { .fd = -1 };
	struct module_key key = { .build_id = m->build_id,
				  .build_id_size = m->build_id_size,
				  .inode = m->inode };
	bool same = (key.build_id_size || key.inode) && try_file(&t, &key, m->path);
	if (same && (t.sections != m->sections || t.size != m->size)) {
		close(t.fd);
		t.fd = -1;
		same = false;
	}
	free(t.segments);
	m->fd = t.fd;
	m->all->n_open += same;
	return same;
}

static void read_table(struct module *m, int fd, bool not_followed)
{
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	struct image im = { .fd = fd, .size = (uint64_t)st.st_size };
	m->table = compile(&im, not_followed);
	if (m->table)
		save(m);
}

static void drop_table(struct module *m)
{
	unwind_table_free(m->table);
	m->table = NULL;
}

static bool is_partial(const struct module *m)
{
	return m->table && !unwind_table_is_followed(m->table);
}

/* A table may leave out code if the file is held until a stack has that. If there is no file any
 * more, such a table is better than none. */
static void make_table(struct module *m)
{
	struct image im;
	if (m->kind == KINF_VDSO && own_vdso(&im)) {
		m->table = compile(&im, false);
		return;
	}
	if (m->fd >= 0 || m->evicted)
		load(m);
	if ((!m->table || (is_partial(m) && !is_held(m))) && m->evicted)
		reopen(m);
	if (is_partial(m) && m->fd >= 0 && !is_held(m))
		drop_table(m);
	if (!m->table)
		read_table(m, m->fd, is_held(m));
	put_away(m);
}

static bool can_be_read_again(struct module *m)
{
	if (m->cached || m->kind == KINF_VDSO)
		return true;
	bool there = reopen(m);
	close_file(m);
	m->kept = !there;
	return there;
}

/* The table that was used least recently and may go; NULL: none may. */
static struct module *oldest(const struct modules *all, const struct module *but)
{
	struct module *old = NULL;
	for (size_t i = 0; i < all->at.n; i++) {
		struct module *m = all->at.at[i];
		if (m->table && m != but && !m->kept && (!old || m->used < old->used))
			old = m;
	}
	return old;
}

static void evict(struct module *m)
{
	m->all->table_bytes -= unwind_table_bytes(m->table);
	drop_table(m);
	m->sought = false;
	m->evicted = true;
}

static void make_room(struct modules *all, const struct module *but)
{
	struct module *m;
	while (all->table_bytes > all->table_limit && (m = oldest(all, but)))
		if (can_be_read_again(m))
			evict(m);
}

static void count_table(struct module *m)
{
	if (!m->table)
		return;
	m->all->table_bytes += unwind_table_bytes(m->table);
	make_room(m->all, m);
}

static void seek_table(struct module *m)
{
	m->used = ++m->all->uses;
	if (m->sought)
		return;
	m->sought = true;
	make_table(m);
	count_table(m);
}

/* Code without call-frame information is followed when a stack first has it. */
static void follow_code(struct module *m)
{
	m->all->table_bytes -= unwind_table_bytes(m->table);
	drop_table(m);
	read_table(m, m->held, false);
	count_table(m);
}

const struct unwind_table *module_table(struct module *m, uint64_t addr)
{
	seek_table(m);
	if (m->table && m->held >= 0 && unwind_table_lacks(m->table, addr))
		follow_code(m);
	return m->table;
}

/* Called if too many files are open: closes the one that has been open longest without being
 * needed. If it could not be opened again, its table is read first. Most mapped files are never
 * needed. */
static void close_oldest(struct modules *all)
{
	while (all->at.at[all->oldest_open]->fd < 0)
		all->oldest_open++;
	struct module *m = all->at.at[all->oldest_open];
	int fd = m->fd;
	m->fd = -1;
	if (!reopen(m)) {
		m->fd = fd;
		seek_table(m);
		return;
	}
	close_file(m);
	close(fd);
	all->n_open--;
	m->evicted = true;
}

/* ---- interning ---- */

static bool is_jitdump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t n = strlen(path);
	return name && !strncmp(name, "/jit-", 5) && !strcmp(path + n - 5, ".dump");
}

/* Programs and libraries can run from memory, too: a mapping of memory with a build-id is an ELF
 * file. */
static enum kinf_module_kind kind_of(const struct module_key *key)
{
	const char *path = key->path;
	if (!strcmp(path, "[vdso]"))
		return KINF_VDSO;
	if (!*path || !strcmp(path, "//anon") || !strcmp(path, "[heap]") ||
	    !strncmp(path, "[stack", 6) || !strncmp(path, "[anon", 5) ||
	    (!strncmp(path, "/memfd:", 7) && !key->build_id_size) ||
	    !strncmp(path, "/dev/zero", 9) || !strncmp(path, "/SYSV", 5))
		return KINF_JIT;
	if (is_jitdump(path))
		return KINF_JIT;
	return path[0] == '/' ? KINF_ELF : KINF_OTHER;
}

static char *without_deleted(const char *path)
{
	static const char suffix[] = " (deleted)";
	size_t n = strlen(path), len = sizeof(suffix) - 1;
	if (n > len && !strcmp(path + n - len, suffix))
		n -= len;
	return xprintf("%.*s", (int)n, path);
}

static struct module *module_new(struct modules *all, const struct module_key *key)
{
	struct module *m = xalloc(sizeof(*m));
	m->all = all;
	m->fd = m->held = -1;
	m->root = SIZE_MAX;
	m->kind = kind_of(key);
	m->path = without_deleted(key->path);
	m->inode = key->inode;
	m->build_id_size =
		(uint8_t)(key->build_id_size < BUILD_ID_MAX ? key->build_id_size : BUILD_ID_MAX);
	if (m->build_id_size)
		memcpy(m->build_id, key->build_id, m->build_id_size);
	if (m->kind == KINF_ELF)
		find_file(m, key);
	else if (m->kind == KINF_VDSO && !m->build_id_size && key->start > UINT32_MAX)
		find_vdso(m);
	return m;
}

/* Files without a build id are the same if path, size and time are, as in the names of a recording
 * (names/kept.h). Another file of that path gets a number, so that its functions are not named by
 * the first one's. */
static char *name_of(struct modules *all, struct module *m, uint32_t index)
{
	size_t n = 1;
	if (m->kind != KINF_ELF || m->build_id_size)
		return xprintf("%s", m->path);
	uint32_t *last = map64_at(&all->namesakes, strtab_add(all->keys, m->path));
	struct module *k = *last == NONE ? NULL : all->at.at[*last];
	m->namesake = k;
	for (; k && (k->size != m->size || k->modified_ns != m->modified_ns); k = k->namesake)
		n++;
	if (k) {
		m->namesake = NULL;
		return xprintf("%s", k->name);
	}
	*last = index;
	return m->namesake ? xprintf("%s (%zu)", m->path, n) : xprintf("%s", m->path);
}

struct module *modules_find(struct modules *m, const struct module_key *key)
{
	bool jit = kind_of(key) == KINF_JIT; /* such code belongs to one process */
	const char *path = jit && !is_jitdump(key->path) ? "" : key->path;
	size_t n_path = strlen(path), n_id = key->build_id_size;
	n_id = jit ? 0 : n_id < BUILD_ID_MAX ? n_id : BUILD_ID_MAX;
	m->key.n = 0;
	vec_reserve(&m->key, 2 * NUM_MAX + n_path + 2);
	if (jit || !n_id)
		m->key.n = num_u64(m->key.at, jit ? (uint64_t)key->pid : key->inode);
	else
		m->key.n = num_hex(m->key.at, key->build_id, n_id);
	if (!jit && key->generation) {
		m->key.at[m->key.n++] = '.';
		m->key.n += num_u64(m->key.at + m->key.n, key->generation);
	}
	m->key.at[m->key.n++] = ' ';
	memcpy(m->key.at + m->key.n, path, n_path);
	strid text = strtab_addn(m->keys, m->key.at, m->key.n + n_path);
	uint32_t *index = map64_at(&m->by_key, text);
	if (*index != NONE)
		return m->at.at[*index];
	struct module *made = module_new(m, key);
	*index = (uint32_t)m->at.n;
	made->name = name_of(m, made, *index);
	vec_push(&m->at, made);
	if (made->fd >= 0 && ++m->n_open > OPEN_MAX_FILES)
		close_oldest(m);
	return made;
}

void modules_hold_files(struct modules *m, uint64_t n)
{
	m->holds = true;
	m->most_held = min_u64(HELD_MAX, n / 6);
	m->most_own = min_u64(HELD_OWN_MAX, n / 16);
	m->held.most_roots = min_u64(HELD_ROOTS_MAX, n / 16);
}

struct held_files modules_take_held(struct modules *m)
{
	struct held_files held = m->held;
	m->held = (struct held_files){ 0 };
	for (size_t i = 0; i < m->at.n; i++) {
		struct module *at = m->at.at[i];
		int *fd = at->held >= 0 ? &at->held : &at->fd;
		if (*fd < 0)
			continue;
		struct mapped_file f = { .path = xprintf("%s", at->name),
					 .build_id = xalloc(2 * BUILD_ID_MAX + 1),
					 .fd = *fd,
					 .root = at->root };
		num_hex(f.build_id, at->build_id, at->build_id_size);
		vec_push(&held.files, f);
		m->n_open -= fd == &at->fd;
		*fd = -1;
	}
	return held;
}

char *module_place(const struct module *m)
{
	struct mapped_file f = { .path = m->path, .fd = -1, .root = m->root };
	if (m->root != SIZE_MAX)
		return held_files_below(&m->all->held, &f);
	return m->namesake && m->held >= 0 ? held_path(m->held) : NULL;
}

uint64_t module_bias(const struct module *m, uint64_t start, uint64_t offset)
{
	if (m->kind == KINF_JIT)
		return 0;
	for (size_t i = 0; i < m->n_segments; i++) {
		const struct segment *s = &m->segments[i];
		uint64_t low = s->offset & ~UINT64_C(4095);
		if (offset >= low && offset < s->offset + s->size)
			return start - (offset - s->offset + s->vaddr);
	}
	return start - offset;
}

uint64_t module_offset(const struct module *m, uint64_t addr)
{
	for (size_t i = 0; i < m->n_segments; i++) {
		const struct segment *s = &m->segments[i];
		uint64_t low = s->vaddr & ~UINT64_C(4095);
		if (addr >= low && addr < s->vaddr + s->size)
			return addr - s->vaddr + s->offset;
	}
	return addr;
}

size_t module_code(const struct module *m, uint64_t addr, void *ret, size_t size)
{
	int fd = m->held >= 0 ? m->held : m->fd;
	ssize_t n = fd < 0 ? 0 : pread(fd, ret, size, (off_t)module_offset(m, addr));
	return n > 0 ? (size_t)n : 0;
}

/* modules.c - opens mapped files once each, and compiles their call-frame information. */
#include "record/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/folder.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/strtab.h"
#include "object/elf_file.h"

enum { OPEN_MAX_FILES = 200, SECTION_MAX = 256 << 20, NOTES_MAX = 4096 };
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

static void take_build_id(struct module *m, const uint8_t *id, size_t size)
{
	m->build_id_size = (uint8_t)min_u64(size, BUILD_ID_MAX);
	memcpy(m->build_id, id, m->build_id_size);
}

static void read_note(struct module *m, const struct elf_image *im, const Elf64_Phdr *p)
{
	size_t size;
	uint8_t *notes =
		p->p_filesz > NOTES_MAX ? NULL : elf_image_copy(im, p->p_offset, p->p_filesz, NULL);
	struct bytes b = elf_bytes(im, notes, p->p_filesz);
	const uint8_t *id = elf_notes_build_id(&b, &size);
	if (id)
		take_build_id(m, id, size);
	free(notes);
}

/* Files of one build id may differ: it stays when a file is stripped, and linkers take any that
 * they are given. */
static uint64_t sum_sections(const struct elf_image *im)
{
	Elf64_Shdr *s = elf_image_sections(im, NULL);
	uint64_t ret = s ? folder_checksum((const uint8_t *)s, im->n_sections * sizeof(*s)) : 0;
	free(s);
	return ret;
}

/* Executable segments, the build-id, and what tells files apart; false if it is no ELF file of this
 * machine's form. */
static bool read_layout(struct module *m, struct elf_image *im)
{
	if (elf_image_open(im) || !elf_image_is_native(im))
		return false;
	Elf64_Phdr *p = elf_image_segments(im);
	for (size_t i = 0; p && i < im->n_segments; i++) {
		if (p[i].p_type == PT_NOTE)
			read_note(m, im, &p[i]);
		if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X))
			continue;
		m->segments = xrealloc(m->segments, m->n_segments + 1, sizeof(*m->segments));
		m->segments[m->n_segments++] =
			(struct segment){ p[i].p_offset, p[i].p_vaddr, p[i].p_filesz };
	}
	free(p);
	m->sections = sum_sections(im);
	return true;
}

/* The vdso of this process, which all 64-bit processes share; NULL: there is none. */
static struct elf_file *own_vdso(void)
{
	struct elf_file *f = NULL;
	kin_error_free(elf_file_vdso(&f));
	return f;
}

static void find_vdso(struct module *m)
{
	size_t size;
	struct elf_file *f = own_vdso();
	const uint8_t *id = f ? elf_file_build_id(f, &size) : NULL;
	if (id)
		take_build_id(m, id, size);
	elf_file_free(f);
}

/* Frees the file. */
static struct unwind_table *compile(struct elf_file *f, bool not_followed)
{
	const struct machine *m = machine_native();
	struct unwind_table *t = f && m && elf_image_is_native(&f->image)
					 ? elf_file_unwind_table(f, m, not_followed)
					 : NULL;
	elf_file_free(f);
	return t;
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
	struct elf_image im = { .fd = fd, .size = (uint64_t)st.st_size };
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
	if (fd >= 0)
		m->table = compile(elf_file_of_open(m->path, fd, SECTION_MAX), not_followed);
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
	if (m->kind == KINF_VDSO) {
		m->table = compile(own_vdso(), false);
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

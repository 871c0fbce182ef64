/* rt_modules.c - the program and its libraries: build-ids, names and call-frame information, as
 * records of the file. */
#include "rt.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>

/* Async-signal-safe and without locks; since glibc 2.35. */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern __typeof(_dl_find_object) _dl_find_object __attribute__((weak));
#define HAVE_FIND_OBJECT 1
#else
#define HAVE_FIND_OBJECT 0
#endif

static uint32_t hash_bytes(uint32_t h, const void *at, size_t n)
{
	for (const uint8_t *p = at; n--; p++)
		h = (h ^ *p) * 16777619u;
	return h;
}

static const char *path_of(const struct rt_module *m)
{
	if (m->flags & KINF_MODULE_VDSO)
		return "[vdso]"; /* the loader calls it linux-vdso.so.1 */
	return m->flags & KINF_MODULE_MAIN ? rt.exe : m->name;
}

/* ---- reading the loader's program headers ---- */

static void find_build_id(struct rt_module *m, const ElfW(Phdr) * p)
{
	const uint8_t *at = (const uint8_t *)(m->bias + p->p_vaddr);
	const uint8_t *end = at + p->p_memsz;

	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)at;
		size_t name = (n->n_namesz + 3u) & ~3u, desc = (n->n_descsz + 3u) & ~3u;

		at += sizeof(*n);
		if (name > (size_t)(end - at) || desc > (size_t)(end - at) - name)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    text_equal((const char *)at, "GNU") && n->n_descsz <= 64) {
			m->build_id = at + name;
			m->build_id_size = (uint16_t)n->n_descsz;
			return;
		}
		at += name + desc;
	}
}

static void find_unwind(struct rt_module *m, const ElfW(Phdr) * p, size_t n, const ElfW(Phdr) * at)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i].p_type != PT_LOAD || at->p_vaddr < p[i].p_vaddr ||
		    at->p_vaddr - p[i].p_vaddr >= p[i].p_filesz)
			continue;
		m->unwind = m->bias + at->p_vaddr;
		m->unwind_size = at->p_memsz;
		m->segment = m->bias + p[i].p_vaddr;
		m->segment_size = p[i].p_filesz;
	}
}

static struct rt_module from_headers(uint64_t bias, const char *name, const ElfW(Phdr) * p,
				     size_t n)
{
	struct rt_module m = { .bias = bias, .name = name ? name : "", .start = UINT64_MAX };

	for (size_t i = 0; i < n; i++) {
		if (p[i].p_type == PT_LOAD) {
			if (bias + p[i].p_vaddr < m.start)
				m.start = bias + p[i].p_vaddr;
			if (bias + p[i].p_vaddr + p[i].p_memsz > m.end)
				m.end = bias + p[i].p_vaddr + p[i].p_memsz;
			if (p[i].p_flags & PF_X && !m.text_end) {
				m.text = bias + p[i].p_vaddr;
				m.text_end = m.text + p[i].p_memsz;
			}
		}
		if (p[i].p_type == PT_GNU_EH_FRAME)
			find_unwind(&m, p, n, &p[i]);
		if (p[i].p_type == PT_NOTE && !m.build_id)
			find_build_id(&m, &p[i]);
	}
	if (rt.vdso && rt.vdso >= m.start && rt.vdso < m.end)
		m.flags = KINF_MODULE_VDSO;
	return m;
}

static void set_hash(struct rt_module *m)
{
	m->hash = hash_bytes(2166136261u, path_of(m), text_size(path_of(m)));
	m->hash = hash_bytes(m->hash, m->build_id, m->build_id_size);
	m->hash = hash_bytes(m->hash, &(uint64_t){ m->end - m->start }, 8);
}

/* ---- in the file ---- */

static uint64_t padded(uint64_t n) { return (n + 7) & ~(uint64_t)7; }

/* The loader's names may be relative to the directory in which the program was started. */
static uint64_t cwd_size(const struct rt_module *m)
{
	const char *path = path_of(m);

	if (!path[0] || path[0] == '/' || m->flags & KINF_MODULE_VDSO)
		return 0;
	return text_size(rt.cwd) + 1;
}

void rt_module_write(struct rt_module *m)
{
	const char *path = path_of(m);
	uint64_t before = cwd_size(m), path_size = before + text_size(path);
	uint64_t size = sizeof(struct kinf_module) + padded(path_size) + padded(m->build_id_size);
	struct kinf_block *b = rt.module_block;
	struct kinf_module *r;
	uint8_t *tail;

	if (!b || b->used + size > b->size - sizeof(*b)) {
		b = rt_block(KINF_MODULES, size > 16000 ? size : 16000, 0);
		if (!b) {
			rt_lose(KINF_LOST_MODULES, 1);
			return;
		}
		b->used = 0;
		rt.module_block = b;
	}
	m->id = ++rt.n_modules;
	if (!m->first_id)
		m->first_id = m->id;
	r = (struct kinf_module *)(b->payload + b->used);
	*r = (struct kinf_module){
		.id = m->id,
		.start = m->start,
		.end = m->end,
		.bias = m->bias,
		.mapped_at = rt.epoch,
		.unmapped_at = UINT32_MAX,
		.flags = m->flags,
		.path_size = (uint16_t)path_size,
		.build_id_size = m->build_id_size,
	};
	tail = (uint8_t *)(r + 1);
	if (before) {
		copy_bytes(tail, rt.cwd, before - 1);
		tail[before - 1] = '/';
	}
	copy_bytes(tail + before, path, path_size - before);
	copy_bytes(tail + padded(path_size), m->build_id, m->build_id_size);
	__atomic_store_n(&r->size, (uint32_t)size, __ATOMIC_RELEASE);
	b->used += size;
	m->record = r;
}

void rt_modules_start(void)
{
	struct rt_module *m;

	/* Write records in the order of loading, the program first: the list is newest first. */
	for (m = rt.active; m; m = m->next)
		m->record = NULL;
	for (;;) {
		struct rt_module *oldest = NULL;

		for (m = rt.active; m; m = m->next)
			if (!m->record)
				oldest = m;
		if (!oldest)
			break;
		rt_module_write(oldest);
		if (!oldest->record)
			break;
	}
}

/* ---- the list ---- */

/* An earlier mapping of the same file. It gives `m` its first id. If it was at the same address and
 * nothing else was mapped there since, `m` continues its record. */
static struct rt_module *known_before(const struct rt_module *m)
{
	for (struct rt_module *o = rt.all; o; o = o->older)
		if (o->hash == m->hash && o->end - o->start == m->end - m->start)
			return o;
	return NULL;
}

static bool another_since(const struct rt_module *m)
{
	for (const struct rt_module *o = rt.all; o && o != m; o = o->older)
		if (o->start < m->end && m->start < o->end)
			return true;
	return false;
}

static bool again_in_place(struct rt_module *o, const struct rt_module *m)
{
	if (o->start != m->start || !o->record || another_since(o))
		return false;
	for (const struct rt_module *a = rt.active; a; a = a->next)
		if (a == o)
			return false;
	o->name = m->name;
	o->build_id = m->build_id;
	o->loader = m->loader;
	o->unwind = m->unwind;
	o->unwind_size = m->unwind_size;
	o->segment = m->segment;
	o->segment_size = m->segment_size;
	__atomic_store_n(&o->record->unmapped_at, UINT32_MAX, __ATOMIC_RELEASE);
	o->next = rt.active;
	rt.active = o;
	return true;
}

static struct rt_module *add_module(const struct rt_module *found)
{
	struct rt_module *m, *before = known_before(found);

	if (before && again_in_place(before, found))
		return before;
	m = rt_memory(sizeof(*m));
	if (!m) {
		rt_lose(KINF_LOST_MODULES, 1);
		return NULL;
	}
	*m = *found;
	m->first_id = before ? before->first_id : 0;
	if (rt.header)
		rt_module_write(m);
	m->older = rt.all;
	m->next = rt.active;
	atomic_store(&rt.all, m);
	atomic_store(&rt.active, m);
	return m;
}

struct rt_module *rt_module_at(uint64_t addr)
{
	for (struct rt_module *m = rt.active; m; m = m->next)
		if (addr >= m->start && addr < m->end)
			return m;
	return NULL;
}

/* ---- asking the loader ---- */

#if HAVE_FIND_OBJECT
struct module_question {
	uint64_t addr;
	struct dl_find_object answer;
	bool found;
};

static void ask(void *arg)
{
	struct module_question *q = arg;

	q->found = !_dl_find_object((void *)q->addr, &q->answer);
}

/* The ELF header lies at the start of the mapping, if the linker was an ordinary one. */
static void describe(const struct dl_find_object *o, struct rt_module *m)
{
	const ElfW(Ehdr) *e = o->dlfo_map_start;
	const struct link_map *l = o->dlfo_link_map;

	if ((uint8_t *)o->dlfo_map_end - (uint8_t *)o->dlfo_map_start < 4096 ||
	    e->e_ident[0] != 0x7f || e->e_ident[1] != 'E' || e->e_ident[2] != 'L' ||
	    e->e_phoff + e->e_phnum * sizeof(ElfW(Phdr)) > 4096) {
		*m = (struct rt_module){ .start = (uint64_t)o->dlfo_map_start,
					 .end = (uint64_t)o->dlfo_map_end,
					 .bias = l->l_addr,
					 .name = l->l_name };
	} else
		*m = from_headers(l->l_addr, l->l_name,
				  (const ElfW(Phdr) *)((const uint8_t *)e + e->e_phoff),
				  e->e_phnum);
	m->loader = l;
	m->transient = true;
	set_hash(m);
}
#endif

/* ---- unmapped modules ---- */

bool rt_module_is_gone(const struct rt_module *m)
{
#if HAVE_FIND_OBJECT
	struct dl_find_object o;

	if (!_dl_find_object || !m->transient)
		return false;
	return _dl_find_object((void *)m->start, &o) || o.dlfo_link_map != m->loader ||
	       (uint64_t)o.dlfo_map_start != m->start;
#else
	(void)m;
	return false;
#endif
}

/* With the lock: retires modules that are gone, and `replaced` unless NULL. */
static void retire_gone(const struct rt_module *replaced)
{
	struct rt_module *newer = NULL;

	for (struct rt_module *m = rt.active; m; m = m->next) {
		if (m != replaced && !rt_module_is_gone(m)) {
			newer = m;
			continue;
		}
		rt_retire(m);
		if (m->record)
			m->record->unmapped_at = rt.epoch + 1;
		if (newer) /* m->next stays: a thread that is walking over m still reaches the
			      rest */
			newer->next = m->next;
		else
			atomic_store(&rt.active, m->next);
	}
	atomic_fetch_add(&rt.epoch, 1);
}

void rt_modules_retire(void)
{
	bool any = false;
	uint64_t mask;

	for (const struct rt_module *m = rt.active; m && !any; m = m->next)
		any = rt_module_is_gone(m);
	if (!any || !rt_lock(&mask))
		return;
	retire_gone(NULL);
	rt_unlock(mask);
}

#if HAVE_FIND_OBJECT
/* Guarded by the lock; not on the program's stack, which may have no room. */
static struct {
	struct module_question question;
	struct rt_module module;
} scratch;

/* Whether another file is now mapped in the module's place; the loader may reuse the same memory
 * for its structures. There is a module at `addr`, because a thread executes code there. */
static bool is_replaced(const struct rt_module *m, uint64_t addr)
{
	scratch.question = (struct module_question){ .addr = addr };
	ask(&scratch.question);
	if (!scratch.question.found)
		return true;
	describe(&scratch.question.answer, &scratch.module);
	return scratch.module.start != m->start || scratch.module.hash != m->hash;
}

struct look {
	const struct rt_module *module;
	uint64_t addr;
};

static void retire_if_gone(void *arg)
{
	const struct look *look = arg;

	if (is_replaced(look->module, look->addr))
		retire_gone(look->module);
}
#endif

/* Whether the module known at `addr` is gone. dlclose() by the program is not the only way: the C
 * library itself unloads modules that it loaded for iconv() and the like. */
static bool has_gone(const struct rt_module *m, uint64_t addr)
{
#if HAVE_FIND_OBJECT
	struct look look = { m, addr };
	uint32_t before = rt.epoch;
	uint64_t mask;

	if (!_dl_find_object || !m->transient || rt.silent || !rt_lock(&mask))
		return false;
	if (rt_module_at(addr) == m) /* no other thread has retired it */
		rt_call_saved(retire_if_gone, &look);
	rt_unlock(mask);
	return rt.epoch != before;
#else
	(void)m;
	(void)addr;
	return false;
#endif
}

/* ---- unknown addresses ---- */

struct rt_module *rt_module_learn(uint64_t addr)
{
	struct rt_module *m = rt_module_at(addr);

	if (m && has_gone(m, addr))
		m = rt_module_at(addr);
	if (m || addr == UINT64_MAX)
		return m;
#if HAVE_FIND_OBJECT
	uint64_t mask;

	if (!_dl_find_object || rt.silent || !rt_lock(&mask))
		return NULL;
	m = rt_module_at(addr);
	if (!m) {
		scratch.question = (struct module_question){ .addr = addr };
		rt_call_saved(ask, &scratch.question);
		if (scratch.question.found) {
			describe(&scratch.question.answer, &scratch.module);
			m = add_module(&scratch.module);
		}
	}
	rt_unlock(mask);
#endif
	return m;
}

/* Whether this is the program's namespace: in others the first module is not the program. Only
 * glibc has namespaces. */
static bool is_program(const struct dl_phdr_info *first)
{
#ifdef __GLIBC__
	return !first->dlpi_name || !first->dlpi_name[0] ||
	       (uint64_t)first->dlpi_phdr == getauxval(AT_PHDR);
#else
	(void)first;
	return true;
#endif
}

struct start {
	bool first, is_program;
};

static int at_start(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct start *s = arg;
	struct rt_module m =
		from_headers(info->dlpi_addr, info->dlpi_name, info->dlpi_phdr, info->dlpi_phnum);

	(void)size;
	if (s->first) { /* the first module is the program, whatever its name */
		m.flags = KINF_MODULE_MAIN;
		s->is_program = is_program(info);
	}
	s->first = false;
	set_hash(&m);
	if (m.end)
		add_module(&m);
	return 0;
}

bool rt_modules_init(void)
{
	struct start s = { .first = true, .is_program = true };

	rt.vdso = getauxval(AT_SYSINFO_EHDR);
	dl_iterate_phdr(at_start, &s);
	return s.is_program;
}

#ifdef RT_STATIC
extern const char __start_kinrt_code[], __stop_kinrt_code[]; /* runtime/meson.build */

void rt_own_code(uint64_t *start, uint64_t *end)
{
	*start = (uint64_t)__start_kinrt_code;
	*end = (uint64_t)__stop_kinrt_code;
}
#else
void rt_own_code(uint64_t *start, uint64_t *end)
{
	const struct rt_module *m = rt_module_at((uint64_t)rt_own_code);

	if (m) {
		*start = m->text;
		*end = m->text_end;
	}
}
#endif

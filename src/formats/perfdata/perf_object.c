/* perf_object.c - the objects of mappings: files, the kernel, code made at run time. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/num.h"
#include "formats/perfdata/perf.h"
#include "object/kernel.h"
#include "object/object.h"

/* ---- build ids ---- */

static strid hex(struct perf *p, const uint8_t *id, size_t size)
{
	char s[41];

	num_hex(s, id, size);
	return strtab_add(p->strings, s);
}

void perf_object_add_build_id(struct perf *p, const char *path, const uint8_t *id, size_t size)
{
	*map64_at(&p->build_ids, strtab_add(p->strings, path)) = hex(p, id, size);
}

/* ---- kinds ---- */

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool perf_is_anonymous(const char *path)
{
	return starts_with(path, "//anon") || starts_with(path, "/dev/zero") ||
	       starts_with(path, "/anon_hugepage") || starts_with(path, "[heap]") ||
	       starts_with(path, "[stack") || starts_with(path, "/SYSV") ||
	       starts_with(path, "/memfd:") || starts_with(path, "anon_inode:");
}

const char *perf_jit_path(struct perf *p, uint32_t pid)
{
	return arena_printf(&p->arena, "/tmp/perf-%u.map", pid);
}

/* "/tmp/jit-1234.dump": a program maps it to show where its jitdump is. */
static bool is_jitdump(const char *path)
{
	const char *name = base_name(path);
	size_t digits = starts_with(name, "jit-") ? strspn(name + 4, "0123456789") : 0;

	return digits && !strcmp(name + 4 + digits, ".dump");
}

static enum object_kind kernel_kind(const char *path)
{
	if (starts_with(path, "[kernel") || starts_with(path, "[guest.kernel"))
		return OBJECT_KERNEL;
	if (path[0] == '[' || strstr(path, ".ko"))
		return OBJECT_KERNEL_MODULE;
	return OBJECT_KERNEL;
}

static enum object_kind user_kind(const char *path)
{
	if (!strcmp(path, "[vdso]") || !strcmp(path, "[vdso32]") || !strcmp(path, "[vdsox32]"))
		return OBJECT_VDSO;
	if (path[0] == '[' || !path[0])
		return OBJECT_OTHER;
	return OBJECT_ELF;
}

/* ---- the kernel ---- */

/* "": not known. */
static const char *known_build_id(struct perf *p, const char *path)
{
	uint32_t known = map64_get(&p->build_ids, strtab_add(p->strings, path));

	return known == NONE ? "" : strtab_get(p->strings, known);
}

const char *perf_kernel_build_id(struct perf *p, const char *path, uint64_t text)
{
	const char *said = known_build_id(p, path);
	char id[41];
	uint64_t start, end;
	int errnum = 0;

	if (*said || p->other_host || !p->own_kernel)
		return said;
	if (!kernel_build_id(id, &errnum)) {
		if (errnum)
			perf_unread(p, "names of the kernel are missing",
				    err_os(errnum, "%s", KERNEL_NOTES));
		return said;
	}
	struct kernel *k = kernel_new();
	bool lies_there = kernel_range(k, &start, &end) && start == text;
	if (!lies_there && kernel_trouble(k))
		perf_unread(p, "names of the kernel are missing",
			    err_os(kernel_trouble(k), "reading the kernel's symbols"));
	kernel_free(k);
	return lies_there ? arena_printf(&p->arena, "%s", id) : "";
}

static bool is_running(struct perf *p)
{
	int errnum = 0;
	for (size_t i = 0; i < p->objects.n && !errnum; i++)
		if (p->objects.at[i].kind == OBJECT_KERNEL &&
		    kernel_is_running(p->objects.at[i].build_id, &errnum))
			return true;
	return false;
}

const char *perf_kernel_function(struct perf *p, uint64_t addr, uint64_t *start)
{
	struct kernel_symbol s;
	if (!p->kernel_asked)
		p->kernel_names = is_running(p) ? kernel_new() : NULL;
	p->kernel_asked = true;
	if (!p->kernel_names || !kernel_find(p->kernel_names, addr, &s))
		return NULL;
	*start = s.addr;
	return s.name;
}

/* ---- the list ---- */

static uint32_t add_object(struct perf *p, const char *path, const char *build_id,
			   enum object_kind kind)
{
	strid name = strtab_add(p->strings, path), id = strtab_add(p->strings, build_id);
	uint32_t *i = map64_at(&p->object_ids, MAP64_PAIR(name, id));

	if (*i != NONE)
		return *i;
	struct perf_object o = { .kind = kind,
				 .symbols = NONE,
				 .path = strtab_get(p->strings, name),
				 .build_id = strtab_get(p->strings, id),
				 .id = profile_add_object_of(p->into, path, build_id, kind,
							     false) };
	o.by_address = kind != OBJECT_ELF && kind != OBJECT_VDSO;
	*i = (uint32_t)p->objects.n;
	vec_push(&p->objects, o);
	return *i;
}

/* Notes the jitdump that a process maps. Its code is in anonymous memory, so the dump is attached
 * to that object. */
static void add_dump(struct perf *p, const char *path, uint32_t pid)
{
	uint32_t code = add_object(p, perf_jit_path(p, pid), "", OBJECT_JIT);
	struct perf_object *o = &p->objects.at[code];

	o->dump = strtab_get(p->strings, strtab_add(p->strings, path));
	o->is_loaded = false;
	perf_made_free(&o->made);
}

uint32_t perf_object_add(struct perf *p, const char *path, const char *build_id, uint32_t pid,
			 enum perf_mapped as)
{
	if (!*build_id)
		build_id = known_build_id(p, path);
	if (as == PERF_MAP_KERNEL)
		return add_object(p, path, build_id, kernel_kind(path));
	if (as == PERF_MAP_DATA && perf_is_anonymous(path))
		return add_object(p, path, "", OBJECT_OTHER);
	if (is_jitdump(path)) {
		add_dump(p, path, pid);
		return add_object(p, path, "", OBJECT_JIT);
	}
	if (perf_is_anonymous(path))
		return add_object(p, perf_jit_path(p, pid), "", OBJECT_JIT);
	return add_object(p, path, build_id, user_kind(path));
}

/* ---- unreadable files ---- */

void perf_unread(struct perf *p, const char *what, struct kin_error *err)
{
	char *text = xprintf("%s: %s", what, kin_error_message(err));

	profile_add_fact(p->into, FACT_UNREAD, text);
	free(text);
	kin_error_free(err);
}

/* True for a failure of this machine. Files that are missing or of another build are reported with
 * their names instead. */
static bool is_failure(const struct kin_error *err)
{
	int errnum = kin_error_errno(err);

	return errnum == EIO || errnum == ENOMEM || errnum == EMFILE || errnum == ENFILE;
}

/* ---- addresses ---- */

struct object_file *perf_object_open(struct perf *p, const struct perf_object *o,
				     const char *build_id)
{
	struct object_opts opts = { .symfs = p->symfs, .build_id = build_id };
	struct object_file *file = NULL;
	struct kin_error *err = o->kind == OBJECT_ELF ? object_open(o->path, &opts, &file) : NULL;

	if (err && is_failure(err))
		perf_unread(p, "addresses or stacks are wrong", err);
	else
		kin_error_free(err);
	return file;
}

static void load_segments(struct perf *p, struct perf_object *o)
{
	struct object_file *file = perf_object_open(p, o, NULL);

	if (!file)
		return;
	const struct object_segment *s = object_segments(file, &o->n_segments);
	o->segments = xrealloc(NULL, o->n_segments, sizeof(*s));
	memcpy(o->segments, s, o->n_segments * sizeof(*s));
	object_free(file);
}

/* Reads an object's file. If that is missing or on another machine, addresses are taken for file
 * offsets: with most linkers they are equal for code. */
static void load(struct perf *p, struct perf_object *o)
{
	o->is_loaded = true;
	if (o->kind == OBJECT_JIT && !p->other_host)
		o->made = is_jitdump(o->path) ? perf_jit_read(p, NULL, o->path)
					      : perf_jit_read(p, o->path, o->dump);
	else
		load_segments(p, o);
	if (!o->n_segments)
		o->symbols = perf_symbols_find(p, o->path);
}

static struct perf_object *loaded(struct perf *p, uint32_t object)
{
	struct perf_object *o = &p->objects.at[object];

	if (!o->is_loaded)
		load(p, o);
	return o;
}

static strid name_at(const struct perf_made *made, uint64_t addr)
{
	const struct perf_name *name = perf_made_at(made, addr);

	return name ? name->name : 0;
}

static uint64_t link_time(const struct perf_object *o, const struct perf_map *m, uint64_t ip)
{
	uint64_t offset = ip - m->start + m->offset, addr = offset;

	for (size_t i = 0; i < o->n_segments; i++) {
		const struct object_segment *s = &o->segments[i];
		if (offset < s->offset || offset - s->offset >= s->file_size)
			continue;
		addr = s->addr + (offset - s->offset);
		if (s->executable) /* a page at the border of two segments may be in both */
			break;
	}
	return addr;
}

struct frame perf_object_frame(struct perf *p, const struct perf_map *m, uint64_t ip)
{
	const struct perf_object *o = loaded(p, m->object);
	struct frame f = { .object = o->id, .addr = ip, .name = m->name };

	if (o->symbols != NONE && !f.name)
		f.name = perf_symbols_name(p, o->symbols, m, ip, &f.addr);
	else if (!o->by_address)
		f.addr = link_time(o, m, ip);
	else if (o->made.n_names)
		f.name = name_at(&o->made, ip);
	return f;
}

const struct perf_made *perf_object_made(struct perf *p, uint32_t object)
{
	const struct perf_object *o = loaded(p, object);

	return o->kind == OBJECT_JIT ? &o->made : NULL;
}

uint64_t perf_object_bias(struct perf *p, const struct perf_map *m, uint64_t ip)
{
	return ip - link_time(loaded(p, m->object), m, ip);
}

void perf_objects_done(struct perf *p)
{
	kernel_free(p->kernel_names);
	for (size_t i = 0; i < p->objects.n; i++) {
		perf_dwarf_object_done(p, &p->objects.at[i]);
		free(p->objects.at[i].segments);
		perf_made_free(&p->objects.at[i].made);
	}
	perf_symbols_done(p);
	vec_free(&p->objects);
	map64_free(&p->object_ids);
}

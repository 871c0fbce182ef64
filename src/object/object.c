/* object.c - opens an object with its symbols and code, and checks its build-id. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/num.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "names/kept.h"
#include "object/debuginfod.h"
#include "object/disassembler.h"
#include "object/object_private.h"

/* ---- code ---- */

const uint8_t *object_code_part(const struct object_file *o, uint64_t addr, size_t wanted,
				size_t *size)
{
	return elf_file_code_part(o->main, addr, wanted, size);
}

const uint8_t *object_code_before(const struct object_file *o, uint64_t addr, size_t *size)
{
	for (size_t n = addr < MACHINE_CALL_MAX ? (size_t)addr : MACHINE_CALL_MAX; n; n--) {
		const uint8_t *code = object_code_part(o, addr - n, n, size);
		if (code && *size >= n)
			return code;
	}
	*size = 0;
	return NULL;
}

const uint8_t *object_code(const struct object_file *o, uint64_t addr, size_t *size)
{
	return object_code_part(o, addr, SIZE_MAX, size);
}

/* ---- opening ---- */

static char *hex(struct arena *a, const uint8_t *bytes, size_t n)
{
	char *s = arena_alloc_bytes(a, n * 2 + 1);
	num_hex(s, bytes, n);
	return s;
}

static struct kin_error *describe(struct object_file *o)
{
	const struct elf_section *text = elf_file_section(o->main, ".text");
	if (text && text->addr + text->size >= text->addr)
		o->text = (struct address_range){ text->addr, text->addr + text->size };
	elf_file_find_code(o->main);
	if (o->main->n_sections < 2 && o->main->image.header.e_shoff)
		return err_about(
			err_new(KIN_ERROR_UNSUPPORTED,
				"%s: its section table cannot be read: the file is cut off or "
				"damaged",
				o->path),
			(struct err_facts){ ERR_NO_PROGRAM, o->path });
	if (!text && !o->main->n_code)
		return err_about(
			err_new(KIN_ERROR_UNSUPPORTED,
				"%s: no section holds code (no .text): not a program, or its "
				"section table was stripped",
				o->path),
			(struct err_facts){ ERR_NO_TEXT, o->path });

	size_t n;
	const uint8_t *id = elf_file_build_id(o->main, &n);
	o->build_id = id ? hex(&o->arena, id, n) : NULL;
	return NULL;
}

static struct kin_error *check_build(const struct object_file *o, const char *want)
{
	if (!want || !*want || (o->build_id && !strcmp(want, o->build_id)))
		return NULL;
	return err_new(
		KIN_ERROR_MISMATCH, "the file has been replaced since (%s%.12s, recorded %.12s)",
		o->build_id ? "build id " : "no build id", o->build_id ? o->build_id : "", want);
}

struct kin_error *object_of_file(struct elf_file *file, const char *path,
				 const struct object_opts *opts, struct object_file **ret)
{
	struct object_file *o = xalloc(sizeof(*o));
	const char *debug_dir = opts && opts->debug_dir ? opts->debug_dir : "/usr/lib/debug";
	o->main = file;
	o->path = arena_printf(&o->arena, "%s", path);
	o->debug_dir = arena_printf(&o->arena, "%s", debug_dir);
	o->symfs = opts && opts->symfs ? arena_printf(&o->arena, "%s", opts->symfs) : NULL;
	o->no_debug_files = opts && opts->no_debug_files;
	o->debuginfod = opts ? opts->debuginfod : NULL;
	o->remembers = file->remembers = opts && opts->remembers;
	struct kin_error *err = describe(o);
	if (!err)
		err = check_build(o, opts ? opts->build_id : NULL);
	struct kin_error *reason = err ? object_trouble(o) : NULL;
	if (reason) { /* what it seems to lack could not be read */
		kin_error_free(err);
		err = reason;
	}
	if (err) {
		object_free(o);
		return err;
	}
	*ret = o;
	return NULL;
}

static struct kin_error *open_at(const char *path, const struct object_opts *opts,
				 struct object_file **ret)
{
	struct elf_file *file;
	struct kin_error *err = elf_file_open(path, &file);
	return err ? err : object_of_file(file, path, opts, ret);
}

/* Opens `copy` as `path`; NULL if it cannot be opened or is not build opts->build_id. */
static struct object_file *open_copy(const char *copy, const char *path,
				     const struct object_opts *opts)
{
	struct elf_file *file;
	struct object_file *o = NULL;
	struct kin_error *err = elf_file_open(copy, &file);
	if (!err)
		err = object_of_file(file, path, opts, &o);
	kin_error_free(err);
	if (o && o->build_id)
		return o;
	object_free(o);
	return NULL;
}

struct object_file *object_open_cached(const char *path, const struct object_opts *opts,
				       const char *what)
{
	const char *id = opts ? opts->build_id : NULL, *home = getenv("HOME");
	size_t n = id ? strlen(id) : 0;
	if (n < 3 || strspn(id, "0123456789abcdef") != n || !home || !*home || opts->symfs)
		return NULL;
	char *copy = xprintf("%s/.debug/.build-id/%.2s/%s/%s", home, id, id + 2, what);
	struct object_file *o = open_copy(copy, path, opts);
	free(copy);
	return o;
}

struct object_file *object_open_fetched(const char *path, const struct object_opts *opts)
{
	const char *copy = debuginfod_find(opts->debuginfod, DEBUGINFOD_EXECUTABLE, opts->build_id,
					   NULL, path);
	return copy ? open_copy(copy, path, opts) : NULL;
}

struct kin_error *object_open(const char *path, const struct object_opts *opts,
			      struct object_file **ret)
{
	if (!opts || !opts->symfs) {
		struct kin_error *err = open_at(path, opts, ret);
		struct object_file *copy = err ? object_open_cached(path, opts, "elf") : NULL;
		if (!copy)
			return err;
		kin_error_free(err);
		*ret = copy;
		return NULL;
	}
	char *below = xprintf("%s%s%s", opts->symfs, path[0] == '/' ? "" : "/", path);
	struct kin_error *err = open_at(below, opts, ret);
	free(below);
	return err;
}

void object_free(struct object_file *o)
{
	if (!o)
		return;
	object_lines_free(o->lines);
	answered_free(o->answered);
	disassembler_free(o->disassembler);
	elf_file_free(o->alt);
	elf_file_free(o->packed);
	elf_file_free(o->debug);
	elf_file_free(o->main);
	struct arena arena = o->arena;
	free(o);
	arena_release(&arena);
}

struct kin_error *object_trouble(const struct object_file *o)
{
	const struct elf_file *const files[] = { o->main, o->debug, o->alt, o->packed };
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (files[i] && *files[i]->trouble)
			return err_os(*files[i]->trouble, "reading %s%s%s", o->path, i ? ": " : "",
				      i ? files[i]->path : "");
	return o->trouble ? err_os(o->trouble, "reading debug information of %s", o->path) : NULL;
}

const char *object_missing_part(const struct object_file *o, bool *shared)
{
	*shared = o->missing && o->missing == o->missing_alt;
	return o->missing;
}

/* ---- properties ---- */

const char *object_path(const struct object_file *o) { return o->path; }
const char *object_build_id(const struct object_file *o) { return o->build_id; }
struct address_range object_text(const struct object_file *o) { return o->text; }
uint32_t object_elf_machine(const struct object_file *o) { return o->main->image.header.e_machine; }
const struct kept_object *object_kept(const struct object_file *o) { return o->kept; }

const char *object_read_path(const struct object_file *o) { return o->main->path; }

uint64_t object_modified_ns(const struct object_file *o)
{
	struct stat st;
	if (o->kept)
		return o->kept->modified_ns;
	return o->main->image.fd < 0 || fstat(o->main->image.fd, &st) < 0 ? 0
									  : clock_ns_of(st.st_mtim);
}

bool object_has_code(const struct object_file *o) { return !o->kept || o->kept->flags & KEPT_CODE; }

const char *object_machine(const struct object_file *o) { return machine_name(&o->main->image); }

bool object_is_64bit(const struct object_file *o) { return o->main->image.is_64bit; }

bool object_big_endian(const struct object_file *o)
{
	return o->main->image.swap != bytes_other_order(false);
}

/* The linker's names for the end of the code differ by target; glibc uses the first of these. */
static size_t end_rank(const char *name)
{
	static const char *const ends[] = { "etext", "_etext", "__etext" };
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (!strcmp(name, ends[i]))
			return i;
	return ARRAY_LEN(ends);
}

static struct address_range profiled_by(const struct elf_symbols *s)
{
	struct address_range r = { 0, 0 };
	bool have_low = false;
	size_t best = end_rank("");
	for (size_t i = s->first_global; i < s->n; i++) {
		Elf64_Sym sym;
		uint32_t shndx;
		if (!elf_symbols_at(s, i, &sym, &shndx) || shndx == SHN_UNDEF)
			continue;
		const char *name = elf_symbols_name(s, &sym);
		if (!strcmp(name, "__executable_start")) {
			r.low = sym.st_value;
			have_low = true;
		} else if (end_rank(name) < best) {
			best = end_rank(name);
			r.high = sym.st_value;
		}
	}
	return have_low && r.high > r.low ? r : (struct address_range){ 0, 0 };
}

struct address_range object_profiled(const struct object_file *o)
{
	static const uint32_t tables[] = { SHT_SYMTAB, SHT_DYNSYM };
	struct address_range r = { 0, 0 };
	if (o->kept)
		return (struct address_range){ o->kept->profiled_low, o->kept->profiled_high };
	for (size_t i = 0; i < ARRAY_LEN(tables) && !r.high; i++) {
		struct elf_symbols symbols;
		if (!elf_file_symbols(o->main, tables[i], &symbols))
			continue;
		r = profiled_by(&symbols);
		elf_symbols_release(o->main, &symbols);
	}
	return r;
}

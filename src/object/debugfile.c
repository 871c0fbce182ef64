/* debugfile.c - finds symbols and DWARF that are not in the file itself.
 *
 * The debug file is DEBUG_DIR/.build-id/xx/rest.debug, else the file that .gnu_debuglink names:
 * beside the object, in .debug/ there, or under DEBUG_DIR. It must have the object's build-id if
 * both have one; a file found by its name must also have the checksum given in the link. The file
 * into which dwz moved parts of either is named by .gnu_debugaltlink and must have the build-id
 * given there. Files that are missing here are requested from debuginfod servers, if the object was
 * opened with them. */
#include <byteswap.h>
#include <errno.h>
#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/num.h"
#include "object/debuginfod.h"
#include "object/object_private.h"
#include "object/source.h"
#include "object/xz.h"

enum { BUILD_ID_MAX = 64 };

/* ---- candidates ---- */

static bool same_kind(const struct elf_file *a, const struct elf_file *b)
{
	return a->image.header.e_machine == b->image.header.e_machine &&
	       a->image.is_64bit == b->image.is_64bit && a->image.swap == b->image.swap;
}

static bool has_build_id(const struct elf_file *f, const uint8_t *id, size_t n)
{
	size_t size;
	const uint8_t *own = elf_file_build_id(f, &size);
	return own && size == n && !memcmp(own, id, n);
}

static void failed(struct object_file *o, int errnum)
{
	if (!o->trouble)
		o->trouble = errnum;
}

/* Frees a rejected candidate and notes its trouble, as lack of memory may be the reason. */
static void give_up(struct object_file *o, struct elf_file *f)
{
	if (f)
		failed(o, *f->trouble);
	elf_file_free(f);
}

/* Opens path if it is an ELF file of o's kind, and another file than o's. */
static struct elf_file *open_at(struct object_file *o, const char *path)
{
	struct elf_file *f = NULL;
	struct stat own, st;
	struct kin_error *err = elf_file_open(path, &f);
	if (err) {
		if (err_is_trouble(err))
			failed(o, kin_error_errno(err));
		kin_error_free(err);
		return NULL;
	}
	bool is_own = !fstat(o->main->image.fd, &own) && !fstat(f->image.fd, &st) &&
		      own.st_dev == st.st_dev && own.st_ino == st.st_ino;
	if (is_own || !same_kind(f, o->main)) {
		give_up(o, f);
		return NULL;
	}
	f->remembers = o->remembers;
	return f;
}

/* The path below o's own root (symfs), allocated; NULL if o's root is ours. */
static char *below_root(const struct object_file *o, const char *path)
{
	return o->symfs && path[0] == '/' ? xprintf("%s%s", o->symfs, path) : NULL;
}

static struct elf_file *open_candidate(struct object_file *o, const char *path)
{
	char *below = below_root(o, path);
	struct elf_file *f = below ? open_at(o, below) : NULL;
	free(below);
	return f ? f : open_at(o, path);
}

static struct elf_file *open_exact(struct object_file *o, const char *path, const uint8_t *id,
				   size_t n)
{
	struct elf_file *f = open_at(o, path);
	if (f && has_build_id(f, id, n))
		return f;
	give_up(o, f);
	return NULL;
}

static struct elf_file *open_with_build_id(struct object_file *o, const char *path,
					   const uint8_t *id, size_t n)
{
	char *below = below_root(o, path);
	struct elf_file *f = below ? open_exact(o, below, id, n) : NULL;
	free(below);
	return f ? f : open_exact(o, path, id, n);
}

static struct elf_file *find_by_build_id(struct object_file *o, const uint8_t *id, size_t n)
{
	char hex[2 * BUILD_ID_MAX + 1];
	if (n < 2 || n > BUILD_ID_MAX)
		return NULL;
	num_hex(hex, id, n);
	char *path = xprintf("%s/.build-id/%.2s/%s.debug", o->debug_dir, hex, hex + 2);
	struct elf_file *f = open_with_build_id(o, path, id, n);
	free(path);
	return f;
}

static struct elf_file *fetch(struct object_file *o, const uint8_t *id, size_t n)
{
	char hex[2 * BUILD_ID_MAX + 1];
	if (n < 2 || n > BUILD_ID_MAX || o->no_debug_files)
		return NULL;
	num_hex(hex, id, n);
	const char *path = debuginfod_find(o->debuginfod, DEBUGINFOD_DEBUG, hex, NULL, o->path);
	return path ? open_with_build_id(o, path, id, n) : NULL;
}

/* The folder of path with symbolic links resolved, allocated. */
static char *folder_of(struct object_file *o, const char *path)
{
	char *real = realpath(path, NULL);
	if (!real && errno == ENOMEM)
		failed(o, errno);
	char *slash = real ? strrchr(real, '/') : NULL;
	if (slash)
		*slash = '\0';
	return real;
}

/* ---- .gnu_debuglink ---- */

/* CRC-32 of the whole file, as in zlib. */
static bool crc_of(struct object_file *o, int fd, uint32_t *ret)
{
	enum { CHUNK = 256 * 1024 };
	uint8_t *buf = xalloc(CHUNK);
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, CHUNK, at)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		crc = libdeflate_crc32(crc, buf, (size_t)n);
		at += n;
	}
	if (n < 0)
		failed(o, errno);
	free(buf);
	*ret = crc;
	return n == 0;
}

struct debuglink {
	const char *name;
	uint32_t crc;
};

/* A name, up to three bytes of padding, the checksum. */
static bool read_debuglink(const struct object_file *o, struct debuglink *ret)
{
	size_t size;
	const struct elf_section *s = elf_file_section(o->main, ".gnu_debuglink");
	const uint8_t *data = s ? elf_file_contents(o->main, s, &size) : NULL;
	const uint8_t *end = data ? memchr(data, 0, size) : NULL;
	if (!end)
		return false;

	size_t at = ((size_t)(end - data) + 4) & ~(size_t)3;
	if (size < 4 || at > size - 4)
		return false;
	memcpy(&ret->crc, data + at, 4);
	if (o->main->image.swap)
		ret->crc = bswap_32(ret->crc);
	const char *name = (const char *)data, *slash = strrchr(name, '/');
	ret->name = slash ? slash + 1 : name; /* a name, never a way out of the folders above */
	return *ret->name && strcmp(ret->name, "..") != 0 && strcmp(ret->name, ".") != 0;
}

/* Takes over f. */
static struct elf_file *check_linked(struct object_file *o, const struct debuglink *link,
				     struct elf_file *f)
{
	if (!f)
		return NULL;
	uint32_t crc;
	size_t n, theirs;
	const uint8_t *id = elf_file_build_id(o->main, &n);
	bool other = id && elf_file_build_id(f, &theirs) && !has_build_id(f, id, n);
	if (!other && crc_of(o, f->image.fd, &crc) && crc == link->crc)
		return f;
	give_up(o, f);
	return NULL;
}

static struct elf_file *open_linked(struct object_file *o, const struct debuglink *link,
				    const char *top, const char *folder, const char *sub)
{
	char *path = xprintf("%s%s/%s%s", top, folder, sub, link->name);
	char *below = below_root(o, path);
	struct elf_file *f = below ? check_linked(o, link, open_at(o, below)) : NULL;
	if (!f)
		f = check_linked(o, link, open_at(o, path));
	free(below);
	free(path);
	return f;
}

static struct elf_file *open_beside(struct object_file *o, const struct debuglink *link,
				    const char *folder)
{
	struct elf_file *f = open_linked(o, link, "", folder, "");
	if (!f)
		f = open_linked(o, link, "", folder, ".debug/");
	return f ? f : open_linked(o, link, o->debug_dir, folder, "");
}

/* The folder of o as seen from its own root (symfs), allocated; NULL if o's root is ours. */
static char *own_folder(const struct object_file *o)
{
	size_t n = o->symfs ? strlen(o->symfs) : 0;
	const char *path = o->path + n, *slash = strrchr(o->path, '/');
	return n && !strncmp(o->path, o->symfs, n) && *path == '/'
		       ? xprintf("%.*s", (int)(slash - path), path)
		       : NULL;
}

static struct elf_file *find_by_link(struct object_file *o)
{
	struct debuglink link;
	if (!read_debuglink(o, &link))
		return NULL;
	char *own = own_folder(o), *folder = folder_of(o, o->path);
	struct elf_file *f = own ? open_beside(o, &link, own) : NULL;
	if (!f && folder)
		f = open_beside(o, &link, folder);
	free(own);
	free(folder);
	return f;
}

struct elf_file *object_debug_file(struct object_file *o)
{
	if (o->sought_debug)
		return o->debug;
	o->sought_debug = true;
	size_t n;
	const uint8_t *id = elf_file_build_id(o->main, &n);
	if (id)
		o->debug = find_by_build_id(o, id, n);
	if (!o->debug)
		o->debug = find_by_link(o);
	if (!o->debug && id)
		o->debug = fetch(o, id, n);
	return o->debug;
}

/* ---- .gnu_debugaltlink ---- */

/* `from`: the file that refers to it. */
static struct elf_file *find_alt(struct object_file *o, const struct elf_file *from)
{
	size_t size;
	const struct elf_section *s = elf_file_section(from, ".gnu_debugaltlink");
	const uint8_t *data = s ? elf_file_contents(from, s, &size) : NULL;
	const uint8_t *end = data ? memchr(data, 0, size) : NULL;
	if (!end)
		return NULL;
	const char *name = (const char *)data;
	const uint8_t *id = end + 1;
	size_t n = size - (size_t)(id - data);
	if (n < 2 || n > BUILD_ID_MAX)
		return NULL;

	struct elf_file *f = find_by_build_id(o, id, n);
	char *folder = f || *name == '/' || !*name ? NULL : folder_of(o, from->path);
	if (!f && *name == '/')
		f = open_with_build_id(o, name, id, n);
	if (folder) {
		char *path = xprintf("%s/%s", folder, name);
		f = open_with_build_id(o, path, id, n);
		free(path);
	}
	free(folder);
	if (!f && !(f = fetch(o, id, n)))
		o->missing_alt = arena_printf(&o->arena, "%s", name);
	return f;
}

/* ---- DWARF ---- */

static bool has_dwarf(const struct elf_file *f)
{
	static const char *const names[] = { ".debug_info", ".debug_line", ".zdebug_info",
					     ".zdebug_line" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct elf_section *s = elf_file_section(f, names[i]);
		if (s && s->type != SHT_NOBITS)
			return true;
	}
	return false;
}

struct elf_file *object_dwarf(struct object_file *o)
{
	if (o->sought_dwarf)
		return o->dwarf;
	o->sought_dwarf = true;
	o->dwarf = has_dwarf(o->main) ? o->main : object_debug_file(o);
	if (o->dwarf)
		o->alt = find_alt(o, o->dwarf);
	return o->dwarf;
}

struct elf_file *object_split_file(struct object_file *o, const char *path)
{
	return open_candidate(o, path);
}

/* ---- .gnu_debugdata ---- */

struct elf_file *object_packed_file(struct object_file *o)
{
	if (o->sought_packed)
		return o->packed;
	o->sought_packed = true;

	size_t n, size;
	const struct elf_section *s = elf_file_section(o->main, ".gnu_debugdata");
	const uint8_t *data = s ? elf_file_contents(o->main, s, &n) : NULL;
	int trouble = 0;
	uint8_t *unpacked = data ? xz_unpack(data, n, &size, &trouble) : NULL;
	struct elf_file *f = unpacked ? elf_file_from_memory(s->name, unpacked, size) : NULL;
	failed(o, trouble);
	if (f && !same_kind(f, o->main)) {
		elf_file_free(f);
		f = NULL;
	}
	o->packed = f;
	return f;
}

/* ---- sources ---- */

bool object_fetch_source(struct object_file *o, const char *path, struct source_text *ret)
{
	return source_fetch(o->debuginfod, o->build_id, path, ret);
}

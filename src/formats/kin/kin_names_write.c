/* kin_names_write.c - appends names to a recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/map64.h"
#include "base/out.h"
#include "formats/kin/kin_private.h"
#include "names/kept.h"

enum { FULL_BLOCK = 1 << 20, MOST_ENTRIES = 4096, LEVEL = 6 };

struct names_pen {
	struct kinfile_plain plain; /* of the current block */
	struct map64 strings;       /* pointer to an interned string -> its number in the block */
	uint32_t n_strings;
	struct kinfile_packer packer;
	VEC(uint8_t) out;
	const struct kept_object *object; /* the object that records belong to; NULL: none yet */
};

static void append(struct names_pen *p, const void *bytes, size_t n)
{
	vec_reserve(&p->out, n);
	if (n)
		memcpy(p->out.at + p->out.n, bytes, n);
	p->out.n += n;
}

static void end_block(struct names_pen *p)
{
	static const uint8_t zeros[8];
	const uint8_t *payload;

	if (!p->plain.bytes.n)
		return;
	struct kinf_block b =
		kinfile_seal(&p->packer, KINF_NAMES, p->plain.bytes.at, p->plain.bytes.n, &payload);
	append(p, &b, sizeof(b));
	append(p, payload, b.used);
	append(p, zeros, b.size - sizeof(b) - b.used);
	p->plain.bytes.n = 0;
	map64_free(&p->strings);
	p->strings = (struct map64){ 0 };
	p->n_strings = 0;
}

static void put_string(struct names_pen *p, const char *s)
{
	if (!s || !*s) {
		kinfile_put(&p->plain, 0);
		return;
	}
	uint32_t *id = map64_at(&p->strings, (uintptr_t)s);
	bool is_new = *id == NONE;
	if (is_new)
		*id = ++p->n_strings;
	kinfile_put(&p->plain, *id);
	if (is_new)
		kinfile_put_text(&p->plain, s, strlen(s));
}

static void put_object(struct names_pen *p, const struct kept_object *o)
{
	kinfile_put_u8(&p->plain, KINF_N_OBJECT);
	kinfile_put(&p->plain, o->flags);
	kinfile_put(&p->plain, o->machine);
	put_string(p, o->path);
	put_string(p, o->build_id);
	kinfile_put(&p->plain, o->size);
	kinfile_put(&p->plain, o->modified_ns);
	kinfile_put(&p->plain, o->text_low);
	kinfile_put(&p->plain, o->text_high - o->text_low);
	kinfile_put(&p->plain, o->profiled_low);
	kinfile_put(&p->plain, o->profiled_high - o->profiled_low);
	kinfile_put(&p->plain, o->n_functions);
}

/* Begins a record of the current object, in a new block if this one is full. */
static struct kinfile_plain *begin(struct names_pen *p, enum kinf_name_record kind)
{
	if (p->plain.bytes.n >= FULL_BLOCK)
		end_block(p);
	if (!p->plain.bytes.n && p->object)
		put_object(p, p->object);
	kinfile_put_u8(&p->plain, (uint8_t)kind);
	return &p->plain;
}

static size_t some(size_t n, size_t done)
{
	return n - done < MOST_ENTRIES ? n - done : MOST_ENTRIES;
}

static void put_symbols(struct names_pen *p, const struct kept_object *o)
{
	for (size_t i = 0, n; i < o->symbols.n; i += n) {
		struct kinfile_plain *r = begin(p, KINF_N_SYMBOLS);
		uint64_t last = 0, position = 0;
		kinfile_put(r, n = some(o->symbols.n, i));
		for (size_t k = i; k < i + n; k++) {
			const struct kept_symbol *s = &o->symbols.at[k];
			kinfile_put_signed(r, s->addr - last);
			kinfile_put(r, s->end - s->addr);
			put_string(p, s->name);
			kinfile_put(r, s->flags);
			kinfile_put_signed(r, s->addr - s->owner);
			kinfile_put_signed(r, s->position - position);
			last = s->addr;
			position = s->position;
		}
	}
}

static void put_aliases(struct names_pen *p, const struct kept_object *o)
{
	for (size_t i = 0, n; i < o->aliases.n; i += n) {
		struct kinfile_plain *r = begin(p, KINF_N_ALIASES);
		uint64_t last = 0;
		kinfile_put(r, n = some(o->aliases.n, i));
		for (size_t k = i; k < i + n; k++) {
			kinfile_put_signed(r, o->aliases.at[k].addr - last);
			put_string(p, o->aliases.at[k].name);
			last = o->aliases.at[k].addr;
		}
	}
}

static void put_lines(struct names_pen *p, const struct kept_object *o)
{
	for (size_t i = 0, n; i < o->lines.n; i += n) {
		struct kinfile_plain *r = begin(p, KINF_N_LINES);
		uint64_t last = 0, line = 0;
		kinfile_put(r, n = some(o->lines.n, i));
		for (size_t k = i; k < i + n; k++) {
			const struct kept_line *l = &o->lines.at[k];
			kinfile_put_signed(r, l->addr - last);
			kinfile_put(r, l->end - l->addr);
			put_string(p, l->file);
			kinfile_put_signed(r, l->line - line);
			put_string(p, l->function);
			last = l->end;
			line = l->line;
		}
	}
}

static void put_inlines(struct names_pen *p, const struct kept_object *o)
{
	for (size_t i = 0, n; i < o->inlines.n; i += n) {
		struct kinfile_plain *r = begin(p, KINF_N_CALLED);
		uint64_t last = 0, line = 0;
		kinfile_put(r, n = some(o->inlines.n, i));
		for (size_t k = i; k < i + n; k++) {
			const struct kept_inline *x = &o->inlines.at[k];
			kinfile_put_signed(r, x->addr - last);
			kinfile_put(r, x->depth);
			put_string(p, x->name);
			put_string(p, x->call_file);
			kinfile_put_signed(r, x->call_line - line);
			last = x->addr;
			line = x->call_line;
		}
	}
}

static void put_code(struct names_pen *p, const struct kept_object *o)
{
	for (size_t i = 0; i < o->code.n; i++) {
		const struct kept_code *c = &o->code.at[i];
		for (size_t at = 0; at < c->size; at += FULL_BLOCK) {
			size_t n = c->size - at < FULL_BLOCK ? c->size - at : FULL_BLOCK;
			struct kinfile_plain *r = begin(p, KINF_N_CODE);
			kinfile_put(r, c->addr + at);
			kinfile_put_text(r, c->bytes + at, n);
		}
	}
}

static void put_tail_calls(struct names_pen *p, const struct kept_object *o)
{
	for (size_t i = 0, n; i < o->tail_calls.n; i += n) {
		struct kinfile_plain *r = begin(p, KINF_N_TAIL_CALLS);
		uint64_t last = 0;
		kinfile_put(r, n = some(o->tail_calls.n, i));
		for (size_t k = i; k < i + n; k++) {
			const struct kept_tail_call *t = &o->tail_calls.at[k];
			kinfile_put_signed(r, t->addr - last);
			kinfile_put_signed(r, t->addr - t->to);
			kinfile_put(r, t->n);
			last = t->addr;
			for (uint32_t j = 0; j < kept_n_jumps(t); j++)
				kinfile_put_signed(r, t->jump[j] - (j ? t->jump[j - 1] : t->addr));
		}
	}
}

static void put_source(struct names_pen *p, const struct kept_source *s)
{
	size_t at = 0;
	p->object = NULL;
	do {
		size_t left = s->size - at, n = left < KINF_SOURCE_PIECE ? left : KINF_SOURCE_PIECE;
		begin(p, KINF_N_SOURCE);
		put_string(p, s->path);
		put_string(p, s->found);
		kinfile_put_text(&p->plain, s->text + at, n);
		at += n;
	} while (at < s->size);
}

uint8_t *kinfile_names_blocks(const struct kept *k, size_t *n)
{
	_Static_assert((int)KIN_MAX_TEXT >= (int)KINF_SOURCE_PIECE, "a piece is a text");
	_Static_assert((int)KEPT_NO_WAY == (int)KINF_N_NO_WAY, "it is written as it is");
	_Static_assert(2 * FULL_BLOCK + MOST_ENTRIES * 256 < KIN_MAX_PLAIN, "readers take it");
	struct names_pen p = { 0 };

	*n = 0;
	if (!k)
		return NULL;
	kinfile_packer_init(&p.packer, LEVEL);
	for (size_t i = 0; i < k->objects.n; i++) {
		const struct kept_object *o = p.object = k->objects.at[i];
		if (p.plain.bytes.n)
			put_object(&p, o);
		put_symbols(&p, o);
		put_aliases(&p, o);
		put_lines(&p, o);
		put_inlines(&p, o);
		put_code(&p, o);
		put_tail_calls(&p, o);
		if (!p.plain.bytes.n) /* it has no names: that is recorded, too */
			put_object(&p, o);
	}
	for (size_t i = 0; i < k->sources.n; i++)
		put_source(&p, &k->sources.at[i]);
	end_block(&p);
	kinfile_packer_done(&p.packer);
	map64_free(&p.strings);
	vec_free(&p.plain.bytes);
	*n = p.out.n;
	return p.out.at;
}

/* ---- appending to a recording ---- */

static struct kin_error *cannot(const char *path, const char *why)
{
	return err_new(KIN_ERROR_UNSUPPORTED, "%s: cannot be given names: %s", path, why);
}

/* The offset at which names begin: after the recorded data, by the header. */
static struct kin_error *find_end(int fd, const char *path, uint64_t *ret)
{
	struct kinf_header h;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_os(errno, "%s", path);
	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || h.magic != KINF_MAGIC)
		return cannot(path, "it is no .kin file");
	if (h.version > KINF_VERSION)
		return cannot(path, "a newer kin wrote it");
	if (h.size < KINF_PAGE || h.size > (uint64_t)st.st_size)
		return cannot(path, h.size ? "its end is missing" : "it came through a pipe");
	*ret = (h.size + 7) / 8 * 8;
	return NULL;
}

struct kin_error *kinfile_names_check(const char *path)
{
	uint64_t end;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct kin_error *err = fd < 0 ? err_os(errno, "%s", path) : find_end(fd, path, &end);
	if (fd >= 0)
		close(fd);
	return err;
}

static struct kin_error *append_to(const char *path, const uint8_t *names, size_t n)
{
	uint64_t end;
	struct kin_error *err = file_check_link(path);
	if (!err)
		err = kinfile_file_check_busy(path);
	if (err)
		return err;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return err_os(errno, "cannot write %s", path);
	err = flock(fd, LOCK_EX | LOCK_NB) ? cannot(path, "it is being written") : NULL;
	if (!err)
		err = find_end(fd, path, &end);
	if (!err && (ftruncate(fd, (off_t)end) < 0 ||
		     !kinfile_file_write(fd, &(struct iovec){ UNCONST(uint8_t *, names), n },
					 n ? 1 : 0, end))) {
		err = err_os(errno, "cannot write names to %s", path);
		(void)!ftruncate(fd, (off_t)end); /* readers ignore a partial block */
	}
	if (close(fd) < 0 && !err)
		err = err_os(errno, "cannot write names to %s", path);
	return err;
}

static struct kin_error *copy_to(const char *path, const char *to, const uint8_t *names, size_t n)
{
	struct file f;
	struct out *out;
	uint64_t end;
	struct kin_error *err = file_read(path, &(struct file_opts){ 0 }, &f);
	if (err)
		return err;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	err = fd < 0 ? err_os(errno, "%s", path) : find_end(fd, path, &end);
	if (fd >= 0)
		close(fd);
	if (!err && end > f.size)
		err = cannot(path, "it is being written");
	if (!err)
		err = out_open(to, 0600, &out);
	if (!err) {
		out_put(out, f.data, end);
		out_put(out, names, n);
		err = out_close(out);
	}
	file_free(&f);
	return err;
}

struct kin_error *kinfile_names_put(const char *path, const char *to, const struct kept *k,
				    uint64_t *n)
{
	size_t size;
	uint8_t *names = kinfile_names_blocks(k, &size);
	struct kin_error *err = to ? copy_to(path, to, names, size) : append_to(path, names, size);
	if (!err)
		*n = size;
	free(names);
	return err;
}

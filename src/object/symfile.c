/* symfile.c - gprof -S: symbols from a text file as nm or /proc/kallsyms print them.
 *
 * A line is ADDRESS TYPE NAME and anything after that. Lines of another shape, and types other than
 * T and t, are skipped. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include "object/candidates.h"

struct symfile_word {
	const char *at;
	size_t n;
};

struct symfile_entry {
	uint64_t addr;
	bool has_addr;
	char type;
	struct symfile_word name;
};

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	return p;
}

static struct symfile_word next_word(const char *p, const char *end)
{
	p = skip_blanks(p, end);
	struct symfile_word w = { p, 0 };
	while (p + w.n < end && p[w.n] && !isspace((unsigned char)p[w.n]))
		w.n++;
	return w;
}

/* The hexadecimal digits that w starts with. */
static bool parse_address(struct symfile_word w, uint64_t *ret)
{
	size_t i = w.n > 2 && w.at[0] == '0' && (w.at[1] | 32) == 'x' ? 2 : 0, start = i;
	uint64_t v = 0;
	for (; i < w.n && isxdigit((unsigned char)w.at[i]); i++) {
		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)num_hex_digit(w.at[i]);
	}
	if (i > start)
		*ret = v;
	return i > start;
}

/* If the first word is no number, ret->addr stays that of the previous symbol, at first 0. */
static bool parse_line(const char *p, const char *end, struct symfile_entry *ret)
{
	struct symfile_word address = next_word(p, end);
	p = skip_blanks(address.at + address.n, end);
	if (!address.n || p == end)
		return false;
	ret->type = *p++;
	ret->name = next_word(p, end);
	if (!ret->name.n || (ret->type != 'T' && ret->type != 't'))
		return false;
	ret->has_addr = parse_address(address, &ret->addr);
	return true;
}

static uint64_t limit_of(const struct object_file *o, uint64_t addr)
{
	size_t i = elf_file_code_after(o->main, addr);
	if (i < o->main->n_code && addr >= o->main->code[i].low)
		return o->main->code[i].high;
	return addr < o->text.high ? o->text.high : UINT64_MAX;
}

static bool take_listed(const struct listed_symbol *s, const struct symtab_opts *opts,
			struct candidate *ret)
{
	(void)ret;
	return s->has_addr && !(s->is_local && opts->no_static);
}

static void add_candidate(struct candidates *c, const struct symfile_entry *e,
			  const struct symtab_opts *opts, struct object_file *o)
{
	struct listed_symbol listed = { .has_addr = e->has_addr, .is_local = e->type == 't' };
	struct candidate taken = {
		.addr = e->addr,
		.limit = limit_of(o, e->addr),
		.position = (uint32_t)c->all.n,
		.flags = SYMBOL_FUNCTION | (listed.is_local ? SYMBOL_STATIC : 0),
		.rank = listed.is_local ? RANK_LOCAL : 0,
		.owner = NONE,
	};
	if (!(opts->rules ? opts->rules->take_listed : take_listed)(&listed, opts, &taken))
		return;
	taken.name = memcpy(arena_alloc_bytes(&o->arena, e->name.n + 1), e->name.at, e->name.n);
	vec_push(&c->all, taken);
}

static struct kin_error *cannot_open(struct kin_error *err, const char *path)
{
	int errnum = kin_error_errno(err);
	struct kin_error *own = errnum ? err_os(errnum, "%s", path)
				       : err_new(kin_error_kind(err), "%s", kin_error_message(err));
	kin_error_free(err);
	bool is_special = !errnum || errnum == EISDIR; /* a directory or device: no symbols */
	return err_about(own,
			 (struct err_facts){ is_special ? ERR_NO_SYMBOLS : ERR_NO_LIST, path });
}

struct kin_error *candidates_read(struct candidates *c, const char *path,
				  const struct symtab_opts *opts, struct object_file *o)
{
	struct file f;
	struct kin_error *err = file_read(path, &(struct file_opts){ .allow_fifo = true }, &f);
	if (err)
		return cannot_open(err, path);

	const char *p = (const char *)f.data, *end = p + f.size;
	struct symfile_entry e = { 0 };
	while (p < end && c->all.n < NONE) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *line_end = newline ? newline : end;
		if (parse_line(p, line_end, &e))
			add_candidate(c, &e, opts, o);
		p = newline ? newline + 1 : end;
	}
	file_free(&f);
	if (c->all.n)
		return NULL;
	return err_about(
		err_new(KIN_ERROR_FORMAT,
			"%s: no symbols: lines like \"0000000000401136 T main\" are expected, as "
			"nm prints them",
			path),
		(struct err_facts){ ERR_NO_SYMBOLS, path });
}

/* nameless.c - functions of stripped files that have no symbols: call-frame information says where
 * each starts. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/search.h"
#include "object/candidates.h"
#include "unwind/cfi.h"

/* The index of .eh_frame as linkers write it: a header, then for each function its start and its
 * entry's place, 4 bytes each, relative to the section. */
enum { VERSION = 1, COUNT_IS_U32 = 0x03, TABLE_IS_S32_RELATIVE = 0x3b, POINTER_IS_S32 = 0x1b };

static void add_code_at(struct candidates *c, struct object_file *o, uint64_t addr)
{
	size_t i = elf_file_code_after(o->main, addr);
	if (i == o->main->n_code || addr < o->main->code[i].low ||
	    o->main->sections[o->main->code[i].section].type == SHT_NOBITS)
		return;
	vec_push(&c->all,
		 ((struct candidate){ .addr = addr,
				      .limit = o->main->code[i].high,
				      .name = "", /* see nameless_name() */
				      .flags = SYMBOL_FUNCTION | SYMBOL_STATIC | SYMBOL_NAMELESS,
				      .rank = RANKS - 1, /* any name is better */
				      .owner = NONE }));
}

struct index {
	const uint8_t *at; /* [n], 8 bytes each, ascending if the linker made it */
	uint32_t n;
	uint64_t base;
	bool swap;
};

static uint64_t start_at(const struct index *x, uint32_t i)
{
	int32_t start = (int32_t)bytes_load(x->at + (size_t)i * 8, 4, x->swap);
	return x->base + (uint64_t)(int64_t)start;
}

/* Adds the functions that were hit, those behind them, where they end, and the first and the last.
 * (Not for a file with packed symbols: the owners of split parts need those behind them, too.) */
static void add_hit(struct candidates *c, struct object_file *o, const struct index *x,
		    const struct symtab_opts *opts)
{
	uint32_t from = 0; /* the first index that is not yet added */
	for (size_t k = 0; k <= opts->n_hits + 1; k++) {
		uint64_t hit = k && k <= opts->n_hits ? opts->hits[k - 1] : 0;
		uint32_t behind =
			from + (uint32_t)COUNT_WHILE(x->n - from, i, start_at(x, from + i) <= hit);
		uint32_t next = k > opts->n_hits ? x->n - 1 : hit ? behind : 1;
		uint32_t first = next && next - 1 > from ? next - 1 : from;
		for (uint32_t i = first; i <= next && i < x->n; i++) {
			add_code_at(c, o, start_at(x, i));
			from = i + 1;
		}
	}
}

/* False if there is no index of that kind: then entries must be read, ten times as large. */
static bool add_indexed(struct candidates *c, struct object_file *o, const struct symtab_opts *opts)
{
	const struct elf_section *s = elf_file_section(o->main, ".eh_frame_hdr");
	size_t n;
	const uint8_t *data = s ? elf_file_contents(o->main, s, &n) : NULL;
	struct bytes b = bytes_of(o->path, data, data ? n : 0);
	b.swap = bytes_other_order(object_big_endian(o));
	bool known = bytes_u8(&b) == VERSION;
	known &= bytes_u8(&b) == POINTER_IS_S32;
	known &= bytes_u8(&b) == COUNT_IS_U32;
	known &= bytes_u8(&b) == TABLE_IS_S32_RELATIVE;
	bytes_u32(&b);
	uint32_t count = bytes_u32(&b);
	if (b.failed || !known || !count || count > bytes_left(&b) / 8)
		return false;
	const struct index x = { .at = b.pos, .n = count, .base = s->addr, .swap = b.swap };
	if (opts->hits && !object_packed_file(o)) {
		add_hit(c, o, &x, opts);
		return true;
	}
	for (uint32_t i = 0; i < count; i++)
		add_code_at(c, o, start_at(&x, i));
	return true;
}

void candidates_add_nameless(struct candidates *c, struct object_file *o,
			     const struct symtab_opts *opts)
{
	if (!object_is_64bit(o) || object_big_endian(o) || add_indexed(c, o, opts))
		return;
	struct object_frames frames = object_frames(o);
	struct cfi_section s = {
		.machine = object_kind(o),
		.data = frames.eh_frame.data,
		.size = frames.eh_frame.size,
		.addr = frames.eh_frame.addr,
		.text_base = frames.text_addr,
		.data_base = frames.data_addr,
	};
	struct cfi_fde f = { 0 };

	if (!s.data)
		return;
	for (size_t at = 0; cfi_next(&s, &at, &f);)
		add_code_at(c, o, f.low);
}

void nameless_name(struct object_file *o, struct symbol_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		char text[24], *p = text + sizeof(text);
		if (!(t->at[i].flags & SYMBOL_NAMELESS))
			continue;
		*--p = '\0';
		*--p = ']';
		uint64_t v = t->at[i].addr;
		do
			*--p = "0123456789abcdef"[v & 15];
		while (v >>= 4);
		*--p = 'x';
		*--p = '0';
		*--p = '[';
		size_t n = (size_t)(text + sizeof(text) - p);
		t->at[i].name = memcpy(arena_alloc_bytes(&o->arena, n), p, n);
	}
}

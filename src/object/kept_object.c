/* kept_object.c - an object without its file, which answers from what a recording keeps of it. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "names/kept.h"
#include "object/object_private.h"

/* ---- opening ---- */

/* Makes each piece of kept code a section, as code is read by section. */
static void add_code(struct elf_file *f, const struct kept_object *k)
{
	f->sections = arena_alloc(&f->arena, (k->code.n + 1) * sizeof(*f->sections));
	f->sections[f->n_sections++] = (struct elf_section){ .name = "", .type = SHT_NULL };
	for (size_t i = 0; i < k->code.n; i++) {
		const struct kept_code *c = &k->code.at[i];
		uint8_t *contents = xalloc(c->size + 1);
		memcpy(contents, c->bytes, c->size);
		f->sections[f->n_sections++] =
			(struct elf_section){ .name = "",
					      .addr = c->addr,
					      .size = c->size,
					      .flags = SHF_ALLOC | SHF_EXECINSTR,
					      .type = SHT_PROGBITS,
					      .contents = contents };
	}
}

static struct elf_file *file_of(const struct kept_object *k)
{
	struct elf_file *f = xalloc(sizeof(*f));
	f->image.fd = -1;
	f->path = arena_printf(&f->arena, "%s", k->path);
	f->trouble = arena_alloc(&f->arena, sizeof(*f->trouble));
	f->image.header.e_machine = (uint16_t)k->machine;
	f->image.is_64bit = k->flags & KEPT_64BIT;
	f->image.swap = bytes_other_order(k->flags & KEPT_BIG_ENDIAN);
	add_code(f, k);
	return f;
}

struct object_file *object_of_kept(const struct kept_object *k)
{
	struct object_file *o = xalloc(sizeof(*o));
	o->kept = k;
	o->main = file_of(k);
	o->path = arena_printf(&o->arena, "%s", k->path);
	o->debug_dir = o->path;
	o->no_debug_files = o->sought_debug = o->sought_packed = o->sought_dwarf = true;
	size_t n = kept_id_length(k);
	o->build_id = n ? arena_printf(&o->arena, "%.*s", (int)n, k->build_id) : NULL;
	o->text = (struct address_range){ k->text_low, k->text_high };
	elf_file_find_code(o->main);
	return o;
}

/* ---- answers ---- */

static size_t first_symbol_from(const struct kept_object *k, uint64_t addr)
{
	return COUNT_WHILE(k->symbols.n, i, k->symbols.at[i].addr < addr);
}

struct symbol_table kept_symbols(const struct kept_object *k, const struct symtab_opts *opts)
{
	struct symbol_table t = { xalloc((k->symbols.n + 1) * sizeof(*t.at)), 0 };
	uint32_t *moved = xalloc((k->symbols.n + 1) * sizeof(*moved));
	for (size_t i = 0; i < k->symbols.n; i++) {
		const struct kept_symbol *s = &k->symbols.at[i];
		bool is_out = (opts->no_static && s->flags & SYMBOL_STATIC) ||
			      (opts->functions_only && !(s->flags & SYMBOL_FUNCTION));
		moved[i] = is_out ? NONE : (uint32_t)t.n;
		if (!is_out)
			t.at[t.n++] = (struct object_symbol){ .addr = s->addr,
							      .end = s->end,
							      .name = s->name,
							      .owner = (uint32_t)i,
							      .flags = s->flags,
							      .position = s->position };
	}
	for (size_t i = 0; i < t.n; i++) {
		const struct kept_symbol *s = &k->symbols.at[t.at[i].owner];
		size_t owner = first_symbol_from(k, s->owner);
		bool known = owner < k->symbols.n && k->symbols.at[owner].addr == s->owner;
		t.at[i].owner = known && moved[owner] != NONE ? moved[owner] : (uint32_t)i;
	}
	free(moved);
	return t;
}

void kept_each_name(const struct kept_object *k,
		    void (*see)(void *arg, const char *name, uint64_t addr), void *arg)
{
	for (size_t i = 0; i < k->symbols.n; i++)
		see(arg, k->symbols.at[i].name, k->symbols.at[i].addr);
	for (size_t i = 0; i < k->aliases.n; i++)
		see(arg, k->aliases.at[i].name, k->aliases.at[i].addr);
}

static size_t first_line_after(const struct kept_object *k, uint64_t addr)
{
	return COUNT_WHILE(k->lines.n, i, k->lines.at[i].end <= addr);
}

bool kept_place(const struct kept_object *k, uint64_t addr, struct srcloc *ret)
{
	size_t i = first_line_after(k, addr);
	if (i == k->lines.n || k->lines.at[i].addr > addr)
		return false;
	const struct kept_line *l = &k->lines.at[i];
	*ret = (struct srcloc){ l->function, l->file, l->line };
	return true;
}

struct line_run *kept_line_runs(const struct kept_object *k, struct address_range range, size_t *n)
{
	size_t i = first_line_after(k, range.low);
	struct line_run *ret = xrealloc(NULL, k->lines.n - i + 1, sizeof(*ret));
	for (*n = 0; i < k->lines.n && k->lines.at[i].addr < range.high; i++) {
		const struct kept_line *l = &k->lines.at[i];
		ret[(*n)++] = (struct line_run){ l->addr > range.low ? l->addr : range.low,
						 l->end < range.high ? l->end : range.high,
						 { l->function, l->file, l->line } };
	}
	return ret;
}

struct object_inline *kept_inlines(const struct kept_object *k, const uint64_t *addrs, size_t n,
				   size_t *count)
{
	VEC(struct object_inline) ret = { 0 };
	for (size_t i = 0, at = 0; i < n; i++) {
		while (at < k->inlines.n && k->inlines.at[at].addr < addrs[i])
			at++;
		for (size_t j = at; j < k->inlines.n && k->inlines.at[j].addr == addrs[i]; j++)
			vec_push(&ret, ((struct object_inline){ (uint32_t)i, k->inlines.at[j].depth,
								k->inlines.at[j].name,
								k->inlines.at[j].call_file,
								k->inlines.at[j].call_line }));
	}
	*count = ret.n;
	return ret.at;
}

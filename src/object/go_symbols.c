/* go_symbols.c - finds Go's own table of functions, which stripped programs have, too. */
#include "object/object_private.h"
#include "unwind/go_table.h"

static bool loaded_word(void *arg, uint64_t addr, size_t size, uint64_t *ret)
{
	return object_word(arg, addr, size, ret);
}

static bool is_code(void *arg, uint64_t low, uint64_t high)
{
	const struct object_file *o = arg;
	size_t i = object_code_after(o, low);
	return i < o->n_code && o->code[i].low <= low && high <= o->code[i].high &&
	       o->main->sections[o->code[i].section].type != SHT_NOBITS;
}

static bool open_table(struct object_file *o, struct go_table *ret)
{
	struct go_sections found = { 0 };
	const struct elf_file *f = o->main;
	for (size_t i = 1; i < f->n_sections; i++)
		if (f->sections[i].type == SHT_PROGBITS && f->sections[i].flags & SHF_ALLOC)
			go_sections_see(&found, f->sections[i].name, (uint32_t)i);
	const struct elf_section *s = &f->sections[go_sections_table(&found)];
	struct go_section at = { .addr = s->addr,
				 .module = f->sections[found.module].addr,
				 .swap = bytes_other_order(object_big_endian(o)),
				 .word = loaded_word,
				 .is_code = is_code,
				 .arg = o };
	at.data = s == f->sections ? NULL : elf_file_contents(f, s, &at.size);
	return at.data && go_table_open(&at, ret);
}

const struct go_table *object_go_table(struct object_file *o)
{
	struct go_table t;
	if (!o->sought_go && open_table(o, &t))
		o->go = arena_copy(&o->arena, &t, 1, sizeof(t));
	o->sought_go = true;
	return o->go;
}

/* go_symbols.c - names of functions from Go's own table, which stripped programs have, too. */
#include <string.h>

#include "object/candidates.h"
#include "unwind/go_table.h"

/* ---- where the table is ---- */

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

/* ---- symbols ---- */

static void add_function(struct candidates *c, const struct object_file *o,
			 const struct go_function *f, const char *name)
{
	size_t i = object_code_after(o, f->low);
	if (i == o->n_code || f->low < o->code[i].low || !*name)
		return;
	vec_push(&c->all, ((struct candidate){ .addr = f->low,
					       .limit = min_u64(f->high, o->code[i].high),
					       .name = name,
					       .position = (uint32_t)c->all.n,
					       .flags = SYMBOL_FUNCTION,
					       .owner = NONE }));
}

void candidates_add_go(struct candidates *c, struct object_file *o)
{
	const struct go_table *t = object_go_table(o);
	struct go_function f;
	uint64_t budget = t ? candidates_name_budget(t->n, bytes_left(&t->all)) : 0;
	for (uint64_t i = 0; t && i < t->n && c->all.n < NONE; i++) {
		const char *name =
			go_table_at(t, i, &f) ? go_table_name(t, &f, (size_t)budget) : NULL;
		if (!name)
			continue;
		budget -= strlen(name);
		add_function(c, o, &f, name);
	}
}

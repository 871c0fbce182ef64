/* go_symbols.c - names of functions from Go's own table, which stripped programs have, too. */
#include <string.h>

#include "object/candidates.h"
#include "unwind/go_table.h"

static void add_function(struct candidates *c, const struct object_file *o,
			 const struct go_function *f, const char *name)
{
	size_t i = elf_file_code_after(o->main, f->low);
	if (i == o->main->n_code || f->low < o->main->code[i].low || !*name)
		return;
	vec_push(&c->all, ((struct candidate){ .addr = f->low,
					       .limit = min_u64(f->high, o->main->code[i].high),
					       .name = name,
					       .position = (uint32_t)c->all.n,
					       .flags = SYMBOL_FUNCTION,
					       .owner = NONE }));
}

void candidates_add_go(struct candidates *c, struct object_file *o)
{
	const struct go_table *t = elf_file_go_table(o->main);
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

/* data.c - names of variables. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "object/object_private.h"

struct variables {
	VEC(struct object_symbol) at;
	uint64_t name_budget; /* bytes of names that may still be looked at */
};

static void gather(const struct elf_file *f, uint32_t type, struct variables *v)
{
	struct elf_symbols s;

	if (!f || !elf_file_symbols(f, type, &s))
		return;
	v->name_budget = 1 + 256 * (uint64_t)s.n + 4 * (uint64_t)s.strings_size;
	for (size_t i = 1; i < s.n && i < NONE; i++) {
		Elf64_Sym sym;
		uint32_t section;
		if (!elf_symbols_at(&s, i, &sym, &section) || section == SHN_UNDEF ||
		    ELF64_ST_TYPE(sym.st_info) != STT_OBJECT || !sym.st_size)
			continue;
		const char *name = elf_symbols_name(&s, &sym);
		size_t n = strnlen(name, v->name_budget);
		if (n == v->name_budget) /* the names overlap all over the string table */
			return;
		v->name_budget -= n;
		uint64_t end = sym.st_value + sym.st_size;
		if (*name && end > sym.st_value)
			vec_push(&v->at, ((struct object_symbol){ .addr = sym.st_value,
								  .end = end,
								  .name = name,
								  .position = (uint32_t)i }));
	}
}

static int by_address(const void *a, const void *b)
{
	const struct object_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

void object_variables(struct object_file *o, struct symbol_table *ret)
{
	struct variables v = { 0 };
	size_t n = 0;

	gather(o->main, SHT_SYMTAB, &v);
	if (!v.at.n && !o->no_debug_files)
		gather(object_debug_file(o), SHT_SYMTAB, &v);
	if (!v.at.n)
		gather(o->main, SHT_DYNSYM, &v);
	if (v.at.n)
		qsort(v.at.at, v.at.n, sizeof(*v.at.at), by_address);
	for (size_t i = 0; i < v.at.n; i++)
		if (!n || v.at.at[n - 1].addr != v.at.at[i].addr)
			v.at.at[n++] = v.at.at[i];
	*ret = (struct symbol_table){ v.at.at, n };
}

/* The function an address belongs to, by the symbol table alone, as BFD 2.40 finds it where DWARF
 * names none:
 *
 * Symbols of the address's own section count, whatever they are, except objects, thread-local ones,
 * sections and files, and hidden local ones without type and size (markers that annobin makes).
 * The nearest one at or before the address wins, even if it ends before it. Of several at one
 * place: if the best so far does not reach the address, the one that reaches further; otherwise,
 * among those that do reach it: functions before others, those with a type before those without,
 * the shorter one. */
#include <stdlib.h>

#include "object/lines_private.h"

struct elf_function {
	uint64_t addr, size;
	const char *name;
	uint32_t section;
	uint32_t position;
	uint8_t type;
};

struct elf_functions {
	VEC(struct elf_function) at; /* by section, address, position */
};

static int by_place(const void *a, const void *b)
{
	const struct elf_function *l = a, *r = b;
	if (l->section != r->section)
		return l->section < r->section ? -1 : 1;
	if (l->addr != r->addr)
		return l->addr < r->addr ? -1 : 1;
	return (l->position > r->position) - (l->position < r->position);
}

static bool may_be_function(const GElf_Sym *s)
{
	int type = GELF_ST_TYPE(s->st_info);
	if (type == STT_OBJECT || type == STT_TLS || type == STT_SECTION || type == STT_FILE ||
	    type == STT_COMMON || s->st_shndx == SHN_UNDEF)
		return false;
	return s->st_size || GELF_ST_BIND(s->st_info) != STB_LOCAL || type != STT_NOTYPE ||
	       GELF_ST_VISIBILITY(s->st_other) != STV_HIDDEN;
}

struct elf_functions *elf_functions_new(struct object_file *o)
{
	struct elf_functions *f = xalloc(sizeof(*f));
	struct elf_symbols symbols;
	if (!elf_file_symbols(o->main, SHT_SYMTAB, &symbols))
		return f;
	for (size_t i = 1; i < symbols.n; i++) {
		GElf_Sym s;
		uint32_t section;
		if (!elf_symbols_at(&symbols, i, &s, &section) || !may_be_function(&s))
			continue;
		vec_push(&f->at, ((struct elf_function){
					 .addr = s.st_value,
					 .size = s.st_size ? s.st_size : 1,
					 .name = elf_symbols_name(&symbols, &s),
					 .section = section,
					 .position = (uint32_t)i,
					 .type = GELF_ST_TYPE(s.st_info),
				 }));
	}
	if (f->at.n)
		qsort(f->at.at, f->at.n, sizeof(*f->at.at), by_place);
	return f;
}

void elf_functions_free(struct elf_functions *f)
{
	if (!f)
		return;
	vec_free(&f->at);
	free(f);
}

static bool is_better(const struct elf_function *s, const struct elf_function *best,
		      uint64_t offset)
{
	if (best->size <= offset)
		return s->size > best->size;
	if (s->size <= offset)
		return false;
	bool function = s->type == STT_FUNC, best_function = best->type == STT_FUNC;
	if (function != best_function)
		return function;
	bool typed = s->type != STT_NOTYPE, best_typed = best->type != STT_NOTYPE;
	if (typed != best_typed)
		return typed;
	return s->size < best->size;
}

const char *elf_functions_find(const struct elf_functions *f, uint32_t section, uint64_t addr,
			       uint64_t *start, uint64_t *until)
{
	size_t low = 0, high = f->at.n;
	*until = UINT64_MAX;
	while (low < high) { /* the first one after addr */
		size_t mid = low + (high - low) / 2;
		const struct elf_function *s = &f->at.at[mid];
		if (s->section < section || (s->section == section && s->addr <= addr))
			low = mid + 1;
		else
			high = mid;
	}
	if (low < f->at.n && f->at.at[low].section == section)
		*until = f->at.at[low].addr;
	if (!low || f->at.at[low - 1].section != section)
		return NULL;

	size_t first = low - 1;
	while (first && f->at.at[first - 1].section == section &&
	       f->at.at[first - 1].addr == f->at.at[low - 1].addr)
		first--;
	const struct elf_function *best = &f->at.at[first];
	uint64_t offset = addr - best->addr;
	for (size_t i = first; i < low; i++) {
		const struct elf_function *s = &f->at.at[i];
		if (is_better(s, best, offset))
			best = s;
		/* The answer may change where one of them ends. */
		if (s->size > offset && s->size - offset < *until - addr)
			*until = s->addr + s->size;
	}
	*start = best->addr;
	return best->name;
}

/* lines_elf.c - the function an address belongs to, by the symbol table alone, as BFD 2.40 finds it
 * where DWARF names none.
 *
 * Symbols of the address's own section count, whatever they are, except undefined ones, objects
 * (also thread-local and common ones), sections and files, and hidden local ones without type and
 * size (markers that annobin makes). The nearest one at or before the address wins, even if it ends
 * before the address; of several at one place the largest, and the first of these. But as long as
 * an address lies within the symbol found last, that is the answer, whatever begins there. A caller
 * that asks for one byte after the other never gets a symbol in the middle of a function, such as a
 * label. */
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "object/lines_private.h"

struct elf_function {
	uint64_t addr, size;
	uint64_t found; /* searches find it from this address on */
	const char *name;
	uint32_t section;
	uint32_t position;
};

struct elf_functions {
	VEC(struct elf_function) at; /* by section, then by found */
};

static int by_place(const void *a, const void *b)
{
	const struct elf_function *l = a, *r = b;
	if (l->section != r->section)
		return l->section < r->section ? -1 : 1;
	if (l->addr != r->addr)
		return l->addr < r->addr ? -1 : 1;
	if (l->size != r->size)
		return l->size > r->size ? -1 : 1;
	return ORDER(l->position, r->position);
}

static bool may_be_function(const Elf64_Sym *s)
{
	int type = ELF64_ST_TYPE(s->st_info);
	if (type == STT_OBJECT || type == STT_TLS || type == STT_SECTION || type == STT_FILE ||
	    type == STT_COMMON || s->st_shndx == SHN_UNDEF)
		return false;
	return s->st_size || ELF64_ST_BIND(s->st_info) != STB_LOCAL || type != STT_NOTYPE ||
	       ELF64_ST_VISIBILITY(s->st_other) != STV_HIDDEN;
}

/* Keeps the largest symbol at each place. */
static void keep_largest(struct elf_functions *f)
{
	size_t n = 0;
	for (size_t i = 0; i < f->at.n; i++) {
		const struct elf_function *s = &f->at.at[i], *last = n ? &f->at.at[n - 1] : NULL;
		if (!last || last->section != s->section || last->addr != s->addr)
			f->at.at[n++] = *s;
	}
	f->at.n = n;
}

/* Keeps the symbols that are found when all bytes are asked for in turn, and sets `found`. */
static void walk(struct elf_functions *f)
{
	const struct elf_function *last = NULL;
	struct elf_function passed; /* the last symbol that begins within *last */
	bool is_passed = false;
	size_t n = 0;
	for (size_t i = 0; i <= f->at.n; i++) {
		const struct elf_function *s = i < f->at.n ? &f->at.at[i] : NULL;
		bool near = s && last && s->section == last->section;
		if (is_passed && !(near && s->addr - last->addr <= last->size)) {
			passed.found = last->addr + last->size;
			f->at.at[n] = passed;
			last = &f->at.at[n++];
		}
		if (!s)
			break;
		is_passed = near && s->addr - last->addr < last->size;
		if (is_passed) {
			passed = *s;
			continue;
		}
		f->at.at[n] = *s;
		f->at.at[n].found = s->addr;
		last = &f->at.at[n++];
	}
	f->at.n = n;
}

struct elf_functions *elf_functions_new(struct object_file *o)
{
	struct elf_functions *f = xalloc(sizeof(*f));
	struct elf_symbols symbols;
	if (!elf_file_symbols(o->main, SHT_SYMTAB, &symbols))
		return f;
	for (size_t i = 1; i < symbols.n; i++) {
		Elf64_Sym s;
		uint32_t section;
		if (!elf_symbols_at(&symbols, i, &s, &section) || !may_be_function(&s))
			continue;
		vec_push(&f->at, ((struct elf_function){
					 .addr = s.st_value,
					 .size = s.st_size ? s.st_size : 1,
					 .name = elf_symbols_name(&symbols, &s),
					 .section = section,
					 .position = (uint32_t)i,
				 }));
	}
	elf_symbols_release(o->main, &symbols);
	if (f->at.n)
		qsort(f->at.at, f->at.n, sizeof(*f->at.at), by_place);
	keep_largest(f);
	walk(f);
	return f;
}

void elf_functions_free(struct elf_functions *f)
{
	if (!f)
		return;
	vec_free(&f->at);
	free(f);
}

static bool is_found_by(const struct elf_function *f, uint32_t section, uint64_t addr)
{
	return f->section < section || (f->section == section && f->found <= addr);
}

const char *elf_functions_find(const struct elf_functions *f, uint32_t section, uint64_t addr,
			       uint64_t *start, uint64_t *until)
{
	/* the first one that is found after addr */
	size_t low = COUNT_WHILE(f->at.n, i, is_found_by(&f->at.at[i], section, addr));
	*until = UINT64_MAX;
	if (low < f->at.n && f->at.at[low].section == section)
		*until = f->at.at[low].found;
	if (!low || f->at.at[low - 1].section != section)
		return NULL;
	*start = f->at.at[low - 1].addr;
	return f->at.at[low - 1].name;
}

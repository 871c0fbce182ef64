/* elf_code.c - a file's code and constant data as they are in memory before the program starts. */
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "machine/machine.h"
#include "object/elf_file.h"
#include "unwind/go_table.h"

const struct machine *elf_file_machine(const struct elf_file *f)
{
	const struct machine *m = machine_find(f->image.header.e_machine);
	/* 32-bit RISC-V has the same number, but other instructions */
	return m == &machine_riscv64 && !f->image.is_64bit ? NULL : m;
}

/* ---- sections ---- */

static int by_low(const void *a, const void *b)
{
	const struct code_range *l = a, *r = b;
	if (l->low != r->low)
		return l->low < r->low ? -1 : 1;
	return ORDER(l->section, r->section);
}

/* Sections that overlap (only hostile files have any) are cut where the next one starts. */
void elf_file_find_code(struct elf_file *f)
{
	VEC(struct code_range) v = { 0 };
	if (f->code)
		return;
	for (size_t i = 1; i < f->n_sections; i++) {
		const struct elf_section *s = &f->sections[i];
		if (!elf_section_is_code(s) || !s->size || s->addr + s->size < s->addr)
			continue;
		vec_push(&v, ((struct code_range){ s->addr, s->addr + s->size, (uint32_t)i }));
	}
	if (v.n)
		qsort(v.at, v.n, sizeof(*v.at), by_low);
	size_t kept = 0;
	for (size_t i = 0; i < v.n; i++) {
		if (i + 1 < v.n && v.at[i].high > v.at[i + 1].low)
			v.at[i].high = v.at[i + 1].low;
		if (v.at[i].low < v.at[i].high)
			v.at[kept++] = v.at[i];
	}
	v.n = kept;
	f->code = arena_copy(&f->arena, v.at, v.n, sizeof(*v.at));
	f->n_code = v.n;
	vec_free(&v);
}

size_t elf_file_code_after(const struct elf_file *f, uint64_t addr)
{
	return COUNT_WHILE(f->n_code, i, f->code[i].high <= addr);
}

const uint8_t *elf_file_code_part(const struct elf_file *f, uint64_t addr, size_t wanted,
				  size_t *size)
{
	size_t i = elf_file_code_after(f, addr), n;
	*size = 0;
	if (i == f->n_code || addr < f->code[i].low)
		return NULL;

	const struct code_range *r = &f->code[i];
	const struct elf_section *s = &f->sections[r->section];
	const uint8_t *bytes =
		wanted < s->size ? elf_file_unread_contents(f, s, &n) : elf_file_contents(f, s, &n);
	uint64_t skip = addr - s->addr, left = r->high - addr;
	if (!bytes || skip >= n)
		return NULL;
	*size = left < n - skip ? (size_t)left : n - (size_t)skip;
	if (*size > wanted)
		*size = wanted;
	elf_file_read_part(f, s, skip, skip + *size);
	return bytes + skip;
}

const uint8_t *elf_file_loaded(const struct elf_file *f, uint64_t addr, size_t wanted, size_t *size)
{
	const uint8_t *at = elf_file_code_part(f, addr, wanted, size);
	for (size_t i = 1; !at && i < f->n_sections; i++) {
		const struct elf_section *s = &f->sections[i];
		if (!(s->flags & SHF_ALLOC) || s->type != SHT_PROGBITS || addr < s->addr ||
		    addr - s->addr >= s->size)
			continue;
		const uint8_t *contents = elf_file_contents(f, s, size);
		if (!contents || addr - s->addr >= *size)
			break;
		*size -= (size_t)(addr - s->addr);
		at = contents + (addr - s->addr);
	}
	return at;
}

/* ---- addresses that the dynamic linker puts into data ---- */

static void read_section_words(struct elf_file *f, const struct elf_section *s, uint32_t relative)
{
	struct bytes b = elf_file_bytes(f, s);
	size_t size = elf_rela_size(&f->image, true);
	while (s->entsize == size && bytes_left(&b) >= size) {
		Elf64_Rela r = elf_rela(&f->image, &b, true);
		if (ELF64_R_TYPE(r.r_info) == relative)
			vec_push(&f->words,
				 ((struct elf_word){ r.r_offset, (uint64_t)r.r_addend }));
	}
}

static int by_address(const void *a, const void *b)
{
	const struct elf_word *l = a, *r = b;
	return ORDER(l->addr, r->addr);
}

static void read_words(struct elf_file *f)
{
	const struct machine *m = elf_file_machine(f);
	f->has_words = true;
	if (!m || !m->relative)
		return;
	for (size_t i = 1; i < f->n_sections; i++)
		if (f->sections[i].type == SHT_RELA && f->sections[i].flags & SHF_ALLOC)
			read_section_words(f, &f->sections[i], m->relative);
	if (f->words.n)
		qsort(f->words.at, f->words.n, sizeof(*f->words.at), by_address);
}

/* In position-independent code the table of addresses is empty in the file. */
static uint64_t word_at(struct elf_file *f, uint64_t addr, uint64_t in_file)
{
	struct elf_word key = { .addr = addr };
	if (!f->has_words)
		read_words(f);
	const struct elf_word *w =
		f->words.n ? bsearch(&key, f->words.at, f->words.n, sizeof(key), by_address) : NULL;
	return w ? w->value : in_file;
}

/* ---- Go's table ---- */

static bool loaded_word(void *arg, uint64_t addr, size_t size, uint64_t *ret)
{
	struct elf_file *f = arg;
	size_t left = 0;
	const uint8_t *p = elf_file_loaded(f, addr, size, &left);
	if (!p || left < size)
		return false;
	*ret = word_at(f, addr, bytes_load(p, size, f->image.swap));
	return true;
}

static bool is_code(void *arg, uint64_t low, uint64_t high)
{
	const struct elf_file *f = arg;
	size_t i = elf_file_code_after(f, low);
	return i < f->n_code && f->code[i].low <= low && high <= f->code[i].high &&
	       f->sections[f->code[i].section].type != SHT_NOBITS;
}

static bool open_go(struct elf_file *f, struct go_table *ret)
{
	struct go_sections found = { 0 };
	for (size_t i = 1; i < f->n_sections; i++)
		if (f->sections[i].type == SHT_PROGBITS && f->sections[i].flags & SHF_ALLOC)
			go_sections_see(&found, f->sections[i].name, (uint32_t)i);
	if (!go_sections_table(&found))
		return false;
	elf_file_find_code(f); /* for is_code() */
	const struct elf_section *s = &f->sections[go_sections_table(&found)];
	struct go_section at = { .addr = s->addr,
				 .module = f->sections[found.module].addr,
				 .swap = f->image.swap,
				 .word = loaded_word,
				 .is_code = is_code,
				 .arg = f };
	at.data = elf_file_contents(f, s, &at.size);
	return at.data && go_table_open(&at, ret);
}

const struct go_table *elf_file_go_table(struct elf_file *f)
{
	struct go_table t;
	if (!f->sought_go && open_go(f, &t))
		f->go = arena_copy(&f->arena, &t, 1, sizeof(t));
	f->sought_go = true;
	return f->go;
}

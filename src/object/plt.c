/* plt.c - names for the entries of the procedure linkage table, which have no symbols: "puts@plt".
 *
 * An entry jumps through a slot that the dynamic linker fills; the relocation of that slot says
 * which function it is for. Entries are found by decoding the code, as neither their order nor
 * their size is fixed. What lies before the first entry of such a section gets the section's
 * name. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "object/candidates.h"

struct plt_slot {
	uint64_t addr;
	const char *name;
};

struct resolver { /* the code of an indirect function: it returns the function to be called */
	uint64_t addr, slot;
};

struct plt {
	const struct machine *machine;
	struct object_file *o;
	struct candidates *c;
	VEC(struct plt_slot) slots;     /* by address */
	VEC(struct resolver) resolvers; /* by address */
	struct elf_symbols dynamic;
	uint64_t got;  /* address that i386's position-independent entries are relative to */
	size_t budget; /* bytes of names that may still be made */
};

/* ---- slots ---- */

enum relocation { OTHER, SYMBOL, RESOLVER };

static enum relocation classify(const struct machine *m, uint64_t type)
{
	if (type == m->jump_slot || type == m->glob_dat)
		return SYMBOL;
	return type == m->irelative ? RESOLVER : OTHER;
}

static void add_slot(struct plt *p, const struct elf_symbols *symbols, const Elf64_Rela *r)
{
	Elf64_Sym sym;
	uint32_t shndx;
	switch (classify(p->machine, ELF64_R_TYPE(r->r_info))) {
	case SYMBOL:
		if (elf_symbols_at(symbols, ELF64_R_SYM(r->r_info), &sym, &shndx))
			vec_push(&p->slots, ((struct plt_slot){ r->r_offset,
								elf_symbols_name(symbols, &sym) }));
		break;
	case RESOLVER:
		vec_push(&p->resolvers, ((struct resolver){ (uint64_t)r->r_addend, r->r_offset }));
		break;
	case OTHER:
		break;
	}
}

/* The number of relative relocations at the start of a section, which nearly all are. The linker
 * gives it, for the section of dynamic relocations only. */
static uint64_t count_relative(const struct elf_file *f, const struct elf_section *s)
{
	const struct elf_section *dynamic = elf_file_section(f, ".dynamic");
	struct bytes b = dynamic ? elf_file_bytes(f, dynamic) : (struct bytes){ 0 };
	bool is_section = false;
	uint64_t count = 0;
	while (bytes_left(&b) >= elf_dyn_size(&f->image)) {
		Elf64_Dyn d = elf_dyn(&f->image, &b);
		if (d.d_tag == DT_NULL)
			break;
		is_section |= d.d_tag == DT_RELA && d.d_un.d_ptr == s->addr;
		count = d.d_tag == DT_RELACOUNT ? d.d_un.d_val : count;
	}
	return is_section ? count : 0;
}

static void read_relocations(struct plt *p, const struct elf_section *s)
{
	const struct elf_file *f = p->o->main;
	const struct elf_symbols none = { .strings = "" };
	const struct elf_symbols *symbols = s->link == p->dynamic.section ? &p->dynamic : &none;
	bool addend = s->type == SHT_RELA;
	size_t n, size = elf_rela_size(&f->image, addend);
	uint64_t first = count_relative(f, s);
	const uint8_t *data = elf_file_unread_contents(f, s, &n);
	if (!data || s->entsize != size || first >= n / size)
		return;
	elf_file_read_part(f, s, first * size, n);
	struct bytes b = elf_bytes(&f->image, data + first * size, n - first * size);
	while (bytes_left(&b) >= size) {
		Elf64_Rela r = elf_rela(&f->image, &b, addend);
		add_slot(p, symbols, &r);
	}
}

static int compare_slots(const void *a, const void *b)
{
	const struct plt_slot *l = a, *r = b;
	return ORDER(l->addr, r->addr);
}

static int compare_resolvers(const void *a, const void *b)
{
	const struct resolver *l = a, *r = b;
	return ORDER(l->addr, r->addr);
}

static size_t first_resolver(const struct plt *p, uint64_t addr)
{
	return COUNT_WHILE(p->resolvers.n, i, p->resolvers.at[i].addr < addr);
}

static bool names_better(const struct candidate *c, const struct candidate *kept)
{
	return c->is_indirect != kept->is_indirect ? c->is_indirect : candidate_is_plainer(c, kept);
}

/* Names the slots of indirect functions by the symbols of their resolvers. */
static void name_resolvers(struct plt *p)
{
	uint32_t *best = xalloc(p->resolvers.n * sizeof(*best)); /* candidates, by first resolver */
	memset(best, 0xff, p->resolvers.n * sizeof(*best));
	for (size_t i = 0; i < p->c->all.n; i++) {
		const struct candidate *s = &p->c->all.at[i];
		size_t r = first_resolver(p, s->addr);
		if (r == p->resolvers.n || p->resolvers.at[r].addr != s->addr)
			continue;
		if (best[r] == NONE || names_better(s, &p->c->all.at[best[r]]))
			best[r] = (uint32_t)i;
	}
	for (size_t i = 0; i < p->resolvers.n; i++) {
		uint32_t found = best[first_resolver(p, p->resolvers.at[i].addr)];
		if (found != NONE)
			vec_push(&p->slots, ((struct plt_slot){ p->resolvers.at[i].slot,
								p->c->all.at[found].name }));
	}
	free(best);
}

static void find_slots(struct plt *p)
{
	const struct elf_file *f = p->o->main;
	if (!elf_file_symbols(f, SHT_DYNSYM, &p->dynamic))
		p->dynamic = (struct elf_symbols){ .strings = "" };
	for (size_t i = 1; i < f->n_sections; i++) {
		const struct elf_section *s = &f->sections[i];
		if ((s->type == SHT_RELA || s->type == SHT_REL) && s->flags & SHF_ALLOC)
			read_relocations(p, s);
	}
	if (p->resolvers.n) {
		qsort(p->resolvers.at, p->resolvers.n, sizeof(*p->resolvers.at), compare_resolvers);
		name_resolvers(p);
	}
	if (p->slots.n)
		qsort(p->slots.at, p->slots.n, sizeof(*p->slots.at), compare_slots);
}

static const char *slot_name(const struct plt *p, uint64_t addr)
{
	struct plt_slot key = { addr, NULL };
	const struct plt_slot *s =
		p->slots.n ? bsearch(&key, p->slots.at, p->slots.n, sizeof(key), compare_slots)
			   : NULL;
	return s && *s->name ? s->name : NULL;
}

/* ---- entries ---- */

static void add_entry(struct plt *p, uint64_t addr, uint64_t limit, const char *name)
{
	vec_push(&p->c->all, ((struct candidate){ .addr = addr,
						  .limit = limit,
						  .name = name,
						  .position = NONE,
						  .flags = SYMBOL_FUNCTION | SYMBOL_PLT,
						  .rank = RANK_LAST | RANK_LOCAL | RANK_LABEL,
						  .owner = NONE }));
}

/* NULL if a hostile file would make us write many times what it holds. */
static const char *entry_name(struct plt *p, const char *function)
{
	size_t n = strnlen(function, p->budget) + 5;
	bool fits = n <= p->budget;
	p->budget -= fits ? n : p->budget;
	if (!fits)
		return NULL;
	return arena_printf(&p->o->arena, "%s@plt", function);
}

static void scan_section(struct plt *p, const struct elf_section *s)
{
	const struct machine *m = p->machine;
	size_t n, step = m->plt_align;
	const uint8_t *code = elf_file_contents(p->o->main, s, &n);
	uint64_t limit = s->addr + s->size;

	if (!code || !n || limit < s->addr)
		return;
	add_entry(p, s->addr, limit, s->name);
	for (size_t i = 0, after = 0; i < n; i += step) {
		uint64_t slot, addr = s->addr + i;
		if (i < after) /* an entry with bti looks like one without at its second word */
			continue;
		bool is_entry = m->plt_slot(code + i, n - i, addr, p->got, &slot);
		const char *function = is_entry ? slot_name(p, slot) : NULL;
		const char *name = function ? entry_name(p, function) : NULL;
		if (!name)
			continue;
		if (i == 0)
			p->c->all.n--;
		add_entry(p, addr, limit, name);
		after = i + 8;
	}
}

void candidates_add_plt(struct candidates *c, struct object_file *o)
{
	const struct machine *m = object_kind(o);
	if (!m)
		return;

	struct plt p = { .machine = m, .o = o, .c = c, .budget = 64 * 1024 };
	const struct elf_section *got = elf_file_section(o->main, ".got.plt");
	if (!got)
		got = elf_file_section(o->main, ".got");
	p.got = got ? got->addr : 0;
	for (size_t i = 1; i < o->main->n_sections; i++)
		if (o->main->sections[i].type == SHT_STRTAB)
			p.budget += o->main->sections[i].size;
	find_slots(&p);
	for (size_t i = 1; i < o->main->n_sections; i++) {
		const struct elf_section *s = &o->main->sections[i];
		if (elf_section_is_code(s) &&
		    (!strncmp(s->name, ".plt", 4) || !strcmp(s->name, ".iplt")))
			scan_section(&p, s);
	}
	vec_free(&p.slots);
	vec_free(&p.resolvers);
}

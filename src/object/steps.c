/* steps.c - where control goes from each instruction, read from its bytes. */
#include <stdlib.h>

#include "base/sort.h"
#include "object/object_private.h"

struct walk {
	const struct machine *machine;
	void (*add)(const struct object_step *step, void *arg);
	void *arg;
};

static void add_step(const struct object_instruction *i, void *arg)
{
	const struct walk *w = arg;
	struct machine_step to = { 0 };

	w->machine->step(i->bytes, i->size, i->addr, &to);
	w->add(&(struct object_step){ .addr = i->addr,
				      .size = (uint32_t)i->size,
				      .target = to.target,
				      .kind = to.kind },
	       w->arg);
}

bool object_steps(struct object_file *o, uint64_t low, uint64_t high,
		  void (*add)(const struct object_step *step, void *arg), void *arg)
{
	struct walk w = { object_kind(o), add, arg };
	return object_instructions(o, low, high, false, add_step, &w);
}

/* ---- addresses that the dynamic linker puts into data ---- */

static void read_section_words(struct object_file *o, size_t index, uint32_t relative)
{
	const struct elf_section *s = &o->main->sections[index];
	Elf_Data *data = elf_file_data(o->main, index);
	size_t size = gelf_fsize(o->main->elf, ELF_T_RELA, 1, EV_CURRENT);
	GElf_Rela r;

	if (!data || !data->d_buf || s->entsize != size)
		return;
	for (size_t i = 0; i < data->d_size / size && i < INT32_MAX; i++)
		if (gelf_getrela(data, (int)i, &r) && GELF_R_TYPE(r.r_info) == relative)
			vec_push(&o->words,
				 ((struct object_word){ r.r_offset, (uint64_t)r.r_addend }));
}

static int by_address(const void *a, const void *b)
{
	const struct object_word *l = a, *r = b;
	return ORDER(l->addr, r->addr);
}

static void read_words(struct object_file *o)
{
	const struct machine *m = object_kind(o);

	o->has_words = true;
	if (!m || !m->relative)
		return;
	for (size_t i = 1; i < o->main->n_sections; i++)
		if (o->main->sections[i].type == SHT_RELA && o->main->sections[i].flags & SHF_ALLOC)
			read_section_words(o, i, m->relative);
	if (o->words.n)
		qsort(o->words.at, o->words.n, sizeof(*o->words.at), by_address);
}

/* In position-independent code the table of addresses is empty in the file. */
static uint64_t word_at(struct object_file *o, uint64_t addr, uint64_t in_file)
{
	struct object_word key = { .addr = addr };

	if (!o->has_words)
		read_words(o);
	const struct object_word *w =
		o->words.n ? bsearch(&key, o->words.at, o->words.n, sizeof(key), by_address) : NULL;
	return w ? w->value : in_file;
}

static const uint8_t *loaded_bytes(const struct object_file *o, uint64_t addr, size_t *size)
{
	for (size_t i = 0; i < o->main->n_sections; i++) {
		const struct elf_section *s = &o->main->sections[i];
		size_t n;
		if (!(s->flags & SHF_ALLOC) || s->type != SHT_PROGBITS || addr < s->addr ||
		    addr - s->addr >= s->size)
			continue;
		const uint8_t *bytes = elf_file_contents(o->main, s, &n);
		if (!bytes || addr - s->addr >= n)
			return NULL;
		*size = n - (size_t)(addr - s->addr);
		return bytes + (addr - s->addr);
	}
	return NULL;
}

bool object_word(struct object_file *o, uint64_t addr, size_t size, uint64_t *ret)
{
	size_t left = 0;
	const uint8_t *p = loaded_bytes(o, addr, &left);

	if (!p || left < size)
		return false;
	*ret = word_at(o, addr, bytes_load(p, size, bytes_other_order(object_big_endian(o))));
	return true;
}

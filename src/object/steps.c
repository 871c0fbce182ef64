/* steps.c - where control goes from each instruction, read from its bytes. */
#include "object/private.h"

static int32_t signed32(const uint8_t *p) { return (int32_t)machine_word(p); }

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
				      .kind = to.kind,
				      .ends_call = to.ends_call },
	       w->arg);
}

bool object_steps(struct object_file *o, uint64_t low, uint64_t high,
		  void (*add)(const struct object_step *step, void *arg), void *arg)
{
	struct walk w = { object_kind(o), add, arg };
	return object_instructions(o, low, high, false, add_step, &w);
}

/* ---- tables of jumps ---- */

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

static uint64_t entry(const uint8_t *p, size_t size, uint64_t relative_to)
{
	uint64_t low = (uint32_t)signed32(p);
	if (size == 8)
		return low | (uint64_t)(uint32_t)signed32(p + 4) << 32;
	return relative_to ? relative_to + (uint64_t)(int64_t)(int32_t)low : low;
}

size_t object_jump_table(const struct object_file *o, uint64_t addr, bool is_relative,
			 struct address_range range, void (*add)(uint64_t target, void *arg),
			 void *arg)
{
	size_t left = 0, n = 0, size = is_relative || !object_is_64bit(o) ? 4 : 8;
	const uint8_t *p = loaded_bytes(o, addr, &left);

	for (; p && left >= size; p += size, left -= size, n++) {
		uint64_t target = entry(p, size, is_relative ? addr : 0);
		if (target < range.low || target >= range.high)
			break;
		add(target, arg);
	}
	return n;
}

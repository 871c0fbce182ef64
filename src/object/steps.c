/* steps.c - where control goes from each instruction, read from its bytes. */
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

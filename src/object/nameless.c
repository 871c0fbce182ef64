/* Functions that no symbol names, of stripped files: unwinders know where each starts. */
#include <inttypes.h>

#include "base/arena.h"
#include "object/candidates.h"
#include "unwind/cfi.h"

static void add_code_at(struct candidates *c, struct object_file *o, const struct cfi_fde *f)
{
	size_t size;
	if (!object_code(o, f->low, &size))
		return;
	vec_push(&c->all,
		 ((struct candidate){ .addr = f->low,
				      .limit = f->low + size,
				      .name = arena_printf(&o->arena, "[0x%" PRIx64 "]", f->low),
				      .flags = SYMBOL_FUNCTION | SYMBOL_STATIC | SYMBOL_NAMELESS,
				      .rank = RANKS - 1, /* behind any name */
				      .owner = NONE }));
}

void candidates_add_nameless(struct candidates *c, struct object_file *o)
{
	struct object_frames frames = object_frames(o);
	struct cfi_section s = {
		.machine = object_kind(o),
		.data = frames.eh_frame.data,
		.size = frames.eh_frame.size,
		.addr = frames.eh_frame.addr,
		.text_base = frames.text_addr,
		.data_base = frames.data_addr,
	};
	struct cfi_fde f = { 0 };

	if (!s.data)
		return;
	for (size_t at = 0; cfi_next(&s, &at, &f);)
		add_code_at(c, o, &f);
}

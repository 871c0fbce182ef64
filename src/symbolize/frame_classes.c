/* frame_classes.c - looks frames up in their files' functions, as programs will do. */
#include "symbolize/frame_classes.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/vec.h"
#include "symbolize/program_private.h"
#include "symbolize/recorded.h"

/* For larger files programs read only the symbols that were hit, so their frames are not looked up;
 * nor are those of small recordings, where reading a table costs more than it saves. */
enum { DATA_PER_TABLE = 32 };

struct frame_classes {
	struct frame_classes_opts opts;
	struct program_files *files;
	VEC(bool) looked;   /* [object]: whether it has functions is known */
	struct map64 first; /* (object and level, function): the first frame */
	struct map64 call;  /* (that frame, the function called there or NONE): the first frame */
};

struct frame_classes *frame_classes_new(const struct frame_classes_opts *opts)
{
	struct frame_classes *c = xalloc(sizeof(*c));

	c->opts = *opts;
	c->files = xalloc(sizeof(*c->files));
	return c;
}

void frame_classes_free(struct frame_classes *c)
{
	if (!c)
		return;
	program_files_free(c->files);
	vec_free(&c->looked);
	map64_free(&c->first);
	map64_free(&c->call);
	free(c);
}

static bool pays(const struct frame_classes *c, uint64_t table)
{
	return table <= SYMBOLS_LARGE && table <= c->opts.data / DATA_PER_TABLE;
}

/* Failures are reported when a program opens the object again. */
static void open_object(struct frame_classes *c, const struct profile *p, objid id)
{
	struct symbols_opts opts = { .table.exact = true };
	struct recorded_opts how = { .debug_dir = c->opts.debug_dir, .symfs = c->opts.symfs };
	struct kin_error *instead = NULL;

	program_files_grow(c->files, p->n_objects);
	struct object_file **at = &c->files->at[id];
	struct kin_error *err = recorded_object(p, id, &how, at, &instead);
	if (!err && instead) { /* names from elsewhere: programs report that */
		object_free(*at);
		*at = NULL;
	}
	if (*at && !(c->opts.inlines && object_has_dwarf(*at)) && pays(c, object_table_bytes(*at)))
		kin_error_free(symbols_new(*at, &opts, &c->files->symbols[id]));
	kin_error_free(instead);
	kin_error_free(err);
}

static const struct symbols *symbols_of(struct frame_classes *c, const struct profile *p, objid id)
{
	while (c->looked.n <= id)
		vec_push(&c->looked, false);
	if (!c->looked.at[id] && p->objects[id].kind == OBJECT_ELF)
		open_object(c, p, id);
	c->looked.at[id] = true;
	return id < c->files->n ? c->files->symbols[id] : NULL;
}

frameid frame_classes_first(struct frame_classes *c, const struct profile *p, frameid frame)
{
	enum { LEVEL_BITS = 4 };
	const struct frame *f = &p->samples.frames[frame];
	const struct symbols *s = f->name ? NULL : symbols_of(c, p, f->object);
	uint32_t level = f->flags & ~(uint32_t)FRAME_RETURN;

	if (!s || f->object >> (32 - LEVEL_BITS) || level >> LEVEL_BITS)
		return frame;
	bool is_call = program_is_return(c->files->at[f->object], s, f);
	symid id = symbols_find(s, f->addr - is_call);
	if (id == NONE)
		return frame;
	uint32_t *first = map64_at(&c->first, MAP64_PAIR(f->object << LEVEL_BITS | level, id));
	if (*first == NONE)
		*first = frame;
	if (!c->opts.calls)
		return *first;
	uint64_t target;
	bool is_direct = is_call && object_call_before(c->files->at[f->object], f->addr, &target);
	symid callee = is_direct ? symbols_find_start(s, target) : NONE;
	uint32_t *call = map64_at(&c->call, MAP64_PAIR(*first, callee));
	if (*call == NONE)
		*call = frame;
	return *call;
}

struct program_files *frame_classes_take_files(struct frame_classes *c, const struct profile *p)
{
	program_files_grow(c->files, p->n_objects);
	return TAKE(c->files);
}

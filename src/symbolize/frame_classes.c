/* frame_classes.c - looks frames up in their files' functions, as programs will do. */
#include "symbolize/frame_classes.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/vec.h"
#include "symbolize/program_private.h"
#include "symbolize/recorded.h"

/* For larger files programs read only the symbols that were hit, so their frames are not looked up.
 */
enum { TABLES_MAX = 1 << 20 };

/* A table is read once there are so many frames in its file that it pays: one for this many bytes.
 */
enum { BYTES_PER_FRAME = 256 };

struct classed_object {
	bool opened, read;
	uint64_t table; /* bytes of its symbols; 0: they are not to be read */
	uint64_t frames;
};

struct frame_classes {
	struct frame_classes_opts opts;
	struct program_files *files;
	VEC(struct classed_object) objects; /* [object] */
	struct map64 first;                 /* (object and level, function): the first frame */
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
	vec_free(&c->objects);
	map64_free(&c->first);
	free(c);
}

/* Failures are reported when a program tries it again. */
static void open_object(struct frame_classes *c, const struct profile *p, objid id)
{
	struct recorded_opts how = { .debug_dir = c->opts.debug_dir, .symfs = c->opts.symfs };
	struct kin_error *instead = NULL;

	program_files_grow(c->files, p->n_objects);
	struct object_file **at = &c->files->at[id];
	struct kin_error *err = recorded_object(p, id, &how, at, &instead);
	if (!err && instead) { /* programs say so */
		object_free(*at);
		*at = NULL;
	}
	uint64_t bytes =
		*at && !(c->opts.inlines && object_has_dwarf(*at)) ? object_table_bytes(*at) : 0;
	c->objects.at[id].table = bytes <= TABLES_MAX ? bytes : 0;
	kin_error_free(instead);
	kin_error_free(err);
}

/* Where the first frame of its class is noted; NULL: it is a class of its own. */
static uint32_t *class_of(struct frame_classes *c, const struct frame *f)
{
	enum { LEVEL_BITS = 4 };
	const struct symbols *s = c->files->symbols[f->object];
	uint32_t level = f->flags & ~(uint32_t)FRAME_RETURN;

	if (f->name || f->object >> (32 - LEVEL_BITS) || level >> LEVEL_BITS)
		return NULL;
	bool is_call = program_is_return(c->files->at[f->object], s, f);
	symid id = symbols_find(s, f->addr - is_call);
	return id == NONE ? NULL
			  : map64_at(&c->first, MAP64_PAIR(f->object << LEVEL_BITS | level, id));
}

static frameid first_in_class(struct frame_classes *c, const struct frame *frames, frameid frame)
{
	uint32_t *first = class_of(c, &frames[frame]);
	if (!first)
		return frame;
	if (*first == NONE)
		*first = frame;
	return *first;
}

/* Frames before this one keep what they were told, and stand for those that come. */
static void read_symbols(struct frame_classes *c, const struct profile *p, objid id, frameid frame)
{
	struct symbols_opts opts = { .table.exact = true };
	const struct frame *frames = p->samples.frames;

	kin_error_free(symbols_new(c->files->at[id], &opts, &c->files->symbols[id]));
	for (frameid i = 1; c->files->symbols[id] && i < frame; i++)
		if (frames[i].object == id)
			first_in_class(c, frames, i);
}

frameid frame_classes_first(struct frame_classes *c, const struct profile *p, frameid frame)
{
	const struct frame *f = &p->samples.frames[frame];
	objid id = f->object;

	if (f->name || p->objects[id].kind != OBJECT_ELF)
		return frame;
	while (c->objects.n <= id)
		vec_push(&c->objects, ((struct classed_object){ 0 }));
	struct classed_object *o = &c->objects.at[id];
	if (!o->opened)
		open_object(c, p, id);
	o->opened = true;
	o->frames++;
	if (!o->read && o->table && o->frames * BYTES_PER_FRAME >= o->table) {
		read_symbols(c, p, id, frame);
		o->read = true;
	}
	return c->files->symbols[id] ? first_in_class(c, p->samples.frames, frame) : frame;
}

struct program_files *frame_classes_take_files(struct frame_classes *c, const struct profile *p)
{
	program_files_grow(c->files, p->n_objects);
	return TAKE(c->files);
}

/* path_frames.c - finds the places of each frame on a path. */
#include <stdlib.h>

#include "base/vec.h"
#include "paths/path_tree.h"

struct path_frame_maker {
	struct path_frames frames;
	VEC(symid) places;
};

static struct path_frame_maker begin(size_t n_frames)
{
	return (struct path_frame_maker){ .frames.first =
						  xalloc((n_frames + 1) * sizeof(uint32_t)) };
}

static void end_frame(struct path_frame_maker *m, size_t frame)
{
	m->frames.first[frame + 1] = (uint32_t)m->places.n;
}

static struct path_frames end(struct path_frame_maker *m)
{
	m->frames.places = m->places.at;
	return m->frames;
}

struct path_frames path_frames_of_functions(struct program *g, const struct samples *s,
					    const symid *places, bool no_inlines)
{
	const struct symbol *at = program_symbols(g)->at;
	struct path_frame_maker m = begin(s->n_frames);
	for (size_t i = 0; i < s->n_frames; i++) {
		size_t n = 0;
		const symid *inlines = i && !no_inlines ? program_inlines(g, (frameid)i, &n) : NULL;
		bool left_out = !i || (no_inlines && s->frames[i].flags & FRAME_INLINED);
		if (!left_out && places[i] != NONE)
			vec_push(&m.places, places[i]);
		while (n)
			vec_push(&m.places, at[inlines[--n]].owner);
		end_frame(&m, i);
	}
	return end(&m);
}

void path_frames_free(struct path_frames *f)
{
	free(f->first);
	free(f->places);
	*f = (struct path_frames){ 0 };
}

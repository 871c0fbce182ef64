/* api_namer.c - names each frame once, and keeps them. */
#include "api/api_namer.h"

#include <stdlib.h>
#include <string.h>

#include "base/short_name.h"

static void add_name(struct namer *n, const char *name, uint32_t flags)
{
	size_t length = strlen(name);
	const char *shown = n->full_names ? name : bare_name(name, &length);
	char *text =
		memcpy(xalloc(length + 1), shown, length); /* for each frame: not by printf() */
	vec_push(&n->texts, text);
	vec_push(&n->names, ((struct folded_name){ text, flags }));
}

/* What cannot be named is its object's: "[libfoo.so]". */
static void add_object(struct namer *n, objid object, uint32_t flags)
{
	const char *path = program_object_name(n->g, object);
	char *text = path[0] == '[' ? xprintf("%s", path) : xprintf("[%s]", base_name(path));
	vec_push(&n->texts, text);
	vec_push(&n->names, ((struct folded_name){ text, flags }));
}

static void forget(struct namer *n)
{
	for (size_t i = 0; i < n->texts.n; i++)
		free(n->texts.at[i]);
	n->texts.n = n->names.n = 0;
}

const struct folded_name *namer_names(void *arg, frameid id, size_t *ret)
{
	struct namer *n = arg;
	const struct frame *f = &n->p->samples.frames[id];
	symid place = program_place(n->g, id);
	size_t inlined;
	const symid *list = program_inlines(n->g, id, &inlined);

	const char *name = program_name(n->g, place);

	forget(n);
	if (program_kind(n->g, place) == PLACE_UNKNOWN || !strcmp(name, "[unknown]"))
		add_object(n, f->object, f->flags);
	else
		add_name(n, name, f->flags);
	while (inlined)
		add_name(n, program_name(n->g, list[--inlined]), f->flags | FRAME_INLINED);
	*ret = n->names.n;
	return n->names.at;
}

void namer_done(struct namer *n)
{
	forget(n);
	vec_free(&n->texts);
	vec_free(&n->names);
}

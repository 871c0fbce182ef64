/* api_namer.c - names each function once, and keeps the names. */
#include "api/api_namer.h"

#include <stdlib.h>
#include <string.h>

#include "base/short_name.h"

/* The slot for `id` in a list of texts by id. */
static char **text_at(struct namer_texts *texts, uint32_t id)
{
	while (texts->n <= id)
		vec_push(texts, NULL);
	return &texts->at[id];
}

static char *short_text(const struct namer *n, const char *name)
{
	size_t length = strlen(name);
	const char *shown = n->full_names ? name : bare_name(name, &length);
	return memcpy(xalloc(length + 1), shown, length);
}

static void add_name(struct namer *n, symid place, uint32_t flags)
{
	char **text = text_at(&n->places, place);
	if (!*text)
		*text = short_text(n, program_name(n->g, place));
	vec_push(&n->names, ((struct folded_name){ *text, flags }));
}

static void add_object(struct namer *n, objid object, uint32_t flags)
{
	char **text = text_at(&n->objects, object);
	if (!*text)
		*text = program_object_code(n->g, object);
	vec_push(&n->names, ((struct folded_name){ *text, flags }));
}

const struct folded_name *namer_names(void *arg, frameid id, size_t *ret)
{
	struct namer *n = arg;
	const struct frame *f = &n->p->samples.frames[id];
	symid place = program_place(n->g, id);
	size_t inlined;
	const symid *list = program_inlines(n->g, id, &inlined);

	n->names.n = 0;
	if (program_kind(n->g, place) == PLACE_UNKNOWN ||
	    !strcmp(program_name(n->g, place), "[unknown]"))
		add_object(n, f->object, f->flags);
	else
		add_name(n, place, f->flags);
	while (inlined)
		add_name(n, list[--inlined], f->flags | FRAME_INLINED);
	*ret = n->names.n;
	return n->names.at;
}

static void free_texts(struct namer_texts *texts)
{
	for (size_t i = 0; i < texts->n; i++)
		free(texts->at[i]);
	vec_free(texts);
}

void namer_done(struct namer *n)
{
	free_texts(&n->places);
	free_texts(&n->objects);
	vec_free(&n->names);
}

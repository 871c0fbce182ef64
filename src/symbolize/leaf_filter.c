/* leaf_filter.c - selects samples by the names of their innermost frames, each tested once. */
#include "symbolize/leaf_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/wordlist.h"

struct leaf_filter {
	const struct profile *p;
	struct program *g;
	VEC(char *) functions;
	const char *objects; /* NULL: all */
	bool no_inlines;     /* inlined functions count as a part of the function around them */
	uint8_t *places;     /* [place]: 0 not known, 1 no, 2 yes; NULL: all */
};

struct leaf_filter *leaf_filter_new(const struct profile *p, struct program *g,
				    const char *functions, const char *objects, bool no_inlines)
{
	struct leaf_filter *f = xalloc(sizeof(*f));

	f->p = p;
	f->g = g;
	f->objects = objects;
	f->no_inlines = no_inlines;
	if (functions)
		f->places = xalloc(program_symbols(g)->n + 1);
	struct word w;
	while (words_next_name(&functions, &w))
		vec_push(&f->functions, xprintf("%.*s", (int)w.n, w.s));
	return f;
}

void leaf_filter_free(struct leaf_filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->functions.n; i++)
		free(f->functions.at[i]);
	vec_free(&f->functions);
	free(f->places);
	free(f);
}

static bool is_listed(const char *list, const char *name)
{
	struct word w;
	while (words_next_name(&list, &w))
		if (word_is(w, name))
			return true;
	return false;
}

static bool is_in_object(const struct leaf_filter *f, stackid stack)
{
	const struct samples *s = &f->p->samples;
	const char *path = program_object_name(f->g, s->frames[s->stacks[stack].frame].object);
	const char *slash = strrchr(path, '/');
	return stack &&
	       (is_listed(f->objects, path) || (slash && is_listed(f->objects, slash + 1)));
}

static bool is_called_so(const struct leaf_filter *f, symid place)
{
	for (size_t i = 0; i < f->functions.n; i++)
		if (symbols_is_called(program_symbols(f->g), place, f->functions.at[i]))
			return true;
	return false;
}

bool leaf_filter_names(struct leaf_filter *f, stackid stack)
{
	frameid frame = f->p->samples.stacks[stack].frame;
	size_t n;
	const symid *inlines = program_inlines(f->g, frame, &n);
	symid place = n ? inlines[0] : program_place(f->g, frame);

	if (place == NONE)
		return false;
	if (!f->places[place])
		f->places[place] = is_called_so(f, place) ? 2 : 1;
	return f->places[place] == 2;
}

bool leaf_filter_passes(struct leaf_filter *f, const struct sample *s)
{
	stackid leaf = f->no_inlines ? samples_physical(&f->p->samples, s->stack) : s->stack;
	return (!f->places || leaf_filter_names(f, leaf)) && (!f->objects || is_in_object(f, leaf));
}

/* inlined_into.c - finds what a function was inlined into, by the name that a user gives: looks up
 * every address of the profile in the debug information. */
#include "symbolize/inlined_into.h"

#include <stdlib.h>
#include <string.h>

#include "base/function_name.h"
#include "base/people_name.h"
#include "base/sort.h"
#include "base/vec.h"

struct inlined_site {
	uint64_t addr;
	symid into;
};

struct inlined_search {
	struct program *g;
	const struct profile *p;
	const char *name;
	char *word; /* function_name_word() of the name; NULL: there is none */
	VEC(struct inlined_site) sites;
	VEC(symid) found;
};

/* ---- comparing names ---- */

bool inlined_is_called(const char *raw, const char *name, enum demangle_style style)
{
	char *readable = demangle(raw, style);
	bool is_it = !strcmp(raw, name) || people_name_is(readable ? readable : raw, name);
	free(readable);
	return is_it;
}

static bool is_called(const struct inlined_search *x, const char *raw)
{
	return (!x->word || strstr(raw, x->word)) &&
	       inlined_is_called(raw, x->name, program_symbols(x->g)->opts.style);
}

/* ---- places ---- */

static void find_sites(struct inlined_search *x, objid object)
{
	const struct samples *s = &x->p->samples;
	x->sites.n = 0;
	for (frameid i = 1; i < s->n_frames; i++)
		if (s->frames[i].object == object && !s->frames[i].name)
			vec_push(&x->sites, ((struct inlined_site){ program_instruction(x->g, i),
								    program_place(x->g, i) }));
	for (size_t i = 0; i < x->p->n_arcs; i++) {
		struct arc a = arc_at(&x->p->arcs, i);
		symid into = a.from_object == object && a.from
				     ? program_find(x->g, object, a.from - 1)
				     : NONE;
		if (into != NONE)
			vec_push(&x->sites, ((struct inlined_site){ a.from - 1, into }));
	}
}

static int by_addr(const void *l, const void *r)
{
	const struct inlined_site *a = l, *b = r;
	return ORDER(a->addr, b->addr);
}

static void look_in(struct inlined_search *x, struct object_file *o, objid object)
{
	size_t count;
	find_sites(x, object);
	if (!x->sites.n)
		return;
	qsort(x->sites.at, x->sites.n, sizeof(*x->sites.at), by_addr);
	uint64_t *addrs = xrealloc(NULL, x->sites.n, sizeof(*addrs));
	for (size_t i = 0; i < x->sites.n; i++)
		addrs[i] = x->sites.at[i].addr;
	struct object_inline *list = object_inlines(o, addrs, x->sites.n, &count);
	const char *last = NULL; /* equal names follow each other */
	bool is_it = false;
	for (size_t i = 0; i < count; i++) {
		if (!last || strcmp(last, list[i].name) != 0)
			is_it = is_called(x, list[i].name);
		last = list[i].name;
		symid into = is_it ? x->sites.at[list[i].address].into : NONE;
		if (into != NONE)
			vec_push(&x->found, program_symbols(x->g)->at[into].owner);
	}
	free(list);
	free(addrs);
}

static int by_number(const void *l, const void *r)
{
	symid a = *(const symid *)l, b = *(const symid *)r;
	return ORDER(a, b);
}

symid *inlined_into(struct program *g, const struct profile *p, const char *name, size_t *n)
{
	struct inlined_search x = { .g = g, .p = p, .name = name };
	const char *word = function_name_word(name, n);

	x.word = word ? xprintf("%.*s", (int)*n, word) : NULL;
	for (objid id = 0; id < p->n_objects; id++) {
		struct object_file *o = program_object_file(g, id);
		if (o)
			look_in(&x, o, id);
	}
	if (x.found.n)
		qsort(x.found.at, x.found.n, sizeof(*x.found.at), by_number);
	*n = 0;
	for (size_t i = 0; i < x.found.n; i++)
		if (!i || x.found.at[i] != x.found.at[i - 1])
			x.found.at[(*n)++] = x.found.at[i];
	free(x.word);
	vec_free(&x.sites);
	return x.found.at;
}

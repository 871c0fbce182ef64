/* bsd_select.c - marks the functions that -E, -e, -F, -f and -k name. */
#include "gnu/bsd_select.h"

#include <stdlib.h>
#include <string.h>

/* Functions that the BSDs leave out, and names of the same functions in other C libraries. */
static const char *const left_out[] = { ".mcount", "_mcleanup", NULL };

struct found {
	const char *name;
	VEC(symid) ids; /* ascending */
};

struct bsd_search { /* sorted by name, without duplicates */
	VEC(struct found) names;
};

static int by_name(const void *l, const void *r)
{
	return strcmp(((const struct found *)l)->name, ((const struct found *)r)->name);
}

static struct found *find(const struct bsd_search *s, const char *name)
{
	struct found key = { .name = name };
	return bsearch(&key, s->names.at, s->names.n, sizeof(key), by_name);
}

static void add_name(struct bsd_search *s, const char *name)
{
	vec_push(&s->names, (struct found){ .name = name });
}

static void add_names(struct bsd_search *s, const char *const *list)
{
	for (; *list; list++)
		add_name(s, *list);
}

static void sort_names(struct bsd_search *s)
{
	size_t n = 0;

	qsort(s->names.at, s->names.n, sizeof(*s->names.at), by_name);
	for (size_t i = 0; i < s->names.n; i++)
		if (!n || strcmp(s->names.at[n - 1].name, s->names.at[i].name) != 0)
			s->names.at[n++] = s->names.at[i];
	s->names.n = n;
}

static void find_symbols(struct bsd_search *s, const struct symbols *symbols)
{
	for (symid i = 0; i < symbols->n; i++) {
		const char *name = symbols->at[i].name;
		struct found *whole = find(s, name);
		struct found *stripped = name[0] == '_' ? find(s, name + 1) : NULL;
		if (whole)
			vec_push(&whole->ids, i);
		if (stripped)
			vec_push(&stripped->ids, i);
	}
}

static void free_search(struct bsd_search *s)
{
	for (size_t i = 0; i < s->names.n; i++)
		vec_free(&s->names.at[i].ids);
	vec_free(&s->names);
}

/* ---- applying specs ---- */

static void add_all(struct selection *sel, enum sel table, const struct found *f)
{
	for (size_t i = 0; i < f->ids.n; i++)
		selection_add(sel, table, f->ids.at[i]);
}

static void exclude(struct selection *sel, const struct bsd_search *s, const char *const *list)
{
	for (; *list; list++) {
		add_all(sel, SEL_EXCL_GRAPH, find(s, *list));
		add_all(sel, SEL_EXCL_TIME, find(s, *list));
	}
}

static symid *copy(const struct found *f)
{
	symid *ids = xrealloc(NULL, f->ids.n, sizeof(*ids));
	memcpy(ids, f->ids.at, f->ids.n * sizeof(*ids));
	return ids;
}

static void exclude_calls(struct selection *sel, const struct found *from, const struct found *to)
{
	struct sel_arc arc = { copy(from), copy(to), from->ids.n, to->ids.n };
	selection_add_arc(sel, false, arc);
}

static bool warned(const struct bsd_spec *spec, const struct found *f, FILE *warnings)
{
	if (!f->ids.n)
		fprintf(warnings, "gprof: warning: -%c: there is no function '%s'\n", spec->letter,
			f->name);
	return !f->ids.n;
}

static void apply(struct selection *sel, const struct bsd_search *s, const struct bsd_spec *spec,
		  FILE *warnings)
{
	const struct found *f = find(s, spec->name);

	if (warned(spec, f, warnings))
		return;
	switch (spec->letter) {
	case 'E':
		add_all(sel, SEL_EXCL_TIME, f);
		add_all(sel, SEL_EXCL_GRAPH, f);
		break;
	case 'e':
		add_all(sel, SEL_EXCL_GRAPH, f);
		break;
	case 'F':
		add_all(sel, SEL_INCL_TIME, f);
		add_all(sel, SEL_INCL_GRAPH, f);
		break;
	case 'f':
		add_all(sel, SEL_INCL_GRAPH, f);
		break;
	case 'k':
		if (!warned(spec, find(s, spec->to), warnings))
			exclude_calls(sel, f, find(s, spec->to));
		break;
	}
}

void bsd_select(const struct symbols *s, const struct bsd_spec *specs, size_t n, FILE *warnings,
		struct selection *ret)
{
	struct bsd_search search = { 0 };

	add_names(&search, left_out);
	add_names(&search, selection_profiler_functions);
	for (size_t i = 0; i < n; i++) {
		add_name(&search, specs[i].name);
		if (specs[i].to)
			add_name(&search, specs[i].to);
	}
	sort_names(&search);
	find_symbols(&search, s);
	exclude(ret, &search, left_out);
	exclude(ret, &search, selection_profiler_functions);
	for (size_t i = 0; i < n; i++)
		apply(ret, &search, &specs[i], warnings);
	free_search(&search);
}

/* line_names.c - gives runs of lines the names of the symbols they are in. */
#include "symbolize/line_names.h"

#include <string.h>

#include "base/arena.h"
#include "base/function_name.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

struct symbol_alias { /* another name of the function that starts at addr */
	uint64_t addr;
	const char *name;
};

struct alias_list {
	const struct symbol_table *t;
	struct arena arena;
	VEC(struct symbol_alias) v; /* by address */
};

void line_names_set(const struct symbol_table *t, struct line_run *runs, size_t n, bool no_inlines)
{
	for (size_t i = 0; i < n; i++) {
		bool named = runs[i].at.function && !no_inlines;
		uint32_t in = named ? NONE : symbol_covering(t, runs[i].addr);
		if (in != NONE)
			runs[i].at.function = t->at[in].name;
	}
}

/* Whether a symbol's name, which may have a version behind it, is `function`. */
static bool is_name(const char *symbol, const char *function)
{
	size_t n = strlen(function);
	return !strncmp(symbol, function, n) && (!symbol[n] || symbol[n] == '@');
}

static void see(void *arg, const char *name, uint64_t addr)
{
	struct alias_list *l = arg;
	uint32_t in = symbol_covering(l->t, addr);
	if (in == NONE || l->t->at[in].addr != addr || !strcmp(l->t->at[in].name, name))
		return;
	size_t n = strlen(name) + 1;
	char *copy = memcpy(arena_alloc_bytes(&l->arena, n), name, n);
	vec_push(&l->v, ((struct symbol_alias){ addr, copy }));
}

static int by_addr(const void *l, const void *r)
{
	const struct symbol_alias *a = l, *b = r;
	return ORDER(a->addr, b->addr);
}

static bool has_alias(const struct alias_list *l, uint64_t addr, const char *function)
{
	size_t first = COUNT_WHILE(l->v.n, i, l->v.at[i].addr < addr);
	for (size_t i = first; i < l->v.n && l->v.at[i].addr == addr; i++)
		if (is_name(l->v.at[i].name, function))
			return true;
	return false;
}

void line_names_unite(struct object_file *o, const struct symbol_table *t, struct line_run *runs,
		      size_t n)
{
	struct alias_list list = { .t = t };
	const char *last = NULL; /* equal names follow each other */
	uint32_t last_in = NONE;
	bool is_own = false;

	if (n)
		object_for_each_name(o, see, &list);
	if (list.v.n)
		qsort(list.v.at, list.v.n, sizeof(*list.v.at), by_addr);
	for (size_t i = 0; i < n; i++) {
		uint32_t in = runs[i].at.function ? symbol_covering(t, runs[i].addr) : NONE;
		if (in == NONE)
			continue;
		const struct object_symbol *of = &t->at[t->at[in].owner];
		if (runs[i].at.function != last || in != last_in)
			is_own = is_name(of->name, runs[i].at.function) ||
				 function_name_is_clone(of->name, runs[i].at.function) ||
				 has_alias(&list, of->addr, runs[i].at.function);
		last = runs[i].at.function;
		last_in = in;
		if (is_own)
			runs[i].at.function = of->name;
	}
	vec_free(&list.v);
	arena_release(&list.arena);
}

/* order_files.c - orders object files for the linker, by the calls between their functions. */
#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "base/strtab.h"
#include "gnu/chains.h"
#include "gnu/gnu_order.h"

struct file_order {
	const struct profile *p;
	const struct symbols *s;
	const struct file_map_entry *map;
	size_t n_map;
	const struct selection *sel;
	VEC(struct link) links; /* in the order of their first appearance */
	struct map64 by_ends;   /* (from, to) -> links */
	VEC(const char *) names;
};

static void add_call(struct file_order *f, uint32_t from, uint32_t to, uint64_t count)
{
	uint32_t *slot = map64_at(&f->by_ends, MAP64_PAIR(from, to));
	if (*slot != NONE) {
		f->links.at[*slot].count += count;
		return;
	}
	*slot = (uint32_t)f->links.n;
	vec_push(&f->links, ((struct link){ from, to, *slot, count, false }));
}

static link_list all_links(struct file_order *f)
{
	link_list list = { 0 };
	for (size_t i = 0; i < f->links.n; i++)
		vec_push(&list, &f->links.at[i]);
	return list;
}

/* ---- our order, with each file once ---- */

/* Ids of the map's files, and for each symbol its file; NONE: not in the map. */
struct ordered_files {
	struct strtab *names; /* file and function names */
	uint32_t *of;         /* [symbols]: id in `names` of the file */
	size_t n;             /* number of ids */
};

static struct ordered_files find_files(const struct file_order *f)
{
	struct ordered_files files = { .names = strtab_new(),
				       .of = xalloc(f->s->n * sizeof(uint32_t)) };
	VEC(uint32_t) file_of_name = { 0 }; /* by id of a function's name; NONE for files */

	for (size_t i = 0; i < f->n_map; i++) {
		uint32_t file = strtab_add(files.names, f->map[i].file);
		uint32_t function = strtab_add(files.names, f->map[i].function);
		while (file_of_name.n < strtab_count(files.names))
			vec_push(&file_of_name, NONE);
		if (file_of_name.at[function] == NONE)
			file_of_name.at[function] = file;
	}
	files.n = strtab_count(files.names);
	for (size_t i = 0; i < f->s->n; i++) {
		uint32_t name = strtab_add(files.names, f->s->at[i].name);
		files.of[i] = name < file_of_name.n ? file_of_name.at[name] : NONE;
	}
	vec_free(&file_of_name);
	return files;
}

static uint32_t file_at(const struct file_order *f, const struct ordered_files *files,
			uint64_t addr)
{
	symid id = symbols_find(f->s, addr);
	return id == NONE ? NONE : files->of[f->s->at[id].owner];
}

static void count_file_calls(struct file_order *f, const struct ordered_files *files)
{
	for (size_t i = 0; i < f->p->n_arcs; i++) {
		struct arc a = arc_at(&f->p->arcs, i);
		uint32_t from = file_at(f, files, a.from), to = file_at(f, files, a.to);
		if (from == NONE || to == NONE || from == to)
			continue;
		symid caller = symbols_find(f->s, a.from), callee = symbols_find(f->s, a.to);
		if (!f->sel || selection_wants_arc(f->sel, caller, callee))
			add_call(f, from, to, a.count);
	}
}

static void order_right(struct file_order *f)
{
	struct ordered_files files = find_files(f);
	struct chains c;
	link_list left = { 0 }, ignored = { 0 };

	count_file_calls(f, &files);
	link_list links = all_links(f);
	links_sort(&links);
	chains_init(&c, files.n);
	chains_order(&c, &links, false, &left);
	chains_order(&c, &left, true, &ignored);
	for (size_t i = 0; i < f->s->n; i++)
		if (files.of[i] != NONE && !c.nodes[files.of[i]].placed)
			chains_emit(&c, files.of[i]);
	for (size_t i = 0; i < f->n_map; i++) {
		uint32_t file = strtab_add(files.names, f->map[i].file);
		if (!c.nodes[file].placed)
			chains_emit(&c, file);
	}

	/* The caller keeps the map, not the ids: hand out the map's own strings. */
	const char **name = xalloc(files.n * sizeof(*name));
	for (size_t i = 0; i < f->n_map; i++)
		name[strtab_add(files.names, f->map[i].file)] = f->map[i].file;
	for (size_t i = 0; i < c.order.n; i++)
		vec_push(&f->names, name[c.order.at[i]]);
	free(name);
	strtab_free(files.names);
	free(files.of);
	vec_free(&links);
	vec_free(&left);
	vec_free(&ignored);
	chains_done(&c);
}

/* ---- as GNU gprof ---- */

/* The symbols that are named after files: GNU gprof gives one symbol per file such a name. */
static bool *symbols_of_files(const struct file_order *f)
{
	bool *ret = xalloc(f->s->n * sizeof(*ret));
	struct map64 files = { 0 };
	for (size_t i = 0; i < f->n_map; i++)
		*map64_at(&files, (uintptr_t)f->map[i].file) = 0;
	for (size_t i = 0; i < f->s->n; i++)
		ret[i] = map64_get(&files, (uintptr_t)f->s->at[i].name) != NONE;
	map64_free(&files);
	return ret;
}

static void count_symbol_calls(struct file_order *f)
{
	for (size_t i = 0; i < f->p->n_arcs; i++) {
		struct arc a = arc_at(&f->p->arcs, i);
		symid from = symbols_find(f->s, a.from), to = symbols_find(f->s, a.to);
		while (to != NONE && !f->s->at[to].is_function)
			to = to ? to - 1 : NONE;
		if (from == NONE || to == NONE || from == to)
			continue;
		if (!f->sel || selection_wants_arc(f->sel, from, to))
			add_call(f, from, to, a.count);
	}
}

static int by_text(const void *l, const void *r)
{
	return strcmp(*(const char *const *)l, *(const char *const *)r);
}

/* Adds the map's files that no symbol represents, by name. */
static void add_files_without_code(struct file_order *f, const bool *is_file)
{
	VEC(const char *) seen = { 0 };
	const char **all = xalloc(f->n_map * sizeof(*all));

	for (size_t i = 0; i < f->s->n; i++)
		if (is_file[i])
			vec_push(&seen, f->s->at[i].name);
	if (seen.n)
		qsort(seen.at, seen.n, sizeof(*seen.at), by_text);
	for (size_t i = 0; i < f->n_map; i++)
		all[i] = f->map[i].file;
	if (f->n_map)
		qsort(all, f->n_map, sizeof(*all), by_text);
	for (size_t i = 0; i < f->n_map; i++) {
		bool repeated = i && !strcmp(all[i], all[i - 1]);
		if (!repeated &&
		    !(seen.n && bsearch(&all[i], seen.at, seen.n, sizeof(*seen.at), by_text)))
			vec_push(&f->names, all[i]);
	}
	free(all);
	vec_free(&seen);
}

static void order_gnu(struct file_order *f)
{
	bool *is_file = symbols_of_files(f);
	struct chains c;
	link_list left = { 0 };

	count_symbol_calls(f);
	link_list links = all_links(f);
	for (size_t i = 0; i < links.n; i++)
		links.at[i]->placed = !is_file[links.at[i]->from] || !is_file[links.at[i]->to];
	chains_init(&c, f->s->n);
	chains_order(&c, &links, false, &left);
	for (symid i = 0; i < f->s->n; i++)
		if (is_file[i] && !c.nodes[i].placed)
			chains_emit(&c, i);
	for (size_t i = 0; i < c.order.n; i++)
		vec_push(&f->names, f->s->at[c.order.at[i]].name);
	add_files_without_code(f, is_file);
	free(is_file);
	vec_free(&links);
	vec_free(&left);
	chains_done(&c);
}

const char **order_files(const struct profile *p, const struct symbols *s,
			 const struct file_map_entry *map, size_t n_map,
			 const struct selection *sel, bool gnu, size_t *n)
{
	struct file_order f = { .p = p, .s = s, .map = map, .n_map = n_map, .sel = sel };

	if (gnu)
		order_gnu(&f);
	else
		order_right(&f);
	vec_free(&f.links);
	map64_free(&f.by_ends);
	*n = f.names.n;
	return f.names.at;
}

/* given_places.c - makes up addresses: the number of a function, and in the low bits that of a line
 * in it. */
#include "formats/given_places.h"

#include <stdlib.h>

#include "base/map64.h"
#include "base/records.h"
#include "base/vec.h"
#include "names/kept.h"
#include "object/object.h"

enum { LINE_BITS = 16, MOST_LINES = 1 << LINE_BITS };

struct given_place {
	uint32_t function, line;
	strid file;
	uint32_t nth; /* index among the function's lines */
};

struct given_function {
	uint32_t object;
	strid name, file;
	uint32_t n_places;
};

struct object_row {
	objid id;
	struct kept_object *kept;
};

struct given_places {
	struct profile_builder *into;
	struct strtab *strings;
	struct kept *kept;
	char build_id[17];
	VEC(struct object_row) objects;
	VEC(struct given_function) functions;
	VEC(struct given_place) places;
	struct map64 object_ids;
	struct records function_ids, place_ids;
	const char **kept_of; /* [string]: the same in `kept`; NULL: not there yet */
};

static uint64_t hash_function(const void *of)
{
	const struct given_function *f = of;
	return records_mix(records_mix(f->object, f->name), f->file);
}

static bool same_function(const void *x, const void *y)
{
	const struct given_function *a = x, *b = y;
	return a->object == b->object && a->name == b->name && a->file == b->file;
}

static uint64_t hash_place(const void *of)
{
	const struct given_place *p = of;
	return records_mix(records_mix(p->function, p->line), p->file);
}

static bool same_place(const void *x, const void *y)
{
	const struct given_place *a = x, *b = y;
	return a->function == b->function && a->line == b->line && a->file == b->file;
}

static const struct records_kind function_kind = { sizeof(struct given_function), hash_function,
						   same_function };
static const struct records_kind place_kind = { sizeof(struct given_place), hash_place,
						same_place };

/* Derives a build id from the contents. Equal addresses mean different functions in two files, so
 * the objects must differ, as builds of one program do. */
static void name_build(struct given_places *p, const struct bytes *all)
{
	const uint64_t prime = 0x100000001b3;
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a, of words */
	for (const uint8_t *at = all->start; at < all->end;) {
		uint64_t word = 0;
		for (int i = 0; i < 8 && at < all->end; i++)
			word = word << 8 | *at++;
		hash = (hash ^ word) * prime;
		hash ^= hash >> 32;
	}
	for (int i = 0; i < 16; i++)
		p->build_id[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
}

struct given_places *given_new(struct profile_builder *into, const struct bytes *all)
{
	struct given_places *p = xalloc(sizeof(*p));
	p->into = into;
	p->strings = strtab_new();
	p->kept = kept_new();
	name_build(p, all);
	return p;
}

struct strtab *given_strings(struct given_places *p) { return p->strings; }

uint32_t given_object(struct given_places *p, strid name, bool is_main)
{
	uint32_t *known = map64_at(&p->object_ids, name);
	if (*known != NONE)
		return *known;
	*known = (uint32_t)p->objects.n;
	const char *path = strtab_get(p->strings, name);
	struct kept_object like = { .path = path,
				    .build_id = p->build_id,
				    .flags = KEPT_64BIT | KEPT_GIVEN };
	struct object_row o;
	o.id = profile_add_object_of(p->into, path, p->build_id, OBJECT_ELF, is_main);
	o.kept = kept_add_object(p->kept, &like);
	vec_push(&p->objects, o);
	return *known;
}

uint32_t given_function(struct given_places *p, uint32_t object, strid name, strid file)
{
	struct given_function f = { object, name, file, 0 };
	uint32_t id = records_add(&p->function_ids, &function_kind, p->functions.at, &f,
				  (uint32_t)p->functions.n);
	if (id == p->functions.n)
		vec_push(&p->functions, f);
	return id;
}

size_t given_n_functions(const struct given_places *p) { return p->functions.n; }

static uint64_t base_of(uint32_t function) { return ((uint64_t)function + 1) << LINE_BITS; }

uint64_t given_entry(const struct given_places *p, uint32_t function, objid *object)
{
	*object = p->objects.at[p->functions.at[function].object].id;
	return base_of(function);
}

/* The first address is the function's beginning. Lines beyond the limit share the last address. */
uint64_t given_address(struct given_places *p, uint32_t function, strid file, uint32_t line,
		       objid *object)
{
	struct given_function *f = &p->functions.at[function];
	struct given_place at = { function, line, line ? file : 0, f->n_places };
	uint32_t id =
		records_add(&p->place_ids, &place_kind, p->places.at, &at, (uint32_t)p->places.n);
	if (id == p->places.n) {
		if (at.nth >= MOST_LINES - 1)
			at.nth = MOST_LINES - 1;
		else
			f->n_places++;
		vec_push(&p->places, at);
	}
	*object = p->objects.at[f->object].id;
	return base_of(function) + p->places.at[id].nth;
}

frameid given_frame(struct given_places *p, uint32_t function, strid file, uint32_t line)
{
	struct frame f = { 0 };
	f.addr = given_address(p, function, file, line, &f.object);
	return profile_add_frame(p->into, f);
}

/* ---- the names ---- */

static const char *kept_name(struct given_places *p, strid name)
{
	if (!p->kept_of[name])
		p->kept_of[name] = kept_string(p->kept, strtab_get(p->strings, name));
	return p->kept_of[name];
}

static void add_symbols(struct given_places *p)
{
	for (uint32_t i = 0; i < p->functions.n; i++) {
		const struct given_function *f = &p->functions.at[i];
		struct kept_object *o = p->objects.at[f->object].kept;
		struct kept_symbol s = { .addr = base_of(i),
					 .end = base_of(i) + (f->n_places ? f->n_places : 1),
					 .owner = base_of(i),
					 .name = kept_name(p, f->name),
					 .flags = SYMBOL_FUNCTION,
					 .position = i };
		vec_push(&o->symbols, s);
		o->n_functions++;
		o->text_low = o->text_low ? o->text_low : s.addr;
		o->text_high = s.end;
	}
}

static void add_lines(struct given_places *p)
{
	for (size_t i = 0; i < p->places.n; i++) {
		const struct given_place *at = &p->places.at[i];
		const struct given_function *f = &p->functions.at[at->function];
		struct kept_object *o = p->objects.at[f->object].kept;
		uint64_t addr = base_of(at->function) + at->nth;
		if (!at->line)
			continue;
		struct kept_line line = { .addr = addr,
					  .end = addr + 1,
					  .function = kept_name(p, f->name),
					  .file = kept_name(p, at->file),
					  .line = at->line };
		vec_push(&o->lines, line);
		o->flags |= KEPT_LINES;
	}
}

void given_finish(struct given_places *p)
{
	p->kept_of = xalloc(strtab_count(p->strings) * sizeof(*p->kept_of));
	add_symbols(p);
	add_lines(p);
	for (size_t i = 0; i < p->objects.n; i++) {
		struct kept_object *o = p->objects.at[i].kept;
		o->profiled_low = o->text_low;
		o->profiled_high = o->text_high;
	}
	kept_sort(p->kept);
	profile_add_kept(p->into, p->kept);
	kept_free(p->kept);
	strtab_free(p->strings);
	map64_free(&p->object_ids);
	records_free(&p->function_ids);
	records_free(&p->place_ids);
	vec_free(&p->objects);
	vec_free(&p->functions);
	vec_free(&p->places);
	free(p->kept_of);
	free(p);
}

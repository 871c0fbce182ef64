/* pieces.c - finds the functions that split parts belong to.
 *
 * Compilers move the seldom executed part of a function f elsewhere and call it f.cold, f.cold.3 or
 * f.part.0.cold. Only its name says which function it belongs to. If several static functions have
 * that name, it is the one of the same source file, and there the nearest one in the symbol
 * table. */
#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/strtab.h"
#include "object/candidates.h"

enum { STRIPPED_MAX = 4 }; /* parts of f.a.b.c.cold taken off in search of the owner */

struct function {
	strid name;
	uint32_t file, position;
	uint32_t index; /* of the candidate */
};

/* Functions that may own a piece, by their names. */
struct functions {
	struct strtab *names;     /* names that owners may have */
	struct map64 hashes;      /* their hashes, so that other names need not be interned */
	VEC(struct function) all; /* sorted by name, file, position */
};

static uint64_t hash_name(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)s[i]) * 0x100000001b3u;
	return h;
}

/* Length of the owner's name in "f.cold" or "f.cold.12"; 0 if it is not a piece. */
static size_t owner_length(const char *name)
{
	size_t n = strlen(name), digits = 0;
	while (digits < n && name[n - 1 - digits] >= '0' && name[n - 1 - digits] <= '9')
		digits++;
	if (digits) {
		if (digits == n || name[n - 1 - digits] != '.')
			return 0;
		n -= digits + 1;
	}
	return n > 5 && !memcmp(name + n - 5, ".cold", 5) ? n - 5 : 0;
}

/* "f.part.0" -> "f.part" -> "f" -> 0 */
static size_t strip_part(const char *name, size_t n)
{
	const char *dot = memrchr(name, '.', n);
	return dot ? (size_t)(dot - name) : 0;
}

/* ---- possible owners ---- */

static void ask_for(struct functions *f, const char *name, size_t n)
{
	for (int i = 0; n && i <= STRIPPED_MAX; i++, n = strip_part(name, n)) {
		strtab_addn(f->names, name, n);
		*map64_at(&f->hashes, hash_name(name, n)) = 1;
	}
}

static int compare(const void *a, const void *b)
{
	const struct function *l = a, *r = b;
	if (l->name != r->name)
		return l->name < r->name ? -1 : 1;
	if (l->file != r->file)
		return l->file < r->file ? -1 : 1;
	return ORDER(l->position, r->position);
}

static void find_functions(struct functions *f, const struct candidates *c)
{
	for (size_t i = 0; i < c->all.n; i++) {
		const struct candidate *s = &c->all.at[i];
		size_t n = strlen(s->name);
		if (!(s->flags & SYMBOL_FUNCTION) || owner_length(s->name) ||
		    map64_get(&f->hashes, hash_name(s->name, n)) == NONE)
			continue;
		vec_push(&f->all, ((struct function){ strtab_addn(f->names, s->name, n), s->file,
						      s->position, (uint32_t)i }));
	}
	if (f->all.n)
		qsort(f->all.at, f->all.n, sizeof(*f->all.at), compare);
}

/* The first function that is not before `key`. */
static size_t lower_bound(const struct functions *f, const struct function *key)
{
	return COUNT_WHILE(f->all.n, i, compare(&f->all.at[i], key) < 0);
}

static uint32_t distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/* Index of the nearest function with the key's name, only in its file if `in_file`; NONE if there
 * is none. Functions of later files have higher positions, so those of one name are sorted by
 * position across files, too. */
static uint32_t nearest(const struct functions *f, struct function key, bool in_file)
{
	size_t i = lower_bound(f, &key);
	uint32_t best = NONE, least = UINT32_MAX;
	for (size_t j = i ? i - 1 : 0; j < f->all.n && j <= i; j++) {
		const struct function *s = &f->all.at[j];
		if (s->name != key.name || (in_file && s->file != key.file))
			continue;
		if (distance(s->position, key.position) < least) {
			least = distance(s->position, key.position);
			best = s->index;
		}
	}
	return best;
}

/* Prefers a function of the same file, then a global one, then any. */
static uint32_t find_owner(const struct functions *f, const struct candidate *piece, size_t n)
{
	uint32_t owner = NONE;
	for (int i = 0; n && owner == NONE && i <= STRIPPED_MAX;
	     i++, n = strip_part(piece->name, n)) {
		struct function key = { strtab_addn(f->names, piece->name, n), piece->file,
					piece->position, 0 };
		if (key.file)
			owner = nearest(f, key, true);
		if (owner == NONE) {
			key.file = 0;
			owner = nearest(f, key, true);
		}
		key.file = piece->file;
		if (owner == NONE)
			owner = nearest(f, key, false);
	}
	return owner;
}

void candidates_find_owners(struct candidates *c)
{
	VEC(uint32_t) pieces = { 0 };
	for (size_t i = 0; i < c->all.n; i++)
		if (owner_length(c->all.at[i].name))
			vec_push(&pieces, (uint32_t)i);
	if (!pieces.n)
		return;

	struct functions f = { .names = strtab_new() };
	for (size_t i = 0; i < pieces.n; i++) {
		const char *name = c->all.at[pieces.at[i]].name;
		ask_for(&f, name, owner_length(name));
	}
	find_functions(&f, c);
	for (size_t i = 0; i < pieces.n; i++) {
		struct candidate *s = &c->all.at[pieces.at[i]];
		s->owner = find_owner(&f, s, owner_length(s->name));
		if (s->owner != NONE)
			s->flags |= SYMBOL_COLD;
	}
	strtab_free(f.names);
	map64_free(&f.hashes);
	vec_free(&f.all);
	vec_free(&pieces);
}

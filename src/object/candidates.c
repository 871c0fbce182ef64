/* candidates.c - sorts candidates by address, and chooses among aliases. */
#include "object/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Sorted by address; candidates with the same address stay in file order. */
static struct sort_key *sort_addresses(const struct candidates *c)
{
	struct sort_key *keys = xrealloc(NULL, c->all.n, sizeof(*keys));
	for (size_t i = 0; i < c->all.n; i++)
		keys[i] = (struct sort_key){ c->all.at[i].addr, (uint32_t)i };
	sort_keys(keys, c->all.n);
	return keys;
}

/* ---- aliases ---- */

/* The first stays unless the other is better: shown by GNU, then global, then a function, then with
 * fewer leading underscores. */
bool candidate_is_better(const struct candidate *c, const struct candidate *kept)
{
	if ((c->rank ^ kept->rank) & RANK_LAST)
		return kept->rank & RANK_LAST;
	if ((c->rank ^ kept->rank) & RANK_LOCAL)
		return kept->rank & RANK_LOCAL;
	if ((c->rank ^ kept->rank) & RANK_LABEL)
		return kept->rank & RANK_LABEL;
	if (kept->name[0] != '_')
		return false;
	return c->name[0] != '_' || (c->name[1] != '_' && kept->name[1] == '_');
}

static bool is_old_version(const char *name)
{
	const char *at = *name ? strchr(name + 1, '@') : NULL;
	return at && at[1] != '@';
}

/* True for "pwrite64" and "pwrite", for "sinf32x" and "sin": a C library's second name of a
 * function, where files or numbers have that size anyway. */
static bool is_variant_of(const char *name, const char *plain)
{
	static const char *const sizes[] = { "64", "f32", "f32x", "f64", "f64x", "f128" };
	size_t n = strcspn(plain, "@");
	if (strncmp(name, plain, n) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		size_t k = strlen(sizes[i]);
		if (!strncmp(name + n, sizes[i], k) && (!name[n + k] || name[n + k] == '@'))
			return true;
	}
	return false;
}

bool candidate_is_plainer(const struct candidate *c, const struct candidate *kept)
{
	if (candidate_is_better(c, kept) || candidate_is_better(kept, c))
		return candidate_is_better(c, kept);
	if (is_old_version(c->name) != is_old_version(kept->name))
		return is_old_version(kept->name);
	return is_variant_of(kept->name, c->name);
}

/* Chooses among the n symbols at one address, in file order. Goes rank by rank, so that it takes
 * linear time. */
static uint32_t choose(const struct candidates *from, const struct sort_key *keys, size_t n)
{
	const struct candidate *all = from->all.at;
	uint32_t kept = NONE;
	for (uint32_t rank = 0; n > 1 && rank < RANKS; rank++) {
		for (size_t i = 0; i < n; i++) {
			const struct candidate *c = &all[keys[i].index];
			if (c->rank == rank && (kept == NONE || from->is_better(c, &all[kept])))
				kept = keys[i].index;
		}
	}
	return n > 1 ? kept : keys[0].index;
}

/* ---- the table ---- */

static size_t group_size(const struct sort_key *keys, size_t n)
{
	size_t size = 1;
	while (size < n && keys[size].key == keys[0].key)
		size++;
	return size;
}

/* moved[i]: where in the table the address of candidate i is. */
static size_t fill(const struct candidates *c, const struct sort_key *keys,
		   struct object_symbol *at, uint32_t *moved)
{
	size_t n = 0;
	for (size_t i = 0, size; i < c->all.n; i += size) {
		size = group_size(keys + i, c->all.n - i);
		const struct candidate *best = &c->all.at[choose(c, keys + i, size)];
		uint32_t first = best->position;
		for (size_t j = i; j < i + size; j++) {
			const struct candidate *alias = &c->all.at[keys[j].index];
			if (alias->position < first)
				first = alias->position;
			moved[keys[j].index] = (uint32_t)n;
		}
		at[n++] = (struct object_symbol){ .addr = best->addr,
						  .end = best->limit,
						  .name = best->name,
						  .owner = best->owner,
						  .flags = best->flags,
						  .position = first };
	}
	return n;
}

static void finish(struct object_symbol *at, size_t n, const uint32_t *moved)
{
	for (size_t i = 0; i < n; i++) {
		struct object_symbol *s = &at[i];
		if (i + 1 < n && at[i + 1].addr < s->end)
			s->end = at[i + 1].addr;
		if (s->end < s->addr)
			s->end = s->addr;
		s->owner = s->owner == NONE ? (uint32_t)i : moved[s->owner];
	}
	/* The owner may have lost its address to an alias that is itself a piece: then it owns
	 * itself. */
	for (size_t i = 0; i < n; i++)
		if (at[i].owner != i && at[at[i].owner].owner != at[i].owner)
			at[at[i].owner].owner = at[i].owner;
	for (size_t i = 0; i < n; i++)
		if (at[i].owner == i)
			at[i].flags &= ~(uint32_t)SYMBOL_COLD;
}

struct symbol_table candidates_finish(struct candidates *c)
{
	struct sort_key *keys = sort_addresses(c);
	uint32_t *moved = xalloc(c->all.n * sizeof(*moved));
	struct object_symbol *all = xalloc(c->all.n * sizeof(*all));
	size_t n = fill(c, keys, all, moved);
	if (n && c->end_of_last)
		all[n - 1].end = c->end_of_last;
	finish(all, n, moved);
	free(moved);
	free(keys);
	candidates_free(c);
	return (struct symbol_table){ .at = all, .n = n };
}

void candidates_free(struct candidates *c) { vec_free(&c->all); }

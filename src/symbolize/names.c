/* names.c - opens objects on demand, and closes the one not used for the longest time. */
#include "symbolize/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "kin/kin.h"

/* Limits for open objects: a name takes about PLACE_BYTES, and the file's own tables may be larger:
 * the relocations of a compiler are 10 MB. */
enum { OPEN_MAX = 64, PLACE_BYTES = 160, BYTES_MAX = 64 << 20 };

/* Addresses of an object for which inlined functions are kept, at most. */
enum { INLINED_MAX = 1 << 16 };

struct known_inlined {
	strid name, file; /* 0: none, not known */
};

struct known_name {               /* an object that was requested */
	struct object_file *file; /* NULL: not open, any more */
	struct symbols *symbols;  /* NULL: has no names */
	const char *path, *build_id;
	const char *place; /* where it is to be opened; NULL: at its path */
	uint64_t used;     /* the last time, by a clock of calls */
	uint64_t bytes;    /* that it takes while it is open */
	bool sought;
	/* Address -> its functions in `inlined`, innermost first, up to a name 0; index 0: none. */
	struct map64 inlined_at;
	VEC(struct known_inlined) inlined;
};

struct names {
	struct names_opts opts;
	struct strtab *strings; /* paths, build ids and names of inlined functions */
	struct map64 ids;       /* MAP64_PAIR(path, build id): index into objects */
	VEC(struct known_name) objects;
	VEC(uint32_t) open; /* indices of objects whose names are in memory */
	uint64_t bytes;     /* that all open objects take */
	uint64_t clock;
};

/* Unreadable objects have no names; the reason is not reported in live views. */
static void open_object(struct names *n, struct known_name *k)
{
	struct symbols_opts opts = { .style = n->opts.style };
	struct object_opts how = { .debug_dir = n->opts.debug_dir,
				   .symfs = n->opts.symfs,
				   .build_id = k->build_id };
	if (k->place)
		how.symfs = NULL;
	struct kin_error *err =
		!strcmp(k->path, "[vdso]")
			? object_open_vdso(&how, &k->file)
			: object_open(k->place ? k->place : k->path, &how, &k->file);
	if (!err)
		err = symbols_new(k->file, &opts, &k->symbols);
	if (err) {
		object_free(k->file);
		k->file = NULL;
	}
	kin_error_free(err);
	k->sought = true;
}

static uint64_t bytes_of(const struct known_name *k)
{
	return k->symbols->n * PLACE_BYTES + object_table_bytes(k->file);
}

static void close_object(struct known_name *k)
{
	symbols_free(k->symbols);
	object_free(k->file);
	k->symbols = NULL;
	k->file = NULL;
	k->sought = false;
}

/* The least recently used ones make room. */
static void make_room(struct names *n)
{
	while (n->open.n > 1 && (n->open.n > OPEN_MAX || n->bytes > BYTES_MAX)) {
		size_t oldest = 0;
		for (size_t i = 1; i < n->open.n; i++)
			if (n->objects.at[n->open.at[i]].used <
			    n->objects.at[n->open.at[oldest]].used)
				oldest = i;
		struct known_name *k = &n->objects.at[n->open.at[oldest]];
		n->bytes -= k->bytes;
		close_object(k);
		n->open.at[oldest] = n->open.at[--n->open.n];
	}
}

static void forget_inlined(struct known_name *k)
{
	map64_free(&k->inlined_at);
	k->inlined_at = (struct map64){ 0 };
	k->inlined.n = 0;
}

static uint32_t object_id(struct names *n, const char *path, const char *build_id)
{
	strid name = strtab_add(n->strings, path), build = strtab_add(n->strings, build_id);
	uint32_t *id = map64_at(&n->ids, MAP64_PAIR(name, build));

	if (*id == NONE) {
		*id = (uint32_t)n->objects.n;
		vec_push(&n->objects,
			 ((struct known_name){ .path = strtab_get(n->strings, name),
					       .build_id = strtab_get(n->strings, build) }));
	}
	return *id;
}

void names_put_place(struct names *n, const char *path, const char *build_id, const char *place)
{
	uint32_t id = object_id(n, path, build_id);
	struct known_name *k = &n->objects.at[id];
	k->place = strtab_get(n->strings, strtab_add(n->strings, place));
	k->sought &= k->symbols != NULL;
	if (!k->sought)
		forget_inlined(k);
}

/* The object, open if it can be. */
static struct known_name *known_object(struct names *n, const char *path, const char *build_id)
{
	uint32_t id = object_id(n, path, build_id);
	struct known_name *k = &n->objects.at[id];

	k->used = ++n->clock;
	if (!k->sought) {
		open_object(n, k);
		if (k->symbols) {
			vec_push(&n->open, id);
			k->bytes = bytes_of(k);
			n->bytes += k->bytes;
			make_room(n);
		}
	}
	return k;
}

const char *names_find(struct names *n, const char *path, const char *build_id, uint64_t addr)
{
	struct known_name *k = known_object(n, path, build_id);
	symid place = k->symbols ? symbols_find(k->symbols, addr) : NONE;
	return place == NONE ? NULL : symbols_display(k->symbols, place);
}

const char *names_find_file(struct names *n, const char *path, const char *build_id, uint64_t addr,
			    bool *has_lines)
{
	struct known_name *k = known_object(n, path, build_id);
	symid place = k->symbols ? symbols_find(k->symbols, addr) : NONE;

	*has_lines = k->file && object_has_dwarf(k->file);
	return place == NONE || !*has_lines ? NULL : symbols_locate(k->symbols, place)->file;
}

/* ---- inlined functions ---- */

static strid readable_name(struct names *n, const char *raw)
{
	char *readable = demangle(raw, n->opts.style);
	strid id = strtab_add(n->strings, readable ? readable : raw);
	free(readable);
	return id;
}

/* Looks up addresses that were not requested before. */
static void learn_inlined(struct names *n, struct known_name *k, const uint64_t *addrs,
			  size_t n_addrs)
{
	size_t count = 0;
	struct object_inline *list =
		k->file ? object_inlines(k->file, addrs, n_addrs, &count) : NULL;

	const struct known_inlined end = { 0 };
	if (!k->inlined.n)
		vec_push(&k->inlined, end);
	for (size_t i = 0, at = 0; i < n_addrs; i++) {
		uint32_t first = (uint32_t)k->inlined.n;
		struct srcloc here = { 0 };
		bool any = at < count && list[at].address == i;
		const char *file =
			any && object_place(k->file, addrs[i], NULL, &here) ? here.file : NULL;
		for (; at < count && list[at].address == i; at++) {
			vec_push(&k->inlined, ((struct known_inlined){
						      readable_name(n, list[at].name),
						      file ? strtab_add(n->strings, file) : 0 }));
			file = list[at].call_file;
		}
		if (any)
			vec_push(&k->inlined, end);
		*map64_at(&k->inlined_at, addrs[i]) = any ? first : 0;
	}
	free(list);
}

void names_find_inlined(struct names *n, const char *path, const char *build_id,
			const uint64_t *addrs, size_t n_addrs,
			void (*found)(void *arg, size_t i, const char *name, const char *file),
			void *arg)
{
	struct known_name *k = known_object(n, path, build_id);
	VEC(uint64_t) fresh = { 0 };

	if (k->inlined_at.n + n_addrs > INLINED_MAX)
		forget_inlined(k);
	for (size_t i = 0; i < n_addrs; i++)
		if (map64_get(&k->inlined_at, addrs[i]) == NONE &&
		    (!fresh.n || fresh.at[fresh.n - 1] != addrs[i]))
			vec_push(&fresh, addrs[i]);
	learn_inlined(n, k, fresh.at, fresh.n);
	vec_free(&fresh);
	for (size_t i = 0; i < n_addrs; i++)
		for (uint32_t at = map64_get(&k->inlined_at, addrs[i]); k->inlined.at[at].name;
		     at++) {
			struct known_inlined x = k->inlined.at[at];
			found(arg, i, strtab_get(n->strings, x.name),
			      x.file ? strtab_get(n->strings, x.file) : NULL);
		}
}

struct names *names_new(const struct names_opts *opts)
{
	struct names *n = xalloc(sizeof(*n));

	n->opts = *opts;
	n->strings = strtab_new();
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->objects.n; i++) {
		close_object(&n->objects.at[i]);
		forget_inlined(&n->objects.at[i]);
		vec_free(&n->objects.at[i].inlined);
	}
	vec_free(&n->objects);
	vec_free(&n->open);
	map64_free(&n->ids);
	strtab_free(n->strings);
	free(n);
}

#include "symbolize/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "kin/kin.h"

struct known { /* an object that was asked about */
	struct object_file *file;
	struct symbols *symbols; /* NULL: has no names */
};

struct names {
	struct names_opts opts;
	struct strtab *strings; /* paths and build ids */
	struct map64 ids;       /* MAP64_PAIR(path, build id): index into objects */
	VEC(struct known) objects;
};

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
		symbols_free(n->objects.at[i].symbols);
		object_free(n->objects.at[i].file);
	}
	vec_free(&n->objects);
	map64_free(&n->ids);
	strtab_free(n->strings);
	free(n);
}

/* What cannot be read has no names: why is not told while things go by. */
static struct known open_object(struct names *n, const char *path, const char *build_id)
{
	struct known k = { 0 };
	struct symbols_opts opts = { .style = n->opts.style };
	struct object_opts how = { .debug_dir = n->opts.debug_dir,
				   .symfs = n->opts.symfs,
				   .build_id = build_id };
	struct kin_error *err = !strcmp(path, "[vdso]") ? object_open_vdso(&how, &k.file)
							: object_open(path, &how, &k.file);
	if (!err)
		err = symbols_new(k.file, &opts, &k.symbols);
	kin_error_free(err);
	return k;
}

const char *names_find(struct names *n, const char *path, const char *build_id, uint64_t addr)
{
	uint64_t key = MAP64_PAIR(strtab_add(n->strings, path), strtab_add(n->strings, build_id));
	uint32_t *id = map64_at(&n->ids, key);

	if (*id == NONE) {
		*id = (uint32_t)n->objects.n;
		vec_push(&n->objects, open_object(n, path, build_id));
	}
	struct symbols *s = n->objects.at[*id].symbols;
	symid place = s ? symbols_find(s, addr) : NONE;
	return place == NONE ? NULL : symbols_display(s, place);
}

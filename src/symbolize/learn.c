/* learn.c - asks each file for the symbols, inlined functions and lines of all that was hit in it.
 */
#include "symbolize/learn.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/folder.h"
#include "symbolize/hit_addresses.h"

static void ask_file(struct object_file *file, const struct hit_addresses *hits)
{
	struct symtab_opts opts = { .exact = true, .hits = hits->at, .n_hits = hits->n };
	struct symbol_table table = { 0 };
	struct srcloc line;
	size_t n;
	kin_error_free(object_symbols(file, &opts, &table));
	free(object_inlines(file, hits->at, hits->n, &n));
	for (size_t i = 0; i < hits->n; i++)
		(void)object_place(file, hits->at[i], NULL, &line);
	for (size_t i = 0; i < table.n; i++) /* where functions begin */
		(void)object_place(file, table.at[i].addr, NULL, &line);
	free(table.at);
	object_remember(file);
}

void names_learn(const struct profile *p, const struct recorded_opts *how)
{
	char *folder = folder_cache("names");
	struct hit_addresses *hits = xalloc((p->n_objects + 1) * sizeof(*hits));
	if (folder)
		hit_addresses_find(p, NULL, hits);
	for (objid i = 0; i < p->n_objects; i++) {
		struct object_file *file = NULL;
		struct kin_error *instead = NULL;
		if (hits[i].n)
			kin_error_free(recorded_object(p, i, how, &file, &instead));
		if (file)
			ask_file(file, &hits[i]);
		kin_error_free(instead);
		object_free(file);
		vec_free(&hits[i]);
	}
	free(hits);
	free(folder);
}

/* api_keep.c - stores names, and source text and machine code on request, in a recording. */
#include <stdlib.h>

#include "api/api_private.h"
#include "base/err.h"
#include "base/guard.h"
#include "base/map64.h"
#include "formats/kin/kin_write.h"
#include "names/kept.h"
#include "object/source.h"
#include "symbolize/keep.h"

struct sources {
	struct kept *k;
	const char *const *dirs;
	struct debuginfod *servers; /* NULL: none */
	struct map64 tried;         /* names tried; by address, because they are interned */
};

/* Adds a source file. A file that can neither be read nor downloaded is left out: the reports say
 * so for each. */
static void add_source(struct sources *s, const char *build_id, const char *path)
{
	struct source_text text;
	uint32_t *tried = map64_at(&s->tried, (uintptr_t)path);
	if (*tried != NONE || kept_find_source(s->k, path))
		return;
	*tried = 0;
	struct kin_error *err = source_open(path, s->dirs, false, &text);
	bool is_here = !err;
	kin_error_free(err);
	if (!is_here && !source_fetch(s->servers, build_id, path, &text))
		return;
	kept_add_source(s->k, path, is_here ? text.path : path, (const char *)text.file.data,
			text.file.size);
	source_done(&text);
}

static void add_sources(struct kept *k, const char *const *dirs, struct debuginfod *servers)
{
	struct sources s = { .k = k, .dirs = dirs, .servers = servers };
	for (size_t i = 0; i < k->objects.n; i++) {
		const struct kept_object *o = k->objects.at[i];
		char *build_id = xprintf("%.*s", (int)kept_id_length(o), o->build_id);
		for (size_t j = 0; j < o->lines.n; j++)
			if (o->lines.at[j].file)
				add_source(&s, build_id, o->lines.at[j].file);
		free(build_id);
	}
	map64_free(&s.tried);
	kept_sort(k);
}

static struct kin_error *keep_names(const char *path, const struct kin_keep_opts *opts,
				    struct kin_keep_result *ret)
{
	struct kin_keep_opts o;
	opts_copy(&o, sizeof(o), opts);
	struct profile *p = NULL;
	struct kin_error *err = kinfile_names_check(path);
	if (err)
		return err;
	/* Frames need names, and stacks show tail calls. */
	struct input_opts stacks = { .needs = { .stacks = true } };
	err = input_read(&path, 1, &stacks, &p);
	if (!err) {
		struct kin_error *trouble;
		struct kept *k =
			names_keep(p,
				   &(struct keep_opts){ .debug_dir = o.debug_dir,
							.symfs = o.symfs,
							.debuginfod = debuginfod_of(o.debuginfod),
							.whole = o.pack,
							.files = o.files,
							.n_files = o.n_files },
				   &trouble);
		struct kin_keep_result r = { .objects = k->objects.n };
		if (o.pack) {
			kept_add_sources(k, p->kept);
			add_sources(k, o.source_dirs, debuginfod_of(o.debuginfod));
		}
		for (size_t i = 0; i < k->objects.n; i++)
			r.functions += k->objects.at[i]->symbols.n;
		r.sources = k->sources.n;
		err = kinfile_names_put(path, o.output, k, &r.bytes);
		kept_free(k);
		if (!err)
			*ret = r;
		if (err)
			kin_error_free(trouble);
		else
			err = trouble;
	}
	profile_free(p);
	return err;
}

struct kin_error *kin_keep_names(const char *path, const struct kin_keep_opts *opts,
				 struct kin_keep_result *ret)
{
	return GUARDED(keep_names(path, opts, ret));
}

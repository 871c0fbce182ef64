/* recorded.c - opens the file that ran, or an object of the names kept of it. */
#include "symbolize/recorded.h"

#include <stdlib.h>

#include "base/err.h"
#include "names/kept.h"

/* Without a build id, size and time tell whether it is still that file. */
static struct kin_error *check_unchanged(const struct kept_object *k, const char *path,
					 const struct recorded_opts *opts)
{
	char *full = xprintf("%s%s%s", opts->symfs ? opts->symfs : "",
			     opts->symfs && *path != '/' ? "/" : "", path);
	bool same = kept_is_of_file(k, full);
	free(full);
	return same ? NULL
		    : err_new(KIN_ERROR_MISMATCH, "the file has been replaced since (its size or "
						  "time is another one)");
}

/* A copy of a program may lack the debug files that were there where it was recorded. */
static struct kin_error *check_lines(const struct kept_object *k, struct object_file *o)
{
	return k->flags & KEPT_LINES && !object_has_dwarf(o)
		       ? err_new(KIN_ERROR_MISMATCH, "its debug information is not here, as it was "
						     "when it was recorded")
		       : NULL;
}

static struct kin_error *open_file(const struct profile *p, const struct object *o,
				   const struct recorded_opts *opts, const struct kept_object *kept,
				   struct object_file **ret)
{
	const char *path = strtab_get(p->strings, o->path);
	struct object_opts how = { .debug_dir = opts->debug_dir,
				   .symfs = opts->symfs,
				   .debuginfod = opts->debuginfod,
				   .remembers = true,
				   .build_id = strtab_get(p->strings, o->build_id) };
	if (o->kind == OBJECT_VDSO) /* another kernel's vdso is nowhere to be found */
		return object_open_vdso(&how, ret);
	struct kin_error *err = object_open(path, &how, ret);
	if (err && !kept && (*ret = object_open_fetched(path, &how))) {
		kin_error_free(err);
		return NULL;
	}
	if (err || !kept)
		return err;
	if (!*kept->build_id)
		err = check_unchanged(kept, path, opts);
	if (!err)
		err = check_lines(kept, *ret);
	if (err) {
		object_free(*ret);
		*ret = NULL;
	}
	return err;
}

const struct kept_object *recorded_kept(const struct profile *p, objid id)
{
	const struct object *o = &p->objects[id];
	return o->path ? kept_find(p->kept, strtab_get(p->strings, o->path),
				   strtab_get(p->strings, o->build_id))
		       : NULL;
}

bool recorded_is_made_up(const struct profile *p, objid id)
{
	const struct kept_object *kept = recorded_kept(p, id);
	return kept && kept->flags & KEPT_GIVEN;
}

struct kin_error *recorded_object(const struct profile *p, objid id,
				  const struct recorded_opts *opts, struct object_file **ret,
				  struct kin_error **instead)
{
	const struct object *o = &p->objects[id];
	*ret = NULL;
	*instead = NULL;
	if ((o->kind != OBJECT_ELF && o->kind != OBJECT_VDSO) || !o->path)
		return NULL;
	const struct kept_object *kept = recorded_kept(p, id);
	if (kept && kept->flags & KEPT_GIVEN) {
		*ret = object_of_kept(kept);
		return NULL;
	}
	struct kin_error *err = open_file(p, o, opts, kept, ret);
	if (err && kept && !err_is_trouble(err)) {
		*ret = object_of_kept(kept);
		*instead = err;
		return NULL;
	}
	if (err && o->kind == OBJECT_VDSO && !err_is_trouble(err)) {
		kin_error_free(err);
		return NULL;
	}
	return err;
}

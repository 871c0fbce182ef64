/* comparison_code.c - finds functions whose names differ between the sides but whose instructions
 * are the same.
 *
 * The location of each function's code is noted as recordings are added: in the file that ran, or
 * in the recording ("kin pack"). Code is read only if both sides turn out to have functions that
 * the other lacks: in most comparisons they do not. */
#include <stdlib.h>

#include "base/err.h"
#include "base/vec.h"
#include "names/kept.h"
#include "object/object.h"
#include "report/comparison.h"
#include "report/reports.h"

enum { BEFORE = REPEATS_BEFORE, AFTER = REPEATS_AFTER };

/* ---- location of code ---- */

static bool has_own_code(const struct report_input *in, symid id)
{
	const struct cg_node *n = &in->graph->nodes[id];
	bool is_there = n->self > 0 || n->calls || n->child > 0;
	return is_there && in->symbols->at[id].owner == id &&
	       !(in->program && program_is_inlined(in->program, id));
}

/* Notes where the code is. A file without a build id is identified by the object that the recording
 * keeps. */
static void find_code(struct comparison *c, const struct report_input *in, symid id,
		      const struct object_file *o, struct compared_code *ret)
{
	const struct kept_object *kept = object_kept(o);
	const char *build_id = object_build_id(o);
	if (kept) {
		ret->kept = kept->flags & KEPT_CODE ? kept : NULL;
		return;
	}
	if (!build_id) {
		kept = kept_find(in->profile->kept, report_object_path(in, id), NULL);
		if (!kept || *kept->build_id || !kept->modified_ns)
			return;
		ret->kept = kept;
	}
	ret->path = strtab_add(c->strings, object_path(o));
	ret->build_id = build_id ? strtab_add(c->strings, build_id) : 0;
}

static void add_function(struct comparison *c, int side, const struct comparison_recording *r,
			 symid id)
{
	const struct report_input *in = r->calls;
	const struct symbol *s = &in->symbols->at[id];
	const struct object_file *o = report_object_file(in, id);
	if (!o || (!object_kept(o) && !object_has_code(o)))
		return;
	uint64_t base = in->symbols->parts[s->part].base;
	struct compared_code code = { .slot = comparison_slot_of(c, r, id),
				      .low = s->addr - base,
				      .high = s->end - base };
	find_code(c, in, id, o, &code);
	vec_push(&c->side[side].code, code);
}

void comparison_add_code(struct comparison *c, int side, const struct comparison_recording *r)
{
	if (!r->calls || c->o.by_line || c->side[side].recordings.n)
		return;
	c->side[side].kept = kept_ref(r->calls->profile->kept);
	for (symid id = 0; id < r->calls->graph->n_symbols; id++)
		if (has_own_code(r->calls, id))
			add_function(c, side, r, id);
}

/* ---- reading code ---- */

/* Keeps one file open at a time: functions of the same file follow each other. */
struct code_reader {
	const struct comparison *c;
	struct object_file *object;       /* NULL: it cannot be read, or is a different build now */
	const struct compared_code *code; /* the last code in it; NULL: nothing was read yet */
};

static bool is_same_object(const struct compared_code *a, const struct compared_code *b)
{
	return a->kept == b->kept && a->path == b->path && a->build_id == b->build_id;
}

static void open_object(struct code_reader *r, const struct compared_code *code)
{
	if (r->code && is_same_object(r->code, code))
		return;
	const char *path = strtab_get(r->c->strings, code->path);
	struct object_opts opts = { .no_debug_files = true,
				    .build_id = strtab_get(r->c->strings, code->build_id) };
	object_free(TAKE(r->object));
	r->code = code;
	if (!code->path)
		r->object = code->kept ? object_of_kept(code->kept) : NULL;
	else if (!code->kept || kept_is_of_file(code->kept, path))
		kin_error_free(object_open(path, &opts, &r->object));
}

/* The gist of the code of each function that only this side has; 0: not known. To be freed. */
static uint64_t *gists_of(struct comparison *c, int side)
{
	struct code_reader r = { .c = c };
	size_t n = c->side[side].code.n;
	uint64_t *ret = xalloc((n + 1) * sizeof(*ret));
	for (size_t i = 0; i < n; i++) {
		const struct compared_code *code = &c->side[side].code.at[i];
		if (!comparison_is_alone(&c->at.at[code->slot], side))
			continue;
		open_object(&r, code);
		ret[i] = r.object ? object_gist(r.object, code->low, code->high) : 0;
		c->side[side].unread += !code->kept && !code->path;
	}
	object_free(r.object);
	return ret;
}

/* Maps gists to slots; to NONE if several functions have the same gist. */
static struct map64 index_gists(const struct comparison_side *s, const uint64_t *gists)
{
	struct map64 ret = { 0 };
	for (size_t i = 0; i < s->code.n; i++) {
		size_t before = ret.n;
		uint32_t *slot = gists[i] ? map64_at(&ret, gists[i]) : NULL;
		if (slot)
			*slot = ret.n > before ? s->code.at[i].slot : NONE;
	}
	return ret;
}

static bool any_alone(const struct comparison *c, int side)
{
	for (size_t i = 0; i < c->side[side].code.n; i++)
		if (comparison_is_alone(&c->at.at[c->side[side].code.at[i].slot], side))
			return true;
	return false;
}

void comparison_match_code(struct comparison *c)
{
	uint64_t *gists[REPEATS_SIDES];
	struct map64 index[REPEATS_SIDES];
	if (!any_alone(c, BEFORE) || !any_alone(c, AFTER))
		return;
	for (int i = 0; i < REPEATS_SIDES; i++) {
		gists[i] = gists_of(c, i);
		index[i] = index_gists(&c->side[i], gists[i]);
	}
	for (size_t i = 0; i < c->side[AFTER].code.n; i++) {
		uint64_t gist = gists[AFTER][i];
		uint32_t slot = gist ? map64_get(&index[AFTER], gist) : NONE;
		uint32_t before = slot != NONE ? map64_get(&index[BEFORE], gist) : NONE;
		/* Functions with equal names share a slot, and one of them may have a match
		 * already. */
		if (before != NONE && comparison_is_alone(&c->at.at[slot], AFTER) &&
		    comparison_is_alone(&c->at.at[before], BEFORE))
			comparison_join(c, before, slot, FATE_SAME_CODE);
	}
	for (int i = 0; i < REPEATS_SIDES; i++) {
		free(gists[i]);
		map64_free(&index[i]);
	}
}

/* tail_calls.c - compares the function that was called with the one that runs, and searches for the
 * way from one to the other. */
#include "symbolize/tail_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/vec.h"
#include "symbolize/program_private.h"

enum {
	WAYS_MAX = 64,          /* functions that are looked at for one way */
	DEPTH_MAX = 16,         /* functions on it */
	TABLES_MAX = 1 << 20,   /* larger symbol tables are not read for this */
	FUNCTION_MAX = 1 << 16, /* bytes of code of one function */
};

struct jump {
	uint64_t site;
	symid to;
};

struct function_jumps { /* jumps[first .. first + n) leave the function */
	uint32_t first, n;
	bool is_known; /* all of them are */
};

struct way { /* frames[first .. first + n) lie between caller and callee */
	uint32_t first, n;
	bool is_unknown; /* something is missing, but not known */
};

struct tail_calls {
	struct profile *p;
	struct program_files *files;
	const struct recorded_opts *how;
	bool *looked; /* [n_objects] */
	symid *runs;  /* [n_frames]: the function, as owner in its object's symbols; or NONE */
	symid *calls; /* [n_frames]: the function that the call before this address calls; or NONE
		       */
	size_t n_frames;

	struct map64 jumps_of; /* (object, function): index in `functions` */
	VEC(struct function_jumps) functions;
	VEC(struct jump) jumps;
	struct map64 way_of; /* (frame of the caller, function that runs): index in `ways` */
	VEC(struct way) ways;
	VEC(frameid) frames;
};

/* ---- functions of frames ---- */

/* What cannot be opened, or not as it ran, is left to programs, which say so. */
static void open_object(struct tail_calls *t, objid id)
{
	struct symbols_opts opts = { .table.exact = true };
	struct kin_error *instead = NULL, *err = NULL;

	t->looked[id] = true;
	program_files_grow(t->files, t->p->n_objects);
	struct object_file **at = &t->files->at[id];
	if (t->p->objects[id].kind != OBJECT_ELF || recorded_is_made_up(t->p, id))
		return;
	if (!*at)
		err = recorded_object(t->p, id, t->how, at, &instead);
	if (*at && instead) {
		object_free(*at);
		*at = NULL;
	}
	if (*at && !t->files->symbols[id] && object_has_code(*at) &&
	    object_table_bytes(*at) <= TABLES_MAX)
		kin_error_free(symbols_new(*at, &opts, &t->files->symbols[id]));
	kin_error_free(instead);
	kin_error_free(err);
}

static const struct symbols *symbols_of(struct tail_calls *t, objid id)
{
	if (!t->looked[id])
		open_object(t, id);
	return t->files->symbols[id];
}

static symid owner_at(const struct symbols *s, uint64_t addr)
{
	symid id = symbols_find(s, addr);
	return id == NONE ? NONE : s->at[id].owner;
}

/* Entries of linkage tables, and what compilers call instead of calling by pointer. */
static bool leads_anywhere(const char *name)
{
	static const char plt[] = "@plt", thunk[] = "__x86_indirect_", llvm[] = "__llvm_retpoline_";
	size_t n = strlen(name);

	return (n >= sizeof(plt) && !strcmp(name + n - (sizeof(plt) - 1), plt)) ||
	       !strncmp(name, thunk, sizeof(thunk) - 1) || !strncmp(name, llvm, sizeof(llvm) - 1);
}

static void find_functions(struct tail_calls *t)
{
	const struct samples *s = &t->p->samples;

	t->n_frames = s->n_frames;
	t->runs = xrealloc(NULL, s->n_frames, sizeof(*t->runs));
	t->calls = xrealloc(NULL, s->n_frames, sizeof(*t->calls));
	for (size_t i = 0; i < s->n_frames; i++) {
		const struct frame *f = &s->frames[i];
		t->runs[i] = t->calls[i] = NONE;
		if (!i || f->name || f->flags & (FRAME_KERNEL | FRAME_MARK | FRAME_INLINED))
			continue;
		const struct symbols *symbols = symbols_of(t, f->object);
		if (!symbols)
			continue;
		struct object_file *file = t->files->at[f->object];
		uint64_t target;
		bool is_return = program_is_return(file, symbols, f);
		t->runs[i] = owner_at(symbols, f->addr - is_return);
		if (is_return && object_call_before(file, f->addr, &target)) {
			symid id = symbols_find_start(symbols, target);
			bool is_any = id == NONE || leads_anywhere(symbols->at[id].name);
			t->calls[i] = is_any ? NONE : symbols->at[id].owner;
		}
	}
}

/* ---- jumps of functions ---- */

struct jump_finder {
	struct tail_calls *t;
	const struct symbols *symbols;
	symid function;
	bool is_known;
};

/* A jump to the rest of the function, in another place of the file, is none to another function. */
static void add_jump(uint64_t site, uint64_t target, void *arg)
{
	struct jump_finder *f = arg;
	symid id = symbols_find(f->symbols, target);
	symid to = id == NONE ? NONE : f->symbols->at[id].owner;

	if (to == f->function)
		return;
	if (to == NONE || f->symbols->at[id].addr != target)
		f->is_known = false;
	else
		vec_push(&f->t->jumps, ((struct jump){ site, to }));
}

/* Split parts of a function lie elsewhere, mostly near it. */
static bool read_part(struct jump_finder *f, struct object_file *file, const struct symbol *part)
{
	return part->end - part->addr <= FUNCTION_MAX &&
	       object_tail_calls(file, part->addr, part->end, add_jump, f);
}

static const struct function_jumps *jumps_of(struct tail_calls *t, objid object, symid function)
{
	uint32_t *known = map64_at(&t->jumps_of, MAP64_PAIR(object, function));

	if (*known == NONE) {
		struct jump_finder f = { t, t->files->symbols[object], function, true };
		uint32_t first = (uint32_t)t->jumps.n;
		bool is_read = read_part(&f, t->files->at[object], &f.symbols->at[function]);
		*known = (uint32_t)t->functions.n;
		vec_push(&t->functions,
			 ((struct function_jumps){ first, (uint32_t)t->jumps.n - first,
						   is_read && f.is_known }));
	}
	return &t->functions.at[*known];
}

/* ---- ways ---- */

struct way_search {
	struct tail_calls *t;
	objid object;
	symid to;
	symid path[DEPTH_MAX];     /* functions from the one that was called on */
	uint64_t sites[DEPTH_MAX]; /* of the jumps that leave them */
	uint64_t way[DEPTH_MAX];   /* `sites` of the first way that was found */
	uint32_t n_way, n_ways;
	uint32_t looked; /* functions that were looked at */
	bool is_known;   /* no other ways are possible */
};

static bool is_on_path(const struct way_search *w, uint32_t n, symid function)
{
	uint32_t i = 0;
	while (i < n && w->path[i] != function)
		i++;
	return i < n;
}

/* Several jumps from one function to another are one way. */
static bool is_first(const struct tail_calls *t, const struct function_jumps *jumps, uint32_t k)
{
	uint32_t i = 0;
	while (t->jumps.at[jumps->first + i].to != t->jumps.at[jumps->first + k].to)
		i++;
	return i == k;
}

/* Follows the jumps of the last of `n` functions on the path. A way has no function twice. */
static void follow(struct way_search *w, uint32_t n)
{
	const struct function_jumps jumps = *jumps_of(w->t, w->object, w->path[n - 1]);

	w->is_known &= jumps.is_known && n < DEPTH_MAX && w->looked++ < WAYS_MAX;
	for (uint32_t k = 0; k < jumps.n && w->is_known; k++) {
		struct jump j = w->t->jumps.at[jumps.first + k];
		if (is_on_path(w, n, j.to) || !is_first(w->t, &jumps, k))
			continue;
		w->sites[n - 1] = j.site;
		if (j.to != w->to) {
			w->path[n] = j.to;
			follow(w, n + 1);
		} else if (!w->n_ways++) {
			memcpy(w->way, w->sites, n * sizeof(*w->way));
			w->n_way = n;
		}
	}
}

static struct way find_way(struct tail_calls *t, objid object, symid from, symid to)
{
	struct way_search w = {
		.t = t, .object = object, .to = to, .path = { from }, .is_known = true
	};
	struct way ret = { .first = (uint32_t)t->frames.n };

	follow(&w, 1);
	ret.is_unknown = !w.is_known || w.n_ways > 1;
	for (uint32_t i = 0; i < w.n_way && !ret.is_unknown; i++, ret.n++)
		vec_push(&t->frames,
			 profile_append_frame(t->p, (struct frame){ .addr = w.way[i],
								    .object = object,
								    .flags = FRAME_TAIL_CALL }));
	return ret;
}

/* NULL: nothing is missing between the two. */
static const struct way *way_between(struct tail_calls *t, frameid caller, frameid callee)
{
	if (caller >= t->n_frames || t->calls[caller] == NONE || t->runs[callee] == NONE ||
	    t->calls[caller] == t->runs[callee])
		return NULL;
	objid object = t->p->samples.frames[caller].object;
	if (object != t->p->samples.frames[callee].object)
		return NULL;
	uint32_t *known = map64_at(&t->way_of, MAP64_PAIR(caller, t->runs[callee]));
	if (*known == NONE) {
		*known = (uint32_t)t->ways.n;
		vec_push(&t->ways, find_way(t, object, t->calls[caller], t->runs[callee]));
	}
	return &t->ways.at[*known];
}

/* ---- stacks ---- */

static bool is_any_missing(struct tail_calls *t)
{
	const struct stack *stacks = t->p->samples.stacks;
	bool any = false;

	for (size_t i = 1; i < t->p->samples.n_stacks; i++) {
		const struct way *way =
			way_between(t, stacks[stacks[i].caller].frame, stacks[i].frame);
		any |= way && (way->n || way->is_unknown);
	}
	return any;
}

static stackid put_back(void *arg, struct revised_stacks *r, stackid stack, stackid caller)
{
	struct tail_calls *t = arg;
	const struct stack *stacks = t->p->samples.stacks;
	const struct way *way =
		way_between(t, stacks[stacks[stack].caller].frame, stacks[stack].frame);

	for (uint32_t i = 0; way && i < way->n; i++)
		caller = revised_stacks_add(r, caller, t->frames.at[way->first + i]);
	return caller;
}

static struct tail_calls_found shares(struct tail_calls *t, uint16_t event)
{
	enum { PUT_BACK = 1, UNKNOWN = 2 };
	const struct samples *s = &t->p->samples;
	uint8_t *has = xalloc(s->n_stacks + 1);
	double all = 0, back = 0, unknown = 0;

	for (size_t i = 1; i < s->n_stacks; i++) {
		const struct stack *at = &s->stacks[i];
		const struct way *way = way_between(t, s->stacks[at->caller].frame, at->frame);
		has[i] = has[at->caller] | (way && way->n ? PUT_BACK : 0) |
			 (way && way->is_unknown ? UNKNOWN : 0);
	}
	for (size_t i = 0; i < s->n; i++) {
		double weight = s->at[i].event == event ? (double)s->at[i].weight : 0;
		all += weight;
		back += has[s->at[i].stack] & PUT_BACK ? weight : 0;
		unknown += has[s->at[i].stack] & UNKNOWN ? weight : 0;
	}
	free(has);
	all = all > 0 ? all : 1;
	return (struct tail_calls_found){ back / all, unknown / all };
}

struct tail_calls_found tail_calls_put_back(struct profile *p, struct program_files *files,
					    const struct recorded_opts *how, uint16_t event)
{
	struct tail_calls t = { .p = p, .files = files, .how = how };
	struct tail_calls_found ret = { 0 };

	if (!samples_have_callers(&p->samples))
		return ret;
	t.looked = xalloc(p->n_objects + 1);
	find_functions(&t);
	if (is_any_missing(&t)) {
		ret = shares(&t, event);
		if (t.frames.n)
			profile_revise_callers(p, put_back, &t);
	}
	free(t.looked);
	free(t.runs);
	free(t.calls);
	map64_free(&t.jumps_of);
	map64_free(&t.way_of);
	vec_free(&t.functions);
	vec_free(&t.jumps);
	vec_free(&t.ways);
	vec_free(&t.frames);
	return ret;
}

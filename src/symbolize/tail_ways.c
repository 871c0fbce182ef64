/* tail_ways.c - follows jumps from function to function, or looks up what was found so before. */
#include "symbolize/tail_ways.h"

#include <stdlib.h>
#include <string.h>

#include "base/map64.h"
#include "base/vec.h"
#include "symbolize/program_private.h"

enum {
	WAYS_MAX = 64,              /* functions that are looked at for one way */
	DEPTH_MAX = KEPT_JUMPS_MAX, /* functions on it */
	FUNCTION_MAX = 1 << 16,     /* bytes of code of one function */
	PARTS_MAX = 8,              /* split parts of one function */
};

struct jump {
	uint64_t site;
	symid to;
};

struct function_jumps { /* jumps[first .. first + n) leave the function */
	uint32_t first, n;
	bool is_known; /* all of them are */
};

struct way { /* sites[first .. first + n) lie between the functions */
	uint32_t first, n;
	bool is_false;
};

struct tail_ways {
	const struct kept_object *kept; /* NULL: they are searched for in the file: */
	struct object_file *file;
	const struct symbols *symbols;
	struct map64 jumps_of; /* function: index in `functions` */
	VEC(struct function_jumps) functions;
	VEC(struct jump) jumps;
	struct map64 way_of; /* (function called, function that runs): index in `ways` */
	VEC(struct way) ways;
	VEC(uint64_t) sites;
};

bool tail_ways_pay(const struct object_file *file)
{
	return object_has_code(file) && object_table_bytes(file) <= SYMBOLS_LARGE;
}

struct tail_ways *tail_ways_new(struct object_file *file, const struct symbols *s)
{
	struct tail_ways *w = xalloc(sizeof(*w));

	w->file = file;
	w->symbols = s;
	return w;
}

struct tail_ways *tail_ways_kept(const struct kept_object *k)
{
	struct tail_ways *w = xalloc(sizeof(*w));

	w->kept = k;
	return w;
}

void tail_ways_free(struct tail_ways *w)
{
	if (!w)
		return;
	map64_free(&w->jumps_of);
	map64_free(&w->way_of);
	vec_free(&w->functions);
	vec_free(&w->jumps);
	vec_free(&w->ways);
	vec_free(&w->sites);
	free(w);
}

/* ---- functions of frames ---- */

bool tail_ways_has_code(const struct frame *f)
{
	return !f->name && !(f->flags & (FRAME_KERNEL | FRAME_MARK | FRAME_INLINED));
}

/* Entries of linkage tables, and what compilers call instead of calling by pointer. */
static bool leads_anywhere(const char *name)
{
	static const char plt[] = "@plt", thunk[] = "__x86_indirect_", llvm[] = "__llvm_retpoline_";
	size_t n = strlen(name);

	return (n >= sizeof(plt) && !strcmp(name + n - (sizeof(plt) - 1), plt)) ||
	       !strncmp(name, thunk, sizeof(thunk) - 1) || !strncmp(name, llvm, sizeof(llvm) - 1);
}

/* What is kept tells where the call led, but not which function it names: calls are numbered behind
 * the functions. */
static uint32_t kept_called(const struct kept_object *k, const struct frame *f)
{
	uint32_t call = tail_ways_has_code(f) ? kept_tail_call_at(k, f->addr) : NONE;
	return call == NONE ? NONE : (uint32_t)k->symbols.n + call;
}

uint32_t tail_ways_called(const struct tail_ways *w, const struct frame *f)
{
	uint64_t target;

	if (w->kept)
		return kept_called(w->kept, f);
	if (!tail_ways_has_code(f) || !program_is_return(w->file, w->symbols, f) ||
	    !object_call_before(w->file, f->addr, &target))
		return NONE;
	/* The last call of a function that does not return may be another one's. */
	if (symbols_find_start(w->symbols, f->addr) != NONE)
		return NONE;
	symid id = symbols_find_start(w->symbols, target);
	bool is_any = id == NONE || leads_anywhere(w->symbols->at[id].name);
	return is_any ? NONE : w->symbols->at[id].owner;
}

/* Who was interrupted by a signal did not call the code that leads back. Call-frame information of
 * that may begin one byte before it. */
static bool returns_from_signal(const struct object_file *file, const struct symbol *s)
{
	return object_returns_from_signal(file, s->addr) ||
	       object_returns_from_signal(file, s->addr + 1);
}

uint32_t tail_ways_running(const struct tail_ways *w, const struct frame *f)
{
	bool is_return = f->flags & FRAME_RETURN && f->addr;

	if (w->kept)
		return tail_ways_has_code(f) ? kept_function_at(w->kept, f->addr - is_return)
					     : NONE;
	if (!tail_ways_has_code(f) || (is_return && !program_is_return(w->file, w->symbols, f)))
		return NONE;
	symid id = symbols_find(w->symbols, f->addr - is_return);
	symid owner = id == NONE ? NONE : w->symbols->at[id].owner;
	return owner == NONE || returns_from_signal(w->file, &w->symbols->at[owner]) ? NONE : owner;
}

uint64_t tail_ways_start(const struct tail_ways *w, uint32_t function)
{
	return w->symbols->at[function].addr;
}

/* ---- jumps of functions ---- */

struct jump_finder {
	struct tail_ways *w;
	symid function;
	symid parts[PARTS_MAX]; /* of the function, which is the first */
	uint32_t n_parts;
	bool is_known;
};

static void add_part(struct jump_finder *f, symid part)
{
	uint32_t i = 0;
	while (i < f->n_parts && f->parts[i] != part)
		i++;
	if (i == PARTS_MAX)
		f->is_known = false;
	else if (i == f->n_parts)
		f->parts[f->n_parts++] = part;
}

/* A jump to the rest of the function, in another place of the file, is none to another function. */
static void add_jump(uint64_t site, uint64_t target, void *arg)
{
	struct jump_finder *f = arg;
	const struct symbols *s = f->w->symbols;
	symid id = symbols_find(s, target), to = id == NONE ? NONE : s->at[id].owner;

	if (to == f->function)
		add_part(f, id);
	else if (to == NONE || s->at[id].addr != target)
		f->is_known = false;
	else
		vec_push(&f->w->jumps, ((struct jump){ site, to }));
}

/* Split parts of a function lie elsewhere, and are known by the jumps to them. */
static void read_parts(struct jump_finder *f)
{
	for (uint32_t i = 0; i < f->n_parts && f->is_known; i++) {
		const struct symbol *part = &f->w->symbols->at[f->parts[i]];
		f->is_known &= part->end - part->addr <= FUNCTION_MAX &&
			       object_tail_calls(f->w->file, part->addr, part->end, add_jump, f);
	}
}

static const struct function_jumps *jumps_of(struct tail_ways *w, symid function)
{
	uint32_t *known = map64_at(&w->jumps_of, function);

	if (*known == NONE) {
		struct jump_finder f = { w, function, { function }, 1, true };
		uint32_t first = (uint32_t)w->jumps.n;
		read_parts(&f);
		*known = (uint32_t)w->functions.n;
		vec_push(&w->functions, ((struct function_jumps){
						first, (uint32_t)w->jumps.n - first, f.is_known }));
	}
	return &w->functions.at[*known];
}

/* ---- ways ---- */

struct way_search {
	struct tail_ways *w;
	symid to;
	symid path[DEPTH_MAX];     /* functions from the one that was called on */
	uint64_t sites[DEPTH_MAX]; /* of the jumps that leave them */
	uint64_t way[DEPTH_MAX];   /* `sites` of the first way that was found */
	uint32_t n_way, n_ways;
	uint32_t looked; /* functions that were looked at */
	bool is_known;   /* no other ways are possible */
};

static bool is_on_path(const struct way_search *x, uint32_t n, symid function)
{
	uint32_t i = 0;
	while (i < n && x->path[i] != function)
		i++;
	return i < n;
}

/* Several jumps from one function to another are one way. */
static bool is_first(const struct tail_ways *w, const struct function_jumps *jumps, uint32_t k)
{
	uint32_t i = 0;
	while (w->jumps.at[jumps->first + i].to != w->jumps.at[jumps->first + k].to)
		i++;
	return i == k;
}

/* Follows the jumps of the last of `n` functions on the path. A way has no function twice. */
static void follow(struct way_search *x, uint32_t n)
{
	const struct function_jumps jumps = *jumps_of(x->w, x->path[n - 1]);

	x->is_known &= jumps.is_known && n < DEPTH_MAX && x->looked++ < WAYS_MAX;
	for (uint32_t k = 0; k < jumps.n && x->is_known; k++) {
		struct jump j = x->w->jumps.at[jumps.first + k];
		if (is_on_path(x, n, j.to) || !is_first(x->w, &jumps, k))
			continue;
		x->sites[n - 1] = j.site;
		if (j.to != x->to) {
			x->path[n] = j.to;
			follow(x, n + 1);
		} else if (!x->n_ways++) {
			memcpy(x->way, x->sites, n * sizeof(*x->way));
			x->n_way = n;
		}
	}
}

static struct way search_way(struct tail_ways *w, symid from, symid to)
{
	struct way_search x = { .w = w, .to = to, .path = { from }, .is_known = true };
	struct way ret = { .first = (uint32_t)w->sites.n };

	follow(&x, 1);
	ret.is_false = x.is_known && !x.n_ways;
	for (uint32_t i = 0; i < x.n_way && x.is_known && x.n_ways == 1; i++, ret.n++)
		vec_push(&w->sites, x.way[i]);
	return ret;
}

static bool find_kept(const struct kept_object *k, uint32_t call, uint64_t to, struct tail_way *ret)
{
	uint64_t addr = k->tail_calls.at[call].addr;

	for (; call < k->tail_calls.n && k->tail_calls.at[call].addr == addr; call++) {
		const struct kept_tail_call *c = &k->tail_calls.at[call];
		*ret = (struct tail_way){ c->jump, kept_n_jumps(c), c->n == KEPT_NO_WAY };
		if (c->to == to)
			return true;
	}
	return false;
}

bool tail_ways_find(struct tail_ways *w, uint32_t from, uint32_t to, struct tail_way *ret)
{
	if (w->kept)
		return find_kept(w->kept, from - (uint32_t)w->kept->symbols.n,
				 w->kept->symbols.at[to].addr, ret);
	if (from == to)
		return false;
	uint32_t *known = map64_at(&w->way_of, MAP64_PAIR(from, to));
	if (*known == NONE) {
		*known = (uint32_t)w->ways.n;
		vec_push(&w->ways, search_way(w, from, to));
	}
	const struct way *way = &w->ways.at[*known];
	*ret = (struct tail_way){ w->sites.at + way->first, way->n, way->is_false };
	return true;
}

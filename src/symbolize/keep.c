/* keep.c - asks the objects of a profile about the addresses that were hit, and keeps the answers.
 */
#include "symbolize/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map64.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "names/kept.h"
#include "symbolize/hit_addresses.h"
#include "symbolize/recorded.h"
#include "symbolize/tail_ways.h"

struct call { /* one frame below the other on some stack */
	frameid caller, callee;
};
struct calls {
	VEC(struct call) at;
};

struct keeper {
	const struct profile *p;
	const struct keep_opts *opts;
	struct kept *kept;
	struct hit_addresses *hit; /* [n_objects] */
	struct calls *calls;       /* [n_objects]: those within the object, each once */
	struct kin_error *trouble; /* the first one */
};

/* ---- one object ---- */

enum names_wanted { WANT_NAME = 1, WANT_ALL = 3 }; /* with its lines, and code if that is kept */

struct asked {
	struct keeper *k;
	objid id;
	struct object_file *file;
	struct hit_addresses *hit;
	const struct calls *calls;
	struct symbol_table table;
	uint8_t *wanted;     /* [table.n]: enum names_wanted */
	struct map64 starts; /* address -> the symbol that is wanted */
	struct line_run *runs;
	size_t n_runs;
	uint8_t *wanted_runs; /* [n_runs] */
	VEC(uint64_t)
	shown; /* addresses whose inlined functions are kept: those hit, and those of kept code */
	struct kept_object *o;
};

static void want(struct asked *a, uint32_t symbol)
{
	if (symbol == NONE)
		return;
	a->wanted[symbol] = WANT_ALL;
	a->wanted[a->table.at[symbol].owner] = WANT_ALL;
}

static void want_namesakes(struct asked *a)
{
	bool *marked = xalloc(a->table.n);

	for (size_t i = 0; i < a->table.n; i++)
		marked[i] = a->wanted[i] == WANT_ALL;
	symbol_mark_namesakes(&a->table, marked);
	for (uint32_t i = 0; i < a->table.n; i++)
		if (marked[i])
			want(a, i);
	free(marked);
}

/* Marks the symbols that were hit, and the first and the last of all: then places end where they
 * would with all symbols. */
static void want_symbols(struct asked *a)
{
	if (!a->table.n)
		return;
	a->wanted[0] = a->wanted[a->table.n - 1] = WANT_NAME;
	for (size_t i = 0; i < a->hit->n; i++)
		want(a, symbol_covering(&a->table, a->hit->at[i]));
	if (object_table_bytes(a->file) <= SYMBOLS_LARGE)
		want_namesakes(a);
	for (size_t i = 0; i < a->table.n && a->k->opts->whole; i++) /* all split parts */
		if (a->wanted[a->table.at[i].owner] == WANT_ALL)
			a->wanted[i] = WANT_ALL;
}

static bool is_usable(const struct line_run *r)
{
	return r->at.function && r->at.file && r->at.line;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool same_place(const struct srcloc *a, const struct srcloc *b)
{
	return a->line == b->line && same_text(a->file, b->file) &&
	       same_text(a->function, b->function);
}

/* Marks the run that contains an address, and the runs before it in this function back to one with
 * another line, that one included. Neighbours with the same line are one place, and the run with
 * the other line tells where it begins. */
static void want_run(struct asked *a, uint64_t addr)
{
	size_t low = COUNT_WHILE(a->n_runs, i, a->runs[i].addr <= addr);
	size_t symbol = COUNT_WHILE(a->table.n, i, a->table.at[i].addr <= addr);
	uint64_t start = symbol ? a->table.at[symbol - 1].addr : 0;
	size_t first = COUNT_WHILE(a->n_runs, i, a->runs[i].end <= start);
	if (first >= low)
		return;
	size_t i = low - 1;
	if (addr < a->runs[i].end)
		a->wanted_runs[i] = 1;
	while (i > first && !is_usable(&a->runs[i]))
		i--;
	for (const struct line_run *own = &a->runs[i];; i--) {
		a->wanted_runs[i] = 1;
		if (i == first || (is_usable(&a->runs[i]) && !same_place(&a->runs[i].at, &own->at)))
			return;
	}
}

/* The ranges of the wanted functions. */
static struct address_ranges ranges_of(const struct asked *a)
{
	struct address_ranges r = { 0 };
	for (size_t i = 0; i < a->table.n; i++) {
		const struct object_symbol *s = &a->table.at[i];
		struct address_range *last = r.n ? &r.at[r.n - 1] : NULL;
		if (a->wanted[i] != WANT_ALL)
			continue;
		if (last && last->high == s->addr)
			last->high = s->end;
		else
			vec_push(&r, ((struct address_range){ s->addr, s->end }));
	}
	return r;
}

/* The ranges in which want_run() marks runs: wanted functions, the functions before them, from
 * which a run may reach into them, and hit addresses outside of functions. Each range reaches to
 * the next symbol. */
static struct address_ranges ranges_of_runs(const struct asked *a)
{
	struct address_ranges r = { 0 };
	const struct symbol_table *t = &a->table;
	const struct hit_addresses *hit = a->hit;
	uint64_t first = t->n ? t->at[0].addr : UINT64_MAX;

	if (hit->n && hit->at[0] < first)
		vec_push(&r, ((struct address_range){ hit->at[0], first }));
	for (size_t i = 0, k = 0; i < t->n; i++) {
		bool is_last = i + 1 == t->n;
		uint64_t low = t->at[i].addr, high = is_last ? UINT64_MAX : t->at[i + 1].addr;
		while (k < hit->n && hit->at[k] < low)
			k++;
		if (a->wanted[i] == WANT_ALL || (k < hit->n && hit->at[k] < high) ||
		    (!is_last && a->wanted[i + 1] == WANT_ALL))
			vec_push(&r, ((struct address_range){ low, high }));
	}
	return r;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Marks all lines of the source files that were hit, and their functions. */
static void want_files(struct asked *a)
{
	VEC(const char *) files = { 0 };
	for (size_t i = 0; i < a->n_runs; i++)
		if (a->wanted_runs[i] && a->runs[i].at.file &&
		    (!files.n || files.at[files.n - 1] != a->runs[i].at.file))
			vec_push(&files, a->runs[i].at.file);
	if (files.n)
		qsort(files.at, files.n, sizeof(*files.at), by_text);
	for (size_t i = 0; i < a->n_runs; i++) {
		const char *file = a->runs[i].at.file;
		if (!file || !files.n ||
		    !bsearch(&file, files.at, files.n, sizeof(*files.at), by_text))
			continue;
		a->wanted_runs[i] = 1;
		want(a, symbol_covering(&a->table, a->runs[i].addr));
	}
	vec_free(&files);
}

static void want_runs(struct asked *a)
{
	bool whole = a->k->opts->whole;
	struct address_ranges r = whole ? ranges_of(a) : ranges_of_runs(a);
	a->runs = whole ? object_line_runs(a->file, object_text(a->file), NULL, &a->n_runs)
			: object_line_runs_of(a->file, &r, &a->n_runs);
	a->wanted_runs = xalloc(a->n_runs + 1);
	for (size_t i = 0; i < a->hit->n; i++)
		want_run(a, a->hit->at[i]);
	for (size_t i = 0; i < a->table.n; i++)
		if (a->wanted[i] == WANT_ALL)
			want_run(a, a->table.at[i].addr);
	for (size_t i = 0, k = 0; whole && i < a->n_runs; i++) {
		while (k < r.n && r.at[k].high <= a->runs[i].addr)
			k++;
		a->wanted_runs[i] |= k < r.n && r.at[k].low < a->runs[i].end;
	}
	vec_free(&r);
	if (whole)
		want_files(a);
}

static void want_target(const struct object_step *step, void *asked)
{
	struct asked *a = asked;
	uint32_t i = symbol_covering(&a->table, step->target);
	vec_push(&a->shown, step->addr);
	if (i != NONE)
		a->wanted[i] |= WANT_NAME;
}

/* Marks the targets of jumps and calls in kept code, as reports show their names beside the
 * instruction. */
static void want_targets(struct asked *a)
{
	struct address_ranges r = ranges_of(a);
	for (size_t i = 0; i < r.n; i++)
		if (!object_steps(a->file, r.at[i].low, r.at[i].high, want_target, a))
			break; /* nothing can be disassembled */
	vec_free(&r);
}

/* ---- tail calls ---- */

static void find_calls(struct keeper *k)
{
	const struct samples *s = &k->p->samples;
	struct map64 seen = { 0 };

	for (size_t i = 1; i < s->n_stacks; i++) {
		struct call c = { s->stacks[s->stacks[i].caller].frame, s->stacks[i].frame };
		const struct frame *above = &s->frames[c.caller], *below = &s->frames[c.callee];
		uint32_t *at;
		if (!c.caller || above->object != below->object || !tail_ways_has_code(above) ||
		    !tail_ways_has_code(below) ||
		    *(at = map64_at(&seen, MAP64_PAIR(c.caller, c.callee))) != NONE)
			continue;
		*at = 0;
		vec_push(&k->calls[above->object].at, c);
	}
	map64_free(&seen);
}

static void keep_tail_call(struct asked *a, uint64_t addr, uint64_t to, const uint64_t *jump,
			   uint32_t n)
{
	kept_add_tail_call(a->o, addr, to, jump, n);
	for (uint32_t i = 0; i < n && n != KEPT_NO_WAY; i++)
		vec_push(a->hit, jump[i]);
}

static void search_tail_calls(struct asked *a)
{
	const struct frame *frames = a->k->p->samples.frames;
	struct symbols_opts opts = { .table.exact = true };
	struct symbols *s = NULL;

	if (a->calls->at.n && tail_ways_pay(a->file))
		kin_error_free(symbols_new(a->file, &opts, &s));
	struct tail_ways *w = s ? tail_ways_new(a->file, s) : NULL;
	for (size_t i = 0; w && i < a->calls->at.n; i++) {
		const struct call *c = &a->calls->at.at[i];
		symid from = tail_ways_called(w, &frames[c->caller]);
		symid to = from == NONE ? NONE : tail_ways_running(w, &frames[c->callee]);
		struct tail_way way;
		if (to != NONE && tail_ways_find(w, from, to, &way))
			keep_tail_call(a, frames[c->caller].addr, tail_ways_start(w, to), way.jump,
				       way.is_false ? KEPT_NO_WAY : way.n);
	}
	tail_ways_free(w);
	symbols_free(s);
	a->o->flags |= KEPT_TAIL_CALLS;
}

/* Jumps count as addresses that were hit: reports show them as frames. */
static void keep_tail_calls(struct asked *a)
{
	const struct kept_object *kept = object_kept(a->file);

	if (!kept && a->k->p->objects[a->id].kind == OBJECT_ELF)
		search_tail_calls(a);
	for (size_t i = 0; kept && i < kept->tail_calls.n; i++) {
		const struct kept_tail_call *t = &kept->tail_calls.at[i];
		keep_tail_call(a, t->addr, t->to, t->jump, t->n);
	}
	a->hit->n = sort_unique(a->hit->at, a->hit->n);
}

/* ---- keeping ---- */

static void keep_symbols(struct asked *a)
{
	struct kept *k = a->k->kept;
	for (size_t i = 0; i < a->table.n; i++) {
		const struct object_symbol *s = &a->table.at[i];
		if (!a->wanted[i] || !*s->name)
			continue;
		vec_push(&a->o->symbols, ((struct kept_symbol){ .addr = s->addr,
								.end = s->end,
								.owner = a->table.at[s->owner].addr,
								.name = kept_string(k, s->name),
								.flags = s->flags,
								.position = s->position }));
	}
}

static void see_name(void *asked, const char *name, uint64_t addr)
{
	struct asked *a = asked;
	uint32_t i = map64_get(&a->starts, addr);
	if (i != NONE && *name && strcmp(a->table.at[i].name, name) != 0)
		vec_push(&a->o->aliases,
			 ((struct kept_alias){ addr, kept_string(a->k->kept, name) }));
}

/* Keeps other names of the wanted symbols. */
static void keep_aliases(struct asked *a)
{
	for (size_t i = 0; i < a->table.n; i++)
		if (a->wanted[i] && a->table.at[i].addr < a->table.at[i].end)
			*map64_at(&a->starts, a->table.at[i].addr) = (uint32_t)i;
	object_for_each_name(a->file, see_name, a);
	map64_free(&a->starts);
}

static void keep_runs(struct asked *a)
{
	struct kept *k = a->k->kept;
	for (size_t i = 0; i < a->n_runs; i++) {
		const struct line_run *r = &a->runs[i];
		if (a->wanted_runs[i])
			vec_push(&a->o->lines,
				 ((struct kept_line){ r->addr, r->end,
						      kept_string(k, r->at.function),
						      kept_string(k, r->at.file), r->at.line }));
	}
}

static void keep_inlines(struct asked *a)
{
	size_t n;
	for (size_t i = 0; i < a->hit->n; i++)
		vec_push(&a->shown, a->hit->at[i]);
	a->shown.n = sort_unique(a->shown.at, a->shown.n);
	struct object_inline *list = object_inlines(a->file, a->shown.at, a->shown.n, &n);
	for (size_t i = 0; i < n; i++)
		vec_push(&a->o->inlines,
			 ((struct kept_inline){ a->shown.at[list[i].address], list[i].depth,
						kept_string(a->k->kept, list[i].name),
						kept_string(a->k->kept, list[i].call_file),
						list[i].call_line }));
	free(list);
}

static void keep_bytes(struct asked *a, uint64_t low, uint64_t high)
{
	size_t size;
	const uint8_t *code = low < high ? object_code_part(a->file, low, high - low, &size) : NULL;
	if (code)
		vec_push(&a->o->code,
			 ((struct kept_code){ low, kept_bytes(a->k->kept, code, size), size }));
}

static void keep_code(struct asked *a)
{
	struct address_ranges r = ranges_of(a);
	for (size_t i = 0; i < r.n; i++)
		keep_bytes(a, r.at[i].low, r.at[i].high);
	vec_free(&r);
}

/* A frame at a function's first instruction is no return address if no call stands before it: a
 * signal handler returns to it. That code is kept, as without it the frame would be taken for a
 * return address. */
static void keep_starts(struct asked *a)
{
	for (size_t i = 0; i < a->hit->n; i++) {
		uint64_t addr = a->hit->at[i];
		uint32_t symbol = symbol_covering(&a->table, addr);
		if (symbol != NONE && a->table.at[symbol].addr == addr &&
		    addr >= MACHINE_CALL_MAX && !object_call_ends_at(a->file, addr))
			keep_bytes(a, addr - MACHINE_CALL_MAX, addr + 1);
	}
}

static struct kept_object *describe(struct keeper *k, objid id, struct object_file *file)
{
	const struct object *o = &k->p->objects[id];
	struct address_range text = object_text(file), profiled = object_profiled(file);
	struct kept_object like = { .path = strtab_get(k->p->strings, o->path),
				    .build_id = strtab_get(k->p->strings, o->build_id),
				    .machine = object_elf_machine(file),
				    .text_low = text.low,
				    .text_high = text.high,
				    .profiled_low = profiled.low,
				    .profiled_high = profiled.high };
	like.flags = (object_is_64bit(file) ? KEPT_64BIT : 0) |
		     (object_big_endian(file) ? KEPT_BIG_ENDIAN : 0) |
		     (object_has_lines(file) ? KEPT_LINES : 0);
	const struct kept_object *kept = object_kept(file);
	if (k->opts->whole && object_has_code(file))
		like.flags |= KEPT_CODE;
	struct stat st;
	if (kept) {
		like.flags |= kept->flags & (KEPT_GIVEN | KEPT_TAIL_CALLS);
		like.size = kept->size;
		like.modified_ns = kept->modified_ns;
	} else if (!*like.build_id && !stat(object_path(file), &st)) {
		like.size = (uint64_t)st.st_size;
		like.modified_ns = clock_ns_of(st.st_mtim);
	}
	return kept_add_object(k->kept, &like);
}

static uint64_t count_functions(const struct asked *a)
{
	const struct kept_object *kept = object_kept(a->file);
	uint64_t n = 0;
	if (kept)
		return kept->n_functions;
	for (size_t i = 0; i < a->table.n; i++)
		n += a->table.at[i].flags & SYMBOL_FUNCTION && a->table.at[i].owner == i;
	return n;
}

static void note(struct keeper *k, struct kin_error *err)
{
	if (err && !k->trouble)
		k->trouble = err;
	else
		kin_error_free(err);
}

/* Failures of the system only: reports mention that a file is gone or was replaced. */
static bool is_failure(const struct kin_error *err)
{
	int errnum = err ? kin_error_errno(err) : 0;
	return errnum == EIO || errnum == ENOMEM || errnum == EMFILE || errnum == ENFILE;
}

static void keep_object(struct keeper *k, objid id, struct object_file *file)
{
	static const struct symtab_opts exact = { .exact = true };
	struct asked a = {
		.k = k, .id = id, .file = file, .hit = &k->hit[id], .calls = &k->calls[id]
	};
	struct kin_error *err = object_symbols(file, &exact, &a.table);
	if (err) {
		note(k, err);
		return;
	}
	a.o = describe(k, id, file);
	a.o->n_functions = count_functions(&a);
	keep_tail_calls(&a);
	a.wanted = xalloc(a.table.n + 1);
	want_symbols(&a);
	want_runs(&a);
	if (k->opts->whole)
		want_targets(&a);
	keep_symbols(&a);
	keep_aliases(&a);
	keep_runs(&a);
	keep_inlines(&a);
	if (k->opts->whole && object_has_code(file))
		keep_code(&a);
	keep_starts(&a);
	free(a.wanted_runs);
	free(a.runs);
	free(a.wanted);
	vec_free(&a.shown);
	free(a.table.at);
}

/* ---- files given by the caller ---- */

static const struct kin_program_file *find_held(const struct keeper *k, const struct object *o)
{
	const char *path = strtab_get(k->p->strings, o->path),
		   *id = strtab_get(k->p->strings, o->build_id);
	for (size_t i = 0; o->kind == OBJECT_ELF && i < k->opts->n_files; i++)
		if (!strcmp(k->opts->files[i].path, path) &&
		    !strcmp(k->opts->files[i].build_id, id))
			return &k->opts->files[i];
	return NULL;
}

/* Debug files are looked for below the file's root, if the file lies there. */
static struct object_file *open_held(const struct keeper *k, const struct kin_program_file *f)
{
	size_t n = f->root ? strlen(f->root) : 0;
	bool below = n && !strncmp(f->file, f->root, n) && f->file[n] == '/';
	struct object_opts how = { .debug_dir = k->opts->debug_dir,
				   .symfs = below ? f->root : NULL,
				   .debuginfod = k->opts->debuginfod,
				   .remembers = true,
				   .build_id = f->build_id };
	struct object_file *o = NULL;
	kin_error_free(object_open(f->file + (below ? n : 0), &how, &o));
	return o;
}

/* Without a build id, only the file that was held open shows that its path leads to another one by
 * now. */
static bool is_replaced(const struct kin_program_file *held)
{
	return !held->root && !*held->build_id && !file_is_same(held->path, held->file);
}

/* As recorded_object(). */
static struct kin_error *open_object(const struct keeper *k, objid id, struct object_file **ret)
{
	struct recorded_opts how = { k->opts->debug_dir, k->opts->symfs, k->opts->debuginfod };
	const struct kin_program_file *held = find_held(k, &k->p->objects[id]);
	struct kin_error *instead = NULL;
	*ret = held && (held->root || is_replaced(held)) ? open_held(k, held) : NULL;
	if (*ret)
		return NULL;
	struct kin_error *err = recorded_object(k->p, id, &how, ret, &instead);
	if (err && held && !held->root && (*ret = open_held(k, held))) {
		kin_error_free(err);
		err = NULL;
	}
	kin_error_free(instead);
	return err;
}

struct kept *names_keep(const struct profile *p, const struct keep_opts *opts,
			struct kin_error **trouble)
{
	struct keeper k = { .p = p, .opts = opts, .kept = kept_new() };

	k.hit = xalloc((p->n_objects + 1) * sizeof(*k.hit));
	hit_addresses_find(p, NULL, k.hit);
	k.calls = xalloc((p->n_objects + 1) * sizeof(*k.calls));
	find_calls(&k);
	for (objid i = 0; i < p->n_objects; i++) {
		struct object_file *file = NULL;
		struct kin_error *err = k.hit[i].n ? open_object(&k, i, &file) : NULL;
		if (file) {
			keep_object(&k, i, file);
			note(&k, object_trouble(file));
		}
		if (is_failure(err))
			note(&k, err);
		else
			kin_error_free(err);
		object_free(file);
		vec_free(&k.hit[i]);
		vec_free(&k.calls[i].at);
	}
	free(k.calls);
	free(k.hit);
	kept_sort(k.kept);
	*trouble = k.trouble;
	return k.kept;
}

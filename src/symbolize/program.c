/* program.c - opens the objects that were hit, joins their places, and finds those of frames. */
#include "symbolize/program.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/vec.h"
#include "names/kept.h"
#include "object/kernel.h"
#include "symbolize/hit_addresses.h"
#include "symbolize/kallsyms.h"
#include "symbolize/program_private.h"
#include "symbolize/recorded.h"
#include "symbolize/symbols_private.h"

enum {
	MAX_PARTS = 65000, /* objects with places; symbol.part is 16 bits wide */
};

struct extra { /* a place that no symbol table has */
	enum place_kind kind;
	objid object;
	uint64_t start; /* PLACE_NAMED: the kernel function's start; 0: not known */
	bool inlined;
	bool no_caller;
	strid file; /* of a place that is a line; 0: it is none */
	uint32_t line;
};

struct opened_object {
	struct object_file *file; /* NULL: not opened */
	bool given;               /* it is the main object that the program was made with */
	bool borrowed;            /* somebody else frees it */
	bool hit;                 /* the profile has addresses in it */
	bool failed;              /* some of it could not be read, and that is among the troubles */
	uint32_t part;            /* its part of symbols; NONE: has no places */
	struct hit_addresses hits; /* of a large file: only symbols hit have places; else empty */
	uint64_t unnamed;
};

struct call_line { /* file: in names; 0: not known */
	strid file;
	uint32_t line;
};

struct inlines { /* of a frame: list[first .. first + n) */
	uint32_t first, n;
};

struct program {
	const struct profile *profile;
	struct program_opts opts;
	struct opened_object *objects; /* [n_objects] */
	struct kallsyms *kernel;
	bool kernel_borrowed;
	bool kernel_failed; /* its names could not be read, and that is among the troubles */
	struct symbols *symbols;
	objid *part_object; /* [n_parts]: the object of each part */

	symid *places;    /* [n_frames] */
	uint8_t *is_call; /* [n_frames]: 1: the address is where a call returns to */
	VEC(struct extra) extras;
	VEC(const char *) extra_names;
	struct strtab *names;   /* of extra places */
	struct map64 extra_ids; /* MAP64_PAIR(object or place, name) by kind, see extra_place() */
	symid n_symbols;        /* places of objects; extras follow */

	/* [n_frames + n_arcs]: of frames, then of the call sites of counted calls; NULL: none. */
	struct inlines *inlined;
	struct map64 calling;   /* flat address of a call site: the inlined function that calls */
	VEC(symid) inline_list; /* with the option lines: places of lines, see program_lines() */
	VEC(struct call_line) inline_calls; /* of inline_list; empty with the option lines */
	struct map64 kept_line_of;          /* frame: its line, where program_keep() changed it */
	VEC(struct srcloc) kept_lines;
	struct remarks remarks;
	VEC(objid) joined; /* objects that were joined with an earlier build of the file */
};

/* ---- objects ---- */

static const char *object_string(const struct program *g, strid id)
{
	return strtab_get(g->profile->strings, id);
}

/* The message without the object's name, which the caller puts before it. */
static const char *reason(const struct program *g, objid id, const struct kin_error *err)
{
	const char *name = program_object_name(g, id), *why = kin_error_message(err);
	size_t n = strlen(name);
	return strncmp(why, name, n) != 0 || why[n] != ':' ? why
							   : why + n + 1 + (why[n + 1] == ' ');
}

enum { DOUBTED = KIN_REMARK_WARNING | KIN_REMARK_DOUBT };

static void add_trouble(struct program *g, objid id, const char *what, struct kin_error *err,
			bool in_doubt)
{
	remarks_add_of(&g->remarks, in_doubt ? DOUBTED : KIN_REMARK_WARNING, id, "%s: %s: %s",
		       program_object_name(g, id), what, reason(g, id, err));
	kin_error_free(err);
}

/* Notes that all names of an object are missing. */
static void trouble(struct program *g, objid id, struct kin_error *err)
{
	g->objects[id].failed = true;
	add_trouble(g, id, "its code has no names", err, err_is_trouble(err));
}

/* Notes that an object's names are not from its file. */
static void add_origin(struct program *g, objid id, struct kin_error *instead)
{
	remarks_add_of(&g->remarks, KIN_REMARK_ORIGIN, id, "%s (%s)", program_object_name(g, id),
		       reason(g, id, instead));
	kin_error_free(instead);
}

static void look_for_kernel_trouble(struct program *g)
{
	struct kin_error *err = g->kernel && !g->kernel_failed ? kallsyms_trouble(g->kernel) : NULL;
	if (!err)
		return;
	g->kernel_failed = true;
	remarks_add(&g->remarks, DOUBTED, "names are missing: %s", kin_error_message(err));
	kin_error_free(err);
}

void program_look_for_troubles(struct program *g)
{
	look_for_kernel_trouble(g);
	for (objid id = 0; id < g->profile->n_objects; id++) {
		struct opened_object *at = &g->objects[id];
		struct kin_error *err =
			at->file && !at->given && !at->failed ? object_trouble(at->file) : NULL;
		if (err)
			add_trouble(g, id, "names or lines are missing", err, true);
		at->failed |= err != NULL;
	}
}

static void mark_hit(struct program *g)
{
	const struct profile *p = g->profile;
	for (size_t i = 1; i < p->samples.n_frames; i++)
		if (!p->samples.frames[i].name)
			g->objects[p->samples.frames[i].object].hit = true;
	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc arc = arc_at(&p->arcs, i);
		g->objects[arc.from_object].hit = true;
		g->objects[arc.to_object].hit = true;
	}
	for (size_t i = 0; i < p->n_histograms; i++)
		g->objects[p->histograms[i].object].hit = true;
	for (size_t i = 0; i < p->n_blocks; i++)
		g->objects[p->blocks[i].object].hit = true;
}

bool program_is_given(const struct profile *p, objid object, const struct object_file *given)
{
	const struct object *o = &p->objects[object];
	const char *id = object_build_id(given);
	if (recorded_is_made_up(p, object))
		return false;
	if (o->build_id && id)
		return !strcmp(strtab_get(p->strings, o->build_id), id);
	return o->is_main ||
	       (o->path && !strcmp(strtab_get(p->strings, o->path), object_path(given)));
}

static void open_file(struct program *g, objid id)
{
	const struct object *o = &g->profile->objects[id];
	struct opened_object *at = &g->objects[id];

	struct kin_error *instead = NULL;
	struct recorded_opts how = { g->opts.debug_dir, g->opts.symfs, g->opts.debuginfod };
	struct kin_error *err = recorded_object(g->profile, id, &how, &at->file, &instead);
	if (err)
		trouble(g, id, err);
	if (instead && o->kind == OBJECT_ELF)
		add_origin(g, id, instead);
	else
		kin_error_free(instead);
}

static void open_object(struct program *g, objid id, struct object_file *given)
{
	struct opened_object *at = &g->objects[id];

	if (given && (id == 0 || program_is_given(g->profile, id, given))) {
		at->file = given;
		at->given = at->borrowed = true;
		return;
	}
	if (g->opts.files && (at->file = g->opts.files->at[id])) {
		at->borrowed = true;
		return;
	}
	open_file(g, id);
	if (g->opts.files && at->file) {
		g->opts.files->at[id] = at->file;
		at->borrowed = true;
	}
}

/* ---- the flat row of places ---- */

static bool same_file_earlier(const struct program *g, objid id)
{
	for (objid i = 0; i < g->profile->n_objects; i++)
		if (i != id && g->objects[i].file == g->objects[id].file &&
		    g->objects[i].part != NONE) {
			g->objects[id].part = g->objects[i].part;
			return true;
		}
	return false;
}

static void add_part(struct program *g, objid id, struct symbols_row *row)
{
	struct opened_object *at = &g->objects[id];
	struct symbols_opts opts = { .table.exact = true,
				     .lines = g->opts.lines,
				     .no_inlines = g->opts.linker_lines,
				     .style = g->opts.style };
	opts.table.hits = at->hits.at;
	opts.table.n_hits = at->hits.n;
	struct symbols *s = NULL;
	if (g->opts.files && at->file == g->opts.files->at[id] && !opts.lines && !at->hits.n)
		s = TAKE(g->opts.files->symbols[id]);
	struct kin_error *err = s ? NULL : symbols_new(at->file, &opts, &s);
	vec_free(&at->hits);
	if (err) {
		trouble(g, id, err);
		return;
	}
	uint64_t low = s->at[0].addr, high = s->at[s->n - 1].end;
	/* The first part, mostly the program, keeps its addresses; the others come behind it. */
	uint64_t base = row->n ? row->next - low : 0;
	at->part = (uint32_t)row->n;
	if (at->given || g->profile->objects[id].is_main)
		row->program = row->program == NONE ? at->part : row->program;
	g->part_object[row->n] = id;
	row->symbols[row->n] = s;
	row->bases[row->n++] = base;
	row->next = ((high + base) | 0xfff) + 1;
}

/* The first hit object with the same path. Other builds of it count as the same functions. */
static objid first_build(const struct program *g, objid id)
{
	const struct object *o = &g->profile->objects[id];
	for (objid i = 0; o->kind == OBJECT_ELF && o->path && i < id; i++)
		if (g->objects[i].hit && g->profile->objects[i].kind == OBJECT_ELF &&
		    g->profile->objects[i].path == o->path)
			return i;
	return id;
}

/* Whether only functions that were hit get places. In large libraries these are some hundreds of a
 * hundred thousand; with hit_only it applies to any file. Not if all functions were read already,
 * nor if functions of several builds are joined, which needs all names. */
static bool is_worth_choosing(const struct program *g, objid id, const bool *is_whole)
{
	const struct opened_object *at = &g->objects[id];
	bool is_read = g->opts.files && g->opts.files->symbols[id];
	return at->hit && at->file && !at->given && !is_whole[id] && !g->opts.lines && !is_read &&
	       first_build(g, id) == id &&
	       (g->opts.hit_only || object_table_bytes(at->file) > SYMBOLS_LARGE);
}

static void choose_hits(struct program *g)
{
	const struct profile *p = g->profile;
	bool *is_whole = xalloc(p->n_objects + 1), *wanted = xalloc(p->n_objects + 1), any = false;
	struct hit_addresses *hits = xalloc((p->n_objects + 1) * sizeof(*hits));
	for (size_t i = 0; i < p->n_histograms; i++)
		is_whole[p->histograms[i].object] = true;
	for (size_t i = 0; i < p->n_blocks; i++)
		is_whole[p->blocks[i].object] = true;
	for (objid id = 0; id < p->n_objects; id++)
		if (g->objects[id].hit && first_build(g, id) != id)
			is_whole[first_build(g, id)] = true;
	for (objid id = 0; id < p->n_objects; id++)
		any |= wanted[id] = is_worth_choosing(g, id, is_whole);
	if (any)
		hit_addresses_find(p, wanted, hits);
	for (objid id = 0; id < p->n_objects; id++)
		g->objects[id].hits = hits[id];
	free(hits);
	free(wanted);
	free(is_whole);
}

static void open_objects(struct program *g, struct object_file *given)
{
	const struct profile *p = g->profile;
	for (int pass = 0; pass < 2; pass++) /* the program first */
		for (objid id = 0; id < p->n_objects; id++) {
			bool first = p->objects[id].is_main || (!id && given);
			if (g->objects[id].hit && first == !pass)
				open_object(g, id, given);
		}
}

struct part_order { /* the program first, then by path: equal rows are in this order */
	const char *path, *build_id;
	objid id;
	bool is_first;
};

static int by_path(const void *a, const void *b)
{
	const struct part_order *x = a, *y = b;
	if (x->is_first != y->is_first)
		return x->is_first ? -1 : 1;
	int sign = strcmp(x->path, y->path);
	sign = sign ? sign : strcmp(x->build_id, y->build_id);
	return sign ? sign : ORDER(x->id, y->id);
}

static int by_id(const void *a, const void *b)
{
	const struct part_order *x = a, *y = b;
	return x->is_first != y->is_first ? (x->is_first ? -1 : 1) : ORDER(x->id, y->id);
}

/* [n_objects], to be freed. */
static struct part_order *order_of_parts(const struct program *g, bool is_given)
{
	const struct profile *p = g->profile;
	struct part_order *order = xalloc((p->n_objects + 1) * sizeof(*order));
	for (objid id = 0; id < p->n_objects; id++)
		order[id] = (struct part_order){ object_string(g, p->objects[id].path),
						 object_string(g, p->objects[id].build_id), id,
						 p->objects[id].is_main || (!id && is_given) };
	qsort(order, p->n_objects, sizeof(*order), g->opts.by_appearance ? by_id : by_path);
	return order;
}

static void add_parts(struct program *g, struct object_file *given, struct symbols_row *row)
{
	size_t n = g->profile->n_objects;
	struct part_order *order = order_of_parts(g, given);
	open_objects(g, given);
	choose_hits(g);
	row->symbols = xrealloc(NULL, n, sizeof(*row->symbols));
	row->bases = xrealloc(NULL, n, sizeof(*row->bases));
	g->part_object = xrealloc(NULL, n + 1, sizeof(*g->part_object));
	row->program = NONE;
	for (size_t i = 0; i < n && row->n < MAX_PARTS; i++) {
		objid id = order[i].id;
		const struct opened_object *at = &g->objects[id];
		if (at->hit && at->file && !(at->given && same_file_earlier(g, id)))
			add_part(g, id, row);
	}
	free(order);
}

/* ---- several builds of one file ---- */

struct program_build { /* one of several builds of a file */
	const struct symbols_part *part;
	struct strtab *names;
	struct map64 places; /* name -> function; NONE - 1: several have that name */
};

static void add_names(const struct symbols *s, struct program_build *b)
{
	for (symid i = b->part->first; i < b->part->first + b->part->n; i++) {
		if (s->at[i].is_line || s->at[i].owner != i)
			continue;
		uint32_t *at = map64_at(&b->places, strtab_add(b->names, s->at[i].name));
		*at = *at == NONE ? i : NONE - 1;
	}
}

/* Replaces functions of the next build by those of the first with the same name, if that is unique.
 * moved: [n_symbols] */
static void join_names(struct symbols *s, struct program_build *first, struct program_build *next,
		       symid *moved)
{
	for (symid i = next->part->first; i < next->part->first + next->part->n; i++) {
		if (s->at[i].is_line)
			continue;
		strid name = strtab_add(first->names, s->at[s->at[i].owner].name);
		uint32_t ours = map64_get(&next->places, name);
		uint32_t theirs = map64_get(&first->places, name);
		if (ours >= NONE - 1 || theirs >= NONE - 1)
			continue;
		if (s->at[i].owner == i)
			moved[i] = theirs;
		s->at[i].owner = theirs;
	}
}

/* Moves the places of frames and inlined functions accordingly. */
static void move_frames(struct program *g, const symid *moved)
{
	for (size_t i = 1; i < g->profile->samples.n_frames; i++)
		if (g->places[i] < g->n_symbols)
			g->places[i] = moved[g->places[i]];
	for (size_t i = 0; i < g->inline_list.n; i++) {
		symid *at = &g->inline_list.at[i], owner = g->symbols->at[*at].owner;
		if (program_object(g, owner) != program_object(g, *at))
			*at = owner;
	}
}

/* Whether two objects are different builds, and not only different numberings of a file's functions
 * (KEPT_GIVEN). */
static bool is_another_build(const struct program *g, objid a, objid b)
{
	const struct profile *p = g->profile;
	const char *path = object_string(g, p->objects[a].path);
	const char *x = object_string(g, p->objects[a].build_id);
	const char *y = object_string(g, p->objects[b].build_id);
	size_t n = kept_build_id_length(p->kept, path, x);
	return n != kept_build_id_length(p->kept, path, y) || memcmp(x, y, n) != 0;
}

static void join_builds(struct program *g)
{
	bool any = false;
	symid *moved = xalloc((g->n_symbols + 1) * sizeof(*moved));
	for (symid i = 0; i < g->n_symbols; i++)
		moved[i] = i;
	for (objid id = 1; id < g->profile->n_objects; id++) {
		objid first = first_build(g, id);
		uint32_t own = g->objects[id].part, theirs = g->objects[first].part;
		if (!g->objects[id].hit || first == id || own == NONE || theirs == NONE ||
		    own == theirs)
			continue;
		struct strtab *names = strtab_new();
		struct program_build a = { &g->symbols->parts[theirs], names, { 0 } };
		struct program_build b = { &g->symbols->parts[own], names, { 0 } };
		add_names(g->symbols, &a);
		add_names(g->symbols, &b);
		join_names(g->symbols, &a, &b, moved);
		map64_free(&a.places);
		map64_free(&b.places);
		strtab_free(names);
		any = true;
		if (is_another_build(g, first, id))
			vec_push(&g->joined, id);
	}
	if (any)
		move_frames(g, moved);
	free(moved);
}

/* ---- frames ---- */

/* The place for a kind, an owner (an object, or the place around) and an identity, a text. */
static symid add_extra(struct program *g, enum place_kind kind, uint32_t owner, objid object,
		       strid id, const char *name)
{
	/* Keys of different kinds differ: places are numbered behind objects, and unknown names
	 * start with 0x or a bracket. */
	uint32_t key = kind == PLACE_INLINED ? (uint32_t)g->profile->n_objects + owner : owner;
	uint32_t *at = map64_at(&g->extra_ids, MAP64_PAIR(key, id));
	if (*at == NONE) {
		*at = (uint32_t)g->extras.n;
		vec_push(&g->extras, ((struct extra){ .kind = kind,
						      .object = object,
						      .inlined = kind == PLACE_INLINED }));
		vec_push(&g->extra_names, name);
	}
	return g->n_symbols + *at;
}

/* One place per name. */
static symid extra_place(struct program *g, enum place_kind kind, uint32_t owner, objid object,
			 const char *name)
{
	strid id = strtab_add(g->names, name);
	return add_extra(g, kind, owner, object, id, strtab_get(g->names, id));
}

/* One place per address: the kernel has many functions of one name. */
static symid kernel_place(struct program *g, objid object, const char *name, uint64_t start)
{
	char identity[32];
	int n = snprintf(identity, sizeof(identity), "%" PRIx64 " ", start);
	strid id = strtab_addn(g->names, identity, (size_t)n);
	symid place = add_extra(g, PLACE_NAMED, object, object, id,
				strtab_get(g->names, strtab_add(g->names, name)));
	g->extras.at[place - g->n_symbols].start = start;
	return place;
}

/* A place named by the data. A function has another place where it was inlined than where it was
 * called: then owners are numbered from UINT32_MAX downwards. */
static symid named_place(struct program *g, const struct frame *f)
{
	bool inlined = f->flags & FRAME_INLINED;
	uint32_t owner = inlined ? UINT32_MAX - f->object : f->object;
	symid id = extra_place(g, PLACE_NAMED, owner, f->object, object_string(g, f->name));
	g->extras.at[id - g->n_symbols].inlined = inlined;
	g->extras.at[id - g->n_symbols].no_caller =
		f->flags & FRAME_MARK && strcmp(object_string(g, f->name), MARK_GUESSED) != 0;
	return id;
}

/* A place for a line of a function, apart from those of the lines' own addresses. */
static symid line_place(struct program *g, objid object, const struct srcloc *line)
{
	char *identity = xprintf("%s\n%s:%u", line->function, line->file, (unsigned)line->line);
	strid id = strtab_add(g->names, identity);
	symid place = add_extra(g, PLACE_NAMED, object, object, id,
				strtab_get(g->names, strtab_add(g->names, line->function)));
	g->extras.at[place - g->n_symbols].file = strtab_add(g->names, line->file);
	g->extras.at[place - g->n_symbols].line = (uint32_t)line->line;
	free(identity);
	return place;
}

static symid unknown_place(struct program *g, const struct frame *f)
{
	if (g->opts.group_unknown && g->profile->objects[f->object].path) {
		char *name = program_object_code(g, f->object);
		symid id = extra_place(g, PLACE_UNKNOWN, f->object, f->object, name);
		free(name);
		return id;
	}
	char name[2 + 16 + 1] = "0x";
	uint64_t addr = htobe64(f->addr);
	num_hex(f->addr ? name + 2 : name, &addr, sizeof(addr));
	return extra_place(g, PLACE_UNKNOWN, f->object, f->object, name);
}

/* The address to look up: for a return address in the call before it. */
static uint64_t look_at(const struct program *g, frameid frame)
{
	return g->profile->samples.frames[frame].addr - g->is_call[frame];
}

static symid frame_place(struct program *g, const struct symbols_row *row, frameid frame)
{
	const struct frame *f = &g->profile->samples.frames[frame];
	const struct opened_object *at = &g->objects[f->object];
	const struct symbols *s = at->part != NONE ? row->symbols[at->part] : NULL;
	g->is_call[frame] = !f->name && program_is_return(at->file, s, f);
	if (f->name)
		return named_place(g, f);
	if (g->opts.lines_of && g->opts.lines_of[frame].file)
		return line_place(g, f->object, &g->opts.lines_of[frame]);
	if (s) {
		symid id = symbols_find(s, look_at(g, frame));
		if (id != NONE)
			return id; /* within the part, for now */
	}
	if (g->kernel && f->flags & FRAME_KERNEL) {
		uint64_t start;
		const char *name = kallsyms_find(g->kernel, look_at(g, frame), &start);
		if (name)
			return kernel_place(g, f->object, name, start);
	}
	return unknown_place(g, f);
}

static void place_frames(struct program *g, const struct symbols_row *row)
{
	const struct samples *s = &g->profile->samples;
	symid *first = xrealloc(NULL, row->n + 1, sizeof(*first));
	first[0] = 0;
	for (size_t i = 0; i < row->n; i++)
		first[i + 1] = first[i] + (symid)row->symbols[i]->n;
	g->n_symbols = first[row->n];

	g->places = xrealloc(NULL, s->n_frames + 1, sizeof(*g->places));
	g->places[0] = NONE;
	g->is_call = xalloc(s->n_frames + 1);
	for (size_t i = 1; i < s->n_frames; i++) {
		const struct frame *f = &s->frames[i];
		symid id = frame_place(g, row, (frameid)i);
		bool in_part = id < g->n_symbols && g->objects[f->object].part != NONE;
		g->places[i] = in_part ? id + first[g->objects[f->object].part] : id;
	}
	free(first);
}

/* ---- inlined functions ---- */

struct site {
	uint64_t addr;
	uint32_t id; /* index into inlined[] */
	symid into;
};

/* The place of a line of a function, by which something inlined there is called. */
static symid call_place(struct program *g, objid object, const struct object_inline *x,
			const char *function)
{
	char *identity = xprintf("0x:%u:%s:%s", x->call_line, function, x->call_file);
	symid place = add_extra(g, PLACE_CALL, object, object, strtab_add(g->names, identity),
				strtab_get(g->names, strtab_add(g->names, function)));
	struct extra *e = &g->extras.at[place - g->n_symbols];
	e->file = strtab_add(g->names, x->call_file);
	e->line = x->call_line;
	free(identity);
	return place;
}

/* The places of the lines that the site is in. */
static void note_lines(struct program *g, objid object, const struct symbols *s,
		       const struct site *site, const struct object_inline *list, size_t n)
{
	struct inlines *at = &g->inlined[site->id];
	symid around = s ? symbols_find_function(s, site->addr) : NONE;
	if (around == NONE || site->id >= g->profile->samples.n_frames)
		return;
	const char *outermost = s->at[around].name;
	at->first = (uint32_t)g->inline_list.n;
	vec_push(&g->inline_list, site->into);
	for (size_t i = 0; i < n; i++) {
		bool is_inner = i + 1 < n && !g->opts.linker_lines;
		if (list[i].call_file)
			vec_push(&g->inline_list,
				 call_place(g, object, &list[i],
					    is_inner ? list[i + 1].name : outermost));
	}
	at->n = (uint32_t)g->inline_list.n - at->first;
}

static void note_inlines(struct program *g, objid object, const struct site *site,
			 const struct object_inline *list, size_t n)
{
	struct inlines *at = &g->inlined[site->id];
	if (site->into == NONE) /* a call from code without a symbol */
		return;
	at->first = (uint32_t)g->inline_list.n;
	at->n = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		const char *file = list[i].call_file;
		vec_push(&g->inline_list,
			 extra_place(g, PLACE_INLINED, site->into, object, list[i].name));
		vec_push(&g->inline_calls,
			 ((struct call_line){ file ? strtab_add(g->names, file) : 0,
					      list[i].call_line }));
	}
}

/* The inlined functions at the sites of one object: requested by address and all at once, so that
 * each unit is decoded once. */
static void inline_object(struct program *g, const struct symbols *symbols, objid object,
			  const struct site *sites, size_t n)
{
	struct sort_key *order = xrealloc(NULL, n, sizeof(*order));
	uint64_t *addrs = xrealloc(NULL, n, sizeof(*addrs));
	size_t n_addrs = 0, count, k = 0;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct sort_key){ sites[i].addr, (uint32_t)i };
	sort_keys(order, n);
	for (size_t i = 0; i < n; i++)
		if (!n_addrs || addrs[n_addrs - 1] != order[i].key)
			addrs[n_addrs++] = order[i].key;
	struct object_inline *list =
		object_inlines(g->objects[object].file, addrs, n_addrs, &count);
	for (size_t i = 0, a = 0; i < n; i++) {
		while (addrs[a] != order[i].key)
			a++;
		while (k < count && list[k].address < a)
			k++;
		size_t end = k;
		while (end < count && list[end].address == a)
			end++;
		if (end > k && g->opts.lines)
			note_lines(g, object, symbols, &sites[order[i].index], list + k, end - k);
		else if (end > k)
			note_inlines(g, object, &sites[order[i].index], list + k, end - k);
	}
	free(list);
	free(addrs);
	free(order);
}

/* The address of a counted call: before its return address. */
static struct site call_site(const struct program *g, const struct symbols_row *row, size_t arc)
{
	struct arc a = arc_at(&g->profile->arcs, arc);
	uint32_t part = g->objects[a.from_object].part;
	struct site at = { a.from - 1, (uint32_t)(g->profile->samples.n_frames + arc), NONE };
	symid into = part == NONE ? NONE : symbols_find(row->symbols[part], at.addr);
	if (into == NONE)
		return at;
	for (uint32_t i = 0; i < part; i++)
		into += (symid)row->symbols[i]->n;
	at.into = into;
	return at;
}

static void find_inlines(struct program *g, const struct symbols_row *row)
{
	const struct samples *s = &g->profile->samples;
	size_t n_objects = g->profile->n_objects, n_arcs = g->profile->n_arcs;
	uint32_t *start = xalloc((n_objects + 2) * sizeof(*start));
	struct site *sites = xrealloc(NULL, s->n_frames + n_arcs + 1, sizeof(*sites));

	g->inlined = xalloc((s->n_frames + n_arcs + 1) * sizeof(*g->inlined));
	for (size_t i = 1; i < s->n_frames; i++) /* a counting sort by object */
		start[s->frames[i].object + 2]++;
	for (size_t i = 0; i < n_arcs; i++)
		start[arc_at(&g->profile->arcs, i).from_object + 2]++;
	for (size_t i = 2; i < n_objects + 2; i++)
		start[i] += start[i - 1];
	for (size_t i = 1; i < s->n_frames; i++)
		sites[start[s->frames[i].object + 1]++] =
			(struct site){ look_at(g, (frameid)i), (frameid)i, g->places[i] };
	for (size_t i = 0; i < n_arcs; i++)
		sites[start[arc_at(&g->profile->arcs, i).from_object + 1]++] = call_site(g, row, i);
	for (objid id = 0; id < n_objects; id++) {
		size_t n = start[id + 1] - start[id];
		if (n && g->objects[id].part != NONE)
			inline_object(g, row->symbols[g->objects[id].part], id, sites + start[id],
				      n);
	}
	free(sites);
	free(start);
}

/* Fills `calling`, once places have flat addresses. */
static void note_calls(struct program *g)
{
	const struct profile *p = g->profile;
	for (size_t i = 0; g->inlined && !g->opts.lines && i < p->n_arcs; i++) {
		const struct inlines *at = &g->inlined[p->samples.n_frames + i];
		struct arc arc = arc_at(&p->arcs, i);
		uint64_t flat = program_flat(g, arc.from_object, arc.from);
		if (at->n && flat != UINT64_MAX)
			*map64_at(&g->calling, flat) =
				g->symbols->at[g->inline_list.at[at->first]].owner;
	}
}

/* ---- making a program ---- */

/* The running kernel's addresses are right only if it is the kernel of the profile and was not
 * restarted since. After a restart the build id is the same, but the addresses may differ; nothing
 * checks that. */
static void open_kernel(struct program *g)
{
	const struct profile *p = g->profile;
	if (g->opts.files && g->opts.files->kernel) {
		g->kernel = g->opts.files->kernel;
		g->kernel_borrowed = true;
		return;
	}
	if (g->opts.kallsyms) {
		struct kin_error *err = kallsyms_open(g->opts.kallsyms, &g->kernel);
		if (err)
			remarks_add(&g->remarks, DOUBTED, "%s", kin_error_message(err));
		kin_error_free(err);
		return;
	}
	int errnum = g->opts.files ? g->opts.files->kernel_errnum : 0;
	for (size_t i = 0; i < p->n_objects && !g->kernel && !errnum; i++)
		if (p->objects[i].kind == OBJECT_KERNEL && p->objects[i].build_id &&
		    g->objects[i].hit &&
		    kernel_is_running(object_string(g, p->objects[i].build_id), &errnum))
			g->kernel = kallsyms_of_running();
	if (errnum)
		remarks_add(&g->remarks, DOUBTED, "names of the kernel are missing: %s: %s",
			    KERNEL_NOTES, strerror(errnum));
}

bool program_is_unnamed(const struct program *g, frameid frame)
{
	symid place = g->places[frame];
	return frame && (program_kind(g, place) == PLACE_UNKNOWN ||
			 (place < g->n_symbols && g->symbols->at[place].is_nameless));
}

static void count_unnamed(struct program *g)
{
	const struct samples *s = &g->profile->samples;
	for (size_t i = 0; i < s->n; i++) {
		frameid leaf = s->stacks[s->at[i].stack].frame;
		if (program_is_unnamed(g, leaf))
			g->objects[s->frames[leaf].object].unnamed += s->at[i].count;
	}
}

/* A file that is gone or was replaced does not matter if hardly any samples are in it. */
static void doubt_the_nameless(struct program *g)
{
	enum { FEW = 100 };
	const struct samples *s = &g->profile->samples;
	uint64_t all = 0;
	for (size_t i = 0; i < s->n; i++)
		all += s->at[i].count;
	for (size_t i = 0; i < g->remarks.at.n; i++) {
		struct remark *r = &g->remarks.at.at[i];
		if (r->kinds & KIN_REMARK_WARNING && g->objects[r->where].unnamed > all / FEW)
			r->kinds |= KIN_REMARK_DOUBT;
	}
}

void program_files_grow(struct program_files *f, size_t n)
{
	if (n <= f->n)
		return;
	f->at = xrealloc(f->at, n, sizeof(*f->at));
	f->symbols = xrealloc(f->symbols, n, sizeof(*f->symbols));
	memset(f->at + f->n, 0, (n - f->n) * sizeof(*f->at));
	memset(f->symbols + f->n, 0, (n - f->n) * sizeof(*f->symbols));
	f->n = n;
}

struct program_files *program_files_new(const struct profile *p)
{
	struct program_files *f = xalloc(sizeof(*f));

	program_files_grow(f, p->n_objects);
	return f;
}

void program_files_free(struct program_files *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++) {
		symbols_free(f->symbols[i]);
		object_free(f->at[i]);
	}
	kallsyms_free(f->kernel);
	free(f->symbols);
	free(f->at);
	free(f);
}

/* ---- the order of places that no symbol table has ---- */

/* By name, then by object. */
static struct sort_name *sorted_extras(const struct program *g)
{
	size_t n = g->extras.n;
	struct sort_name *all = xalloc((n + 1) * sizeof(*all));
	for (uint32_t i = 0; i < n; i++) {
		strid path = g->profile->objects[g->extras.at[i].object].path;
		all[i] = (struct sort_name){ object_string(g, path), i };
	}
	sort_names(all, n);
	for (size_t i = 0; i < n; i++)
		all[i].name = g->extra_names.at[all[i].index];
	sort_names(all, n);
	return all;
}

/* Equal rows are in the order of their places, which must not depend on the order of the data. */
static void order_extras(struct program *g)
{
	size_t n = g->extras.n;
	map64_free(&g->extra_ids);
	if (n < 2)
		return;
	struct sort_name *all = sorted_extras(g);
	struct extra *old = xalloc((n + 1) * sizeof(*old));
	symid *moved = xalloc((n + 1) * sizeof(*moved));
	for (size_t i = 0; i < n; i++) {
		old[i] = g->extras.at[i];
		moved[all[i].index] = g->n_symbols + (symid)i;
	}
	for (size_t i = 0; i < n; i++) {
		g->extras.at[i] = old[all[i].index];
		g->extra_names.at[i] = all[i].name;
	}
	for (size_t i = 0; i < g->profile->samples.n_frames; i++)
		if (g->places[i] != NONE && g->places[i] >= g->n_symbols)
			g->places[i] = moved[g->places[i] - g->n_symbols];
	for (size_t i = 0; i < g->inline_list.n; i++)
		if (g->inline_list.at[i] >= g->n_symbols)
			g->inline_list.at[i] = moved[g->inline_list.at[i] - g->n_symbols];
	free(moved);
	free(old);
	free(all);
}

/* An inlined function has a place for each function that it is inlined into. The first place of a
 * readable name in an object owns the others, as one row of a table stands for all. */
static void own_extras(struct program *g)
{
	struct map64 first = { 0 }; /* MAP64_PAIR(object, readable name) */
	for (size_t i = 0; i < g->extras.n; i++) {
		symid place = g->n_symbols + (symid)i;
		const struct extra *x = &g->extras.at[i];
		if (x->kind != PLACE_INLINED)
			continue;
		strid name = strtab_add(g->names, program_name(g, place));
		uint32_t *at = map64_at(&first, MAP64_PAIR(first_build(g, x->object), name));
		if (*at == NONE)
			*at = place;
		g->symbols->at[place].owner = *at;
	}
	map64_free(&first);
}

static void locate_extras(struct program *g)
{
	struct strtab *files = g->symbols->priv->files; /* equal files are equal pointers */
	for (size_t i = 0; i < g->extras.n; i++) {
		const struct extra *x = &g->extras.at[i];
		struct symbol *s = &g->symbols->at[g->n_symbols + i];
		if (!x->file)
			continue;
		s->file = strtab_get(files, strtab_add(files, strtab_get(g->names, x->file)));
		s->line = x->line;
		s->is_line = true;
		s->located = x->kind != PLACE_CALL;
		s->is_call = x->kind == PLACE_CALL;
		s->is_function &= !s->is_call;
	}
}

struct program *program_new(const struct profile *p, struct object_file *main_object,
			    const struct program_opts *opts)
{
	struct program *g = xalloc(sizeof(*g));
	struct symbols_row row = { 0 };

	g->profile = p;
	g->opts = *opts;
	g->names = strtab_new();
	g->objects = xalloc(p->n_objects * sizeof(*g->objects));
	for (size_t i = 0; i < p->n_objects; i++)
		g->objects[i].part = NONE;
	mark_hit(g);
	open_kernel(g);
	if (g->opts.files && g->kernel) {
		g->opts.files->kernel = g->kernel;
		g->kernel_borrowed = true;
	}
	add_parts(g, main_object, &row);
	place_frames(g, &row);
	if (opts->lines ? opts->call_lines : !opts->no_inlines)
		find_inlines(g, &row);
	if (!opts->by_appearance)
		order_extras(g);
	g->symbols =
		symbols_join(&row, g->extra_names.at, g->extra_names.n,
			     &(struct symbols_opts){ .lines = opts->lines, .style = opts->style });
	own_extras(g);
	locate_extras(g);
	join_builds(g);
	note_calls(g);
	count_unnamed(g);
	doubt_the_nameless(g);
	for (objid id = 0; id < p->n_objects; id++)
		if (g->objects[id].file)
			object_remember(g->objects[id].file);
	free(row.symbols);
	free(row.bases);
	return g;
}

void program_free(struct program *g)
{
	if (!g)
		return;
	symbols_free(g->symbols);
	for (size_t i = 0; i < g->profile->n_objects; i++) {
		vec_free(&g->objects[i].hits);
		if (g->objects[i].file) /* lines were asked for only now */
			object_remember(g->objects[i].file);
		if (!g->objects[i].borrowed)
			object_free(g->objects[i].file);
	}
	remarks_free(&g->remarks);
	vec_free(&g->joined);
	if (!g->kernel_borrowed)
		kallsyms_free(g->kernel);
	map64_free(&g->extra_ids);
	map64_free(&g->calling);
	strtab_free(g->names);
	vec_free(&g->extras);
	vec_free(&g->extra_names);
	vec_free(&g->inline_list);
	vec_free(&g->inline_calls);
	map64_free(&g->kept_line_of);
	vec_free(&g->kept_lines);
	free(g->inlined);
	free(g->places);
	free(g->is_call);
	free(g->part_object);
	free(g->objects);
	free(g);
}

/* ---- lookups ---- */

struct symbols *program_symbols(struct program *g) { return g->symbols; }

uint64_t program_flat(const struct program *g, objid object, uint64_t addr)
{
	uint32_t part = g->objects[object].part;
	if (part == NONE)
		return UINT64_MAX;
	uint64_t flat = addr + g->symbols->parts[part].base;
	const struct symbols_part *p = &g->symbols->parts[part];
	return flat >= p->low && flat < p->high ? flat : UINT64_MAX;
}

uint64_t program_flat_caller(const struct program *g, objid object, uint64_t addr)
{
	uint64_t flat = program_flat(g, object, addr);
	symid inlined = g->calling.n && flat != UINT64_MAX ? map64_get(&g->calling, flat) : NONE;
	return inlined == NONE ? flat : g->symbols->at[inlined].addr;
}

symid program_place(const struct program *g, frameid frame) { return g->places[frame]; }

const symid *program_places(const struct program *g) { return g->places; }

symid program_find(const struct program *g, objid object, uint64_t addr)
{
	uint64_t flat = program_flat(g, object, addr);
	return flat == UINT64_MAX ? NONE : symbols_find(g->symbols, flat);
}

uint64_t program_instruction(const struct program *g, frameid frame) { return look_at(g, frame); }

enum place_kind program_kind(const struct program *g, symid place)
{
	return place < g->n_symbols ? PLACE_SYMBOL : g->extras.at[place - g->n_symbols].kind;
}

bool program_is_no_caller(const struct program *g, symid place)
{
	return place >= g->n_symbols && g->extras.at[place - g->n_symbols].no_caller;
}

objid program_object(const struct program *g, symid place)
{
	return place < g->n_symbols ? g->part_object[g->symbols->at[place].part]
				    : g->extras.at[place - g->n_symbols].object;
}

const char *program_object_name(const struct program *g, objid object)
{
	const struct object *o = &g->profile->objects[object];
	const struct opened_object *at = &g->objects[object];
	if (o->path)
		return object_string(g, o->path);
	return at->file ? object_path(at->file) : "[unknown]";
}

char *program_object_code(const struct program *g, objid object)
{
	const char *name = program_object_name(g, object);
	return name[0] == '[' ? xprintf("%s", name) : xprintf("[%s]", base_name(name));
}

struct object_file *program_object_file(const struct program *g, objid object)
{
	return g->objects[object].file;
}

const uint8_t *program_code(const struct program *g, frameid frame, size_t *size)
{
	objid object = g->profile->samples.frames[frame].object;
	struct object_file *file = object ? program_object_file(g, object) : NULL;
	return file ? object_instruction(file, program_instruction(g, frame), size) : NULL;
}

static void see_branch(const struct object_step *step, void *branches)
{
	*(bool *)branches |= step->kind != STEP_ON;
}

const uint8_t *program_code_at(const struct program *g, objid object, uint64_t addr, size_t *size,
			       bool *branches)
{
	struct object_file *file = object ? program_object_file(g, object) : NULL;
	const uint8_t *code = file ? object_instruction(file, addr, size) : NULL;
	if (code && branches) {
		*branches = false;
		object_steps(file, addr, addr + *size, see_branch, branches);
	}
	return code;
}

bool program_has_offsets(const struct program *g, objid object)
{
	const struct kept_object *kept =
		g->objects[object].file ? object_kept(g->objects[object].file) : NULL;
	return !kept || !(kept->flags & KEPT_GIVEN);
}

uint64_t program_start(const struct program *g, symid place)
{
	if (place >= g->n_symbols)
		return g->extras.at[place - g->n_symbols].start;
	const struct symbol *s = &g->symbols->at[place];
	return s->addr - g->symbols->parts[s->part].base;
}

uint64_t program_size(const struct program *g, symid place)
{
	return place < g->n_symbols ? g->symbols->at[place].end - g->symbols->at[place].addr : 0;
}

const char *program_name(struct program *g, symid place)
{
	return symbols_display(g->symbols, place);
}

const symid *program_inlines(struct program *g, frameid frame, size_t *n)
{
	*n = g->inlined && !g->opts.lines ? g->inlined[frame].n : 0;
	return *n ? g->inline_list.at + g->inlined[frame].first : NULL;
}

const symid *program_lines(const struct program *g, frameid frame, size_t *n)
{
	const struct inlines *at = g->inlined && g->opts.lines ? &g->inlined[frame] : NULL;
	if (at && at->n) {
		*n = at->n;
		return g->inline_list.at + at->first;
	}
	*n = g->places[frame] != NONE;
	return &g->places[frame];
}

bool program_has_inlined(const struct program *g, const struct samples *s)
{
	for (size_t i = 0; g->inlined && !g->opts.lines && i < s->n; i++)
		if (g->inlined[s->stacks[s->at[i].stack].frame].n)
			return true;
	return false;
}

bool program_is_inlined(const struct program *g, symid place)
{
	return !g->opts.no_inlines && place >= g->n_symbols &&
	       g->extras.at[place - g->n_symbols].inlined;
}

bool program_folds(const struct program *g) { return g->opts.no_inlines; }

bool program_line(struct program *g, frameid frame, struct srcloc *ret)
{
	const struct frame *f = &g->profile->samples.frames[frame];
	struct object_file *file = g->objects[f->object].file;
	uint32_t kept = g->kept_lines.n ? map64_get(&g->kept_line_of, frame) : NONE;
	if (kept == NONE)
		return !f->name && file && object_place(file, look_at(g, frame), NULL, ret);
	if (!g->kept_lines.at[kept].file)
		return false;
	*ret = g->kept_lines.at[kept];
	return true;
}

bool program_line_at(struct program *g, frameid frame, size_t depth, struct srcloc *ret)
{
	if (!depth)
		return program_line(g, frame, ret);
	return program_call_line(g, frame, depth - 1, ret);
}

void program_keep(struct program *g, frameid frame, const bool *keeps)
{
	size_t n, first = 0;
	const symid *list = program_inlines(g, frame, &n);
	while (!keeps[first])
		first++;
	if (first) {
		struct srcloc line = { 0 };
		program_line_at(g, frame, first, &line);
		*map64_at(&g->kept_line_of, frame) = (uint32_t)g->kept_lines.n;
		vec_push(&g->kept_lines, line);
	}
	if (!n)
		return;
	/* Equal frames have lists of their own. */
	size_t last = n;
	while (!keeps[last])
		last--;
	struct inlines *at = &g->inlined[frame];
	g->places[frame] = last < n ? list[last] : g->places[frame];
	size_t kept = 0;
	for (size_t i = first; i < last; i++)
		if (keeps[i]) {
			g->inline_list.at[at->first + kept] = g->inline_list.at[at->first + i];
			g->inline_calls.at[at->first + kept++] = g->inline_calls.at[at->first + i];
		}
	at->n = (uint32_t)kept;
}

bool program_call_line(const struct program *g, frameid frame, size_t i, struct srcloc *ret)
{
	const struct call_line *at = &g->inline_calls.at[g->inlined[frame].first + i];
	*ret = (struct srcloc){ .file = strtab_get(g->names, at->file), .line = at->line };
	return at->file;
}

const struct remarks *program_remarks(const struct program *g) { return &g->remarks; }

size_t program_n_joined(const struct program *g) { return g->joined.n; }

objid program_joined_at(const struct program *g, size_t i) { return g->joined.at[i]; }

uint64_t program_unnamed(const struct program *g, objid object)
{
	return g->objects[object].unnamed;
}

const struct debuginfod *program_servers(const struct program *g) { return g->opts.debuginfod; }

bool program_is_elsewhere(const struct program *g) { return g->opts.symfs != NULL; }

/* fleet_profile.c - makes samples, stacks and names from a store's rows.
 *
 * Each function gets a range of addresses, and each of its places one address in that range. The
 * names go with the profile as a recording's names do (names/kept.h). So reports by function, by
 * line and with inlined functions need no code of their own for stores. */
#include "fleet/fleet_profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/beside.h"
#include "base/capped.h"
#include "base/sort.h"
#include "formats/rows/rows_hash.h"
#include "names/kept.h"
#include "object/object.h"

struct symbol_of { /* functions of one object with the same start address and name */
	uint64_t address;
	const struct rows_function *row; /* row of the first of these functions */
	uint32_t object;                 /* index in objects */
	uint32_t places;                 /* number of distinct places */
	uint32_t first;                  /* index of the first place in symbol_places */
	uint64_t at;                     /* first address in the profile */
};

enum place_form {
	PLACE_OF_SYMBOL, /* an address with kept names */
	PLACE_BY_NAME,   /* named frames without an address */
	PLACE_BARE,      /* an address without a name */
};

struct fleet_place { /* a frame, with the functions inlined there */
	enum place_form form;
	size_t first, n; /* range in place_frames */
	uint32_t symbol; /* PLACE_OF_SYMBOL: index in symbols */
	uint32_t number; /* number within the symbol's places, from 0 */
};

struct fleet_object {
	const char *path, *build_id;
	uint8_t kind;
	bool is_main;
	bool is_used;             /* has a place */
	bool has_symbols;         /* has a PLACE_OF_SYMBOL */
	uint64_t numbering;       /* hash of everything that determines its addresses */
	char *own_id;             /* build id in the profile, which includes that hash; owned */
	objid id;                 /* 0: not used */
	uint64_t next;            /* the next free address */
	struct kept_object *kept; /* NULL: no function is a symbol */
};

struct fleet_maker {
	const struct answers *a;
	const struct stack_order *order;
	struct profile_builder *into;
	VEC(struct fleet_object) objects;
	VEC(struct symbol_of) symbols;
	VEC(struct fleet_place) places;
	VEC(uint32_t) place_frames;  /* frames of each place, the physical one first */
	VEC(uint32_t) symbol_places; /* indices of places, grouped by symbol */
	VEC(frameid) made;           /* the profile's frames, grouped by place */
	VEC(uint32_t) made_from;     /* [places + 1]: index of the place's first frame in made */
	uint8_t *uses;               /* [a->tree]: enum node_use */
	uint32_t *place_at;          /* [a->tree]: the place that ends at the node, if one does */
	stackid *stacks;             /* [a->stacks] */
	struct map64 object_ids, symbol_ids;
	struct map64 place_ids;     /* by hash of the frames: places with inlined functions */
	uint32_t *frame_places;     /* [a->frames]: place of it alone; NONE: not made yet */
	uint32_t *frame_functions;  /* [a->frames]: index in a->functions; NONE: not known */
	bool *frame_is_inlined;     /* [a->frames] */
	uint32_t *function_objects; /* [a->functions]: index in objects */
	uint32_t *function_symbols; /* [a->functions]: index in symbols; NONE: not made yet */
	VEC(uint32_t) room;         /* buffer of frames_to() */
	VEC(struct symbol_of *) by_address; /* the symbols */
	struct kept *kept;
	const char *comm; /* name of `task`; NULL: no task yet */
	taskid task;
	uint64_t missing; /* samples whose names the store lacks */
	bool has_clock;
	uint16_t clock; /* the first event that is CPU time */
};

/* ---- objects and symbols ---- */

static uint32_t make_object(struct fleet_maker *m, const struct rows_function *row)
{
	uint64_t key = rows_hash_text(rows_hash_text(ROWS_HASH_START, row->object), row->build_id);
	uint32_t *at = map64_at(&m->object_ids, rows_hash_end(key));
	if (*at == NONE) {
		*at = (uint32_t)m->objects.n;
		vec_push(&m->objects, ((struct fleet_object){ .path = row->object,
							      .build_id = row->build_id,
							      .kind = row->kind }));
	}
	return *at;
}

static const struct rows_frame *frame_of(const struct fleet_maker *m, uint32_t frame)
{
	return answers_frame(m->a, frame);
}

/* NULL: the frame's function is not known. */
static const struct rows_function *function_of(const struct fleet_maker *m, uint32_t frame)
{
	uint32_t at = m->frame_functions[frame];
	return at == NONE ? NULL : &m->a->functions.at[at];
}

static uint32_t object_of(const struct fleet_maker *m, uint32_t frame)
{
	return m->function_objects[m->frame_functions[frame]];
}

static void find_functions(struct fleet_maker *m)
{
	const struct answers *a = m->a;
	m->frame_functions = xrealloc(NULL, a->frames.n + 1, sizeof(*m->frame_functions));
	m->frame_is_inlined = xalloc(a->frames.n + 1);
	for (uint32_t i = 0; i < a->frames.n; i++) {
		const struct rows_frame *x = frame_of(m, i);
		m->frame_functions[i] = x ? map64_get(&a->function_ids, x->function) : NONE;
		m->frame_is_inlined[i] = x && x->flags & ROWS_INLINED;
	}
	m->function_objects = xrealloc(NULL, a->functions.n + 1, sizeof(*m->function_objects));
	m->function_symbols = xrealloc(NULL, a->functions.n + 1, sizeof(*m->function_symbols));
	for (size_t i = 0; i < a->functions.n; i++) {
		m->function_objects[i] = make_object(m, &a->functions.at[i]);
		m->function_symbols[i] = NONE;
	}
}

static bool is_symbol(const struct rows_function *row)
{
	return row->address && *row->object &&
	       (row->kind == KIN_OBJECT_FILE || row->kind == KIN_OBJECT_VDSO);
}

static uint32_t make_symbol(struct fleet_maker *m, const struct rows_function *row, uint32_t object)
{
	uint64_t key = rows_hash_number(ROWS_HASH_START, object);
	key = rows_hash_text(rows_hash_number(key, row->address), row->name);
	uint32_t *at = map64_at(&m->symbol_ids, rows_hash_end(key));
	if (*at == NONE) {
		*at = (uint32_t)m->symbols.n;
		vec_push(&m->symbols,
			 ((struct symbol_of){
				 .address = row->address, .row = row, .object = object }));
	}
	if (row->line && !m->symbols.at[*at].row->line) /* prefer a row from a host with debug
							   information */
		m->symbols.at[*at].row = row;
	return *at;
}

static uint32_t symbol_of(struct fleet_maker *m, uint32_t function)
{
	uint32_t *at = &m->function_symbols[function];
	if (*at == NONE)
		*at = make_symbol(m, &m->a->functions.at[function], m->function_objects[function]);
	return *at;
}

/* ---- places ---- */

static struct fleet_place make_place(struct fleet_maker *m, const uint32_t *frames, size_t n)
{
	const struct rows_function *row = function_of(m, *frames);
	struct fleet_place p = { .form = PLACE_BY_NAME, .first = m->place_frames.n, .n = n };
	for (size_t i = 0; i < n; i++)
		vec_push(&m->place_frames, frames[i]);
	if (row) {
		struct fleet_object *o = &m->objects.at[object_of(m, *frames)];
		o->is_used = true;
		o->is_main |= row->flags & ROWS_MAIN;
	}
	if (row && row->flags & ROWS_UNNAMED) {
		p.form = PLACE_BARE;
	} else if (row && is_symbol(row)) {
		p.form = PLACE_OF_SYMBOL;
		p.symbol = symbol_of(m, m->frame_functions[*frames]);
		p.number = m->symbols.at[p.symbol].places++;
	}
	return p;
}

static uint32_t place_of(struct fleet_maker *m, const uint32_t *frames, size_t n)
{
	uint32_t *at = &m->frame_places[*frames];
	if (n > 1) {
		uint64_t key = ROWS_HASH_START;
		for (size_t i = 0; i < n; i++)
			key = rows_hash_number(key, frames[i]);
		at = map64_at(&m->place_ids, rows_hash_end(key));
	}
	if (*at == NONE) {
		*at = (uint32_t)m->places.n;
		vec_push(&m->places, make_place(m, frames, n));
	}
	return *at;
}

/* ---- the tree: which nodes are used, and where places end ---- */

enum node_use {
	ENDS = 1,    /* a place ends here: a stack ends here, or calls another place */
	PASSES = 4,  /* a node inlined into this one is used */
	CUT = 1,     /* shift: used by stacks that are cut; without it, by complete ones */
	JOINED = 16, /* inlined: part of its caller's place */
	ENDS_ANY = ENDS | ENDS << CUT,
	PASSES_ANY = PASSES | PASSES << CUT,
};

static bool is_joined(const struct fleet_maker *m, const struct stack *x)
{
	return x->caller && m->frame_is_inlined[x->frame];
}

static unsigned cut_of(const struct answers_stack *s) { return s->flags & ROWS_CUT ? CUT : 0; }

/* Marks the used nodes. A caller's number is smaller than its callee's, so one pass from the end
 * reaches all callers. */
static void find_uses(struct fleet_maker *m)
{
	const struct stack *nodes = m->a->tree.nodes.at;
	m->uses = xalloc(m->a->tree.nodes.n + 1);
	for (size_t i = 0; i < m->a->stacks.n; i++) {
		const struct answers_stack *s = &m->a->stacks.at[i];
		if (s->node != NONE)
			m->uses[s->node] |= (uint8_t)(ENDS << cut_of(s));
	}
	for (size_t i = m->a->tree.nodes.n; i-- > 1;) {
		unsigned use = m->uses[i];
		if (!use)
			continue;
		unsigned by = (use | use / PASSES) & ENDS_ANY;
		bool joined = is_joined(m, &nodes[i]);
		m->uses[i] |= joined ? JOINED : 0;
		m->uses[nodes[i].caller] |= (uint8_t)(joined ? by * PASSES : by);
	}
}

/* The node at which the place begins that ends at `node`. */
static size_t head_of(const struct fleet_maker *m, size_t node)
{
	while (m->uses[node] & JOINED)
		node = m->a->tree.nodes.at[node].caller;
	return node;
}

/* The frames of the place that ends at a node, the physical one first. */
static const uint32_t *frames_to(struct fleet_maker *m, size_t node, size_t *n)
{
	const struct stack *nodes = m->a->tree.nodes.at;
	if (!(m->uses[node] & JOINED)) {
		*n = 1;
		return &nodes[node].frame;
	}
	m->room.n = 0;
	for (size_t i = node; m->uses[i] & JOINED; i = nodes[i].caller)
		vec_push(&m->room, nodes[i].frame);
	vec_push(&m->room, nodes[head_of(m, node)].frame);
	*n = m->room.n;
	for (size_t i = 0; i < *n / 2; i++) {
		uint32_t frame = m->room.at[i];
		m->room.at[i] = m->room.at[*n - 1 - i];
		m->room.at[*n - 1 - i] = frame;
	}
	return m->room.at;
}

static void find_places(struct fleet_maker *m)
{
	size_t n_nodes = m->a->tree.nodes.n;
	m->frame_places = xrealloc(NULL, m->a->frames.n + 1, sizeof(*m->frame_places));
	for (size_t i = 0; i < m->a->frames.n; i++)
		m->frame_places[i] = NONE;
	vec_reserve(&m->places, m->a->frames.n); /* most frames are a place, */
	vec_reserve(&m->place_frames, m->a->frames.n);
	vec_reserve(&m->symbols, m->a->functions.n); /* and most functions a symbol */
	map64_reserve(&m->symbol_ids, m->a->functions.n);
	m->place_at = xrealloc(NULL, n_nodes + 1, sizeof(*m->place_at));
	for (size_t k = 1; k < n_nodes; k++) {
		size_t i = stack_order_node(m->order, k), n;
		if (!(m->uses[i] & ENDS_ANY))
			continue;
		const uint32_t *frames = frames_to(m, i, &n);
		m->place_at[i] = place_of(m, frames, n);
	}
}

/* ---- names to keep ---- */

static int by_path(const void *a, const void *b)
{
	const struct fleet_object *const *x = a, *const *y = b;
	int d = strcmp((*x)->path, (*y)->path);
	return d ? d : strcmp((*x)->build_id, (*y)->build_id);
}

static enum object_kind kind_of(uint8_t kind)
{
	static const enum object_kind kinds[] = {
		[KIN_OBJECT_FILE] = OBJECT_ELF,    [KIN_OBJECT_KERNEL] = OBJECT_KERNEL,
		[KIN_OBJECT_VDSO] = OBJECT_VDSO,   [KIN_OBJECT_JIT] = OBJECT_JIT,
		[KIN_OBJECT_OTHER] = OBJECT_OTHER,
	};
	return kind < ARRAY_LEN(kinds) ? kinds[kind] : OBJECT_OTHER;
}

/* Addresses in two answers, or in an answer and a recording, number different places. So their
 * objects must differ, as builds of one program do. The hash covers everything that determines the
 * addresses. */
static void find_numberings(struct fleet_maker *m)
{
	for (size_t i = 0; i < m->places.n; i++) {
		const struct fleet_place *p = &m->places.at[i];
		const uint32_t *frames = &m->place_frames.at[p->first];
		if (p->form == PLACE_BY_NAME)
			continue;
		struct fleet_object *o = &m->objects.at[object_of(m, *frames)];
		for (size_t k = 0; k < p->n; k++) {
			const struct rows_frame *x = frame_of(m, frames[k]);
			o->numbering = rows_hash_number(o->numbering, x->id);
		}
		o->numbering = rows_hash_number(o->numbering, p->n);
		o->has_symbols |= p->form == PLACE_OF_SYMBOL;
	}
}

/* Adds objects in an order that does not depend on the order of the answers. */
static void add_objects(struct fleet_maker *m)
{
	struct fleet_object **sorted = xalloc((m->objects.n + 1) * sizeof(*sorted));
	for (size_t i = 0; i < m->objects.n; i++)
		sorted[i] = &m->objects.at[i];
	if (m->objects.n)
		qsort(sorted, m->objects.n, sizeof(*sorted), by_path);
	for (size_t i = 0; i < m->objects.n; i++) {
		struct fleet_object *o = sorted[i];
		o->next = 1;
		if (!o->is_used || !*o->path)
			continue;
		o->own_id = o->has_symbols ? xprintf("%s%016" PRIx64, o->build_id,
						     rows_hash_end(o->numbering))
					   : xprintf("%s", o->build_id);
		o->id = profile_add_object_of(m->into, o->path, o->own_id, kind_of(o->kind),
					      o->is_main);
	}
	free(sorted);
}

/* Code without a name keeps its addresses; symbols get addresses after these. */
static void leave_bare_addresses(struct fleet_maker *m)
{
	for (size_t i = 0; i < m->places.n; i++) {
		const struct fleet_place *p = &m->places.at[i];
		const struct rows_frame *x = frame_of(m, m->place_frames.at[p->first]);
		if (p->form != PLACE_BARE || x->address >= UINT64_MAX / 2)
			continue;
		struct fleet_object *o = &m->objects.at[object_of(m, m->place_frames.at[p->first])];
		if (o->next <= x->address)
			o->next = x->address + 1;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct symbol_of *const *x = a, *const *y = b;
	if ((*x)->object != (*y)->object)
		return (*x)->object < (*y)->object ? -1 : 1;
	if ((*x)->address != (*y)->address)
		return (*x)->address < (*y)->address ? -1 : 1;
	return strcmp((*x)->row->name, (*y)->row->name);
}

static struct kept_object *kept_of(struct fleet_maker *m, struct fleet_object *o)
{
	if (!o->kept)
		o->kept = kept_add_object(
			m->kept, &(struct kept_object){ .path = o->path,
							.build_id = o->own_id,
							.flags = KEPT_64BIT | KEPT_GIVEN });
	return o->kept;
}

/* The function's name is interned already. */
static void add_line(struct fleet_maker *m, struct kept_object *o, uint64_t addr,
		     const char *function, const char *file, uint32_t line)
{
	if (!line || !*file)
		return;
	o->flags |= KEPT_LINES;
	vec_push(&o->lines, ((struct kept_line){ .addr = addr,
						 .end = addr + 1,
						 .function = function,
						 .file = kept_string(m->kept, file),
						 .line = line }));
}

static uint64_t address_of(const struct fleet_maker *m, const struct fleet_place *p)
{
	return m->symbols.at[p->symbol].at + 1 + p->number;
}

/* The line is the innermost frame's. */
static void keep_place(struct fleet_maker *m, const struct fleet_place *p,
		       const struct kept_symbol *symbol)
{
	struct kept_object *o = m->objects.at[m->symbols.at[p->symbol].object].kept;
	const uint32_t *frames = &m->place_frames.at[p->first];
	const struct rows_frame *leaf = frame_of(m, frames[p->n - 1]);
	const char *function = symbol->name;
	for (size_t i = p->n; i-- > 1;) {
		const struct rows_function *in = function_of(m, frames[i]);
		const char *name = kept_string(m->kept, in ? in->name : "[unknown]");
		vec_push(&o->inlines,
			 ((struct kept_inline){
				 .addr = address_of(m, p), .depth = (uint32_t)i, .name = name }));
		if (in && i == p->n - 1)
			function = name;
	}
	add_line(m, o, address_of(m, p), function, leaf->file, leaf->line);
}

static void list_places_of_symbols(struct fleet_maker *m)
{
	uint32_t n = 0;
	for (size_t i = 0; i < m->symbols.n; i++) {
		m->symbols.at[i].first = n;
		n += m->symbols.at[i].places;
	}
	vec_reserve(&m->symbol_places, n);
	m->symbol_places.n = n;
	for (size_t i = 0; i < m->places.n; i++) {
		const struct fleet_place *p = &m->places.at[i];
		if (p->form == PLACE_OF_SYMBOL)
			m->symbol_places.at[m->symbols.at[p->symbol].first + p->number] =
				(uint32_t)i;
	}
}

static void keep_symbol(struct fleet_maker *m, const struct symbol_of *s, uint32_t position)
{
	struct kept_object *k = kept_of(m, &m->objects.at[s->object]);
	struct kept_symbol symbol = { .addr = s->at,
				      .end = s->at + 1 + s->places,
				      .owner = s->at,
				      .name = kept_string(m->kept, s->row->name),
				      .flags = SYMBOL_FUNCTION,
				      .position = position };
	vec_push(&k->symbols, symbol);
	k->n_functions++;
	k->text_low = k->text_low ? k->text_low : s->at;
	k->text_high = symbol.end;
	add_line(m, k, s->at, symbol.name, s->row->file, s->row->line);
	for (uint32_t i = 0; i < s->places; i++)
		keep_place(m, &m->places.at[m->symbol_places.at[s->first + i]], &symbol);
}

/* Gives symbols their addresses, in an order that does not depend on that of the answers. */
static void place_symbols(struct fleet_maker *m)
{
	vec_reserve(&m->by_address, m->symbols.n + 1);
	for (size_t i = 0; i < m->symbols.n; i++)
		vec_push(&m->by_address, &m->symbols.at[i]);
	if (m->symbols.n)
		qsort(m->by_address.at, m->symbols.n, sizeof(*m->by_address.at), by_address);
	for (size_t i = 0; i < m->symbols.n; i++) {
		struct symbol_of *s = m->by_address.at[i];
		struct fleet_object *o = &m->objects.at[s->object];
		s->at = o->next;
		o->next += 1 + s->places;
	}
}

/* In order of addresses, so that the kept names are sorted. */
static void keep_symbols(void *arg)
{
	struct fleet_maker *m = arg;
	m->kept = kept_new();
	list_places_of_symbols(m);
	for (size_t i = 0; i < m->symbols.n; i++)
		keep_symbol(m, m->by_address.at[i], (uint32_t)i);
	kept_sort(m->kept);
}

/* ---- frames and stacks ---- */

static uint32_t flags_of(const struct rows_frame *x)
{
	return (x->flags & ROWS_KERNEL ? (uint32_t)FRAME_KERNEL : 0) |
	       (x->flags & ROWS_INLINED ? (uint32_t)FRAME_INLINED : 0);
}

static void make_named(struct fleet_maker *m, uint32_t frame)
{
	const struct rows_frame *x = frame_of(m, frame);
	const struct rows_function *row = function_of(m, frame);
	const char *name = row ? row->name : "[unknown]";
	struct frame made = { .name = profile_add_string(m->into, name, strlen(name)) };
	if (row)
		made.object = m->objects.at[object_of(m, frame)].id;
	if (x)
		made.flags = flags_of(x);
	vec_push(&m->made, profile_add_frame(m->into, made));
}

static void make_frames_of(struct fleet_maker *m, const struct fleet_place *p)
{
	const struct rows_frame *x = frame_of(m, m->place_frames.at[p->first]);
	if (x && x->flags & ROWS_CALLER_GUESSED)
		vec_push(&m->made, profile_add_mark(m->into, MARK_GUESSED));
	if (p->form == PLACE_BY_NAME) {
		for (size_t i = 0; i < p->n; i++)
			make_named(m, m->place_frames.at[p->first + i]);
	} else {
		struct frame made = { .flags = flags_of(x) & ~(uint32_t)FRAME_INLINED };
		bool bare = p->form == PLACE_BARE;
		made.addr = bare ? x->address : address_of(m, p);
		made.object = m->objects.at[object_of(m, m->place_frames.at[p->first])].id;
		vec_push(&m->made, profile_add_frame(m->into, made));
	}
}

static void make_frames(struct fleet_maker *m)
{
	profile_reserve_frames(m->into, m->places.n);
	vec_reserve(&m->made, m->places.n);
	vec_reserve(&m->made_from, m->places.n + 1);
	vec_push(&m->made_from, 0);
	for (size_t i = 0; i < m->places.n; i++) {
		make_frames_of(m, &m->places.at[i]);
		vec_push(&m->made_from, (uint32_t)m->made.n);
	}
}

/* Pushes the place's frames on the stack `at`. */
static stackid add_place(struct fleet_maker *m, stackid at, uint32_t place)
{
	for (uint32_t i = m->made_from.at[place]; i < m->made_from.at[place + 1]; i++)
		at = profile_push_stack(m->into, at, m->made.at[i]);
	return at;
}

/* Adds the stacks that are marked as cut, or those that are not. */
static void add_stacks(struct fleet_maker *m, unsigned cut)
{
	const struct stack *nodes = m->a->tree.nodes.at;
	size_t n = m->a->tree.nodes.n;
	bool any = false;
	for (size_t i = 0; i < m->a->stacks.n && !any; i++)
		any = m->a->stacks.at[i].node != NONE && cut_of(&m->a->stacks.at[i]) == cut;
	if (!any)
		return;
	stackid *made = xrealloc(NULL, n + 1, sizeof(*made));
	made[0] = cut ? profile_push_stack(m->into, 0, profile_add_mark(m->into, MARK_CUT)) : 0;
	for (size_t k = 1; k < n; k++) {
		size_t i = stack_order_node(m->order, k);
		if (!(m->uses[i] & ENDS << cut))
			continue;
		stackid caller = made[nodes[head_of(m, i)].caller];
		made[i] = add_place(m, caller, m->place_at[i]);
	}
	for (size_t i = 0; i < m->a->stacks.n; i++) {
		const struct answers_stack *s = &m->a->stacks.at[i];
		if (s->node != NONE && cut_of(s) == cut)
			m->stacks[i] = made[s->node];
	}
	free(made);
}

/* ---- samples ---- */

/* The event without its name. */
static struct event event_of(const struct rows_event *e)
{
	return (struct event){ .unit = !strcmp(e->unit, "ns") ? EVENT_NS : EVENT_COUNT,
			       .kind = e->kind == KIN_EVENT_BLOCKED   ? EVENT_BLOCKED
				       : e->kind == KIN_EVENT_WAITING ? EVENT_WAITING
								      : EVENT_ON_CPU,
			       .period = e->period,
			       .frequency = e->frequency,
			       .stacks = true,
			       .is_timeless = true };
}

static uint16_t add_event(struct fleet_maker *m, uint64_t id)
{
	static const struct rows_event none = { .name = "[unknown]", .unit = "" };
	const struct rows_event *e = answers_event(m->a, id);
	e = e ? e : &none;
	struct event made = event_of(e);
	made.name = profile_add_string(m->into, e->name, strlen(e->name));
	uint16_t event = profile_add_event(m->into, made);
	if (!m->has_clock && made.kind == EVENT_ON_CPU && made.unit == EVENT_NS) {
		m->has_clock = true;
		m->clock = event;
	}
	return event;
}

static void count_stack(struct fleet_maker *m, uint8_t flags, uint64_t count)
{
	struct audit *a = profile_audit(m->into);
	capped_add(flags & ROWS_CUT       ? &a->truncated
		   : flags & ROWS_GUESSED ? &a->guessed
					  : &a->complete,
		   count);
}

/* Most threads have the same name as the previous one. */
static taskid task_of(struct fleet_maker *m, const char *comm)
{
	if (!*comm || (m->comm && !strcmp(m->comm, comm)))
		return *comm ? m->task : 0;
	m->comm = comm;
	m->task = profile_add_task(
		m->into, (struct task){ .comm = profile_add_string(m->into, comm, strlen(comm)) });
	return m->task;
}

/* is_only: no other sample of the event has this stack, so none could be merged with it. */
static void add_sample(struct fleet_maker *m, const struct answers_sum *x, uint16_t event,
		       bool is_only)
{
	const struct answers_stack *of = &m->a->stacks.at[x->stack];
	struct sample s = { .event = event, .cpu = CPU_NONE, .weight = x->weight };
	/* Without the kernel's accounting: sums with others then know that theirs is not of all. */
	if (m->has_clock && event == m->clock)
		capped_add(&profile_audit(m->into)->sampled_ns, x->weight);
	if (of->node == NONE) {
		const char *name = "[unknown]";
		frameid frame = profile_add_frame(
			m->into,
			(struct frame){ .name = profile_add_string(m->into, name, strlen(name)) });
		s.stack = profile_add_stack(m->into, 0, frame);
		capped_add(&m->missing, x->count);
		is_only = false;
	} else {
		s.task = task_of(m, of->comm);
		s.stack = m->stacks[x->stack];
		count_stack(m, of->flags, x->count);
	}
	/* limit of 10^12 samples per stack */
	const uint64_t most = (uint64_t)256 * UINT32_MAX;
	uint64_t left = x->count < most ? x->count : most;
	do {
		s.count = left > UINT32_MAX ? UINT32_MAX : left ? (uint32_t)left : 1;
		if (is_only)
			profile_push_sample(m->into, s);
		else
			profile_add_sample(m->into, s);
		left -= left ? s.count : 0;
		s.weight = 0;
	} while (left);
}

/* Events that count time come first, as in profile_canonical(). */
static int by_name(const void *a, const void *b)
{
	const struct rows_event *const *x = a, *const *y = b;
	struct event ex = event_of(*x), ey = event_of(*y);
	int order = event_counts_time(&ey, (*y)->name) - event_counts_time(&ex, (*x)->name);
	if (!order)
		order = strcmp((*x)->name, (*y)->name);
	if (!order)
		order = ORDER(ex.kind, ey.kind);
	return order ? order : ORDER(ex.unit, ey.unit);
}

/* Adds the events that have samples, in the order of kin merge. */
static void add_events(struct fleet_maker *m, const struct sort_key *sorted)
{
	VEC(const struct rows_event *) used = { 0 };
	uint64_t last = 0;
	for (size_t i = 0; i < m->a->sums.n; i++) {
		uint64_t event = m->a->sums.at[sorted[i].index].event;
		uint32_t at = i && event == last ? NONE : map64_get(&m->a->event_ids, event);
		if (at != NONE)
			vec_push(&used, &m->a->events.at[at]);
		last = event;
	}
	if (used.n)
		qsort(used.at, used.n, sizeof(*used.at), by_name);
	for (size_t i = 0; i < used.n; i++)
		add_event(m, used.at[i]->id);
	vec_free(&used);
}

/* Sorts sums of the same event and frames, which differ in the thread's name or flags. */
static void sort_alike(const struct answers *a, struct sort_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		keys[i].key = a->stacks.at[a->sums.at[keys[i].index].stack].id;
	sort_keys(keys, n);
}

/* Sorts sums by event, frames and id. */
static struct sort_key *sorted_sums(const struct fleet_maker *m)
{
	const struct answers *a = m->a;
	struct sort_key *keys = xrealloc(NULL, a->sums.n + 1, sizeof(*keys));
	for (size_t i = 0; i < a->sums.n; i++)
		keys[i] = (struct sort_key){ m->stacks[a->sums.at[i].stack], (uint32_t)i };
	sort_keys(keys, a->sums.n);
	for (size_t i = 0, n; i < a->sums.n; i += n) {
		for (n = 1; i + n < a->sums.n && keys[i + n].key == keys[i].key;)
			n++;
		if (n > 1)
			sort_alike(a, keys + i, n);
	}
	for (size_t i = 0; i < a->sums.n; i++)
		keys[i].key = a->sums.at[keys[i].index].event;
	sort_keys(keys, a->sums.n);
	return keys;
}

/* Prefetches sums that are used soon: sums and their stacks are in the order of the answers,
 * scattered over memory. */
static void expect_sample(const struct answers *a, const struct sort_key *sorted, size_t i)
{
	enum { AHEAD = 8 };
	if (i + 2 * AHEAD >= a->sums.n)
		return;
	prefetch_line(&a->sums.at[sorted[i + 2 * AHEAD].index]);
	prefetch_line(&a->stacks.at[a->sums.at[sorted[i + AHEAD].index].stack]);
}

/* The stack of a sum, from 1; 0: there is no such sum. */
static uint64_t stack_of(const struct fleet_maker *m, const struct sort_key *sorted, size_t i)
{
	const struct answers *a = m->a;
	return i < a->sums.n ? (uint64_t)m->stacks[a->sums.at[sorted[i].index].stack] + 1 : 0;
}

static void add_samples(struct fleet_maker *m)
{
	struct sort_key *sorted = sorted_sums(m);
	uint64_t before = 0, stack = stack_of(m, sorted, 0);
	uint16_t event = 0;
	uint64_t last = 0;
	add_events(m, sorted);
	for (size_t i = 0; i < m->a->sums.n; i++) {
		const struct answers_sum *x = &m->a->sums.at[sorted[i].index];
		uint64_t after = stack_of(m, sorted, i + 1);
		expect_sample(m->a, sorted, i);
		if (!i || x->event != last)
			event = add_event(m, x->event);
		add_sample(m, x, event, stack != before && stack != after);
		last = x->event;
		before = stack;
		stack = after;
	}
	free(sorted);
}

/* ---- interface ---- */

static void add_stacks_and_samples(void *arg)
{
	struct fleet_maker *m = arg;
	make_frames(m);
	m->stacks = xalloc((m->a->stacks.n + 1) * sizeof(*m->stacks));
	add_stacks(m, 0);
	add_stacks(m, CUT);
	free(m->uses);
	free(m->place_at);
	add_samples(m);
	free(m->stacks);
}

/* Names are kept while samples are added: neither needs the other's results. */
static void fill_profile(struct fleet_maker *m)
{
	run_beside((struct workload){ add_stacks_and_samples, m },
		   (struct workload){ keep_symbols, m });
	profile_add_kept(m->into, m->kept);
	kept_free(m->kept);
}

uint64_t fleet_profile(const struct answers *a, const struct stack_order *order,
		       struct profile_builder *into)
{
	struct fleet_maker m = { .a = a, .order = order, .into = into };
	find_functions(&m);
	find_uses(&m);
	find_places(&m);
	find_numberings(&m);
	add_objects(&m);
	leave_bare_addresses(&m);
	place_symbols(&m);
	fill_profile(&m);
	for (size_t i = 0; i < m.objects.n; i++)
		free(m.objects.at[i].own_id);
	vec_free(&m.objects);
	vec_free(&m.symbols);
	vec_free(&m.places);
	vec_free(&m.place_frames);
	vec_free(&m.symbol_places);
	vec_free(&m.by_address);
	vec_free(&m.made);
	vec_free(&m.made_from);
	map64_free(&m.object_ids);
	map64_free(&m.symbol_ids);
	map64_free(&m.place_ids);
	free(m.frame_places);
	free(m.frame_functions);
	free(m.frame_is_inlined);
	free(m.function_objects);
	free(m.function_symbols);
	vec_free(&m.room);
	return m.missing;
}

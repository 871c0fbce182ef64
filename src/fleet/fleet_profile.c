/* fleet_profile.c - samples, stacks and names out of rows.
 *
 * A function gets a stretch of addresses of its own, and each of its places one of them; the names
 * go with the profile as those of a recording do (names/kept.h), so that reports by function, by
 * line and of what was inlined are made as of any recording. */
#include "fleet/fleet_profile.h"

#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_rows_hash.h"
#include "fleet/path_order.h"
#include "names/kept.h"
#include "object/object.h"

struct symbol_of { /* functions of one object that begin at one address and have one name */
	uint64_t address;
	const struct rows_function *row; /* of the first of them */
	uint32_t object;                 /* index of objects */
	uint32_t places;                 /* distinct ones */
	uint64_t at;                     /* its first address in the profile */
};

enum place_form {
	PLACE_OF_SYMBOL, /* an address with what is kept for it */
	PLACE_BY_NAME,   /* named frames */
	PLACE_BARE,      /* an address without a name */
};

struct fleet_place { /* a frame, and the functions inlined there */
	enum place_form form;
	size_t first, n; /* of place_frames */
	uint32_t symbol; /* PLACE_OF_SYMBOL: index of symbols */
	uint32_t number; /* of its places, from 0 */
	bool is_made;
	uint32_t made_first, made_n; /* of made: frames of the profile */
};

struct fleet_object {
	const char *path, *build_id;
	uint8_t kind;
	bool is_main;
	objid id;
	uint64_t next;            /* the next address that is free */
	struct kept_object *kept; /* NULL: none of its functions is a symbol */
};

struct fleet_maker {
	struct answers *a;
	struct profile_builder *into;
	VEC(struct fleet_object) objects;
	VEC(struct symbol_of) symbols;
	VEC(struct fleet_place) places;
	VEC(uint32_t) place_frames; /* of each place, the physical one first */
	VEC(frameid) made;
	stackid *stacks; /* [a->stacks] */
	struct map64 object_ids, symbol_ids;
	struct map64 place_ids;     /* by hash of the frames, of places with inlined functions */
	VEC(uint32_t) frame_places; /* by frame: the place without any; NONE: not made yet */
	struct kept *kept;
	const char *comm; /* of `task`; NULL: there is none yet */
	taskid task;
	uint64_t missing; /* samples whose names are not there */
};

static void add_to(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* ---- objects and symbols ---- */

static uint32_t object_of(struct fleet_maker *m, const struct rows_function *row)
{
	uint64_t key = rows_hash_text(rows_hash_text(ROWS_HASH_START, row->object), row->build_id);
	uint32_t *at = map64_at(&m->object_ids, rows_hash_end(key));
	if (*at == NONE) {
		*at = (uint32_t)m->objects.n;
		vec_push(&m->objects, ((struct fleet_object){ .path = row->object,
							      .build_id = row->build_id,
							      .kind = row->kind }));
	}
	m->objects.at[*at].is_main |= row->flags & ROWS_MAIN;
	return *at;
}

static uint32_t symbol_of(struct fleet_maker *m, const struct rows_function *row)
{
	uint32_t object = object_of(m, row);
	uint64_t key = rows_hash_number(ROWS_HASH_START, object);
	key = rows_hash_text(rows_hash_number(key, row->address), row->name);
	uint32_t *at = map64_at(&m->symbol_ids, rows_hash_end(key));
	if (*at == NONE) {
		*at = (uint32_t)m->symbols.n;
		vec_push(&m->symbols,
			 ((struct symbol_of){
				 .address = row->address, .row = row, .object = object }));
	}
	if (row->line && !m->symbols.at[*at].row->line) /* of a host with debug information */
		m->symbols.at[*at].row = row;
	return *at;
}

static const struct rows_function *function_of(const struct fleet_maker *m,
					       const struct rows_frame *x)
{
	return x ? answers_function(m->a, x->function) : NULL;
}

static const struct rows_frame *frame_of(const struct fleet_maker *m, uint32_t frame)
{
	return answers_frame(m->a, frame);
}

static bool is_inlined(const struct fleet_maker *m, uint32_t frame)
{
	const struct rows_frame *x = frame_of(m, frame);
	return x && x->flags & ROWS_INLINED;
}

/* ---- places ---- */

static bool is_symbol(const struct rows_function *row)
{
	return row->address && *row->object &&
	       (row->kind == KIN_OBJECT_FILE || row->kind == KIN_OBJECT_VDSO);
}

static struct fleet_place make_place(struct fleet_maker *m, size_t first, size_t n)
{
	const struct rows_frame *x = frame_of(m, m->a->path.at[first]);
	const struct rows_function *row = function_of(m, x);
	struct fleet_place p = { .form = PLACE_BY_NAME, .first = m->place_frames.n, .n = n };
	for (size_t i = 0; i < n; i++)
		vec_push(&m->place_frames, m->a->path.at[first + i]);
	if (row)
		object_of(m, row);
	if (row && row->flags & ROWS_UNNAMED) {
		p.form = PLACE_BARE;
	} else if (row && is_symbol(row)) {
		p.form = PLACE_OF_SYMBOL;
		p.symbol = symbol_of(m, row);
		p.number = m->symbols.at[p.symbol].places++;
	}
	return p;
}

static uint32_t *known_place(struct fleet_maker *m, size_t first, size_t n)
{
	const uint32_t *frames = &m->a->path.at[first];
	if (n == 1)
		return &m->frame_places.at[*frames];
	uint64_t key = ROWS_HASH_START;
	for (size_t i = 0; i < n; i++)
		key = rows_hash_number(key, frames[i]);
	return map64_at(&m->place_ids, rows_hash_end(key));
}

static uint32_t place_of(struct fleet_maker *m, size_t first, size_t n)
{
	uint32_t *at = known_place(m, first, n);
	if (*at == NONE) {
		*at = (uint32_t)m->places.n;
		vec_push(&m->places, make_place(m, first, n));
	}
	return *at;
}

/* Puts places where the frames of each stack were: the path is one of places from then on. */
static void find_places(struct fleet_maker *m)
{
	for (size_t i = 0; i < m->a->frames.n; i++)
		vec_push(&m->frame_places, NONE);
	for (size_t i = 0; i < m->a->stacks.n; i++) {
		struct rows_stack *s = &m->a->stacks.at[i];
		size_t places = 0;
		for (size_t k = s->first, end = s->first + s->n; k < end;) {
			size_t n = 1;
			while (k + n < end && is_inlined(m, m->a->path.at[k + n]))
				n++;
			m->a->path.at[s->first + places++] = place_of(m, k, n);
			k += n;
		}
		s->n = places;
	}
}

/* ---- what is kept for them ---- */

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

/* In an order that does not depend on that of the answers. */
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
		o->id = *o->path ? profile_add_object_of(m->into, o->path, o->build_id,
							 kind_of(o->kind), o->is_main)
				 : 0;
	}
	free(sorted);
}

/* Behind the addresses of code that has no name, which are as they were. */
static void leave_bare_addresses(struct fleet_maker *m)
{
	for (size_t i = 0; i < m->places.n; i++) {
		const struct fleet_place *p = &m->places.at[i];
		const struct rows_frame *x = frame_of(m, m->place_frames.at[p->first]);
		if (p->form != PLACE_BARE || x->address >= UINT64_MAX / 2)
			continue;
		struct fleet_object *o = &m->objects.at[object_of(m, function_of(m, x))];
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
							.build_id = o->build_id,
							.flags = KEPT_64BIT | KEPT_GIVEN });
	return o->kept;
}

static void add_line(struct fleet_maker *m, struct kept_object *o, uint64_t addr,
		     const char *function, const char *file, uint32_t line)
{
	if (!line || !*file)
		return;
	o->flags |= KEPT_LINES;
	vec_push(&o->lines, ((struct kept_line){ .addr = addr,
						 .end = addr + 1,
						 .function = kept_string(m->kept, function),
						 .file = kept_string(m->kept, file),
						 .line = line }));
}

static void add_symbols(struct fleet_maker *m)
{
	struct symbol_of **sorted = xalloc((m->symbols.n + 1) * sizeof(*sorted));
	for (size_t i = 0; i < m->symbols.n; i++)
		sorted[i] = &m->symbols.at[i];
	if (m->symbols.n)
		qsort(sorted, m->symbols.n, sizeof(*sorted), by_address);
	for (size_t i = 0; i < m->symbols.n; i++) {
		struct symbol_of *s = sorted[i];
		struct fleet_object *o = &m->objects.at[s->object];
		struct kept_object *k = kept_of(m, o);
		s->at = o->next;
		o->next += 1 + s->places;
		vec_push(&k->symbols,
			 ((struct kept_symbol){ .addr = s->at,
						.end = o->next,
						.owner = s->at,
						.name = kept_string(m->kept, s->row->name),
						.flags = SYMBOL_FUNCTION,
						.position = (uint32_t)i }));
		k->n_functions++;
		k->text_low = k->text_low ? k->text_low : s->at;
		k->text_high = o->next;
		add_line(m, k, s->at, s->row->name, s->row->file, s->row->line);
	}
	free(sorted);
}

static uint64_t address_of(const struct fleet_maker *m, const struct fleet_place *p)
{
	return m->symbols.at[p->symbol].at + 1 + p->number;
}

/* The line is that of the innermost frame. */
static void keep_place(struct fleet_maker *m, const struct fleet_place *p)
{
	const struct symbol_of *s = &m->symbols.at[p->symbol];
	struct kept_object *o = m->objects.at[s->object].kept;
	const struct rows_frame *leaf = frame_of(m, m->place_frames.at[p->first + p->n - 1]);
	const struct rows_function *in = function_of(m, leaf);
	add_line(m, o, address_of(m, p), in ? in->name : s->row->name, leaf->file, leaf->line);
	for (size_t i = 1; i < p->n; i++) {
		const struct rows_function *inlined =
			function_of(m, frame_of(m, m->place_frames.at[p->first + i]));
		vec_push(&o->inlines,
			 ((struct kept_inline){
				 .addr = address_of(m, p),
				 .depth = (uint32_t)i,
				 .name = kept_string(m->kept,
						     inlined ? inlined->name : "[unknown]") }));
	}
}

static void keep_names(struct fleet_maker *m)
{
	m->kept = kept_new();
	add_objects(m);
	leave_bare_addresses(m);
	add_symbols(m);
	for (size_t i = 0; i < m->places.n; i++)
		if (m->places.at[i].form == PLACE_OF_SYMBOL)
			keep_place(m, &m->places.at[i]);
	kept_sort(m->kept);
	profile_add_kept(m->into, m->kept);
	kept_free(m->kept);
}

/* ---- frames and stacks ---- */

static uint32_t flags_of(const struct rows_frame *x)
{
	return (x->flags & ROWS_KERNEL ? (uint32_t)FRAME_KERNEL : 0) |
	       (x->flags & ROWS_INLINED ? (uint32_t)FRAME_INLINED : 0);
}

static void make_named(struct fleet_maker *m, const struct rows_frame *x)
{
	const struct rows_function *row = function_of(m, x);
	const char *name = row ? row->name : "[unknown]";
	struct frame made = { .name = profile_add_string(m->into, name, strlen(name)) };
	if (row)
		made.object = m->objects.at[object_of(m, row)].id;
	if (x)
		made.flags = flags_of(x);
	vec_push(&m->made, profile_add_frame(m->into, made));
}

static void make_frames(struct fleet_maker *m, struct fleet_place *p)
{
	const struct rows_frame *x = frame_of(m, m->place_frames.at[p->first]);
	p->made_first = (uint32_t)m->made.n;
	p->is_made = true;
	if (x && x->flags & ROWS_CALLER_GUESSED)
		vec_push(&m->made, profile_add_mark(m->into, MARK_GUESSED));
	if (p->form == PLACE_BY_NAME) {
		for (size_t i = 0; i < p->n; i++)
			make_named(m, frame_of(m, m->place_frames.at[p->first + i]));
	} else {
		struct frame made = { .flags = flags_of(x) & ~(uint32_t)FRAME_INLINED };
		bool bare = p->form == PLACE_BARE;
		made.addr = bare ? x->address : address_of(m, p);
		made.object = m->objects.at[object_of(m, function_of(m, x))].id;
		vec_push(&m->made, profile_add_frame(m->into, made));
	}
	p->made_n = (uint32_t)m->made.n - p->made_first;
}

/* Below what is on the stack by now. */
static stackid add_place(struct fleet_maker *m, stackid at, uint32_t place)
{
	struct fleet_place *p = &m->places.at[place];
	if (!p->is_made)
		make_frames(m, p);
	for (uint32_t k = 0; k < p->made_n; k++)
		at = profile_push_stack(m->into, at, m->made.at[p->made_first + k]);
	return at;
}

static size_t in_common(const struct path_of_stack *a, const struct path_of_stack *b)
{
	size_t n = 0;
	while (n < a->n && n < b->n && a->at[n] == b->at[n])
		n++;
	return n;
}

/* Of those with a mark that callers are missing, or of those without: in an order in which each
 * shares its callers with the one before it, so that none need be looked up. */
static void add_stacks(struct fleet_maker *m, bool cut)
{
	struct path_of_stack *list = xalloc((m->a->stacks.n + 1) * sizeof(*list));
	size_t n = 0, deepest = 0;
	for (size_t i = 0; i < m->a->stacks.n; i++) {
		const struct rows_stack *s = &m->a->stacks.at[i];
		if (!(s->flags & ROWS_CUT) != !cut)
			continue;
		list[n++] = (struct path_of_stack){ m->a->path.at + s->first, (uint32_t)s->n,
						    (uint32_t)i };
		deepest = s->n > deepest ? s->n : deepest;
	}
	path_order(list, n);
	stackid *at = xalloc((deepest + 1) * sizeof(*at)), mark = 0;
	if (n && cut)
		mark = profile_push_stack(m->into, 0, profile_add_mark(m->into, MARK_CUT));
	for (size_t i = 0; i < n; i++) {
		for (size_t k = i ? in_common(&list[i - 1], &list[i]) : 0; k < list[i].n; k++)
			at[k] = add_place(m, k ? at[k - 1] : mark, list[i].at[k]);
		m->stacks[list[i].index] = list[i].n ? at[list[i].n - 1] : mark;
	}
	free(at);
	free(list);
}

/* ---- samples ---- */

static int by_event(const void *a, const void *b)
{
	const struct answers_sum *x = a, *y = b;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static uint16_t add_event(struct fleet_maker *m, uint64_t id)
{
	static const struct rows_event none = { .name = "[unknown]", .unit = "" };
	const struct rows_event *e = answers_event(m->a, id);
	e = e ? e : &none;
	return profile_add_event(
		m->into,
		(struct event){ .name = profile_add_string(m->into, e->name, strlen(e->name)),
				.unit = !strcmp(e->unit, "ns") ? EVENT_NS : EVENT_COUNT,
				.kind = e->kind == KIN_EVENT_BLOCKED   ? EVENT_BLOCKED
					: e->kind == KIN_EVENT_WAITING ? EVENT_WAITING
								       : EVENT_ON_CPU,
				.period = e->period,
				.frequency = e->frequency,
				.stacks = true,
				.is_timeless = true });
}

static void count_stack(struct fleet_maker *m, uint8_t flags, uint64_t count)
{
	struct audit *a = profile_audit(m->into);
	add_to(flags & ROWS_CUT       ? &a->truncated
	       : flags & ROWS_GUESSED ? &a->guessed
				      : &a->complete,
	       count);
}

/* Most are called what the one before was. */
static taskid task_of(struct fleet_maker *m, const char *comm)
{
	if (!*comm || (m->comm && !strcmp(m->comm, comm)))
		return *comm ? m->task : 0;
	m->comm = comm;
	m->task = profile_add_task(
		m->into, (struct task){ .comm = profile_add_string(m->into, comm, strlen(comm)) });
	return m->task;
}

static void add_sample(struct fleet_maker *m, const struct answers_sum *x, uint16_t event)
{
	uint32_t id = map64_get(&m->a->stack_ids, x->stack);
	struct sample s = { .event = event, .cpu = CPU_NONE, .weight = x->weight };
	if (id == NONE) {
		const char *name = "[unknown]";
		frameid frame = profile_add_frame(
			m->into,
			(struct frame){ .name = profile_add_string(m->into, name, strlen(name)) });
		s.stack = profile_add_stack(m->into, 0, frame);
		add_to(&m->missing, x->count);
	} else {
		s.task = task_of(m, m->a->stacks.at[id].comm);
		s.stack = m->stacks[id];
		count_stack(m, m->a->stacks.at[id].flags, x->count);
	}
	/* 10^12 samples of one stack are as many as there can be. */
	const uint64_t most = (uint64_t)256 * UINT32_MAX;
	uint64_t left = x->count < most ? x->count : most;
	do {
		s.count = left > UINT32_MAX ? UINT32_MAX : left ? (uint32_t)left : 1;
		profile_add_sample(m->into, s);
		left -= left ? s.count : 0;
		s.weight = 0;
	} while (left);
}

static int by_name(const void *a, const void *b)
{
	const struct rows_event *const *x = a, *const *y = b;
	int d = strcmp((*x)->name, (*y)->name);
	return d ? d : (*x)->kind - (*y)->kind;
}

/* Those that have samples, in the order in which kin merge has them. */
static void add_events(struct fleet_maker *m)
{
	VEC(const struct rows_event *) used = { 0 };
	for (size_t i = 0; i < m->a->sums.n; i++) {
		uint32_t at = map64_get(&m->a->event_ids, m->a->sums.at[i].event);
		bool is_next = !i || m->a->sums.at[i - 1].event != m->a->sums.at[i].event;
		if (is_next && at != NONE)
			vec_push(&used, &m->a->events.at[at]);
	}
	if (used.n)
		qsort(used.at, used.n, sizeof(*used.at), by_name);
	for (size_t i = 0; i < used.n; i++)
		add_event(m, used.at[i]->id);
	vec_free(&used);
}

static void add_samples(struct fleet_maker *m)
{
	uint16_t event = 0;
	add_events(m);
	for (size_t i = 0; i < m->a->sums.n; i++) {
		const struct answers_sum *x = &m->a->sums.at[i];
		if (!i || x->event != x[-1].event)
			event = add_event(m, x->event);
		add_sample(m, x, event);
	}
}

/* ---- all of it ---- */

uint64_t fleet_profile(struct answers *a, struct profile_builder *into)
{
	struct fleet_maker m = { .a = a, .into = into };
	if (a->sums.n)
		qsort(a->sums.at, a->sums.n, sizeof(*a->sums.at), by_event);
	find_places(&m);
	keep_names(&m);
	m.stacks = xalloc((a->stacks.n + 1) * sizeof(*m.stacks));
	add_stacks(&m, false);
	add_stacks(&m, true);
	add_samples(&m);
	free(m.stacks);
	vec_free(&m.objects);
	vec_free(&m.symbols);
	vec_free(&m.places);
	vec_free(&m.place_frames);
	vec_free(&m.made);
	map64_free(&m.object_ids);
	map64_free(&m.symbol_ids);
	map64_free(&m.place_ids);
	vec_free(&m.frame_places);
	return m.missing;
}

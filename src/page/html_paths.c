/* html_paths.c - interns functions, paths, threads and events of profiles. */
#include "page/html_paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "base/sort.h"
#include "paths/path_tree.h"

static uint32_t number_of(struct html_texts *x, strid text)
{
	uint32_t *known = map64_at(&x->numbers, text);
	if (*known == NONE) {
		*known = (uint32_t)x->at.n;
		vec_push(&x->at, text);
	}
	return *known;
}

static void texts_done(struct html_texts *x)
{
	vec_free(&x->at);
	map64_free(&x->numbers);
}

struct html_paths *html_paths_new(bool apart)
{
	struct html_paths *t = xalloc(sizeof(*t));
	t->apart = apart;
	t->strings = strtab_new();
	vec_push(&t->nodes, ((struct html_node){ 0, NONE }));
	return t;
}

void html_paths_free(struct html_paths *t)
{
	if (!t)
		return;
	texts_done(&t->objects);
	texts_done(&t->files);
	vec_free(&t->functions);
	vec_free(&t->nodes);
	vec_free(&t->threads);
	vec_free(&t->events);
	vec_free(&t->places);
	vec_free(&t->samples);
	vec_free(&t->markers);
	vec_free(&t->own_lines);
	map64_free(&t->function_of);
	pairs_free(&t->node_of);
	strtab_free(t->strings);
	free(t);
}

/* ---- functions ---- */

struct adding {
	struct html_paths *t;
	const struct profile *p;
	struct program *g;
	uint32_t side;
	bool one_program;     /* the profile has at most one main program */
	struct map64 path_of; /* base name of an object with frames -> the object's path, both in
				 t->strings; SEVERAL: several objects have this name */
	uint32_t *functions;  /* [places]: index of the function; NONE: not added yet */
	uint32_t *kinds;      /* [places]: kind according to the frames, enum html_function_kind */
};

enum { SEVERAL = NONE - 1 };

static void find_paths(struct adding *a)
{
	const struct samples *s = &a->p->samples;
	bool *seen = xalloc(a->p->n_objects * sizeof(*seen));
	for (size_t i = 1; i < s->n_frames; i++) {
		objid id = s->frames[i].object;
		if (seen[id])
			continue;
		seen[id] = true;
		const char *name = program_object_name(a->g, id);
		strid path = strtab_add(a->t->strings, name);
		uint32_t *known = map64_at(&a->path_of, strtab_add(a->t->strings, base_name(name)));
		*known = *known == NONE || *known == path ? path : SEVERAL;
	}
	free(seen);
}

/* False if frames belong to several main programs, as in a recording of several processes. */
static bool has_one_program(const struct adding *a)
{
	const struct samples *s = &a->p->samples;
	objid found = 0;
	for (size_t i = 1; i < s->n_frames; i++) {
		objid id = s->frames[i].object;
		if (!a->p->objects[id].is_main || id == found)
			continue;
		if (found)
			return false;
		found = id;
	}
	return true;
}

/* The name by which an object equals objects of other profiles. Main programs are equal whatever
 * their names, because compared builds may be named differently. Libraries of the same name in
 * different folders are equal, unless this profile has several of that name. */
static strid key_of_object(const struct adding *a, objid object)
{
	const char *path = program_object_name(a->g, object);
	if (a->one_program && a->p->objects[object].is_main)
		return strtab_add(a->t->strings, "/");
	strid name = strtab_add(a->t->strings, base_name(path));
	return map64_get(&a->path_of, name) == SEVERAL ? strtab_add(a->t->strings, path) : name;
}

static uint32_t number_of_object(const struct adding *a, objid object)
{
	strid path = strtab_add(a->t->strings, program_object_name(a->g, object));
	return number_of(&a->t->objects, path);
}

/* The function, or if functions are not apart, one that was added under the same name. */
static uint32_t add_function(struct html_paths *t, uint64_t key, const struct html_function *f)
{
	uint32_t *known = map64_at(&t->function_of, key), added = (uint32_t)t->functions.n;
	bool is_first = *known == NONE;
	if (!is_first && !t->apart)
		return *known;
	vec_push(&t->functions, *f);
	if (is_first)
		*known = added;
	else
		t->functions.at[*known].is_ambiguous = t->functions.at[added].is_ambiguous = true;
	return added;
}

static uint32_t function_of(struct adding *a, symid place)
{
	if (a->functions[place] != NONE)
		return a->functions[place];
	struct html_paths *t = a->t;
	objid object = program_object(a->g, place);
	struct html_function f = {
		.name = strtab_add(t->strings, program_name(a->g, place)),
		.object = number_of_object(a, object),
		.kind = a->kinds[place] | (program_is_inlined(a->g, place) ? HTML_INLINED : 0),
		.address = program_symbols(a->g)->at[place].addr,
	};
	uint64_t key =
		MAP64_PAIR(f.name, key_of_object(a, object) * 2 + (f.kind & HTML_INLINED ? 1 : 0));
	return a->functions[place] = add_function(t, key, &f);
}

/* `depth`: how many functions of the frame are inlined into this one. */
static uint32_t whose_code(const struct adding *a, struct own_fold *own, frameid frame,
			   size_t depth)
{
	const struct frame *f = &a->p->samples.frames[frame];
	bool is_bare = f->name && !a->p->objects[f->object].path;
	if (!own || own_fold_is_note(own, frame))
		return own ? HTML_NOTE : 0;
	return own_fold_verdict(own, frame, depth).is_own ? HTML_OWN : is_bare ? HTML_BARE : 0;
}

static void find_kinds(struct adding *a, const struct path_frames *frames, struct own_fold *own)
{
	const struct samples *s = &a->p->samples;
	for (size_t i = 1; i < s->n_frames; i++) {
		enum object_kind object = a->p->objects[s->frames[i].object].kind;
		uint32_t kind = 0;
		if (s->frames[i].flags & FRAME_KERNEL || object == OBJECT_KERNEL ||
		    object == OBJECT_KERNEL_MODULE)
			kind |= HTML_KERNEL;
		if (object == OBJECT_JIT)
			kind |= HTML_JIT;
		for (uint32_t k = frames->first[i], end = frames->first[i + 1]; k < end; k++)
			a->kinds[frames->places[k]] |=
				kind | whose_code(a, own, (frameid)i, end - 1 - k);
	}
}

/* ---- paths ---- */

/* Numbers the functions of all places on paths. Returns whether each place has a function of its
 * own. */
static bool number_functions(struct adding *a, const struct path_tree *tree)
{
	size_t n_places = 0, before = a->t->functions.n;
	for (size_t i = 1; i < tree->n; i++) {
		symid place = tree->nodes[i].place;
		n_places += a->functions[place] == NONE;
		function_of(a, place);
	}
	return a->t->functions.n - before == n_places;
}

/* Indexes the nodes added so far, so that another profile finds its paths among them. */
static void index_nodes(struct html_paths *t)
{
	for (uint32_t i = (uint32_t)t->node_of.n + 1; i < t->nodes.n; i++)
		pairs_add(&t->node_of, t->nodes.at[i].caller, t->nodes.at[i].function, i);
}

/* Adds the profile's paths; returns for each the node here, to be freed. */
static uint32_t *add_nodes(struct adding *a, const struct path_tree *tree)
{
	struct html_paths *t = a->t;
	uint32_t *node_of = xrealloc(NULL, tree->n, sizeof(*node_of));
	bool all_new = number_functions(a, tree) && t->nodes.n == 1;

	node_of[0] = 0;
	vec_reserve(&t->nodes, tree->n);
	if (!all_new)
		index_nodes(t);
	for (size_t i = 1; i < tree->n; i++) {
		uint32_t caller = node_of[tree->nodes[i].caller];
		uint32_t function = a->functions[tree->nodes[i].place];
		uint32_t next = (uint32_t)t->nodes.n;
		node_of[i] = all_new ? next : pairs_add(&t->node_of, caller, function, next);
		if (node_of[i] == next)
			vec_push(&t->nodes, ((struct html_node){ caller, function }));
	}
	return node_of;
}

static symid *owners_of(const struct adding *a)
{
	const struct symbol *at = program_symbols(a->g)->at;
	symid *owners = xrealloc(NULL, a->p->samples.n_frames + 1, sizeof(*owners));
	owners[0] = NONE;
	for (size_t i = 1; i < a->p->samples.n_frames; i++)
		owners[i] = at[program_place(a->g, (frameid)i)].owner;
	return owners;
}

/* ---- threads, events, samples ---- */

static uint16_t event_of(struct html_paths *t, const struct profile *p, const struct event *e)
{
	strid name = strtab_add(t->strings, strtab_get(p->strings, e->name));
	for (size_t i = 0; i < t->events.n; i++)
		if (t->events.at[i].name == name && t->events.at[i].unit == e->unit)
			return (uint16_t)i;
	vec_push(&t->events, ((struct html_event){ name, e->unit, e->kind }));
	return (uint16_t)(t->events.n - 1);
}

/* Adds the events; the tables' event comes first. */
static uint16_t *add_events(struct html_paths *t, const struct profile *p)
{
	const struct samples *s = &p->samples;
	uint16_t *events = xrealloc(NULL, s->n_events + 1, sizeof(*events));
	bool *is_used = xalloc(s->n_events + 1);
	for (size_t i = 0; i < s->n; i++)
		is_used[s->at[i].event] = true;
	if (s->n)
		event_of(t, p, &s->events[samples_event(s)]);
	for (size_t i = 0; i < s->n_events; i++)
		events[i] = is_used[i] ? event_of(t, p, &s->events[i]) : 0;
	free(is_used);
	return events;
}

static uint32_t add_threads(struct html_paths *t, const struct profile *p)
{
	const struct samples *s = &p->samples;
	uint32_t first = (uint32_t)t->threads.n;
	for (size_t i = 0; i < s->n_tasks; i++) {
		const struct task *k = &s->tasks[i];
		vec_push(&t->threads,
			 ((struct html_thread){
				 strtab_add(t->strings, strtab_get(p->strings, k->comm)), k->pid,
				 k->tid, k->run, k->start_ns, k->end_ns }));
	}
	return first;
}

/* ---- places ---- */

static int by_count(const void *l, const void *r, void *counts)
{
	const uint64_t *n = counts;
	frameid a = *(const frameid *)l, b = *(const frameid *)r;
	if (n[a] != n[b])
		return n[a] < n[b] ? 1 : -1;
	return ORDER(a, b);
}

/* The page calculates in doubles. Addresses beyond their precision belong to kernels, whose code is
 * not available. */
static bool has_place(const struct adding *a, frameid id)
{
	const struct frame *f = &a->p->samples.frames[id];
	return id && !f->name && !(f->flags & FRAME_KERNEL) && f->addr < 1ull << 53 &&
	       program_object_file(a->g, f->object);
}

static void add_place(struct adding *a, frameid id)
{
	struct html_paths *t = a->t;
	const struct frame *f = &a->p->samples.frames[id];
	struct html_place made = {
		.object = number_of_object(a, f->object),
		.address = f->addr,
	};
	struct srcloc line;
	if (program_line(a->g, id, &line) && line.file) {
		made.file = number_of(&t->files, strtab_add(t->strings, line.file)) + 1;
		made.line = line.line;
	}
	vec_push(&t->places, made);
}

/* For each frame: the number of its place + 1 if samples end there, else 0; to be freed. */
static uint32_t *add_places(struct adding *a)
{
	const struct samples *s = &a->p->samples;
	uint32_t *place_of = xalloc((s->n_frames + 1) * sizeof(*place_of));
	uint64_t *counts = xalloc((s->n_frames + 1) * sizeof(*counts));
	VEC(frameid) hit = { 0 };
	for (size_t i = 0; i < s->n; i++) {
		frameid at = s->stacks[s->at[i].stack].frame;
		if (!counts[at] && has_place(a, at))
			vec_push(&hit, at);
		counts[at] += s->at[i].count;
	}
	if (hit.n)
		qsort_r(hit.at, hit.n, sizeof(*hit.at), by_count, counts);
	for (size_t i = 0; i < hit.n; i++) {
		add_place(a, hit.at[i]);
		place_of[hit.at[i]] = (uint32_t)a->t->places.n;
	}
	vec_free(&hit);
	free(counts);
	return place_of;
}

static int by_weight(const void *l, const void *r)
{
	const struct html_own_line *a = l, *b = r;
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->file != b->file ? ORDER(a->file, b->file) : ORDER(a->line, b->line);
}

/* What own code takes of the main event, with what it calls of others' code: by the innermost own
 * frame of a stack. To be freed. */
static uint64_t *frame_weights(const struct profile *p, struct own_fold *own)
{
	const struct samples *s = &p->samples;
	uint64_t *ret = xalloc((s->n_frames + 1) * sizeof(*ret));
	frameid *owners = xalloc((s->n_stacks + 1) * sizeof(*owners));
	uint16_t event = samples_event(s);
	own_fold_owners(own, owners);
	for (size_t i = 0; i < s->n; i++)
		if (owners[s->at[i].stack] && s->at[i].event == event)
			capped_add(&ret[owners[s->at[i].stack]], s->at[i].weight);
	free(owners);
	return ret;
}

static void add_own_lines(struct html_paths *t, const struct profile *p, struct own_fold *own)
{
	enum { MOST_LINES = 100 };
	const struct samples *s = &p->samples;
	uint64_t *weights = frame_weights(p, own);
	struct map64 line_of = { 0 };
	for (frameid frame = 1; frame < s->n_frames; frame++) {
		struct srcloc at;
		if (!weights[frame] || !own_fold_line(own, frame, &at))
			continue;
		uint32_t file = number_of(&t->files, strtab_add(t->strings, at.file));
		uint32_t *known = map64_at(&line_of, MAP64_PAIR(file, at.line));
		if (*known == NONE) {
			*known = (uint32_t)t->own_lines.n;
			vec_push(&t->own_lines, ((struct html_own_line){ file, at.line, 0 }));
		}
		capped_add(&t->own_lines.at[*known].weight, weights[frame]);
	}
	if (t->own_lines.n)
		qsort(t->own_lines.at, t->own_lines.n, sizeof(*t->own_lines.at), by_weight);
	t->own_lines.n = t->own_lines.n < MOST_LINES ? t->own_lines.n : MOST_LINES;
	map64_free(&line_of);
	free(weights);
}

static void add_samples(struct adding *a, const struct path_tree *tree, const uint32_t *node_of,
			const uint32_t *place_of)
{
	struct html_paths *t = a->t;
	const struct samples *s = &a->p->samples;
	uint16_t *events = add_events(t, a->p);
	uint32_t first = add_threads(t, a->p);
	vec_reserve(&t->samples, s->n);
	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->at[i];
		vec_push(&t->samples,
			 ((struct html_sample){
				 .node = node_of[tree->ends[x->stack]],
				 .thread = first + x->task,
				 .event = events[x->event],
				 .side = (uint16_t)a->side,
				 .count = x->count,
				 .place = place_of ? place_of[s->stacks[x->stack].frame] : 0,
				 .weight = x->weight,
				 .time_ns = x->time_ns }));
	}
	free(events);
}

static void add_markers(struct html_paths *t, const struct profile *p)
{
	for (size_t i = 0; i < p->samples.n_markers; i++) {
		const struct marker *m = &p->samples.markers[i];
		strid name = strtab_add(t->strings, strtab_get(p->strings, m->name));
		vec_push(&t->markers, ((struct html_marker){ name, m->time_ns }));
	}
}

void html_paths_add(struct html_paths *t, const struct profile *p, struct program *g, uint32_t side,
		    bool no_inlines, bool places, struct own_fold *own)
{
	struct adding a = { .t = t, .p = p, .g = g, .side = side };
	t->runs[side] += samples_n_runs(&p->samples);
	if (!p->samples.n)
		return;
	a.one_program = has_one_program(&a);
	find_paths(&a);
	symid *owners = owners_of(&a);
	struct path_frames frames = path_frames_of_functions(g, &p->samples, owners, no_inlines);
	struct path_tree *tree = path_tree_new(&p->samples, &frames, NULL);
	size_t n_places = program_symbols(g)->n;
	a.functions = xrealloc(NULL, n_places + 1, sizeof(*a.functions));
	memset(a.functions, 0xff, (n_places + 1) * sizeof(*a.functions));
	a.kinds = xalloc((n_places + 1) * sizeof(*a.kinds));
	find_kinds(&a, &frames, own);
	uint32_t *node_of = add_nodes(&a, tree);
	uint32_t *place_of = places ? add_places(&a) : NULL;
	add_samples(&a, tree, node_of, place_of);
	add_markers(t, p);
	if (own)
		add_own_lines(t, p, own);
	free(place_of);
	free(node_of);
	free(a.functions);
	free(a.kinds);
	map64_free(&a.path_of);
	path_tree_free(tree);
	path_frames_free(&frames);
	free(owners);
}

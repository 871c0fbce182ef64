/* fade.c - adds new samples to a profile whose older weights shrink at each refresh. */
#include "live/fade.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "live/tally.h"

/* Samples that have faded below this part of an average sample are dropped. */
enum { LEAST_PART = 8 };

struct fading {
	struct profile_builder *into;
	/* Without names, frames keep their addresses, and have no callers. */
	struct fade_naming how;
	struct tally tally;
};

/* The functions that are inlined at a frame. */
struct fade_inlined {
	uint32_t first, n; /* in import.inlined, innermost first */
};

/* Maps ids of one profile to those of the profile being made; NONE: not mapped yet. */
struct import {
	struct fading *f;
	const struct profile *from;
	uint32_t *objects, *frames, *stacks, *tasks, *events;
	struct fade_inlined *inlined_at; /* [frame]; NULL: inlined functions are not expanded */
	VEC(frameid) inlined;            /* frames of the profile being made */
};

static uint32_t *ids(size_t n)
{
	uint32_t *at = xrealloc(NULL, n + 1, sizeof(*at));
	memset(at, 0xff, (n + 1) * sizeof(*at));
	return at;
}

static const char *text(const struct import *x, strid id)
{
	return strtab_get(x->from->strings, id);
}

static strid string(struct import *x, const char *s)
{
	return profile_add_string(x->f->into, s, strlen(s));
}

static objid object_of(struct import *x, objid id)
{
	const struct object *o = &x->from->objects[id];

	if (!id)
		return 0;
	if (x->objects[id] == NONE) {
		/* With all names known the file must never be opened. */
		bool is_closed =
			x->f->how.names && (o->kind == OBJECT_ELF || o->kind == OBJECT_VDSO);
		enum object_kind kind = is_closed ? OBJECT_OTHER : o->kind;
		bool is_main = !x->f->how.names && o->is_main;
		x->objects[id] = profile_add_object_of(x->f->into, text(x, o->path),
						       text(x, o->build_id), kind, is_main);
	}
	return x->objects[id];
}

/* Whether the frame's name is looked up in a file. */
static bool is_looked_up(const struct import *x, const struct frame *frame)
{
	const struct object *o = &x->from->objects[frame->object];
	return !frame->name && (o->kind == OBJECT_ELF || o->kind == OBJECT_VDSO) && o->path;
}

static uint64_t look_at(const struct frame *frame)
{
	return frame->addr - (frame->flags & FRAME_RETURN);
}

static const char *name_of(struct import *x, const struct frame *frame)
{
	const struct object *o = &x->from->objects[frame->object];
	const char *name = NULL;

	if (frame->name)
		return text(x, frame->name);
	if (is_looked_up(x, frame))
		name = names_find(x->f->how.names, text(x, o->path), text(x, o->build_id),
				  look_at(frame));
	return name ? name : "[unknown]";
}

static bool is_foreign(const struct import *x, const struct frame *frame, const char *name,
		       const char *file, bool has_lines)
{
	const struct object *o = &x->from->objects[frame->object];
	const struct own_subject s = { .name = name,
				       .file = file,
				       .object = o->path ? text(x, o->path) : "",
				       .is_kernel = o->kind == OBJECT_VDSO,
				       .is_main = o->is_main,
				       .has_lines = has_lines };
	return !own_code_of(x->f->how.own, &s).is_own;
}

static frameid add_function(struct import *x, const struct frame *frame, strid name, uint32_t flags)
{
	struct frame made = { .object = object_of(x, frame->object),
			      .name = name,
			      .flags = flags |
				       (frame->flags & ~(uint32_t)(FRAME_RETURN | FRAME_GUESSED)) };
	return profile_add_frame(x->f->into, made);
}

/* Of a frame without a name the file is asked for, before another is. Names in the data are judged
 * as they are (own_fold.h). */
static uint32_t foreign_flag(struct import *x, const struct frame *frame, const char *name)
{
	const struct object *o = &x->from->objects[frame->object];
	bool has_lines = false;

	if (!x->f->how.own || frame->name || frame->flags & (FRAME_MARK | FRAME_KERNEL))
		return 0;
	if (!is_looked_up(x, frame))
		return FRAME_FOREIGN;
	const char *file = names_find_file(x->f->how.names, text(x, o->path), text(x, o->build_id),
					   look_at(frame), &has_lines);
	return is_foreign(x, frame, name, file, has_lines) ? FRAME_FOREIGN : 0;
}

/* Maps a frame, and keeps its address. */
static frameid code_of(struct import *x, frameid id)
{
	struct frame made = x->from->samples.frames[id];
	made.object = object_of(x, made.object);
	made.name = made.name ? string(x, text(x, made.name)) : 0;
	return profile_add_frame(x->f->into, made);
}

static frameid frame_of(struct import *x, frameid id)
{
	const struct frame *frame = &x->from->samples.frames[id];

	if (!id)
		return 0;
	if (x->frames[id] == NONE && !x->f->how.names) {
		x->frames[id] = code_of(x, id);
	} else if (x->frames[id] == NONE) {
		const char *name = name_of(x, frame);
		strid kept = string(x, name);
		x->frames[id] = add_function(x, frame, kept, foreign_flag(x, frame, name));
	}
	return x->frames[id];
}

/* ---- inlined functions ---- */

struct fade_site {
	uint64_t addr;
	frameid frame;
	objid object;
};

static int by_place(const void *a, const void *b)
{
	const struct fade_site *x = a, *y = b;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

struct fade_sites { /* of one object, sorted by address */
	struct import *x;
	const struct fade_site *at;
};

static void note_inlined(void *arg, size_t i, const char *name, const char *file)
{
	const struct fade_sites *s = arg;
	struct import *x = s->x;
	const struct frame *frame = &x->from->samples.frames[s->at[i].frame];
	struct fade_inlined *list = &x->inlined_at[s->at[i].frame];
	bool foreign = x->f->how.own && is_foreign(x, frame, name, file, true);
	if (!list->n++)
		list->first = (uint32_t)x->inlined.n;
	vec_push(&x->inlined, add_function(x, frame, string(x, name),
					   FRAME_INLINED | (foreign ? FRAME_FOREIGN : 0)));
}

static void find_inlined_of(struct import *x, const struct fade_site *sites, size_t n)
{
	const struct object *o = &x->from->objects[sites->object];
	uint64_t *addrs = xrealloc(NULL, n, sizeof(*addrs));
	for (size_t i = 0; i < n; i++)
		addrs[i] = sites[i].addr;
	names_find_inlined(x->f->how.names, text(x, o->path), text(x, o->build_id), addrs, n,
			   note_inlined, &(struct fade_sites){ x, sites });
	free(addrs);
}

/* Finds all inlined functions, object by object: each unit of debug information is decoded once. */
static void find_inlined(struct import *x)
{
	const struct samples *s = &x->from->samples;
	VEC(struct fade_site) sites = { 0 };
	for (size_t i = 1; i < s->n_frames; i++)
		if (is_looked_up(x, &s->frames[i]))
			vec_push(&sites, ((struct fade_site){ look_at(&s->frames[i]), (frameid)i,
							      s->frames[i].object }));
	if (sites.n)
		qsort(sites.at, sites.n, sizeof(*sites.at), by_place);
	x->inlined_at = xalloc((s->n_frames + 1) * sizeof(*x->inlined_at));
	for (size_t first = 0, end; first < sites.n; first = end) {
		for (end = first; end < sites.n; end++)
			if (sites.at[end].object != sites.at[first].object)
				break;
		find_inlined_of(x, &sites.at[first], end - first);
	}
	vec_free(&sites);
}

/* Adds the frame, and the functions inlined there as its callees. */
static stackid add_frames(struct import *x, stackid caller, frameid id)
{
	stackid made = profile_add_stack(x->f->into, caller, frame_of(x, id));
	struct fade_inlined list = x->inlined_at ? x->inlined_at[id] : (struct fade_inlined){ 0 };
	while (list.n)
		made = profile_add_stack(x->f->into, made, x->inlined.at[list.first + --list.n]);
	return made;
}

static stackid stack_of(struct import *x, stackid id)
{
	const struct stack *stacks = x->from->samples.stacks;
	VEC(stackid) todo = { 0 };
	stackid made = 0;

	if (!x->f->how.names)
		return id ? profile_add_stack(x->f->into, 0, frame_of(x, stacks[id].frame)) : 0;
	for (; id && x->stacks[id] == NONE; id = stacks[id].caller)
		vec_push(&todo, id);
	made = id ? x->stacks[id] : 0;
	while (todo.n) {
		id = todo.at[--todo.n];
		made = add_frames(x, made, stacks[id].frame);
		x->stacks[id] = made;
	}
	vec_free(&todo);
	return made;
}

static taskid task_of(struct import *x, taskid id)
{
	const struct task *t = &x->from->samples.tasks[id];

	if (!id)
		return 0;
	if (x->tasks[id] == NONE)
		x->tasks[id] = profile_add_task(
			x->f->into, (struct task){ .pid = t->pid,
						   .tid = t->tid,
						   .comm = string(x, text(x, t->comm)) });
	return x->tasks[id];
}

static uint16_t event_of(struct import *x, uint16_t id)
{
	if (x->events[id] == NONE) {
		struct event e = x->from->samples.events[id];
		e.name = string(x, text(x, e.name));
		e.title = e.title ? string(x, text(x, e.title)) : 0;
		x->events[id] = profile_add_event(x->f->into, e);
	}
	return (uint16_t)x->events[id];
}

static void add_sample(struct import *x, const struct sample *s, uint64_t weight, uint32_t count)
{
	struct sample made = { .stack = stack_of(x, s->stack),
			       .task = x->f->how.names ? task_of(x, s->task) : 0,
			       .event = event_of(x, s->event),
			       .cpu = CPU_NONE,
			       .flags = s->flags,
			       .count = count,
			       .weight = weight };

	tally_add(&x->f->tally, &made);
}

/* The average weight of a sample, by event. */
static uint64_t *usual_weights(const struct profile *p)
{
	const struct samples *s = &p->samples;
	uint64_t *sums = xalloc((s->n_events + 1) * sizeof(*sums));
	uint64_t *counts = xalloc((s->n_events + 1) * sizeof(*counts));

	for (size_t i = 0; i < s->n; i++) {
		if (__builtin_add_overflow(sums[s->at[i].event], s->at[i].weight,
					   &sums[s->at[i].event]))
			sums[s->at[i].event] = UINT64_MAX;
		counts[s->at[i].event] += s->at[i].count;
	}
	for (size_t i = 0; i < s->n_events; i++)
		sums[i] = counts[i] ? sums[i] / counts[i] : 0;
	free(counts);
	return sums;
}

static void import(struct fading *f, const struct profile *from, double keep)
{
	const struct samples *s = &from->samples;
	struct import x = { .f = f,
			    .from = from,
			    .objects = ids(from->n_objects),
			    .frames = ids(s->n_frames),
			    .stacks = ids(s->n_stacks),
			    .tasks = ids(s->n_tasks),
			    .events = ids(s->n_events) };
	uint64_t *usual = usual_weights(from);
	double rest = 0; /* fractions of sample counts, carried over to the next sample */

	if (f->how.names && !f->how.no_inlines)
		find_inlined(&x);
	for (enum event_kind kind = EVENT_ON_CPU; kind <= EVENT_WAITING; kind++)
		for (size_t i = 0; i < s->n_events; i++) /* events on a CPU get the first ids */
			if (s->events[i].kind == kind)
				event_of(&x, (uint16_t)i);
	for (size_t i = 0; i < s->n; i++) {
		const struct sample *at = &s->at[i];
		uint64_t weight = keep < 1 ? (uint64_t)((double)at->weight * keep) : at->weight;
		if (!weight || weight <= usual[at->event] / LEAST_PART)
			continue;
		rest += (double)at->count * keep;
		uint32_t count = (uint32_t)rest;
		rest -= count;
		add_sample(&x, at, weight, count);
	}
	free(usual);
	free(x.inlined_at);
	vec_free(&x.inlined);
	free(x.objects);
	free(x.frames);
	free(x.stacks);
	free(x.tasks);
	free(x.events);
}

struct profile *fade(const struct profile *past, double keep, const struct profile *fresh,
		     const struct fade_naming *how)
{
	struct fading f = { .into = profile_builder_new(), .how = *how };

	if (past)
		import(&f, past, keep);
	if (fresh)
		import(&f, fresh, 1);
	tally_move(&f.tally, f.into);
	struct audit *a = profile_audit(f.into);
	a->lost = (past ? past->samples.audit.lost : 0) + (fresh ? fresh->samples.audit.lost : 0);
	profile_add_source(f.into, "", (struct source){ .kind = "live" });
	return profile_finish(f.into);
}

struct profile *fade_code(const struct profile *past, double keep, const struct profile *fresh)
{
	return fade(past, keep, fresh, &(struct fade_naming){ .no_inlines = true });
}

/* api_samples.c - implements samples.h on a profile: ids are the profile's own, names come from its
 * view of functions. */
#include "kin/samples.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/guard.h"
#include "base/map64.h"
#include "names/kept.h"
#include "symbolize/learn.h"
#include "symbolize/recorded.h"

enum stack_flags { STACK_CUT = 1, STACK_GUESSED = 2 };

struct sample_lines { /* lines of a location */
	const struct kin_line *at;
	size_t n;
	bool known;
};

struct kin_samples {
	struct kin_profile *profile; /* a reference */
	const struct profile *p;
	struct arena arena;
	size_t next;
	bool shows_marks;
	/* Results of the last calls. */
	struct kin_sample sample;
	struct kin_stack stack;
	struct kin_location location;
	/* Arrays of all items; each is made at the first request. */
	struct kin_recording *recordings;
	struct kin_event *events;
	struct kin_thread *threads;
	struct kin_object *objects;
	bool *made_up;        /* [n_objects]: addresses of named functions are invented */
	uint8_t *stack_flags; /* [n_stacks] */
	bool no_stack_flags;  /* there was no memory for them: there are no samples, either */
	/* Names: */
	struct view *view; /* NULL: not requested yet, or not available */
	struct kin_error *err;
	struct sample_lines *lines; /* [n_frames] */
	struct map64 function_ids;
	VEC(struct kin_function *) functions;
	/* Returned for ids that do not exist, and when memory runs out. */
	struct kin_function nothing;
	struct kin_recording no_recording;
	struct kin_event no_event;
	struct kin_thread no_thread;
	struct kin_object no_object;
};

static const char *text(const struct kin_samples *s, strid id)
{
	return strtab_get(s->p->strings, id);
}

static struct kin_error *unguarded_samples_new(struct kin_profile *profile,
					       struct kin_samples **ret)
{
	struct kin_samples *s = xalloc(sizeof(*s));
	profile_ref(profile);
	s->profile = profile;
	s->p = profile->data;
	s->no_recording = (struct kin_recording){
		.path = "", .host = "", .rank = "", .job = "", .kernel = "", .command = ""
	};
	s->no_event = (struct kin_event){ .name = "", .unit = "" };
	s->no_thread = (struct kin_thread){ .name = "", .command = "" };
	s->no_object = (struct kin_object){ .path = "", .build_id = "" };
	s->nothing = (struct kin_function){ .name = "", .linkage_name = "", .file = "" };
	*ret = s;
	return NULL;
}

struct kin_error *kin_samples_new(struct kin_profile *profile, struct kin_samples **ret)
{
	return GUARDED(unguarded_samples_new(profile, ret));
}

void kin_samples_free(struct kin_samples *s)
{
	if (!s)
		return;
	if (s->view && s->view->program)
		profile_hear(s->profile, s->view->program);
	kin_error_free(s->err);
	free(s->lines);
	free(s->stack_flags);
	map64_free(&s->function_ids);
	vec_free(&s->functions);
	arena_release(&s->arena);
	profile_unref(s->profile);
	free(s);
}

const struct kin_error *kin_samples_error(const struct kin_samples *s) { return s->err; }

size_t kin_samples_n(const struct kin_samples *s) { return s->p->samples.n; }
size_t kin_samples_n_recordings(const struct kin_samples *s) { return s->p->n_sources; }
size_t kin_samples_n_events(const struct kin_samples *s) { return s->p->samples.n_events; }
size_t kin_samples_n_threads(const struct kin_samples *s) { return s->p->samples.n_tasks; }
size_t kin_samples_n_objects(const struct kin_samples *s) { return s->p->n_objects; }
size_t kin_samples_n_stacks(const struct kin_samples *s) { return s->p->samples.n_stacks; }
size_t kin_samples_n_locations(const struct kin_samples *s) { return s->p->samples.n_frames; }
size_t kin_samples_n_functions(const struct kin_samples *s) { return s->functions.n; }

/* False: out of memory, which kin_samples_error() reports from then on. */
static bool make(struct kin_samples *s, struct kin_error *(*how)(struct kin_samples *s))
{
	struct kin_error *err = GUARDED(how(s));
	if (err && !s->err)
		s->err = err;
	else
		kin_error_free(err);
	return !err;
}

/* ---- recordings, events, threads, objects ---- */

static struct kin_error *make_recordings(struct kin_samples *s)
{
	const struct profile *p = s->p;
	s->recordings = arena_alloc(&s->arena, (p->n_sources + 1) * sizeof(*s->recordings));
	for (size_t i = 0; i < p->n_sources; i++)
		s->recordings[i] = (struct kin_recording){
			.path = text(s, p->sources[i].path),
			.host = "",
			.rank = "",
			.job = "",
			.kernel = "",
			.command = "",
			.start_ns = p->sources[i].start_ns,
			.start_time_ns = p->sources[i].start_time_ns,
		};
	for (size_t i = 0; i < p->n_facts; i++) {
		struct kin_recording *r = &s->recordings[p->facts[i].source];
		const char *name = text(s, p->facts[i].name), *value = text(s, p->facts[i].value);
		if (!strcmp(name, "host"))
			r->host = value;
		else if (!strcmp(name, FACT_RANK))
			r->rank = value;
		else if (!strcmp(name, FACT_JOB))
			r->job = value;
		else if (!strcmp(name, "kernel"))
			r->kernel = value;
		else if (!strcmp(name, "command"))
			r->command = value;
	}
	return NULL;
}

const struct kin_recording *kin_samples_recording(struct kin_samples *s, uint32_t id)
{
	bool known = s->recordings || make(s, make_recordings);
	return known && id < s->p->n_sources ? &s->recordings[id] : &s->no_recording;
}

static enum kin_event_kind kind_of_event(enum event_kind kind)
{
	switch (kind) {
	case EVENT_ON_CPU:
		return KIN_EVENT_ON_CPU;
	case EVENT_BLOCKED:
		return KIN_EVENT_BLOCKED;
	case EVENT_WAITING:
		return KIN_EVENT_WAITING;
	}
	return KIN_EVENT_ON_CPU;
}

static struct kin_error *make_events(struct kin_samples *s)
{
	const struct samples *from = &s->p->samples;
	s->events = arena_alloc(&s->arena, (from->n_events + 1) * sizeof(*s->events));
	for (size_t i = 0; i < from->n_events; i++) {
		const struct event *e = &from->events[i];
		s->events[i] = (struct kin_event){ .name = text(s, e->name),
						   .unit = e->unit == EVENT_NS ? "ns" : "",
						   .kind = kind_of_event(e->kind),
						   .counts_time = e->counts_time,
						   .period = e->period,
						   .frequency = e->frequency };
	}
	return NULL;
}

const struct kin_event *kin_samples_event(struct kin_samples *s, uint32_t id)
{
	bool known = s->events || make(s, make_events);
	return known && id < s->p->samples.n_events ? &s->events[id] : &s->no_event;
}

static struct kin_error *make_threads(struct kin_samples *s)
{
	const struct samples *from = &s->p->samples;
	strid *commands = samples_commands(from);
	s->threads = arena_alloc(&s->arena, (from->n_tasks + 1) * sizeof(*s->threads));
	for (size_t i = 0; i < from->n_tasks; i++) {
		const struct task *t = &from->tasks[i];
		s->threads[i] = (struct kin_thread){ .name = text(s, t->comm),
						     .pid = t->pid,
						     .tid = t->tid,
						     .run = t->run,
						     .rank = t->rank,
						     .start_ns = t->start_ns,
						     .end_ns = t->end_ns,
						     .command = text(s, commands[i]) };
	}
	free(commands);
	return NULL;
}

const struct kin_thread *kin_samples_thread(struct kin_samples *s, uint32_t id)
{
	if (!s->threads && !make(s, make_threads))
		return &s->no_thread;
	return &s->threads[id < s->p->samples.n_tasks ? id : 0];
}

static enum kin_object_kind kind_of_object(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_ELF:
		return KIN_OBJECT_FILE;
	case OBJECT_KERNEL:
	case OBJECT_KERNEL_MODULE:
		return KIN_OBJECT_KERNEL;
	case OBJECT_VDSO:
		return KIN_OBJECT_VDSO;
	case OBJECT_JIT:
		return KIN_OBJECT_JIT;
	case OBJECT_OTHER:
		return KIN_OBJECT_OTHER;
	}
	return KIN_OBJECT_OTHER;
}

static struct kin_error *make_objects(struct kin_samples *s)
{
	const struct profile *p = s->p;
	struct kin_object *objects = arena_alloc(&s->arena, p->n_objects * sizeof(*objects));
	for (size_t i = 0; i < p->n_objects; i++) {
		const struct object *o = &p->objects[i];
		const char *path = text(s, o->path), *id = text(s, o->build_id);
		int n = (int)kept_build_id_length(p->kept, path, id);
		objects[i] =
			(struct kin_object){ .path = path,
					     .build_id = arena_printf(&s->arena, "%.*s", n, id),
					     .kind = kind_of_object(o->kind),
					     .is_main = o->is_main };
	}
	for (size_t i = 1; i < p->samples.n_frames; i++) {
		const struct frame *f = &p->samples.frames[i];
		struct kin_object *o = &objects[f->object];
		if (!f->addr || f->flags & FRAME_MARK)
			continue;
		if (!o->high || f->addr < o->low)
			o->low = f->addr;
		if (f->addr >= o->high)
			o->high = f->addr == UINT64_MAX ? f->addr : f->addr + 1;
	}
	s->objects = objects; /* set only when complete */
	return NULL;
}

static struct kin_error *make_made_up(struct kin_samples *s)
{
	const struct profile *p = s->p;
	bool *made_up = arena_alloc(&s->arena, p->n_objects);
	for (size_t i = 0; i < p->n_objects; i++)
		made_up[i] = recorded_is_made_up(p, (objid)i);
	s->made_up = made_up;
	return NULL;
}

const struct kin_object *kin_samples_object(struct kin_samples *s, uint32_t id)
{
	if (!s->objects && !make(s, make_objects))
		return &s->no_object;
	return &s->objects[id < s->p->n_objects ? id : 0];
}

/* ---- stacks and locations ---- */

/* Frames to skip: marks, which describe the stack, unless they are shown; and functions that the
 * data says are inlined, if these belong to the function they are in. */
static bool is_left_out(const struct kin_samples *s, stackid id)
{
	const struct samples *from = &s->p->samples;
	uint32_t flags = from->frames[from->stacks[id].frame].flags;
	return (flags & FRAME_MARK && !s->shows_marks) ||
	       (flags & FRAME_INLINED && s->profile->naming.no_inlines);
}

/* The innermost stack, from here outwards, that has a location. */
static stackid visible(const struct kin_samples *s, stackid id)
{
	while (id && is_left_out(s, id))
		id = s->p->samples.stacks[id].caller;
	return id;
}

static uint8_t flags_of_mark(const struct kin_samples *s, frameid id)
{
	const struct frame *f = &s->p->samples.frames[id];
	if (!(f->flags & FRAME_MARK))
		return f->flags & FRAME_GUESSED ? STACK_GUESSED : 0;
	return !strcmp(text(s, f->name), MARK_CUT)       ? STACK_CUT
	       : !strcmp(text(s, f->name), MARK_GUESSED) ? STACK_GUESSED
							 : 0;
}

static struct kin_error *make_stack_flags(struct kin_samples *s)
{
	const struct samples *from = &s->p->samples;
	s->stack_flags = xalloc(from->n_stacks + 1);
	for (size_t i = 1; i < from->n_stacks; i++)
		s->stack_flags[i] = s->stack_flags[from->stacks[i].caller] |
				    flags_of_mark(s, from->stacks[i].frame);
	return NULL;
}

const struct kin_sample *kin_samples_next(struct kin_samples *s)
{
	if (s->next == s->p->samples.n || s->no_stack_flags)
		return NULL;
	s->no_stack_flags = !s->stack_flags && !make(s, make_stack_flags);
	if (s->no_stack_flags)
		return NULL;
	const struct sample *x = &s->p->samples.at[s->next++];
	s->sample = (struct kin_sample){ .event = x->event,
					 .thread = x->task,
					 .stack = visible(s, x->stack),
					 .cpu = x->cpu == CPU_NONE ? UINT32_MAX : x->cpu,
					 .weight = x->weight,
					 .count = x->count,
					 .time_ns = x->time_ns,
					 .is_cut = s->stack_flags[x->stack] & STACK_CUT,
					 .is_guessed = s->stack_flags[x->stack] & STACK_GUESSED,
					 .recording = x->source };
	return &s->sample;
}

void kin_samples_rewind(struct kin_samples *s) { s->next = 0; }

void kin_samples_show_marks(struct kin_samples *s) { s->shows_marks = true; }

const struct kin_stack *kin_samples_stack(struct kin_samples *s, uint32_t id)
{
	const struct samples *from = &s->p->samples;
	id = id < from->n_stacks ? visible(s, id) : 0;
	s->stack = (struct kin_stack){ .location = from->stacks[id].frame };
	for (id = from->stacks[id].caller; id && is_left_out(s, id); id = from->stacks[id].caller)
		s->stack.caller_is_guessed |=
			flags_of_mark(s, from->stacks[id].frame) & STACK_GUESSED;
	s->stack.caller = id;
	return &s->stack;
}

/* Whether the location's address is invented. Data with names only (callgrind, a store) numbers its
 * functions; its code without names keeps its addresses. */
static bool is_made_up(struct kin_samples *s, uint32_t id)
{
	size_t n;
	if ((!s->made_up && !make(s, make_made_up)) || !s->made_up[s->p->samples.frames[id].object])
		return false;
	const struct kin_line *lines = kin_samples_lines(s, id, &n);
	return n && !kin_samples_function(s, lines->function)->is_unnamed;
}

const struct kin_location *kin_samples_location(struct kin_samples *s, uint32_t id)
{
	const struct samples *from = &s->p->samples;
	id = id < from->n_frames ? id : 0;
	const struct frame *f = &from->frames[id];
	s->location = (struct kin_location){ .address = is_made_up(s, id) ? 0 : f->addr,
					     .object = f->object,
					     .is_return = f->flags & FRAME_RETURN,
					     .is_kernel = f->flags & FRAME_KERNEL };
	return &s->location;
}

/* ---- names ---- */

static struct kin_error *find_names(struct kin_samples *s)
{
	const struct program_opts *naming = &s->profile->naming;
	bool inlines = !naming->no_inlines;
	struct view *view = NULL;
	if (s->profile->one_by_one)
		names_learn(s->p, &(struct recorded_opts){ naming->debug_dir, naming->symfs,
							   naming->debuginfod });
	struct kin_error *err =
		profile_view(s->profile, inlines ? VIEW_EXPANDED : VIEW_FUNCTIONS, false, &view);
	if (err || !view->program) /* data without stacks has no locations to name */
		return err;
	s->lines = xalloc((s->p->samples.n_frames + 1) * sizeof(*s->lines));
	s->view = view;
	return NULL;
}

static struct kin_function *make_function(struct kin_samples *s, symid place)
{
	struct kin_function *f = arena_alloc(&s->arena, sizeof(*f));
	struct program *g = s->view->program;
	struct symbols *symbols = s->view->symbols;
	enum place_kind kind = program_kind(g, place);
	*f = (struct kin_function){ .name = program_name(g, place),
				    .linkage_name = symbols->at[place].name,
				    .file = "",
				    .object = program_object(g, place),
				    .is_unnamed = kind == PLACE_UNKNOWN };
	if (kind == PLACE_SYMBOL) {
		struct srcloc at = { 0 };
		bool known = symbols_place(symbols, symbols->at[place].addr, &at) && at.file;
		f->file = known ? at.file : "";
		f->line = known ? at.line : 0;
		f->address = program_start(g, place);
	} else if (kind == PLACE_NAMED) {
		f->address = program_start(g, place);
	}
	return f;
}

static uint32_t function_of(struct kin_samples *s, symid place)
{
	symid owner = s->view->symbols->at[place].owner;
	uint32_t *id = map64_at(&s->function_ids, owner);
	if (*id == NONE) { /* added only when complete: any step may run out of memory */
		struct kin_function *f = make_function(s, owner);
		vec_push(&s->functions, f);
		*id = (uint32_t)s->functions.n - 1;
	}
	return *id;
}

static struct kin_error *make_lines(struct kin_samples *s, frameid id, struct sample_lines *ret)
{
	struct program *g = s->view->program;
	struct srcloc at = { 0 };
	size_t n;
	const symid *inlined = program_inlines(g, id, &n);
	struct kin_line *lines = arena_alloc(&s->arena, (n + 1) * sizeof(*lines));
	for (size_t i = 0; i <= n; i++)
		lines[i] = (struct kin_line){
			.function = function_of(s, i < n ? inlined[i] : program_place(g, id)),
			.file = "",
			.is_inlined = i < n || s->p->samples.frames[id].flags & FRAME_INLINED,
		};
	if (program_line(g, id, &at) && at.file) {
		struct kin_function *f = s->functions.at[lines[0].function];
		lines[0].file = at.file;
		lines[0].line = at.line;
		if (!*f->file) /* the function is only ever inlined */
			f->file = at.file;
	}
	*ret = (struct sample_lines){ .at = lines, .n = n + 1, .known = true };
	return NULL;
}

const struct kin_line *kin_samples_lines(struct kin_samples *s, uint32_t id, size_t *n)
{
	*n = 0;
	bool none = !id || id >= s->p->samples.n_frames ||
		    (s->p->samples.frames[id].flags & FRAME_MARK && !s->shows_marks);
	if (none || s->err || !(s->view || make(s, find_names)) || !s->view)
		return NULL;
	struct sample_lines *lines = &s->lines[id];
	struct kin_error *err = lines->known ? NULL : GUARDED(make_lines(s, id, lines));
	if (err) {
		s->err = err;
		return NULL;
	}
	*n = lines->n;
	return lines->at;
}

const struct kin_function *kin_samples_function(struct kin_samples *s, uint32_t id)
{
	return id < s->functions.n ? s->functions.at[id] : &s->nothing;
}

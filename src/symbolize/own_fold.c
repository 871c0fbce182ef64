/* own_fold.c - decides about each function once, and makes stacks of what is own. */
#include "symbolize/own_fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/short_name.h"
#include "base/vec.h"

struct own_frame {      /* the functions of a frame, from the innermost one on */
	uint32_t n;     /* how many; 0: not looked at yet */
	uint32_t first; /* the first own one; NONE: there is none */
};

struct own_fold {
	struct program *g;
	struct profile *p;
	const struct own_code *code;
	/* [2 * place + is_of_kernel()]: data may give one name to code of both; why NULL: not known
	 * yet */
	struct own_verdict *verdicts;
	struct own_frame *frames; /* [n_frames] */
};

/* ---- verdicts ---- */

bool own_fold_has_scripts(const struct profile *p)
{
	bool any = false;
	for (size_t i = 1; i < p->samples.n_frames && !any; i++) {
		strid name = p->samples.frames[i].name;
		char *file = NULL;
		any = name && own_code_script(strtab_get(p->strings, name), &file);
		free(file);
	}
	return any;
}

static const char *path_of(const struct profile *p, objid id)
{
	return p->objects[id].path ? strtab_get(p->strings, p->objects[id].path) : "";
}

const char *own_fold_program(const struct profile *p)
{
	for (objid i = 0; i < p->n_objects; i++)
		if (p->objects[i].is_main && p->objects[i].path)
			return path_of(p, i);
	return "";
}

static bool is_of_kernel(const struct own_fold *f, frameid frame)
{
	const struct frame *at = &f->p->samples.frames[frame];
	enum object_kind kind = f->p->objects[at->object].kind;
	return at->flags & (FRAME_KERNEL | FRAME_GUEST | FRAME_HYPERVISOR) ||
	       kind == OBJECT_KERNEL || kind == OBJECT_KERNEL_MODULE;
}

static struct own_verdict decide(const struct own_fold *f, frameid frame, symid place,
				 const char *file)
{
	const struct frame *at = &f->p->samples.frames[frame];
	const struct object *o = &f->p->objects[at->object];
	if (at->flags & FRAME_FOREIGN)
		return (struct own_verdict){ false, "judged when it was sampled" };
	struct object_file *opened = program_object_file(f->g, at->object);
	struct own_subject s = {
		.name = program_symbols(f->g)->at[place].name,
		.file = file,
		.object = path_of(f->p, at->object),
		.is_kernel = is_of_kernel(f, frame) || o->kind == OBJECT_VDSO,
		.is_named = at->name,
		.is_main = o->is_main || !at->object,
		.has_lines = opened && object_has_lines(opened),
	};
	return own_code_of(f->code, &s);
}

/* The source file of a function with a symbol is that of its first line. */
static const char *file_of(const struct own_fold *f, frameid frame, symid place, size_t depth)
{
	struct symbols *s = program_symbols(f->g);
	struct srcloc line = { 0 };
	const char *file = NULL;
	if (program_kind(f->g, place) == PLACE_SYMBOL)
		file = symbols_locate(s, s->at[place].owner)->file;
	else if (program_line_at(f->g, frame, depth, &line))
		file = line.file;
	return file && *file ? file : NULL;
}

struct own_verdict own_fold_verdict(struct own_fold *f, frameid frame, size_t depth)
{
	size_t n;
	const symid *inlined = program_inlines(f->g, frame, &n);
	symid place = depth < n ? inlined[depth] : program_place(f->g, frame);
	symid owner = program_symbols(f->g)->at[place].owner;
	struct own_verdict *v = &f->verdicts[2 * (size_t)owner + is_of_kernel(f, frame)];
	if (!v->why)
		*v = decide(f, frame, place, file_of(f, frame, place, depth));
	return *v;
}

const char *own_fold_producer(struct own_fold *f, frameid frame)
{
	struct object_file *file = program_object_file(f->g, f->p->samples.frames[frame].object);
	return file ? object_producer(file, program_instruction(f->g, frame)) : NULL;
}

struct own_fold *own_fold_new(struct program *g, struct profile *p, const struct own_code *c)
{
	struct own_fold *f = xalloc(sizeof(*f));

	*f = (struct own_fold){ .g = g, .p = p, .code = c };
	f->verdicts = xalloc(2 * (program_symbols(g)->n + 1) * sizeof(*f->verdicts));
	f->frames = xalloc(p->samples.n_frames * sizeof(*f->frames));
	return f;
}

void own_fold_free(struct own_fold *f)
{
	if (!f)
		return;
	free(f->verdicts);
	free(f->frames);
	free(f);
}

/* ---- frames ---- */

bool own_fold_is_note(const struct own_fold *f, frameid frame)
{
	const struct frame *at = &f->p->samples.frames[frame];
	const char *name = at->name ? strtab_get(f->p->strings, at->name) : "";
	return at->flags & FRAME_MARK || !strcmp(name, NAME_NOT_SAMPLED) ||
	       !strcmp(name, NAME_PROFILER);
}

static struct own_frame look_at_frame(struct own_fold *f, frameid frame)
{
	struct own_frame *at = &f->frames[frame];
	size_t inlined;
	if (at->n)
		return *at;
	program_inlines(f->g, frame, &inlined);
	at->n = (uint32_t)inlined + 1;
	at->first = own_fold_is_note(f, frame) ? at->n : 0;
	while (at->first < at->n && !own_fold_verdict(f, frame, at->first).is_own)
		at->first++;
	if (at->first == at->n)
		at->first = NONE;
	return *at;
}

void own_fold_names(struct own_fold *f)
{
	VEC(bool) keeps = { 0 };
	for (frameid i = 1; i < f->p->samples.n_frames; i++) {
		struct own_frame at = look_at_frame(f, i);
		if (at.first == NONE)
			continue;
		bool all = true;
		keeps.n = 0;
		for (size_t k = 0; k < at.n; k++) {
			vec_push(&keeps, own_fold_verdict(f, i, k).is_own);
			all &= keeps.at[k];
		}
		if (!all)
			program_keep(f->g, i, keeps.at);
	}
	vec_free(&keeps);
}

struct own_shares own_fold_shares(struct own_fold *f, uint16_t event)
{
	const struct samples *s = &f->p->samples;
	frameid *owners = xalloc((s->n_stacks + 1) * sizeof(*owners));
	double all = 0, own = 0, folded = 0;

	own_fold_owners(f, owners);
	for (size_t i = 0; i < s->n; i++) {
		double weight = s->at[i].event == event ? (double)s->at[i].weight : 0;
		bool is_owned = owners[s->at[i].stack];
		all += weight;
		own += is_owned ? weight : 0;
		folded += is_owned && look_at_frame(f, s->stacks[s->at[i].stack].frame).first
				  ? weight
				  : 0;
	}
	free(owners);
	all = all > 0 ? all : 1;
	return (struct own_shares){ own / all, folded / all };
}

void own_fold_owners(struct own_fold *f, frameid *ret)
{
	const struct samples *s = &f->p->samples;
	ret[0] = 0;
	for (size_t i = 1; i < s->n_stacks; i++)
		ret[i] = look_at_frame(f, s->stacks[i].frame).first != NONE
				 ? s->stacks[i].frame
				 : ret[s->stacks[i].caller];
}

bool own_fold_line(struct own_fold *f, frameid frame, struct srcloc *ret)
{
	return program_line_at(f->g, frame, look_at_frame(f, frame).first, ret) && ret->file;
}

/* ---- rules ---- */

static strid where_of(const struct own_fold *f, frameid frame, struct strtab *strings)
{
	size_t n;
	const symid *inlined = program_inlines(f->g, frame, &n);
	symid place = n ? inlined[0] : program_place(f->g, frame);
	const char *file = file_of(f, frame, place, 0), *slash = file ? strrchr(file, '/') : NULL;
	objid object = f->p->samples.frames[frame].object;
	if (slash)
		return strtab_addn(strings, file, (size_t)(slash - file));
	return strtab_add(strings, file ? "." : program_object_name(f->g, object));
}

static int by_share(const void *a, const void *b)
{
	const struct own_ruling *x = a, *y = b;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return strcmp(x->where, y->where);
}

void own_fold_rule(struct own_fold *f, uint16_t event, struct own_rulings *ret)
{
	const struct samples *s = &f->p->samples;
	struct map64 ids = { 0 };
	double all = 0;

	*ret = (struct own_rulings){ .strings = strtab_new() };
	for (size_t i = 0; i < s->n; i++) {
		frameid leaf = s->stacks[s->at[i].stack].frame;
		double weight = s->at[i].event == event ? (double)s->at[i].weight : 0;
		all += weight;
		if (!weight || !leaf || own_fold_is_note(f, leaf))
			continue;
		struct own_verdict v = own_fold_verdict(f, leaf, 0);
		strid where = where_of(f, leaf, ret->strings);
		strid why = strtab_add(ret->strings, v.why);
		uint32_t *id = map64_at(&ids, MAP64_PAIR(where, why));
		if (*id == NONE) {
			*id = (uint32_t)ret->at.n;
			v.why = strtab_get(ret->strings, why);
			vec_push(&ret->at,
				 ((struct own_ruling){ v, strtab_get(ret->strings, where), 0 }));
		}
		ret->at.at[*id].share += weight;
	}
	for (size_t i = 0; i < ret->at.n; i++)
		ret->at.at[i].share /= all;
	if (ret->at.n)
		qsort(ret->at.at, ret->at.n, sizeof(*ret->at.at), by_share);
	map64_free(&ids);
}

void own_rulings_done(struct own_rulings *r)
{
	strtab_free(r->strings);
	vec_free(&r->at);
}

/* ---- what is paid for ---- */

struct folded_stack {   /* what a stack leads on to */
	stackid notes;  /* the notes at its root */
	stackid below;  /* the caller of its innermost own function */
	stackid own;    /* with that function as leaf */
	frameid owner;  /* the frame of that function; 0: there is none */
	bool is_script; /* it is a script's */
	bool in_kernel; /* what it called is the kernel */
	strid paid_for; /* what that function called, of others; 0: nothing yet */
};

struct own_folding {
	struct own_fold *f;
	struct folded_stack *at; /* [n_stacks] */
	struct map64 names;      /* (kind, place or object): strid of its name */
	struct map64 libraries;  /* (object, level): frame that stands for its code */
	struct map64 copies;     /* (frame, paid_for): frame with that */
};

/* How the kernel was entered. */
static const char *kernel_entry(const char *name)
{
	static const char *const calls[] = { "entry_SYSCALL", "do_syscall",  "el0_svc",
					     "el0t_64_sync",  "entry_INT80", "do_trap_ecall" };
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (!strncmp(name, calls[i], strlen(calls[i])))
			return "system calls";
	return strstr(name, "page_fault") ? "page faults" : "the kernel";
}

/* "libc" for libc.so.6. */
static char *library_name(const struct own_fold *f, objid object)
{
	const char *name = base_name(program_object_name(f->g, object)), *end = strstr(name, ".so");
	return xprintf("%.*s", end && end > name ? (int)(end - name) : (int)strlen(name), name);
}

/* What a function is known as to those who call it: "std::sort". */
static char *callee_name(const struct own_folding *x, frameid frame, symid place)
{
	struct own_fold *f = x->f;
	const char *name = program_name(f->g, place);

	if (is_of_kernel(f, frame))
		return xprintf("%s", kernel_entry(name));
	if (place == program_place(f->g, frame) && program_is_unnamed(f->g, frame))
		return library_name(f, f->p->samples.frames[frame].object);
	return brief_name(name);
}

/* `depth`: of the outermost function of others in the frame. */
static strid paid_for(struct own_folding *x, frameid frame, size_t depth, bool is_script)
{
	struct own_fold *f = x->f;
	size_t n;
	const symid *inlined = program_inlines(f->g, frame, &n);
	symid place = depth < n ? inlined[depth] : program_place(f->g, frame);
	enum {
		OF_PLACE,
		OF_KERNEL,
		OF_LIBRARY
	} kind = is_of_kernel(f, frame) ? OF_KERNEL
		 : is_script            ? OF_LIBRARY
					: OF_PLACE;
	bool by_library = kind == OF_LIBRARY;
	objid object = f->p->samples.frames[frame].object;
	uint32_t *id = map64_at(&x->names, MAP64_PAIR(kind, by_library ? object : place));

	if (*id == NONE) {
		char *name = by_library ? library_name(f, object) : callee_name(x, frame, place);
		*id = profile_append_text(f->p, name);
		free(name);
	}
	return *id;
}

/* ---- stacks ---- */

static frameid copy_of(struct own_folding *x, frameid frame, strid paid_for)
{
	uint32_t *copy = map64_at(&x->copies, MAP64_PAIR(frame, paid_for));
	if (*copy == NONE) {
		struct frame f = x->f->p->samples.frames[frame];
		f.paid_for = paid_for;
		*copy = profile_append_frame(x->f->p, f);
	}
	return *copy;
}

static frameid library_of(struct own_folding *x, frameid frame)
{
	const struct frame f = x->f->p->samples.frames[frame];
	uint32_t level = f.flags & (FRAME_KERNEL | FRAME_GUEST | FRAME_HYPERVISOR);
	bool is_named = x->f->p->objects[f.object].path;
	if (f.name && !is_named && !is_of_kernel(x->f, frame))
		return frame;
	uint32_t *library = map64_at(&x->libraries, MAP64_PAIR(f.object, level));
	if (*library == NONE) {
		char *name = is_named ? program_object_code(x->f->g, f.object)
				      : xprintf("%s", level ? "[kernel]" : "[unknown]");
		*library = profile_append_frame(
			x->f->p, (struct frame){ .object = f.object,
						 .name = profile_append_text(x->f->p, name),
						 .flags = level });
		free(name);
	}
	return *library;
}

/* The stack with its leaf, which remembers what it paid for. */
static stackid with_leaf(struct own_folding *x, struct revised_stacks *r,
			 const struct folded_stack *at)
{
	return at->paid_for ? revised_stacks_add(r, at->below, copy_of(x, at->owner, at->paid_for))
			    : at->own;
}

/* The frame has own functions, `first` the innermost: it becomes the leaf. */
static stackid add_own(struct own_folding *x, struct revised_stacks *r, frameid frame,
		       uint32_t first, struct folded_stack *at)
{
	struct own_fold *f = x->f;
	const struct frame *named = &f->p->samples.frames[frame];
	char *file = NULL;
	at->below = at->owner ? at->own : at->notes;
	at->own = revised_stacks_add(r, at->below, frame);
	at->owner = frame;
	at->in_kernel = false;
	at->is_script =
		named->name && own_code_script(strtab_get(f->p->strings, named->name), &file);
	free(file);
	at->paid_for = first ? paid_for(x, frame, first - 1, false) : 0;
	return with_leaf(x, r, at);
}

static stackid fold(void *arg, struct revised_stacks *r, stackid stack, stackid caller)
{
	struct own_folding *x = arg;
	struct own_fold *f = x->f;
	const struct stack at = f->p->samples.stacks[stack];
	struct folded_stack *now = &x->at[stack];

	(void)caller;
	*now = x->at[at.caller];
	if (own_fold_is_note(f, at.frame)) {
		if (now->owner)
			return now->own = revised_stacks_add(r, now->own, at.frame);
		return now->notes = revised_stacks_add(r, now->notes, at.frame);
	}
	struct own_frame frame = look_at_frame(f, at.frame);
	if (frame.first != NONE)
		return add_own(x, r, at.frame, frame.first, now);
	if (now->owner) {
		if (!now->paid_for || (now->is_script && !now->in_kernel))
			now->paid_for = paid_for(x, at.frame, frame.n - 1, now->is_script);
		now->in_kernel = is_of_kernel(f, at.frame);
		return with_leaf(x, r, now);
	}
	return revised_stacks_add(r, now->notes, library_of(x, at.frame));
}

void own_fold_stacks(struct own_fold *f)
{
	struct own_folding x = { .f = f };

	x.at = xalloc((f->p->samples.n_stacks + 1) * sizeof(*x.at));
	profile_replace_stacks(f->p, fold, &x);
	free(x.at);
	map64_free(&x.names);
	map64_free(&x.libraries);
	map64_free(&x.copies);
}

#include "record/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"

enum { WAITING_MAX = 16 << 20, FRAMES_MAX = UNWINDING_DEPTH + 256 };

struct waiting { /* a sample with a name that is not known yet */
	struct recorded_sample sample;
	size_t n;
	struct stack_frame frames[];
};

struct recording {
	struct kin_writer *w;
	struct jit *jit;
	struct kernel *kernel;
	struct map64 kernel_names;   /* address -> string id */
	struct map64 kernel_modules; /* address -> module id */
	VEC(struct waiting *) waiting;
	size_t waiting_bytes;
	uint64_t updated_ns;
	bool ending; /* now or never */
	const struct record_watch *watch;
	struct kin_frame frames[FRAMES_MAX];
	struct watched_name names[FRAMES_MAX]; /* for `watch` */
};

struct recording *recording_new(struct kin_writer *w, struct jit *jit, struct kernel *kernel,
				const struct record_watch *watch)
{
	struct recording *r = xalloc(sizeof(*r));
	r->w = w;
	r->jit = jit;
	r->kernel = kernel;
	r->watch = watch;
	return r;
}

struct kin_writer *recording_writer(struct recording *r) { return r->w; }

uint32_t recording_task(struct recording *r, struct thread *t)
{
	if (!t->task)
		t->task =
			kin_writer_task(r->w, (uint32_t)t->pid, (uint32_t)t->tid, t->run, t->comm);
	return t->task;
}

/* ---- frames ---- */

static uint32_t module_id(struct recording *r, struct module *m)
{
	if (!m->file_id)
		m->file_id =
			kin_writer_module(r->w, m->kind, m->main,
					  m->kind == KINF_JIT && !*m->path ? "//anon" : m->path,
					  m->build_id_size ? m->build_id : NULL, m->build_id_size);
	return m->file_id;
}

static void name_kernel(struct recording *r, struct kin_frame *f)
{
	uint64_t asked = f->addr - !!(f->flags & KINF_FRAME_RETURN);
	uint32_t *name = map64_at(&r->kernel_names, asked);
	uint32_t *module = map64_at(&r->kernel_modules, asked);
	if (*name == NONE) {
		struct kernel_symbol s = { 0 };
		bool found = kernel_find(r->kernel, asked, &s);
		*name = found ? kin_writer_string(r->w, s.name, strlen(s.name)) : 0;
		char *path = xprintf("[%s]", s.module ? s.module : "kernel.kallsyms");
		*module = kin_writer_module(r->w, s.module ? KINF_KERNEL_MODULE : KINF_KERNEL,
					    false, path, NULL, 0);
		free(path);
	}
	f->name = *name;
	f->module = *module;
}

static struct watched_name kernel_name(struct recording *r, const struct stack_frame *f)
{
	struct kernel_symbol s = { 0 };
	bool found = kernel_find(r->kernel, f->addr - !!(f->flags & KINF_FRAME_RETURN), &s);
	return found ? (struct watched_name){ s.name, s.module } : (struct watched_name){ 0 };
}

/* false: has a name that is not known yet. */
static bool convert(struct recording *r, const struct recorded_sample *s, size_t i,
		    struct kin_frame *ret)
{
	const struct stack_frame *f = &s->frames[i];
	*ret = (struct kin_frame){ .addr = f->addr, .flags = f->flags };
	r->names[i] = (struct watched_name){ 0 };
	if (f->flags & KINF_FRAME_KERNEL) {
		if (!r->ending && !kernel_is_ready(r->kernel))
			return false;
		name_kernel(r, ret);
		if (r->watch)
			r->names[i] = kernel_name(r, f);
		return true;
	}
	if (!f->module)
		return true;
	ret->module = module_id(r, f->module);
	if (f->module->kind != KINF_JIT)
		return true;
	const char *name =
		jit_find(r->jit, s->pid, f->addr - !!(f->flags & KINF_FRAME_RETURN), s->time_ns);
	if (name)
		ret->name = kin_writer_string(r->w, name, strlen(name));
	r->names[i].name = name;
	return name;
}

static bool convert_all(struct recording *r, const struct recorded_sample *s)
{
	bool all = true;
	for (size_t i = 0; i < s->n; i++)
		all &= convert(r, s, i, &r->frames[i]);
	return all;
}

static void emit(struct recording *r, const struct recorded_sample *s)
{
	uint32_t mode = s->cut ? KINF_MODE_CUT : s->complete ? KINF_MODE_COMPLETE : 0;
	if (s->n && s->frames[0].flags & KINF_FRAME_KERNEL)
		mode |= KINF_MODE_KERNEL;
	struct kin_sample k = { .event = s->event,
				.task = s->task,
				.cpu = s->cpu,
				.mode = mode,
				.parallelism = s->parallelism,
				.time_ns = s->time_ns,
				.weight = s->weight,
				.frames = r->frames,
				.n_frames = s->n };
	kin_writer_sample(r->w, &k);
	if (r->watch)
		r->watch->sample(r->watch->arg, s, r->names);
}

/* ---- those that wait ---- */

/* Writes those whose names are known by now, or all. */
static void settle(struct recording *r, bool all)
{
	size_t kept = 0;
	r->waiting_bytes = 0;
	for (size_t i = 0; i < r->waiting.n; i++) {
		struct waiting *w = r->waiting.at[i];
		if (convert_all(r, &w->sample) || all) {
			emit(r, &w->sample);
			free(w);
		} else {
			r->waiting.at[kept++] = w;
			r->waiting_bytes += sizeof(*w) + w->n * sizeof(w->frames[0]);
		}
	}
	r->waiting.n = kept;
}

static void wait_for_names(struct recording *r, const struct recorded_sample *s)
{
	size_t size = sizeof(struct waiting) + s->n * sizeof(s->frames[0]);
	struct waiting *w = xalloc(size);
	w->sample = *s;
	w->n = s->n;
	memcpy(w->frames, s->frames, s->n * sizeof(s->frames[0]));
	w->sample.frames = w->frames;
	vec_push(&r->waiting, w);
	r->waiting_bytes += size;
	if (r->waiting_bytes > WAITING_MAX) {
		r->ending = true;
		jit_update(r->jit);
		settle(r, true);
		r->ending = false;
	}
}

void recording_sample(struct recording *r, const struct recorded_sample *s)
{
	struct recorded_sample cut = *s;
	if (cut.n > FRAMES_MAX)
		cut.n = FRAMES_MAX;
	if (convert_all(r, &cut))
		emit(r, &cut);
	else
		wait_for_names(r, &cut);
}

struct kin_error *recording_tick(struct recording *r, uint64_t now_ns)
{
	bool forgot = false;
	if (r->waiting.n && now_ns - r->updated_ns > 250000000) {
		r->updated_ns = now_ns;
		jit_update(r->jit);
		settle(r, false);
	}
	struct kin_error *err = kin_writer_tick(r->w, now_ns, &forgot);
	if (forgot) {
		map64_free(&r->kernel_names);
		r->kernel_names = (struct map64){ 0 };
	}
	return err;
}

struct kin_error *recording_close(struct recording *r, const struct modules *m, enum kinf_end end,
				  uint64_t detail, uint64_t end_ns)
{
	r->ending = true;
	jit_update(r->jit);
	settle(r, true);
	for (size_t i = 0; i < modules_count(m); i++) {
		struct module *module = modules_at(m, i);
		if (module->failures)
			kin_writer_unwind_failed(r->w, module_id(r, module), module->failures);
	}
	struct kin_error *err = kin_writer_close(r->w, end, detail, end_ns);
	map64_free(&r->kernel_names);
	map64_free(&r->kernel_modules);
	vec_free(&r->waiting);
	free(r);
	return err;
}

/* recording.c - converts frames to the file's; samples wait for names that are not yet known. */
#include "record/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "input/trace_points.h"
#include "machine/machine.h"
#include "record/recent.h"

enum { WAITING_MAX = 16 << 20, FRAMES_MAX = UNWINDING_DEPTH + 256, LAST_WRITTEN = 32 };

static const uint64_t WATCHED_WAIT_NS = 500000000; /* limit of waits if `watch` is set */

struct traced { /* an event with fields that hold addresses of kernel functions */
	uint32_t event;
	const struct trace_point *point;
};

/* The last stack of a thread, as written to the file. */
struct last_written {
	uint64_t serial;  /* 0: no stack */
	VEC(uint32_t) at; /* stacks of user frames, outermost first */
};

struct recording {
	struct kinfile_writer *w;
	struct jit *jit;
	struct kernel *kernel;
	struct map64 kernel_names;         /* address -> string id */
	struct map64 kernel_modules;       /* address -> module id */
	VEC(struct kept_sample *) waiting; /* samples with names that are not known yet */
	size_t waiting_bytes;
	uint64_t updated_ns;
	struct recording_samples samples;
	bool ending;           /* write waiting samples now, with or without names */
	struct recent *recent; /* NULL: all samples are written */
	bool recent_lacks;     /* some samples in `recent` lack names */
	const struct record_watch *watch;
	struct trace_points *traces; /* NULL: none of those */
	VEC(struct traced) traced;
	struct map64 functions; /* addresses seen in fields, whether they have names or not -> 1 */
	FILE *nowhere; /* /dev/null: output of formatting that is done only to find the functions */
	struct kinfile_frame frames[FRAMES_MAX];
	struct watched_name names[FRAMES_MAX];  /* for `watch` */
	VEC(uint64_t) words;                    /* registers and branches of the current sample */
	struct last_written last[LAST_WRITTEN]; /* at tid % LAST_WRITTEN */
	uint32_t stacks[FRAMES_MAX]; /* stack ids of the current sample, outermost first */
};

struct recording *recording_new(struct kinfile_writer *w, struct jit *jit, struct kernel *kernel,
				const struct record_watch *watch)
{
	struct recording *r = xalloc(sizeof(*r));
	r->w = w;
	r->jit = jit;
	r->kernel = kernel;
	r->watch = watch;
	return r;
}

void recording_keep_recent(struct recording *r, size_t bytes) { r->recent = recent_new(bytes); }

struct kinfile_writer *recording_writer(struct recording *r) { return r->w; }

uint32_t recording_task(struct recording *r, struct thread *t)
{
	if (!t->task)
		t->task = kinfile_writer_task(r->w, (uint32_t)t->pid, (uint32_t)t->tid, t->run,
					      t->comm);
	return t->task;
}

/* ---- frames ---- */

static uint32_t module_id(struct recording *r, struct module *m)
{
	if (!m->file_id)
		m->file_id = kinfile_writer_module(
			r->w, m->kind, m->main,
			m->kind == KINF_JIT && !*m->path ? "//anon" : m->name,
			m->build_id_size ? m->build_id : NULL, m->build_id_size);
	return m->file_id;
}

static void name_kernel(struct recording *r, struct kinfile_frame *f)
{
	uint64_t asked = f->addr - !!(f->flags & KINF_FRAME_RETURN);
	uint32_t *name = map64_at(&r->kernel_names, asked);
	uint32_t *module = map64_at(&r->kernel_modules, asked);
	if (*name == NONE) {
		struct kernel_symbol s = { 0 };
		bool found = kernel_find(r->kernel, asked, &s);
		*name = found ? kinfile_writer_string(r->w, s.name, strlen(s.name)) : 0;
		char *path = xprintf("[%s]", s.module ? s.module : "kernel.kallsyms");
		*module = kinfile_writer_module(r->w, s.module ? KINF_KERNEL_MODULE : KINF_KERNEL,
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

/* Converts a frame. False: it has a name that is not known yet. */
static bool convert(struct recording *r, const struct walked_sample *s, const struct stack_frame *f,
		    struct kinfile_frame *ret, struct watched_name *watched)
{
	*ret = (struct kinfile_frame){ .addr = f->addr, .flags = f->flags };
	*watched = (struct watched_name){ 0 };
	if (f->flags & KINF_FRAME_MARK) {
		const char *mark = watched->name = stack_mark_name(f->flags);
		ret->name = kinfile_writer_string(r->w, mark, strlen(mark));
		return true;
	}
	if (f->flags & KINF_FRAME_KERNEL) {
		if (!r->ending && !kernel_is_ready(r->kernel))
			return false;
		name_kernel(r, ret);
		if (r->watch)
			*watched = kernel_name(r, f);
		return true;
	}
	if (!f->module)
		return true;
	ret->module = module_id(r, f->module);
	if (f->module->kind != KINF_JIT)
		return true;
	const char *name = jit_find(r->jit, s->pid, f->addr - !!(f->flags & KINF_FRAME_RETURN),
				    s->sample.time_ns);
	if (name)
		ret->name = kinfile_writer_string(r->w, name, strlen(name));
	watched->name = name;
	return name || jit_has_ended(r->jit, s->pid, s->sample.time_ns);
}

/* Converts the first n frames. */
static bool convert_all(struct recording *r, const struct walked_sample *s, size_t n)
{
	bool all = true;
	for (size_t i = 0; i < n; i++)
		all &= convert(r, s, &s->frames[i], &r->frames[i], &r->names[i]);
	return all;
}

static const uint32_t end_in_file[] = {
	[STACK_END_UNKNOWN] = 0,
	[STACK_COMPLETE] = KINF_MODE_COMPLETE,
	[STACK_GUESSED] = KINF_MODE_GUESSED,
	[STACK_CUT] = KINF_MODE_CUT,
	[STACK_BEYOND] = KINF_MODE_CUT | KINF_MODE_BEYOND,
};

/* ---- trace points ---- */

/* Writes a function's name into the file when a field first has its address. */
static const char *name_function(void *arg, uint64_t addr, uint64_t *start)
{
	struct recording *r = arg;
	struct kernel_symbol s = { 0 };
	uint32_t *known = map64_at(&r->functions, addr);
	(void)start;
	if (*known == NONE && kernel_find(r->kernel, addr, &s))
		kinfile_writer_trace_function(r->w, addr, s.addr, s.name);
	*known = 1;
	return NULL;
}

static void name_functions(struct recording *r, const struct walked_sample *s)
{
	for (size_t i = 0; i < r->traced.n; i++)
		if (r->traced.at[i].event == s->sample.event)
			trace_points_print(r->traces, r->traced.at[i].point, s->fields, s->n_fields,
					   r->nowhere);
}

void recording_trace_format(struct recording *r, uint32_t event, const char *text)
{
	kinfile_writer_trace_format(r->w, event, text);
	if (!strstr(text, "%pS") && !strstr(text, "%ps") && !strstr(text, "%pF"))
		return;
	if (!r->nowhere && !(r->nowhere = fopen("/dev/null", "we")))
		return;
	if (!r->traces)
		r->traces = trace_points_new(
			(struct trace_layout){ .function = name_function, .arg = r });
	struct traced t = { event, trace_points_add(r->traces, text, strlen(text)) };
	if (t.point)
		vec_push(&r->traced, t);
}

static void done_with_traces(struct recording *r)
{
	trace_points_free(r->traces);
	r->traces = NULL;
	vec_free(&r->traced);
	map64_free(&r->functions);
	if (r->nowhere)
		fclose(r->nowhere);
	r->nowhere = NULL;
}

/* ---- details of samples ---- */

/* The id of the frame of place i; 0: not known. */
static uint32_t place_id(struct recording *r, const struct walked_sample *s, size_t i)
{
	struct watched_name unused;
	struct kinfile_frame f;
	if (i >= s->n_places)
		return 0;
	convert(r, s, &s->places[i], &f, &unused);
	return f.module ? kinfile_writer_frame(r->w, &f) : 0;
}

/* Collects the sample's registers and branches. The words begin with a 0, since index 0 means
 * none. */
static void find_words(struct recording *r, const struct walked_sample *s, struct detail *ret)
{
	const struct perf_sample *d = s->details;
	const struct perf_registers *regs = &d->interrupt;

	r->words.n = 0;
	vec_push(&r->words, 0);
	if (regs->values) {
		ret->interrupt_registers = r->words.n;
		vec_push(&r->words, regs->abi);
		vec_push(&r->words, regs->mask);
		for (int i = 0; i < __builtin_popcountll(regs->mask); i++)
			vec_push(&r->words, perf_sample_word(regs->values, (size_t)i));
	}
	if (d->n_taken) {
		ret->branches = r->words.n;
		vec_push(&r->words, d->n_taken);
	}
	for (size_t i = 0; i < d->n_taken; i++) {
		struct taken_branch b = { perf_sample_word(d->taken, 3 * i),
					  perf_sample_word(d->taken, 3 * i + 1),
					  perf_sample_word(d->taken, 3 * i + 2),
					  place_id(r, s, 1 + 2 * i), place_id(r, s, 2 + 2 * i) };
		uint64_t words[TAKEN_BRANCH_WORDS];
		memcpy(words, &b, sizeof(b));
		for (size_t k = 0; k < TAKEN_BRANCH_WORDS; k++)
			vec_push(&r->words, words[k]);
	}
}

static struct detail details_of(struct recording *r, const struct walked_sample *s)
{
	const struct perf_sample *d = s->details;
	const char *names = machine_native()->perf_names;
	struct detail k = { .addr = d->addr,
			    .phys_addr = d->phys_addr,
			    .data_src = d->data_src,
			    .weight = d->weight,
			    .ins_lat = d->ins_lat,
			    .p_stage_cyc = d->p_stage_cyc,
			    .transaction = d->transaction,
			    .data_page_size = d->data_page_size,
			    .code_page_size = d->code_page_size };
	k.has = (d->addr ? DETAIL_ADDR : 0) | (d->data_src ? DETAIL_DATA_SRC : 0) |
		(d->fields & PERF_SAMPLE_DATA_PAGE_SIZE ? DETAIL_DATA_PAGE : 0) |
		(d->fields & PERF_SAMPLE_CODE_PAGE_SIZE ? DETAIL_CODE_PAGE : 0);
	k.target = d->addr ? place_id(r, s, 0) : 0;
	if (d->interrupt.values)
		k.register_names = kinfile_writer_string(r->w, names, strlen(names));
	find_words(r, s, &k);
	return k;
}

/* ---- stacks that differ from the thread's last one only at the leaf's side ---- */

static struct last_written *last_written_of(struct recording *r, const struct walked_sample *s)
{
	return &r->last[(unsigned)s->tid % LAST_WRITTEN];
}

/* How many of the outermost frames the file already has from the thread's last stack. */
static size_t count_written(struct recording *r, const struct walked_sample *s)
{
	const struct last_written *last = last_written_of(r, s);
	size_t n = 0;
	if (!s->serial || r->watch || r->recent || !last->serial)
		return 0;
	if (last->serial == s->serial)
		n = s->n_user;
	else if (last->serial == s->same_as)
		n = s->n_same;
	if (!n || n > last->at.n || !kinfile_writer_knows_stack(r->w, last->at.at[n - 1]))
		return 0;
	return n;
}

static void keep_written(struct recording *r, const struct walked_sample *s, size_t written)
{
	struct last_written *last = last_written_of(r, s);
	size_t more = s->n_user - written;
	last->serial = s->serial;
	last->at.n = written;
	vec_reserve(&last->at, more);
	memcpy(last->at.at + written, r->stacks, more * sizeof(*last->at.at));
	last->at.n += more;
}

static void forget_written(struct recording *r)
{
	for (size_t i = 0; i < LAST_WRITTEN; i++) {
		vec_free(&r->last[i].at);
		r->last[i].serial = 0;
	}
}

/* Writes a sample; the file already has its outermost `written` frames. */
static void emit(struct recording *r, const struct walked_sample *s, size_t written)
{
	struct kinfile_stack stack = {
		.frames = r->frames,
		.n_frames = s->n - written,
		.caller = written ? last_written_of(r, s)->at.at[written - 1] : 0,
		.ids = s->serial ? r->stacks : NULL,
	};
	struct sample k = s->sample;
	k.stack = kinfile_writer_stack(r->w, &stack);
	k.flags = s->n ? s->frames[0].flags & FRAME_KERNEL : 0;
	struct kinfile_beside beside = { .fields = s->fields, .n_fields = s->n_fields };
	if (s->fields)
		name_functions(r, s);
	struct detail details;
	if (s->details) {
		details = details_of(r, s);
		beside.details = &details;
		beside.words = r->words.at;
	}
	kinfile_writer_sample(r->w, &k, end_in_file[s->end], &beside);
	if (k.stack && s->serial)
		keep_written(r, s, written);
	if (r->watch && r->watch->sample)
		r->watch->sample(r->watch->arg, s, r->names);
}

/* ---- waiting samples ---- */

static bool wait_is_over(const struct recording *r, const struct walked_sample *s, uint64_t now_ns)
{
	return r->watch && kernel_is_ready(r->kernel) &&
	       now_ns > s->sample.time_ns + WATCHED_WAIT_NS;
}

/* Writes the samples whose names are known by now; with now_ns UINT64_MAX, all of them. */
static void settle(struct recording *r, uint64_t now_ns)
{
	size_t kept = 0;
	r->waiting_bytes = 0;
	for (size_t i = 0; i < r->waiting.n; i++) {
		struct kept_sample *w = r->waiting.at[i];
		if (convert_all(r, &w->of, w->of.n) || now_ns == UINT64_MAX ||
		    wait_is_over(r, &w->of, now_ns)) {
			emit(r, &w->of, 0);
			free(w);
		} else {
			r->waiting.at[kept++] = w;
			r->waiting_bytes += w->bytes;
		}
	}
	r->waiting.n = kept;
}

static void wait_for_names(struct recording *r, const struct walked_sample *s)
{
	struct kept_sample *w = kept_sample_new(s);
	w->of.serial = 0;
	vec_push(&r->waiting, w);
	r->waiting_bytes += w->bytes;
	if (r->waiting_bytes > WAITING_MAX) {
		r->ending = true;
		jit_update(r->jit);
		settle(r, UINT64_MAX);
		r->ending = false;
	}
}

/* The oldest time of samples that may still need names; UINT64_MAX: there are none. */
static uint64_t oldest_ns(const struct recording *r)
{
	uint64_t oldest = UINT64_MAX;
	if (r->recent && recent_count(r->recent))
		oldest = recent_at(r->recent, 0)->sample.time_ns;
	for (size_t i = 0; i < r->waiting.n; i++)
		if (r->waiting.at[i]->of.sample.time_ns < oldest)
			oldest = r->waiting.at[i]->of.sample.time_ns;
	return oldest;
}

void recording_sample(struct recording *r, const struct walked_sample *s)
{
	struct walked_sample cut = *s;
	r->samples.all++;
	if (cut.n > FRAMES_MAX) {
		cut.n = FRAMES_MAX;
		cut.serial = 0;
	}
	size_t written = count_written(r, &cut);
	bool named = convert_all(r, &cut, cut.n - written);
	if (r->recent) {
		recent_add(r->recent, &cut);
		r->recent_lacks |= !named;
	} else if (named)
		emit(r, &cut, written);
	else
		wait_for_names(r, &cut);
}

struct kin_error *recording_tick(struct recording *r, uint64_t now_ns)
{
	bool forgot = false;
	if ((r->waiting.n || r->recent_lacks) && now_ns - r->updated_ns > 250000000) {
		r->updated_ns = now_ns;
		r->recent_lacks = false;
		jit_update(r->jit);
		settle(r, now_ns);
	}
	if (jit_n_ended(r->jit))
		jit_forget(r->jit, oldest_ns(r));
	struct kin_error *err = kinfile_writer_tick(r->w, now_ns, &forgot);
	if (forgot)
		map64_free(&r->kernel_names); /* the ids stay valid; this limits its size */
	return err;
}

static void forget_file(struct recording *r)
{
	map64_free(&r->kernel_names);
	map64_free(&r->kernel_modules);
	forget_written(r);
	done_with_traces(r);
	r->w = NULL;
}

static void write_failures(struct recording *r, struct module *m)
{
	uint64_t n = m->failures - m->failures_written;
	if (n && !r->recent) /* with `recent`, they include samples not in the file */
		kinfile_writer_unwind_failed(r->w, module_id(r, m), n);
	m->failures_written = m->failures;
}

struct kin_error *recording_end_file(struct recording *r, struct modules *m, enum kinf_end end,
				     uint64_t detail, uint64_t end_ns)
{
	r->ending = true;
	jit_update(r->jit);
	settle(r, UINT64_MAX);
	r->ending = false;
	for (size_t i = 0; i < modules_count(m); i++)
		write_failures(r, modules_at(m, i));
	/* Flush, so that the number of written samples is known. Closing reports the error
	 * again. */
	kin_error_free(kinfile_writer_flush(r->w));
	r->samples.written += kinfile_writer_samples(r->w);
	struct kin_error *err = kinfile_writer_close(r->w, end, detail, end_ns);
	forget_file(r);
	return err;
}

struct recording_samples recording_samples(const struct recording *r) { return r->samples; }

void recording_abandon_file(struct recording *r)
{
	kinfile_writer_abandon(r->w);
	forget_file(r);
}

void recording_go_on(struct recording *r, struct kinfile_writer *w, struct modules *m)
{
	r->w = w;
	for (size_t i = 0; i < modules_count(m); i++)
		modules_at(m, i)->file_id = 0;
}

void recording_free(struct recording *r)
{
	for (size_t i = 0; i < r->waiting.n; i++)
		free(r->waiting.at[i]);
	vec_free(&r->waiting);
	vec_free(&r->words);
	forget_written(r);
	recent_free(r->recent);
	free(r);
}

/* ---- the most recent samples ---- */

uint64_t recording_recent_ns(const struct recording *r)
{
	return recent_count(r->recent) ? recent_at(r->recent, 0)->sample.time_ns : 0;
}

uint64_t recording_recent_dropped(const struct recording *r) { return recent_dropped(r->recent); }

/* Maps a thread's id at the time of the sample to its id in this file. */
static uint32_t task_again(struct recording *r, struct map64 *tasks, const struct walked_sample *s)
{
	uint32_t *id = map64_at(tasks, s->sample.task);
	if (*id == NONE)
		*id = kinfile_writer_task(r->w, (uint32_t)s->pid, (uint32_t)s->tid, s->run,
					  s->comm);
	return *id;
}

uint64_t recording_write_recent(struct recording *r, uint32_t event)
{
	struct map64 tasks = { 0 };
	uint64_t sum = 0;
	r->ending = true;
	jit_update(r->jit);
	for (size_t i = 0; i < recent_count(r->recent); i++) {
		struct walked_sample s = *recent_at(r->recent, i);
		s.serial = 0;
		s.sample.task = task_again(r, &tasks, &s);
		convert_all(r, &s, s.n);
		emit(r, &s, 0);
		sum += s.sample.event == event ? s.sample.weight : 0;
	}
	r->ending = false;
	recent_clear(r->recent);
	map64_free(&tasks);
	return sum;
}

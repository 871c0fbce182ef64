/* canonical_samples.c - tasks, events, frames, stacks and samples in an order that depends only on
 * their contents. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "profile/canonical.h"
#include "profile/canonical_details.h"
#include "profile/detail.h"

struct canon {
	struct profile_builder *b;
	const struct profile *p;
	const struct samples *s;
	const objid *objects;
	bool sums;       /* ranks are summed */
	frameid *frames; /* ids in b; 0: not used */
	stackid *stacks;
	taskid *tasks;
	uint16_t *events;
};

static const char *text(const struct canon *c, strid id) { return strtab_get(c->p->strings, id); }

static strid add_text(const struct canon *c, strid id)
{
	const char *s = text(c, id);

	return profile_add_string(c->b, s, strlen(s));
}

/* The numbers 0 .. n-1, to be sorted. */
static uint32_t *indices(size_t n)
{
	uint32_t *all = xrealloc(NULL, n, sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i] = (uint32_t)i;
	return all;
}

static void sort(void *at, size_t n, size_t size, int (*by)(const void *, const void *, void *),
		 const void *arg)
{
	qsort_r(at, n, size, by, UNCONST(void *, arg));
}

/* ---- tasks and events ---- */

static int by_task(const void *a, const void *b, void *arg)
{
	const struct canon *c = arg;
	const struct task *x = &c->s->tasks[*(const uint32_t *)a];
	const struct task *y = &c->s->tasks[*(const uint32_t *)b];
	int order = c->sums ? 0 : ORDER(x->pid, y->pid);

	if (!order && !c->sums)
		order = ORDER(x->tid, y->tid);
	if (!order)
		order = strcmp(text(c, x->comm), text(c, y->comm));
	if (!order)
		order = ORDER(x->run, y->run);
	return order ? order : ORDER(x->rank, y->rank);
}

static void add_tasks(struct canon *c)
{
	uint32_t *all = indices(c->s->n_tasks);

	c->tasks = xalloc(c->s->n_tasks * sizeof(*c->tasks));
	sort(all + 1, c->s->n_tasks - 1, sizeof(*all), by_task, c);
	for (size_t i = 1; i < c->s->n_tasks; i++) {
		struct task t = c->s->tasks[all[i]];
		t.comm = add_text(c, t.comm);
		t.last_comm = add_text(c, t.last_comm);
		if (c->sums)
			t = (struct task){ .comm = t.comm,
					   .cpu_ns = t.cpu_ns,
					   .sampled_ns = t.sampled_ns };
		c->tasks[all[i]] = profile_add_task(c->b, t);
	}
	free(all);
}

static int by_event(const void *a, const void *b, void *arg)
{
	const struct canon *c = arg;
	const struct event *x = &c->s->events[*(const uint32_t *)a];
	const struct event *y = &c->s->events[*(const uint32_t *)b];
	int order = ORDER(y->counts_time, x->counts_time);

	if (!order)
		order = strcmp(text(c, x->name), text(c, y->name));
	if (!order)
		order = ORDER(x->kind, y->kind);
	return order ? order : ORDER(x->unit, y->unit);
}

static void add_events(struct canon *c)
{
	uint32_t *all = indices(c->s->n_events);

	c->events = xalloc(c->s->n_events * sizeof(*c->events));
	sort(all, c->s->n_events, sizeof(*all), by_event, c);
	for (size_t i = 0; i < c->s->n_events; i++) {
		struct event e = c->s->events[all[i]];
		e.name = add_text(c, e.name);
		e.title = e.title ? add_text(c, e.title) : 0;
		c->events[all[i]] = profile_add_event(c->b, e);
	}
	free(all);
}

/* ---- frames and stacks ---- */

static int by_frame(const void *a, const void *b, void *arg)
{
	const struct canon *c = arg;
	const struct frame *x = &c->s->frames[*(const uint32_t *)a];
	const struct frame *y = &c->s->frames[*(const uint32_t *)b];
	int order = ORDER(c->objects[x->object], c->objects[y->object]);

	if (!order)
		order = ORDER(x->addr, y->addr);
	if (!order && x->name != y->name)
		order = strcmp(text(c, x->name), text(c, y->name));
	return order ? order : ORDER(x->flags, y->flags);
}

/* Marks with 1 the stacks of samples, the stacks of their callers, and their frames. */
static void mark_used(struct canon *c)
{
	for (size_t i = 0; i < c->s->n; i++) {
		c->stacks[c->s->at[i].stack] = 1;
		if (!c->sums)
			canonical_detail_mark(c->s, sample_detail(c->s, &c->s->at[i]), c->frames);
	}
	for (size_t i = c->s->n_stacks; i-- > 1;) {
		if (!c->stacks[i])
			continue;
		c->stacks[c->s->stacks[i].caller] = 1;
		c->frames[c->s->stacks[i].frame] = 1;
	}
	c->stacks[0] = c->frames[0] = 0;
}

static void add_frames(struct canon *c)
{
	uint32_t *used = xrealloc(NULL, c->s->n_frames, sizeof(*used));
	size_t n = 0;

	for (size_t i = 1; i < c->s->n_frames; i++)
		if (c->frames[i])
			used[n++] = (uint32_t)i;
	sort(used, n, sizeof(*used), by_frame, c);
	for (size_t i = 0; i < n; i++) {
		struct frame f = c->s->frames[used[i]];
		f.object = c->objects[f.object];
		f.name = add_text(c, f.name);
		c->frames[used[i]] = profile_add_frame(c->b, f);
	}
	free(used);
}

struct canonical_place { /* position of a stack among those of its depth */
	uint32_t caller, frame, old;
};

static int by_place(const void *a, const void *b, void *arg)
{
	const struct canonical_place *x = a, *y = b;
	int order = ORDER(x->caller, y->caller);

	(void)arg;
	return order ? order : ORDER(x->frame, y->frame);
}

/* Adds the used stacks in order of depth, so that callers already have their ids. */
static void add_stacks(struct canon *c)
{
	const struct stack *stacks = c->s->stacks;
	size_t n = c->s->n_stacks, deepest = 0;
	uint32_t *depth = xalloc(n * sizeof(*depth));

	for (size_t i = 1; i < n; i++) {
		depth[i] = depth[stacks[i].caller] + 1;
		deepest = depth[i] > deepest ? depth[i] : deepest;
	}
	size_t *first =
		xalloc((deepest + 2) * sizeof(*first)); /* [depth]: index of its first stack */
	for (size_t i = 1; i < n; i++)
		first[depth[i]] += c->stacks[i] != 0;
	for (size_t d = 0, sum = 0; d < deepest + 2; d++) {
		size_t here = first[d];
		first[d] = sum;
		sum += here;
	}
	size_t *next = xalloc((deepest + 2) * sizeof(*next));
	memcpy(next, first, (deepest + 2) * sizeof(*next));
	struct canonical_place *all = xrealloc(NULL, first[deepest + 1] + 1, sizeof(*all));
	for (size_t i = 1; i < n; i++)
		if (c->stacks[i])
			all[next[depth[i]]++].old = (uint32_t)i;
	for (size_t d = 1; d <= deepest; d++) {
		for (size_t i = first[d]; i < first[d + 1]; i++) {
			all[i].caller = c->stacks[stacks[all[i].old].caller];
			all[i].frame = c->frames[stacks[all[i].old].frame];
		}
		sort(all + first[d], first[d + 1] - first[d], sizeof(*all), by_place, NULL);
		for (size_t i = first[d]; i < first[d + 1]; i++)
			c->stacks[all[i].old] =
				profile_add_stack(c->b, all[i].caller, all[i].frame);
	}
	free(all);
	free(next);
	free(first);
	free(depth);
}

/* ---- samples ---- */

struct told_place { /* a sample and its attributes besides its stack */
	struct sample at;
	const char *trace;           /* fields of a trace point; NULL: none */
	const struct detail *detail; /* other attributes; NULL: none */
};

static struct canonical_details details(const struct canon *c)
{
	return (struct canonical_details){ c->p, c->frames };
}

static int by_told(const void *a, const void *b, void *arg)
{
	const struct canonical_details d = details(arg);
	const struct told_place *p = a, *q = b;
	const struct sample *x = &p->at, *y = &q->at;
	int order = ORDER(x->time_ns, y->time_ns);

	if (!order)
		order = ORDER(x->event, y->event);
	if (!order)
		order = ORDER(x->task, y->task);
	if (!order)
		order = ORDER(x->stack, y->stack);
	if (!order)
		order = ORDER(x->cpu, y->cpu);
	if (!order)
		order = ORDER(x->parallelism, y->parallelism);
	if (!order)
		order = ORDER(x->flags, y->flags);
	if (!order)
		order = ORDER(p->trace != NULL, q->trace != NULL);
	if (!order && p->trace)
		order = strcmp(p->trace, q->trace);
	if (!order)
		order = ORDER(p->detail != NULL, q->detail != NULL);
	return order || !p->detail ? order : canonical_detail_order(&d, p->detail, q->detail);
}

static void join(struct canon *c, struct sample *sum, const struct sample *more)
{
	if (__builtin_add_overflow(sum->count, more->count, &sum->count)) {
		sum->count = UINT32_MAX;
		profile_note_saturated(c->b);
	}
	if (__builtin_add_overflow(sum->weight, more->weight, &sum->weight)) {
		sum->weight = UINT64_MAX;
		profile_note_saturated(c->b);
	}
}

static void add_sample(struct canon *c, struct sample x, const struct told_place *told)
{
	const struct canonical_details all = details(c);
	struct detail d = { .has = 0 };

	profile_add_sample(c->b, x);
	if (told->detail)
		d = canonical_detail_copy(&all, told->detail, c->b);
	if (told->trace) {
		d.trace = profile_add_string(c->b, told->trace, strlen(told->trace));
		d.has |= DETAIL_TRACE;
	}
	if (told->detail || told->trace)
		profile_set_detail(c->b, profile_add_detail(c->b, &d));
}

static void add_all(struct canon *c)
{
	size_t n = c->s->n, next;
	struct told_place *all = xrealloc(NULL, n, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		const struct detail *d = sample_detail(c->s, &c->s->at[i]);
		struct sample *x = &all[i].at;
		*x = c->s->at[i];
		x->event = c->events[x->event];
		x->task = c->tasks[x->task];
		x->stack = c->stacks[x->stack];
		all[i].trace = d->has & DETAIL_TRACE && !c->sums ? text(c, d->trace) : NULL;
		all[i].detail = canonical_detail_says(d) && !c->sums ? d : NULL;
		if (c->sums) {
			x->time_ns = 0;
			x->cpu = CPU_NONE;
			x->parallelism = 0;
		}
	}
	sort(all, n, sizeof(*all), by_told, c);
	for (size_t i = 0; i < n; i = next) {
		struct sample sum = all[i].at;
		for (next = i + 1; next < n && !by_told(&all[i], &all[next], c); next++)
			join(c, &sum, &all[next].at);
		add_sample(c, sum, &all[i]);
	}
	free(all);
}

/* ---- counts ---- */

static int by_task_arc(const void *a, const void *b, void *arg)
{
	const struct task_arc *x = a, *y = b;
	int order = ORDER(x->from_object, y->from_object);

	(void)arg;
	if (!order)
		order = ORDER(x->from, y->from);
	if (!order)
		order = ORDER(x->to_object, y->to_object);
	if (!order)
		order = ORDER(x->to, y->to);
	return order ? order : ORDER(x->task, y->task);
}

static void add_task_arcs(struct canon *c)
{
	size_t n = c->s->n_task_arcs;
	struct task_arc *all = xrealloc(NULL, n, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		all[i] = c->s->task_arcs[i];
		all[i].from_object = c->objects[all[i].from_object];
		all[i].to_object = c->objects[all[i].to_object];
		all[i].task = c->tasks[all[i].task];
	}
	sort(all, n, sizeof(*all), by_task_arc, NULL);
	for (size_t i = 0; i < n; i++)
		profile_add_task_arc(c->b, all[i]);
	free(all);
}

static int by_latency(const void *a, const void *b, void *arg)
{
	const struct latency *x = a, *y = b;
	int order = ORDER(x->from_object, y->from_object);

	(void)arg;
	if (!order)
		order = ORDER(x->from, y->from);
	if (!order)
		order = ORDER(x->to_object, y->to_object);
	return order ? order : ORDER(x->to, y->to);
}

static void add_latencies(struct canon *c)
{
	size_t n = c->s->n_latencies;
	struct latency *all = xrealloc(NULL, n, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		all[i] = c->s->latencies[i];
		all[i].from_object = c->objects[all[i].from_object];
		all[i].to_object = c->objects[all[i].to_object];
	}
	sort(all, n, sizeof(*all), by_latency, NULL);
	for (size_t i = 0; i < n; i++)
		profile_add_latency(c->b, all[i]);
	free(all);
}

static int by_moment(const void *a, const void *b, void *arg)
{
	const struct marker *x = a, *y = b;
	int order = ORDER(x->time_ns, y->time_ns);

	return order ? order : strcmp(text(arg, x->name), text(arg, y->name));
}

static void add_markers(struct canon *c)
{
	size_t n = c->sums ? 0 : c->s->n_markers; /* sums have no times */
	struct marker *all = xrealloc(NULL, n, sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i] = c->s->markers[i];
	sort(all, n, sizeof(*all), by_moment, c);
	for (size_t i = 0; i < n; i++)
		profile_add_marker(c->b, (struct marker){ .time_ns = all[i].time_ns,
							  .name = add_text(c, all[i].name) });
	free(all);
}

void canonical_add_samples(struct profile_builder *b, const struct profile *p, const objid *objects,
			   bool sums)
{
	struct canon c = { .b = b, .p = p, .s = &p->samples, .objects = objects, .sums = sums };

	c.frames = xalloc(c.s->n_frames * sizeof(*c.frames));
	c.stacks = xalloc(c.s->n_stacks * sizeof(*c.stacks));
	mark_used(&c);
	add_tasks(&c);
	add_events(&c);
	add_frames(&c);
	add_stacks(&c);
	add_all(&c);
	add_task_arcs(&c);
	add_latencies(&c);
	for (size_t i = 0; i < c.s->n_failures; i++) /* profile_finish() sorts them */
		profile_add_failure(b, objects[c.s->failures[i].object], c.s->failures[i].count);
	add_markers(&c);
	*profile_audit(b) = c.s->audit;
	free(c.events);
	free(c.tasks);
	free(c.stacks);
	free(c.frames);
}

/* filter.c - copies the chosen part of a profile; objects, strings, frames and tasks keep their
 * ids. */
#include "profile/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "profile/builder.h"
#include "profile/detail.h"
#include "profile/span.h"
#include "profile/spreads.h"

struct filter {
	const struct profile *p;
	const struct profile_part *part;
	struct profile_builder *into;
	stackid *stacks;  /* [n_stacks]: ids in `into`; NONE: not yet copied */
	uint16_t *events; /* [n_events]: likewise */
};

static bool wants(const uint8_t *chosen, uint32_t id) { return !chosen || chosen[id]; }

static bool is_timed(const struct profile_part *part) { return part->from_ns || part->to_ns; }

static bool is_then(const struct profile_part *part, uint64_t time_ns)
{
	return !is_timed(part) ||
	       (time_ns && time_ns >= part->from_ns && (!part->to_ns || time_ns < part->to_ns));
}

/* Whether the part includes data that has neither thread nor time. */
static bool wants_unassigned(const struct filter *f)
{
	return wants(f->part->tasks, 0) && !is_timed(f->part);
}

/* ---- tables whose ids stay the same: their entries are distinct, so each gets the next id ---- */

static void keep_ids(struct filter *f)
{
	const struct profile *p = f->p;

	for (size_t i = 0; i < strtab_count(p->strings); i++) {
		const char *s = strtab_get(p->strings, (strid)i);
		profile_add_string(f->into, s, strlen(s));
	}
	for (size_t i = 0; i < p->n_objects; i++)
		profile_copy_object(f->into, p->strings, &p->objects[i]);
	for (size_t i = 1; i < p->samples.n_frames; i++)
		profile_add_frame(f->into, p->samples.frames[i]);
	for (size_t i = 1; i < p->samples.n_tasks; i++) {
		struct task t = p->samples.tasks[i];
		if (!wants(f->part->tasks, (uint32_t)i))
			t.start_ns = t.end_ns = t.cpu_ns = t.sampled_ns = 0;
		profile_add_task(f->into, t);
	}
	if (p->samples.n_words > 1) {
		uint64_t at;
		size_t n = p->samples.n_words - 1;
		memcpy(profile_add_words(f->into, n, &at), p->samples.words + 1, n * sizeof(at));
	}
	for (size_t i = 1; i < p->samples.n_details; i++)
		profile_add_detail(f->into, &p->samples.details[i]);
}

/* ---- samples ---- */

static bool wants_sample(const struct filter *f, const struct sample *s)
{
	const struct samples *all = &f->p->samples;
	const struct profile_part *part = f->part;

	return is_then(part, s->time_ns) && wants(part->tasks, s->task) &&
	       wants(part->events, s->event) &&
	       wants(part->objects, all->frames[all->stacks[s->stack].frame].object);
}

/* Copies a stack and those of its callers that are missing, from the root on: a caller needs a
 * smaller id. */
static stackid keep_stack(struct filter *f, stackid id)
{
	const struct stack *stacks = f->p->samples.stacks;
	uint32_t depth = 0;

	for (stackid i = id; f->stacks[i] == NONE; i = stacks[i].caller)
		depth++;
	stackid *missing = xrealloc(NULL, depth, sizeof(*missing));
	for (stackid i = id, k = depth; k > 0; i = stacks[i].caller)
		missing[--k] = i;
	for (uint32_t k = 0; k < depth; k++) {
		const struct stack *s = &stacks[missing[k]];
		f->stacks[missing[k]] = profile_add_stack(f->into, f->stacks[s->caller], s->frame);
	}
	free(missing);
	return f->stacks[id];
}

static void keep_events(struct filter *f)
{
	for (size_t i = 0; i < f->p->samples.n_events; i++)
		if (wants(f->part->events, (uint32_t)i))
			f->events[i] = profile_add_event(f->into, f->p->samples.events[i]);
}

/* Copies file by file, in reading order: samples and facts belong to the source that is added
 * next. */
static void keep_files(struct filter *f)
{
	const struct profile *p = f->p;
	size_t next = 0, fact = 0;

	for (size_t source = 0; source <= p->n_sources; source++) {
		for (; next < p->samples.n && p->samples.at[next].source == source; next++) {
			struct sample s = p->samples.at[next];
			if (!wants_sample(f, &s))
				continue;
			s.stack = keep_stack(f, s.stack);
			s.event = f->events[s.event];
			profile_add_sample(f->into, s);
			profile_set_detail(f->into,
					   p->samples.detail_of ? p->samples.detail_of[next] : 0);
		}
		for (; fact < p->n_facts && p->facts[fact].source == source; fact++)
			profile_add_fact(f->into, strtab_get(p->strings, p->facts[fact].name),
					 strtab_get(p->strings, p->facts[fact].value));
		if (source < p->n_sources)
			profile_add_source(f->into, strtab_get(p->strings, p->sources[source].path),
					   p->sources[source]);
	}
}

/* ---- counted calls ---- */

static int by_ends(const void *a, const void *b)
{
	const struct task_arc *x = a, *y = b;
	int order = ORDER(x->from, y->from);
	if (!order)
		order = ORDER(x->to, y->to);
	if (!order)
		order = ORDER(x->from_object, y->from_object);
	return order ? order : ORDER(x->to_object, y->to_object);
}

/* The first of the sorted records that is not before `key`. */
static size_t lower_bound(const struct task_arc *at, size_t n, const struct task_arc *key)
{
	return COUNT_WHILE(n, i, by_ends(&at[i], key) < 0);
}

struct part_arc { /* the calls of one arc that the threads of one part made */
	uint64_t count;
	uint32_t part, arc;
};

struct part_arcs {
	VEC(struct part_arc) at;
	uint32_t *last; /* [parts]: last entry of the part; NONE: none yet */
};

static void add_part_arc(struct part_arcs *a, struct part_arc x)
{
	uint32_t last = a->last[x.part];
	uint64_t *count =
		last != NONE && a->at.at[last].arc == x.arc ? &a->at.at[last].count : NULL;

	if (!count) {
		a->last[x.part] = (uint32_t)a->at.n;
		vec_push(&a->at, x);
	} else if (__builtin_add_overflow(*count, x.count, count)) {
		*count = UINT64_MAX;
	}
}

/* Distributes the calls of each arc over the parts. Calls whose thread is not known belong to the
 * unknown thread's part. */
static struct part_arcs split_arcs(const struct profile *p, const uint32_t *of_task, size_t n_parts)
{
	const struct samples *s = &p->samples;
	struct part_arcs ret = { .last = xrealloc(NULL, n_parts, sizeof(*ret.last)) };
	struct task_arc *by_arc = xrealloc(NULL, s->n_task_arcs, sizeof(*by_arc));

	memset(ret.last, 0xff, n_parts * sizeof(*ret.last));
	if (s->n_task_arcs) {
		memcpy(by_arc, s->task_arcs, s->n_task_arcs * sizeof(*by_arc));
		qsort(by_arc, s->n_task_arcs, sizeof(*by_arc), by_ends);
	}
	for (uint32_t arc = 0; arc < p->n_arcs; arc++) {
		struct arc a = arc_at(&p->arcs, arc);
		struct task_arc key = { a.from, a.to, 0, a.from_object, a.to_object, 0 };
		uint64_t rest = a.count;
		for (size_t i = lower_bound(by_arc, s->n_task_arcs, &key);
		     i < s->n_task_arcs && !by_ends(&by_arc[i], &key); i++) {
			rest -= min_u64(by_arc[i].count, rest);
			add_part_arc(&ret, (struct part_arc){ by_arc[i].count,
							      of_task[by_arc[i].task], arc });
		}
		if (rest || !a.count)
			add_part_arc(&ret, (struct part_arc){ rest, of_task[0], arc });
	}
	free(by_arc);
	free(TAKE(ret.last));
	return ret;
}

static void keep_arc(struct filter *f, uint32_t arc, uint64_t count)
{
	struct arc a = arc_at(&f->p->arcs, arc);
	a.count = count;
	if (wants(f->part->objects, a.to_object))
		profile_add_arc(f->into, a);
}

/* The arcs of the chosen tasks are one part, those of all other tasks another. */
static void keep_arcs_of_tasks(struct filter *f)
{
	enum { OTHERS, CHOSEN, PARTS };
	size_t n_tasks = f->p->samples.n_tasks;
	uint32_t *of_task = xrealloc(NULL, n_tasks, sizeof(*of_task));

	for (size_t i = 0; i < n_tasks; i++)
		of_task[i] = f->part->tasks[i] ? CHOSEN : OTHERS;
	struct part_arcs arcs = split_arcs(f->p, of_task, PARTS);
	for (size_t i = 0; i < arcs.at.n; i++)
		if (arcs.at.at[i].part == CHOSEN)
			keep_arc(f, arcs.at.at[i].arc, arcs.at.at[i].count);
	vec_free(&arcs.at);
	free(of_task);
}

static void keep_arcs(struct filter *f)
{
	const struct samples *s = &f->p->samples;

	if (f->part->tasks)
		keep_arcs_of_tasks(f);
	else
		for (uint32_t i = 0; i < f->p->n_arcs; i++)
			keep_arc(f, i, arc_at(&f->p->arcs, i).count);
	for (size_t i = 0; i < s->n_task_arcs; i++)
		if (wants(f->part->tasks, s->task_arcs[i].task) &&
		    wants(f->part->objects, s->task_arcs[i].to_object))
			profile_add_task_arc(f->into, s->task_arcs[i]);
}

/* ---- the rest ---- */

static void keep_unassigned(struct filter *f)
{
	const struct profile *p = f->p;

	for (size_t i = 0; i < p->n_histograms; i++) {
		const struct histogram *h = &p->histograms[i];
		if (wants(f->part->objects, h->object))
			builder_add_hits(f->into, builder_put_histogram(f->into, *h), h);
	}
	for (size_t i = 0; i < p->n_blocks; i++)
		if (wants(f->part->objects, p->blocks[i].object))
			profile_add_block(f->into, p->blocks[i]);
	for (size_t i = 0; i < p->n_block_records; i++)
		profile_add_block_record(f->into);
	for (size_t i = 0; i < p->samples.n_latencies; i++)
		if (wants(f->part->objects, p->samples.latencies[i].to_object))
			profile_add_latency(f->into, p->samples.latencies[i]);
}

static bool wants_event(const char *name, const void *filter)
{
	const struct filter *f = filter;

	for (size_t i = 0; i < f->p->samples.n_events; i++)
		if (wants(f->part->events, (uint32_t)i) &&
		    !strcmp(strtab_get(f->p->strings, f->p->samples.events[i].name), name))
			return true;
	return false;
}

/* Sums over ranks can be split by event, but not by thread, object or time. */
static void keep_spreads(struct filter *f)
{
	const struct spread_set *s = f->p->spreads;

	if (!s)
		return;
	bool by_event = !f->part->tasks && !f->part->objects && !is_timed(f->part);
	profile_add_spreads(f->into,
			    by_event ? spread_set_select(s, wants_event, f) : spread_set_part(s));
}

/* A rank without data in the part belongs to it all the same, unless it was not chosen. */
static void keep_ranks(struct filter *f)
{
	for (size_t i = 0; i < f->p->n_ranks; i++) {
		struct job_rank r = f->p->ranks[i];
		r.left_out |= !wants(f->part->ranks, (uint32_t)i);
		builder_add_rank(f->into, r);
	}
}

static void keep_markers(struct filter *f)
{
	const struct samples *s = &f->p->samples;

	for (size_t i = 0; i < s->n_markers; i++)
		if (is_then(f->part, s->markers[i].time_ns))
			profile_add_marker(f->into, s->markers[i]);
}

/* Losses are not known by part, so each part states those of the whole. CPU time is known by
 * thread. */
static void keep_audit(struct filter *f)
{
	const struct samples *s = &f->p->samples;
	struct audit *a = profile_audit(f->into);

	*a = s->audit;
	for (size_t i = 0; i < s->n_failures; i++)
		if (wants(f->part->objects, s->failures[i].object))
			profile_add_failure(f->into, s->failures[i].object, s->failures[i].count);
	if (f->part->objects || f->part->events || is_timed(f->part))
		a->cpu_ns = a->sampled_ns = 0; /* no longer comparable */
	if (!f->part->tasks || !a->cpu_ns)
		return;
	a->cpu_ns = a->sampled_ns = 0;
	for (size_t i = 0; i < s->n_tasks; i++) {
		if (!f->part->tasks[i])
			continue;
		a->cpu_ns += s->tasks[i].cpu_ns;
		a->sampled_ns += s->tasks[i].sampled_ns;
	}
}

/* `whole`: time from the first to the last sample of the whole profile. */
static struct profile *finish(const struct filter *f, struct time_range whole)
{
	struct profile *ret = profile_finish(f->into);

	if (whole.from_ns <= whole.to_ns) {
		ret->samples.whole_from_ns = whole.from_ns;
		ret->samples.whole_to_ns = whole.to_ns;
	}
	ret->saturated = f->p->saturated; /* which sums are saturated is not known */
	return ret;
}

static stackid *no_stacks(const struct samples *s)
{
	stackid *stacks = xrealloc(NULL, s->n_stacks, sizeof(*stacks));

	memset(stacks, 0xff, s->n_stacks * sizeof(*stacks));
	stacks[0] = 0;
	return stacks;
}

struct profile *profile_filter(const struct profile *p, const struct profile_part *part)
{
	struct filter f = { .p = p, .part = part, .into = profile_builder_new() };

	f.stacks = no_stacks(&p->samples);
	f.events = xalloc(p->samples.n_events * sizeof(*f.events));
	keep_ids(&f);
	keep_events(&f);
	if (!is_timed(part))
		keep_arcs(&f);
	if (wants_unassigned(&f))
		keep_unassigned(&f);
	keep_ranks(&f);
	keep_spreads(&f);
	keep_files(&f);
	keep_markers(&f);
	keep_audit(&f);
	profile_add_kept(f.into, p->kept);
	free(f.stacks);
	free(f.events);
	return finish(&f, span_of(p));
}

/* ---- parts by task ---- */

struct members { /* indices of the items of each part, one part after the other */
	uint32_t *at;
	uint32_t *end; /* [parts]: end of the part in at[] */
};

struct profile_parts {
	const struct profile *p;
	struct members tasks, samples, arcs, task_arcs;
	struct part_arcs counts; /* the entries that `arcs` has indices of */
	struct time_range whole;
	stackid *stacks; /* [n_stacks]: as in struct filter; all are NONE between two parts */
	uint8_t *chosen; /* [n_tasks]: the tasks of the part; all are 0 between two parts */
};

/* part_of: [n] parts, < n_parts. */
static struct members members_of(const uint32_t *part_of, size_t n, size_t n_parts)
{
	struct members m = { xrealloc(NULL, n, sizeof(*m.at)), xalloc(n_parts * sizeof(*m.end)) };
	uint32_t at = 0;

	for (size_t i = 0; i < n; i++)
		m.end[part_of[i]]++;
	for (size_t i = 0; i < n_parts; i++) {
		uint32_t size = m.end[i];
		m.end[i] = at;
		at += size;
	}
	for (size_t i = 0; i < n; i++)
		m.at[m.end[part_of[i]]++] = (uint32_t)i;
	return m;
}

static uint32_t first_of(const struct members *m, size_t part)
{
	return part ? m->end[part - 1] : 0;
}

static void members_free(struct members *m)
{
	free(m->at);
	free(m->end);
}

struct profile_parts *profile_parts_new(const struct profile *p, const uint32_t *of_task, size_t n)
{
	const struct samples *s = &p->samples;
	struct profile_parts *x = xalloc(sizeof(*x));

	x->p = p;
	x->whole = span_of(p);
	x->stacks = no_stacks(s);
	x->chosen = xalloc(s->n_tasks);
	x->counts = split_arcs(p, of_task, n);
	size_t most = s->n > s->n_task_arcs ? s->n : s->n_task_arcs;
	most = x->counts.at.n > most ? x->counts.at.n : most;
	uint32_t *part_of = xrealloc(NULL, most, sizeof(*part_of));
	for (size_t i = 0; i < s->n; i++)
		part_of[i] = of_task[s->at[i].task];
	x->samples = members_of(part_of, s->n, n);
	for (size_t i = 0; i < x->counts.at.n; i++)
		part_of[i] = x->counts.at.at[i].part;
	x->arcs = members_of(part_of, x->counts.at.n, n);
	for (size_t i = 0; i < s->n_task_arcs; i++)
		part_of[i] = of_task[s->task_arcs[i].task];
	x->task_arcs = members_of(part_of, s->n_task_arcs, n);
	x->tasks = members_of(of_task, s->n_tasks, n);
	free(part_of);
	return x;
}

static void choose(struct profile_parts *x, size_t part, bool chosen)
{
	for (uint32_t i = first_of(&x->tasks, part); i < x->tasks.end[part]; i++)
		x->chosen[x->tasks.at[i]] = chosen;
}

static void keep_part_samples(struct profile_parts *x, struct filter *f, size_t part)
{
	const struct samples *s = &x->p->samples;

	for (uint32_t i = first_of(&x->samples, part); i < x->samples.end[part]; i++) {
		uint32_t at = x->samples.at[i];
		struct sample kept = s->at[at];
		kept.stack = keep_stack(f, kept.stack);
		builder_keep_sample(f->into, kept, s->detail_of ? s->detail_of[at] : 0);
	}
}

static void forget_stacks(struct profile_parts *x, size_t part)
{
	const struct samples *s = &x->p->samples;

	for (uint32_t i = first_of(&x->samples, part); i < x->samples.end[part]; i++)
		for (stackid k = s->at[x->samples.at[i]].stack; k && x->stacks[k] != NONE;
		     k = s->stacks[k].caller)
			x->stacks[k] = NONE;
}

static void keep_part_arcs(const struct profile_parts *x, struct filter *f, size_t part)
{
	for (uint32_t i = first_of(&x->arcs, part); i < x->arcs.end[part]; i++) {
		const struct part_arc *a = &x->counts.at.at[x->arcs.at[i]];
		keep_arc(f, a->arc, a->count);
	}
	for (uint32_t i = first_of(&x->task_arcs, part); i < x->task_arcs.end[part]; i++)
		profile_add_task_arc(f->into, x->p->samples.task_arcs[x->task_arcs.at[i]]);
}

/* Makes a part refer to the data that all parts share. */
static void borrow(struct profile *part, const struct profile *p)
{
	struct samples *s = &part->samples;

	part->strings = p->strings;
	part->objects = p->objects;
	part->n_objects = p->n_objects;
	part->sources = p->sources;
	part->n_sources = p->n_sources;
	part->facts = p->facts;
	part->n_facts = p->n_facts;
	part->ranks = p->ranks;
	part->n_ranks = p->n_ranks;
	part->kept = p->kept;
	s->frames = p->samples.frames;
	s->n_frames = p->samples.n_frames;
	s->tasks = p->samples.tasks;
	s->n_tasks = p->samples.n_tasks;
	s->events = p->samples.events;
	s->n_events = p->samples.n_events;
	s->details = p->samples.details;
	s->n_details = p->samples.n_details;
	s->words = p->samples.words;
	s->n_words = p->samples.n_words;
	s->markers = p->samples.markers;
	s->n_markers = p->samples.n_markers;
}

struct profile *profile_parts_make(struct profile_parts *x, size_t i)
{
	struct profile_part which = { .tasks = x->chosen };
	struct filter f = {
		.p = x->p, .part = &which, .into = profile_builder_new(), .stacks = x->stacks
	};

	choose(x, i, true);
	keep_part_arcs(x, &f, i);
	if (wants_unassigned(&f))
		keep_unassigned(&f);
	keep_spreads(&f);
	keep_part_samples(x, &f, i);
	forget_stacks(x, i);
	keep_audit(&f);
	choose(x, i, false);
	struct profile *ret = finish(&f, x->whole);
	borrow(ret, x->p);
	return ret;
}

void profile_parts_free(struct profile_parts *x)
{
	members_free(&x->tasks);
	members_free(&x->samples);
	members_free(&x->arcs);
	members_free(&x->task_arcs);
	vec_free(&x->counts.at);
	free(x->stacks);
	free(x->chosen);
	free(x);
}
